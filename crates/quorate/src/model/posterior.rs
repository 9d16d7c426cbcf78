//! Labels from a model: Bayes' rule in the log domain.
//!
//! ```text
//! q_n(k) ~ exp( ln prior(k) + sum over labels (m, x) of task n of ln A_m(x, k) )
//! ```
//!
//! Probabilities are floored at `exp(LOG_FLOOR)` before the logarithm, so that one impossible answer does not
//! outweigh everything. A task whose truth is known (gold) has no other. One pass over the labels, `O(L K)`.

use super::consensus::label_of;
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

/// Log-weights of truths and answers, ready for passes over the labels: the logarithms of a model, or any others
/// that a task's labels add up (expected logarithms, say). A truth is a class or a component of one.
pub(crate) struct Sweep {
    /// `[truth]`.
    pub(crate) log_prior: Vec<f64>,
    /// `[worker][answer][truth]`.
    pub(crate) log_confusion: Vec<f64>,
    /// Puts all mass of a task on its best truth (hard EM).
    pub(crate) hard: bool,
}

/// What one pass over the labels gives besides the posterior rows.
pub(crate) struct SweepResult {
    /// Log-likelihood of all labels; of the labels and their tasks' best truths where the sweep is hard.
    pub log_likelihood: f64,
    /// Sum of the changes of all posteriors against the rows that were there before.
    pub change: f64,
    /// Counts against the new rows, if they were asked for.
    pub counts: Option<AnswerCounts>,
}

impl Sweep {
    pub(crate) fn new(model: &DawidSkene) -> Self {
        let logs = |values: &[f64]| values.iter().map(|value| value.ln().max(LOG_FLOOR)).collect();
        Self {
            log_prior: logs(model.prior()),
            log_confusion: logs(model.confusions()),
            hard: false,
        }
    }

    /// The same weights with all mass of a task on its best truth.
    pub(crate) fn hard(self) -> Self {
        Self { hard: true, ..self }
    }

    /// Writes the posterior rows; with `counting` also sums the answer counts in the same pass.
    pub(crate) fn run(&self, annotations: &Annotations, rows: &mut [f64], counting: bool) -> SweepResult {
        with_width!(self.log_prior.len(), width => self.run_width(width, annotations, rows, counting))
    }

    fn run_width<W: Width>(
        &self,
        width: W,
        annotations: &Annotations,
        rows: &mut [f64],
        counting: bool,
    ) -> SweepResult {
        let (workers, answers) = (annotations.worker_count(), annotations.class_count());
        let ranges = balanced_ranges(annotations.task_starts(), chunk_count(annotations, width.get()));
        let parts = map_rows(ranges, rows, width.get(), |tasks, rows| {
            let mut counts = counting.then(|| AnswerCounts::zero_components(workers, answers, width.get()));
            let mut scratch = vec![0.0; width.get()];
            let (mut log_likelihood, mut change) = (0.0, 0.0f64);
            for (task, row) in tasks.zip(rows.chunks_exact_mut(width.get())) {
                log_likelihood += self.task(width, annotations, task, &mut scratch);
                for (old, &new) in row.iter_mut().zip(&scratch) {
                    change += (*old - new).abs();
                    *old = new;
                }
                if let Some(counts) = &mut counts {
                    add_counts(width, annotations, task, row, counts);
                }
            }
            (log_likelihood, change, counts)
        });
        let log_likelihood = parts.iter().map(|part| part.0).sum();
        let change = parts.iter().map(|part| part.1).sum();
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
        let (truths, answers) = (width.get(), annotations.class_count());
        let row = &mut row[..truths];
        row.copy_from_slice(&self.log_prior[..truths]);
        let (workers, labels) = annotations.task_slices(task);
        for (&worker, &label) in workers.iter().zip(labels) {
            let logs = &self.log_confusion[(worker as usize * answers + label as usize) * truths..][..truths];
            for k in 0..truths {
                row[k] += logs[k];
            }
        }
        annotations.pin_logs(task, row);
        let mut sum = softmax_in_place(row);
        if self.hard {
            let best = label_of(row);
            sum += row[best].ln();
            row.fill(0.0);
            row[best] = 1.0;
        }
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
    let (truths, answers) = (width.get(), annotations.class_count());
    let row = &row[..truths];
    let (workers, labels) = annotations.task_slices(task);
    if workers.is_empty() {
        return;
    }
    for (&worker, &label) in workers.iter().zip(labels) {
        let cells = &mut counts.cells[(worker as usize * answers + label as usize) * truths..][..truths];
        for k in 0..truths {
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
