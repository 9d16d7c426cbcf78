//! Small crowds made of rows, and fits by the name of a method.

use std::collections::HashMap;

use quorate::internal::seeded;
use quorate::methods::{Fit, Method, vote_fractions};
use quorate::model::{AnswerCounts, count_answers};
use quorate::{Annotations, AnnotationsBuilder, Consensus, Context, TaskProbabilities};
use rand::RngExt;

/// Rows of a small crowd of `workers` with `classes` classes: accuracies from 0.5 to 0.95, each task labelled
/// with probability `density` by each worker, at least by one.
pub fn crowd(
    tasks: usize,
    workers: usize,
    classes: usize,
    density: f64,
    seed: u64,
) -> Vec<(String, String, String)> {
    let mut rng = seeded(seed, 0);
    let mut rows = Vec::new();
    for task in 0..tasks {
        let truth = rng.random_range(0..classes);
        for worker in 0..workers {
            let accuracy = 0.5 + 0.45 * worker as f64 / workers as f64;
            let (keep, right, other): (f64, f64, usize) =
                (rng.random(), rng.random(), rng.random_range(0..classes));
            if keep < density || worker == task % workers {
                let label = if right < accuracy { truth } else { other };
                rows.push((
                    format!("task {task}"),
                    format!("worker {worker}"),
                    format!("class {label}"),
                ));
            }
        }
    }
    rows
}

/// The table of these rows.
pub fn table(rows: &[(String, String, String)]) -> Annotations {
    let mut builder = AnnotationsBuilder::default();
    for (task, worker, label) in rows {
        builder.push(task, worker, label).unwrap();
    }
    builder.build().unwrap()
}

/// A context with this seed and the side data that the method needs.
pub fn context(method: &Method, annotations: &Annotations, seed: u64) -> Context {
    let context = Context::new(seed);
    if method.needs_probabilities {
        context.with_class_probabilities(predict_classes(annotations))
    } else {
        context
    }
}

/// Predictions of a made-up classifier: votes, blurred towards the mean vote by a share that hangs on the
/// task's name alone, so that neither the order of rows nor the names of workers and classes matter.
fn predict_classes(annotations: &Annotations) -> TaskProbabilities {
    let votes = vote_fractions(annotations);
    let mut mean = vec![0.0; votes.class_count()];
    for task in 0..votes.len() {
        let row = votes.row(task).iter();
        mean.iter_mut()
            .zip(row)
            .for_each(|(mean, share)| *mean += share / votes.len() as f64);
    }
    let mut probabilities = TaskProbabilities::none(annotations);
    for (task, name) in annotations.tasks().iter().enumerate() {
        let stream = name
            .bytes()
            .fold(0, |hash: u64, byte| hash * 31 % 1_000_003 + u64::from(byte));
        let blur: f64 = seeded(3, stream).random_range(0.1..0.7);
        let row = votes.row(task).iter().zip(&mean);
        let row: Vec<f64> = row.map(|(share, mean)| share + blur * (mean - share)).collect();
        probabilities.set(task, &row).unwrap();
    }
    probabilities
}

/// Fits a method with its defaults, seed 1, and the side data that it needs.
pub fn fit(method: &Method, annotations: &Annotations) -> quorate::Result<Fit> {
    method
        .with_defaults()?
        .fit(annotations, &mut context(method, annotations, 1))
}

/// Posterior by task name and class name.
pub fn by_name(annotations: &Annotations, fit: &Fit) -> HashMap<(String, String), f64> {
    let mut probabilities = HashMap::new();
    for (task, name) in annotations.tasks().iter().enumerate() {
        for (class, probability) in annotations.classes().iter().zip(fit.consensus.row(task)) {
            probabilities.insert((name.to_owned(), class.to_owned()), *probability);
        }
    }
    probabilities
}

/// Labels of a crowd of two classes in which 5 of 8 workers nearly always say the opposite, and the truth.
pub fn misled_crowd(tasks: usize, seed: u64) -> (Annotations, Vec<usize>) {
    let mut rng = seeded(seed, 0);
    let (mut labels, mut truth) = (Vec::new(), Vec::new());
    for task in 0..tasks as u32 {
        let class = u16::from(rng.random_bool(0.45));
        truth.push(usize::from(class));
        for worker in 0..8 {
            let right = rng.random_bool(if worker < 5 { 0.15 } else { 0.9 });
            if rng.random_bool(0.8) {
                labels.push((task, worker, if right { class } else { 1 - class }));
            }
        }
    }
    (Annotations::from_codes(tasks, 8, 2, labels).unwrap(), truth)
}

/// The counts of answers of a crowd whose truth is known: what is known of its workers.
pub fn history_of(annotations: &Annotations, truth: &[usize]) -> AnswerCounts {
    count_answers(annotations, &Consensus::one_hot(2, truth.iter().copied()))
}
