//! What plans buy: labels that a plan needs for the same error as random labels and as the most uncertain
//! tasks first, how often the forecast holds, and what a dispatch takes. On simulated crowds over several
//! seeds, and on the public data sets with many labels per task.

use std::time::Instant;

use anyhow::Result;
use clap::Args;
use quorate::methods::{Aggregate, find};
use quorate::plan::{Dispatch, Plan, Replay, ReplayCurve, Strategy};
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulated, Simulation};
use quorate::{Annotations, Context};
use quorate_testkit::public_data;

use crate::public::Set;

/// Which plans to play.
#[derive(Debug, Args)]
pub struct PlansArgs {
    /// Simulated crowds of each kind
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// Method of the fits
    #[arg(short, long, default_value = "auto")]
    method: String,
    /// Tasks of the table for the time of one plan
    #[arg(long, default_value_t = 1_000_000)]
    large: usize,
    /// Public data sets only
    #[arg(long)]
    public: bool,
    /// Public data sets with five or more labels per task
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "bluebird,ducks,flower,rte,dog,cf_amt,weather1000,age,face"
    )]
    sets: Vec<String>,
    /// Draws of the labels shown at the start, for each public data set
    #[arg(long, default_value_t = 100)]
    draws: u64,
}

/// Plays all of it.
pub fn run(args: &PlansArgs) -> Result<()> {
    let method = find(&args.method)?.with_defaults()?;
    if args.public {
        return public_sets(args, &*method);
    }
    println!(
        "method {}, {} seeds; labels beyond the start, mean (standard deviation)\n",
        args.method, args.seeds
    );
    println!("| crowd | saved beside random, % | saved beside most uncertain first, % | forecast holds, % |");
    println!("|---|---|---|---|");
    for (name, crowd) in crowds() {
        simulated(name, &crowd, args, &*method)?;
    }
    public_sets(args, &*method)?;
    dispatches(args.seeds)?;
    time_of_one(args.large)
}

fn public_sets(args: &PlansArgs, method: &dyn Aggregate) -> Result<()> {
    println!(
        "\nmean error over the rounds in %, {} draws: mean (standard deviation); differences: mean of the pairs (standard error)\n",
        args.draws
    );
    println!("| public set | plan | most uncertain first | random | plan - uncertain | plan - random |");
    println!("|---|---|---|---|---|---|");
    for set in &args.sets {
        public(set, args, method)?;
    }
    Ok(())
}

fn accuracies(lowest: f64, highest: f64) -> Quality {
    Quality::Accuracy {
        lowest,
        highest,
        concentration: 1.0,
    }
}

/// Crowds in which every worker has labelled every task.
fn crowds() -> Vec<(&'static str, Simulation)> {
    let base = Simulation {
        tasks: 400,
        workers: 25,
        classes: 3,
        prior: Prior::Uniform,
        quality: accuracies(0.4, 0.9),
        experts: Amount::Number(0),
        coverage: Coverage::Probability(1.0),
        ..Simulation::default()
    };
    vec![
        ("three classes, accuracy 0.4 to 0.9", base.clone()),
        (
            "two classes, accuracy 0.55 to 0.9",
            Simulation {
                classes: 2,
                quality: accuracies(0.55, 0.9),
                ..base.clone()
            },
        ),
        (
            "three classes, a fifth spammers",
            Simulation {
                uniform_spammers: Amount::Share(0.2),
                ..base
            },
        ),
    ]
}

fn simulated(name: &str, crowd: &Simulation, args: &PlansArgs, method: &dyn Aggregate) -> Result<()> {
    let replay = Replay {
        start: 2,
        batch: 200,
        rounds: 8,
        capacity: None,
        explore: None,
    };
    let (mut random, mut uncertain) = (Vec::new(), Vec::new());
    let (mut held, mut forecasts) = (0, 0);
    for seed in 0..args.seeds {
        let Simulated {
            annotations, truth, ..
        } = crowd.run(seed)?;
        let truth: Vec<Option<usize>> = truth.into_iter().map(Some).collect();
        let curves = play(&replay, &annotations, &truth, method, seed)?;
        random.push(saved(&curves[0], &curves[2]));
        uncertain.push(saved(&curves[0], &curves[1]));
        for (forecast, (_, error)) in curves[0].forecasts.iter().zip(curves[0].points.iter().skip(1)) {
            forecasts += 1;
            held += usize::from(forecast.low <= *error && *error <= forecast.high);
        }
    }
    println!(
        "| {name} | {} | {} | {:.1} |",
        spread(&random),
        spread(&uncertain),
        100.0 * held as f64 / f64::from(forecasts)
    );
    Ok(())
}

