//! Checks of labels: against the truth, against each other, and what a table can tell.

use std::sync::Arc;

use pyo3::prelude::*;
use quorate::agreement::AgreementSettings;
use quorate::annotations::Names;
use quorate::diagnose::{Finding, Inspect};
use quorate::evaluate::{Bins, Evaluate, Predictions, TieRule, error_rate};
use quorate::methods::DEFAULT_METHOD;
use quorate_cli::catalog::find;
use quorate_cli::choices::TIES;
use quorate_cli::documents;
use quorate_io::{LabelOptions, read_labels, read_truth};

use crate::arguments::{Running, arguments, choice, number};
use crate::data::Data;
use crate::errors::{Failure, raise, words};
use crate::fitted::Fitted;
use crate::job;
use crate::labels::Labels;

/// Predictions against the truth: a JSON document, and a warning if there is one.
#[pyfunction]
#[pyo3(signature = (predicted, truth, *, except_tasks, ties, bins, normalize))]
pub fn evaluate(
    py: Python<'_>,
    predicted: &Data,
    truth: &Data,
    except_tasks: Vec<String>,
    ties: &str,
    bins: &Bound<'_, PyAny>,
    normalize: bool,
) -> PyResult<(String, Option<String>)> {
    let ties = choice(TIES, "ties", ties).map_err(|failure| raise(py, failure))?;
    let bins: usize = number("bins", bins)?;
    let (predicted, truth) = (predicted.source.clone(), truth.source.clone());
    job::run(py, 0, None, move |_| {
        let options = LabelOptions::default();
        let (predicted, truth) = (read_labels(&predicted, &options)?, read_labels(&truth, &options)?);
        let except: Names = except_tasks.iter().map(String::as_str).collect();
        let settings = Evaluate {
            ties,
            bins: Bins::EqualWidth(bins.max(1)),
        };
        documents::evaluation(&predicted, &truth, &except, (&settings, normalize))
            .map_err(|error| Failure::Input(error.to_string()))
    })
}

/// The error of a fit, ties to the lowest class and ties a fair share, and how many tasks were scored. Tasks
/// of gold are left out: they are right by construction.
#[pyfunction]
pub fn error_of(py: Python<'_>, fitted: &Fitted, truth: &Data) -> PyResult<(f64, f64, usize)> {
    let score = || -> Result<_, Failure> {
        let mut codes = read_truth(&truth.source, &fitted.annotations)?;
        for (task, code) in codes.iter_mut().enumerate() {
            *code = code.filter(|_| fitted.annotations.gold(task).is_none());
        }
        let predictions = Predictions::from_consensus(&fitted.fit().consensus)?;
        let lowest = error_rate(&predictions, &codes, TieRule::Lowest)?;
        let fair = error_rate(&predictions, &codes, TieRule::Fractional)?;
        Ok((lowest.rate, fair.rate, lowest.scored))
    };
    score().map_err(|failure| raise(py, failure))
}

arguments! {
    /// How a table is inspected.
    pub struct Inspecting {
        /// Resampled tables behind the intervals.
        pub replicates: usize,
        /// Tasks that two workers must share to be compared.
        pub min_shared: u32,
        /// Share of false alarms.
        pub false_alarms: f64,
        /// Pairs of workers that are listed.
        pub pairs: usize,
    }
}

/// What a table can tell, as a JSON document.
#[pyfunction]
pub fn inspect(
    py: Python<'_>,
    labels: &Labels,
    inspecting: Inspecting,
    running: Running,
) -> PyResult<String> {
    let annotations = Arc::clone(&labels.annotations);
    let (seed, memory) = (running.seed, running.bytes());
    running.run(py, move |job| {
        let method = find(DEFAULT_METHOD)?.with_defaults()?;
        let fit = method.fit(&annotations, &mut job.context(seed, memory))?;
        let settings = Inspect {
            agreement: AgreementSettings {
                replicates: inspecting.replicates,
                min_shared: inspecting.min_shared as usize,
                max_pairs: inspecting.pairs,
                ..AgreementSettings::default()
            },
            false_discovery_rate: inspecting.false_alarms,
            min_shared: inspecting.min_shared,
        };
        let inspection = settings.run(&annotations, &fit, &mut job.context(seed, memory))?;
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
