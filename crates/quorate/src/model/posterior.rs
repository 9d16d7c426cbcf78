//! Labels from a model: Bayes' rule.
//!
//! ```text
//! q_n(k) ~ prior(k) prod over labels (m, x) of task n of A_m(x, k)
//! ```
//!
//! Probabilities are floored at 2^-52, so that one impossible answer does not outweigh everything. A task
//! whose truth is known (gold) has no other. One pass over the labels, `O(L K)`.

use quorate_machine::dispatch;

use super::batch::SweepChunk;
use super::counts::{AnswerCounts, chunk_count};
use super::tally::{Tallies, Tally};
use super::{Consensus, DawidSkene};
use crate::annotations::Annotations;
use crate::blocks::{Block, PosteriorRule, Wire, wire_format};
use crate::linalg::small::largest;
use crate::linalg::width::{Width, with_width};
use crate::parallel::{balanced_ranges, map_rows_with, private_chunks};

/// Logarithm of the smallest probability that counts: ln 2^-52.
pub const LOG_FLOOR: f64 = -36.043_653_389_117_15;

/// The smallest probability that counts, 2^-52.
const FLOOR: f64 = f64::EPSILON;

/// Posterior of every task under the model, and the log-likelihood of the labels. A task without labels gets
/// the prior.
pub fn posterior(annotations: &Annotations, model: &DawidSkene) -> (Consensus, f64) {
    let classes = annotations.class_count();
    let mut probabilities = vec![0.0; annotations.task_count() * classes];
    let sweep = Sweep::new(model).run(annotations, &mut probabilities);
    (Consensus::new(classes, probabilities), sweep.log_likelihood)
}

/// Weights of truths and answers, ready for passes over the labels: the probabilities of a model, which a
/// task's labels multiply, or logarithms of any weights, which they add up (expected logarithms, say). A
/// truth is a class or a component of one.
#[derive(Debug, Clone, Default)]
pub struct Sweep {
    /// `[truth]`.
    pub prior: Vec<f64>,
    /// `[worker][answer][truth]`.
    pub cells: Vec<f64>,
    /// Whether the weights are logarithms. Products are several times faster, but only weights that are
    /// floored keep them in range.
    pub logarithms: bool,
    /// Puts all mass of a task on its best truth (hard EM).
    pub hard: bool,
}

wire_format!(29 Sweep { prior, cells, logarithms, hard });

impl PosteriorRule for Sweep {
    fn width(&self, _: usize) -> usize {
        self.prior.len()
    }

    fn fill(&self, block: Block<'_>, rows: &mut [f64]) {
        self.run(block, rows);
    }

    fn bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }
}

/// What one pass over the labels gives besides the posterior rows.
#[derive(Default)]
pub struct SweepResult {
    /// Log-likelihood of all labels; of the labels and their tasks' best truths where the sweep is hard.
    pub log_likelihood: f64,
    /// Sum of the changes of all posteriors against the rows that were there before.
    pub change: f64,
    /// Largest change of a class posterior, if it was asked for.
    pub largest_change: f64,
    /// Counts against the new rows, if they were asked for.
    pub counts: Option<AnswerCounts>,
}

impl Sweep {
    pub(crate) fn new(model: &DawidSkene) -> Self {
        let floored = |values: &[f64]| values.iter().map(|value| value.max(FLOOR)).collect();
        Self {
            prior: floored(model.prior()),
            cells: floored(model.confusions()),
            ..Self::default()
        }
    }

    /// Writes the posterior rows.
    pub(crate) fn run<'t>(&self, labels: impl Into<Block<'t>>, rows: &mut [f64]) -> SweepResult {
        let labels = labels.into();
        // Tables bound the chunks of a sweep that counts; here there are none.
        let chunks = private_chunks(labels.label.len(), LABELS_A_CHUNK);
        let chunks = chunks.max(chunk_count(labels, self.prior.len()));
        with_width!(self.prior.len(), width => self.pass(width, labels, rows, chunks, None))
    }

    /// Writes the posterior rows and sums the answer counts, in tables that the next sweep can use again.
    pub(crate) fn run_in<'t>(
        &self,
        tallies: &mut Tallies,
        labels: impl Into<Block<'t>>,
        rows: &mut [f64],
    ) -> SweepResult {
        let labels = labels.into();
        with_width!(self.prior.len(), width => {
            tallies.start(width, chunk_count(labels, width.get()), &self.cells);
            let mut result = self.run_block(tallies, labels, rows);
            result.counts = Some(tallies.sum(width, labels.class_count, self.cells.len()));
            result
        })
    }

    /// Writes the posterior rows of a block, and adds its answer counts to the tables.
    pub(super) fn run_block(
        &self,
        tallies: &mut Tallies,
        labels: Block<'_>,
        rows: &mut [f64],
    ) -> SweepResult {
        let tables = &mut tallies.0[..];
        with_width!(self.prior.len(), width => self.pass(width, labels, rows, tables.len(), Some(tables)))
    }

    /// One pass over labels, in chunks with a table each if answers are counted.
    fn pass<W: Width>(
        &self,
        width: W,
        labels: Block<'_>,
        rows: &mut [f64],
        chunks: usize,
        tables: Option<&mut [Tally]>,
    ) -> SweepResult {
        let ranges = balanced_ranges(labels.starts, chunks);
        let mut tables = tables.into_iter().flatten();
        let own = std::iter::from_fn(|| Some(tables.next()));
        let sweep = self;
        let parts = map_rows_with(ranges, rows, width.get(), own, |tasks, rows, tally| {
            dispatch::run(SweepChunk {
                sweep,
                width,
                labels,
                tasks,
                rows,
                tally,
            })
        });
        SweepResult {
            log_likelihood: parts.iter().map(|part| part.log_likelihood).sum(),
            change: parts.iter().map(|part| part.change).sum(),
            ..SweepResult::default()
        }
    }
}

