//! The sparse form against dense computations of the same formulas.

use rand::RngExt;

use super::strengths::Strengths;
use super::*;
use crate::context::seeded;
use crate::methods::{Aggregate, OneCoin};
use crate::model::ClassPrior;
use crate::model::Consensus;

const TASKS: usize = 60;
const WORKERS: usize = 7;
const CLASSES: usize = 5;

/// A small crowd of mixed quality; the last task has no labels.
fn crowd_of(seed: u64) -> Annotations {
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

fn settings(cells: Option<CellSettings>) -> SparseEm {
    SparseEm {
        max_iter: 40,
        tol: 0.0,
        cells,
        flat_prior: false,
    }
}

const LEARNT: fn() -> CellSettings = || CellSettings::learnt(0.0);

/// The module's formulas with every loop written out: each task by counts made anew over all other tasks.
fn dense_twin(annotations: &Annotations, strengths: Strengths, rounds: usize) -> Vec<Vec<f64>> {
    let named = |n: usize, k: usize| match annotations.gold(n) {
        Some(truth) => truth == k,
        None => annotations.labels_of_task(n).any(|(_, x)| x == k),
    };
    let mut q: Vec<Vec<f64>> = (0..TASKS)
        .map(|n| {
            let total = annotations.labels_of_task(n).count() as f64;
            let votes = |k| annotations.labels_of_task(n).filter(|label| label.1 == k).count() as f64;
            if total > 0.0 {
                (0..CLASSES).map(|k| votes(k) / total).collect()
            } else {
                vec![1.0 / CLASSES as f64; CLASSES]
            }
        })
        .collect();
    let others = (CLASSES - 1) as f64;
    for _ in 0..rounds {
        let labelled = (0..TASKS).filter(|&n| annotations.labels_of_task(n).len() > 0);
        let mut mass = [0.0; CLASSES];
        labelled.for_each(|n| (0..CLASSES).for_each(|k| mass[k] += q[n][k]));
        let prior = mass.map(|value| value / mass.iter().sum::<f64>());
        let (mut all_right, mut all) = (0.0, 0.0);
        for (n, _, x) in annotations.iter() {
            all_right += q[n][x];
            all += 1.0;
        }
        let pooled = all_right / all;
        let mut next = q.clone();
        for (left_out, row) in next.iter_mut().enumerate() {
            let mut counts = [[[0.0; CLASSES]; CLASSES]; WORKERS];
            let mut crowd = [[0.0; CLASSES]; CLASSES];
            let (mut right, mut given) = ([0.0; WORKERS], [0.0; WORKERS]);
            for (n, other) in q.iter().enumerate().filter(|(n, _)| *n != left_out) {
                for (m, x) in annotations.labels_of_task(n) {
                    given[m] += 1.0;
                    right[m] += other[x];
                    for k in (0..CLASSES).filter(|&k| named(n, k)) {
                        counts[m][x][k] += other[k];
                        crowd[x][k] += if x == k { 0.0 } else { other[k] };
                    }
                }
            }
            for (k, cell) in row.iter_mut().enumerate() {
                *cell = prior[k];
                for (m, x) in annotations.labels_of_task(left_out) {
                    let accuracy = (right[m] + pooled) / (given[m] + 1.0);
                    let errors: f64 = (0..CLASSES).map(|a| crowd[a][k]).sum();
                    let share = (crowd[x][k] + strengths.crowd / others) / (errors + strengths.crowd);
                    let background = if x == k {
                        accuracy
                    } else {
                        (1.0 - accuracy) * share
                    };
                    let total: f64 = (0..CLASSES).map(|a| counts[m][a][k]).sum();
                    *cell *= if named(left_out, k) {
                        (counts[m][x][k] + strengths.worker * background) / (total + strengths.worker)
                    } else {
                        (1.0 - accuracy) / others
                    };
                }
            }
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|cell| *cell /= total);
        }
        q = next;
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
fn counts_without_the_task_agree_with_counts_made_anew() {
    for (seed, worker, crowd) in [(1, 4.0, 8.0), (2, 0.5, 1.0), (3, 30.0, 1e6)] {
        let annotations = crowd_of(seed);
        let strengths = Strengths { worker, crowd };
        let fit = settings(Some(CellSettings::fixed(strengths)))
            .run(&annotations, &mut Context::new(0))
            .unwrap();
        let twin = dense_twin(&annotations, strengths, 40);
        assert_rows(&fit.consensus, &twin.concat(), 1e-9);
    }
}

/// Four labels a task by 40 workers that are right 4 to 8 times in ten; `wrong(rng, truth)` is how they err.
fn many_classes(wrong: impl Fn(&mut chacha20::ChaCha8Rng, u16) -> u16) -> (Annotations, Vec<u16>) {
    const MANY: u16 = 200;
    let mut rng = seeded(9, 0);
    let truths: Vec<u16> = (0..3000).map(|_| rng.random_range(0..MANY)).collect();
    let mut labels = Vec::new();
    for (task, &truth) in truths.iter().enumerate() {
        let first = rng.random_range(0..40);
        for worker in (0..4).map(|step| (first + 7 * step) % 40) {
            let label = if rng.random_bool(0.4 + 0.01 * f64::from(worker)) {
                truth
            } else {
                wrong(&mut rng, truth) % MANY
            };
            labels.push((task as u32, worker, label));
        }
    }
    let annotations = Annotations::from_codes(truths.len(), 40, usize::from(MANY), labels).unwrap();
    (annotations, truths)
}

#[test]
fn confidence_is_near_the_truth_with_few_labels_a_class() {
    let (annotations, truths) = many_classes(|rng, truth| truth + rng.random_range(1..200u16));
    let fit = settings(Some(LEARNT()))
        .run(&annotations, &mut Context::new(0))
        .unwrap();
    let tasks = truths.len();
    let wrong = (0..tasks).filter(|&task| fit.consensus.label(task) != usize::from(truths[task]));
    let error = wrong.count() as f64 / tasks as f64;
    let doubt: f64 = (0..tasks).map(|task| 1.0 - fit.consensus.confidence(task)).sum();
    let said = doubt / tasks as f64;
    assert!(error > 0.05, "{error}");
    // Three standard errors of a share of 3000 tasks are below 0.02.
    assert!((said - error).abs() < 0.02, "says {said}, is {error}");
}

#[test]
fn errors_that_the_crowd_shares_are_learnt() {
    let (annotations, truths) = many_classes(|rng, truth| truth + rng.random_range(1..3u16));
    let error = |cells| {
        let fit = settings(cells).run(&annotations, &mut Context::new(0)).unwrap();
        let wrong = (0..truths.len()).filter(|&task| fit.consensus.label(task) != usize::from(truths[task]));
        wrong.count()
    };
    let (learnt, coin) = (error(Some(LEARNT())), error(None));
    assert!(learnt * 10 < coin * 9, "{learnt} {coin}");
}

#[test]
fn without_cells_it_is_one_coin() {
    let annotations = crowd_of(4);
    let fit = settings(None).run(&annotations, &mut Context::new(0)).unwrap();
    let dense = OneCoin::default().max_iter(40).tol(0.0);
    let dense = dense.fit(&annotations, &mut Context::new(0)).unwrap();
    assert!(dense.model.is_some(), "the dense form was run");
    assert_rows(&fit.consensus, dense.consensus.as_slice(), 1e-10);
    for (found, expected) in fit
        .worker_scores
        .iter()
        .flatten()
        .zip(dense.worker_scores.unwrap())
    {
        assert!((found - expected).abs() < 1e-10);
    }
    let (found, expected) = (fit.trace.last().unwrap(), dense.trace.last().unwrap());
    assert!((found - expected).abs() < 1e-8, "{found} {expected}");
}

#[test]
fn known_truths_hold_and_teach() {
    let truths = (0..20u32).map(|task| (task, (task % CLASSES as u32) as u16));
    let known = crowd_of(5).with_gold(truths.clone()).unwrap();
    for strength in [Some(LEARNT()), None] {
        let fit = settings(strength).run(&known, &mut Context::new(0)).unwrap();
        for (task, truth) in truths.clone() {
            assert_eq!(fit.consensus.row(task as usize)[truth as usize], 1.0);
        }
        // These truths have nothing to do with the answers: workers look worse than by their votes.
        let plain = settings(strength)
            .run(&crowd_of(5), &mut Context::new(0))
            .unwrap();
        let total = |accuracy: &[f64]| accuracy.iter().sum::<f64>();
        assert!(total(&fit.worker_scores.unwrap()) < total(&plain.worker_scores.unwrap()) - 0.5);
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
    let fit = settings(Some(LEARNT())).run(&crowd_of(6), &mut context).unwrap();
    let unlabelled = fit.consensus.row(TASKS - 1);
    for (found, expected) in unlabelled.iter().zip(&shares) {
        assert!((found - expected).abs() < 1e-12);
    }
}

#[test]
fn one_worker_one_class_and_no_labels() {
    let single = Annotations::from_codes(2, 1, 1, [(0, 0, 0)]).unwrap();
    let lone = Annotations::from_codes(3, 2, 4, [(0, 0, 3), (2, 0, 1)]).unwrap();
    for strength in [Some(LEARNT()), None] {
        let fit = settings(strength).run(&single, &mut Context::new(0)).unwrap();
        assert_eq!(fit.consensus.as_slice(), [1.0, 1.0]);
        let fit = settings(strength).run(&lone, &mut Context::new(0)).unwrap();
        assert_eq!((fit.consensus.label(0), fit.consensus.label(2)), (3, 1));
        assert!(fit.consensus.as_slice().iter().all(|q| q.is_finite()));
    }
}
