//! `quorate plan`: who should label what next, and when to stop.

pub(crate) mod replay;
pub(crate) mod text;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{ArgGroup, Args, ValueEnum};
use quorate::plan::{Dispatch, Plan};
use quorate::{Annotations, Fit};
use quorate_io::{Source, Target, write_dispatch, write_plan};

use crate::args::{MethodArgs, RunArgs};
use crate::files::{Content, Files};
use crate::input::InputArgs;
use crate::knowledge::KnowledgeArgs;
use crate::numbers::{MOST, below_one, number, share, whole};
use crate::printer::Printer;
use crate::session::Session;
use crate::side_data::{self, worker_numbers};
use crate::spreadsheet::SpreadsheetArgs;
use replay::ReplayArgs;

/// What to plan.
#[derive(Debug, Args)]
#[command(mut_arg("method", |arg| arg.help("Method of the fit that the plan rests on; it must return a model")))]
#[command(group(ArgGroup::new("not_to_stdout").args(["output", "simulate"]).multiple(true)))]
#[command(after_help = "Examples:\n  \
    quorate plan labels.csv --budget 500 -o next.csv\n  \
    quorate plan labels.csv --budget 200 --costs costs.csv --capacity 20 --target 0.05 -o next.jsonl\n  \
    quorate plan labels.csv --goal comparable -o dispatch.csv\n  \
    quorate plan labels.csv --budget 1000 --simulate --truth truth.csv\n\n\
    The output has a row for each label to collect: task, worker, the expected gain (the part of a task that\n\
    it puts right), its cost, and the task's confidence now. Collect them, add them to the table, plan again:\n\
    small batches are worth more than one large one.")]
pub struct PlanArgs {
    #[command(flatten)]
    input: InputArgs,
    /// What may be spent: a number of labels, or an amount where --costs are given
    #[arg(long, value_name = "NUMBER", value_parser = number(1e-6, 1e12), required_unless_present = "goal", help_heading = "What to plan")]
    budget: Option<f64>,
    /// What the labels are for
    #[arg(long, value_enum, default_value_t = Goal::Error, help_heading = "What to plan")]
    goal: Goal,
    #[command(flatten)]
    method: MethodArgs,
    /// Where the plan goes; standard output if not given. The extension tells the format
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write the tasks that need no more labels (a column task)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    retired: Option<PathBuf>,
    /// For programs: print the forecast as JSON on standard output (needs -o), or with --simulate the errors
    #[arg(long, requires = "not_to_stdout", help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    replay: ReplayArgs,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// What a plan keeps to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits and targets")]
struct LimitArgs {
    /// What a label by each worker costs (columns worker, cost); workers not listed cost 1
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// New labels that a worker can give; twice an even share if not given
    #[arg(long, value_name = "LABELS", value_parser = whole::<u32>(0, MOST))]
    capacity: Option<u32>,
    /// New labels that each worker can give (columns worker, labels); workers not listed as --capacity says,
    /// or none
    #[arg(long, value_name = "FILE")]
    capacities: Option<PathBuf>,
    /// Never assign these (columns task, worker)
    #[arg(long, value_name = "FILE")]
    exclude: Option<PathBuf>,
    /// Share of the labels that compare workers (on the tasks with most labels, by the workers with fewest),
    /// to find out where the model is wrong; the more, the fewer labels a worker has given so far, if not
    /// given
    #[arg(long, value_name = "SHARE", value_parser = below_one)]
    explore: Option<f64>,
    /// Say how many labels it takes to bring the error down to this share, for example 0.05
    #[arg(long, value_name = "SHARE", value_parser = share)]
    target: Option<f64>,
    /// Confidence from which on a task needs no more labels
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.99)]
    retire: f64,
    /// With --goal comparable: tasks that each worker should share with both designated workers
    #[arg(long, value_name = "TASKS", value_parser = whole::<u32>(0, MOST))]
    shared: Option<u32>,
}

/// What labels are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Goal {
    /// Fewer wrong labels for the money
    Error,
    /// Workers who can all be compared: the fewest labels that let every missing co-occurrence be imputed
    Comparable,
}

