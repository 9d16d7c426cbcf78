//! Accuracies of workers beside the truth: the one that is shown, that of the matrices of the model, and agreement
//! with what the others say.

use quorate::Annotations;
use quorate_testkit::public_data;

use super::ranges::{CROWDS, simulation};
use crate::public::{Set, fit};

/// Labels on tasks of known truth that a worker needs.
const CHECKABLE: f64 = 20.0;

/// A worker: the true accuracy, the one shown with its interval, and that of the model.
struct Found {
    truth: f64,
    shown: f64,
    interval: Option<(f64, f64)>,
    model: f64,
}

/// Prints the table.
pub fn run(sets: &[String]) -> anyhow::Result<()> {
    println!(
        "Accuracy of workers with {CHECKABLE} checkable labels: mean absolute miss in points and the share of intervals that hold \
         (nominal 90 %). *Model*: the matrices of `auto` alone.\n"
    );
    println!(
        "| crowd | workers | miss | miss, model | mean above the truth | holds |\n|---|---|---|---|---|---|"
    );
    let folder = public_data::folder();
    let mut all = Vec::new();
    for name in sets {
        let set = Set::find(&folder, name)?;
        let annotations = set.read()?;
        let found = look(&annotations, &set.true_classes(&annotations)?)?;
        print(name, &found);
        all.extend(found);
    }
    print("**all**", &all);
    let mut all = Vec::new();
    for kind in CROWDS {
        let crowd = simulation(kind).run(0)?;
        let truth: Vec<Option<usize>> = crowd.truth.iter().copied().map(Some).collect();
        all.extend(look(&crowd.annotations, &truth)?);
    }
    print("simulated, independent", &all);
    Ok(())
}

fn look(annotations: &Annotations, truth: &[Option<usize>]) -> anyhow::Result<Vec<Found>> {
    let auto = fit(annotations, "auto", &[])?;
    let mut counts = vec![(0.0, 0.0); annotations.worker_count()];
    for (task, truth) in truth.iter().enumerate() {
        let Some(truth) = truth else { continue };
        for (worker, answer) in annotations.labels_of_task(task) {
            counts[worker].0 += 1.0;
            counts[worker].1 += f64::from(u8::from(answer == *truth));
        }
    }
    let accuracies = auto.worker_accuracies(annotations);
    let found = counts.iter().zip(accuracies).enumerate();
    Ok(found
        .filter(|(_, ((known, _), _))| *known >= CHECKABLE)
        .filter_map(|(worker, ((known, right), accuracy))| {
            let accuracy = accuracy?;
            Some(Found {
                truth: right / known,
                shown: accuracy.value,
                interval: accuracy.interval,
                model: auto.model.as_ref()?.accuracy(worker),
            })
        })
        .collect())
}

fn print(name: &str, found: &[Found]) {
    let mean =
        |of: &dyn Fn(&Found) -> f64| 100.0 * found.iter().map(of).sum::<f64>() / found.len().max(1) as f64;
    let holds = |found: &Found| {
        let held = found
            .interval
            .is_some_and(|(low, high)| low <= found.truth && found.truth <= high);
        f64::from(u8::from(held))
    };
    println!(
        "| {name} | {} | {:.1} | {:.1} | {:+.1} | {:.0} % |",
        found.len(),
        mean(&|found| (found.shown - found.truth).abs()),
        mean(&|found| (found.model - found.truth).abs()),
        mean(&|found| found.shown - found.truth),
        mean(&holds)
    );
}