fn play(
    replay: &Replay,
    annotations: &Annotations,
    truth: &[Option<usize>],
    method: &dyn Aggregate,
    seed: u64,
) -> Result<Vec<ReplayCurve>> {
    Strategy::ALL
        .into_iter()
        .map(|strategy| Ok(replay.run(strategy, annotations, truth, method, &mut Context::new(seed))?))
        .collect()
}

/// Share of labels that the plan saves on the way to the error that the other one ends with, in percent.
fn saved(plan: &ReplayCurve, other: &ReplayCurve) -> f64 {
    let reached = other.points.last().map_or(0.0, |point| point.1);
    let theirs = other.labels_to(reached).unwrap_or(f64::NAN);
    // A plan that never gets there has spent everything.
    let everything = plan.points.last().map_or(0, |point| point.0) - plan.points[0].0;
    let mine = plan.labels_to(reached).unwrap_or(everything as f64);
    100.0 * (1.0 - mine / theirs)
}

fn spread(values: &[f64]) -> String {
    let (mean, deviation) = mean_and_deviation(values);
    format!("{mean:.1} ({deviation:.1})")
}

/// Mean and standard deviation of a sample.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// Mean error over all rounds: hidden labels shown as each strategy asks for them.
fn public(set: &str, args: &PlansArgs, method: &dyn Aggregate) -> Result<()> {
    let found = Set::find(&public_data::folder(), set)?;
    let annotations = found.read()?;
    let truth = found.true_classes(&annotations)?;
    let batch = annotations.task_count() / 2;
    let replay = Replay {
        start: 3,
        batch,
        rounds: 10,
        capacity: None,
        explore: None,
    };
    let mut errors = vec![Vec::new(); Strategy::ALL.len()];
    for seed in 0..args.draws {
        let curves = play(&replay, &annotations, &truth, method, seed)?;
        for (curve, errors) in curves.iter().zip(&mut errors) {
            let later = &curve.points[1..];
            errors.push(100.0 * later.iter().map(|point| point.1).sum::<f64>() / later.len() as f64);
        }
    }
    let [plan, uncertain, random] = [0, 1, 2].map(|strategy| &errors[strategy]);
    println!(
        "| {set} | {} | {} | {} | {} | {} |",
        spread(plan),
        spread(uncertain),
        spread(random),
        paired(plan, uncertain),
        paired(plan, random),
    );
    Ok(())
}

/// Mean difference of pairs (standard error of that mean).
fn paired(a: &[f64], b: &[f64]) -> String {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let (mean, deviation) = mean_and_deviation(&differences);
    format!(
        "{mean:+.1} ({:.1})",
        deviation / (differences.len() as f64).sqrt()
    )
}

fn dispatches(seeds: u64) -> Result<()> {
    println!("\n| sparse crowd | pairs out of reach | labels dispatched | out of reach after | designated |");
    println!("|---|---|---|---|---|");
    for seed in 0..seeds.min(5) {
        let crowd = Simulation {
            tasks: 400,
            workers: 80,
            coverage: Coverage::PerTask(2),
            missing_pairs: 0.9,
            ..Simulation::default()
        }
        .run(seed)?;
        let method = find("pooled-ds")?.with_defaults()?;
        let fit = method.fit(&crowd.annotations, &mut Context::new(0))?;
        let found = Dispatch::default().run(&crowd.annotations, &fit, &mut Context::new(0))?;
        println!(
            "| 80 workers, 400 tasks, seed {seed} | {} | {} of {} | {} | {} |",
            found.out_of_reach_before.unwrap_or(0),
            found.assignments.len(),
            crowd.annotations.label_count(),
            found.out_of_reach_after.unwrap_or(0),
            if found.designated.is_some() { 2 } else { 0 }
        );
    }
    Ok(())
}

fn time_of_one(tasks: usize) -> Result<()> {
    let crowd = Simulation {
        tasks,
        workers: 1000,
        classes: 4,
        prior: Prior::Uniform,
        quality: accuracies(0.4, 0.9),
        experts: Amount::Number(0),
        coverage: Coverage::PerTask(3),
        ..Simulation::default()
    }
    .run(0)?;
    let fit = find("auto")?
        .with_defaults()?
        .fit(&crowd.annotations, &mut Context::new(0))?;
    let start = Instant::now();
    let planned = Plan::new(tasks as f64 / 5.0).run(&crowd.annotations, &fit, &mut Context::new(0))?;
    println!(
        "\na plan for {} labels on {tasks} tasks: {:.2} s (the fit apart)",
        planned.assignments.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}
