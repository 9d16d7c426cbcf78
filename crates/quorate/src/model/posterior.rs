//! Labels from a model: Bayes' rule in the log domain.
//!
//! ```text
//! q_n(k) ~ exp( ln prior(k) + sum over labels (m, x) of task n of ln A_m(x, k) )
//! ```
//!
//! Probabilities are floored at `exp(LOG_FLOOR)` before the logarithm, so that one impossible answer does not
//! outweigh everything. One pass over the labels, `O(L K)`.

use super::counts::{AnswerCounts, chunk_count, fold};
use super::{Consensus, DawidSkene};
use crate::annotations::Annotations;
use crate::linalg::width::{Width, with_width};
use crate::parallel::{balanced_ranges, map_rows};

/// Logarithm of the smallest probability that counts: ln 2^-52.
pub const LOG_FLOOR: f64 = -36.043_653_389_117_15;

/// Posterior of every task under the model, and the log-likelihood of the labels. A task without labels gets
/// the prior.
pub fn posterior(annotations: &Annotations, model: &DawidSkene) -> (Consensus, f64) {
    let classes = annotations.class_count();
    let mut probabilities = vec![0.0; annotations.task_count() * classes];
    let sweep = Sweep::new(model).run(annotations, &mut probabilities, false);
    (Consensus::new(classes, probabilities), sweep.log_likelihood)
}

/// Logarithms of a model, ready for passes over the labels.
pub(super) struct Sweep {
    log_prior: Vec<f64>,
    log_confusion: Vec<f64>,
}

/// What one pass over the labels gives besides the posterior rows.
pub(super) struct SweepResult {
    /// Log-likelihood of all labels.
    pub log_likelihood: f64,
    /// Largest change of a posterior against the rows that were there before.
    pub change: f64,
    /// Counts against the new rows, if they were asked for.
    pub counts: Option<AnswerCounts>,
}

impl Sweep {
    pub(super) fn new(model: &DawidSkene) -> Self {
        let logs = |values: &[f64]| values.iter().map(|value| value.ln().max(LOG_FLOOR)).collect();
        Self {
            log_prior: logs(model.prior()),
            log_confusion: logs(model.confusions()),
        }
    }

    /// Writes the posterior rows; with `counting` also sums the answer counts in the same pass.
    pub(super) fn run(&self, annotations: &Annotations, rows: &mut [f64], counting: bool) -> SweepResult {
        with_width!(self.log_prior.len(), width => self.run_width(width, annotations, rows, counting))
    }

    fn run_width<W: Width>(
        &self,
        width: W,
        annotations: &Annotations,
        rows: &mut [f64],
        counting: bool,
    ) -> SweepResult {
        let ranges = balanced_ranges(annotations.task_starts(), chunk_count(annotations));
        let parts = map_rows(ranges, rows, width.get(), |tasks, rows| {
            let mut counts = counting.then(|| AnswerCounts::zero(annotations.worker_count(), width.get()));
            let mut scratch = vec![0.0; width.get()];
            let (mut log_likelihood, mut change) = (0.0, 0.0f64);
            for (task, row) in tasks.zip(rows.chunks_exact_mut(width.get())) {
                log_likelihood += self.task(width, annotations, task, &mut scratch);
                for (old, &new) in row.iter_mut().zip(&scratch) {
                    change = change.max((*old - new).abs());
                    *old = new;
                }
                if let Some(counts) = &mut counts {
                    add_counts(width, annotations, task, row, counts);
                }
            }
            (log_likelihood, change, counts)
        });
        let log_likelihood = parts.iter().map(|part| part.0).sum();
        let change = parts.iter().map(|part| part.1).fold(0.0, f64::max);
        let counts: Option<Vec<_>> = parts.into_iter().map(|part| part.2).collect();
        SweepResult {
            log_likelihood,
            change,
            counts: counts.map(fold),
        }
    }

    /// Posterior of one task into `row`; returns the log-likelihood of its labels.
    #[inline(always)]
    fn task<W: Width>(&self, width: W, annotations: &Annotations, task: usize, row: &mut [f64]) -> f64 {
        let classes = width.get();
        let row = &mut row[..classes];
        row.copy_from_slice(&self.log_prior[..classes]);
        let (workers, labels) = annotations.task_slices(task);
        for (&worker, &label) in workers.iter().zip(labels) {
            let logs =
                &self.log_confusion[(worker as usize * classes + label as usize) * classes..][..classes];
            for k in 0..classes {
                row[k] += logs[k];
            }
        }
        let sum = softmax_in_place(row);
        if workers.is_empty() { 0.0 } else { sum }
    }
}

#[inline(always)]
fn add_counts<W: Width>(
    width: W,
    annotations: &Annotations,
    task: usize,
    row: &[f64],
    counts: &mut AnswerCounts,
) {
    let classes = width.get();
    let row = &row[..classes];
    let (workers, labels) = annotations.task_slices(task);
    if workers.is_empty() {
        return;
    }
    for (&worker, &label) in workers.iter().zip(labels) {
        let cells = &mut counts.cells[(worker as usize * classes + label as usize) * classes..][..classes];
        for k in 0..classes {
            cells[k] += row[k];
        }
    }
    for (mass, q) in counts.mass.iter_mut().zip(row) {
        *mass += q;
    }
}

/// Turns log-weights into probabilities; returns the logarithm of their sum.
#[inline(always)]
pub(crate) fn softmax_in_place(row: &mut [f64]) -> f64 {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for value in row.iter_mut() {
        *value = (*value - top).exp();
        sum += *value;
    }
    for value in row.iter_mut() {
        *value /= sum;
    }
    top + sum.ln()
}
