//! The program `quorate`: annotations in, trusted labels out.

mod args;
mod catalog;
mod column_words;
mod commands;
mod files;
mod input;
mod knowledge;
mod label_hygiene;
mod labels;
mod printer;
mod progress;
mod remedies;
mod session;
mod text_table;
mod time_limit;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::printer::Printer;

/// Tables of workers and labels on huge pages: a third off the time of an EM pass.
#[global_allocator]
static MEMORY: quorate_machine::HugePages = quorate_machine::HugePages;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut printer = Printer::new(cli.quiet, cli.verbose);
    match commands::run(cli, &mut printer) {
        Ok(code) => code,
        // Whoever read our output has had enough (`quorate .. | head`): that is not an error.
        Err(error) if printer::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            printer.error(&error);
            ExitCode::from(2)
        }
    }
}
