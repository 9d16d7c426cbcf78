//! What a run comes to, wherever the labels are: made in one place, written and told of in one place.

use anyhow::Result;
use quorate::calibrate::{TYPICAL_SHARE, calibrate, calibrate_fit, estimate_share};
use quorate::intervals::{Intervals, ModelIntervals};
use quorate::methods::{Aggregate, BlockFit, Fit, Method};
use quorate::model::{ConsensusSummary, count_answers};
use quorate::review::{error_range, uninformative_workers};
use quorate::{Annotations, Context};
use quorate_io::{SpilledLabels, TaskResults, WantedResults};
use serde::Serialize;

use crate::printer::Printer;
use crate::session::Session;
use crate::text_table::plural;

/// What is asked of a fit besides labels.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Lower the confidence for misled tasks.
    pub calibrate: bool,
    /// Intervals at this level.
    pub intervals: Option<f64>,
    /// What the last pass makes.
    pub results: WantedResults,
}

/// A fit with what is said of it.
pub struct Outcome<'l> {
    /// The fit; its consensus is what can be written.
    pub fit: Fit<TaskResults<'l>>,
    /// Facts about labels and consensus.
    pub summary: ConsensusSummary,
    /// Intervals, if they were asked for and there is a model.
    pub intervals: Option<ModelIntervals>,
    /// Workers whose answers hardly depend on the truth, the least informative first.
    suspects: Vec<usize>,
    /// Seconds that the fit took.
    pub seconds: f64,
}

/// A summary of a run for programs.
#[derive(Serialize)]
pub struct JsonSummary<'a> {
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
    workers_to_look_at: Vec<&'a str>,
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

/// Fits a table in memory; `fit` does it.
pub fn in_memory<'l>(
    annotations: &'l Annotations,
    method: &Method,
    session: &Session,
    wanted: Wanted,
    printer: &mut Printer,
    fit: impl FnOnce(&mut Context) -> Result<Fit>,
) -> Result<Outcome<'l>> {
    let mut context = session.context(method.name, 0)?;
    let started = std::time::Instant::now();
    let mut fit = fit(&mut context)?;
    if wanted.calibrate && !method.calibrates_itself {
        calibrate_in_memory(annotations, &mut fit, &context, printer);
    }
    let seconds = started.elapsed().as_secs_f64();
    drop(context);
    let intervals = match (wanted.intervals, &fit.model) {
        (Some(level), Some(model)) => {
            let mut context = session.context("intervals", 0)?;
            let settings = settings_of(level);
            Some(settings.run(annotations, model, &fit.consensus, &mut context)?)
        }
        _ => None,
    };
    let fit = fit.map_consensus(|consensus| TaskResults::Memory {
        annotations,
        consensus,
    });
    Ok(Outcome::new(fit, intervals, wanted, seconds))
}

/// Fits labels on disk.
pub fn on_disk<'l>(
    spilled: &'l mut SpilledLabels,
    aggregate: &dyn Aggregate,
    session: &Session,
    wanted: Wanted,
    printer: &mut Printer,
) -> Result<Outcome<'l>> {
    let method = aggregate.method();
    let mut context = session.context(method.name, 0)?;
    let started = std::time::Instant::now();
    let mut fit: BlockFit = aggregate.fit_blocks(spilled, &mut context)?;
    if wanted.calibrate && !method.calibrates_itself {
        if fit.model.is_none() {
            printer.warning(NO_MODEL);
        }
        let share;
        (fit, share) = calibrate_fit(fit, spilled, &mut context)?;
        tell_share(share, printer);
    }
    let seconds = started.elapsed().as_secs_f64();
    drop(context);
    let intervals = match wanted.intervals {
        Some(level) => {
            let mut context = session.context("intervals", 0)?;
            settings_of(level).run_blocks(spilled, &fit, &mut context)?
        }
        None => None,
    };
    let mut context = session.context(method.name, 0)?;
    let results = spilled.results(&fit, wanted.results, &mut || context.step("posteriors", 0, None))?;
    let fit = fit.with_consensus(TaskResults::Disk(results));
    Ok(Outcome::new(fit, intervals, wanted, seconds))
}

