//! Whether the numbers that people read beside the labels can be relied on: error, confidence, workers, verdicts,
//! advice.

mod advice;
mod methods;
mod ranges;
mod verdicts;
mod workers;

use clap::{Args, ValueEnum};

use crate::public::SIXTEEN;
pub use methods::copies;

/// What to run.
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Tables to print; all if not given
    #[arg(short, long, value_delimiter = ',')]
    tables: Vec<Table>,
    /// Data sets
    #[arg(short, long, value_delimiter = ',', default_value = SIXTEEN)]
    sets: Vec<String>,
    /// Thinned copies of each kind
    #[arg(short, long, default_value_t = 2)]
    copies: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// Error and calibration of methods, on thinned copies of the sets, too
    Methods,
    /// The estimated error and its range, on the sets and on simulated crowds
    Ranges,
    /// Accuracies of workers beside the truth
    Workers,
    /// False alarms of verdicts, and spammers found
    Verdicts,
    /// What is advised, tried
    Advice,
}

/// Prints Markdown tables.
pub fn run(args: &TrustArgs) -> anyhow::Result<()> {
    let wanted = |table| args.tables.is_empty() || args.tables.contains(&table);
    if wanted(Table::Methods) {
        methods::run(&args.sets, args.copies)?;
    }
    if wanted(Table::Ranges) {
        ranges::run(&args.sets, args.copies)?;
    }
    if wanted(Table::Workers) {
        workers::run(&args.sets)?;
    }
    if wanted(Table::Verdicts) {
        verdicts::run()?;
    }
    if wanted(Table::Advice) {
        advice::run(&args.sets)?;
    }
    Ok(())
}
