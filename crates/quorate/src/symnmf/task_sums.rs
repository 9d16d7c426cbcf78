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
use crate::blocks::{Block, Extent, Pass, Passes, Stage, State, wire_format};
use crate::linalg::aligned::AlignedVec;
use crate::linalg::small::{add_gram, norm_squared};
use crate::linalg::width::{Width, with_width};
use crate::parallel::{add, balanced_ranges, map_ranges, private_chunks};
use crate::{Context, Result};

/// Most tasks in a batch: enough to prefetch, few enough that their records stay in the nearest cache.
const TASKS: usize = 8;

/// Most numbers in the sums of a batch.
const NUMBERS: usize = 2048;

/// The sums over all tasks at a factor, and what they are made of.
pub(super) struct TaskSums {
    given: AnswersGiven,
    pass: SumOverTasks,
    /// The sums of the last pass.
    rows: Vec<f64>,
    record: Record,
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
        let diagonals = classes / 2 + 1;
        Self { classes, diagonals }
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

    /// Rows of a worker that are sums.
    fn sum_rows(self) -> usize {
        self.rows() / 2
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

    /// Sum of squares of the matrix with these wrapped diagonals.
    fn square(self, rows: &[f64]) -> f64 {
        let square = |(diagonal, row)| self.multiplicity(diagonal) * norm_squared(row);
        rows.chunks_exact(self.classes).enumerate().map(square).sum()
    }

    /// Writes the wrapped diagonals of `U^T U`.
    fn wrap_gram(self, u: &[f64], gram: &mut [f64], rows: &mut [f64]) {
        let classes = self.classes;
        gram.fill(0.0);
        add_gram(u, u, classes, 1.0, gram);
        for (diagonal, row) in rows.chunks_exact_mut(classes).enumerate() {
            for (i, value) in row.iter_mut().enumerate() {
                *value = gram[i * classes + (i + diagonal) % classes];
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
        Ok(Self {
            given: passes.run(&mut CountAnswers {}, Stage::single("imputing"), context)?,
            pass: SumOverTasks::default(),
            rows: Vec::new(),
            record: Record::of(passes.class_count()),
        })
    }

    /// Sums over all tasks at this factor; returns the objective.
    pub(super) fn sum(
        &mut self,
        factor: &[f64],
        passes: &mut Passes<'_>,
        stage: Stage,
        context: &mut Context,
    ) -> Result<f64> {
        self.pass.factor.clear();
        self.pass.factor.extend_from_slice(factor);
        let sums = passes.run(&mut self.pass, stage, context)?;
        self.rows = sums.rows;
        Ok(context.run(|| self.own_pairs(factor)) + sums.objective)
    }

    /// What pairs of a label with itself take off the objective.
    fn own_pairs(&self, factor: &[f64]) -> f64 {
        let (record, classes) = (self.record, self.record.classes);
        let size = classes * classes;
        let workers = factor
            .par_chunks(size)
            .zip(self.given.answers.par_chunks(classes));
        let scratch = || (vec![0.0; size], vec![0.0; record.diagonals * classes]);
        let parts = workers
            .with_min_len(1 << 10)
            .map_init(scratch, |(gram, wrapped), (u, answers)| {
                let rows = u.chunks_exact(classes).zip(answers);
                let rows: f64 = rows
                    .map(|(row, &labels)| f64::from(labels) * norm_squared(row))
                    .sum();
                let labels: u32 = answers.iter().sum();
                record.wrap_gram(u, gram, wrapped);
                rows - 0.5 * f64::from(labels) * record.square(wrapped)
            });
        parts.collect::<Vec<f64>>().iter().sum()
    }

    /// Replaces the factor of every worker, which is that of the last sums, by the least-squares solution
    /// against all others.
    pub(super) fn solve(&self, factor: &mut [f64]) {
        let (record, classes) = (self.record, self.record.classes);
        let (size, numbers) = (classes * classes, record.sum_rows() * classes);
        let workers = factor.par_chunks_mut(size).zip(self.rows.par_chunks(numbers));
        workers.enumerate().with_min_len(256).for_each_init(
            || (Scratch::new(classes), vec![0.0; numbers], vec![0.0; size]),
            |(scratch, own, g), (worker, (u, sums))| {
                if !self.given.shares[worker] {
                    return;
                }
                let answers = &self.given.answers[worker * classes..][..classes];
                let labels: u32 = answers.iter().sum();
                own[..size].copy_from_slice(u);
                record.wrap_gram(u, g, &mut own[size..]);
                // In each sum a label met itself, too.
                let rows = own.chunks_exact_mut(classes).zip(sums.chunks_exact(classes));
                for (row, (own, sums)) in rows.enumerate() {
                    let times = f64::from(answers.get(row).copied().unwrap_or(labels));
                    for (own, sum) in own.iter_mut().zip(sums) {
                        *own = sum - times * *own;
                    }
                }
                let (b, symmetric) = own.split_at_mut(size);
                record.unwrap(symmetric, g);
                scratch.solve_in_ball(g, b, u, RADIUS);
            },
        );
    }
}

/// Counts the labels of each (worker, answer), and notes who has a label beside another one.
pub(crate) struct CountAnswers {}
wire_format!(46 CountAnswers {});

impl Pass for CountAnswers {
    type State = AnswersGiven;

    fn start(&mut self, extent: Extent) -> AnswersGiven {
        AnswersGiven::none(extent.workers, extent.classes)
    }

    fn visit(&mut self, given: &mut AnswersGiven, block: Block<'_>, _: &mut [f64]) {
        let (workers, classes) = (block.worker_count(), block.class_count());
        let chunks = private_chunks(block.label_count(), workers * classes);
        let parts = map_ranges(balanced_ranges(block.starts, chunks), |tasks| {
            let mut given = AnswersGiven::none(workers, classes);
            for task in tasks {
                let (workers, answers) = block.task(task);
                for (&worker, &label) in workers.iter().zip(answers) {
                    given.answers[worker as usize * classes + label as usize] += 1;
                    given.shares[worker as usize] |= workers.len() > 1;
                }
            }
            given
        });
        parts.into_iter().for_each(|part| given.merge(part));
    }
}

/// Labels of each (worker, answer), and whether a worker has a label beside another one.
pub(crate) struct AnswersGiven {
    answers: Vec<u32>,
    shares: Vec<bool>,
}
wire_format!(47 AnswersGiven { answers, shares });

impl AnswersGiven {
    fn none(workers: usize, classes: usize) -> Self {
        Self {
            answers: vec![0; workers * classes],
            shares: vec![false; workers],
        }
    }
}

impl State for AnswersGiven {
    fn merge(&mut self, other: Self) {
        add(&mut self.answers, &other.answers);
        let shares = self.shares.iter_mut().zip(other.shares);
        shares.for_each(|(any, other)| *any |= other);
    }
}

/// Sums over the tasks at a factor, in a table for each range of a block's tasks.
#[derive(Default)]
pub(crate) struct SumOverTasks {
    factor: Vec<f64>,
    /// Used again by the next pass.
    tables: Vec<AlignedVec>,
}
wire_format!(48 SumOverTasks { factor } default { tables });

impl Pass for SumOverTasks {
    type State = SumRows;

    /// Writes the factor into every table, with sums of zero.
    fn start(&mut self, extent: Extent) -> SumRows {
        let record = Record::of(extent.classes);
        let (size, length) = (record.classes * record.classes, extent.workers * record.numbers());
        let tables = extent.tables(length);
        self.tables.truncate(tables);
        self.tables.resize_with(tables, || AlignedVec::zero(length));
        let Some((first, others)) = self.tables.split_first_mut() else {
            return SumRows::default();
        };
        let classes = record.classes;
        let workers = first
            .par_chunks_mut(record.numbers())
            .zip(self.factor.par_chunks(size));
        let scratch = || (vec![0.0; size], vec![0.0; record.diagonals * classes]);
        workers
            .with_min_len(1 << 10)
            .for_each_init(scratch, |(gram, wrapped), (numbers, u)| {
                numbers.fill(0.0);
                record.wrap_gram(u, gram, wrapped);
                let read = numbers.chunks_exact_mut(classes).step_by(2);
                let rows = u.chunks_exact(classes).chain(wrapped.chunks_exact(classes));
                read.zip(rows).for_each(|(read, row)| read.copy_from_slice(row));
            });
        others
            .par_iter_mut()
            .for_each(|table| table.copy_from_slice(first));
        SumRows::default()
    }

    fn visit(&mut self, sums: &mut SumRows, labels: Block<'_>, _: &mut [f64]) {
        let ranges = balanced_ranges(labels.starts, self.tables.len());
        let chunks = ranges.into_par_iter().zip(&mut self.tables);
        let sum = |(tasks, table): (Range<usize>, &mut AlignedVec)| with_width!(labels.class_count, width => dispatch::run(SumChunk { width, labels, tasks, table }));
        let parts: Vec<f64> = chunks.map(sum).collect();
        sums.objective += parts.iter().sum::<f64>();
        sums.classes = labels.class_count;
    }

    /// Adds up the rows of the tables that are sums.
    fn finish(&mut self, sums: &mut SumRows) {
        const ROWS: usize = 1 << 10;
        let Some(first) = self.tables.first().filter(|_| sums.classes > 0) else {
            return;
        };
        let classes = sums.classes;
        sums.rows = vec![0.0; first.len() / 2];
        let chunks = sums.rows.par_chunks_mut(ROWS * classes).enumerate();
        chunks.for_each(|(chunk, rows)| {
            for table in &self.tables {
                let read = table[2 * chunk * ROWS * classes..].chunks_exact(classes);
                let sum_rows = read.skip(1).step_by(2);
                for (row, sum) in rows.chunks_exact_mut(classes).zip(sum_rows) {
                    add(row, sum);
                }
            }
        });
    }
}

/// The part of some tasks in the objective, and the rows of the table that are sums over them.
#[derive(Default)]
pub(crate) struct SumRows {
    objective: f64,
    /// Length of a row; 0 before the first block.
    classes: usize,
    rows: Vec<f64>,
}
wire_format!(49 SumRows { objective, classes, rows } check SumRows::fits);

impl SumRows {
    fn fits(&self) -> bool {
        !self.objective.is_nan()
    }
}

impl State for SumRows {
    fn merge(&mut self, other: Self) {
        self.objective += other.objective;
        if self.rows.is_empty() {
            self.rows = other.rows;
        } else {
            add(&mut self.rows, &other.rows);
        }
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
        let (width, labels, tasks, table) = (self.width, self.labels, self.tasks, self.table);
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
                    let labels = &workers[labels.clone()];
                    width.gather(t, &table[place..], labels, |sum, value| sum + value);
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
            let mut context = Context::new(0);
            let mut blocks = &annotations;
            let mut passes = Passes::over(&mut blocks);
            let mut sums = TaskSums::new(&mut passes, &mut context).unwrap();
            for tables in [1, 2, 8] {
                sums.pass.factor.clone_from(&factor);
                // The second time in used tables.
                for _ in 0..2 {
                    let mut found = sums.pass.start(Extent {
                        workers: 12,
                        classes,
                        labels: u64::from(u32::MAX),
                        max_tables: tables,
                    });
                    assert_eq!(sums.pass.tables.len(), tables);
                    sums.pass.visit(&mut found, annotations.as_block(), &mut []);
                    sums.pass.finish(&mut found);
                    sums.rows = found.rows;
                    let objective = sums.own_pairs(&factor) + found.objective;
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
                assert!(gap < 1e-6, "{classes} classes, {tables} tables: {gap}");
            }
        }
    }
}
