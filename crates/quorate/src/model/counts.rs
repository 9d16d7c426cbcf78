//! Expected counts of (worker, answer, truth): the sufficient statistics of the model.
//!
//! ```text
//! C_m(a, k) = sum over tasks n that m answered with a of q_n(k),      S(k) = sum over tasks of q_n(k)
//! ```

use std::ops::Range;

use quorate_machine::dispatch::{self, Kernel};
use rayon::prelude::*;

use super::batch::TASKS;
use super::{Consensus, DawidSkene};
use crate::annotations::Annotations;
use crate::annotations::row_offsets::{RowOffsets, StridedTable, ranges_in_batch};
use crate::blocks::{Block, State, wire_format};
use crate::linalg::small::column_sums;
use crate::linalg::width::{Width, with_width};
use crate::parallel::{add, add_in_order, balanced_ranges, map_ranges, private_chunks};

/// Expected answer counts against a consensus. Counts of disjoint sets of tasks add up: see
/// [`merge`](Self::merge).
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerCounts {
    /// Number of answers a worker can give; as many as truths, except where a class has several components.
    answers: usize,
    /// `[worker][answer][truth]`.
    #[doc(hidden)]
    pub cells: Vec<f64>,
    /// Mass of each class over the tasks that have labels.
    #[doc(hidden)]
    pub mass: Vec<f64>,
}

/// Counts answers against posterior rows.
pub fn count_answers(annotations: &Annotations, consensus: &Consensus) -> AnswerCounts {
    count_rows(annotations.into(), consensus.as_slice(), consensus.class_count())
}

/// Counts answers against rows of `truths` probabilities.
pub(crate) fn count_rows(labels: Block<'_>, rows: &[f64], truths: usize) -> AnswerCounts {
    let ranges = balanced_ranges(labels.starts, chunk_count(labels, truths));
    let parts = map_ranges(ranges, |tasks| {
        let mut counts = AnswerCounts::zero_components(labels.worker_count, labels.class_count, truths);
        let rows = &rows[tasks.start * truths..tasks.end * truths];
        with_width!(truths, width => {
            dispatch::run(Counting { width, labels, tasks, rows, counts: &mut counts });
        });
        counts
    });
    fold(parts)
}

/// Counts the answers to a range of tasks, of which `rows` are the posteriors, in batches like those of a
/// sweep.
struct Counting<'c, W> {
    width: W,
    labels: Block<'c>,
    tasks: Range<usize>,
    rows: &'c [f64],
    counts: &'c mut AnswerCounts,
}

impl<W: Width> Kernel for Counting<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (width, truths) = (self.width, self.width.get());
        let AnswerCounts { cells, mass, .. } = self.counts;
        let answers = self.labels.class_count;
        let table = StridedTable::of_cells(cells, truths, answers, 1);
        let mut places = RowOffsets::new(self.labels, self.tasks.clone(), TASKS, table);
        let starts = &self.labels.starts[self.tasks.start..=self.tasks.end];
        for (batch, rows) in self.rows.chunks(TASKS * truths).enumerate() {
            let starts = &starts[batch * TASKS..];
            let places = places.next(StridedTable::of_cells(cells, truths, answers, 1));
            for (row, labels) in rows.chunks_exact(truths).zip(ranges_in_batch(starts)) {
                if !labels.is_empty() {
                    width.scatter(row, cells, &places[labels]);
                    add(mass, row);
                }
            }
        }
    }
}

/// Chunks for private counts, which with the weights beside them take two numbers a cell.
pub(super) fn chunk_count(labels: Block<'_>, truths: usize) -> usize {
    let cells = labels.worker_count * labels.class_count * truths;
    private_chunks(labels.label.len(), 2 * cells)
}

/// Adds the parts in order.
fn fold(parts: Vec<AnswerCounts>) -> AnswerCounts {
    let mut parts = parts.into_iter();
    let mut total = parts.next().expect("there is at least one chunk");
    let parts: Vec<AnswerCounts> = parts.collect();
    let cells = parts.iter().map(|part| &part.cells[..]).collect();
    add_in_order(&mut total.cells, cells);
    parts.iter().for_each(|part| add(&mut total.mass, &part.mass));
    total
}

impl AnswerCounts {
    fn fits(&self) -> bool {
        let block = self.answers.checked_mul(self.mass.len()).unwrap_or(0);
        block > 0 && self.cells.len().is_multiple_of(block)
    }

    /// No counts yet.
    pub fn zero(workers: usize, classes: usize) -> Self {
        Self::zero_components(workers, classes, classes)
    }

    /// No counts yet, of truths that are components of the classes.
    pub(crate) fn zero_components(workers: usize, answers: usize, truths: usize) -> Self {
        let cells = vec![0.0; workers * answers * truths];
        Self::from_cells(answers, cells, vec![0.0; truths])
    }

