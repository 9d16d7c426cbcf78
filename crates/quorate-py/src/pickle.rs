//! Fits as plain Python values, so that they can be pickled: every number comes back with the same bits.

use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use quorate::Fit;
use quorate::annotations::{Annotations, Names, RowCounts};
use quorate::internal::annotations::NO_GOLD;
use quorate::internal::blocks::{TaskBlock, Wire};
use quorate::internal::run::Outcome;
use quorate::model::{AnswerCounts, ClassPrior, Consensus, DawidSkene, Priors};
use quorate::review::{CheckedLabels, ErrorBasis};
use quorate_io::ModelOrigin;

use crate::arguments::MessageLog;
use crate::errors::{Failure, raise};
use crate::fitted::Fitted;
use crate::kinds::{Kind, Kinds};
use crate::labels::duplicates_of;

/// The parts of a fit by name; what has a binary form is in it.
struct State<'py>(Bound<'py, PyDict>);

impl<'py> State<'py> {
    fn set(&self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<()> {
        self.0.set_item(name, value)
    }

    fn set_bytes(&self, name: &str, value: &impl Wire) -> PyResult<()> {
        self.set(name, PyBytes::new(self.0.py(), &value.to_bytes()))
    }

    fn get<T>(&self, name: &str) -> PyResult<T>
    where
        for<'a> T: FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        let value = self.0.get_item(name)?;
        let value = value.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        value.extract().map_err(Into::into)
    }

    fn get_bytes<T: Wire>(&self, name: &str) -> PyResult<T> {
        let bytes: Vec<u8> = self.get(name)?;
        T::from_bytes(&bytes).map_err(|error| raise(self.0.py(), error.into()))
    }
}

fn names(names: &Names) -> Vec<String> {
    names.iter().map(str::to_owned).collect()
}

/// Consensus, model, scores of workers, difficulty of tasks.
type Numbers = (Vec<f64>, Option<DawidSkene>, Option<Vec<f64>>, Option<Vec<f64>>);

/// What was known of classes, with its weight in tasks, and of workers.
type Expected = (Option<(Vec<f64>, Option<f64>)>, Option<AnswerCounts>);

/// The fit as a dictionary of plain values.
pub fn to_state<'py>(py: Python<'py>, fitted: &Fitted) -> PyResult<Bound<'py, PyDict>> {
    let state = State(PyDict::new(py));
    let (annotations, fit, origin) = (&fitted.annotations, fitted.fit(), &fitted.origin);
    state.set("tasks", names(annotations.tasks()))?;
    state.set("workers", names(annotations.workers()))?;
    state.set("classes", names(annotations.classes()))?;
    let (worker, label) = annotations.labels_between(0..annotations.task_count());
    let gold = |task| annotations.gold(task).map_or(NO_GOLD, |class| class as u32);
    let known = if annotations.has_gold() {
        annotations.task_count()
    } else {
        0
    };
    let block = TaskBlock {
        starts: annotations.task_starts().to_vec(),
        worker: worker.to_vec(),
        label: label.to_vec(),
        gold: (0..known).map(gold).collect(),
    };
    state.set_bytes("labels", &block)?;
    let rows = annotations.rows();
    let duplicates = format!("{:?}", rows.duplicates).to_lowercase();
    state.set("rows", (rows.rows, rows.abstentions, rows.repeated, duplicates))?;
    let consensus = fit.consensus.as_slice().to_vec();
    let (scores, difficulty) = (fit.worker_scores.clone(), fit.task_difficulty.clone());
    state.set_bytes("numbers", &(consensus, fit.model.clone(), scores, difficulty))?;
    state.set_bytes("trace", &fit.trace)?;
    state.set(
        "fit",
        (
            fit.iterations,
            fit.converged,
            fit.warnings.clone(),
            fit.notes.clone(),
        ),
    )?;
    let checked = match fit.error_basis {
        ErrorBasis::Confidence => (0, 0.0, 0, 0),
        ErrorBasis::Calibrated { caution } => (1, caution, 0, 0),
        ErrorBasis::Checked(checked) => (2, 0.0, checked.known, checked.wrong),
    };
    state.set("error_basis", checked)?;
    state.set("method", origin.method.name)?;
    state.set("parameters", origin.parameters.clone())?;
    let shares = origin.priors.classes.as_ref();
    let shares = shares.map(|prior| (prior.shares().to_vec(), prior.weight()));
    state.set_bytes("priors", &(shares, origin.priors.workers.clone()))?;
    let earlier = origin.earlier.as_ref().map(serde_json::to_string).transpose();
    state.set(
        "earlier",
        earlier.map_err(|error| PyValueError::new_err(error.to_string()))?,
    )?;
    state.set(
        "run",
        (origin.seed, fitted.threads, fitted.memory, fitted.outcome.seconds),
    )?;
    let kinds = fitted.kinds;
    state.set(
        "kinds",
        (kinds.task.code(), kinds.worker.code(), kinds.label.code()),
    )?;
    state.set(
        "messages",
        (fitted.messages.notes.clone(), fitted.messages.warnings.clone()),
    )?;
    Ok(state.0)
}

