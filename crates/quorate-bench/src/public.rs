//! The public data sets: error, and time from file to labels, method by method.

use std::path::{Path, PathBuf};

use clap::Args;
use quorate::evaluate::{Predictions, evaluate};
use quorate::methods::{Fit, Method};
use quorate::{Annotations, Consensus, Context};
use quorate_baselines::{all_methods, find};
use quorate_io::{ReadOptions, Source, Target, read_annotations, read_ids, read_truth, write_consensus};
use quorate_testkit::public_data;

use crate::measure::{best_of, seconds};

/// What to time.
#[derive(Debug, Args)]
pub struct PublicArgs {
    /// Methods; all that need nothing but labels if not given
    #[arg(short, long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Data sets; dog52 is dog with the 52 workers of workers_top52.csv
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "bluebird,dog,dog52,rte,trec,web,labelme"
    )]
    sets: Vec<String>,
    /// Runs of each, of which the fastest counts
    #[arg(short, long, default_value_t = 3)]
    runs: usize,
}

/// One data set.
pub struct Set {
    labels: Source,
    options: ReadOptions,
    truth: PathBuf,
    output: PathBuf,
}

/// Prints two Markdown tables: error in percent (ties to the lowest class), and time from file to labels.
pub fn run(args: &PublicArgs) -> anyhow::Result<()> {
    let folder = public_data::folder();
    let methods: Vec<&Method> = if args.methods.is_empty() {
        all_methods()
            .filter(|method| !method.needs_probabilities)
            .collect()
    } else {
        args.methods
            .iter()
            .map(|name| find(name))
            .collect::<quorate::Result<_>>()?
    };
    let sets: Vec<Set> = args
        .sets
        .iter()
        .map(|name| Set::find(&folder, name))
        .collect::<anyhow::Result<_>>()?;
    let header = format!(
        "| method | {} |\n|---|{}",
        args.sets.join(" | "),
        "---|".repeat(sets.len())
    );
    let (mut errors, mut times) = (header.clone(), header);
    for method in methods {
        errors.push_str(&format!("\n| {} |", method.name));
        times.push_str(&format!("\n| {} |", method.name));
        for set in &sets {
            eprintln!("{} {}", method.name, set.labels.name());
            match best_of(args.runs, || set.aggregate(method)) {
                Ok((time, (annotations, fit))) => {
                    let [error, _] = score(&fit.consensus, &set.true_classes(&annotations)?)?;
                    errors.push_str(&format!(" {error:.2} |"));
                    times.push_str(&format!(" {} |", seconds(time)));
                }
                Err(error) => {
                    errors.push_str(" - |");
                    times.push_str(&format!(" {error} |"));
                }
            }
        }
    }
    println!("Error in percent:\n\n{errors}\n\nTime from file to labels:\n\n{times}");
    Ok(())
}

/// The sets of the tables on trust and on dependence.
pub const SIXTEEN: &str =
    "bluebird,dog,labelme,rte,trec,web,age,barzan,cf,cf_amt,ducks,face,flower,music,product,weather1000";

impl Set {
    /// The set of this name in `folder`.
    pub fn find(folder: &Path, name: &str) -> anyhow::Result<Self> {
        let place = folder.join(if name == "dog52" { "dog" } else { name });
        let mut options = ReadOptions::default();
        if name == "dog52" {
            let ids = read_ids(&Source::from(place.join("workers_top52.csv")), "worker")?;
            options.keep_workers = Some(ids.iter().map(str::to_owned).collect());
        }
        Ok(Self {
            labels: Source::from(place.join("labels.csv")),
            options,
            truth: place.join("truth.csv"),
            output: std::env::temp_dir().join(format!("quorate-bench-{}.csv", std::process::id())),
        })
    }

    /// Reads the labels.
    pub fn read(&self) -> anyhow::Result<Annotations> {
        Ok(read_annotations(&self.labels, &self.options)?.annotations)
    }

    /// Reads, fits and writes.
    fn aggregate(&self, method: &Method) -> anyhow::Result<(Annotations, Fit)> {
        let annotations = self.read()?;
        let fit = method.with_defaults()?.fit(&annotations, &mut Context::new(0))?;
        let target = Target::from(self.output.clone());
        let (tasks, classes) = (annotations.tasks(), annotations.classes());
        let written = write_consensus(&target, tasks, classes, &fit.consensus, false);
        let _ = std::fs::remove_file(&self.output);
        written?;
        Ok((annotations, fit))
    }

    /// Class of each task where the truth is known.
    pub fn true_classes(&self, annotations: &Annotations) -> anyhow::Result<Vec<Option<usize>>> {
        Ok(read_truth(&Source::from(self.truth.clone()), annotations)?)
    }
}

/// Fits a method with these parameters.
pub fn fit(annotations: &Annotations, method: &str, parameters: &[(&str, &str)]) -> anyhow::Result<Fit> {
    let parameters = parameters
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()));
    let method = find(method)?.with_parameters(&parameters.collect::<Vec<_>>())?;
    Ok(method.fit(annotations, &mut Context::new(0))?)
}

/// Error and expected calibration error, in percent.
pub fn score(consensus: &Consensus, truth: &[Option<usize>]) -> anyhow::Result<[f64; 2]> {
    let evaluation = evaluate(&Predictions::from_consensus(consensus)?, truth)?;
    let calibration = evaluation.calibration.as_ref();
    let calibration = calibration.map_or(f64::NAN, |calibration| calibration.expected_error);
    Ok([100.0 * evaluation.error.rate, 100.0 * calibration])
}
