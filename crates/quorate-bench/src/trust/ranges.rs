//! The estimated error of `auto` and its range: on the public data sets, on thinned copies of them, with known
//! truths, and on simulated crowds that keep the model's assumptions.

use quorate::internal::run::Run;
use quorate::internal::seeded;
use quorate::methods::Auto;
use quorate::review::{ENOUGH_TRUTHS, ErrorEstimate, LEVEL};
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulation};
use quorate::{Annotations, Context};
use quorate_testkit::public_data;
use rand::seq::SliceRandom;
use std::sync::Arc;

use super::copies;
use crate::public::Set;

/// Sets that share their tasks are one family.
const TWEETS: [&str; 3] = ["cf", "cf_amt", "weather1000"];

/// Draws of known truths, and how many truths each.
const DRAWS: u64 = 4;
const TRUTHS: usize = 50;

/// An estimate beside what is true.
struct Found {
    set: String,
    estimate: ErrorEstimate,
    truth: f64,
}

impl Found {
    fn holds(&self) -> bool {
        let range = self.estimate.range;
        range.is_some_and(|(low, high)| low <= self.truth && self.truth <= high)
    }

    /// Distance of the truth from the estimate on the scale of the range.
    fn distance(&self) -> f64 {
        let lo = |p: f64| ((p + 0.01) / (1.0 - p + 0.01)).ln();
        (lo(self.truth) - lo(self.estimate.value)).abs()
    }

    fn family(&self) -> &str {
        if TWEETS.contains(&self.set.as_str()) {
            "tweets"
        } else {
            &self.set
        }
    }
}

/// Prints the tables.
pub fn run(sets: &[String], thinned: u64) -> anyhow::Result<()> {
    let folder = public_data::folder();
    let (mut full, mut thin, mut checked) = (Vec::new(), Vec::new(), Vec::new());
    for name in sets {
        let set = Set::find(&folder, name)?;
        for (copy, annotations) in copies(&set.read()?, thinned)?.into_iter().enumerate() {
            eprintln!("{name} {} labels: range", annotations.label_count());
            let truth = set.true_classes(&annotations)?;
            let found = estimate(name, annotations.clone(), &truth)?;
            if copy > 0 {
                thin.push(found);
                continue;
            }
            full.push(found);
            for draw in 0..DRAWS {
                checked.push(with_truths(name, &annotations, &truth, draw)?);
            }
        }
    }
    print_sets(&full);
    let share = |found: &[Found]| {
        let held = found.iter().filter(|found| found.holds()).count();
        format!(
            "{held} of {} ({:.0} %)",
            found.len(),
            100.0 * held as f64 / found.len().max(1) as f64
        )
    };
    println!("\nThinned copies: the range holds the truth on {}.", share(&thin));
    println!(
        "With {TRUTHS} known truths, {DRAWS} draws of each set: the range holds the error of the other tasks on {}, and is {:.2} \
         times as wide as without.",
        share(&checked),
        width(&checked) / width(&full)
    );
    print_simulated()
}

fn width(found: &[Found]) -> f64 {
    let widths = found.iter().filter_map(|found| found.estimate.range);
    widths.map(|(low, high)| high - low).sum::<f64>() / found.len().max(1) as f64
}

/// Fits `auto`; the truth is used to score alone.
fn estimate(name: &str, annotations: Annotations, truth: &[Option<usize>]) -> anyhow::Result<Found> {
    let mut annotations = Arc::new(annotations);
    let run = Run {
        method: &Auto::default(),
        calibrate: false,
        intervals: None,
    };
    let fit = run.over(&mut annotations, &mut Context::new(0))?.fit;
    let scored = truth
        .iter()
        .enumerate()
        .filter_map(|(task, class)| Some((task, (*class)?)));
    let (mut known, mut wrong) = (0, 0);
    for (task, class) in scored {
        known += 1;
        wrong += usize::from(fit.consensus.label(task) != class);
    }
    Ok(Found {
        set: name.to_owned(),
        estimate: fit.estimated_error(&annotations),
        truth: wrong as f64 / f64::from(known),
    })
}

/// The same with some truths known: chosen at random.
fn with_truths(
    name: &str,
    annotations: &Annotations,
    truth: &[Option<usize>],
    draw: u64,
) -> anyhow::Result<Found> {
    let classes = annotations.class_count();
    let mut known: Vec<(u32, u16)> = (0u32..)
        .zip(truth)
        .filter_map(|(task, class)| Some((task, (*class)?)))
        .filter(|&(_, class)| class < classes)
        .map(|(task, class)| (task, class as u16))
        .collect();
    known.shuffle(&mut seeded(7, draw));
    known.truncate(TRUTHS.min(known.len() / 2).max(ENOUGH_TRUTHS as usize));
    estimate(name, annotations.clone().with_gold(known)?, truth)
}

