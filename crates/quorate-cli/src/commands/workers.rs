//! `quorate workers`: every worker with a verdict, the worst first.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use quorate::Annotations;
use quorate::diagnose::{Inspect, WorkerVerdict, WorkerVerdictKind};
use quorate_io::{Target, write_verdicts};
use serde::Serialize;

use crate::args::RunArgs;
use crate::files::{Content, Files};
use crate::input::InputArgs;
use crate::numbers::{MOST, share, whole};
use crate::printer::Printer;
use crate::record::{each, record};
use crate::session::Session;
use crate::spreadsheet::SpreadsheetArgs;
use crate::text_table::{TextTable, count, plural};

/// Whom to judge and how.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate workers labels.csv\n  \
    quorate workers labels.csv --all\n  \
    quorate workers labels.csv -o workers.csv          # all workers, all columns\n\n\
    No truth is needed: a worker is compared with what the others say, without the worker's own labels.\n\
    Kinds, the worst first: adversary (wrong more often than a guess), spammer (answers say nothing about the\n\
    truth), copy (the same errors as someone else), one-sided (nearly always the same answer), careless (says\n\
    much less than the typical worker), reliable, too few labels (fewer than ten on tasks that others labelled).")]
pub struct WorkersArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Write all workers as a table; the name tells the format (csv, tsv, jsonl, parquet, arrow)
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Show all workers, not only the worst
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Tasks that two workers must share to be compared
    #[arg(long, value_name = "TASKS", default_value_t = 10, value_parser = whole::<u32>(0, MOST), help_heading = "Checks")]
    min_shared: u32,
    /// Share of false alarms among the flagged workers, and among the flagged pairs
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = share, help_heading = "Checks")]
    false_alarms: f64,
    /// For programs: JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Rows that are shown unless all are asked for.
const MAX_ROWS: usize = 30;

/// Judges and prints, or writes a table.
pub fn run(args: &WorkersArgs, printer: &mut Printer) -> Result<()> {
    Files::default()
        .reads("the labels", Some(&args.input.labels))
        .reads("--keep-workers", args.input.keep_workers.as_ref())
        .writes("-o", args.output.as_ref(), Content::Table)
        .check(false)?;
    args.run.apply_limits();
    args.spreadsheet.apply();
    let annotations = args.input.read(printer)?;
    let session = Session::start(&args.run, printer.quiet());
    let fit = session.default_fit(&annotations)?;
    let settings = Inspect {
        false_discovery_rate: args.false_alarms,
        min_shared: args.min_shared,
        ..Inspect::default()
    };
    let verdicts = settings.judge_workers(&annotations, &fit, &mut session.context("workers", 0)?)?;
    if let Some(path) = &args.output {
        write_verdicts(&Target::from(path.clone()), annotations.workers(), &verdicts)?;
    }
    if args.json {
        return printer.json(&as_json(&verdicts, &annotations));
    }
    match args.output {
        Some(_) => printer.note(summary(&verdicts)),
        None => printer.data(&as_text(&verdicts, &annotations, args.all))?,
    }
    Ok(())
}

/// How many there are of each kind.
fn summary(verdicts: &[WorkerVerdict]) -> String {
    let parts: Vec<String> = WorkerVerdictKind::ALL
        .into_iter()
        .map(|kind| {
            let number = verdicts.iter().filter(|verdict| verdict.kind == kind).count();
            (kind, number)
        })
        .filter(|&(_, number)| number > 0)
        .map(|(kind, number)| format!("{} {}", count(number), kind.name()))
        .collect();
    format!("{}: {}", plural(verdicts.len(), "worker"), parts.join(", "))
}

fn as_text(verdicts: &[WorkerVerdict], annotations: &Annotations, all: bool) -> String {
    let mut table = TextTable::new([
        ">rank",
        "worker",
        ">labels",
        ">accuracy",
        "90 % interval",
        "kind",
        "what to do",
    ]);
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let shown = if all { verdicts.len() } else { MAX_ROWS };
    for verdict in verdicts.iter().take(shown) {
        let interval = verdict
            .interval
            .map(|(low, high)| format!("{:.0} to {:.0} %", 100.0 * low, 100.0 * high));
        let kind = match verdict.same_errors_as.split_first() {
            Some((&first, rest)) if verdict.kind == WorkerVerdictKind::Copy => {
                let more = if rest.is_empty() {
                    String::new()
                } else {
                    format!(" +{}", rest.len())
                };
                format!("copy (like {}{more})", annotations.workers().get(first))
            }
            _ => verdict.kind.name().to_owned(),
        };
        table.row([
            verdict.rank.to_string(),
            annotations.workers().get(verdict.worker).to_owned(),
            count(verdict.labels),
            verdict.accuracy.map_or("-".into(), percent),
            interval.unwrap_or_else(|| "-".into()),
            kind,
            verdict.advice().to_owned(),
        ]);
    }
    let mut text = format!("{}\n\n{}", summary(verdicts), table.render());
    let hidden = verdicts.len().saturating_sub(shown);
    if hidden > 0 {
        text.push_str(&format!(
            "  .. and {} (--all shows them)\n",
            plural(hidden, "more worker")
        ));
    }
    text
}

fn as_json(verdicts: &[WorkerVerdict], annotations: &Annotations) -> impl Serialize {
    let name = |worker: usize| annotations.workers().get(worker);
    each(verdicts, |verdict| {
        record! {
            rank: verdict.rank,
            worker: name(verdict.worker),
            labels: verdict.labels,
            compared: verdict.compared,
            accuracy: verdict.accuracy,
            interval: verdict.interval,
            informativeness: verdict.informativeness,
            kind: verdict.kind.name(),
            same_errors_as: each(&verdict.same_errors_as, |&other| name(other)),
            advice: verdict.advice(),
        }
    })
}
