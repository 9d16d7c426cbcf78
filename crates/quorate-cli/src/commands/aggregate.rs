//! `quorate aggregate`: from annotations to labels.

mod outcome;
mod report;
mod spill_plan;
mod update;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use quorate::internal::run::{Run, join_update};
use quorate::methods::{Aggregate, Method};
use quorate::model::Priors;
use quorate::review::{Review, ReviewTask};
use quorate_io::{
    ConsensusParts, FileFormat, Format, ModelOrigin, Target, WantedResults, WorkerRow, write_intervals,
    write_model, write_review, write_workers,
};

use crate::args::{MethodArgs, RunArgs};
use crate::catalog::streaming_names;
use crate::choices::{TABLES, one_of};
use crate::files::{Content, Files};
use crate::input::InputArgs;
use crate::knowledge::KnowledgeArgs;
use crate::numbers::{MOST, number, whole};
use crate::printer::Printer;
use crate::run_summary::RunSummary;
use crate::run_words::tell_joined;
use crate::session::Session;
use crate::spreadsheet::SpreadsheetArgs;
use outcome::{LabelSource, Results};
use report::{report, review_table};
use spill_plan::{SpillArgs, Spilling};
use update::UpdateArgs;

/// What to aggregate and where to put it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate aggregate labels.csv -o consensus.csv\n  \
    quorate aggregate export.json --question sentiment -o consensus.csv\n  \
    quorate aggregate labels.csv --review review.csv --workers workers.csv -o consensus.csv\n  \
    quorate aggregate table.csv --wide --missing NA,-1 --drop-workers ann,bob -o consensus.csv\n  \
    quorate aggregate labels.csv.gz -m dawid-skene --probabilities --workers workers.csv --model model.json -o out.parquet\n  \
    quorate aggregate labels.csv -m dawid-skene --model model.json --keep-labels -o out.csv\n  \
    quorate aggregate new-labels.csv --update model.json --model model.json -o out.csv\n  \
    quorate aggregate labels.csv --gold known.csv --worker-prior last-week.json --model this-week.json -o out.csv\n  \
    cat labels.csv | quorate aggregate - --columns task=item,worker=user,label=answer | head\n\n\
    The output has a row for each task: its id, the label, and the probability that the label is right.")]
pub struct AggregateArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    method: MethodArgs,
    /// Where the labels go; standard output if not given. The extension tells the format
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Format of the labels, where the name of the file does not tell it
    #[arg(long, value_parser = one_of(TABLES), value_name = "FORMAT", help_heading = "Output")]
    output_format: Option<Format>,
    /// Write the probability of every class, too (columns p:CLASS)
    #[arg(long, help_heading = "Output")]
    probabilities: bool,
    /// Write the votes and the margin, too (columns votes: `cat:3 dog:1`, and margin: how far the probability
    /// of the label is above that of the next class)
    #[arg(long, help_heading = "Output")]
    votes: bool,
    /// Write how difficult each task is, too (column difficulty): the chance that an average worker answers
    /// it wrongly
    ///
    /// For methods in which tasks differ: auto and task-effects.
    #[arg(long, help_heading = "Output")]
    difficulty: bool,
    /// Write a table of the workers: labels, accuracy, agreement with the consensus, confusion matrix
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    workers: Option<PathBuf>,
    /// Write the tasks whose label is not that of majority vote, with the workers who tipped it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    changes: Option<PathBuf>,
    /// Write the tasks to look at first, the most doubtful first, and why; a number shows so many of them
    /// here
    ///
    /// A table with columns task, label, confidence, runner_up, runner_up_probability, votes, reasons.
    #[arg(long, value_name = "FILE|N", help_heading = "Output")]
    review: Option<PathBuf>,
    /// Most tasks in the file of --review
    #[arg(
        long,
        value_name = "N",
        requires = "review",
        default_value_t = 100,
        value_parser = whole::<usize>(0, MOST),
        help_heading = "Output"
    )]
    review_tasks: usize,
    /// Write the fitted model as JSON
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    model: Option<PathBuf>,
    /// Write intervals of worker accuracies, confusion matrices and class shares
    ///
    /// One row for each number, with columns what, worker, answer, truth, estimate, low, high. Truths and
    /// matrices are drawn from their posterior, which takes about as long as 400 rounds of EM; assumes that
    /// workers err independently.
    #[arg(long, value_name = "FILE", help_heading = "How sure")]
    intervals: Option<PathBuf>,
    /// Probability that an interval of --intervals holds the true value
    #[arg(long, value_name = "SHARE", requires = "intervals", default_value_t = 0.95, value_parser = number(0.01, 0.9999), help_heading = "How sure")]
    level: f64,
    /// Lower the confidence to what it is worth if some tasks mislead many workers at once
    ///
    /// Models in which workers err independently are too sure of themselves. `auto` allows for it by itself;
    /// this does the same for any method with a model. Labels stay. With --gold the share of such tasks is
    /// learnt, else it is a typical one.
    #[arg(long, help_heading = "How sure")]
    calibrate: bool,
    /// For programs: print a summary of the run as JSON on standard output (needs -o)
    #[arg(long, requires = "output", help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    #[command(flatten)]
    update: UpdateArgs,
    #[command(flatten)]
    spill: SpillArgs,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Reads, fits, writes.
