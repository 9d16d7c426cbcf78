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
    let alike = |lowest, highest| Quality::Accuracy {
        lowest,
        highest,
        concentration: 3.0,
    };
    let kinds = [
        ("2 classes, 5 labels a task", 2, 5, alike(0.5, 0.95)),
        ("3 classes, 6 labels a task", 3, 6, alike(0.5, 0.95)),
        ("4 classes, 10 labels a task", 4, 10, alike(0.5, 0.95)),
        ("3 classes, 3 labels a task", 3, 3, alike(0.6, 0.95)),
    ];
    println!(
        "| crowd | class shares | accuracies | confusion cells | error of the labels |\n|---|---|---|---|---|"
    );
    for (title, classes, per_task, quality) in kinds {
        let simulation = Simulation {
            tasks: 300,
            workers: 20,
            classes,
            prior: Prior::Dirichlet(5.0),
            quality,
            experts: Amount::Number(0),
            coverage: Coverage::PerTask(per_task),
            ..Simulation::default()
        };
        let mut tallies = [(0usize, 0usize); 4];
        for seed in 0..args.crowds {
            count(&simulation.run(seed)?, args.level, seed, &mut tallies)?;
        }
        let cells = tallies.map(|(held, all)| format!("{:.1} %", 100.0 * held as f64 / all as f64));
        println!("| {title} | {} |", cells.join(" | "));
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
