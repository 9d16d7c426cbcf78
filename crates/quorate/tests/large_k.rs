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

/// As many tasks as classes, each class once, three workers: `auto` learnt shares of the classes from one
/// task each, and in blocks it learnt whole matrices, and was worse than the votes.
#[test]
fn the_default_is_no_worse_than_the_votes_with_a_class_for_every_task() {
    for (classes, crowds) in [(100, 12), (300, 4), (1000, 2)] {
        let [mut found, mut in_blocks, mut votes] = [0.0; 3];
        for seed in 0..crowds {
            let mut rng = seeded(seed, classes as u64);
            let mut labels = Vec::new();
            for task in 0..classes as u32 {
                for worker in 0..3 {
                    let label = if rng.random_bool(0.7) {
                        task as usize
                    } else {
                        rng.random_range(0..classes)
                    };
                    labels.push((task, worker, label as u16));
                }
            }
            let table = Annotations::from_codes(classes, 3, classes, labels).unwrap();
            let truths: Vec<usize> = (0..classes).collect();
            let auto = fit("auto", &table, 4 << 30, 0).unwrap();
            assert!(
                auto.warnings
                    .iter()
                    .any(|warning| warning.contains("left out of the average")),
                "{:?}",
                auto.warnings
            );
            found += error(&auto, &truths);
            votes += error(&fit("majority-vote", &table, 4 << 30, 0).unwrap(), &truths);
            let method = methods::find("auto").unwrap().with_defaults().unwrap();
            let mut blocks = &table;
            let fitted = method.fit_blocks(&mut blocks, &mut Context::new(0)).unwrap();
            let rows = fitted.posteriors(table.as_block());
            let consensus = quorate::model::Consensus::new(classes, rows);
            in_blocks += error(&Fit::direct(consensus), &truths);
        }
        // A tied task is a toss-up: 1 % for the luck of the draw.
        println!(
            "{classes} classes, {crowds} crowds: {found:.3} in all, in blocks {in_blocks:.3}, votes {votes:.3}"
        );
        let most = votes + 0.01 * crowds as f64;
        assert!(found <= most, "{classes} classes: {found}, votes {votes}");
        assert!(
            in_blocks <= most,
            "{classes} classes in blocks: {in_blocks}, votes {votes}"
        );
    }
}

/// One task that ten thousand workers answered took 2.66 GB for pairs of workers with one task in common.
#[test]
fn pairs_of_one_task_with_many_labels_take_little_memory() {
    let labels = (0..10_000u32).map(|worker| (0, worker, (worker % 3) as u16));
    let table = Annotations::from_codes(1, 10_000, 3, labels).unwrap();
    let capped = quorate::internal::statistics::cap_labels(&table, &Context::new(0)).unwrap();
    let kept = capped.annotations.label_count() as u64;
    // 148 bytes a pair at three classes.
    assert!(
        kept * (kept - 1) / 2 * 148 <= 256 << 20,
        "{kept} labels are paired"
    );
    assert!(kept >= 1000 && capped.note.is_some(), "{kept}");
}
