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
//! shuffled tables (mean and three standard deviations), plus one.
//!
//! Limits: a rare class, or two that everyone confuses, can fail to show and still be real; task difficulty
//! and copies can show as an extra one. Not computed for tables where the Lanczos basis would not fit
//! ([`MOST_CELLS`]).

use rand::seq::SliceRandom;

use crate::annotations::Annotations;
use crate::context::Context;
use crate::linalg::lanczos::largest_eigenpairs;

/// Number of shuffled tables.
pub const SHUFFLES: usize = 5;
/// Largest M K (K + 2) for which the spectrum is computed.
pub const MOST_CELLS: usize = 20_000_000;
const STREAM: u64 = 0x5bec << 40;

/// Residuals of eigenpairs, relative to the largest value. The error of a value is of the order of their
/// square: with more cells than [`LARGE`], where each step goes over many numbers, the coarse one is far
/// below what chance varies by.
const TOL: f64 = 1e-4;
const COARSE_TOL: f64 = 1e-2;
const LARGE: usize = 50_000;

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
    if n * (k + 2) > MOST_CELLS || k < 2 {
        return Ok(None);
    }
    let labels: Vec<u16> = annotations.iter().map(|(_, _, label)| label as u16).collect();
    let values = eigenvalues(annotations, &labels, k + 1);
    let mut seconds = Vec::new();
    for shuffle in 0..SHUFFLES {
        context.step("comparing with chance", shuffle, Some(SHUFFLES))?;
        let shuffled = shuffled_labels(annotations, context, shuffle as u64);
        let second = eigenvalues(annotations, &shuffled, 2)
            .get(1)
            .copied()
            .unwrap_or(0.0);
        seconds.push(second);
    }
    let mean = seconds.iter().sum::<f64>() / SHUFFLES as f64;
    let variance = seconds.iter().map(|second| (second - mean).powi(2)).sum::<f64>() / (SHUFFLES - 1) as f64;
    let chance = mean + 3.0 * variance.sqrt();
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    Ok(Some(Spectrum {
        shown: 1 + (1..k).filter(|&index| at(index) > chance).count(),
        gap: at(k - 1) - at(k),
        values,
        chance,
    }))
}

fn eigenvalues(annotations: &Annotations, labels: &[u16], count: usize) -> Vec<f64> {
    let k = annotations.class_count();
    let n = annotations.worker_count() * k;
    let starts = annotations.task_starts();
    let mut degree = vec![0.0; n];
    let cells: Vec<u32> = annotations
        .iter()
        .zip(labels)
        .map(|((_, worker, _), &label)| (worker * k + label as usize) as u32)
        .collect();
    for task in starts.windows(2) {
        let others = f64::from((task[1] - task[0]).saturating_sub(1));
        cells[task[0] as usize..task[1] as usize]
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
        for task in starts.windows(2) {
            let cells = &cells[task[0] as usize..task[1] as usize];
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
    largest_eigenpairs(n, count, tol, product).values
}

/// Each worker's answers in random order over its tasks, by task.
fn shuffled_labels(annotations: &Annotations, context: &Context, shuffle: u64) -> Vec<u16> {
    let by_worker = annotations.by_worker();
    let mut rng = context.rng(STREAM + shuffle);
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
