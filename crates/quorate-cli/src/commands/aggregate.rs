//! `quorate aggregate`: from annotations to labels.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use quorate::calibrate::{TYPICAL_SHARE, calibrate, estimate_share};
use quorate::intervals::Intervals;
use quorate::methods::{DEFAULT_METHOD, Fit, Method, Values, changed_from_votes};
use quorate::model::count_answers;
use quorate::{Annotations, Context};
use quorate_io::{
    ModelFile, Target, WorkerRow, write_consensus_with_difficulty, write_intervals, write_model,
    write_workers,
};
use serde::Serialize;

use crate::args::{RunArgs, share};
use crate::catalog::find;
use crate::commands::changes::write_changes;
use crate::commands::fit_report::FitReport;
use crate::commands::spilled::{Outputs, SpillArgs};
use crate::commands::update::UpdateArgs;
use crate::input::{InputArgs, parse_parameters, size_line};
use crate::knowledge::{Knowledge, KnowledgeArgs};
use crate::printer::Printer;
use crate::session::Session;
use crate::text_table::plural;

/// What to aggregate and where to put it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate aggregate labels.csv -o consensus.csv\n  \
    quorate aggregate labels.csv.gz -m dawid-skene --probabilities --workers workers.csv --model model.json -o out.parquet\n  \
    quorate aggregate labels.csv -m dawid-skene --model model.json --keep-labels -o out.csv\n  \
    quorate aggregate new-labels.csv --update model.json --model model.json -o out.csv\n  \
    quorate aggregate labels.csv --gold known.csv --worker-prior last-week.json --model this-week.json -o out.csv\n  \
    cat labels.csv | quorate aggregate - --columns task=item,worker=user,label=answer | head\n\n\
    The output has a row for each task: its id, the label, and the probability that the label is right.")]
pub struct AggregateArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Method; `quorate methods` lists them
    #[arg(short, long, default_value = DEFAULT_METHOD)]
    method: String,
    /// Where the labels go; standard output if not given. The extension tells the format
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the probability of every class, too (columns p:CLASS)
    #[arg(long)]
    probabilities: bool,
    /// Write how difficult each task is, too (column difficulty): the chance that an average worker answers it wrongly
    ///
    /// For methods in which tasks differ: auto and task-effects.
    #[arg(long)]
    difficulty: bool,
    /// Write a table of the workers: labels, accuracy, agreement with the consensus, confusion matrix
    #[arg(long, value_name = "FILE")]
    workers: Option<PathBuf>,
    /// Write the tasks whose label is not that of majority vote, with the workers who tipped it
    #[arg(long, value_name = "FILE")]
    changes: Option<PathBuf>,
    /// Write the fitted model as JSON
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Write intervals of worker accuracies, confusion matrices, class shares and the error of the labels
    ///
    /// One row for each number, with columns what, worker, answer, truth, estimate, low, high. Truths and matrices are drawn
    /// from their posterior, which takes about as long as 400 rounds of EM; assumes that workers err independently.
    #[arg(long, value_name = "FILE")]
    intervals: Option<PathBuf>,
    /// Probability that an interval of --intervals holds the true value
    #[arg(long, value_name = "SHARE", requires = "intervals", default_value_t = 0.95, value_parser = share)]
    level: f64,
    /// Lower the confidence to what it is worth if some tasks mislead many workers at once
    ///
    /// Models in which workers err independently are too sure of themselves. `auto` allows for it by itself; this does the
    /// same for any method with a model. Labels stay. With --gold the share of such tasks is learnt, else it is a typical one.
    #[arg(long)]
    calibrate: bool,
    /// Set a parameter of the method; may be repeated
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// For programs: print a summary of the run as JSON on standard output (needs -o)
    #[arg(long, requires = "output")]
    json: bool,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    #[command(flatten)]
    update: UpdateArgs,
    #[command(flatten)]
    spill: SpillArgs,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Serialize)]
struct Summary<'a> {
    method: &'a str,
    tasks: usize,
    workers: usize,
    classes: usize,
    labels: usize,
    abstentions: u64,
    repeated_rows: u64,
    unlabelled_tasks: usize,
    tied_tasks: usize,
    changed_from_majority_vote: usize,
    expected_error: f64,
    iterations: usize,
    converged: bool,
    objective: Option<f64>,
    fit_seconds: f64,
    seed: u64,
    warnings: &'a [String],
    notes: &'a [String],
}

