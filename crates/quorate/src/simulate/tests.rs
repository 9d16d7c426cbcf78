//! Whole crowds: what comes out is what was asked for.

use super::*;
use crate::model::posterior;

fn bytes(crowd: &Simulated) -> (u64, Vec<usize>, Vec<u64>) {
    let numbers = crowd.model.prior().iter().chain(crowd.model.confusions());
    (
        crowd.annotations.fingerprint(),
        crowd.truth.clone(),
        numbers.map(|number| number.to_bits()).collect(),
    )
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_seed_others() {
    let settings = Simulation {
        designated: 2,
        missing_pairs: 0.3,
        activity_exponent: 1.0,
        ..Simulation::default()
    };
    let first = settings.run(1).unwrap();
    assert_eq!(bytes(&first), bytes(&settings.run(1).unwrap()));
    let other = settings.run(2).unwrap();
    assert_ne!(bytes(&first).0, bytes(&other).0);
    assert_ne!(first.truth, other.truth);
    assert_ne!(first.model, other.model);
}

#[test]
fn names_count_from_one_and_every_task_is_there() {
    let crowd = Simulation {
        tasks: 12,
        coverage: Coverage::Probability(0.02),
        ..Simulation::default()
    }
    .run(1)
    .unwrap();
    let annotations = &crowd.annotations;
    assert_eq!(
        (annotations.tasks().get(0), annotations.tasks().get(11)),
        ("t1", "t12")
    );
    assert_eq!(
        (annotations.workers().get(0), annotations.workers().get(24)),
        ("w1", "w25")
    );
    assert_eq!(annotations.classes().iter().collect::<Vec<_>>(), ["1", "2", "3"]);
    assert_eq!((annotations.task_count(), crowd.truth.len()), (12, 12));
    assert_eq!(annotations.rows().repeated, 0);
}

#[test]
fn answers_and_truth_have_the_frequencies_of_the_model() {
    let settings = Simulation {
        tasks: 20_000,
        experts: Amount::Number(3),
        adversaries: Amount::Number(3),
        uniform_spammers: Amount::Number(3),
        prior: Prior::Given(vec![0.5, 0.3, 0.2]),
        ..Simulation::default()
    };
    let crowd = settings.run(4).unwrap();
    for (class, &p) in crowd.model.prior().iter().enumerate() {
        let count = crowd.truth.iter().filter(|&&truth| truth == class).count() as f64;
        assert!((count - 20_000.0 * p).abs() < 5.0 * (20_000.0 * p * (1.0 - p)).sqrt());
    }
    let mut cells = vec![0.0; 25 * 9];
    for (task, worker, answer) in crowd.annotations.iter() {
        cells[worker * 9 + answer * 3 + crowd.truth[task]] += 1.0;
    }
    for worker in 0..25 {
        for truth in 0..3 {
            let met: f64 = (0..3).map(|answer| cells[worker * 9 + answer * 3 + truth]).sum();
            for answer in 0..3 {
                let p = crowd.model.probability(worker, answer, truth);
                // 225 cells at five standard deviations; 1 more for cells with hardly any variance.
                let bound = 5.0 * (met * p * (1.0 - p)).sqrt() + 1.0;
                assert!((cells[worker * 9 + answer * 3 + truth] - met * p).abs() < bound);
            }
        }
    }
    // The posterior under the true model is calibrated: its mean confidence is its accuracy. The sum of
    // correct - confidence has variance at most 1/4 a task.
    let (consensus, _) = posterior(&crowd.annotations, &crowd.model);
    let surplus: f64 = (0..20_000)
        .map(|task| {
            f64::from(u8::from(consensus.label(task) == crowd.truth[task])) - consensus.confidence(task)
        })
        .sum();
    assert!(surplus.abs() < 5.0 * (20_000.0f64 / 4.0).sqrt());
}

#[test]
fn adversaries_are_right_less_often_than_chance() {
    let settings = Simulation {
        adversaries: Amount::Number(8),
        ..Simulation::default()
    };
    let crowd = settings.run(6).unwrap();
    for (worker, kind) in crowd.worker_kinds.iter().enumerate() {
        if *kind == WorkerKind::Adversary {
            let labels = crowd.annotations.by_worker().labels(worker);
            let total = labels.len() as f64;
            let right = labels
                .filter(|&(task, answer)| crowd.truth[task] == answer)
                .count() as f64;
            // Right with probability 0.1, some 300 labels: 1/3 is twelve standard deviations away.
            assert!(right / total < 1.0 / 3.0);
        }
    }
}

#[test]
fn labels_per_task_are_exact() {
    for (labels, exponent) in [(1, 0.0), (5, 0.0), (25, 0.0), (5, 1.5), (25, 3.0)] {
        let settings = Simulation {
            tasks: 300,
            coverage: Coverage::PerTask(labels),
            activity_exponent: exponent,
            ..Simulation::default()
        };
        let annotations = settings.run(3).unwrap().annotations;
        assert!((0..300).all(|task| annotations.labels_of_task(task).len() == labels));
        assert_eq!(annotations.rows().repeated, 0);
    }
}

#[test]
fn coverage_and_designated_workers_have_their_density() {
    let settings = Simulation {
        tasks: 5000,
        designated: 2,
        ..Simulation::default()
    };
    let crowd = settings.run(8).unwrap();
    assert_eq!(crowd.designated.len(), 2);
    for (worker, &count) in crowd.annotations.labels_per_worker().iter().enumerate() {
        let p: f64 = if crowd.designated.contains(&worker) {
            0.8
        } else {
            0.3
        };
        assert!((f64::from(count) - 5000.0 * p).abs() < 5.0 * (5000.0 * p * (1.0 - p)).sqrt());
    }
    let on_top = Simulation {
        coverage: Coverage::PerTask(3),
        ..settings
    };
    let crowd = on_top.run(8).unwrap();
    for task in 0..5000 {
        let ordinary = crowd
            .annotations
            .labels_of_task(task)
            .filter(|(worker, _)| !crowd.designated.contains(worker));
        assert_eq!(ordinary.count(), 3);
    }
}

#[test]
fn activity_follows_the_power_law() {
    let settings = Simulation {
        tasks: 20_000,
        workers: 100,
        coverage: Coverage::Probability(0.02),
        activity_exponent: 1.0,
        ..Simulation::default()
    };
    let mut counts = settings.run(5).unwrap().annotations.labels_per_worker();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    // p_r = c / r with mean 0.02: c = 2 / H_100.
    let c = 2.0 / (1..=100).map(|rank| 1.0 / f64::from(rank)).sum::<f64>();
    for rank in [1, 2, 3, 5] {
        let p = c / f64::from(rank);
        let found = f64::from(counts[rank as usize - 1]);
        assert!((found - 20_000.0 * p).abs() < 5.0 * (20_000.0 * p * (1.0 - p)).sqrt());
    }
    let per_task = Simulation {
        coverage: Coverage::PerTask(2),
        ..settings
    };
    let mut counts = per_task.run(5).unwrap().annotations.labels_per_worker();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    assert!(counts[0] > 8 * counts[50]);
}

#[test]
fn pairs_apart_share_no_task_and_the_rest_is_untouched() {
    let settings = Simulation {
        tasks: 3000,
        designated: 2,
        ..Simulation::default()
    };
    let whole = settings.run(9).unwrap();
    let apart = Simulation {
        missing_pairs: 0.5,
        ..settings
    }
    .run(9)
    .unwrap();
    assert_eq!(whole.dropped_labels, 0);
    assert_eq!(whole.missing_pair_share(), 0.0);
    assert_eq!((&whole.truth, &whole.model), (&apart.truth, &apart.model));
    assert_eq!(
        apart.annotations.label_count() + apart.dropped_labels,
        whole.annotations.label_count()
    );
    // Of the 300 pairs, 253 have no designated worker.
    let (share, pairs) = (apart.missing_pair_share(), 253.0);
    assert!(
        (share * 300.0 - pairs / 2.0).abs() < 5.0 * (pairs / 4.0f64).sqrt(),
        "{share}"
    );
    let kept: std::collections::HashSet<_> = whole.annotations.iter().collect();
    assert!(apart.annotations.iter().all(|label| kept.contains(&label)));
}

#[test]
fn changing_one_setting_leaves_the_rest() {
    let settings = Simulation {
        tasks: 400,
        ..Simulation::default()
    };
    let base = settings.run(2).unwrap();
    // Full coverage shows every answer that sparse coverage shows.
    let full = Simulation {
        coverage: Coverage::Probability(1.0),
        ..settings.clone()
    }
    .run(2)
    .unwrap();
    assert_eq!((&base.truth, &base.model), (&full.truth, &full.model));
    let all: std::collections::HashSet<_> = full.annotations.iter().collect();
    assert_eq!(all.len(), 400 * 25);
    assert!(base.annotations.iter().all(|label| all.contains(&label)));
    // More tasks come after the ones that were there.
    let longer = Simulation {
        tasks: 900,
        ..settings.clone()
    }
    .run(2)
    .unwrap();
    let head = longer.annotations.iter().filter(|&(task, _, _)| task < 400);
    assert!(head.eq(base.annotations.iter()));
    // A better expert gives the same labels on the tasks of everyone else.
    let sharp = Simulation {
        epsilon: 0.0,
        ..settings
    }
    .run(2)
    .unwrap();
    let expert = base
        .worker_kinds
        .iter()
        .position(|&kind| kind == WorkerKind::Expert)
        .unwrap();
    let others = |crowd: &Simulated| -> Vec<_> {
        crowd
            .annotations
            .iter()
            .filter(|&(_, worker, _)| worker != expert)
            .collect()
    };
    assert_eq!(others(&base), others(&sharp));
}

#[test]
fn one_worker_one_class_one_task() {
    let crowd = Simulation {
        tasks: 1,
        workers: 1,
        classes: 1,
        coverage: Coverage::PerTask(1),
        missing_pairs: 0.5,
        ..Simulation::default()
    }
    .run(1)
    .unwrap();
    assert_eq!(crowd.annotations.iter().collect::<Vec<_>>(), [(0, 0, 0)]);
    assert_eq!(
        (crowd.truth, crowd.worker_kinds),
        (vec![0], vec![WorkerKind::Expert])
    );
}

#[test]
fn no_label_at_all_is_an_error_that_says_so() {
    let settings = Simulation {
        tasks: 1,
        workers: 1,
        coverage: Coverage::Probability(1e-12),
        ..Simulation::default()
    };
    let message = settings.run(1).unwrap_err().to_string();
    assert!(message.contains("no label was drawn"), "{message}");
}
