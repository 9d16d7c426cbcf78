//! `task-effects` on simulated crowds whose effects are known.

use quorate::internal::seeded;
use quorate::methods::{Aggregate, DawidSkeneEm, Fit, TaskEffects};
use quorate::{Annotations, Context};
use rand::{Rng, RngExt};

fn fit(annotations: &Annotations) -> Fit {
    TaskEffects::default()
        .fit(annotations, &mut Context::new(0))
        .unwrap()
}

/// Standard normal (Box and Muller).
fn normal(rng: &mut impl Rng) -> f64 {
    let (u, angle): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// A crowd drawn from the model.
struct Crowd {
    annotations: Annotations,
    truth: Vec<usize>,
    abilities: Vec<f64>,
    /// `[worker][answer]`.
    biases: Vec<f64>,
}

/// Standard deviations of abilities and favourite labels.
const ABILITY: f64 = 0.8;
const BIAS: f64 = 0.4;

/// 500 tasks with 20 labels each of 40 workers, three classes; log-odds 1.2 of a right answer.
fn draw_crowd(effect: f64, seed: u64) -> Crowd {
    const TASKS: usize = 500;
    const WORKERS: usize = 40;
    const CLASSES: usize = 3;
    const LABELS: usize = 20;
    let mut rng = seeded(seed, 0);
    let abilities: Vec<f64> = (0..WORKERS).map(|_| ABILITY * normal(&mut rng)).collect();
    let biases: Vec<f64> = (0..WORKERS * CLASSES).map(|_| BIAS * normal(&mut rng)).collect();
    let (mut truth, mut labels) = (Vec::new(), Vec::new());
    for task in 0..TASKS {
        let class = rng.random_range(0..CLASSES);
        truth.push(class);
        let tau: Vec<f64> = (0..CLASSES).map(|_| effect * normal(&mut rng)).collect();
        let first = rng.random_range(0..WORKERS);
        for worker in (first..first + LABELS).map(|worker| worker * 7 % WORKERS) {
            let weight = |answer: usize| {
                let right = if answer == class {
                    1.2 + abilities[worker]
                } else {
                    0.0
                };
                (right + biases[worker * CLASSES + answer] + tau[answer]).exp()
            };
            let mut rest = rng.random::<f64>() * (0..CLASSES).map(weight).sum::<f64>();
            let answer = (0..CLASSES - 1)
                .find(|&answer| {
                    rest -= weight(answer);
                    rest < 0.0
                })
                .unwrap_or(CLASSES - 1);
            labels.push((task as u32, worker as u32, answer as u16));
        }
    }
    let annotations = Annotations::from_codes(TASKS, WORKERS, CLASSES, labels).unwrap();
    Crowd {
        annotations,
        truth,
        abilities,
        biases,
    }
}

fn errors(fit: &Fit, truth: &[usize]) -> usize {
    let labels = fit.consensus.labels();
    labels.iter().zip(truth).filter(|(a, b)| a != b).count()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (a_mean, b_mean) = (mean(a), mean(b));
    let product = |x: &[f64], x_mean: f64, y: &[f64], y_mean: f64| {
        let pairs = x.iter().zip(y);
        pairs.map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>()
    };
    let (aa, bb) = (product(a, a_mean, a, a_mean), product(b, b_mean, b, b_mean));
    product(a, a_mean, b, b_mean) / (aa * bb).sqrt()
}

/// The number that follows a phrase in the note on sizes.
fn size(fit: &Fit, before: &str) -> f64 {
    let note = fit.notes.iter().find(|note| note.contains("log-odds")).unwrap();
    let rest = &note[note.find(before).unwrap() + before.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap();
    rest[..end].parse().unwrap()
}

#[test]
fn effects_of_tasks_and_workers_are_recovered() {
    let (mut ours, mut independent) = (0, 0);
    for seed in 0..5 {
        let crowd = draw_crowd(0.5, seed);
        let fit = fit(&crowd.annotations);
        // Written for the contrast of two answers, sqrt(2) s; 500 tasks with 20 labels tell it to about a
        // tenth, and the Laplace approximation errs by as much again.
        let effect = size(&fit, "right answer ") / 2f64.sqrt();
        assert!((effect - 0.5).abs() < 0.12, "seed {seed}: s = {effect}");
        // 40 abilities tell their standard deviation to a ninth; three standard errors.
        let ability = size(&fit, "ability ");
        assert!((ability - ABILITY).abs() < 0.3, "seed {seed}: va = {ability}");
        let model = fit.model.as_ref().unwrap();
        let log_odds = |worker: usize, a: usize, b: usize, truth: usize| {
            (model.probability(worker, a, truth) / model.probability(worker, b, truth)).ln()
        };
        let found: Vec<f64> = (0..40)
            .map(|worker| (0..3).map(|k| log_odds(worker, k, (k + 1) % 3, k)).sum::<f64>() / 3.0)
            .collect();
        let shared = correlation(&found, &crowd.abilities);
        assert!(shared > 0.9, "seed {seed}: abilities correlate by {shared}");
        // A favourite label shows in the log-odds of two answers that are both wrong.
        let found: Vec<f64> = (0..40).map(|worker| log_odds(worker, 0, 1, 2)).collect();
        let drawn: Vec<f64> = crowd.biases.chunks(3).map(|bias| bias[0] - bias[1]).collect();
        let shared = correlation(&found, &drawn);
        assert!(
            shared > 0.7,
            "seed {seed}: favourite labels correlate by {shared}"
        );
        ours += errors(&fit, &crowd.truth);
        let plain = DawidSkeneEm::default()
            .fit(&crowd.annotations, &mut Context::new(0))
            .unwrap();
        independent += errors(&plain, &crowd.truth);
    }
    assert!(ours <= independent, "{ours} errors, dawid-skene {independent}");
}

#[test]
fn a_crowd_without_task_effects_loses_nothing() {
    let (mut ours, mut independent) = (0, 0);
    for seed in 10..15 {
        let crowd = draw_crowd(0.0, seed);
        let found = fit(&crowd.annotations);
        ours += errors(&found, &crowd.truth);
        let plain = DawidSkeneEm::default()
            .fit(&crowd.annotations, &mut Context::new(0))
            .unwrap();
        independent += errors(&plain, &crowd.truth);
        // The size falls round by round: with enough of them to its floor, sqrt(2) 0.02 for a contrast.
        let longer = TaskEffects::default().max_iter(1000).tol(0.0);
        let longer = longer.fit(&crowd.annotations, &mut Context::new(0)).unwrap();
        let (early, late) = (size(&found, "right answer "), size(&longer, "right answer "));
        assert!(
            early < 0.5 * ABILITY && late < 0.1 * ABILITY,
            "seed {seed}: {early}, {late}"
        );
    }
    // Of 2500 tasks; two standard deviations of the difference of paired errors.
    assert!(
        ours <= independent + 10,
        "{ours} errors, dawid-skene {independent}"
    );
}

#[test]
fn tasks_that_workers_get_wrong_are_the_difficult_ones() {
    let crowd = draw_crowd(0.6, 3);
    let fit = fit(&crowd.annotations);
    let difficulty = fit.task_difficulty.unwrap();
    assert!(difficulty.iter().all(|chance| (0.0..=1.0).contains(chance)));
    let wrong = |task: usize| {
        let (_, answers) = crowd.annotations.task_slices(task);
        let wrong = answers
            .iter()
            .filter(|&&answer| answer as usize != crowd.truth[task]);
        wrong.count() as f64 / answers.len() as f64
    };
    let wrong: Vec<f64> = (0..crowd.truth.len()).map(wrong).collect();
    let shared = correlation(&difficulty, &wrong);
    assert!(
        shared > 0.6,
        "difficulty and share of wrong answers correlate by {shared}"
    );
}