impl<'l> Outcome<'l> {
    fn new(
        fit: Fit<TaskResults<'l>>,
        mut intervals: Option<ModelIntervals>,
        wanted: Wanted,
        seconds: f64,
    ) -> Self {
        let summary = fit.consensus.summary(wanted.results.counts);
        if let (Some(intervals), Some(level)) = (&mut intervals, wanted.intervals) {
            intervals.error = error_range(&summary, intervals.error, level);
        }
        let model = fit.model.as_ref();
        Self {
            suspects: model.map_or(Vec::new(), |model| {
                uninformative_workers(model, &summary.worker_labels)
            }),
            fit,
            summary,
            intervals,
            seconds,
        }
    }

    /// Names of the workers whose answers hardly depend on the truth.
    pub fn suspects(&self) -> impl Iterator<Item = &str> {
        let workers = self.fit.consensus.workers();
        self.suspects.iter().map(|&worker| workers.get(worker))
    }

    /// How much was labelled, in words.
    pub fn size(&self) -> String {
        let labels = &self.fit.consensus;
        format!(
            "{}, {}, {}, {}{}",
            plural(self.summary.tasks as usize, "task"),
            plural(labels.workers().len(), "worker"),
            plural(labels.classes().len(), "class"),
            plural(self.summary.labels as usize, "label"),
            if labels.spilled_bytes().is_some() {
                ", on disk"
            } else {
                ""
            }
        )
    }

    /// The run in numbers.
    pub fn json<'a>(&'a self, method: &'a Method, seed: u64) -> JsonSummary<'a> {
        let labels = &self.fit.consensus;
        JsonSummary {
            method: method.name,
            tasks: self.summary.tasks,
            workers: labels.workers().len(),
            classes: labels.classes().len(),
            labels: self.summary.labels,
            abstentions: labels.rows().abstentions,
            repeated_rows: labels.rows().repeated,
            unlabelled_tasks: self.summary.unlabelled_tasks,
            tied_tasks: self.summary.tied_tasks,
            changed_from_majority_vote: self.summary.changed_from_votes,
            expected_error: self.summary.expected_error(),
            error_range: self
                .intervals
                .as_ref()
                .map(|intervals| (intervals.error.low, intervals.error.high)),
            doubtful_tasks: self.summary.doubtful_tasks,
            expected_errors_in_doubtful_tasks: self.summary.doubtful_errors,
            workers_to_look_at: self.suspects().collect(),
            iterations: self.fit.iterations,
            converged: self.fit.converged,
            objective: self.fit.trace.last().copied(),
            fit_seconds: self.seconds,
            seed,
            spilled_bytes: labels.spilled_bytes(),
            warnings: &self.fit.warnings,
            notes: &self.fit.notes,
        }
    }
}

fn settings_of(level: f64) -> Intervals {
    Intervals {
        level,
        ..Intervals::default()
    }
}

const NO_MODEL: &str = "--calibrate needs a method that estimates a model: the confidence stays as it is";

fn tell_share(share: f64, printer: &mut Printer) {
    printer.detail(format!(
        "share of tasks that mislead workers together: {share:.2}"
    ));
}

/// Lowers the confidence of a fit with a model.
fn calibrate_in_memory(annotations: &Annotations, fit: &mut Fit, context: &Context, printer: &mut Printer) {
    let Some(model) = &fit.model else {
        printer.warning(NO_MODEL);
        return;
    };
    let evidence = count_answers(annotations, &fit.consensus).labels_per_truth();
    let share = estimate_share(annotations, model, &evidence, TYPICAL_SHARE);
    tell_share(share, printer);
    let consensus = fit.consensus.clone();
    fit.consensus = context.run(|| calibrate(annotations, model, consensus, share));
}
