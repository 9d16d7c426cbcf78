//! The sums over tasks behind the imputation without pairs, and the least squares that they make.
//!
//! Every chunk of tasks has a table of its own with a record for each worker, in rows of K numbers:
//!
//! ```text
//! U row, B row      for each answer
//! W row, G row      for each d = 0 ..= K / 2      (W: U^T U)
//! ```
//!
//! What is read lies beside what is added to, so a label waits for four cache lines (K = 4), prefetched one
//! batch of tasks before. Symmetric matrices are kept as wrapped diagonals: row `d` has the entries `(i, i +
//! d mod K)`, and half of these rows say all.

use std::ops::Range;

use quorate_machine::dispatch::{self, Kernel};
use rayon::prelude::*;

use super::least_squares::Scratch;
use super::robust::RADIUS;
use crate::annotations::row_offsets::{RowOffsets, StridedTable, ranges_in_batch};
use crate::blocks::{Block, Passes, Stage};
use crate::context::Context;
use crate::error::Result;
use crate::linalg::aligned::AlignedVec;
use crate::linalg::small::{add_gram, norm_squared};
use crate::linalg::width::{Width, with_width};
use crate::parallel::{MAX_CHUNKS, add, balanced_ranges, map_ranges, private_chunks};

/// Most tasks in a batch: enough to prefetch, few enough that their records stay in the nearest cache.
const TASKS: usize = 8;

/// Most numbers in the sums of a batch.
const NUMBERS: usize = 2048;

/// The sums over all tasks, and what they are made of.
pub(super) struct TaskSums {
    /// A table for each range of a block's tasks.
    pub(super) tables: Vec<AlignedVec>,
    /// Labels of each (worker, answer).
    pub(super) answers: Vec<u32>,
    /// Whether a worker has a label beside another one.
    pub(super) shares: Vec<bool>,
    pub(super) record: Record,
}

/// How a worker's numbers are laid out.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub(super) classes: usize,
    diagonals: usize,
}

impl Record {
    #[inline(always)]
    fn of(classes: usize) -> Self {
        Self {
            classes,
            diagonals: classes / 2 + 1,
        }
    }

    /// Rows of a worker.
    #[inline(always)]
    fn rows(self) -> usize {
        2 * (self.classes + self.diagonals)
    }

    /// Numbers of a worker.
    fn numbers(self) -> usize {
        self.rows() * self.classes
    }

    /// Where the wrapped diagonals start.
    #[inline(always)]
    fn symmetric(self) -> usize {
        2 * self.classes * self.classes
    }

    /// The table by answers.
    #[inline(always)]
    fn by_answer(self, values: &[f64]) -> StridedTable<'_> {
        StridedTable {
            values,
            width: self.classes,
            worker_stride: self.rows(),
            answer_stride: 2,
            prefetched: 2 * self.classes,
        }
    }

    /// The wrapped diagonals, by worker.
    #[inline(always)]
    fn by_worker(self, values: &[f64]) -> StridedTable<'_> {
        StridedTable {
            values: &values[self.symmetric().min(values.len())..],
            width: self.classes,
            worker_stride: self.rows(),
            answer_stride: 0,
            prefetched: 2 * self.diagonals * self.classes,
        }
    }

    /// How often an entry of each wrapped diagonal counts in a sum over the whole matrix.
    fn multiplicity(self, diagonal: usize) -> f64 {
        if diagonal == 0 || 2 * diagonal == self.classes {
            1.0
        } else {
            2.0
        }
    }

    /// Sum of squares of the matrix whose wrapped diagonals are every second row.
    fn square(self, rows: &[f64]) -> f64 {
        let diagonals = rows.chunks_exact(self.classes).step_by(2).enumerate();
        diagonals
            .map(|(diagonal, row)| self.multiplicity(diagonal) * norm_squared(row))
            .sum()
    }

    /// Writes the wrapped diagonals of a symmetric matrix into every second row.
    fn wrap(self, matrix: &[f64], rows: &mut [f64]) {
        let classes = self.classes;
        for (diagonal, row) in rows.chunks_exact_mut(classes).step_by(2).enumerate() {
            for (i, value) in row.iter_mut().enumerate() {
                *value = matrix[i * classes + (i + diagonal) % classes];
            }
        }
    }

    /// The matrix of which these are the wrapped diagonals.
    fn unwrap(self, rows: &[f64], matrix: &mut [f64]) {
        let classes = self.classes;
        for (diagonal, row) in rows.chunks_exact(classes).enumerate() {
            for (i, &value) in row.iter().enumerate() {
                let j = (i + diagonal) % classes;
                matrix[i * classes + j] = value;
                matrix[j * classes + i] = value;
            }
        }
    }
}