pub fn run(args: &AggregateArgs, printer: &mut Printer) -> Result<()> {
    args.run.apply_limits();
    args.spreadsheet.apply();
    let update = args.update.open(&args.method.name, args.model.as_ref())?;
    let (method, parameters) = args.method.find()?;
    let (method, parameters, aggregate) = match &update {
        Some(update) => update.method(parameters)?,
        None => {
            let aggregate = method.with_parameters(&parameters)?;
            (method, parameters, aggregate)
        }
    };
    args.refuse_without_model(method)?;
    args.check_files()?;
    let mut spilling = args
        .spill
        .plan(&args.input, &args.run, method, args.output.as_deref(), printer)?;
    if spilling.is_some() {
        args.refuse_with_spill(method)?;
    }
    let session = Session::start(&args.run, printer.quiet());
    let mut table = None;
    if spilling.is_none() {
        match args.input.read(printer) {
            Ok(read) => table = Some(read),
            Err(error) => {
                spilling = args.spill_after_all(&error, method, printer);
                if spilling.is_none() {
                    return Err(error);
                }
            }
        }
    }
    let origin = ModelOrigin {
        method,
        parameters,
        seed: args.run.seed,
        priors: Priors::default(),
        earlier: None,
    };
    match (table, spilling) {
        (Some(mut table), _) => {
            if let Some(update) = update {
                let (duplicates, closed) = (args.input.options()?.duplicates, args.input.classes.is_some());
                let (all, joined) = join_update(update.labels, &table, duplicates, closed)?;
                tell_joined(joined, printer);
                table = Arc::new(all);
            }
            let table = args.finish(table, &*aggregate, origin, session, printer)?;
            // The program ends here: the system takes large tables back faster than we could give them.
            std::mem::forget(table);
        }
        (None, Some(spilling)) => {
            let spilled = spilling.read(&session, printer)?;
            args.finish(spilled, &*aggregate, origin, session, printer)?;
        }
        (None, None) => {}
    }
    Ok(())
}

impl AggregateArgs {
    /// Adds what is known, fits, writes, and gives the labels back.
    fn finish<L: LabelSource>(
        &self,
        mut labels: L,
        aggregate: &dyn Aggregate,
        mut origin: ModelOrigin,
        session: Session,
        printer: &mut Printer,
    ) -> Result<L> {
        (labels, origin.priors, origin.earlier) = self.knowledge.add_to(labels, &self.input, printer)?;
        let session = session.with_priors(origin.priors.clone());
        let session = labels.with_side_data(session, &self.input, printer)?;
        let run = Run {
            method: aggregate,
            calibrate: self.calibrate,
            intervals: self.intervals.as_ref().map(|_| self.level),
        };
        let wanted = WantedResults {
            counts: self.model.is_some(),
            changes: self.changes.is_some(),
            review: self.review_settings(),
        };
        let mut context = session.context(origin.method.name, 0)?;
        let outcome = run.over(&mut labels, &mut context)?;
        let outcome = labels.results(outcome, wanted, &mut context)?;
        let results = Results::new(outcome, wanted);
        self.write(&origin, &results, printer)?;
        if self.review_number().is_some() {
            printer.note(review_table(&self.review(&results)));
        }
        let written = &results.outcome.fit.consensus;
        let summary = RunSummary::new(
            &origin,
            &results.outcome,
            &results.summary,
            written.facts(),
            written.spilled_bytes(),
        );
        report(&run, &results, &summary, printer);
        if self.json {
            printer.json(&summary)?;
        }
        Ok(labels)
    }

    /// Refuses outputs that would overwrite something or cannot be written.
    fn check_files(&self) -> Result<()> {
        let review = self.review.as_ref().filter(|_| self.review_number().is_none());
        let mut files = self
            .input
            .files(Files::default())
            .reads("--gold", self.knowledge.gold.as_ref())
            .reads("--worker-prior", self.knowledge.worker_prior.as_ref())
            .writes("--workers", self.workers.as_ref(), Content::Table)
            .writes("--changes", self.changes.as_ref(), Content::Table)
            .writes("--review", review, Content::Table)
            .writes("--intervals", self.intervals.as_ref(), Content::Table)
            .writes("--model", self.model.as_ref(), Content::Other)
            .writes("-o", self.output.as_ref(), Content::Table);
        // A model that is brought up to date may take its own place.
        if self.update.path() != self.model.as_ref() {
            files = files.reads("--update", self.update.path());
        }
        files.check(self.output_format.is_some())
    }

