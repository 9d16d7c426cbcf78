//! `quorate report`: the whole story on one page.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use quorate::Fit;
use quorate::internal::run::Run;
use quorate_io::{Source, Target, read_truth, write_whole};
use quorate_report::ranking::RankReport;
use quorate_report::{Evidence, PlanOptions, Report, check_task_url};

use crate::args::{MethodArgs, RunArgs};
use crate::comparisons::{self, ComparisonArgs, rank_all};
use crate::files::{Content, Files};
use crate::input::InputArgs;
use crate::knowledge::KnowledgeArgs;
use crate::numbers::{number, share};
use crate::printer::Printer;
use crate::session::Session;
use crate::side_data::task_texts;
use crate::text_table::plural;

/// Level of the intervals of a leaderboard.
const LEVEL: f64 = 0.95;

/// What to put on the page.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate report labels.csv -o report.html\n  \
    quorate report labels.csv --truth truth.csv -o report.html\n  \
    quorate report labels.csv --task-url 'https://labels.example.org/tasks/{task}' --texts tasks.csv --show text -o report.html\n\n\
    One file that opens in any browser and loads nothing from the network: tasks to review first, workers with a\n\
    verdict, classes, confidence, agreement, what to label next. Texts of tasks get in only with --show.\n\
    Comparisons of two items (left, right, winner) get a page with the leaderboard, who beats whom, the judges, and what\n\
    to compare next; of the options, those for labels do not apply then.")]
pub struct ReportArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Where the page goes; standard output if not given
    #[arg(short, long, value_name = "FILE", help_heading = "Page")]
    output: Option<PathBuf>,
    /// Title of the page; the name of the file of labels if not given
    #[arg(long, value_name = "TEXT", help_heading = "Page")]
    title: Option<String>,
    #[command(flatten)]
    method: MethodArgs,
    /// The truth, where it is known (columns task, label): adds the error, a reliability curve and a
    /// confusion matrix
    #[arg(long, value_name = "FILE", help_heading = "Page")]
    truth: Option<PathBuf>,
    /// Address of a task, with {task} in place of its id: every task becomes a link
    #[arg(long, value_name = "TEMPLATE", help_heading = "Page")]
    task_url: Option<String>,
    /// A table with what the tasks are about (a column task, and the one named by --show)
    #[arg(long, value_name = "FILE", requires = "show", help_heading = "Page")]
    texts: Option<PathBuf>,
    /// Column of --texts that is shown beside each task. The page then holds those texts
    #[arg(long, value_name = "COLUMN", requires = "texts", help_heading = "Page")]
    show: Option<String>,
    /// In the CSV tables that are downloaded from the page: put an apostrophe before text that a spreadsheet
    /// would take for a formula (= + - @)
    #[arg(long, help_heading = "Page")]
    spreadsheet_safe: bool,
    /// Labels that the section on what to label next plans for; a tenth of the labels if not given
    #[arg(long, value_name = "NUMBER", value_parser = number(1e-6, 1e12), help_heading = "What to label next")]
    budget: Option<f64>,
    /// Error that the section on what to label next says how to reach, for example 0.05; half of the
    /// estimated error if not given
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "What to label next")]
    target: Option<f64>,
    /// Comparisons: a leaderboard for each value of this column
    #[arg(long, value_name = "COLUMN", help_heading = "Page")]
    by: Option<String>,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Reads, fits, inspects, plans, writes the page.
