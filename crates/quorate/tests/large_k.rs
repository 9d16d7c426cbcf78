//! A thousand classes: memory follows the labels.

use quorate::internal::seeded;
use quorate::methods::{self, Fit};
use quorate::{Annotations, Context, Error};
use rand::RngExt;

const TASKS: usize = 20_000;
const WORKERS: usize = 200;
const CLASSES: usize = 1000;
const LABELS_A_TASK: usize = 5;

/// Far below the 4 x 1.6 GB of dense matrices; the consensus itself takes 160 MB.
const MEMORY: u64 = 320 << 20;

/// Workers right with probability 0.3 to 0.9; half of the errors are the other class of a pair, half are
/// anywhere.
fn crowd(tasks: usize) -> (Annotations, Vec<usize>) {
    let mut rng = seeded(11, 0);
    let accuracy: Vec<f64> = (0..WORKERS).map(|_| rng.random_range(0.3..0.9)).collect();
    let mut truths = Vec::new();
    let mut labels = Vec::new();
    for task in 0..tasks {
        let truth = rng.random_range(0..CLASSES);
        truths.push(truth);
        let mut workers: Vec<usize> = Vec::new();
        while workers.len() < LABELS_A_TASK {
            let worker = rng.random_range(0..WORKERS);
            if !workers.contains(&worker) {
                workers.push(worker);
            }
        }
        for worker in workers {
            let label = match rng.random_bool(accuracy[worker]) {
                true => truth,
                false if rng.random_bool(0.5) => truth ^ 1,
                false => rng.random_range(0..CLASSES),
            };
            labels.push((task as u32, worker as u32, label as u16));
        }
    }
    (
        Annotations::from_codes(tasks, WORKERS, CLASSES, labels).unwrap(),
        truths,
    )
}

fn fit(name: &str, annotations: &Annotations, memory: u64, threads: usize) -> Result<Fit, Error> {
    let mut context = Context::new(0)
        .with_memory_limit(memory)
        .with_threads(threads)
        .unwrap();
    methods::find(name)
        .unwrap()
        .with_defaults()
        .unwrap()
        .fit(annotations, &mut context)
}

fn error(fit: &Fit, truths: &[usize]) -> f64 {
    let wrong = fit
        .consensus
        .labels()
        .iter()
        .zip(truths)
        .filter(|(a, b)| a != b)
        .count();
    wrong as f64 / truths.len() as f64
}

#[test]
fn a_thousand_classes_beat_the_votes_in_little_memory() {
    let (annotations, truths) = crowd(TASKS);
    let votes = error(&fit("majority-vote", &annotations, MEMORY, 0).unwrap(), &truths);
    for name in ["dawid-skene", "one-coin"] {
        let fit = fit(name, &annotations, MEMORY, 0).unwrap();
        let found = error(&fit, &truths);
        assert!(found < 0.9 * votes, "{name}: {found}, votes {votes}");
        assert!(fit.converged && fit.model.is_none());
        assert_eq!(fit.worker_scores.unwrap().len(), WORKERS);
        for task in 0..100 {
            let sum: f64 = fit.consensus.row(task).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (annotations, _) = crowd(2_000);
    for name in ["dawid-skene", "one-coin"] {
        let [one, three] = [1, 3].map(|threads| fit(name, &annotations, MEMORY, threads).unwrap());
        assert_eq!(one.consensus.as_slice(), three.consensus.as_slice());
        assert_eq!(one.trace, three.trace);
    }
}

#[test]
fn the_average_takes_part_and_gold_is_kept() {
    let (annotations, truths) = crowd(1_000);
    let gold = (0..100u32).map(|task| (task, truths[task as usize] as u16 ^ 2));
    let known = annotations.with_gold(gold.clone()).unwrap();
    for name in ["auto", "dawid-skene", "one-coin"] {
        let fit = fit(name, &known, MEMORY, 0).unwrap();
        for (task, truth) in gold.clone() {
            assert_eq!(fit.consensus.label(task as usize), truth as usize, "{name}");
        }
        let left_out = fit.warnings.join(" ");
        assert!(!left_out.contains("dawid-skene"), "{left_out}");
    }
}

#[test]
fn a_consensus_that_does_not_fit_is_refused_in_words() {
    let (annotations, _) = crowd(1_000);
    for name in ["dawid-skene", "one-coin"] {
        let refused = fit(name, &annotations, 1 << 20, 0).unwrap_err();
        assert!(matches!(refused, Error::TooLarge { .. }));
        assert!(refused.to_string().contains("1000 classes"), "{refused}");
    }
}
