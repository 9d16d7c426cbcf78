//! Times Quorate from file to labels.
//!
//! ```sh
//! cargo run --release -p quorate-bench -- public        # the public data sets, every method
//! cargo run --release -p quorate-bench -- trust         # error and calibration, thinned copies of the sets included
//! cargo run --release -p quorate-bench -- coverage      # intervals on simulated crowds
//! cargo run --release -p quorate-bench -- large         # 5 million labels: reading, one EM iteration, memory
//! cargo run --release -p quorate-bench -- reading FILE  # beside `wc -l`
//! cargo run --release -p quorate-bench -- passes FILE   # an EM pass beside a plain reading of memory
//! ```
//!
//! Best of several runs, wall-clock time: machines are noisy, the best run is the least disturbed one.

mod coverage;
mod generate;
mod large;
mod measure;
mod passes;
mod public;
mod reading;
mod trust;

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
    /// How often intervals hold the truth, on simulated crowds
    Coverage(coverage::CoverageArgs),
    /// Error and calibration on the public data sets and thinned copies of them
    Trust(trust::TrustArgs),
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
        Command::Coverage(args) => coverage::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Large(args) => large::run(&args),
        Command::Passes(args) => passes::run(&args),
        Command::Reading(args) => reading::run(&args),
    }
}
