//! Labels from a model: Bayes' rule.
//!
//! ```text
//! q_n(k) ~ prior(k) prod over labels (m, x) of task n of A_m(x, k)
//! ```
//!
//! Probabilities are floored at 2^-52, so that one impossible answer does not outweigh everything. A task whose truth is known (gold) has no other. One pass over the labels, `O(L K)`.

use super::consensus::label_of;
use super::counts::{AnswerCounts, chunk_count};
use super::tally::Tally;
use super::{Consensus, DawidSkene};
use crate::annotations::{Annotations, ByTask, keep_truth};
use crate::linalg::width::{Width, with_width};
use crate::parallel::{balanced_ranges, map_rows};

/// Logarithm of the smallest probability that counts: ln 2^-52.
pub const LOG_FLOOR: f64 = -36.043_653_389_117_15;

/// The smallest probability that counts, 2^-52.
const FLOOR: f64 = f64::EPSILON;

/// Factors between two looks at the size of a product, and the size below which it is scaled up: `SMALL FLOOR^STEPS` is a
/// normal number.
const STEPS: usize = 8;
const SMALL: f64 = 1e-120;

/// Sums of products below this have lost digits.
const SMALLEST: f64 = 1e-290;

/// Posterior of every task under the model, and the log-likelihood of the labels. A task without labels gets
/// the prior.
pub fn posterior(annotations: &Annotations, model: &DawidSkene) -> (Consensus, f64) {
    let classes = annotations.class_count();
    let mut probabilities = vec![0.0; annotations.task_count() * classes];
    let sweep = Sweep::new(model).run(annotations, &mut probabilities, false);
    (Consensus::new(classes, probabilities), sweep.log_likelihood)
}

