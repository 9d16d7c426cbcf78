//! One file for each verb.

pub mod aggregate;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod data;
pub mod demo;
pub mod evaluate;
pub mod inspect;
pub mod judges;
pub mod methods;
pub mod plan;
pub mod rank;
pub mod report;
#[cfg(feature = "lab")]
pub mod reproduce;
pub mod simulate;
pub mod workers;

use anyhow::Result;

use crate::args::{Cli, Command};
use crate::printer::Printer;

/// Runs the chosen command; the code says whether a check that was asked for failed.
pub fn run(cli: Cli, printer: &mut Printer) -> Result<u8> {
    match cli.command {
        Command::Demo(args) => demo::run(&args, printer)?,
        Command::Aggregate(args) => aggregate::run(&args, printer)?,
        Command::Evaluate(args) => return evaluate::run(&args, printer),
        Command::Compare(args) => compare::run(&args, printer)?,
        Command::Inspect(args) => return inspect::run(&args, printer),
        Command::Workers(args) => workers::run(&args, printer)?,
        Command::Judges(args) => return judges::run(&args, printer),
        Command::Rank(args) => return rank::run(&args, printer),
        Command::Methods(args) => methods::run(&args, printer)?,
        Command::Report(args) => report::run(&args, printer)?,
        Command::Plan(args) => plan::run(&args, printer)?,
        Command::Simulate(args) => simulate::run(&args, printer)?,
        #[cfg(feature = "lab")]
        Command::Reproduce(args) => reproduce::run(&args, printer)?,
        Command::Data(args) => return data::run(&args, printer),
        Command::Convert(args) => convert::run(&args, printer)?,
        Command::Completions(args) => completions::run(&args, printer)?,
    }
    Ok(0)
}