/// Labels of a chunk at least, where nothing is counted.
const LABELS_A_CHUNK: usize = 1 << 12;

/// Turns log-weights into probabilities; returns the logarithm of their sum.
#[inline(always)]
pub fn softmax_in_place(row: &mut [f64]) -> f64 {
    let (top, mut sum) = (largest(row), 0.0);
    for value in row.iter_mut() {
        *value = (*value - top).exp();
        sum += *value;
    }
    row.iter_mut().for_each(|value| *value /= sum);
    top + sum.ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn model(values: &[f64], workers: usize, classes: usize) -> DawidSkene {
        let column = |values: &[f64]| -> Vec<f64> {
            let sum: f64 = values.iter().sum();
            values.iter().map(|value| value / sum).collect()
        };
        let mut confusion = vec![0.0; workers * classes * classes];
        for (place, values) in values.chunks_exact(classes).take(workers * classes).enumerate() {
            let (worker, truth) = (place / classes, place % classes);
            for (answer, share) in column(values).into_iter().enumerate() {
                confusion[(worker * classes + answer) * classes + truth] = share;
            }
        }
        DawidSkene::new(column(&values[workers * classes * classes..]), confusion)
    }

    proptest! {
        /// The definition in the log domain, for tasks of any length and matrices with zeros.
        #[test]
        fn products_and_logarithms_agree(
            labels in proptest::collection::vec((0u32..4, 0u32..30, 0u16..3), 1..200),
            values in proptest::collection::vec(prop_oneof![3 => 0.01..1.0f64, 1 => Just(1e-9)], 30 * 9 + 3),
            gold in proptest::option::of(0u16..3),
        ) {
            let annotations = Annotations::from_codes(4, 30, 3, labels).unwrap()
                .with_gold(gold.map(|truth| (0, truth))).unwrap();
            let model = model(&values, 30, 3);
            let products = Sweep::new(&model);
            let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect();
            let logarithms = Sweep {
                prior: logs(&products.prior),
                cells: logs(&products.cells),
                logarithms: true,
                hard: false,
            };
            let (mut by_products, mut by_logarithms) = (vec![0.0; 12], vec![0.0; 12]);
            let a = products.run_in(&mut Tallies::default(), &annotations, &mut by_products);
            let b = logarithms.run_in(&mut Tallies::default(), &annotations, &mut by_logarithms);
            // A sum of 200 logarithms of up to 36 is off by up to 200 x 36 x 2^-53.
            for (a, b) in by_products.iter().zip(&by_logarithms) {
                prop_assert!((a - b).abs() < 1e-11, "{a} {b}");
            }
            prop_assert!((a.log_likelihood - b.log_likelihood).abs() < 1e-10 * b.log_likelihood.abs().max(1.0));
        }

        /// Posteriors, counts and likelihood by their definitions, task by task: tasks of several batches,
        /// the last one short, some without labels, for every width that the compiler knows and some that it
        /// does not.
        #[test]
        fn a_sweep_is_what_the_formulas_say(
            truths in 2usize..10,
            rows in proptest::collection::vec((0u32..37, 0u32..5, 0u16..10), 1..200),
            values in proptest::collection::vec(0.01..1.0f64, 5 * 81 + 9),
            hard in any::<bool>(),
        ) {
            let labels = rows.iter().map(|&(task, worker, label)| (task, worker, label % truths as u16));
            let annotations = Annotations::from_codes(37, 5, truths, labels).unwrap();
            let model = model(&values[..(5 * truths + 1) * truths], 5, truths);
            let old: Vec<f64> = (0..37 * truths).map(|place| (place % 7) as f64 / 7.0).collect();
            let mut new = old.clone();
            let sweep = Sweep { hard, ..Sweep::new(&model) };
            let mut tallies = Tallies::default();
            // Twice: the second time in tables that have been used.
            sweep.run_in(&mut tallies, &annotations, &mut new.clone());
            let result = sweep.run_in(&mut tallies, &annotations, &mut new);
            let counts = result.counts.unwrap();
            let mut expected = AnswerCounts::zero(5, truths);
            let (mut log_likelihood, mut change) = (0.0, 0.0);
            for task in 0..37 {
                let mut row: Vec<f64> = model.prior().to_vec();
                for (worker, label) in annotations.labels_of_task(task) {
                    (0..truths).for_each(|k| row[k] *= model.probability(worker, label, k));
                }
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|value| *value /= sum);
                let labelled = !annotations.task_slices(task).0.is_empty();
                let best = crate::model::label_of(&row);
                if labelled {
                    log_likelihood += sum.ln() + if hard { row[best].ln() } else { 0.0 };
                }
                if hard {
                    row = (0..truths).map(|k| f64::from(u8::from(k == best))).collect();
                }
                for k in 0..truths {
                    prop_assert!((new[task * truths + k] - row[k]).abs() < 1e-12);
                    change += (old[task * truths + k] - row[k]).abs();
                    expected.mass[k] += if labelled { row[k] } else { 0.0 };
                    for (worker, label) in annotations.labels_of_task(task) {
                        expected.add(worker, label, k, row[k]);
                    }
                }
            }
            let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10);
            prop_assert!(close(&counts.cells, &expected.cells) && close(&counts.mass, &expected.mass));
            prop_assert!((result.log_likelihood - log_likelihood).abs() < 1e-9);
            prop_assert!((result.change - change).abs() < 1e-10);
            // The other way to the same counts.
            let recounted = super::super::count_rows((&annotations).into(), &new, truths);
            prop_assert!(close(&recounted.cells, &counts.cells) && close(&recounted.mass, &counts.mass));
        }
    }
}
