//! How often intervals hold the truth, on simulated crowds.

use clap::Args;
use quorate::Context;
use quorate::intervals::{Interval, Intervals};
use quorate::methods::{Aggregate, DawidSkeneEm};
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulated, Simulation};

/// What to simulate.
#[derive(Debug, Args)]
pub struct CoverageArgs {
    /// Crowds of each kind
    #[arg(short, long, default_value_t = 300)]
    crowds: u64,
    /// Probability that an interval promises
    #[arg(short, long, default_value_t = 0.95)]
    level: f64,
}

/// Prints, as Markdown, the share of intervals that hold the true value.
pub fn run(args: &CoverageArgs) -> anyhow::Result<()> {
    // Classes, workers, tasks, labels per task (0: everybody labels everything), lowest and highest accuracy.
    let kinds = [
        (2, 20, 300, 5, 0.5, 0.95),
        (3, 20, 300, 6, 0.5, 0.95),
        (4, 20, 300, 10, 0.5, 0.95),
        (3, 20, 300, 3, 0.6, 0.95),
        (4, 20, 500, 8, 0.35, 0.6),
        (2, 5, 60, 0, 0.55, 0.75),
        (2, 5, 60, 0, 0.6, 0.95),
        (2, 5, 200, 0, 0.55, 0.75),
        (2, 7, 500, 0, 0.55, 0.7),
        (2, 10, 100, 0, 0.55, 0.75),
        (3, 5, 60, 0, 0.45, 0.7),
        (3, 8, 120, 0, 0.4, 0.9),
        (4, 6, 80, 0, 0.5, 0.9),
    ];
    println!(
        "| classes | workers | tasks | labels per task | accuracy from | to | class shares | accuracies | confusion cells | error of \
         the labels |\n|---|---|---|---|---|---|---|---|---|---|"
    );
    for (classes, workers, tasks, per_task, lowest, highest) in kinds {
        let simulation = Simulation {
            tasks,
            workers,
            classes,
            prior: Prior::Dirichlet(5.0),
            quality: Quality::Accuracy {
                lowest,
                highest,
                concentration: 3.0,
            },
            experts: Amount::Number(0),
            coverage: match per_task {
                0 => Coverage::Probability(1.0),
                number => Coverage::PerTask(number),
            },
            ..Simulation::default()
        };
        let mut tallies = [(0usize, 0usize); 4];
        for seed in 0..args.crowds {
            count(&simulation.run(seed)?, args.level, seed, &mut tallies)?;
        }
        let cells = tallies.map(|(held, all)| format!("{:.1} %", 100.0 * held as f64 / all as f64));
        let per_task = if per_task == 0 { workers } else { per_task };
        println!(
            "| {classes} | {workers} | {tasks} | {per_task} | {lowest} | {highest} | {} |",
            cells.join(" | ")
        );
    }
    Ok(())
}

/// Adds the intervals of one crowd that hold, and all of them.
fn count(crowd: &Simulated, level: f64, seed: u64, tallies: &mut [(usize, usize); 4]) -> anyhow::Result<()> {
    let mut context = Context::new(seed);
    let fit = DawidSkeneEm::default().fit(&crowd.annotations, &mut context)?;
    let model = fit.model.as_ref().expect("this method has a model");
    let settings = Intervals {
        level,
        ..Intervals::default()
    };
    let found = settings.run(&crowd.annotations, model, &fit.consensus, &mut context)?;
    let mut add = |place: usize, interval: &Interval, truth: f64| {
        let holds = interval.low - 1e-9 <= truth && truth <= interval.high + 1e-9;
        tallies[place].0 += usize::from(holds);
        tallies[place].1 += 1;
    };
    for (interval, share) in found.prevalence.iter().zip(crowd.model.prior()) {
        add(0, interval, *share);
    }
    for (worker, interval) in found.accuracy.iter().enumerate() {
        add(1, interval, crowd.model.accuracy(worker));
    }
    for (interval, cell) in found.confusion.iter().zip(crowd.model.confusions()) {
        add(2, interval, *cell);
    }
    let wrong = (0..crowd.truth.len()).filter(|&task| fit.consensus.label(task) != crowd.truth[task]);
    add(3, &found.error, wrong.count() as f64 / crowd.truth.len() as f64);
    Ok(())
}