/// One line for each set, and the width that other families ask for.
fn print_sets(full: &[Found]) {
    println!(
        "Estimated error of `auto` in percent with its range (nominal {:.0} %). *Left out*: whether the width that held {:.0} % \
         of the other families holds this one.\n",
        100.0 * LEVEL,
        100.0 * LEVEL
    );
    println!("| set | true error | estimate | from | to | holds | left out |\n|---|---|---|---|---|---|---|");
    let yes = |holds: bool| if holds { "yes" } else { "no" };
    let mut left_out = 0;
    for found in full {
        let (low, high) = found.estimate.range.unwrap_or((0.0, 1.0));
        let others = full.iter().filter(|other| other.family() != found.family());
        let mut distances: Vec<f64> = others.map(Found::distance).collect();
        distances.sort_by(f64::total_cmp);
        let place = (LEVEL * (distances.len() + 1) as f64).ceil() as usize;
        let width = distances.get(place.max(1) - 1).or(distances.last());
        let holds = width.is_some_and(|width| found.distance() <= *width);
        left_out += usize::from(holds);
        println!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {} |",
            found.set,
            100.0 * found.truth,
            100.0 * found.estimate.value,
            100.0 * low,
            100.0 * high,
            yes(found.holds()),
            yes(holds)
        );
    }
    let mean = |of: fn(&Found) -> f64| 100.0 * full.iter().map(of).sum::<f64>() / full.len() as f64;
    println!(
        "| **all** | {:.1} | {:.1} | | | {} of {} | {left_out} of {} |",
        mean(|found| found.truth),
        mean(|found| found.estimate.value),
        full.iter().filter(|found| found.holds()).count(),
        full.len(),
        full.len()
    );
}

/// Classes, workers, tasks, labels per task, accuracies, share of the rarest class.
pub(super) type Crowd = (usize, usize, usize, usize, f64, f64, Option<f64>);

/// Crowds that keep the assumptions.
pub(super) const CROWDS: [Crowd; 12] = [
    (2, 25, 1000, 5, 0.6, 0.95, None),
    (3, 25, 1000, 5, 0.5, 0.9, None),
    (4, 50, 1000, 3, 0.6, 0.95, None),
    (5, 60, 2000, 4, 0.5, 0.8, None),
    (2, 20, 300, 5, 0.6, 0.95, None),
    (3, 100, 5000, 5, 0.6, 0.95, None),
    (2, 30, 500, 10, 0.6, 0.9, None),
    (2, 60, 600, 3, 0.55, 0.8, None),
    (8, 40, 800, 4, 0.5, 0.9, None),
    (2, 100, 2000, 5, 0.6, 0.95, Some(0.1)),
    (2, 100, 20_000, 5, 0.8, 0.95, Some(0.01)),
    (2, 100, 20_000, 5, 0.8, 0.95, Some(0.001)),
];

/// Crowds of each kind.
const SEEDS: u64 = 5;

fn print_simulated() -> anyhow::Result<()> {
    println!(
        "\nSimulated crowds of workers who err independently, {SEEDS} of each kind: mean true error and estimate in percent, and \
         how many ranges hold.\n"
    );
    println!(
        "| classes | workers | tasks | labels per task | accuracy | rare class | true error | estimate | holds |\n\
         |---|---|---|---|---|---|---|---|---|"
    );
    for crowd in CROWDS {
        let (classes, workers, tasks, per_task, lowest, highest, rare) = crowd;
        let simulation = simulation(crowd);
        let mut found = Vec::new();
        for seed in 0..SEEDS {
            let crowd = simulation.run(seed)?;
            let truth: Vec<Option<usize>> = crowd.truth.iter().copied().map(Some).collect();
            found.push(estimate("", crowd.annotations, &truth)?);
        }
        let mean = |of: fn(&Found) -> f64| 100.0 * found.iter().map(of).sum::<f64>() / SEEDS as f64;
        println!(
            "| {classes} | {workers} | {tasks} | {per_task} | {lowest} to {highest} | {} | {:.2} | {:.2} | {} of {SEEDS} |",
            rare.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share)),
            mean(|found| found.truth),
            mean(|found| found.estimate.value),
            found.iter().filter(|found| found.holds()).count()
        );
    }
    Ok(())
}

pub(super) fn simulation((classes, workers, tasks, per_task, lowest, highest, rare): Crowd) -> Simulation {
    Simulation {
        tasks,
        workers,
        classes,
        prior: rare.map_or(Prior::Uniform, |share| Prior::Given(vec![1.0 - share, share])),
        quality: Quality::Accuracy {
            lowest,
            highest,
            concentration: 3.0,
        },
        experts: Amount::Number(0),
        coverage: Coverage::PerTask(per_task),
        ..Simulation::default()
    }
}