pub fn run(args: &ReportArgs, printer: &mut Printer) -> Result<()> {
    args.run.apply_limits();
    args.check()?;
    if args.by.is_some() || comparisons::are_named(&args.input) {
        return rank(args, printer);
    }
    let (mut annotations, session) =
        match Session::with_labels(&args.input, &args.knowledge, &args.run, printer) {
            Err(error) if comparisons::are_meant(&args.input, &error) => return rank(args, printer),
            read => read?,
        };
    let (method, aggregate) = args.method.build()?;
    let source = |path: &Option<PathBuf>| path.clone().map(Source::from);
    let truth = source(&args.truth)
        .map(|truth| read_truth(&truth, &annotations))
        .transpose()?;
    let texts = source(&args.texts).zip(args.show.as_ref());
    let texts = texts
        .map(|(texts, column)| task_texts(&texts, column, &annotations, printer))
        .transpose()?;
    let run = Run {
        method: &*aggregate,
        calibrate: false,
        intervals: None,
    };
    let fit: Fit = run
        .over(&mut annotations, &mut session.context(method.name, 0)?)?
        .fit;
    let mut context = session.context("report", 0)?;
    let options = PlanOptions {
        budget: args.budget,
        target: args.target,
    };
    let evidence = Evidence::gather(&annotations, &fit, &options, &mut context)?;
    let page = Report {
        title: &args.title(),
        annotations: &annotations,
        fit: &fit,
        method: method.name,
        seed: args.run.seed,
        evidence: &evidence,
        truth: truth.as_deref(),
        task_url: args.task_url.as_deref(),
        task_texts: texts.as_deref(),
        spreadsheet_safe: args.spreadsheet_safe,
    }
    .to_html();
    let sizes = [
        plural(annotations.task_count(), "task"),
        plural(annotations.worker_count(), "worker"),
    ];
    args.write(&page, sizes, printer)
}

/// The page of comparisons.
fn rank(args: &ReportArgs, printer: &mut Printer) -> Result<()> {
    let for_labels = [
        ("--truth", args.truth.is_some()),
        ("--task-url", args.task_url.is_some()),
        ("--texts", args.texts.is_some()),
        ("--gold", args.knowledge.gold.is_some()),
        ("--worker-prior", args.knowledge.worker_prior.is_some()),
        ("--budget", args.budget.is_some()),
        ("--target", args.target.is_some()),
    ];
    if let Some((option, _)) = for_labels.iter().find(|(_, given)| *given) {
        bail!("{option} is for labels, and the file holds comparisons");
    }
    let comparisons = ComparisonArgs::of(&args.input, args.by.clone())?;
    let tables = comparisons.read(printer)?;
    let session = Session::start(&args.run, printer.quiet());
    let (name, parameters) = (args.method.other_than_default(), args.method.parameters()?);
    let ranked = rank_all(tables, name, &parameters, LEVEL, &session)?;
    let page = RankReport {
        title: &args.title(),
        ranked: &ranked,
        level: LEVEL,
        scale: |score| score,
        seed: args.run.seed,
        spreadsheet_safe: args.spreadsheet_safe,
    }
    .to_html();
    let rows: usize = ranked
        .iter()
        .map(|ranked| ranked.pairs().map_or(0, |pairs| pairs.len()))
        .sum();
    let items = ranked
        .iter()
        .map(|ranked| ranked.items().len())
        .max()
        .unwrap_or(0);
    args.write(
        &page,
        [plural(items, "item"), plural(rows, "comparison")],
        printer,
    )
}

impl ReportArgs {
    fn title(&self) -> String {
        let name = || {
            self.input
                .labels
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
        };
        self.title
            .clone()
            .or_else(name)
            .unwrap_or_else(|| "labels".into())
    }

    fn write(&self, page: &str, sizes: [String; 2], printer: &mut Printer) -> Result<()> {
        write_whole(&Target::from(self.output.clone()), |output| {
            Ok(output.write_all(page.as_bytes())?)
        })?;
        if let Some(path) = &self.output {
            let [first, second] = sizes;
            printer.note(format!(
                "{} ({} kB): {first}, {second}; open it in a browser",
                path.display(),
                page.len().div_ceil(1000)
            ));
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if let Some(template) = &self.task_url {
            check_task_url(template).map_err(|problem| anyhow!("--task-url: {problem}"))?;
        }
        self.input
            .files(Files::default())
            .reads("--truth", self.truth.as_ref())
            .reads("--texts", self.texts.as_ref())
            .reads("--gold", self.knowledge.gold.as_ref())
            .reads("--worker-prior", self.knowledge.worker_prior.as_ref())
            .writes("-o", self.output.as_ref(), Content::Other)
            .check(false)
    }
}