/// What the estimated error rests on.
fn error_basis(state: &State<'_>) -> PyResult<ErrorBasis> {
    let (kind, caution, known, wrong): (u8, f64, u64, u64) = state.get("error_basis")?;
    Ok(match kind {
        0 => ErrorBasis::Confidence,
        1 => ErrorBasis::Calibrated { caution },
        _ => ErrorBasis::Checked(CheckedLabels { known, wrong }),
    })
}

/// The fit that a dictionary holds.
pub fn from_state(state: Bound<'_, PyDict>) -> PyResult<Fitted> {
    let py = state.py();
    let failed = |failure: Failure| raise(py, failure);
    let state = State(state);
    let annotations = annotations_of(&state)?;
    let (consensus, model, worker_scores, task_difficulty): Numbers = state.get_bytes("numbers")?;
    let (iterations, converged, warnings, notes) = state.get("fit")?;
    let fit = Fit {
        consensus: Consensus::new(annotations.class_count(), consensus),
        model,
        worker_scores,
        task_difficulty,
        trace: state.get_bytes("trace")?,
        iterations,
        converged,
        warnings,
        notes,
        error_basis: error_basis(&state)?,
    };
    let (shares, workers): Expected = state.get_bytes("priors")?;
    let class_prior = shares.map(|(shares, weight)| match weight {
        Some(weight) => ClassPrior::worth_tasks(shares, weight),
        None => ClassPrior::fixed(shares),
    });
    let earlier: Option<String> = state.get("earlier")?;
    let earlier = earlier.map(|text| serde_json::from_str(&text)).transpose();
    let method: String = state.get("method")?;
    let (seed, threads, memory, seconds) = state.get("run")?;
    let kinds: (u8, u8, u8) = state.get("kinds")?;
    let (notes, warnings) = state.get("messages")?;
    Ok(Fitted {
        annotations: Arc::new(annotations),
        outcome: Outcome {
            fit,
            intervals: None,
            seconds,
        },
        origin: ModelOrigin {
            method: quorate_cli::catalog::find(&method).map_err(|error| failed(error.into()))?,
            parameters: state.get("parameters")?,
            seed,
            priors: Priors {
                classes: class_prior.transpose().map_err(|error| failed(error.into()))?,
                workers,
            },
            earlier: earlier.map_err(|error| PyValueError::new_err(error.to_string()))?,
        },
        threads,
        memory,
        kinds: Kinds {
            task: Kind::from_code(kinds.0),
            worker: Kind::from_code(kinds.1),
            label: Kind::from_code(kinds.2),
        },
        messages: MessageLog { notes, warnings },
    })
}

fn annotations_of(state: &State<'_>) -> PyResult<Annotations> {
    let failed = |failure: Failure| raise(state.0.py(), failure);
    let names = |name: &str| -> PyResult<Names> {
        let listed: Vec<String> = state.get(name)?;
        Ok(listed.iter().map(String::as_str).collect())
    };
    let (rows, abstentions, repeated, duplicates): (u64, u64, u64, String) = state.get("rows")?;
    let rows = RowCounts {
        rows,
        abstentions,
        repeated,
        duplicates: duplicates_of(&duplicates).map_err(failed)?,
    };
    Annotations::from_block(
        names("tasks")?,
        names("workers")?,
        names("classes")?,
        state.get_bytes("labels")?,
        rows,
    )
    .map_err(|error| failed(error.into()))
}
