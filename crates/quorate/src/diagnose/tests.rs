//! Crowds with planted problems: each is found, named exactly, and nothing else.

use super::*;
use crate::aggregate;
use crate::context::seeded;
use crate::simulate::{Amount, Coverage, Prior, Quality, Simulation, WorkerKind};
use rand::RngExt;

fn clean() -> Simulation {
    Simulation {
        tasks: 800,
        workers: 25,
        classes: 3,
        prior: Prior::Given(vec![0.4, 0.35, 0.25]),
        quality: Quality::Accuracy {
            lowest: 0.65,
            highest: 0.9,
            concentration: 1.0,
        },
        experts: Amount::Number(3),
        coverage: Coverage::PerTask(7),
        ..Simulation::default()
    }
}

/// The kinds that name workers.
const WORKER_KINDS: [FindingKind; 5] = [
    FindingKind::Disconnected,
    FindingKind::SameErrors,
    FindingKind::Adversaries,
    FindingKind::Spammers,
    FindingKind::OneSided,
];

/// The flagged workers of each kind, by number.
fn flagged(annotations: &Annotations) -> Vec<(FindingKind, Vec<String>)> {
    let settings = Inspect {
        agreement: AgreementSettings {
            replicates: 0,
            max_pairs: 0,
            ..AgreementSettings::default()
        },
        ..Inspect::default()
    };
    let inspection = settings
        .run(
            annotations,
            &aggregate(annotations).unwrap(),
            &mut Context::new(0),
        )
        .unwrap();
    let mut found: Vec<_> = inspection
        .findings
        .into_iter()
        .filter(|finding| WORKER_KINDS.contains(&finding.kind))
        .map(|finding| {
            let mut workers = finding.workers;
            workers.sort_by_key(|name| name[1..].parse::<usize>().unwrap());
            (finding.kind, workers)
        })
        .collect();
    found.sort();
    found
}

/// The table with answers changed by `change(task, worker, answer)`.
fn changed(annotations: &Annotations, mut change: impl FnMut(usize, usize, usize) -> usize) -> Annotations {
    let labels: Vec<_> = annotations
        .iter()
        .map(|(task, worker, answer)| (task as u32, worker as u32, change(task, worker, answer) as u16))
        .collect();
    Annotations::from_named_codes(
        annotations.tasks().clone(),
        annotations.workers().clone(),
        annotations.classes().clone(),
        labels,
    )
    .unwrap()
}

fn names(codes: impl IntoIterator<Item = usize>) -> Vec<String> {
    codes.into_iter().map(|code| format!("w{}", code + 1)).collect()
}

/// Prints what share of clean crowds raise an alarm; run with --nocapture to see it.
#[test]
fn clean_crowds_raise_no_alarm() {
    let mut alarms = Vec::new();
    let mut runs = 0;
    for seed in 0..20 {
        for classes in [2, 3, 5] {
            let settings = Simulation {
                classes,
                prior: Prior::Uniform,
                ..clean()
            };
            let crowd = settings.run(seed).unwrap();
            runs += 1;
            alarms.extend(
                flagged(&crowd.annotations)
                    .into_iter()
                    .map(|found| (seed, classes, found)),
            );
        }
    }
    println!("{} alarms in {runs} clean crowds: {alarms:?}", alarms.len());
    // Four kinds of tests at a level of 1 % each: 2.4 expected of 60 at most.
    assert!(alarms.len() <= 2, "{alarms:?}");
}

