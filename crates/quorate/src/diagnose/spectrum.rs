//! How many classes the answers show: the spectrum of the co-occurrences against that of chance.
//!
//! ```text
//! N = sum over tasks of z_n z_n^T, without the part of a worker with itself,     z_n(m, a) = 1 if m answered a
//! L = (D + d)^-1/2 N (D + d)^-1/2,     D = row sums of N,   d = their mean
//! ```
//!
//! Under the Dawid-Skene model the blocks of N are evidence times `A_m diag(prior) A_j^T`: K eigenvalues
//! carry the classes, the rest is noise. The first one is trivial (everybody answers something); K - 1 more
//! should stand out. N is weighted by evidence (shared tasks) and never formed: a product costs one pass over
//! the labels.
//!
//! What is noise is seen by shuffling each worker's answers over its tasks ([`SHUFFLES`] times, seeded): that
//! keeps who labelled what and how often each worker gives each answer, and destroys the rest (parallel
//! analysis, Horn 1965). The classes that show are those with an eigenvalue above the second one of the
//! shuffled tables (mean and three standard deviations), plus one. With more than [`LARGE`] cells there is
//! one shuffled table and two percent in the place of the deviations: the edge of a spectrum of noise then
//! varies by some thousandths (as n^-2/3). Where workers have many labels, a part of the tasks is enough
//! ([`sampled_tasks`]).
//!
//! Limits: a rare class, or two that everyone confuses, can fail to show and still be real; task difficulty
//! and copies can show as an extra one. Not computed for tables where the Lanczos basis would not fit
//! ([`MAX_CELLS`]).

use std::ops::Range;

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::annotations::Annotations;
use crate::context::{Context, seeded};
use crate::linalg::lanczos::largest_eigenpairs;

/// Number of shuffled tables.
pub const SHUFFLES: usize = 5;
/// Largest M K (K + 2) for which the spectrum is computed.
pub const MAX_CELLS: usize = 20_000_000;
const STREAM: u64 = 0x5bec << 40;

/// Residuals of eigenpairs, relative to the largest value. The error of a value is of the order of their
/// square: with more cells than [`LARGE`], where each step goes over many numbers, the coarse one is far
/// below what chance varies by.
const TOL: f64 = 1e-4;
const COARSE_TOL: f64 = 1e-2;
const LARGE: usize = 20_000;
/// Distance from the edge of noise in large tables, relative to it.
const EDGE: f64 = 0.02;
/// Labels that a sample of the tasks has at least, in all and for each worker.
const SAMPLE: usize = 500_000;
const SAMPLE_OF_WORKER: usize = 50;

/// Leading eigenvalues of the co-occurrences.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// The K + 1 largest eigenvalues, falling.
    pub values: Vec<f64>,
    /// What chance alone reaches: the second eigenvalue of the shuffled tables, mean and three standard
    /// deviations.
    pub chance: f64,
    /// Classes that show: 1 + eigenvalues 2 to K above chance.
    pub shown: usize,
    /// Eigenvalue K less eigenvalue K + 1: the gap that identification rests on.
    pub gap: f64,
}

pub(super) fn spectrum(annotations: &Annotations, context: &mut Context) -> crate::Result<Option<Spectrum>> {
    let k = annotations.class_count();
    let n = annotations.worker_count() * k;
    if n * (k + 2) > MAX_CELLS || k < 2 {
        return Ok(None);
    }
    context.step("comparing with chance", 0, None)?;
    let tasks = sampled_tasks(annotations);
    // The table itself and its shuffled copies at the same time.
    let shuffles = if n > LARGE { 1 } else { SHUFFLES };
    let seed = context.seed();
    let spectra: Vec<Vec<f64>> = context.run(|| {
        (0..=shuffles)
            .into_par_iter()
            .map(|shuffle| match shuffle {
                0 => eigenvalues(annotations, &given_labels(annotations), &tasks, k + 1),
                _ => {
                    let labels = shuffled_labels(annotations, seed, shuffle as u64 - 1);
                    eigenvalues(annotations, &labels, &tasks, 2)
                }
            })
            .collect()
    });
    let (values, shuffled) = (&spectra[0], &spectra[1..]);
    let seconds: Vec<f64> = shuffled
        .iter()
        .map(|values| values.get(1).copied().unwrap_or(0.0))
        .collect();
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    let chance = match seconds.len() {
        1 => (1.0 + EDGE) * mean,
        count => {
            let squares = seconds.iter().map(|second| (second - mean).powi(2));
            mean + 3.0 * (squares.sum::<f64>() / (count - 1) as f64).sqrt()
        }
    };
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    Ok(Some(Spectrum {
        shown: 1 + (1..k).filter(|&index| at(index) > chance).count(),
        gap: at(k - 1) - at(k),
        values: values.clone(),
        chance,
    }))
}