/// Reads, fits, writes.
pub fn run(args: &AggregateArgs, printer: &mut Printer) -> Result<()> {
    args.run.limit_threads();
    let update = args.update.open(&args.method)?;
    let mut method = find(&args.method)?;
    let mut parameters = parse_parameters(&args.parameters)?;
    if let Some(update) = &update {
        method = update.method()?;
        parameters = update.parameters(parameters);
    }
    let aggregate = method.with_parameters(&parameters)?;
    for (option, asked) in [
        ("--model", args.model.is_some()),
        ("--intervals", args.intervals.is_some()),
    ] {
        if asked && !method.returns_model {
            bail!(
                "{} does not estimate a model: leave {option} out, or choose another method",
                method.name
            );
        }
    }
    if let Some(spilling) =
        args.spill
            .plan(&args.input, &args.run, method, args.output.as_deref(), printer)?
    {
        args.refuse_with_spill()?;
        return spilling.run(
            method,
            &parameters,
            &Outputs {
                labels: Target::from(args.output.clone()),
                probabilities: args.probabilities,
                workers: args.workers.clone().map(Target::from),
                model: args.model.clone().map(Target::from),
                json: args.json,
            },
            printer,
        );
    }
    let mut annotations = args.input.read(printer)?;
    let closed = args.input.classes.is_some();
    if let Some(update) = &update {
        let duplicates = args.input.options()?.duplicates;
        annotations = update.join(&annotations, duplicates, closed, printer)?;
    }
    let Knowledge {
        annotations,
        priors,
        earlier,
    } = args.knowledge.apply(annotations, closed, printer)?;
    let probabilities = args.input.read_probabilities(&annotations, printer)?;
    let features = args.input.read_features(&annotations, printer)?;
    let session = Session::start(&args.run, printer.quiet())
        .with_probabilities(probabilities)
        .with_features(features)
        .with_priors(priors.clone());

    let mut context = session.context(method.name, 0)?;
    let started = Instant::now();
    let mut fit = match &update {
        Some(update) => {
            let values = Values::with(method.parameters, &parameters)?;
            update.fit(&annotations, &values, &mut context)?
        }
        None => aggregate.fit(&annotations, &mut context)?,
    };
    if args.calibrate && method.name != "auto" {
        calibrate_fit(&annotations, &mut fit, &context, printer);
    }
    let seconds = started.elapsed().as_secs_f64();
    drop(context);
    // Side files first: when the labels are there, everything is.
    if let Some(path) = &args.workers {
        write_worker_table(&Target::from(path.clone()), &annotations, &fit)?;
    }
    let mut error_interval = None;
    if let (Some(path), Some(model)) = (&args.intervals, &fit.model) {
        let settings = Intervals {
            level: args.level,
            ..Intervals::default()
        };
        let mut context = session.context("intervals", 0)?;
        let intervals = settings.run(&annotations, model, &fit.consensus, &mut context)?;
        write_intervals(&Target::from(path.clone()), None, &annotations, &intervals)?;
        error_interval = Some(intervals.error);
    }
    if let Some(path) = &args.changes {
        write_changes(&Target::from(path.clone()), &annotations, &fit)?;
    }
    if (args.model.is_some() || args.intervals.is_some()) && fit.model.is_none() {
        printer.warning(
            "too many classes or workers for a matrix of each: --model and --intervals were not written",
        );
    }
    if let (Some(path), Some(model)) = (&args.model, &fit.model) {
        let values = Values::with(method.parameters, &parameters)?;
        let file = ModelFile::new(&annotations, model).fitted_by(
            method.name,
            values
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
            args.run.seed,
        );
        let mut counts = count_answers(&annotations, &fit.consensus);
        if let Some(history) = &priors.workers {
            counts.merge(history);
        }
        let mut file = file.resting_on(&counts, earlier.as_ref());
        args.update.keep_labels(path, &annotations, &mut file)?;
        write_model(&Target::from(path.clone()), &file)?;
    }
    let output = Target::from(args.output.clone());
    let (tasks, classes) = (annotations.tasks(), annotations.classes());
    let difficulty = fit.task_difficulty.as_deref().filter(|_| args.difficulty);
    if args.difficulty && difficulty.is_none() {
        printer.warning(
            "no difficulty of tasks was estimated (auto and task-effects do): there is no column for it",
        );
    }
    write_consensus_with_difficulty(
        &output,
        None,
        tasks,
        classes,
        &fit.consensus,
        args.probabilities,
        difficulty,
    )?;
    let changed = changed_from_votes(&annotations, &fit.consensus);
    report(method, &annotations, &fit, seconds, changed, printer);
    if let Some(interval) = error_interval {
        printer.note(format!(
            "if workers err independently, {:.1} to {:.1} % of the labels are wrong ({} % interval)",
            100.0 * interval.low,
            100.0 * interval.high,
            100.0 * args.level
        ));
    }
    if args.json {
        printer.json(&summary(
            method,
            &annotations,
            &fit,
            seconds,
            changed,
            args.run.seed,
        ))?;
    }
    // The program ends here: the system takes large tables back faster than we could give them.
    std::mem::forget((annotations, fit));
    Ok(())
}

