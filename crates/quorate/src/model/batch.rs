//! The way of a sweep through a chunk of tasks: a few at a time, step by step.
//!
//! A task on its own is a chain: its weights have to come from memory before they can be multiplied, the sum
//! is needed for the division, and only then are there counts. So a batch of tasks goes through each step
//! before the next one starts, and the processor works on many chains at once:
//!
//! 1. where the weights of each label stand; of the batch after this one, so that they can be fetched in
//!    time;
//! 2. products (or sums of logarithms) of each task's weights;
//! 3. posteriors, their change, the likelihood;
//! 4. counts, in the lines of memory that the weights came from.

use std::ops::Range;

use quorate_machine::dispatch::Kernel;

use super::consensus::label_of;
use super::log_product::LogProduct;
use super::posterior::{Sweep, SweepResult, softmax_in_place};
use super::tally::Tally;
use crate::annotations::keep_truth;
use crate::annotations::row_offsets::{RowOffsets, StridedTable, ranges_in_batch};
use crate::blocks::Block;
use crate::linalg::width::Width;

/// Most tasks in a batch: enough to work side by side, few enough that their lines are still near when they
/// are counted.
pub(super) const TASKS: usize = 8;

/// Most numbers in the rows of a batch: they stay in the nearest cache.
const NUMBERS: usize = 2048;

/// Factors between two looks at the size of a product; one below 2^-SHIFT is then multiplied by 2^SHIFT.
/// Factors are at least 2^-52, so the largest product stays above 2^-(SHIFT + 8 x 52), and shifts are worth
/// more than what is lost.
const STEPS: usize = 8;
const SHIFT: i64 = 432;
const SMALL: f64 = power_of_two(-SHIFT);

/// Sums of products below this have lost digits.
const SMALLEST: f64 = 1e-290;

/// Two to the power of an exponent of a normal number.
const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// A chunk of tasks on which a sweep is to be run.
pub(super) struct SweepChunk<'c, W> {
    pub(super) sweep: &'c Sweep,
    pub(super) width: W,
    pub(super) labels: Block<'c>,
    pub(super) tasks: Range<usize>,
    /// The posteriors of the tasks, to be replaced.
    pub(super) rows: &'c mut [f64],
    /// Where the answers are counted, if they are to be.
    pub(super) tally: Option<&'c mut Tally>,
}

impl<W: Width> Kernel for SweepChunk<'_, W> {
    /// Likelihood and change.
    type Output = SweepResult;

    #[inline(always)]
    fn run(mut self) -> SweepResult {
        let (width, truths) = (self.width, self.width.get());
        let size = (NUMBERS / truths).clamp(1, TASKS);
        let (mut new, mut sums) = (vec![0.0; size * truths], [1.0; TASKS]);
        let (mut change, mut mass) = (width.row(), width.row());
        let mut likelihood = LogProduct::default();
        let rows = std::mem::take(&mut self.rows);
        let mut places = RowOffsets::new(self.labels, self.tasks.clone(), size, self.weights());
        let mut first = self.tasks.start;
        for old in rows.chunks_mut(size * truths) {
            let count = old.len() / truths;
            let mut batch = Batch {
                first,
                starts: &self.labels.starts[first..first + count + 1],
                rows: &mut new[..count * truths],
                sums: &mut sums[..count],
            };
            first += count;
            let places = places.next(self.weights());
            if self.sweep.logarithms {
                self.add(&mut batch, places, &mut likelihood)
            } else {
                self.multiply(&mut batch, places, &mut likelihood)
            }
            if self.sweep.hard {
                batch.harden(truths);
            }
            let present = batch.leave_out_silent_tasks();
            likelihood.multiply(batch.sums);
            width.add_rows(change.as_mut(), [old, batch.rows], &[1.0; TASKS], |old, new| {
                (old - new).abs()
            });
            width.add_rows(mass.as_mut(), [batch.rows; 2], &present, |_, new| new);
            old.copy_from_slice(batch.rows);
            if let Some(tally) = &mut self.tally {
                let counts = tally.counts(width);
                for (row, labels) in batch.rows.chunks_exact(truths).zip(batch.ranges()) {
                    width.scatter(row, counts, &places[labels]);
                }
            }
        }
        if let Some(tally) = self.tally {
            tally.add_mass(mass.as_ref());
        }
        SweepResult {
            log_likelihood: likelihood.logarithm(),
            change: change.as_ref().iter().sum(),
            ..SweepResult::default()
        }
    }
}