/// Reads, fits, plans, writes.
pub fn run(args: &PlanArgs, printer: &mut Printer) -> Result<()> {
    args.run.apply_limits();
    args.spreadsheet.apply();
    let (method, aggregate) = args.method.build()?;
    if !method.returns_model {
        bail!(
            "{} does not estimate a model, which a plan needs: choose another method",
            method.name
        );
    }
    args.check_files()?;
    let (annotations, session) = Session::with_labels(&args.input, &args.knowledge, &args.run, printer)?;
    if args.replay.simulate {
        let limits = (args.limits.capacity, args.limits.explore);
        let (budget, how) = (args.budget, (&session, args.json));
        return args
            .replay
            .run(budget, limits, &annotations, &*aggregate, how, printer);
    }
    let fit = aggregate.fit(&annotations, &mut session.context(method.name, 0)?)?;
    match args.goal {
        Goal::Error => args.plan(&annotations, &fit, &session, printer),
        Goal::Comparable => args.dispatch(&annotations, &fit, &session, printer),
    }
}

impl PlanArgs {
    fn check_files(&self) -> Result<()> {
        self.input
            .files(Files::default())
            .reads("--costs", self.limits.costs.as_ref())
            .reads("--capacities", self.limits.capacities.as_ref())
            .reads("--exclude", self.limits.exclude.as_ref())
            .reads("--gold", self.knowledge.gold.as_ref())
            .reads("--truth", self.replay.truth.as_ref())
            .writes("-o", self.output.as_ref(), Content::Table)
            .writes("--retired", self.retired.as_ref(), Content::Table)
            .check(false)
    }

    fn plan(
        &self,
        annotations: &Annotations,
        fit: &Fit,
        session: &Session,
        printer: &mut Printer,
    ) -> Result<()> {
        let Some(budget) = self.budget else {
            bail!("--goal error needs --budget: how many labels may be collected");
        };
        let mut numbers = |option, path: &Option<PathBuf>, column, others| {
            let source = path.clone().map(Source::from);
            worker_numbers(
                (option, source.as_ref()),
                column,
                others,
                annotations.workers(),
                printer,
            )
        };
        let costs = numbers("costs", &self.limits.costs, "cost", 1.0)?;
        let others = f64::from(self.limits.capacity.unwrap_or(0));
        let capacities = numbers("capacities", &self.limits.capacities, "labels", others)?;
        let plan = Plan {
            costs,
            capacities: capacities.into_iter().map(|labels| labels as u32).collect(),
            capacity: self.limits.capacity,
            excluded: self.excluded(annotations, printer)?,
            explore: self.limits.explore,
            target: self.limits.target,
            retire: self.limits.retire,
            ..Plan::new(budget)
        };
        let planned = plan.run(annotations, fit, &mut session.context("plan", 0)?)?;
        if let Some(path) = &self.retired {
            let tasks = planned.retired.iter().map(|&task| annotations.tasks().get(task));
            quorate_io::write_ids(&Target::from(path.clone()), "task", tasks.collect())?;
        }
        let output = Target::from(self.output.clone());
        write_plan(&output, annotations, fit, &planned)?;
        if self.json {
            printer.json(&text::plan_json(&planned, annotations))?;
        } else {
            text::describe_plan(&planned, &plan, annotations, printer);
        }
        Ok(())
    }

    fn dispatch(
        &self,
        annotations: &Annotations,
        fit: &Fit,
        session: &Session,
        printer: &mut Printer,
    ) -> Result<()> {
        let settings = Dispatch {
            shared: self.limits.shared,
            designated: None,
            excluded: self.excluded(annotations, printer)?,
        };
        let dispatched = settings.run(annotations, fit, &mut session.context("plan", 0)?)?;
        let output = Target::from(self.output.clone());
        write_dispatch(&output, annotations, &dispatched)?;
        if self.json {
            printer.json(&text::dispatch_json(&dispatched, annotations))?;
        } else {
            text::describe_dispatch(&dispatched, annotations, printer);
        }
        Ok(())
    }

    fn excluded(&self, annotations: &Annotations, printer: &mut Printer) -> Result<Vec<(u32, u32)>> {
        let source = self.limits.exclude.clone().map(Source::from);
        Ok(side_data::excluded(source.as_ref(), annotations, printer)?)
    }
}
