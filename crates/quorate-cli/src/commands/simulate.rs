//! `quorate simulate`: a crowd with known truth, or judges who compare items of known scores.

mod pairs;

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Result;
use clap::Args;
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulated, Simulation};
use quorate_io::{ModelFile, Target, make_output_folder, write_annotations, write_model, write_truth};
use serde::Serialize;

use crate::files::{Content, Files};
use crate::input::size_line;
use crate::memory::MemoryArgs;
use crate::numbers::{MOST, number, whole};
use crate::printer::Printer;
use crate::record::{each, record};
use crate::text_table::plural;

/// What kind of crowd.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate simulate --tasks 1000 --workers 50 --classes 4 --accuracy 0.5,0.9 --labels-per-task 5 --spammers 20% -o crowd\n  \
    quorate simulate -o paper            # the paper's crowd: 25 workers, 3 classes, random confusion matrices\n  \
    quorate simulate --pairs --items 20 --judges 40 --random-judges 0.2 -o arena     # comparisons\n\n\
    Writes labels.csv, truth.csv and model.json (the true prior and confusion matrices) into the folder; with\n\
    --pairs comparisons.csv, scores.csv and judges.csv.\n\
    Numbers of workers may be shares: --adversaries 3 or --adversaries 10%.")]
pub struct SimulateArgs {
    /// Folder to write into; made if it is not there
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Number of tasks
    #[arg(long, default_value_t = 1000, value_parser = whole::<usize>(1, MOST))]
    tasks: usize,
    /// Number of workers
    #[arg(long, default_value_t = 25, value_parser = whole::<usize>(1, MOST))]
    workers: usize,
    /// Number of classes
    #[arg(long, default_value_t = 3, value_parser = whole::<usize>(1, 65_536))]
    classes: usize,
    /// Class prior: uniform, dirichlet (random), or the probabilities, separated by commas
    #[arg(long, default_value = "uniform")]
    prior: PriorArg,
    /// Each worker labels a task with this probability
    #[arg(long, default_value_t = 0.3, value_parser = number(1e-6, 1.0), conflicts_with = "labels_per_task")]
    density: f64,
    /// Each task gets exactly this many labels
    #[arg(long, value_parser = whole::<usize>(1, MOST))]
    labels_per_task: Option<usize>,
    /// Accuracy of ordinary workers, drawn between these two; without it confusion matrices are random (the
    /// paper)
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', num_args = 1, value_parser = number(0.0, 1.0))]
    accuracy: Vec<f64>,
    /// Workers that are nearly always right
    #[arg(long, default_value = "1", value_name = "NUMBER")]
    experts: AmountArg,
    /// Workers that know one class and guess the others
    #[arg(long, default_value = "0", value_name = "NUMBER")]
    specialists: AmountArg,
    /// How near to perfect experts and specialists are
    #[arg(long, default_value_t = 0.1, value_parser = number(0.0, 1.0))]
    epsilon: f64,
    /// Workers that answer at random
    #[arg(long, default_value = "0", value_name = "NUMBER")]
    spammers: AmountArg,
    /// Workers that always give the same answer
    #[arg(long, default_value = "0", value_name = "NUMBER")]
    constant_spammers: AmountArg,
    /// Workers that are systematically wrong
    #[arg(long, default_value = "0", value_name = "NUMBER")]
    adversaries: AmountArg,
    /// Designated workers, who label a large part of the tasks
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>(0, MOST))]
    designated: usize,
    /// Share of the tasks that a designated worker labels
    #[arg(long, default_value_t = 0.8, value_parser = number(0.0, 1.0))]
    designated_density: f64,
    /// Share of the pairs of workers that have no task in common
    #[arg(long, default_value_t = 0.0, value_parser = number(0.0, 1.0))]
    missing_pairs: f64,
    /// Skew of the workers' activity: the r-th busiest gives r^-S as many labels as the first
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = number(0.0, 10.0))]
    skew: f64,
    #[command(flatten)]
    pairs: pairs::PairArgs,
    /// Seed; the same settings and seed give the same files
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// For programs: print a summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// `3` or `20%`.
#[derive(Debug, Clone, Copy)]
struct AmountArg(Amount);

impl FromStr for AmountArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("{text:?} is neither a number of workers (3) nor a share of them (20%)");
        match text.strip_suffix('%') {
            Some(percent) => {
                let share = percent.trim().parse::<f64>().map_err(|_| expected())? / 100.0;
                (0.0..=1.0)
                    .contains(&share)
                    .then_some(Self(Amount::Share(share)))
                    .ok_or_else(expected)
            }
            None => text
                .parse()
                .map(|number| Self(Amount::Number(number)))
                .map_err(|_| expected()),
        }
    }
}

