//! The cells of the confusion matrices that any label can touch, and where the labels touch them.
//!
//! A label of worker m, answer a, on a task with candidates k touches the cells (a, k) of m. Cells stand by worker, then
//! truth, then answer, so that a column of a matrix is one run. Counts are gathered, not scattered: each cell knows
//! its places among the posteriors, and is summed by one thread in one order.

use std::ops::Range;

use super::candidates::Candidates;
use crate::annotations::Annotations;
use crate::parallel::{even_ranges, map_ranges};

/// Seen cells of all workers. The "places" of a table are those of [`Candidates`].
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// The cell of each (label, candidate), by task, label, candidate.
    of_label: Vec<u32>,
    /// Where the entries of a task start in `of_label`.
    task_starts: Vec<usize>,
    /// The worker, the truth and the first cell of each column.
    columns: Vec<Column>,
    /// The answer of each cell.
    answers: Vec<u16>,
    /// Where each cell's places start in `places`; one entry more than there are cells.
    place_starts: Vec<u32>,
    places: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Column {
    worker: u32,
    truth: u16,
    start: u32,
}

/// One column with its counts, for the caller to turn into log-probabilities.
pub(super) struct ColumnCounts<'a> {
    pub(super) worker: usize,
    pub(super) truth: u16,
    pub(super) answers: &'a [u16],
    pub(super) counts: &'a mut [f64],
}

/// A (label, candidate) on the way into its cell.
#[derive(Clone, Copy)]
struct Entry {
    truth: u16,
    answer: u16,
    place: u32,
    of_label: u32,
}

/// Bytes for each (label, candidate) while the cells are laid out.
pub(super) const BYTES_A_TOUCH: u64 = 12 + 4 + 4 + 8 + 8 + 2 + 4;

/// Number of (label, candidate) pairs.
pub(super) fn touches(annotations: &Annotations, candidates: &Candidates) -> u64 {
    (0..annotations.task_count())
        .map(|task| (annotations.task_slices(task).0.len() * candidates.of_task(task).len()) as u64)
        .sum()
}

impl Cells {
    /// Lays out the cells. The caller has made sure that there are fewer than 2^32 touches.
    pub(super) fn new(annotations: &Annotations, candidates: &Candidates) -> Self {
        let (entries, worker_starts, task_starts) = by_worker(annotations, candidates);
        let mut cells = Self {
            of_label: vec![0; entries.len()],
            task_starts,
            places: entries.iter().map(|entry| entry.place).collect(),
            ..Self::default()
        };
        for (worker, range) in worker_starts.windows(2).enumerate() {
            let own = &entries[range[0]..range[1]];
            for (position, entry) in own.iter().enumerate() {
                let before = position.checked_sub(1).map(|before| &own[before]);
                let new_column = before.is_none_or(|before| before.truth != entry.truth);
                if new_column {
                    cells.columns.push(Column {
                        worker: worker as u32,
                        truth: entry.truth,
                        start: cells.answers.len() as u32,
                    });
                }
                if new_column || before.is_none_or(|before| before.answer != entry.answer) {
                    cells.answers.push(entry.answer);
                    cells.place_starts.push((range[0] + position) as u32);
                }
                cells.of_label[entry.of_label as usize] = cells.answers.len() as u32 - 1;
            }
        }
        cells.place_starts.push(entries.len() as u32);
        cells
    }

    /// The cells of all labels of a task, candidates fastest.
    pub(super) fn of_task(&self, task: usize) -> &[u32] {
        &self.of_label[self.task_starts[task]..self.task_starts[task + 1]]
    }

    /// Expected counts of every cell under these posteriors, turned into what `finish` makes of each column.
    pub(super) fn count(&self, posterior: &[f64], finish: impl Fn(ColumnCounts<'_>) + Sync) -> Vec<f64> {
        let parts = map_ranges(even_ranges(self.columns.len(), 256), |columns| {
            let mut values = Vec::new();
            for column in columns {
                let cells = self.column_cells(column);
                let from = values.len();
                values.extend(cells.clone().map(|cell| {
                    let places = self.place_starts[cell] as usize..self.place_starts[cell + 1] as usize;
                    let sum = |sum: f64, &place: &u32| sum + posterior[place as usize];
                    self.places[places].iter().fold(0.0, sum)
                }));
                let Column { worker, truth, .. } = self.columns[column];
                finish(ColumnCounts {
                    worker: worker as usize,
                    truth,
                    answers: &self.answers[cells],
                    counts: &mut values[from..],
                });
            }
            values
        });
        parts.concat()
    }

    fn column_cells(&self, column: usize) -> Range<usize> {
        let end = self
            .columns
            .get(column + 1)
            .map_or(self.answers.len(), |next| next.start as usize);
        self.columns[column].start as usize..end
    }
}

/// All (label, candidate) pairs sorted by worker, truth and answer; where each worker's start; where each task's start
/// among the labels.
fn by_worker(annotations: &Annotations, candidates: &Candidates) -> (Vec<Entry>, Vec<usize>, Vec<usize>) {
    let mut worker_starts = vec![0usize; annotations.worker_count() + 1];
    for task in 0..annotations.task_count() {
        for (worker, _) in annotations.labels_of_task(task) {
            worker_starts[worker + 1] += candidates.of_task(task).len();
        }
    }
    for worker in 0..annotations.worker_count() {
        worker_starts[worker + 1] += worker_starts[worker];
    }
    let mut next = worker_starts.clone();
    let empty = Entry {
        truth: 0,
        answer: 0,
        place: 0,
        of_label: 0,
    };
    let mut entries = vec![empty; *worker_starts.last().unwrap_or(&0)];
    let mut task_starts = vec![0];
    let mut touched = 0;
    for task in 0..annotations.task_count() {
        for (worker, answer) in annotations.labels_of_task(task) {
            for (candidate, &truth) in candidates.of_task(task).iter().enumerate() {
                entries[next[worker]] = Entry {
                    truth,
                    answer: answer as u16,
                    place: (candidates.starts()[task] + candidate) as u32,
                    of_label: touched as u32,
                };
                next[worker] += 1;
                touched += 1;
            }
        }
        task_starts.push(touched);
    }
    for range in worker_starts.windows(2) {
        entries[range[0]..range[1]].sort_unstable_by_key(|entry| (entry.truth, entry.answer, entry.of_label));
    }
    (entries, worker_starts, task_starts)
}
