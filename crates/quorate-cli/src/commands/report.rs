//! `quorate report`: the whole story on one page.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use quorate::Fit;
use quorate::internal::run::Run;
use quorate_io::{Source, Target, read_truth, write_whole};
use quorate_report::{Evidence, PlanOptions, Report, check_task_url};

use crate::args::{MethodArgs, RunArgs};
use crate::files::{Content, Files};
use crate::input::InputArgs;
use crate::knowledge::KnowledgeArgs;
use crate::numbers::{number, share};
use crate::printer::Printer;
use crate::session::Session;
use crate::side_data::task_texts;
use crate::text_table::plural;

/// What to put on the page.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate report labels.csv -o report.html\n  \
    quorate report labels.csv --truth truth.csv -o report.html\n  \
    quorate report labels.csv --task-url 'https://labels.example.org/tasks/{task}' --texts tasks.csv --show text -o report.html\n\n\
    One file that opens in any browser and loads nothing from the network: tasks to review first, workers with a\n\
    verdict, classes, confidence, agreement, what to label next. Texts of tasks get in only with --show.")]
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
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Reads, fits, inspects, plans, writes the page.
pub fn run(args: &ReportArgs, printer: &mut Printer) -> Result<()> {
    args.run.apply_limits();
    args.check()?;
    let (method, aggregate) = args.method.build()?;
    let (mut annotations, session) = Session::with_labels(&args.input, &args.knowledge, &args.run, printer)?;
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
    let name = args
        .input
        .labels
        .file_name()
        .map_or("labels".into(), |name| name.to_string_lossy().into_owned());
    let page = Report {
        title: args.title.as_deref().unwrap_or(&name),
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
    write_whole(&Target::from(args.output.clone()), |output| {
        Ok(output.write_all(page.as_bytes())?)
    })?;
    if let Some(path) = &args.output {
        printer.note(format!(
            "{} ({} kB): {}, {}; open it in a browser",
            path.display(),
            page.len().div_ceil(1000),
            plural(annotations.task_count(), "task"),
            plural(annotations.worker_count(), "worker")
        ));
    }
    Ok(())
}

impl ReportArgs {
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