/// `uniform`, `dirichlet` or probabilities.
#[derive(Debug, Clone)]
struct PriorArg(Prior);

impl FromStr for PriorArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(match text {
            "uniform" => Prior::Uniform,
            "dirichlet" => Prior::Dirichlet(1.0),
            _ => Prior::Given(
                text.split(',')
                    .map(|part| part.trim().parse::<f64>())
                    .collect::<Result<_, _>>()
                    .map_err(|_| {
                        format!("{text:?} is not uniform, dirichlet or probabilities such as 0.5,0.3,0.2")
                    })?,
            ),
        }))
    }
}

impl SimulateArgs {
    fn settings(&self) -> Result<Simulation> {
        let quality = match self.accuracy[..] {
            [] => Quality::Dirichlet(1.0),
            [lowest, highest] => Quality::Accuracy {
                lowest,
                highest,
                concentration: 1.0,
            },
            _ => {
                anyhow::bail!("--accuracy takes two numbers, the lowest and the highest: --accuracy 0.5,0.9")
            }
        };
        Ok(Simulation {
            tasks: self.tasks,
            workers: self.workers,
            classes: self.classes,
            prior: self.prior.0.clone(),
            quality,
            experts: self.experts.0,
            specialists: self.specialists.0,
            epsilon: self.epsilon,
            uniform_spammers: self.spammers.0,
            constant_spammers: self.constant_spammers.0,
            adversaries: self.adversaries.0,
            coverage: match self.labels_per_task {
                Some(labels) => Coverage::PerTask(labels),
                None => Coverage::Probability(self.density),
            },
            designated: self.designated,
            designated_probability: self.designated_density,
            missing_pairs: self.missing_pairs,
            activity_exponent: self.skew,
            ..Simulation::default()
        })
    }
}

/// The same error with the option that sets the parameter.
fn name_option(error: quorate::Error) -> quorate::Error {
    let quorate::Error::Parameter { name, problem } = error else {
        return error;
    };
    let option = match name.as_str() {
        "quality" => "--accuracy".into(),
        "uniform_spammers" => "--spammers".into(),
        "activity_exponent" => "--skew".into(),
        "designated_probability" => "--designated-density".into(),
        "coverage" => "--density or --labels-per-task".into(),
        "adversary_strength" => "--adversaries".into(),
        other => format!("--{}", other.replace('_', "-")),
    };
    quorate::Error::Parameter {
        name: option,
        problem,
    }
}

/// Draws the crowd and writes its files.
pub fn run(args: &SimulateArgs, printer: &mut Printer) -> Result<()> {
    args.memory.apply();
    if args.pairs.pairs {
        return args.pairs.run(args, printer);
    }
    let [truth, model_file, labels] =
        ["truth.csv", "model.json", "labels.csv"].map(|name| args.output.join(name));
    let files = Files::default()
        .writes("the truth", Some(&truth), Content::Other)
        .writes("the model", Some(&model_file), Content::Other)
        .writes("the labels", Some(&labels), Content::Other);
    // A folder that is not there yet is made when there is something to put into it.
    if args.output.exists() {
        files.check(false)?;
    }
    let crowd = args.settings()?.run(args.seed).map_err(name_option)?;
    make_output_folder(&args.output)?;
    files.check(false)?;
    let annotations = &crowd.annotations;
    write_truth(
        &Target::from(truth),
        annotations.tasks(),
        annotations.classes(),
        &crowd.truth,
    )?;
    let model = ModelFile::new(annotations, &crowd.model).fitted_by("simulated", [], args.seed);
    write_model(&Target::from(model_file), &model)?;
    write_annotations(&Target::from(labels), None, annotations)?;
    if args.json {
        return printer.json(&summary(&crowd, args.seed));
    }
    printer.note(format!("{}: {}", args.output.display(), size_line(annotations)));
    if crowd.dropped_labels > 0 {
        printer.note(format!(
            "{} dropped to keep pairs of workers apart; {:.1} % of the pairs share no task",
            plural(crowd.dropped_labels, "label"),
            100.0 * crowd.missing_pair_share()
        ));
    }
    printer.note(format!(
        "next: quorate compare {0}/labels.csv --truth {0}/truth.csv",
        args.output.display()
    ));
    Ok(())
}

fn summary(crowd: &Simulated, seed: u64) -> impl Serialize {
    let annotations = &crowd.annotations;
    record! {
        tasks: annotations.task_count(),
        workers: annotations.worker_count(),
        classes: annotations.class_count(),
        labels: annotations.label_count(),
        missing_pair_share: crowd.missing_pair_share(),
        designated: each(&crowd.designated, |&worker| annotations.workers().get(worker)),
        seed: seed,
    }
}