    /// The number of tasks that --review shows, where it is a number.
    fn review_number(&self) -> Option<usize> {
        self.review.as_ref()?.to_str()?.parse().ok()
    }

    fn review_settings(&self) -> Option<Review> {
        self.review.as_ref().map(|_| Review {
            most: self.review_number().unwrap_or(self.review_tasks),
        })
    }

    fn review(&self, results: &Results<'_>) -> Vec<ReviewTask> {
        let (fit, settings) = (
            &results.outcome.fit,
            self.review_settings().unwrap_or(Review { most: 0 }),
        );
        fit.consensus
            .review(settings, fit.model.as_ref(), fit.task_difficulty.as_deref())
    }

    /// Refuses outputs of a model where there will be none.
    fn refuse_without_model(&self, method: &Method) -> Result<()> {
        for (option, asked) in [
            ("--model", self.model.is_some()),
            ("--intervals", self.intervals.is_some()),
        ] {
            if asked && !method.returns_model {
                bail!(
                    "{} does not estimate a model: leave {option} out, or choose another method",
                    method.name
                );
            }
        }
        Ok(())
    }

    /// Where labels go that turned out not to fit into memory, if they can go to disk.
    fn spill_after_all(
        &self,
        error: &anyhow::Error,
        method: &Method,
        printer: &mut Printer,
    ) -> Option<Spilling<'_>> {
        let too_large = error
            .downcast_ref::<quorate_io::Error>()
            .is_some_and(quorate_io::Error::is_out_of_memory);
        if !too_large || self.refuse_with_spill(method).is_err() {
            return None;
        }
        self.spill
            .after_all(&self.input, &self.run, self.output.as_deref(), printer)
    }

    /// What needs all labels in memory is refused, not left out.
    fn refuse_with_spill(&self, method: &Method) -> Result<()> {
        if !method.streams {
            bail!(
                "{} needs all labels in memory: leave --spill out and raise --memory, or use one of {}",
                method.name,
                streaming_names()
            );
        }
        let given = [
            ("--update", self.update.is_given()),
            ("--keep-labels", self.update.keeps_labels()),
            ("--probabilities-in", self.input.probabilities_in.is_some()),
            ("--features", self.input.features.is_some()),
            ("--votes", self.votes),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            bail!(
                "{option} needs all labels in memory: leave --spill out and raise --memory, or leave {option} out"
            );
        }
        Ok(())
    }

    /// Writes everything that was asked for. Side files first: when the labels are there, everything is. All
    /// appear together.
    fn write(&self, origin: &ModelOrigin, results: &Results<'_>, printer: &mut Printer) -> Result<()> {
        let Results { outcome, summary } = results;
        let (fit, written) = (&outcome.fit, &outcome.fit.consensus);
        let labels = written.facts();
        let (workers, classes) = (labels.workers, labels.classes);
        if let Some(path) = &self.workers {
            let rows = WorkerRow::of_fit(workers, fit, summary);
            write_workers(&Target::from(path.clone()), classes, &rows)?;
        }
        if let (Some(path), Some(intervals)) = (&self.intervals, &outcome.intervals) {
            write_intervals(&Target::from(path.clone()), workers, classes, intervals)?;
        }
        if let Some(path) = &self.changes {
            written.write_changes(&Target::from(path.clone()), fit.model.as_ref())?;
        }
        if let (Some(path), None) = (&self.review, self.review_number()) {
            write_review(&Target::from(path.clone()), &self.review(results))?;
        }
        if (self.model.is_some() || self.intervals.is_some()) && fit.model.is_none() {
            printer.warning(
                "too many classes or workers for a matrix of each: --model and --intervals were not written",
            );
        }
        if let Some(path) = &self.model
            && let Some(mut file) = origin.model_file(fit, summary, labels, written.fingerprint())?
        {
            if let Some(annotations) = written.annotations() {
                self.update.keep_labels(path, annotations, &mut file)?;
            }
            write_model(&Target::from(path.clone()), &file)?;
        }
        let difficulty = fit.task_difficulty.as_deref().filter(|_| self.difficulty);
        if self.difficulty && difficulty.is_none() {
            printer.warning(
                "no difficulty of tasks was estimated (auto and task-effects do, with all labels in memory): there is no column \
                 for it",
            );
        }
        let parts = ConsensusParts {
            probabilities: self.probabilities,
            difficulty,
            votes: written.annotations().filter(|_| self.votes),
            format: self.output_format.map(FileFormat::from),
        };
        Ok(written.write(&Target::from(self.output.clone()), parts)?)
    }
}
