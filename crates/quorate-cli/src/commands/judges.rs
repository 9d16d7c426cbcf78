//! `quorate judges`: verdicts of a panel of judges, and what to think of them.

mod gates;
pub(crate) mod json;
mod text;
pub mod words;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use quorate::annotations::Duplicates;
use quorate::judges::{Judges, Panel, PanelReport, Unscored, VerdictPolicy};
use quorate_io::{Source, Target, read_judgements, write_panel_verdicts};

use crate::args::RunArgs;
use crate::choices::{POLICIES, one_of};
use crate::files::{Content, Files};
use crate::input::{InputArgs, with_bar};
use crate::knowledge::KnowledgeArgs;
use crate::numbers::{MOST, whole};
use crate::printer::Printer;
use crate::reading::settle_panel;
use crate::remedies;
use crate::session::Session;
use crate::spreadsheet::SpreadsheetArgs;
use gates::{Gate, GateOn};

/// What to judge and how.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate judges judgements.jsonl -o verdicts.csv\n  \
    quorate judges judgements.jsonl --gold checked.csv --positive pass\n  \
    quorate judges judgements.jsonl --gold checked.csv --fail-below pass-rate=0.8,effective-judges=2\n\n\
    A row without a label (empty, null) is a failure of the judge. It stays in the denominators. Every row counts:\n\
    several rows of a judge about an item are repeated prompts, and tell how consistent the judge is.\n\
    Judges who err together count as one voice. Where labels cannot tell whether judges agree because they are\n\
    right or because they copy, the page says so; some fifty items checked by hand (--gold) settle it.")]
pub struct JudgesArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Items whose truth is known (columns task, label), drawn at random if rates are to hold for all items
    #[arg(long, value_name = "FILE", help_heading = "What you know already")]
    gold: Option<PathBuf>,
    /// Names of the columns of --gold, where they are neither found by themselves nor those of --columns
    #[arg(
        long,
        value_name = "task=NAME,label=NAME",
        value_delimiter = ',',
        requires = "gold",
        help_heading = "What you know already"
    )]
    gold_columns: Vec<String>,
    /// Write the verdict on every item as a table; the name tells the format (csv, tsv, jsonl, parquet,
    /// arrow)
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// How a verdict is reached
    #[arg(long, value_parser = one_of(POLICIES), default_value = "model", help_heading = "Verdicts")]
    policy: VerdictPolicy,
    /// What an item without a verdict counts for
    #[arg(long, value_enum, default_value_t = UnscoredArg::Keep, help_heading = "Verdicts")]
    unscored: UnscoredArg,
    /// Judges who must have answered for a verdict
    #[arg(long, value_name = "JUDGES", default_value_t = 1, value_parser = whole::<usize>(0, MOST), help_heading = "Verdicts")]
    quorum: usize,
    /// The class whose share is the pass rate; without it pass, yes, true, .., else the last class
    #[arg(long, value_name = "CLASS", help_heading = "Verdicts")]
    positive: Option<String>,
    /// Exit with code 1 if the pass rate is below this; or another number, by name
    ///
    /// Names: pass-rate (corrected where that is possible), observed-pass-rate, scored (share of items with a
    /// verdict), confidence (mean), gold-agreement, effective-judges. A number that cannot be known counts as too
    /// low.
    #[arg(
        long,
        value_name = "[NAME=]NUMBER,..",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    fail_below: Vec<Gate>,
    /// What of pass-rate and gold-agreement --fail-below looks at
    #[arg(long, value_enum, default_value_t = GateOn::Estimate, requires = "fail_below", help_heading = "Output")]
    gate_on: GateOn,
    /// Not an option of this command: see --gold
    #[arg(long, hide = true, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// For programs: JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// What an item without a verdict counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnscoredArg {
    /// Kept in the denominator, as neither passed nor failed
    Keep,
    /// Failed: of the other class; for two classes
    Fail,
    /// Left out of the denominator
    LeaveOut,
}

/// Reads, judges, prints; code 1 if a gate that was asked for does not hold.
pub fn run(args: &JudgesArgs, printer: &mut Printer) -> Result<u8> {
    if args.truth.is_some() {
        bail!("judges has no --truth: give the known truths with --gold; they check the verdicts, too");
    }
    args.input
        .files(Files::default())
        .reads("--gold", args.gold.as_ref())
        .writes("-o", args.output.as_ref(), Content::Table)
        .check(false)?;
    if matches!(args.input.duplicates, Duplicates::First | Duplicates::Error) {
        bail!("--duplicates does not apply here: every row counts, repeated ones as repeated prompts");
    }
    args.run.apply_limits();
    args.spreadsheet.apply();
    let panel = read_panel(args, printer)?;
    let positive = words::find_positive(panel.annotations().classes(), args.positive.as_deref())?;
    let settings = Judges {
        policy: args.policy,
        unscored: match args.unscored {
            UnscoredArg::Keep => Unscored::Kept,
            UnscoredArg::LeaveOut => Unscored::LeftOut,
            UnscoredArg::Fail => Unscored::As(words::other_class(panel.annotations().classes(), positive)?),
        },
        quorum: args.quorum,
    };
    let session = Session::start(&args.run, printer.quiet());
    let report = settings.run(&panel, &mut session.context("judges", 0)?)?;
    if let Some(path) = &args.output {
        write_panel_verdicts(&Target::from(path.clone()), &panel, &report.verdicts)?;
    }
    if args.json {
        printer.json(&json::as_json(&report, &panel, positive, &|remedy| {
            remedies::words(remedy)
        }))?
    } else {
        printer.data(&text::as_text(&report, &panel, positive, settings))?
    }
    Ok(u8::from(fails(args, &report, positive, printer)))
}

/// Reads the judgements and what is known of their truth.
fn read_panel(args: &JudgesArgs, printer: &mut Printer) -> Result<Panel> {
    let input = &args.input;
    let source = Source::from(input.labels.clone());
    let options = input.options()?;
    let read = with_bar(&source, printer, |progress| {
        read_judgements(&source, &options, progress)
    })?;
    let panel = settle_panel(read, &options, input.normalize, printer)?;
    let knowledge = KnowledgeArgs {
        gold: args.gold.clone(),
        gold_columns: args.gold_columns.clone(),
        ..KnowledgeArgs::default()
    };
    panel.map(|annotations| {
        let (annotations, ..) = knowledge.add_to(Arc::new(annotations), input, printer)?;
        Ok(Arc::unwrap_or_clone(annotations))
    })
}

/// Says which gates do not hold.
fn fails(args: &JudgesArgs, report: &PanelReport, positive: usize, printer: &mut Printer) -> bool {
    let gates = args.fail_below.iter();
    let failed: Vec<String> = gates
        .filter_map(|gate| gate.check(report, positive, args.gate_on))
        .collect();
    for words in &failed {
        printer.warning(words);
    }
    !failed.is_empty()
}
