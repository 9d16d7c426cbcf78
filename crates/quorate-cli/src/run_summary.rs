//! A run in numbers, for programs and other languages.

use quorate::internal::model::ConsensusSummary;
use quorate::internal::run::{LabelFacts, Outcome};
use quorate::review::uninformative_workers;
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
    expected_error: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_range: Option<(f64, f64)>,
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
            expected_error: facts.expected_error(),
            error_range: outcome
                .intervals
                .as_ref()
                .map(|found| (found.error.low, found.error.high)),
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