impl AggregateArgs {
    /// What needs all labels in memory is refused, not left out.
    fn refuse_with_spill(&self) -> Result<()> {
        let given = [
            ("--update", self.update.is_given()),
            ("--keep-labels", self.update.keeps_labels()),
            ("--intervals", self.intervals.is_some()),
            ("--changes", self.changes.is_some()),
            ("--calibrate", self.calibrate),
            ("--difficulty", self.difficulty),
            ("--gold", self.knowledge.gold.is_some()),
            ("--prior", self.knowledge.prior.is_some()),
            ("--worker-prior", self.knowledge.worker_prior.is_some()),
            ("--probabilities-in", self.input.probabilities_in.is_some()),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            bail!(
                "{option} needs all labels in memory: leave --spill out and raise --memory, or leave {option} out"
            );
        }
        Ok(())
    }
}

/// Lowers the confidence of a fit with a model.
fn calibrate_fit(annotations: &Annotations, fit: &mut Fit, context: &Context, printer: &mut Printer) {
    let Some(model) = &fit.model else {
        printer.warning("--calibrate needs a method that estimates a model: the confidence stays as it is");
        return;
    };
    let evidence = count_answers(annotations, &fit.consensus).labels_per_truth();
    let share = estimate_share(annotations, model, &evidence, TYPICAL_SHARE);
    printer.detail(format!(
        "share of tasks that mislead workers together: {share:.2}"
    ));
    let consensus = fit.consensus.clone();
    fit.consensus = context.run(|| calibrate(annotations, model, consensus, share));
}

fn report(
    method: &Method,
    annotations: &Annotations,
    fit: &Fit,
    seconds: f64,
    changed: usize,
    printer: &mut Printer,
) {
    let unlabelled = annotations.unlabelled_tasks();
    if unlabelled > 0 {
        let some: Vec<&str> = (0..annotations.task_count())
            .filter(|&task| annotations.task_slices(task).0.is_empty())
            .take(3)
            .map(|task| annotations.tasks().get(task))
            .collect();
        printer.warning(format!(
            "{} without any label ({}{}): the label written is only the most common class, the confidence its share",
            plural(unlabelled, "task"),
            some.join(", "),
            if unlabelled > 3 { ", .." } else { "" }
        ));
    }
    for warning in &fit.warnings {
        printer.warning(warning);
    }
    let report = FitReport {
        method,
        size: size_line(annotations),
        seconds,
        iterations: fit.iterations,
        converged: fit.converged,
        changed,
        expected_error: fit.consensus.expected_error(),
        tied_tasks: fit.consensus.tied_tasks(),
    };
    report.warn(printer);
    for note in &fit.notes {
        printer.detail(note);
    }
    report.sum_up(printer);
}

fn summary<'a>(
    method: &'a Method,
    annotations: &Annotations,
    fit: &'a Fit,
    fit_seconds: f64,
    changed: usize,
    seed: u64,
) -> Summary<'a> {
    Summary {
        method: method.name,
        tasks: annotations.task_count(),
        workers: annotations.worker_count(),
        classes: annotations.class_count(),
        labels: annotations.label_count(),
        abstentions: annotations.rows().abstentions,
        repeated_rows: annotations.rows().repeated,
        unlabelled_tasks: annotations.unlabelled_tasks(),
        tied_tasks: fit.consensus.tied_tasks(),
        changed_from_majority_vote: changed,
        expected_error: fit.consensus.expected_error(),
        iterations: fit.iterations,
        converged: fit.converged,
        objective: fit.trace.last().copied(),
        fit_seconds,
        seed,
        warnings: &fit.warnings,
        notes: &fit.notes,
    }
}

fn write_worker_table(target: &Target, annotations: &Annotations, fit: &Fit) -> Result<()> {
    let mut agreed = vec![0u64; annotations.worker_count()];
    for task in 0..annotations.task_count() {
        let consensus = fit.consensus.label(task);
        for (worker, label) in annotations.labels_of_task(task) {
            agreed[worker] += u64::from(label == consensus);
        }
    }
    let labels = annotations.labels_per_worker();
    let rows: Vec<WorkerRow<'_>> = annotations
        .workers()
        .iter()
        .enumerate()
        .map(|(worker, id)| {
            let given = u64::from(labels[worker]);
            WorkerRow {
                worker: id,
                labels: given,
                accuracy: fit.model.as_ref().map(|model| model.accuracy(worker)),
                agreement: (given > 0).then(|| agreed[worker] as f64 / given as f64),
                confusion: fit.model.as_ref().map(|model| model.confusion(worker)),
            }
        })
        .collect();
    write_workers(target, None, annotations.classes(), &rows)?;
    Ok(())
}
