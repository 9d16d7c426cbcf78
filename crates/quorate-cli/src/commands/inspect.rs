//! `quorate inspect`: what is in a table, how far workers agree, what can be known, and what to look at.

pub(crate) mod json;
mod text;

use anyhow::Result;
use clap::{Args, ValueEnum};
use quorate::agreement::AgreementSettings;
use quorate::diagnose::{Inspect, Severity};

use crate::args::RunArgs;
use crate::input::InputArgs;
use crate::numbers::{MOST, share, whole};
use crate::printer::Printer;
use crate::remedies::advice;
use crate::session::Session;

/// What to inspect and how.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate inspect labels.csv\n  \
    quorate inspect ratings.csv --scale ordinal --json\n  \
    quorate inspect labels.csv --fail-on problem      # in a pipeline: exit code 1 if there is one\n\n\
    Nothing is changed and no truth is needed: workers are compared with what the others say.\n\
    --false-alarms holds if workers err independently on equally hard tasks.")]
pub struct InspectArgs {
    #[command(flatten)]
    input: InputArgs,
    /// What the classes are: kinds, grades in their order, or numbers
    #[arg(long, value_enum, default_value_t = Scale::Nominal, help_heading = "Checks")]
    scale: Scale,
    /// Resampled tables behind the intervals; 0 for no intervals
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, value_parser = whole::<usize>(0, 1_000_000), help_heading = "Checks")]
    replicates: usize,
    /// Tasks that two workers must share to be compared
    #[arg(long, value_name = "TASKS", default_value_t = 10, value_parser = whole::<u32>(0, MOST), help_heading = "Checks")]
    min_shared: u32,
    /// Share of false alarms among the flagged workers, and among the flagged pairs
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share, help_heading = "Checks")]
    false_alarms: f64,
    /// Name every worker and finding, however many
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Exit with code 1 if anything at least this grave is found
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Output")]
    fail_on: Option<FailOn>,
    /// For programs: JSON, with all workers and the pairs that share most tasks
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// What classes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scale {
    /// Kinds without order
    Nominal,
    /// Grades: numbers in order of value, words in order of spelling or of --classes
    Ordinal,
    /// Numbers with distances
    Interval,
}

/// Severities by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Anything that may bias the result
    Warning,
    /// What makes the result untrustworthy
    Problem,
}

/// Inspects and prints; code 1 if something is found that was asked to fail on.
pub fn run(args: &InspectArgs, printer: &mut Printer) -> Result<u8> {
    args.run.apply_limits();
    let annotations = args.input.read(printer)?;
    let session = Session::start(&args.run, printer.quiet());
    let fit = session.default_fit(&annotations)?;
    let settings = Inspect {
        agreement: AgreementSettings {
            replicates: args.replicates,
            min_shared: args.min_shared as usize,
            max_pairs: if args.json { 100 } else { 0 },
            ..AgreementSettings::default()
        },
        false_discovery_rate: args.false_alarms,
        min_shared: args.min_shared,
    };
    let inspection = settings.run(&annotations, &fit, &mut session.context("inspect", 0)?)?;
    if args.json {
        printer.json(&json::as_json(&inspection, &annotations, &advice))?;
    } else {
        printer.data(&text::as_text(&inspection, &annotations, args.scale, args.all))?;
    }
    let limit = args.fail_on.map(|severity| match severity {
        FailOn::Warning => Severity::Warning,
        FailOn::Problem => Severity::Problem,
    });
    let failed = limit.is_some_and(|limit| {
        inspection
            .findings
            .iter()
            .any(|finding| finding.severity >= limit)
    });
    Ok(u8::from(failed))
}
