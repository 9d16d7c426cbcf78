//! Workers who copy: error of `auto` where copies count once and where they count in full, on simulated
//! crowds with copies, on clean ones and on the public data sets.

use clap::Args;
use quorate::internal::seeded;
use quorate::methods::{Aggregate, Auto, Copies};
use quorate::{Annotations, Context};
use quorate_testkit::public_data;
use rand::RngExt;

use crate::public::{SIXTEEN, Set, score};

/// What to run.
#[derive(Debug, Args)]
pub struct DependenceArgs {
    /// Simulated crowds of each kind
    #[arg(short, long, default_value_t = 10)]
    crowds: u64,
    /// Data sets
    #[arg(short, long, value_delimiter = ',', default_value = SIXTEEN)]
    sets: Vec<String>,
}

/// Prints two Markdown tables.
pub fn run(args: &DependenceArgs) -> anyhow::Result<()> {
    simulated(args.crowds)?;
    println!("\n| set | all count | copies count once | groups |\n|---|---|---|---|");
    let folder = public_data::folder();
    let (mut sums, mut number) = ([0.0; 2], 0.0);
    for name in &args.sets {
        let set = Set::find(&folder, name)?;
        let annotations = set.read()?;
        let truth = set.true_classes(&annotations)?;
        let (all, once) = (
            fit(&annotations, Copies::All, &truth)?,
            fit(&annotations, Copies::Once, &truth)?,
        );
        println!(
            "| {name} | {:.2} | {:.2} | {} |",
            all.error, once.error, once.groups
        );
        sums = [sums[0] + all.error, sums[1] + once.error];
        number += 1.0;
    }
    println!("| mean | {:.2} | {:.2} | |", sums[0] / number, sums[1] / number);
    Ok(())
}

struct Outcome {
    /// In percent.
    error: f64,
    groups: usize,
}

fn fit(annotations: &Annotations, copies: Copies, truth: &[Option<usize>]) -> anyhow::Result<Outcome> {
    let fit = Auto::default()
        .copies(copies)
        .fit(annotations, &mut Context::new(0))?;
    Ok(Outcome {
        error: score(&fit.consensus, truth)?[0],
        groups: fit
            .notes
            .iter()
            .filter(|note| note.ends_with("count as one"))
            .count(),
    })
}

/// A crowd of 12 honest workers (accuracy 0.5 to 0.9, 40 % of 400 tasks each, 3 classes) and rings: in a ring
/// everyone labels everything, gives the answer of a hidden worker of accuracy 0.5 in `rate` of the cases,
/// and else an own one.
#[derive(Clone, Copy)]
struct Rings {
    rings: usize,
    members: usize,
    rate: f64,
    /// Share of tasks on which honest workers give the same wrong answer half of the time.
    misleading: f64,
}

/// Task, worker and class.
type Label = (u32, u32, u16);

const TASKS: usize = 400;
const HONEST: usize = 12;

impl Rings {
    /// The labels, and the truth of every task. The rings come last.
    fn draw(&self, seed: u64) -> (Vec<Label>, Vec<Option<usize>>) {
        let mut rng = seeded(seed, 3);
        let accuracies: Vec<f64> = (0..HONEST).map(|_| rng.random_range(0.5..0.9)).collect();
        let (mut labels, mut truths) = (Vec::new(), Vec::new());
        for task in 0..TASKS as u32 {
            let truth: u16 = rng.random_range(0..3);
            truths.push(Some(usize::from(truth)));
            let wrong = (truth + rng.random_range(1..3u16)) % 3;
            let misleads = rng.random::<f64>() < self.misleading;
            let answer = |accuracy: f64, rng: &mut dyn rand::Rng| match rng.random::<f64>() {
                chance if misleads && chance < 0.5 => wrong,
                _ if rng.random::<f64>() < accuracy => truth,
                _ => (truth + rng.random_range(1..3u16)) % 3,
            };
            for (worker, &accuracy) in accuracies.iter().enumerate() {
                let given = answer(accuracy, &mut rng);
                // The task and the worker decide, so that every crowd has the same design.
                if (task as usize * 7 + worker * 11) % 10 < 4 {
                    labels.push((task, worker as u32, given));
                }
            }
            for ring in 0..self.rings {
                let hidden = answer(0.5, &mut rng);
                for member in 0..self.members {
                    let own = answer(0.5, &mut rng);
                    let worker = (HONEST + ring * self.members + member) as u32;
                    labels.push((
                        task,
                        worker,
                        if rng.random::<f64>() < self.rate {
                            hidden
                        } else {
                            own
                        },
                    ));
                }
            }
        }
        (labels, truths)
    }
}

fn simulated(crowds: u64) -> anyhow::Result<()> {
    println!("Error in percent, mean of {crowds} crowds\n");
    println!("| crowd | all count | copies count once | copies removed by hand | crowds with a group |");
    println!("|---|---|---|---|---|");
    let rings = |rings, members, rate, misleading| Rings {
        rings,
        members,
        rate,
        misleading,
    };
    let kinds = [
        ("no copies", rings(0, 0, 0.9, 0.0)),
        ("no copies, 30 % of the tasks mislead", rings(0, 0, 0.9, 0.3)),
        ("a pair", rings(1, 2, 0.9, 0.0)),
        ("a ring of 3", rings(1, 3, 0.9, 0.0)),
        ("a ring of 5", rings(1, 5, 0.9, 0.0)),
        ("two rings of 4", rings(2, 4, 0.9, 0.0)),
        ("a ring of 3, 30 % of the tasks mislead", rings(1, 3, 0.9, 0.3)),
        ("a ring of 3 that copies 7 of 10", rings(1, 3, 0.7, 0.0)),
    ];
    for (words, kind) in kinds {
        let mut sums = [0.0; 4];
        for seed in 0..crowds {
            let (labels, truth) = kind.draw(seed);
            let workers = HONEST + kind.rings * kind.members;
            let table = |labels: Vec<Label>| Annotations::from_codes(TASKS, workers, 3, labels);
            let honest: Vec<_> = labels
                .iter()
                .copied()
                .filter(|label| (label.1 as usize) < HONEST)
                .collect();
            let all = table(labels)?;
            let once = fit(&all, Copies::Once, &truth)?;
            let removed = fit(&table(honest)?, Copies::All, &truth)?;
            let found = [
                fit(&all, Copies::All, &truth)?.error,
                once.error,
                removed.error,
                if once.groups > 0 { 1.0 } else { 0.0 },
            ];
            sums.iter_mut().zip(found).for_each(|(sum, value)| *sum += value);
        }
        let mean = sums.map(|sum| sum / crowds as f64);
        println!(
            "| {words} | {:.2} | {:.2} | {:.2} | {:.0} of {crowds} |",
            mean[0], mean[1], mean[2], sums[3]
        );
    }
    Ok(())
}
