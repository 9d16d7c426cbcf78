//! Checks of labels: against the truth, against each other, and what a table can tell.

use std::sync::Arc;

use pyo3::prelude::*;
use quorate::agreement::AgreementSettings;
use quorate::annotations::Names;
use quorate::diagnose::{Finding, Inspect};
use quorate::evaluate::{Bins, Evaluate, Predictions, TieRule, error_rate};
use quorate_cli::documents;
use quorate_io::{LabelOptions, read_labels};

use crate::data::Data;
use crate::errors::{Failure, raise, words};
use crate::fitted::Fitted;
use crate::fitting::bytes_of;
use crate::job;
use crate::labels::Labels;

fn tie_rule(name: &str) -> Result<TieRule, Failure> {
    match name {
        "lowest" => Ok(TieRule::Lowest),
        "fractional" => Ok(TieRule::Fractional),
        other => Err(Failure::Parameter(format!(
            "ties: found {other:?}, expected \"lowest\" or \"fractional\""
        ))),
    }
}

/// Predictions against the truth: a JSON document, and a warning if there is one.
#[pyfunction]
#[pyo3(signature = (predicted, truth, *, except_tasks, ties, bins))]
pub fn evaluate(
    py: Python<'_>,
    predicted: &Data,
    truth: &Data,
    except_tasks: Vec<String>,
    ties: &str,
    bins: usize,
) -> PyResult<(String, Option<String>)> {
    let ties = tie_rule(ties).map_err(|failure| raise(py, failure))?;
    let (predicted, truth) = (predicted.source.clone(), truth.source.clone());
    job::run(py, 0, None, move |_| {
        let options = LabelOptions::default();
        let (predicted, truth) = (read_labels(&predicted, &options)?, read_labels(&truth, &options)?);
        let except: Names = except_tasks.iter().map(String::as_str).collect();
        let settings = Evaluate {
            ties,
            bins: Bins::EqualWidth(bins.max(1)),
        };
        documents::evaluation(&predicted, &truth, &except, &settings)
            .map_err(|error| Failure::Input(error.to_string()))
    })
}

/// The error of a fit, ties to the lowest class and ties a fair share, and how many tasks were scored. Tasks
/// of gold are left out: they are right by construction.
#[pyfunction]
pub fn error_of(py: Python<'_>, fitted: &Fitted, truth: &Data) -> PyResult<(f64, f64, usize)> {
    let score = || -> Result<_, Failure> {
        let truth = read_labels(&truth.source, &LabelOptions::default())?;
        let mut codes = truth.codes_in(&fitted.annotations);
        for (task, code) in codes.iter_mut().enumerate() {
            *code = code.filter(|_| fitted.annotations.gold(task).is_none());
        }
        let predictions = Predictions::from_consensus(&fitted.fit.consensus)?;
        let lowest = error_rate(&predictions, &codes, TieRule::Lowest)?;
        let fair = error_rate(&predictions, &codes, TieRule::Fractional)?;
        Ok((lowest.rate, fair.rate, lowest.scored))
    };
    score().map_err(|failure| raise(py, failure))
}

/// What a table can tell, as a JSON document.
#[pyfunction]
#[pyo3(signature = (labels, *, replicates, min_shared, false_alarms, pairs, seed, threads, memory, progress))]
pub fn inspect(
    py: Python<'_>,
    labels: &Labels,
    replicates: usize,
    min_shared: u32,
    false_alarms: f64,
    pairs: usize,
    seed: u64,
    threads: usize,
    memory: f64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let memory = bytes_of(memory).map_err(|failure| raise(py, failure))?;
    let annotations = Arc::clone(&labels.annotations);
    job::run(py, threads, progress, move |job| {
        let settings = Inspect {
            agreement: AgreementSettings {
                replicates,
                min_shared: min_shared as usize,
                max_pairs: pairs,
                ..AgreementSettings::default()
            },
            false_discovery_rate: false_alarms,
            min_shared,
        };
        let inspection = settings.run(&annotations, &mut job.context(seed, memory))?;
        documents::inspection(&inspection, &annotations, &advice)
            .map_err(|error| Failure::Input(error.to_string()))
    })
}

/// What to do about a finding, in Python's words.
fn advice(finding: &Finding) -> String {
    match finding.remedy {
        Some(remedy) => {
            let (first, rest) = words(remedy).split_at(1);
            format!("{} {}{rest}.", finding.advice, first.to_uppercase())
        }
        None => finding.advice.clone(),
    }
}
