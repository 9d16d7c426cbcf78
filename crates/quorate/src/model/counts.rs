//! Expected counts of (worker, answer, truth): the sufficient statistics of the model.
//!
//! ```text
//! C_m(a, k) = sum over tasks n that m answered with a of q_n(k),      S(k) = sum over tasks of q_n(k)
//! ```

use super::{Consensus, DawidSkene};
use crate::annotations::Annotations;
use crate::parallel::{balanced_ranges, map_ranges};

/// Expected answer counts against a consensus. Counts of disjoint sets of tasks add up: see [`merge`](Self::merge).
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerCounts {
    /// Number of answers a worker can give; as many as truths, except where a class has several components.
    answers: usize,
    /// `[worker][answer][truth]`.
    pub(crate) cells: Vec<f64>,
    /// Mass of each class over the tasks that have labels.
    pub(crate) mass: Vec<f64>,
}

/// Counts answers against posterior rows.
pub fn count_answers(annotations: &Annotations, consensus: &Consensus) -> AnswerCounts {
    let (workers, answers) = (annotations.worker_count(), annotations.class_count());
    let truths = consensus.class_count();
    let ranges = balanced_ranges(annotations.task_starts(), chunk_count(annotations, truths));
    let parts = map_ranges(ranges, |tasks| {
        let mut counts = AnswerCounts::zero_components(workers, answers, truths);
        for task in tasks {
            let row = consensus.row(task);
            let mut labelled = false;
            for (worker, answer) in annotations.labels_of_task(task) {
                labelled = true;
                let cells = &mut counts.cells[(worker * answers + answer) * truths..][..truths];
                for (cell, q) in cells.iter_mut().zip(row) {
                    *cell += q;
                }
            }
            if labelled {
                for (mass, q) in counts.mass.iter_mut().zip(row) {
                    *mass += q;
                }
            }
        }
        counts
    });
    fold(parts)
}

/// Number of chunks for private counts: from the data alone, and few enough that the private counts stay a
/// small part of the memory of the labels.
pub(super) fn chunk_count(annotations: &Annotations, truths: usize) -> usize {
    let cells = annotations.worker_count() * annotations.class_count() * truths;
    (annotations.label_count() / (4 * cells).max(1)).clamp(1, 16)
}

/// Adds the parts in order.
pub(super) fn fold(parts: Vec<AnswerCounts>) -> AnswerCounts {
    let mut parts = parts.into_iter();
    let mut total = parts.next().expect("there is at least one chunk");
    for part in parts {
        total.merge(&part);
    }
    total
}

impl AnswerCounts {
    /// No counts yet.
    pub fn zero(workers: usize, classes: usize) -> Self {
        Self::zero_components(workers, classes, classes)
    }

    /// No counts yet, of truths that are components of the classes.
    pub(crate) fn zero_components(workers: usize, answers: usize, truths: usize) -> Self {
        Self {
            answers,
            cells: vec![0.0; workers * answers * truths],
            mass: vec![0.0; truths],
        }
    }

    /// Adds `count` answers of a worker to tasks of a class.
    pub fn add(&mut self, worker: usize, answer: usize, truth: usize, count: f64) {
        self.cells[(worker * self.answers + answer) * self.mass.len() + truth] += count;
    }

    /// Adds the counts of other tasks.
    pub fn merge(&mut self, other: &Self) {
        for (total, part) in self.cells.iter_mut().zip(&other.cells) {
            *total += part;
        }
        for (total, part) in self.mass.iter_mut().zip(&other.mass) {
            *total += part;
        }
    }

    /// Number of workers.
    pub fn worker_count(&self) -> usize {
        self.cells.len() / (self.answers * self.mass.len())
    }

    /// The counts of these truths alone.
    pub(crate) fn select_truths(&self, kept: &[usize]) -> Self {
        Self {
            answers: self.answers,
            cells: select_columns(&self.cells, self.mass.len(), kept),
            mass: select_columns(&self.mass, self.mass.len(), kept),
        }
    }

    /// Share of each truth in the mass; uniform if there is none.
    pub fn prior(&self) -> Vec<f64> {
        let total: f64 = self.mass.iter().sum();
        let share = |mass: &f64| match total > 0.0 {
            true => mass / total,
            false => 1.0 / self.mass.len() as f64,
        };
        self.mass.iter().map(share).collect()
    }

    /// The counts of one worker, `[answer][truth]`.
    pub fn worker(&self, worker: usize) -> &[f64] {
        let block = self.answers * self.mass.len();
        &self.cells[worker * block..][..block]
    }

    /// The counts summed over workers, `[answer][truth]`.
    pub fn pooled(&self) -> Vec<f64> {
        let block = self.answers * self.mass.len();
        let mut pooled = vec![0.0; block];
        for cells in self.cells.chunks_exact(block) {
            for (total, cell) in pooled.iter_mut().zip(cells) {
                *total += cell;
            }
        }
        pooled
    }

    /// The pooled confusion matrix of the crowd; a class without mass gets a uniform column.
    pub fn pooled_matrix(&self) -> Vec<f64> {
        let classes = self.mass.len();
        let mut pooled = self.pooled();
        normalise_columns(
            &mut pooled,
            classes,
            0.0,
            &vec![1.0 / classes as f64; classes * classes],
        );
        pooled
    }

    /// How many labels each worker gave to tasks of each class, `[worker][truth]`.
    pub fn labels_per_truth(&self) -> Vec<f64> {
        let classes = self.mass.len();
        let columns =
            |worker| (0..classes).map(move |k| self.worker(worker)[k..].iter().step_by(classes).sum());
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
        for block in confusion.chunks_exact_mut(classes * classes) {
            normalise_columns(block, classes, smoothing, &pooled);
        }
        DawidSkene::new(self.prior(), confusion)
    }
}

/// The columns `kept` of a row-major table of this width.
pub(crate) fn select_columns(table: &[f64], width: usize, kept: &[usize]) -> Vec<f64> {
    let rows = table.chunks_exact(width);
    rows.flat_map(|row| kept.iter().map(|&column| row[column]))
        .collect()
}

/// Scales the columns of a K x K block to sum 1 after adding `smoothing`; an empty column becomes that of
/// `fallback`.
fn normalise_columns(block: &mut [f64], classes: usize, smoothing: f64, fallback: &[f64]) {
    for truth in 0..classes {
        let sum: f64 = (0..classes)
            .map(|answer| block[answer * classes + truth] + smoothing)
            .sum();
        for answer in 0..classes {
            let cell = &mut block[answer * classes + truth];
            *cell = if sum > 0.0 {
                (*cell + smoothing) / sum
            } else {
                fallback[answer * classes + truth]
            };
        }
    }
}
