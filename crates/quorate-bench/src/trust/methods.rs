//! Error and calibration of `auto` beside its members and others, on the public data sets and on thinned
//! copies of them.
//!
//! Thinning makes harder sets of the same kind: labels are dropped at random (every task keeps one), or
//! tasks, or both.

use std::collections::BTreeMap;

use quorate::Annotations;
use quorate::internal::seeded;
use quorate_testkit::public_data;
use rand::RngExt;

use crate::public::{Set, fit, score};

/// Shares of labels and of tasks that are kept.
const THINNED: [(f64, f64); 4] = [(0.5, 1.0), (0.25, 1.0), (1.0, 0.2), (0.5, 0.3)];

/// Title, method and parameters of a row.
type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// The rows of the tables.
const ROWS: &[Row] = &[
    ("majority-vote", "majority-vote", &[]),
    ("task-effects", "task-effects", &[]),
    ("dawid-skene", "dawid-skene", &[]),
    ("one-coin", "one-coin", &[]),
    ("mace", "mace", &[]),
    ("fast-ds", "fast-ds", &[]),
    ("ibcc", "ibcc", &[]),
    ("pooled-ds, strength 4", "pooled-ds", &[("strength", "4")]),
    ("pooled-ds, strength 1", "pooled-ds", &[("strength", "1")]),
    ("rob-symnmf", "rob-symnmf", &[]),
    ("rob-symnmf-em", "rob-symnmf-em", &[]),
    ("auto, confidence as averaged", "auto", &[("misled", "0")]),
    ("auto", "auto", &[]),
];

/// Errors and calibration errors of one row, in percent, by set; the full set first.
type Scores = BTreeMap<String, Vec<[f64; 2]>>;

/// Prints two Markdown tables.
pub fn run(sets: &[String], number: u64) -> anyhow::Result<()> {
    let folder = public_data::folder();
    let mut rows: Vec<Scores> = vec![Scores::new(); ROWS.len()];
    for name in sets {
        let set = Set::find(&folder, name)?;
        for annotations in &copies(&set.read()?, number)? {
            let truth = set.true_classes(annotations)?;
            for ((title, method, parameters), scores) in ROWS.iter().zip(&mut rows) {
                eprintln!("{name} {} labels: {title}", annotations.label_count());
                let score = score(&fit(annotations, method, parameters)?.consensus, &truth)?;
                scores.entry(name.clone()).or_default().push(score);
            }
        }
    }
    print_table("Error in percent", sets, &rows, |score| score[0]);
    println!();
    print_table("Expected calibration error in percent", sets, &rows, |score| {
        score[1]
    });
    Ok(())
}

fn print_table(title: &str, sets: &[String], rows: &[Scores], pick: impl Fn(&[f64; 2]) -> f64) {
    println!(
        "{title}: the sets as they are, their mean, the mean with thinned copies, and the most above majority vote on any copy\n"
    );
    println!("| method | {} | mean | with thinned | worst |", sets.join(" | "));
    println!("|---|{}---|---|---|", "---|".repeat(sets.len()));
    for ((title, ..), scores) in ROWS.iter().zip(rows) {
        let of = |name: &String| scores[name].iter().map(&pick).collect::<Vec<f64>>();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let full: Vec<f64> = sets.iter().map(|name| of(name)[0]).collect();
        let all: Vec<f64> = sets.iter().map(|name| mean(&of(name))).collect();
        let above = sets.iter().flat_map(|name| {
            let votes = rows[0][name].iter().map(&pick).collect::<Vec<f64>>();
            of(name).into_iter().zip(votes).map(|(own, votes)| own - votes)
        });
        let cells: Vec<String> = full.iter().map(|value| format!("{value:.2}")).collect();
        println!(
            "| {title} | {} | {:.2} | {:.2} | {:+.1} |",
            cells.join(" | "),
            mean(&full),
            mean(&all),
            above.fold(f64::NEG_INFINITY, f64::max)
        );
    }
}

/// The table as it is, then `number` thinned copies of each kind.
pub fn copies(full: &Annotations, number: u64) -> anyhow::Result<Vec<Annotations>> {
    let mut copies = vec![full.clone()];
    for (kind, &(labels, tasks)) in THINNED.iter().enumerate() {
        for copy in 0..number {
            copies.push(thin(full, labels, tasks, 100 * kind as u64 + copy)?);
        }
    }
    Ok(copies)
}

/// A random part of the tasks with a random part of their labels, at least one of each.
fn thin(annotations: &Annotations, labels: f64, tasks: f64, stream: u64) -> anyhow::Result<Annotations> {
    let mut rng = seeded(1, stream);
    let mut builder = quorate::AnnotationsBuilder::default();
    for task in 0..annotations.task_count() {
        let given: Vec<(usize, usize)> = annotations.labels_of_task(task).collect();
        if given.is_empty() || !rng.random_bool(tasks) {
            continue;
        }
        let spared = rng.random_range(0..given.len());
        let mut kept: Vec<(usize, usize)> = given
            .iter()
            .copied()
            .filter(|_| rng.random_bool(labels))
            .collect();
        if kept.is_empty() {
            kept.push(given[spared]);
        }
        for (worker, label) in kept {
            builder.push(
                annotations.tasks().get(task),
                annotations.workers().get(worker),
                annotations.classes().get(label),
            )?;
        }
    }
    Ok(builder.build()?)
}
