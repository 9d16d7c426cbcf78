//! Quorate beside crowd-kit and evalica: the same files, the same run, each in a process of its own, from file to result.

mod environment;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use quorate_testkit::public_data;

use crate::child::{Usage, best_measured, find_program, run_measured, scratch};
use crate::generate::{GenerateArgs, ensure_file};
use crate::measure::seconds;
use environment::Environment;

/// What to compare.
#[derive(Debug, Args)]
pub struct PeersArgs {
    /// Labels of the large file; five for each task, one worker for each 500
    #[arg(long, default_value_t = 5_000_000)]
    labels: u64,
    /// EM iterations on the large file
    #[arg(long, value_delimiter = ',', default_value = "10")]
    iterations: Vec<usize>,
    /// Leave the large file out
    #[arg(long)]
    no_large: bool,
    /// Comparisons of the large file that is ranked: 200 items, 1,000 judges
    #[arg(long, default_value_t = 10_000_000)]
    comparisons: u64,
    /// Leave the ranking out
    #[arg(long)]
    no_rank: bool,
    /// Leave the public data sets out
    #[arg(long)]
    no_public: bool,
    /// Runs of each, of which the best counts; runs of more than ten seconds are not repeated
    #[arg(short, long, default_value_t = 3)]
    runs: usize,
    /// Seconds after which a peer is stopped
    #[arg(long, default_value_t = 1800)]
    limit: u64,
    /// Folder of the virtual environment; made if it is not there
    #[arg(long, value_name = "FOLDER")]
    environment: Option<PathBuf>,
    /// The program to measure; the one built beside this one if not given
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// A method that both have.
struct Pair {
    /// Public data set it is run on.
    set: &'static str,
    ours: &'static str,
    /// Parameters, space between them.
    parameters: &'static str,
    theirs: &'static str,
    /// Parameters as JSON: as many iterations as ours, and no earlier stop.
    their_parameters: &'static str,
}

const PAIRS: [Pair; 9] = [
    pair("trec", ["majority-vote", "", "MajorityVote", "{}"]),
    pair("trec", ["wawa", "", "Wawa", "{}"]),
    pair(
        "trec",
        [
            "zero-based-skill",
            "max-iter=100 tol=0",
            "ZeroBasedSkill",
            r#"{"n_iter": 100, "eps": 0}"#,
        ],
    ),
    pair(
        "trec",
        [
            "dawid-skene",
            "max-iter=100 tol=0",
            "DawidSkene",
            r#"{"n_iter": 100, "tol": -1e300}"#,
        ],
    ),
    pair(
        "trec",
        [
            "one-coin",
            "max-iter=100 tol=0",
            "OneCoinDawidSkene",
            r#"{"n_iter": 100, "tol": -1e300}"#,
        ],
    ),
    pair(
        "trec",
        [
            "mace",
            "restarts=10 max-iter=50",
            "MACE",
            r#"{"n_restarts": 10, "n_iter": 50}"#,
        ],
    ),
    pair(
        "trec",
        [
            "m-msr",
            "max-iter=10000 tol=1e-10",
            "MMSR",
            r#"{"n_iter": 10000, "tol": 1e-10}"#,
        ],
    ),
    pair(
        "trec",
        [
            "glad",
            "max-iter=100 tol=1e-5",
            "GLAD",
            r#"{"n_iter": 100, "tol": 1e-5}"#,
        ],
    ),
    // Theirs takes two classes.
    pair("rte", ["kos", "rounds=100", "KOS", r#"{"n_iter": 100}"#]),
];

const fn pair(set: &'static str, [ours, parameters, theirs, their_parameters]: [&'static str; 4]) -> Pair {
    Pair {
        set,
        ours,
        parameters,
        theirs,
        their_parameters,
    }
}

/// Prints Markdown tables.
pub fn run(args: &PeersArgs) -> anyhow::Result<()> {
    let program = find_program(args.program.as_deref())?;
    let environment = Environment::prepare(args.environment.clone())?;
    println!("{}\n", environment.ask(&[OsStr::new("version")])?);
    let bench = Bench {
        args,
        program,
        environment,
        ours: scratch("ours.csv"),
        theirs: scratch("theirs.csv"),
    };
    let outcome = bench.print_tables();
    for file in [&bench.ours, &bench.theirs] {
        let _ = std::fs::remove_file(file);
    }
    outcome
}

struct Bench<'a> {
    args: &'a PeersArgs,
    program: PathBuf,
    environment: Environment,
    ours: PathBuf,
    theirs: PathBuf,
}

impl Bench<'_> {
    fn print_tables(&self) -> anyhow::Result<()> {
        println!(
            "| data | method | our time | our CPU | our memory | their time | their CPU | their memory | time ratio | CPU ratio | memory ratio | same labels |"
        );
        println!("|{}", "---|".repeat(12));
        if !self.args.no_public {
            for pair in &PAIRS {
                let file = public_data::folder().join(pair.set).join("labels.csv");
                self.print_row(
                    pair.set,
                    &file,
                    (pair.ours, pair.parameters),
                    (pair.theirs, pair.their_parameters),
                )?;
            }
        }
        if !self.args.no_large {
            let crowd = GenerateArgs::of_labels(self.args.labels, self.args.labels.div_ceil(500));
            let file = ensure_file(&crowd)?;
            for iterations in &self.args.iterations {
                self.print_row(
                    &format!("{} labels", self.args.labels),
                    &file,
                    ("dawid-skene", &format!("max-iter={iterations} tol=0")),
                    (
                        "DawidSkene",
                        &format!(r#"{{"n_iter": {iterations}, "tol": -1e300}}"#),
                    ),
                )?;
            }
        }
        if !self.args.no_rank {
            self.print_rankings()?;
        }
        Ok(())
    }

    /// Rankings beside evalica's `bradley_terry`.
    fn print_rankings(&self) -> anyhow::Result<()> {
        let folder = scratch("comparisons");
        let file = folder.join("comparisons.csv");
        let comparisons = self.args.comparisons.to_string();
        run_measured(
            Command::new(&self.program)
                .args([
                    "simulate",
                    "--pairs",
                    "--items",
                    "200",
                    "--judges",
                    "1000",
                    "--comparisons",
                    &comparisons,
                    "-o",
                ])
                .arg(&folder),
        )?;
        println!(
            "\n| {comparisons} comparisons | time | CPU | memory | CPU by evalica's |\n|---|---|---|---|---|"
        );
        let row = |name: &str, usage: Usage, of: Option<Usage>| {
            let ratio = of.map_or(String::new(), |of| format!("{:.2}", usage.cpu / of.cpu));
            println!(
                "| {name} | {} | {} | {:.0} MB | {ratio} |",
                seconds(usage.wall),
                seconds(usage.cpu),
                usage.memory
            );
        };
        let limit = self.args.limit.to_string();
        let theirs = best_measured(self.args.runs, LONG, || {
            let mut command = self.environment.command(&["rank", "bradley_terry", &limit]);
            command.arg(&file).arg(&self.theirs);
            command
        })?;
        row("evalica bradley_terry", theirs, None);
        for method in ["bradley-terry", "judge-bt"] {
            let ours = best_measured(self.args.runs, LONG, || {
                let mut command = Command::new(&self.program);
                command
                    .arg("rank")
                    .arg(&file)
                    .args(["-m", method, "-o"])
                    .arg(&self.ours);
                command
            })?;
            row(method, ours, Some(theirs));
        }
        Ok(std::fs::remove_dir_all(&folder)?)
    }

    fn measure_ours(&self, data: &str, file: &Path, method: &str, parameters: &str) -> anyhow::Result<Usage> {
        eprintln!("{data}: {method}");
        best_measured(self.args.runs, LONG, || {
            let mut command = Command::new(&self.program);
            command.arg("aggregate").arg(file).args(["-m", method, "-o"]);
            command.arg(&self.ours);
            let parameters = parameters.split_whitespace();
            command.args(parameters.flat_map(|parameter| ["-p", parameter]));
            command
        })
    }

    fn print_row(
        &self,
        data: &str,
        file: &Path,
        (method, parameters): (&str, &str),
        (peer, their_parameters): (&str, &str),
    ) -> anyhow::Result<()> {
        let our_usage = self.measure_ours(data, file, method, parameters)?;
        eprintln!("{data}: crowd-kit's {peer}");
        let limit = self.args.limit.to_string();
        let their_usage = best_measured(self.args.runs, LONG, || {
            let mut command = self.environment.command(&["fit", peer, their_parameters, &limit]);
            command.arg(file).arg(&self.theirs);
            command
        });
        let title = match parameters {
            "" => method.to_owned(),
            parameters => format!("{method} ({parameters})"),
        };
        let cells = |usage: Usage| {
            format!(
                "{} | {} | {:.0} MB",
                seconds(usage.wall),
                seconds(usage.cpu),
                usage.memory
            )
        };
        let theirs = match their_usage {
            Err(error) => format!("{error} | | | | | | |"),
            Ok(usage) => {
                let question = [
                    OsStr::new("compare"),
                    self.ours.as_os_str(),
                    self.theirs.as_os_str(),
                ];
                let same: f64 = self.environment.ask(&question)?.parse()?;
                format!(
                    "{} | {:.1} | {:.1} | {:.1} | {:.2} % |",
                    cells(usage),
                    usage.wall / our_usage.wall,
                    usage.cpu / our_usage.cpu,
                    usage.memory / our_usage.memory,
                    100.0 * same
                )
            }
        };
        println!("| {data} | {title} | {} | {theirs}", cells(our_usage));
        Ok(())
    }
}

/// Seconds after which a run is not repeated.
const LONG: f64 = 10.0;