impl TaskSums {
    /// Nothing summed yet.
    pub(super) fn new(passes: &mut Passes<'_>, context: &mut Context) -> Result<Self> {
        let numbers = passes.worker_count() * Record::of(passes.class_count()).numbers();
        let chunks = private_chunks(passes.label_count() as usize, numbers);
        // Labels that are not in memory are elsewhere to save memory.
        let most = match (passes.caches_posteriors(), passes.are_remote()) {
            (true, _) => chunks,
            (_, true) => 1,
            _ => MAX_CHUNKS,
        };
        Self::in_chunks(passes, chunks.min(most), context)
    }

    fn in_chunks(passes: &mut Passes<'_>, chunks: usize, context: &mut Context) -> Result<Self> {
        let (workers, classes) = (passes.worker_count(), passes.class_count());
        let mut sums = Self::of_crowd(workers, classes, chunks);
        if passes.are_remote() {
            sums.count_remote(passes, context)?;
            return Ok(sums);
        }
        passes.each_block(Stage::single("imputing"), context, &mut |block, context| {
            context.run(|| sums.count(block));
            Ok(())
        })?;
        Ok(sums)
    }

    /// Nothing counted yet.
    pub(super) fn of_crowd(workers: usize, classes: usize, chunks: usize) -> Self {
        let record = Record::of(classes);
        let tables = (0..chunks).map(|_| AlignedVec::zero(workers * record.numbers()));
        Self {
            tables: tables.collect(),
            answers: vec![0; workers * classes],
            shares: vec![false; workers],
            record,
        }
    }

    /// Counts the labels of each (worker, answer), and notes who has a label beside another one.
    pub(super) fn count(&mut self, block: Block<'_>) {
        let (classes, workers) = (self.record.classes, self.shares.len());
        let ranges = balanced_ranges(block.starts, self.tables.len());
        let parts = map_ranges(ranges, |tasks| {
            let (mut answers, mut shares) = (vec![0; workers * classes], vec![false; workers]);
            for task in tasks {
                let (workers, given) = block.task(task);
                for (&worker, &label) in workers.iter().zip(given) {
                    answers[worker as usize * classes + label as usize] += 1;
                    shares[worker as usize] |= workers.len() > 1;
                }
            }
            (answers, shares)
        });
        for (answers, shares) in parts {
            self.answers
                .iter_mut()
                .zip(answers)
                .for_each(|(sum, more)| *sum += more);
            self.shares
                .iter_mut()
                .zip(shares)
                .for_each(|(any, other)| *any |= other);
        }
    }

    /// Sums over all tasks at this factor; returns the objective.
    pub(super) fn sum(
        &mut self,
        factor: &[f64],
        passes: &mut Passes<'_>,
        stage: Stage,
        context: &mut Context,
    ) -> Result<f64> {
        let mut objective = context.run(|| self.start(factor));
        if passes.are_remote() {
            return Ok(objective + self.sum_remote(factor, passes, stage, context)?);
        }
        passes.each_block(stage, context, &mut |block, context| {
            objective += context.run(|| self.sum_block(block));
            Ok(())
        })?;
        Ok(objective)
    }

    /// Adds the sums over the tasks of a block; returns their part of the objective.
    pub(super) fn sum_block(&mut self, labels: Block<'_>) -> f64 {
        let record = self.record;
        let ranges = balanced_ranges(labels.starts, self.tables.len());
        let chunks = ranges.into_par_iter().zip(&mut self.tables);
        let parts: Vec<f64> = chunks
            .map(|(tasks, table)| {
                with_width!(record.classes, width => dispatch::run(SumChunk { width, labels, tasks, table }))
            })
            .collect();
        parts.iter().sum()
    }

