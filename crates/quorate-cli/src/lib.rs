//! The program `quorate`: annotations in, trusted labels out.
//!
//! A library so that the Python package carries the same program: [`run`] is all of it.

mod args;
pub mod catalog;
pub mod choices;
mod column_words;
mod commands;
mod comparisons;
pub mod documents;
mod export_words;
mod files;
mod input;
mod input_format;
mod interrupt;
mod knowledge;
mod memory;
pub mod messages;
mod numbers;
mod printer;
mod progress;
pub mod reading;
mod record;
mod remedies;
mod run_summary;
pub mod run_words;
mod session;
pub mod side_data;
mod spreadsheet;
mod text_table;
mod time_limit;

use std::ffi::OsString;

use clap::Parser;
use quorate_io::write_together;

use crate::args::Cli;
#[doc(hidden)]
pub use crate::args::numeric_options;
pub use crate::memory::end_process_above_limit;
use crate::printer::Printer;

/// Runs the program with these arguments, the first of which is its name, and returns its exit code: 0 done,
/// 1 a check that was asked for failed, 2 error.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(told) => {
            printer::usage(&told, &arguments);
            return u8::try_from(told.exit_code()).unwrap_or(2);
        }
    };
    interrupt::watch();
    let mut printer = Printer::new(cli.quiet, cli.verbose);
    // Whatever a command writes appears at its end, all of it or nothing.
    let ran = write_together(|| match commands::run(cli, &mut printer) {
        // Whoever read our output has had enough (`quorate .. | head`): that is not an error.
        Err(error) if printer::is_broken_pipe(&error) => Ok(0),
        ran => ran,
    });
    match ran {
        Ok(code) => code,
        Err(error) => {
            printer.error(&error);
            2
        }
    }
}