#[test]
fn a_copying_pair() {
    for (seed, coverage) in (0..8)
        .flat_map(|seed| [Coverage::PerTask(7), Coverage::Probability(0.3)].map(|coverage| (seed, coverage)))
    {
        let crowd = Simulation { coverage, ..clean() }.run(seed).unwrap();
        let annotations = &crowd.annotations;
        // About 60 shared tasks; who is right in nine of ten leaves too few errors to copy, so the source is
        // a worker who errs in one of five or more.
        let ordinary = (0..25).filter(|&worker| crowd.worker_kinds[worker] == WorkerKind::Ordinary);
        let from = ordinary
            .clone()
            .find(|&worker| crowd.model.accuracy(worker) < 0.8)
            .unwrap();
        let to = ordinary.clone().find(|&worker| worker != from).unwrap();
        let mut rng = seeded(seed, 77);
        let copied = changed(annotations, |task, worker, answer| {
            let source = annotations.labels_of_task(task).find(|&(other, _)| other == from);
            match source {
                Some((_, theirs)) if worker == to && rng.random::<f64>() < 0.9 => theirs,
                _ => answer,
            }
        });
        let pair = names([from.min(to), from.max(to)]);
        assert_eq!(
            flagged(&copied),
            [(FindingKind::SameErrors, pair)],
            "seed {seed} {coverage:?}"
        );
    }
}

#[test]
fn a_spammer_ring() {
    for seed in 0..8 {
        let settings = Simulation {
            experts: Amount::Number(2),
            ..clean()
        };
        let crowd = settings.run(seed).unwrap();
        let ring = [3, 8, 11, 19];
        let answer_of = |task: usize| seeded(seed, 1000 + task as u64).random_range(0..3);
        let ringed = changed(&crowd.annotations, |task, worker, answer| {
            if ring.contains(&worker) {
                answer_of(task)
            } else {
                answer
            }
        });
        let expected = names(ring);
        assert_eq!(
            flagged(&ringed),
            [
                (FindingKind::SameErrors, expected.clone()),
                (FindingKind::Spammers, expected)
            ],
            "seed {seed}"
        );
    }
}

/// Every error of two classes is the same error: here agreement beyond the truth gives the ring away.
#[test]
fn a_ring_of_two_classes() {
    for seed in 0..8 {
        let settings = Simulation {
            classes: 2,
            prior: Prior::Uniform,
            ..clean()
        };
        let crowd = settings.run(seed).unwrap();
        let ring = [3, 8, 11, 19];
        let answer_of = |task: usize| seeded(seed, 1000 + task as u64).random_range(0..2);
        let ringed = changed(&crowd.annotations, |task, worker, answer| {
            if ring.contains(&worker) {
                answer_of(task)
            } else {
                answer
            }
        });
        let found = flagged(&ringed);
        let groups: Vec<_> = found
            .iter()
            .filter(|(kind, _)| *kind == FindingKind::SameErrors)
            .collect();
        assert_eq!(groups, [&(FindingKind::SameErrors, names(ring))], "seed {seed}");
    }
}

/// A third of the tasks is hard for everyone, towards the same wrong class: no one copies.
#[test]
fn hard_tasks_are_no_copies() {
    for seed in 0..8 {
        let crowd = clean().run(seed).unwrap();
        let mut rng = seeded(seed, 78);
        let hard = changed(&crowd.annotations, |task, _, answer| {
            let lured = task % 3 == 0 && rng.random::<f64>() < 0.35;
            if lured {
                (crowd.truth[task] + 1) % 3
            } else {
                answer
            }
        });
        let found = flagged(&hard);
        assert!(
            found.iter().all(|(kind, _)| *kind != FindingKind::SameErrors),
            "seed {seed}: {found:?}"
        );
    }
}

#[test]
fn an_adversary_a_spammer_and_a_constant() {
    for seed in 0..8 {
        let settings = Simulation {
            adversaries: Amount::Number(1),
            uniform_spammers: Amount::Number(1),
            constant_spammers: Amount::Number(1),
            ..clean()
        };
        let crowd = settings.run(seed).unwrap();
        let of = |wanted: fn(&WorkerKind) -> bool| {
            names((0..25).filter(|&worker| wanted(&crowd.worker_kinds[worker])))
        };
        assert_eq!(
            flagged(&crowd.annotations),
            [
                (
                    FindingKind::Adversaries,
                    of(|kind| *kind == WorkerKind::Adversary)
                ),
                (
                    FindingKind::Spammers,
                    of(|kind| *kind == WorkerKind::UniformSpammer)
                ),
                (
                    FindingKind::OneSided,
                    of(|kind| matches!(kind, WorkerKind::ConstantSpammer { .. }))
                ),
            ],
            "seed {seed}"
        );
    }
}