impl<W: Width> SweepChunk<'_, W> {
    /// The table of the weights.
    #[inline(always)]
    fn weights(&self) -> StridedTable<'_> {
        match &self.tally {
            Some(tally) => tally.weights(self.width, self.labels.class_count, &self.sweep.cells),
            None => StridedTable::of_cells(&self.sweep.cells, self.width.get(), self.labels.class_count, 1),
        }
    }

    /// Posteriors by products.
    #[inline(always)]
    fn multiply(&self, batch: &mut Batch<'_>, places: &[usize], likelihood: &mut LogProduct) {
        let (width, truths, weights) = (self.width, self.width.get(), self.weights().values);
        let prior = &self.sweep.prior[..truths];
        let (mut product, mut shifts) = (width.row(), [0; TASKS]);
        let rows = batch.ranges().zip(batch.rows.chunks_exact_mut(truths));
        for (task, (labels, row)) in rows.enumerate() {
            let product = product.as_mut();
            product.copy_from_slice(prior);
            // After so many factors the largest product is still far from the smallest number.
            let (steps, rest) = places[labels].as_chunks::<STEPS>();
            for places in steps {
                width.gather(product, weights, places, |product, weight| product * weight);
                if product.iter().all(|&product| product < SMALL) {
                    product.iter_mut().for_each(|product| *product *= SMALL.recip());
                    shifts[task] -= SHIFT;
                }
            }
            width.gather(product, weights, rest, |product, weight| product * weight);
            row.copy_from_slice(product);
        }
        if self.labels.gold.is_some() {
            for (task, row) in batch.rows.chunks_exact_mut(truths).enumerate() {
                if let Some(truth) = self.labels.gold(batch.first + task) {
                    keep_truth(row, truth, self.labels.class_count, 0.0);
                }
            }
        }
        let mut lost = false;
        for (row, sum) in batch.rows.chunks_exact_mut(truths).zip(&mut *batch.sums) {
            *sum = row.iter().sum();
            lost |= *sum < SMALLEST;
            // One division; what rounding puts above 1 is 1.
            let share = sum.recip();
            row.iter_mut()
                .for_each(|value| *value = (*value * share).min(1.0));
        }
        if lost {
            self.find_lost(batch, places, &mut shifts, likelihood);
        }
        likelihood.shift(shifts.iter().sum());
    }

    /// Posteriors by logarithms of tasks of whose products nothing is left: a truth that is known but all but
    /// impossible.
    #[cold]
    #[inline(never)]
    fn find_lost(
        &self,
        batch: &mut Batch<'_>,
        places: &[usize],
        shifts: &mut [i64; TASKS],
        likelihood: &mut LogProduct,
    ) {
        for (task, labels) in batch.ranges().enumerate() {
            if batch.sums[task] < SMALLEST {
                likelihood.add(self.add_task(batch, task, &places[labels], f64::ln));
                (batch.sums[task], shifts[task]) = (1.0, 0);
            }
        }
    }

    /// Posteriors by sums of logarithms.
    #[inline(never)]
    fn add(&self, batch: &mut Batch<'_>, places: &[usize], likelihood: &mut LogProduct) {
        for (task, labels) in batch.ranges().enumerate() {
            let silent = labels.is_empty();
            let log_sum = self.add_task(batch, task, &places[labels], |weight| weight);
            batch.sums[task] = 1.0;
            if !silent {
                likelihood.add(log_sum);
            }
        }
    }

    /// The posterior of one task of the batch by sums of logarithms; returns the logarithm of the likelihood.
    #[inline(always)]
    fn add_task(
        &self,
        batch: &mut Batch<'_>,
        task: usize,
        places: &[usize],
        logarithm: impl Fn(f64) -> f64,
    ) -> f64 {
        let (width, truths, weights) = (self.width, self.width.get(), self.weights().values);
        let row = &mut batch.rows[task * truths..][..truths];
        for (sum, &prior) in row.iter_mut().zip(&self.sweep.prior) {
            *sum = logarithm(prior);
        }
        width.gather(row, weights, places, |sum, weight| sum + logarithm(weight));
        if let Some(truth) = self.labels.gold(batch.first + task) {
            keep_truth(row, truth, self.labels.class_count, f64::NEG_INFINITY);
        }
        softmax_in_place(row)
    }
}

/// A few tasks on their way through the steps.
struct Batch<'b> {
    first: usize,
    /// Where the labels of each task start; one entry more than there are tasks.
    starts: &'b [u32],
    /// The new posteriors; products or logarithms before that.
    rows: &'b mut [f64],
    /// What each task adds to the likelihood as a factor.
    sums: &'b mut [f64],
}

impl<'b> Batch<'b> {
    /// The labels of each task among those of the batch.
    #[inline(always)]
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<'b> {
        ranges_in_batch(self.starts)
    }

    /// Puts all mass of a task on its best truth.
    #[inline(never)]
    fn harden(&mut self, truths: usize) {
        for (row, sum) in self.rows.chunks_exact_mut(truths).zip(&mut *self.sums) {
            let best = label_of(row);
            *sum *= row[best];
            row.fill(0.0);
            row[best] = 1.0;
        }
    }

    /// Without labels a task says nothing about the model; returns 1 for every task that has some, 0 for the
    /// others.
    #[inline(always)]
    fn leave_out_silent_tasks(&mut self) -> [f64; TASKS] {
        let mut present = [1.0; TASKS];
        // Few batches have such tasks; a look at all of them at once is cheaper than one at each.
        let ends = || self.starts.iter().zip(&self.starts[1..]);
        if ends().fold(false, |any, (start, end)| any | (start == end)) {
            for (task, _) in ends().enumerate().filter(|(_, (start, end))| start == end) {
                (self.sums[task], present[task]) = (1.0, 0.0);
            }
        }
        present
    }
}
