//! One file for each verb.

pub mod aggregate;
pub mod compare;
pub mod completions;
pub mod data;
pub mod demo;
mod demo_picture;
pub mod evaluate;
pub mod inspect;
pub mod methods;
mod reliability_picture;
#[cfg(feature = "lab")]
pub mod reproduce;
pub mod simulate;
pub mod workers;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::{Cli, Command};
use crate::printer::Printer;

/// Runs the chosen command; the code says whether a check that was asked for failed.
pub fn run(cli: Cli, printer: &mut Printer) -> Result<ExitCode> {
    match cli.command {
        Command::Demo(args) => demo::run(&args, printer)?,
        Command::Aggregate(args) => aggregate::run(&args, printer)?,
        Command::Evaluate(args) => return evaluate::run(&args, printer),
        Command::Compare(args) => compare::run(&args, printer)?,
        Command::Inspect(args) => return inspect::run(&args, printer),
        Command::Workers(args) => workers::run(&args, printer)?,
        Command::Methods(args) => methods::run(&args, printer)?,
        Command::Simulate(args) => simulate::run(&args, printer)?,
        #[cfg(feature = "lab")]
        Command::Reproduce(args) => reproduce::run(&args, printer)?,
        Command::Data(args) => return data::run(&args, printer),
        Command::Completions(args) => completions::run(&args, printer)?,
    }
    Ok(ExitCode::SUCCESS)
}
