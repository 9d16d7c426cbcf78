//! What the integration tests share: the public data sets and small crowds.
#![allow(dead_code)] // each test program uses a part of it

use std::collections::HashMap;
use std::path::PathBuf;

use quorate::context::seeded;
use quorate::methods::{Fit, Method, vote_fractions};
use quorate::{Annotations, AnnotationsBuilder, Context, TaskProbabilities};
use rand::RngExt;

/// Where the public data sets are: `QUORATE_DATA`, else `../shared/data` beside the project.
pub fn data_dir() -> PathBuf {
    match std::env::var_os("QUORATE_DATA") {
        Some(dir) => dir.into(),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    }
}

/// The rows of a plain CSV file (no quoting in these files), without the header.
pub fn rows(path: &str) -> Vec<Vec<String>> {
    let path = data_dir().join(path);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; set QUORATE_DATA to the data sets", path.display()));
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

/// A public data set: labels and the known truths by task.
pub struct DataSet {
    pub annotations: Annotations,
    pub truth: HashMap<String, String>,
}

impl DataSet {
    /// Loads `name`; `dog52` is dog with the 52 workers that the paper keeps.
    pub fn load(name: &str) -> Self {
        let folder = if name == "dog52" { "dog" } else { name };
        let mut builder = AnnotationsBuilder::default();
        for row in rows(&format!("{folder}/labels.csv")) {
            builder.push(&row[0], &row[1], &row[2]).unwrap();
        }
        let mut annotations = builder.build().unwrap();
        if name == "dog52" {
            let kept: Vec<String> = rows("dog/workers_top52.csv")
                .into_iter()
                .map(|row| row[0].clone())
                .collect();
            annotations = annotations
                .keep_workers(|worker| kept.iter().any(|name| name == worker))
                .unwrap();
        }
        let truth = rows(&format!("{folder}/truth.csv"))
            .into_iter()
            .map(|row| (row[0].clone(), row[1].clone()));
        Self {
            annotations,
            truth: truth.collect(),
        }
    }

    /// Share of wrong labels among the tasks with known truth, in percent; ties go to the lowest class.
    pub fn error(&self, fit: &Fit) -> f64 {
        let (mut known, mut wrong) = (0, 0);
        for (task, name) in self.annotations.tasks().iter().enumerate() {
            if let Some(truth) = self.truth.get(name) {
                known += 1;
                wrong += usize::from(self.annotations.classes().get(fit.consensus.label(task)) != truth);
            }
        }
        100.0 * f64::from(wrong as u32) / f64::from(known)
    }
}

/// Rows of a small crowd of `workers` with `classes` classes: accuracies from 0.5 to 0.95, each task labelled with
/// probability `density` by each worker, at least by one.
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
    match method.needs_probabilities {
        true => context.with_class_probabilities(predict_classes(annotations)),
        false => context,
    }
}

/// Predictions of a made-up classifier: votes, blurred towards the mean vote by a share that hangs on the task's name
/// alone, so that neither the order of rows nor the names of workers and classes matter.
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