    /// Writes the factor into every table, with sums of zero; returns what pairs of a label with itself take
    /// off the objective.
    pub(super) fn start(&mut self, factor: &[f64]) -> f64 {
        let (record, size) = (self.record, self.record.classes * self.record.classes);
        let Some((first, others)) = self.tables.split_first_mut() else {
            return 0.0;
        };
        first
            .par_chunks_mut(record.numbers())
            .zip(factor.par_chunks(size))
            .with_min_len(1 << 10)
            .for_each_init(
                || vec![0.0; size],
                |gram, (numbers, u)| {
                    numbers.fill(0.0);
                    let (rows, symmetric) = numbers.split_at_mut(record.symmetric());
                    let rows = rows.chunks_exact_mut(2 * record.classes);
                    for (row, u) in rows.zip(u.chunks_exact(record.classes)) {
                        row[..record.classes].copy_from_slice(u);
                    }
                    gram.fill(0.0);
                    add_gram(u, u, record.classes, 1.0, gram);
                    record.wrap(gram, symmetric);
                },
            );
        others
            .par_iter_mut()
            .for_each(|table| table.copy_from_slice(first));
        let workers = first
            .chunks_exact(record.numbers())
            .zip(factor.chunks_exact(size));
        workers
            .zip(self.answers.chunks_exact(record.classes))
            .map(|((numbers, u), answers)| {
                let rows = u.chunks_exact(record.classes).zip(answers);
                let rows: f64 = rows
                    .map(|(row, &labels)| f64::from(labels) * norm_squared(row))
                    .sum();
                let labels: u32 = answers.iter().sum();
                rows - 0.5 * f64::from(labels) * record.square(&numbers[record.symmetric()..])
            })
            .sum()
    }

    /// Replaces the factor of every worker by the least-squares solution against all others.
    pub(super) fn solve(&self, factor: &mut [f64]) {
        let (record, classes) = (self.record, self.record.classes);
        let workers = factor.par_chunks_mut(classes * classes).enumerate();
        workers.with_min_len(256).for_each_init(
            || {
                let numbers = vec![0.0; record.numbers()];
                (Scratch::new(classes), numbers, vec![0.0; classes * classes])
            },
            |(scratch, sums, g), (worker, u)| {
                if !self.shares[worker] {
                    return;
                }
                let place = worker * record.numbers();
                sums.fill(0.0);
                for table in &self.tables {
                    add(sums, &table[place..]);
                }
                let answers = &self.answers[worker * classes..][..classes];
                let labels: u32 = answers.iter().sum();
                let own = &self.tables[0][place..];
                // Every second row is a sum, in which a label met itself, too. They move to the front.
                for row in 0..classes + record.diagonals {
                    let times = f64::from(answers.get(row).copied().unwrap_or(labels));
                    for k in 0..classes {
                        let read = own[2 * row * classes + k];
                        sums[row * classes + k] = sums[(2 * row + 1) * classes + k] - times * read;
                    }
                }
                let (b, symmetric) = sums.split_at_mut(classes * classes);
                record.unwrap(&symmetric[..record.diagonals * classes], g);
                scratch.solve_in_ball(g, b, u, RADIUS);
            },
        );
    }
}

/// A range of tasks whose sums go to a table.
struct SumChunk<'c, W> {
    width: W,
    labels: Block<'c>,
    tasks: Range<usize>,
    table: &'c mut [f64],
}

