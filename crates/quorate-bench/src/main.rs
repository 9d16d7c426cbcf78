//! Times Quorate from file to labels.
//!
//! ```sh
//! cargo run --release -p quorate-bench -- public        # the public data sets, every method
//! cargo run --release -p quorate-bench -- trust         # error and calibration, on thinned copies, too
//! cargo run --release -p quorate-bench -- averages      # which members earn their place in `auto`
//! cargo run --release -p quorate-bench -- coverage      # intervals on simulated crowds
//! cargo run --release -p quorate-bench -- identify      # confusion matrices over the number of tasks
//! cargo run --release -p quorate-bench -- dependence    # workers who copy, counted once and in full
//! cargo run --release -p quorate-bench -- judges        # panels of judges: copies, effective number
//! cargo run --release -p quorate-bench -- plans         # labels that plans save, on simulated crowds
//! cargo run --release -p quorate-bench -- scaling       # time and memory over labels and threads
//! cargo run --release -p quorate-bench -- update        # an update beside a full fit
//! cargo run --release -p quorate-bench -- rank          # rankings: foretelling, coverage
//! cargo run --release -p quorate-bench -- peers         # beside crowd-kit and evalica, on the same files
//! ```
//!
//! `cargo bench -p quorate-bench` times the kernels alone.
//!
//! Best of several runs, wall-clock time: machines are noisy, the best run is the least disturbed one.

mod averages;
mod child;
mod coverage;
mod dependence;
mod exports;
mod generate;
mod identify;
mod judges;
mod measure;
mod peers;
mod plans;
mod public;
mod rank;
mod scaling;
mod trust;
mod update;

use clap::{Parser, Subcommand};

/// Tables of workers and labels on huge pages: a third off the time of an EM pass.
#[global_allocator]
static MEMORY: quorate_machine::HugePages = quorate_machine::HugePages;

/// Times Quorate from file to labels.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The public data sets (`docs/data.md`)
    Public(public::PublicArgs),
    /// How often intervals hold the truth, on simulated crowds
    Coverage(coverage::CoverageArgs),
    /// How the error of the confusion matrices falls with the number of tasks
    Identify(identify::IdentifyArgs),
    /// Workers who copy, counted once and in full
    Dependence(dependence::DependenceArgs),
    /// Error and calibration on the public data sets and thinned copies of them
    Trust(trust::TrustArgs),
    /// Averages of several methods on the public data sets, families left out in turn
    Averages(averages::AveragesArgs),
    /// Panels of judges: verdicts beside copies, effective number of judges, corrected share
    Judges(judges::JudgesArgs),
    /// Labels that plans save, how often their forecast holds, the time of one plan
    Plans(plans::PlansArgs),
    /// Reading exports of annotation tools beside a plain parse of their JSON
    Exports(exports::ExportsArgs),
    /// Time and memory over labels and threads, each run a process of its own
    Scaling(scaling::ScalingArgs),
    /// Rankings: how well methods foretell comparisons, how often intervals hold the truth
    Rank(rank::RankArgs),
    /// Beside crowd-kit and evalica, on the same files in the same run
    Peers(peers::PeersArgs),
    /// New labels folded into a model beside a full fit of all labels
    Update(update::UpdateArgs),
    /// Makes a large file of labels
    Generate(generate::GenerateArgs),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Public(args) => public::run(&args),
        Command::Coverage(args) => coverage::run(&args),
        Command::Identify(args) => identify::run(&args),
        Command::Dependence(args) => dependence::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Averages(args) => averages::run(&args),
        Command::Judges(args) => {
            judges::run(&args);
            Ok(())
        }
        Command::Plans(args) => plans::run(&args),
        Command::Exports(args) => exports::run(&args),
        Command::Scaling(args) => scaling::run(&args),
        Command::Rank(args) => rank::run(&args),
        Command::Peers(args) => peers::run(&args),
        Command::Update(args) => update::run(&args),
        Command::Generate(args) => generate::run(&args),
    }
}
