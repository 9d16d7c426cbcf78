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
use quorate_io::ModelOrigin;

use crate::arguments::Told;
use crate::errors::{Failure, raise};
use crate::fitted::Fitted;
use crate::kinds::{Kind, Kinds};
use crate::labels::duplicates_of;

/// Numbers as bytes.
trait Packed: Sized + Copy {
    fn pack(values: &[Self]) -> Vec<u8>;
    fn unpack(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! packed {
    ($($number:ty),*) => {$(
        impl Packed for $number {
            fn pack(values: &[Self]) -> Vec<u8> {
                values.iter().flat_map(|value| value.to_le_bytes()).collect()
            }

            fn unpack(bytes: &[u8]) -> Vec<Self> {
                bytes.as_chunks().0.iter().map(|bytes| Self::from_le_bytes(*bytes)).collect()
            }
        }
    )*};
}

packed!(u16, u32, f64);

/// The fields of a value, by name.
struct State<'py>(Bound<'py, PyDict>);

impl<'py> State<'py> {
    fn set(&self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<()> {
        self.0.set_item(name, value)
    }

    fn set_numbers<T: Packed>(&self, name: &str, values: Option<&[T]>) -> PyResult<()> {
        let bytes = values.map(|values| PyBytes::new(self.0.py(), &T::pack(values)));
        self.set(name, bytes)
    }

    fn get<T>(&self, name: &str) -> PyResult<T>
    where
        for<'a> T: FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        let value = self.0.get_item(name)?;
        let value = value.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        value.extract().map_err(Into::into)
    }

    fn numbers<T: Packed>(&self, name: &str) -> PyResult<Option<Vec<T>>> {
        let bytes: Option<Vec<u8>> = self.get(name)?;
        Ok(bytes.map(|bytes| T::unpack(&bytes)))
    }
}

fn names(names: &Names) -> Vec<String> {
    names.iter().map(str::to_owned).collect()
}

/// The fit as a dictionary of plain values.
pub fn to_state<'py>(py: Python<'py>, fitted: &Fitted) -> PyResult<Bound<'py, PyDict>> {
    let state = State(PyDict::new(py));
    let (annotations, fit, origin) = (&fitted.annotations, fitted.fit(), &fitted.origin);
    state.set("tasks", names(annotations.tasks()))?;
    state.set("workers", names(annotations.workers()))?;
    state.set("classes", names(annotations.classes()))?;
    let (worker, label) = annotations.labels_between(0..annotations.task_count());
    state.set_numbers("starts", Some(annotations.task_starts()))?;
    state.set_numbers("worker", Some(worker))?;
    state.set_numbers("label", Some(label))?;
    let gold = |task| annotations.gold(task).map_or(NO_GOLD, |class| class as u32);
    let gold: Vec<u32> = if annotations.has_gold() {
        (0..annotations.task_count()).map(gold).collect()
    } else {
        Vec::new()
    };
    state.set_numbers("gold", Some(&gold))?;
    let rows = annotations.rows();
    let duplicates = format!("{:?}", rows.duplicates).to_lowercase();
    state.set("rows", (rows.rows, rows.abstentions, rows.repeated, duplicates))?;
    state.set_numbers("consensus", Some(fit.consensus.as_slice()))?;
    state.set_numbers("prior", fit.model.as_ref().map(DawidSkene::prior))?;
    state.set_numbers("confusion", fit.model.as_ref().map(DawidSkene::confusions))?;
    state.set_numbers("scores", fit.worker_scores.as_deref())?;
    state.set_numbers("difficulty", fit.task_difficulty.as_deref())?;
    state.set_numbers("trace", Some(&fit.trace))?;
    state.set(
        "fit",
        (
            fit.iterations,
            fit.converged,
            fit.warnings.clone(),
            fit.notes.clone(),
        ),
    )?;
    state.set("method", origin.method.name)?;
    state.set("parameters", origin.parameters.clone())?;
    let shares = origin.priors.classes.as_ref();
    state.set_numbers("class_prior", shares.map(ClassPrior::shares))?;
    state.set("class_prior_weight", shares.and_then(ClassPrior::weight))?;
    let history = origin.priors.workers.as_ref().map(AnswerCounts::to_bytes);
    state.set("history", history.map(|bytes| PyBytes::new(py, &bytes)))?;
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
    state.set("told", (fitted.told.notes.clone(), fitted.told.warnings.clone()))?;
    Ok(state.0)
}

/// The fit that a dictionary holds.
pub fn from_state(state: Bound<'_, PyDict>) -> PyResult<Fitted> {
    let py = state.py();
    let failed = |failure: Failure| raise(py, failure);
    let state = State(state);
    let annotations = annotations_of(&state)?;
    let classes = annotations.class_count();
    let model = match (state.numbers("prior")?, state.numbers("confusion")?) {
        (Some(prior), Some(confusion)) => Some(DawidSkene::new(prior, confusion)),
        _ => None,
    };
    let (iterations, converged, warnings, notes) = state.get("fit")?;
    let fit = Fit {
        consensus: Consensus::new(classes, state.numbers("consensus")?.unwrap_or_default()),
        model,
        worker_scores: state.numbers("scores")?,
        task_difficulty: state.numbers("difficulty")?,
        trace: state.numbers("trace")?.unwrap_or_default(),
        iterations,
        converged,
        warnings,
        notes,
    };
    let shares: Option<Vec<f64>> = state.numbers("class_prior")?;
    let weight: Option<f64> = state.get("class_prior_weight")?;
    let class_prior = shares.map(|shares| match weight {
        Some(weight) => ClassPrior::worth_tasks(shares, weight),
        None => ClassPrior::fixed(shares),
    });
    let history: Option<Vec<u8>> = state.get("history")?;
    let history = history.map(|bytes| AnswerCounts::from_bytes(&bytes));
    let earlier: Option<String> = state.get("earlier")?;
    let earlier = earlier.map(|text| serde_json::from_str(&text)).transpose();
    let method: String = state.get("method")?;
    let (seed, threads, memory, seconds) = state.get("run")?;
    let kinds: (u8, u8, u8) = state.get("kinds")?;
    let (notes, warnings) = state.get("told")?;
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
                workers: history.transpose().map_err(|error| failed(error.into()))?,
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
        told: Told { notes, warnings },
    })
}

fn annotations_of(state: &State<'_>) -> PyResult<Annotations> {
    let failed = |failure: Failure| raise(state.0.py(), failure);
    let names = |name: &str| -> PyResult<Names> {
        let listed: Vec<String> = state.get(name)?;
        Ok(listed.iter().map(String::as_str).collect())
    };
    let (rows, abstentions, repeated, duplicates): (u64, u64, u64, String) = state.get("rows")?;
    let block = TaskBlock {
        starts: state.numbers("starts")?.unwrap_or_default(),
        worker: state.numbers("worker")?.unwrap_or_default(),
        label: state.numbers("label")?.unwrap_or_default(),
        gold: state.numbers("gold")?.unwrap_or_default(),
    };
    let rows = RowCounts {
        rows,
        abstentions,
        repeated,
        duplicates: duplicates_of(&duplicates).map_err(failed)?,
    };
    Annotations::from_block(names("tasks")?, names("workers")?, names("classes")?, block, rows)
        .map_err(|error| failed(error.into()))
}