/// Every s-th task by name, so many that the sample is large enough; all of them in tables that are not
/// large.
fn sampled_tasks(annotations: &Annotations) -> Vec<Range<usize>> {
    let enough = SAMPLE.max(SAMPLE_OF_WORKER * annotations.worker_count());
    let stride = (annotations.label_count() / enough).max(1);
    let starts = annotations.task_starts();
    let range = |task: usize| starts[task] as usize..starts[task + 1] as usize;
    match stride {
        1 => (0..annotations.task_count()).map(range).collect(),
        _ => {
            let order = annotations.tasks().natural_order();
            order.into_iter().step_by(stride).map(range).collect()
        }
    }
}

/// The labels by task.
fn given_labels(annotations: &Annotations) -> Vec<u16> {
    annotations.iter().map(|(_, _, label)| label as u16).collect()
}

fn eigenvalues(annotations: &Annotations, labels: &[u16], tasks: &[Range<usize>], count: usize) -> Vec<f64> {
    let k = annotations.class_count();
    let n = annotations.worker_count() * k;
    let mut degree = vec![0.0; n];
    let cells: Vec<u32> = annotations
        .iter()
        .zip(labels)
        .map(|((_, worker, _), &label)| (worker * k + label as usize) as u32)
        .collect();
    for task in tasks {
        let others = task.len().saturating_sub(1) as f64;
        cells[task.clone()]
            .iter()
            .for_each(|&cell| degree[cell as usize] += others);
    }
    let mean = degree.iter().sum::<f64>() / n as f64;
    let scale: Vec<f64> = degree
        .iter()
        .map(|d| 1.0 / (d + mean).max(1e-12).sqrt())
        .collect();
    let mut scaled = vec![0.0; n];
    let product = |x: &[f64], out: &mut [f64]| {
        for (cell, value) in scaled.iter_mut().enumerate() {
            *value = scale[cell] * x[cell];
        }
        out.fill(0.0);
        for task in tasks {
            let cells = &cells[task.clone()];
            let sum: f64 = cells.iter().map(|&cell| scaled[cell as usize]).sum();
            for &cell in cells {
                out[cell as usize] += sum - scaled[cell as usize];
            }
        }
        out.iter_mut()
            .zip(&scale)
            .for_each(|(value, scale)| *value *= scale);
    };
    let tol = if n > LARGE { COARSE_TOL } else { TOL };
    let values = largest_eigenpairs(n, count, tol, product).values;
    // Zero but for rounding, which may be negative.
    values
        .into_iter()
        .map(|value| if value.abs() < 1e-12 { 0.0 } else { value })
        .collect()
}

/// Each worker's answers in random order over its tasks, by task.
fn shuffled_labels(annotations: &Annotations, seed: u64, shuffle: u64) -> Vec<u16> {
    let by_worker = annotations.by_worker();
    let mut rng = seeded(seed, STREAM + shuffle);
    let mut answers: Vec<u16> = Vec::with_capacity(annotations.label_count());
    for worker in 0..annotations.worker_count() {
        let first = answers.len();
        answers.extend_from_slice(by_worker.slices(worker).1);
        answers[first..].shuffle(&mut rng);
    }
    let mut next: Vec<u32> = by_worker.starts().to_vec();
    let take = |(_, worker, _): (usize, usize, usize)| {
        let at = next[worker];
        next[worker] += 1;
        answers[at as usize]
    };
    annotations.iter().map(take).collect()
}
