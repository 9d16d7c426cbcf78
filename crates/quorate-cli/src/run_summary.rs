//! A run in numbers, for programs and other languages.

use quorate::internal::model::ConsensusSummary;
use quorate::internal::run::{LabelFacts, Outcome};
use quorate::review::{ErrorEstimate, LEVEL, uninformative_workers};
use quorate_io::ModelOrigin;
use serde::Serialize;

/// What `aggregate --json` prints.
#[derive(Serialize)]
pub struct RunSummary<'a> {
    method: &'a str,
    tasks: u64,
    workers: usize,
    classes: usize,
    labels: u64,
    abstentions: u64,
    repeated_rows: u64,
    unlabelled_tasks: u64,
    tied_tasks: u64,
    changed_from_majority_vote: u64,
    estimated_error: EstimatedError,
    doubtful_tasks: u64,
    expected_errors_in_doubtful_tasks: f64,
    /// Workers whose answers hardly depend on the truth, the least informative first.
    pub workers_to_look_at: Vec<&'a str>,
    iterations: usize,
    converged: bool,
    objective: Option<f64>,
    fit_seconds: f64,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    spilled_bytes: Option<u64>,
    warnings: &'a [String],
    notes: &'a [String],
}

impl<'a> RunSummary<'a> {
    /// Of a run, and of the workers, classes and rows of its labels.
    pub fn new<C>(
        origin: &'a ModelOrigin,
        outcome: &'a Outcome<C>,
        facts: &ConsensusSummary,
        labels: LabelFacts<'a>,
        spilled_bytes: Option<u64>,
    ) -> Self {
        let fit = &outcome.fit;
        let suspects = fit
            .model
            .as_ref()
            .map(|model| uninformative_workers(model, &facts.worker_labels));
        let suspects = suspects.into_iter().flatten();
        Self {
            method: origin.method.name,
            tasks: facts.tasks,
            workers: labels.workers.len(),
            classes: labels.classes.len(),
            labels: facts.labels,
            abstentions: labels.rows.abstentions,
            repeated_rows: labels.rows.repeated,
            unlabelled_tasks: facts.unlabelled_tasks,
            tied_tasks: facts.tied_tasks,
            changed_from_majority_vote: facts.changed_from_votes,
            estimated_error: fit.estimate_error(facts).into(),
            doubtful_tasks: facts.doubtful_tasks,
            expected_errors_in_doubtful_tasks: facts.doubtful_errors,
            workers_to_look_at: suspects.map(|worker| labels.workers.get(worker)).collect(),
            iterations: fit.iterations,
            converged: fit.converged,
            objective: fit.trace.last().copied(),
            fit_seconds: outcome.seconds,
            seed: origin.seed,
            spilled_bytes,
            warnings: &fit.warnings,
            notes: &fit.notes,
        }
    }
}

/// How many labels are wrong, with the range that holds the true share with probability `level`, if there is one.
#[derive(Serialize)]
pub struct EstimatedError {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    level: Option<f64>,
    known_truths: u64,
}

impl From<ErrorEstimate> for EstimatedError {
    fn from(found: ErrorEstimate) -> Self {
        Self {
            value: found.value,
            low: found.range.map(|(low, _)| low),
            high: found.range.map(|(_, high)| high),
            level: found.range.map(|_| LEVEL),
            known_truths: found.checked,
        }
    }
}