/// The crowd of the README: 62 labels a worker, a fifth of the workers answer at random.
fn readme_crowd() -> Simulation {
    Simulation {
        tasks: 500,
        workers: 40,
        quality: Quality::Accuracy {
            lowest: 0.5,
            highest: 0.9,
            concentration: 1.0,
        },
        coverage: Coverage::PerTask(5),
        uniform_spammers: Amount::Number(8),
        ..Simulation::default()
    }
}

/// Spammers flagged in ten crowds of the README, other workers flagged, and those of them who are useful: at
/// least two thirds as much of their answers follows the truth as of the typical worker's.
fn flagged_in_readme_crowds(level: f64) -> (usize, usize, usize) {
    let (mut found, mut others, mut useful) = (0, 0, 0);
    for seed in 0..10 {
        let crowd = readme_crowd().run(seed).unwrap();
        let share = |worker: usize| {
            let right = (0..3).map(|class| crowd.model.probability(worker, class, class));
            (right.sum::<f64>() - 1.0) / 2.0
        };
        let mut shares: Vec<f64> = (0..40).map(share).collect();
        shares.sort_by(f64::total_cmp);
        let inspect = Inspect {
            false_discovery_rate: level,
            ..Inspect::default()
        };
        let verdicts = inspect
            .judge_workers(
                &crowd.annotations,
                &aggregate(&crowd.annotations).unwrap(),
                &mut Context::new(0),
            )
            .unwrap();
        let spammers = verdicts
            .iter()
            .filter(|verdict| verdict.kind == WorkerVerdictKind::Spammer);
        for worker in spammers.map(|verdict| verdict.worker) {
            match crowd.worker_kinds[worker] {
                WorkerKind::UniformSpammer => found += 1,
                _ => others += 1,
            }
            useful += usize::from(share(worker) >= 2.0 / 3.0 * shares[20]);
        }
    }
    println!("level {level}: {found} of 80 spammers, {others} of 320 others, {useful} of them useful");
    (found, others, useful)
}

#[test]
fn spammers_of_the_readme_crowd_are_found_and_useful_workers_are_not_called_spammers() {
    // At 1 % about half of them: with some sixty labels each, and others who are wrong on a fifth of the
    // tasks, weak workers and spammers overlap.
    let (found, others, _) = flagged_in_readme_crowds(0.01);
    assert!(found >= 32, "{found} of 80 found");
    assert!(100 * others <= found, "{others} others");
    let (found, others, useful) = flagged_in_readme_crowds(0.05);
    assert!(found >= 60, "{found} of 80 found");
    assert!(20 * useful <= found + others, "{useful} useful workers");
}

#[test]
fn verdicts_are_worst_first_and_name_every_worker_once() {
    let settings = Simulation {
        adversaries: Amount::Number(1),
        uniform_spammers: Amount::Number(1),
        constant_spammers: Amount::Number(1),
        ..clean()
    };
    let crowd = settings.run(3).unwrap();
    let verdicts = Inspect::default()
        .judge_workers(
            &crowd.annotations,
            &aggregate(&crowd.annotations).unwrap(),
            &mut Context::new(0),
        )
        .unwrap();
    let kinds: Vec<WorkerVerdictKind> = verdicts.iter().map(|verdict| verdict.kind).collect();
    assert!(kinds.is_sorted(), "{kinds:?}");
    assert_eq!(
        kinds[..3],
        [
            WorkerVerdictKind::Adversary,
            WorkerVerdictKind::Spammer,
            WorkerVerdictKind::OneSided
        ]
    );
    let ranks: Vec<usize> = verdicts.iter().map(|verdict| verdict.rank).collect();
    assert_eq!(ranks, (1..=25).collect::<Vec<_>>());
    let mut workers: Vec<usize> = verdicts.iter().map(|verdict| verdict.worker).collect();
    workers.sort_unstable();
    assert_eq!(workers, (0..25).collect::<Vec<_>>());
    for verdict in &verdicts {
        let (low, high) = verdict.interval.unwrap();
        let accuracy = verdict.accuracy.unwrap();
        assert!(low <= accuracy && accuracy <= high);
    }
    // The same in an inspection.
    let inspection = Inspect::default()
        .run(
            &crowd.annotations,
            &aggregate(&crowd.annotations).unwrap(),
            &mut Context::new(0),
        )
        .unwrap();
    assert_eq!(inspection.verdicts, verdicts);
}