impl<W: Width> Kernel for SumChunk<'_, W> {
    /// The part of the objective.
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Self {
            width,
            labels,
            tasks,
            table,
        } = self;
        let classes = width.get();
        let record = Record::of(classes);
        // V_n and the wrapped diagonals of T_n.
        let of_task = (1 + record.diagonals) * classes;
        let size = (NUMBERS / of_task).clamp(1, TASKS);
        let mut sums = vec![0.0; size * of_task];
        let halves = (0..record.diagonals).map(|diagonal| 0.5 * record.multiplicity(diagonal));
        let worth: Vec<f64> = std::iter::once(-1.0).chain(halves).collect();
        let worth = worth.repeat(size);
        let mut objective = width.row();
        let mut by_answer = RowOffsets::new(labels, tasks.clone(), size, record.by_answer(table));
        let mut by_worker = RowOffsets::new(labels, tasks.clone(), size, record.by_worker(table));
        let starts = &labels.starts[tasks.start..=tasks.end];
        for first in (0..tasks.len()).step_by(size) {
            let starts = &starts[first..(first + size + 1).min(starts.len())];
            let answers = by_answer.next(record.by_answer(table));
            let workers = by_worker.next(record.by_worker(table));
            let sums = &mut sums[..(starts.len() - 1) * of_task];
            sums.fill(0.0);
            let ranges = || ranges_in_batch(starts);
            for (sums, labels) in sums.chunks_exact_mut(of_task).zip(ranges()) {
                let (v, t) = sums.split_at_mut(classes);
                width.gather(v, table, &answers[labels.clone()], |sum, value| sum + value);
                let mut place = record.symmetric();
                for t in t.chunks_exact_mut(classes) {
                    width.gather(t, &table[place..], &workers[labels.clone()], |sum, value| {
                        sum + value
                    });
                    place += 2 * classes;
                }
            }
            width.add_rows(objective.as_mut(), [sums; 2], &worth, |a, b| a * b);
            for (sums, labels) in sums.chunks_exact(of_task).zip(ranges()) {
                let (v, t) = sums.split_at(classes);
                width.scatter(v, &mut table[classes..], &answers[labels.clone()]);
                let mut place = record.symmetric() + classes;
                for t in t.chunks_exact(classes) {
                    width.scatter(t, &mut table[place..], &workers[labels.clone()]);
                    place += 2 * classes;
                }
            }
        }
        objective.as_ref().iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::annotations::Annotations;
    use crate::context::seeded;

    /// The normal equations of a worker and the objective by their definition: pair by pair of labels.
    struct ByPairs {
        g: Vec<f64>,
        b: Vec<f64>,
        objective: f64,
    }

    fn by_pairs(annotations: &Annotations, factor: &[f64]) -> ByPairs {
        let classes = annotations.class_count();
        let size = classes * classes;
        let mut pairs = ByPairs {
            g: vec![0.0; factor.len()],
            b: vec![0.0; factor.len()],
            objective: 0.0,
        };
        let row = |m: usize, a: usize| &factor[m * size + a * classes..][..classes];
        let gram = |m: usize| {
            let mut gram = vec![0.0; size];
            let u = &factor[m * size..][..size];
            add_gram(u, u, classes, 1.0, &mut gram);
            gram
        };
        for task in 0..annotations.task_count() {
            let labels: Vec<_> = annotations.labels_of_task(task).collect();
            for (place, &(m, a)) in labels.iter().enumerate() {
                for (_, &(j, b)) in labels.iter().enumerate().filter(|&(other, _)| other != place) {
                    add(&mut pairs.b[m * size + a * classes..][..classes], row(j, b));
                    add(&mut pairs.g[m * size..][..size], &gram(j));
                    let (mine, theirs) = (gram(m), gram(j));
                    pairs.objective += 0.5 * crate::linalg::small::dot(&mine, &theirs)
                        - crate::linalg::small::dot(row(m, a), row(j, b));
                }
            }
        }
        pairs
    }

    #[test]
    fn sums_are_those_of_the_pairs_for_any_number_of_classes_and_chunks() {
        for classes in 1..=9 {
            let mut rng = seeded(classes as u64, 0);
            // Tasks of one label to six, and a worker who shares no task.
            let mut labels = Vec::new();
            for task in 0..60u32 {
                for worker in 0..task % 7 {
                    let answer = rng.random_range(0..classes as u16);
                    labels.push((task, (worker * 5 + task) % 11, answer));
                }
            }
            labels.push((60, 11, 0));
            let annotations = Annotations::from_codes(61, 12, classes, labels).unwrap();
            let factor: Vec<f64> = (0..12 * classes * classes).map(|_| rng.random()).collect();
            let mut wanted = by_pairs(&annotations, &factor);
            let mut solution = factor.clone();
            let size = classes * classes;
            for (worker, u) in solution.chunks_exact_mut(size).enumerate() {
                let place = worker * size..(worker + 1) * size;
                let (g, b) = (&mut wanted.g[place.clone()], &mut wanted.b[place]);
                Scratch::new(classes).solve_in_ball(g, b, u, RADIUS);
            }
            assert_eq!(solution[11 * size..], factor[11 * size..]);
            for chunks in [1, 2, 8] {
                let (mut blocks, mut context) = (&annotations, Context::new(0));
                let mut passes = Passes::over(&mut blocks);
                let mut sums = TaskSums::in_chunks(&mut passes, chunks, &mut context).unwrap();
                // The second time in used tables.
                for _ in 0..2 {
                    let stage = Stage::single("imputing");
                    let objective = sums.sum(&factor, &mut passes, stage, &mut context).unwrap();
                    let gap = (objective - wanted.objective).abs();
                    assert!(
                        gap < 1e-9 * wanted.objective.abs(),
                        "{classes} classes: {objective}"
                    );
                }
                let mut found = factor.clone();
                sums.solve(&mut found);
                let gap = found.iter().zip(&solution).map(|(a, b)| (a - b).abs());
                let gap = gap.fold(0.0, f64::max);
                assert!(gap < 1e-6, "{classes} classes, {chunks} chunks: {gap}");
            }
        }
    }
}