/// Weights of truths and answers, ready for passes over the labels: the probabilities of a model, which a task's labels
/// multiply, or logarithms of any weights, which they add up (expected logarithms, say). A truth is a class or a
/// component of one.
pub(crate) struct Sweep {
    /// `[truth]`.
    pub(crate) prior: Vec<f64>,
    /// `[worker][answer][truth]`.
    pub(crate) cells: Vec<f64>,
    /// Whether the weights are logarithms. Products are several times faster, but only weights that are floored keep
    /// them in range.
    pub(crate) logarithms: bool,
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
        let floored = |values: &[f64]| values.iter().map(|value| value.max(FLOOR)).collect();
        Self {
            prior: floored(model.prior()),
            cells: floored(model.confusions()),
            logarithms: false,
            hard: false,
        }
    }

    /// Weights that are all alike, as logarithms, to be filled in.
    pub(crate) fn of_logarithms(truths: usize, cells: usize) -> Self {
        Self {
            prior: vec![0.0; truths],
            cells: vec![0.0; cells],
            logarithms: true,
            hard: false,
        }
    }

    /// The same weights with all mass of a task on its best truth.
    pub(crate) fn hard(self) -> Self {
        Self { hard: true, ..self }
    }

    /// Writes the posterior rows; with `counting` also sums the answer counts in the same pass.
    pub(crate) fn run<'t>(
        &self,
        labels: impl Into<ByTask<'t>>,
        rows: &mut [f64],
        counting: bool,
    ) -> SweepResult {
        let labels = labels.into();
        with_width!(self.prior.len(), width => self.run_width(width, labels, rows, counting))
    }

    fn run_width<W: Width>(
        &self,
        width: W,
        labels: ByTask<'_>,
        rows: &mut [f64],
        counting: bool,
    ) -> SweepResult {
        let ranges = balanced_ranges(labels.starts, chunk_count(labels, width.get()));
        let parts = map_rows(ranges, rows, width.get(), |tasks, rows| {
            let mut tally = counting.then(|| Tally::new(width, &self.cells));
            let mut scratch = vec![0.0; width.get()];
            let (mut likelihood, mut change) = (LogProduct::default(), 0.0f64);
            for (task, row) in tasks.zip(rows.chunks_exact_mut(width.get())) {
                let weights = match &tally {
                    Some(tally) => tally.weights(width, &self.cells),
                    None => (&self.cells[..], width.get()),
                };
                self.task(width, weights, labels, task, &mut scratch, &mut likelihood);
                // Each task first by itself, so that tasks do not wait for each other's sums.
                let mut moved = 0.0;
                for (old, &new) in row.iter_mut().zip(&scratch) {
                    moved += (*old - new).abs();
                    *old = new;
                }
                change += moved;
                if let Some(tally) = &mut tally {
                    tally.add_task(width, labels.class_count, labels.task(task), row);
                }
            }
            (likelihood.logarithm(), change, tally)
        });
        let log_likelihood = parts.iter().map(|part| part.0).sum();
        let change = parts.iter().map(|part| part.1).sum();
        let tallies: Option<Vec<Tally>> = parts.into_iter().map(|part| part.2).collect();
        let sum = |tallies: Vec<Tally>| Tally::sum(width, labels.class_count, self.cells.len(), &tallies);
        SweepResult {
            log_likelihood,
            change,
            counts: tallies.map(sum),
        }
    }

    /// Posterior of one task into `row`; the likelihood of its labels into `likelihood`. The weights are those of the sweep,
    /// so many numbers from one (worker, answer) to the next.
    #[inline(always)]
    fn task<W: Width>(
        &self,
        width: W,
        weights: (&[f64], usize),
        labels: ByTask<'_>,
        task: usize,
        row: &mut [f64],
        likelihood: &mut LogProduct,
    ) {
        let row = &mut row[..width.get()];
        let (workers, answers) = labels.task(task);
        let gold = labels.gold(task);
        let product = match self.logarithms {
            true => None,
            false => self.multiply(width, weights, labels, task, row),
        };
        // Without labels a task says nothing about the model.
        let counted = !workers.is_empty();
        if let Some((sum, scale)) = product {
            if counted {
                likelihood.multiply(sum, scale);
            }
        } else {
            let log_sum = self.add_logarithms(width, (workers, answers), labels.class_count, gold, row);
            if counted {
                likelihood.add(log_sum);
            }
        }
        if self.hard {
            let best = label_of(row);
            if counted {
                likelihood.multiply(row[best], 0.0);
            }
            row.fill(0.0);
            row[best] = 1.0;
        }
    }

    /// The posterior by products; returns their sum and the logarithm of what it is to be multiplied by. None if nothing
    /// is left of them: a truth that is known but all but impossible.
    #[inline(always)]
    fn multiply<W: Width>(
        &self,
        width: W,
        (weights, stride): (&[f64], usize),
        labels: ByTask<'_>,
        task: usize,
        row: &mut [f64],
    ) -> Option<(f64, f64)> {
        let (truths, answers) = (width.get(), labels.class_count);
        let (workers, given) = labels.task(task);
        row.copy_from_slice(&self.prior[..truths]);
        let mut scale = 0.0;
        // After so many factors of at least FLOOR the largest product is still far from the smallest number.
        for (workers, given) in workers.chunks(STEPS).zip(given.chunks(STEPS)) {
            let labels = workers.iter().zip(given);
            let places =
                labels.map(|(&worker, &label)| (worker as usize * answers + label as usize) * stride);
            width.multiply(row, weights, places);
            if workers.len() == STEPS && row.iter().all(|&value| value < SMALL) {
                row.iter_mut().for_each(|value| *value *= SMALL.recip());
                scale += SMALL.ln();
            }
        }
        if let Some(truth) = labels.gold(task) {
            keep_truth(row, truth, answers, 0.0);
        }
        let sum: f64 = row.iter().sum();
        if sum < SMALLEST {
            return None;
        }
        // One division; what rounding puts above 1 is 1.
        let share = sum.recip();
        row.iter_mut()
            .for_each(|value| *value = (*value * share).min(1.0));
        Some((sum, scale))
    }

    /// The posterior by sums of logarithms; returns the logarithm of the likelihood.
    fn add_logarithms<W: Width>(
        &self,
        width: W,
        (workers, labels): (&[u32], &[u16]),
        answers: usize,
        gold: Option<usize>,
        row: &mut [f64],
    ) -> f64 {
        let truths = width.get();
        let log = |weight: f64| if self.logarithms { weight } else { weight.ln() };
        for (row, &prior) in row.iter_mut().zip(&self.prior) {
            *row = log(prior);
        }
        for (&worker, &label) in workers.iter().zip(labels) {
            let cells = &self.cells[(worker as usize * answers + label as usize) * truths..][..truths];
            for k in 0..truths {
                row[k] += log(cells[k]);
            }
        }
        if let Some(truth) = gold {
            keep_truth(row, truth, answers, f64::NEG_INFINITY);
        }
        softmax_in_place(row)
    }
}

/// The logarithm of a long product, with few logarithms taken.
struct LogProduct {
    product: f64,
    logarithm: f64,
}

impl Default for LogProduct {
    fn default() -> Self {
        Self {
            product: 1.0,
            logarithm: 0.0,
        }
    }
}

impl LogProduct {
    /// Multiplies by `factor e^scale`; the factor is a normal number.
    #[inline(always)]
    fn multiply(&mut self, factor: f64, scale: f64) {
        const SMALL: f64 = 1e-150;
        self.logarithm += scale;
        if factor < SMALL {
            self.logarithm += factor.ln();
            return;
        }
        // Of two numbers that are no smaller the product is still a normal one.
        self.product *= factor;
        if !(SMALL..SMALL.recip()).contains(&self.product) {
            self.logarithm += self.product.ln();
            self.product = 1.0;
        }
    }

    fn add(&mut self, logarithm: f64) {
        self.logarithm += logarithm;
    }

    fn logarithm(&self) -> f64 {
        self.logarithm + self.product.ln()
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
            let a = products.run(&annotations, &mut by_products, true);
            let b = logarithms.run(&annotations, &mut by_logarithms, true);
            // A sum of 200 logarithms of up to 36 is off by up to 200 x 36 x 2^-53.
            for (a, b) in by_products.iter().zip(&by_logarithms) {
                prop_assert!((a - b).abs() < 1e-11, "{a} {b}");
            }
            prop_assert!((a.log_likelihood - b.log_likelihood).abs() < 1e-10 * b.log_likelihood.abs().max(1.0));
        }
    }
}