#[test]
fn one_worker_and_one_class_give_no_verdict() {
    for (workers, classes) in [(1, 2), (3, 1)] {
        let labels = (0..30u32).map(|label| (label % 10, label / 10 % workers, 0));
        let mut labels: Vec<_> = labels.collect();
        labels.sort_unstable();
        labels.dedup();
        let table = Annotations::from_codes(10, workers as usize, classes, labels).unwrap();
        let verdicts = Inspect::default()
            .judge_workers(&table, &aggregate(&table).unwrap(), &mut Context::new(0))
            .unwrap();
        let inspection = Inspect::default()
            .run(&table, &aggregate(&table).unwrap(), &mut Context::new(0))
            .unwrap();
        assert_eq!(inspection.verdicts, verdicts);
        assert_eq!(verdicts.len(), workers as usize);
        let unsaid = |verdict: &WorkerVerdict| verdict.kind == WorkerVerdictKind::TooFewLabels;
        assert!(verdicts.iter().all(unsaid), "{verdicts:?}");
    }
}

/// Six unanimous tasks: nobody gave a class five times, and nobody is said to be right in 0 % of the cases.
#[test]
fn six_unanimous_tasks_say_nothing_of_nobody() {
    let labels = (0..18u32).map(|label| (label / 3, label % 3, u16::from(label / 3 >= 3)));
    let table = Annotations::from_codes(6, 3, 2, labels).unwrap();
    let inspection = Inspect::default()
        .run(&table, &aggregate(&table).unwrap(), &mut Context::new(0))
        .unwrap();
    let said: Vec<String> = inspection
        .findings
        .into_iter()
        .map(|finding| finding.sentence)
        .collect();
    assert!(
        said.iter().all(|sentence| !sentence.contains("only 0 %")),
        "{said:?}"
    );
}

#[test]
fn two_crowds_apart() {
    let (one, two) = (
        clean().run(1).unwrap().annotations,
        clean().run(2).unwrap().annotations,
    );
    let labels = one
        .iter()
        .map(|(task, worker, label)| (task as u32, worker as u32, label as u16))
        .chain(
            two.iter()
                .filter(|(task, _, _)| *task < 400)
                .map(|(task, worker, label)| (task as u32 + 800, worker as u32 + 25, label as u16)),
        );
    let both = Annotations::from_codes(1200, 50, 3, labels).unwrap();
    let apart: Vec<String> = (25..50).map(|code| format!("w{code}")).collect();
    assert_eq!(flagged(&both), [(FindingKind::Disconnected, apart)]);
}

#[test]
fn specialists_are_missed_where_there_are_none() {
    let inspect = |settings: Simulation, seed| {
        let crowd = settings.run(seed).unwrap().annotations;
        let found = Inspect::default()
            .run(&crowd, &aggregate(&crowd).unwrap(), &mut Context::new(0))
            .unwrap();
        let mut kinds = found
            .findings
            .into_iter()
            .filter(|finding| finding.kind == FindingKind::NoSpecialist);
        kinds.next().map_or(Vec::new(), |finding| finding.classes)
    };
    for seed in 0..4 {
        assert!(inspect(clean(), seed).is_empty());
        let poor = Simulation {
            experts: Amount::Number(0),
            quality: Quality::Accuracy {
                lowest: 0.5,
                highest: 0.6,
                concentration: 10.0,
            },
            prior: Prior::Uniform,
            ..clean()
        };
        assert_eq!(inspect(poor, seed), ["1", "2", "3"]);
    }
}

