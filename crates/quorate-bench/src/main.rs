//! Times Quorate from file to labels.
//!
//! ```sh
//! cargo run --release -p quorate-bench -- public        # the public data sets, every method
//! cargo run --release -p quorate-bench -- large         # 5 million labels: reading, one EM iteration, memory
//! cargo run --release -p quorate-bench -- reading FILE  # beside `wc -l`
//! cargo run --release -p quorate-bench -- passes FILE   # an EM pass beside a plain reading of memory
//! ```
//!
//! Best of several runs, wall-clock time: machines are noisy, the best run is the least disturbed one.

mod generate;
mod large;
mod measure;
mod passes;
mod public;
mod reading;

use clap::{Parser, Subcommand};

/// Times Quorate from file to labels.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The public data sets (QUORATE_DATA, else ../shared/data)
    Public(public::PublicArgs),
    /// A large simulated crowd
    Large(large::LargeArgs),
    /// One EM pass beside a plain reading of the same bytes
    Passes(passes::PassesArgs),
    /// Reading a file beside `wc -l`
    Reading(reading::ReadingArgs),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Public(args) => public::run(&args),
        Command::Large(args) => large::run(&args),
        Command::Passes(args) => passes::run(&args),
        Command::Reading(args) => reading::run(&args),
    }
}
