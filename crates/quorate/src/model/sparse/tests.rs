//! The sparse form against dense computations of the same formulas.

use rand::RngExt;

use super::*;
use crate::context::seeded;
use crate::methods::{Aggregate, OneCoin};

const TASKS: usize = 60;
const WORKERS: usize = 7;
const CLASSES: usize = 5;

/// A small crowd of mixed quality; the last task has no labels.
fn crowd(seed: u64) -> Annotations {
    let mut rng = seeded(seed, 0);
    let mut labels = Vec::new();
    for task in 0..TASKS as u32 - 1 {
        let truth = rng.random_range(0..CLASSES as u16);
        for worker in 0..WORKERS as u32 {
            let right = rng.random_bool(0.3 + 0.09 * f64::from(worker));
            if rng.random_bool(0.7) {
                let label = if right {
                    truth
                } else {
                    rng.random_range(0..CLASSES as u16)
                };
                labels.push((task, worker, label));
            }
        }
    }
    Annotations::from_codes(TASKS, WORKERS, CLASSES, labels).unwrap()
}

fn settings(strength: Option<f64>) -> SparseEm {
    SparseEm {
        max_iter: 40,
        tol: 0.0,
        strength,
        flat_prior: false,
    }
}

/// The module's formulas with every loop written out over dense tables.
fn dense_twin(annotations: &Annotations, strength: f64, rounds: usize) -> Vec<Vec<f64>> {
    let named = |n: usize, k: usize| match annotations.gold(n) {
        Some(truth) => truth == k,
        None => annotations.labels_of_task(n).any(|(_, x)| x == k),
    };
    let mut q: Vec<Vec<f64>> = (0..TASKS)
        .map(|n| {
            let total = annotations.labels_of_task(n).count() as f64;
            let votes = |k| annotations.labels_of_task(n).filter(|label| label.1 == k).count() as f64;
            match total > 0.0 {
                true => (0..CLASSES).map(|k| votes(k) / total).collect(),
                false => vec![1.0 / CLASSES as f64; CLASSES],
            }
        })
        .collect();
    for _ in 0..rounds {
        let mut counts = [[[0.0; CLASSES]; CLASSES]; WORKERS];
        let (mut right, mut given) = ([0.0; WORKERS], [0.0; WORKERS]);
        let mut mass = [0.0; CLASSES];
        for (n, row) in q.iter().enumerate() {
            for (m, x) in annotations.labels_of_task(n) {
                given[m] += 1.0;
                right[m] += row[x];
                for k in (0..CLASSES).filter(|&k| named(n, k)) {
                    counts[m][x][k] += row[k];
                }
            }
            if annotations.labels_of_task(n).len() > 0 {
                (0..CLASSES).for_each(|k| mass[k] += row[k]);
            }
        }
        let pooled = right.iter().sum::<f64>() / given.iter().sum::<f64>();
        let prior = mass.map(|value| value / mass.iter().sum::<f64>());
        let background = |m: usize, a: usize, k: usize| {
            let accuracy = (right[m] + pooled) / (given[m] + 1.0);
            if a == k {
                accuracy
            } else {
                (1.0 - accuracy) / (CLASSES - 1) as f64
            }
        };
        for (n, row) in q.iter_mut().enumerate() {
            for (k, cell) in row.iter_mut().enumerate() {
                *cell = prior[k];
                for (m, x) in annotations.labels_of_task(n) {
                    let total: f64 = (0..CLASSES).map(|a| counts[m][a][k]).sum();
                    *cell *= match named(n, k) {
                        true => (counts[m][x][k] + strength * background(m, x, k)) / (total + strength),
                        false => background(m, x, k),
                    };
                }
            }
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|cell| *cell /= total);
        }
    }
    q
}

fn assert_rows(consensus: &Consensus, expected: &[f64], tolerance: f64) {
    for (place, (found, expected)) in consensus.as_slice().iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() < tolerance,
            "place {place}: {found} {expected}"
        );
    }
}

#[test]
fn cells_over_a_background_agree_with_dense_tables() {
    for (seed, strength) in [(1, 4.0), (2, 0.5), (3, 30.0)] {
        let annotations = crowd(seed);
        let fit = settings(Some(strength))
            .run(&annotations, &mut Context::new(0))
            .unwrap();
        let twin = dense_twin(&annotations, strength, 40);
        assert_rows(&fit.consensus, &twin.concat(), 1e-10);
    }
}

#[test]
fn without_cells_it_is_one_coin() {
    let annotations = crowd(4);
    let fit = settings(None).run(&annotations, &mut Context::new(0)).unwrap();
    let dense = OneCoin {
        max_iter: 40,
        tol: 0.0,
        flat_prior: false,
    };
    let dense = dense.fit(&annotations, &mut Context::new(0)).unwrap();
    assert!(dense.model.is_some(), "the dense form was run");
    assert_rows(&fit.consensus, dense.consensus.as_slice(), 1e-10);
    for (found, expected) in fit.accuracy.iter().zip(dense.worker_scores.unwrap()) {
        assert!((found - expected).abs() < 1e-10);
    }
    let (found, expected) = (fit.trace.last().unwrap(), dense.trace.last().unwrap());
    assert!((found - expected).abs() < 1e-8, "{found} {expected}");
}

#[test]
fn known_truths_hold_and_teach() {
    let truths = (0..20u32).map(|task| (task, (task % CLASSES as u32) as u16));
    let known = crowd(5).with_gold(truths.clone()).unwrap();
    for strength in [Some(4.0), None] {
        let fit = settings(strength).run(&known, &mut Context::new(0)).unwrap();
        for (task, truth) in truths.clone() {
            assert_eq!(fit.consensus.row(task as usize)[truth as usize], 1.0);
        }
        // These truths have nothing to do with the answers: workers look worse than by their votes.
        let plain = settings(strength).run(&crowd(5), &mut Context::new(0)).unwrap();
        let total = |accuracy: &[f64]| accuracy.iter().sum::<f64>();
        assert!(total(&fit.accuracy) < total(&plain.accuracy) - 0.5);
    }
}

#[test]
fn shares_of_the_classes_hold() {
    let shares = vec![0.6, 0.1, 0.1, 0.1, 0.1];
    let priors = crate::model::Priors {
        classes: Some(ClassPrior::fixed(shares.clone()).unwrap()),
        workers: None,
    };
    let mut context = Context::new(0).with_priors(priors);
    let fit = settings(Some(4.0)).run(&crowd(6), &mut context).unwrap();
    let unlabelled = fit.consensus.row(TASKS - 1);
    for (found, expected) in unlabelled.iter().zip(&shares) {
        assert!((found - expected).abs() < 1e-12);
    }
}

#[test]
fn one_worker_one_class_and_no_labels() {
    let single = Annotations::from_codes(2, 1, 1, [(0, 0, 0)]).unwrap();
    let lone = Annotations::from_codes(3, 2, 4, [(0, 0, 3), (2, 0, 1)]).unwrap();
    for strength in [Some(4.0), None] {
        let fit = settings(strength).run(&single, &mut Context::new(0)).unwrap();
        assert_eq!(fit.consensus.as_slice(), [1.0, 1.0]);
        let fit = settings(strength).run(&lone, &mut Context::new(0)).unwrap();
        assert_eq!((fit.consensus.label(0), fit.consensus.label(2)), (3, 1));
        assert!(fit.consensus.as_slice().iter().all(|q| q.is_finite()));
    }
}