#[test]
fn the_spectrum_shows_the_classes() {
    for (classes, seed) in [(2, 1), (3, 2), (5, 3)] {
        let crowd = Simulation {
            classes,
            prior: Prior::Uniform,
            ..clean()
        }
        .run(seed)
        .unwrap();
        let found = spectrum::spectrum(&crowd.annotations, &mut Context::new(0))
            .unwrap()
            .unwrap();
        assert_eq!(found.shown, classes);
        assert!(found.values[classes] < found.chance * 1.1, "{found:?}");
    }
    let noise = Simulation {
        uniform_spammers: Amount::Number(25),
        experts: Amount::Number(0),
        ..clean()
    };
    let found = spectrum::spectrum(&noise.run(4).unwrap().annotations, &mut Context::new(0))
        .unwrap()
        .unwrap();
    assert_eq!(found.shown, 1);
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let settings = Simulation {
        adversaries: Amount::Number(1),
        uniform_spammers: Amount::Number(1),
        ..clean()
    };
    let crowd = settings.run(11).unwrap().annotations;
    let mut rows: Vec<_> = crowd.iter().collect();
    rows.reverse();
    let mut builder = crate::AnnotationsBuilder::default();
    for (task, worker, label) in rows {
        let (tasks, workers, classes) = (crowd.tasks(), crowd.workers(), crowd.classes());
        builder
            .push(tasks.get(task), workers.get(worker), classes.get(label))
            .unwrap();
    }
    let turned = builder.build().unwrap();
    assert_ne!(turned.workers().get(0), crowd.workers().get(0));
    assert_eq!(flagged(&turned), flagged(&crowd));
}

#[test]
fn too_many_classes_for_the_memory_are_said() {
    let crowd = clean().run(5).unwrap().annotations;
    let mut small = Context::new(0).with_memory_limit(1000);
    let inspection = Inspect::default()
        .run(&crowd, &aggregate(&crowd).unwrap(), &mut small)
        .unwrap();
    assert!(inspection.structure.is_none());
    assert!(
        inspection
            .findings
            .iter()
            .any(|finding| finding.kind == FindingKind::NotExamined)
    );
}

#[test]
fn threads_do_not_matter_and_small_tables_do_not_break() {
    let crowd = clean().run(5).unwrap().annotations;
    let run = |table: &Annotations, threads| {
        let mut context = Context::new(3).with_threads(threads).unwrap();
        Inspect::default()
            .run(table, &aggregate(table).unwrap(), &mut context)
            .unwrap()
    };
    assert_eq!(run(&crowd, 1), run(&crowd, 3));
    let one_class = Annotations::from_codes(1, 2, 1, [(0, 0, 0), (0, 1, 0)]).unwrap();
    assert_eq!(run(&one_class, 1).findings[0].kind, FindingKind::OneClass);
    let one_label = Annotations::from_codes(1, 1, 2, [(0, 0, 0)]).unwrap();
    assert!(!run(&one_label, 1).findings.is_empty());
    let empty_tasks = Annotations::from_codes(5, 3, 2, [(0, 0, 0), (0, 1, 1), (3, 1, 0)]).unwrap();
    assert!(
        run(&empty_tasks, 1)
            .findings
            .iter()
            .any(|finding| finding.kind == FindingKind::ThinTasks)
    );
}

#[test]
fn a_task_with_very_many_labels_is_left_out_of_the_pairs_and_that_is_said() {
    let crowded = (0..1500u32).map(|worker| (0, worker, u16::from(worker % 3 == 0)));
    let usual = (1..60u32).flat_map(|task| (0..5u32).map(move |worker| (task, worker, (task % 2) as u16)));
    let annotations = Annotations::from_codes(60, 1500, 2, crowded.chain(usual)).unwrap();
    let inspection = Inspect::default()
        .run(
            &annotations,
            &aggregate(&annotations).unwrap(),
            &mut Context::new(1),
        )
        .unwrap();
    let said = inspection.findings.iter().any(|finding| {
        finding
            .sentence
            .starts_with("One task with more than 1000 labels")
    });
    assert!(said, "{:?}", inspection.findings);
}
