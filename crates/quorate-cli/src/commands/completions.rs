//! `quorate completions`: what the shell needs to complete our commands.

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::printer::Printer;

/// What to print.
#[derive(Debug, Args)]
#[command(after_help = "Example: quorate completions bash > /etc/bash_completion.d/quorate")]
pub struct CompletionsArgs {
    /// Your shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs, printer: &mut Printer) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "quorate", &mut script);
    printer.data(&String::from_utf8_lossy(&script))
}
