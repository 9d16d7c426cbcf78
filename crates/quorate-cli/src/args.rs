//! The command line: one definition gives parsing, help and completions.

use std::any::TypeId;

use anyhow::{Context as _, Result};
use clap::{Args, CommandFactory, Parser, Subcommand};
use quorate::methods::{Aggregate, DEFAULT_METHOD, Method};

use crate::catalog::find;
#[cfg(feature = "lab")]
use crate::commands::reproduce;
use crate::commands::{
    aggregate, compare, completions, convert, data, demo, evaluate, inspect, judges, methods, plan, rank,
    report, simulate, workers,
};
use crate::memory::MemoryArgs;
use crate::numbers::whole;

/// Turns many unreliable answers into labels you can trust.
///
/// From a table of who answered what on which task (crowd workers, experts, LLM judges), quorate works out
/// the true label of every task with a confidence, and how each worker errs.
#[derive(Debug, Parser)]
#[command(
    name = "quorate",
    version,
    arg_required_else_help = true,
    after_help = "Start with `quorate demo`, then `quorate aggregate your-labels.csv -o labels.csv`.\n\
                  `quorate help COMMAND` explains a command, with an example.\n\n\
                  Exit codes: 0 done; 1 finished, but a check you asked for failed; 2 error."
)]
pub struct Cli {
    /// Say only what went wrong: no summaries, notes or progress
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Say more: facts about the run that are rarely needed
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a crowd, aggregate its labels, compare with the truth: the first thing to run
    Demo(demo::DemoArgs),
    /// Work out the label of every task from a table of annotations
    Aggregate(aggregate::AggregateArgs),
    /// Compare labels with the known truth
    Evaluate(evaluate::EvaluateArgs),
    /// Turn labels of any layout into another, and give the consensus back to the tool they are from
    Convert(convert::ConvertArgs),
    /// Run several methods on one table and show them side by side
    Compare(compare::CompareArgs),
    /// Say what is in a table, how far workers agree, what can be known and what to look at
    Inspect(inspect::InspectArgs),
    /// List the workers, the worst first, with a verdict and what to do
    Workers(workers::WorkersArgs),
    /// Report on a panel of judges, language models above all: verdicts, strictness, dependence, pass rate
    Judges(judges::JudgesArgs),
    /// Rank items by comparisons of two each: leaderboard with intervals, judges, what to compare next
    Rank(rank::RankArgs),
    /// List the methods, or explain one
    Methods(methods::MethodsArgs),
    /// Put the whole story on one HTML page: tasks to review, workers, what to do next
    Report(report::ReportArgs),
    /// Plan who should label what next, and say when to stop
    Plan(plan::PlanArgs),
    /// Make up a crowd with known truth
    Simulate(simulate::SimulateArgs),
    /// Run the paper's tables and figures again, the printed values beside ours
    #[cfg(feature = "lab")]
    Reproduce(reproduce::ReproduceArgs),
    /// Check the public data sets that tests and `reproduce` read
    Data(data::DataArgs),
    /// Print a completion script for your shell
    Completions(completions::CompletionsArgs),
}

/// A method with its parameters.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// Method; `quorate methods` lists them
    #[arg(id = "method", short = 'm', long = "method", value_name = "METHOD", default_value = DEFAULT_METHOD)]
    pub name: String,
    /// Set a parameter of the method; may be repeated
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
}

impl MethodArgs {
    /// The method, and the parameters that are given.
    pub fn find(&self) -> Result<(&'static Method, Vec<(String, String)>)> {
        Ok((find(&self.name)?, self.parameters()?))
    }

    /// The name of the method, unless it is the default.
    pub fn other_than_default(&self) -> Option<&str> {
        (self.name != DEFAULT_METHOD).then_some(&self.name)
    }

    /// The parameters that are given.
    pub fn parameters(&self) -> Result<Vec<(String, String)>> {
        named_parameters(&self.parameters)
    }

    /// The method, ready to fit.
    pub fn build(&self) -> Result<(&'static Method, Box<dyn Aggregate>)> {
        let (method, parameters) = self.find()?;
        Ok((method, method.with_parameters(&parameters)?))
    }
}

/// Parameters of a method, as names and values.
pub fn named_parameters(given: &[String]) -> Result<Vec<(String, String)>> {
    let pair = |pair: &String| {
        let (name, value) = pair.split_once('=').with_context(|| {
            format!("--param {pair:?}: expected name=value, for example --param max-iter=50")
        })?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    given.iter().map(pair).collect()
}

/// What every command that fits a model takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Running")]
pub struct RunArgs {
    /// Seed of everything random; the same input and seed give the same bytes
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Number of threads, at most one for each processor; 0 takes all. The result does not depend on it
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>(0, 1_000_000))]
    pub threads: usize,
    #[command(flatten)]
    pub memory: MemoryArgs,
}

impl RunArgs {
    /// The number of threads, no more than there are processors: more would only wait for each other. 0: all.
    pub fn useful_threads(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(usize::MAX, usize::from);
        self.threads.min(processors)
    }

    /// Holds reading and writing to the limits of threads and memory, too; comes before anything is read.
    pub fn apply_limits(&self) {
        self.memory.apply();
        if self.threads > 0 {
            // Fails only where the threads run already, and then they are these.
            let _ = rayon::ThreadPoolBuilder::new()
                .num_threads(self.useful_threads())
                .build_global();
        }
    }
}

/// Every option that takes a number, as the command's name and the option's.
pub fn numeric_options() -> Vec<(String, String)> {
    fn is_number(option: &clap::Arg) -> bool {
        let found = option.get_value_parser().type_id();
        [
            TypeId::of::<f64>(),
            TypeId::of::<usize>(),
            TypeId::of::<u64>(),
            TypeId::of::<u32>(),
            TypeId::of::<u16>(),
        ]
        .iter()
        .any(|number| found == *number)
    }
    let program = Cli::command();
    let of_command = |command: &clap::Command| {
        let options = command.get_arguments().filter(|option| is_number(option));
        let names = options.filter_map(|option| option.get_long());
        names
            .map(|name| (command.get_name().to_owned(), format!("--{name}")))
            .collect::<Vec<_>>()
    };
    program.get_subcommands().flat_map(of_command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_processors_are_not_taken() {
        let threads = |threads| {
            let run = RunArgs {
                seed: 0,
                threads,
                memory: MemoryArgs::of(1.0),
            };
            run.useful_threads()
        };
        assert_eq!((threads(0), threads(1)), (0, 1));
        assert!(threads(1000) <= std::thread::available_parallelism().map_or(1000, usize::from));
    }
}