    /// From the cells `[worker][answer][truth]` and the mass of each truth.
    pub(crate) fn from_cells(answers: usize, cells: Vec<f64>, mass: Vec<f64>) -> Self {
        Self { answers, cells, mass }
    }

    /// Takes all counts away again.
    pub(crate) fn clear(&mut self) {
        self.cells.fill(0.0);
        self.mass.fill(0.0);
    }

    /// Adds `count` answers of a worker to tasks of a class.
    pub fn add(&mut self, worker: usize, answer: usize, truth: usize, count: f64) {
        self.cells[(worker * self.answers + answer) * self.mass.len() + truth] += count;
    }

    /// Adds the counts of other tasks.
    pub fn merge(&mut self, other: &Self) {
        add(&mut self.cells, &other.cells);
        add(&mut self.mass, &other.mass);
    }

    /// Number of workers.
    pub fn worker_count(&self) -> usize {
        self.cells.len() / (self.answers * self.mass.len())
    }

    /// The counts of these truths alone.
    #[doc(hidden)]
    pub fn select_truths(&self, kept: &[usize]) -> Self {
        let select = |table: &[f64]| select_columns(table, self.mass.len(), kept);
        Self::from_cells(self.answers, select(&self.cells), select(&self.mass))
    }

    /// Share of each truth in the mass; uniform if there is none.
    pub fn prior(&self) -> Vec<f64> {
        let total: f64 = self.mass.iter().sum();
        let uniform = 1.0 / self.mass.len() as f64;
        let share = |mass: &f64| if total > 0.0 { mass / total } else { uniform };
        self.mass.iter().map(share).collect()
    }

    /// The counts of one worker, `[answer][truth]`.
    pub fn worker(&self, worker: usize) -> &[f64] {
        let block = self.answers * self.mass.len();
        &self.cells[worker * block..][..block]
    }

    /// The counts summed over workers, `[answer][truth]`.
    pub(crate) fn pooled(&self) -> Vec<f64> {
        let block = self.answers * self.mass.len();
        let mut pooled = vec![0.0; block];
        self.cells
            .chunks_exact(block)
            .for_each(|cells| add(&mut pooled, cells));
        pooled
    }

    /// The pooled confusion matrix of the crowd; a class without mass gets a uniform column.
    pub(crate) fn pooled_matrix(&self) -> Vec<f64> {
        let classes = self.mass.len();
        let (mut pooled, uniform) = (self.pooled(), vec![1.0 / classes as f64; classes * classes]);
        normalise_columns(&mut pooled, classes, 0.0, &uniform);
        pooled
    }

    /// How many labels each worker gave to tasks of each class, `[worker][truth]`.
    pub fn labels_per_truth(&self) -> Vec<f64> {
        let classes = self.mass.len();
        let columns = |worker| column_sums(self.worker(worker), classes);
        (0..self.worker_count()).flat_map(columns).collect()
    }

    /// The model that maximises the expected likelihood with `smoothing` pseudo-counts in every cell:
    /// `A_m(a, k) = (C_m(a, k) + s) / sum_a (C_m(a, k) + s)`, `prior(k) = S(k) / sum S`.
    ///
    /// A worker that never met a class gets the pooled column of the crowd there: it has no say of its own.
    pub fn to_model(&self, smoothing: f64) -> DawidSkene {
        let classes = self.mass.len();
        let pooled = self.pooled_matrix();
        let mut confusion = self.cells.clone();
        let matrices = confusion.par_chunks_mut(classes * classes).with_min_len(1 << 10);
        matrices.for_each(|block| normalise_columns(block, classes, smoothing, &pooled));
        DawidSkene::new(self.prior(), confusion)
    }
}

wire_format!(3 AnswerCounts { answers, cells, mass } check AnswerCounts::fits);

impl State for AnswerCounts {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

/// The columns `kept` of a row-major table of this width.
pub(crate) fn select_columns(table: &[f64], width: usize, kept: &[usize]) -> Vec<f64> {
    let select = |row: &[f64]| -> Vec<f64> { kept.iter().map(|&column| row[column]).collect() };
    table.chunks_exact(width).flat_map(select).collect()
}

/// Scales the columns of a K x K block to sum 1 after adding `smoothing`; an empty column becomes that of
/// `fallback`.
fn normalise_columns(block: &mut [f64], classes: usize, smoothing: f64, fallback: &[f64]) {
    for truth in 0..classes {
        let column = (truth..classes * classes).step_by(classes);
        let sum: f64 = column.clone().map(|cell| block[cell] + smoothing).sum();
        for cell in column {
            block[cell] = if sum > 0.0 {
                (block[cell] + smoothing) / sum
            } else {
                fallback[cell]
            };
        }
    }
}
