//! The cells of the confusion matrices that any label can touch, and where the labels touch them.
//!
//! A label of worker m, answer a, on a task with candidates k touches the cells (a, k) of m. Cells stand by
//! worker, then truth, then answer, so that a column of a matrix is one run; a cell knows its (answer, truth)
//! among all workers, too. Counts are gathered, not scattered: each cell knows its places among the
//! posteriors, and is summed by one thread in one order.

use rustc_hash::FxHashMap;

use super::candidates::Candidates;
use crate::annotations::Annotations;
use crate::parallel::{add_up, even_ranges, map_ranges};

/// Seen cells of all workers. The "places" of a table are those of [`Candidates`].
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// The cell of each (label, candidate), by task, label, candidate.
    of_label: Vec<u32>,
    /// Where the entries of a task start in `of_label`.
    task_starts: Vec<usize>,
    /// The truth and the first cell of each column of each worker.
    columns: Vec<Column>,
    /// The column of each cell.
    column_of: Vec<u32>,
    /// The place of each cell's (answer, truth) among the crowd's.
    crowd_of: Vec<u32>,
    /// Whether the answer is the truth, for each of the crowd's pairs.
    right_pairs: Vec<bool>,
    classes: usize,
    /// Where each cell's places start in `places`; one entry more than there are cells.
    place_starts: Vec<u32>,
    places: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Column {
    truth: u16,
    start: u32,
}

/// Expected counts of labels.
pub(super) struct CellCounts {
    /// Of each cell and each column.
    pub(super) cells: Vec<f64>,
    pub(super) columns: Vec<f64>,
    /// Of each (answer, truth) over all workers, and of the wrong ones of each truth.
    pub(super) crowd: Vec<f64>,
    pub(super) crowd_columns: Vec<f64>,
}

/// A (label, candidate) on the way into its cell.
#[derive(Clone, Copy, Default)]
struct Entry {
    truth: u16,
    answer: u16,
    place: u32,
    of_label: u32,
}

/// Bytes for each (label, candidate), if each has a cell, a column and a pair of the crowd's of its own.
pub(super) const BYTES_A_TOUCH: u64 = 12 + 4 + 4 + (4 + 4 + 4 + 8) + (8 + 8) + 8;

/// Number of (label, candidate) pairs.
pub(super) fn touches(annotations: &Annotations, candidates: &Candidates) -> u64 {
    let touches = |task| annotations.task_slices(task).0.len() * candidates.of_task(task).len();
    (0..annotations.task_count())
        .map(|task| touches(task) as u64)
        .sum()
}

impl Cells {
    /// Lays out the cells. The caller has made sure that there are fewer than 2^32 touches.
    pub(super) fn new(annotations: &Annotations, candidates: &Candidates) -> Self {
        let (entries, worker_starts, task_starts) = by_worker(annotations, candidates);
        let mut cells = Self {
            of_label: vec![0; entries.len()],
            task_starts,
            classes: annotations.class_count(),
            places: entries.iter().map(|entry| entry.place).collect(),
            ..Self::default()
        };
        let mut crowd = FxHashMap::default();
        for range in worker_starts.windows(2) {
            let own = &entries[range[0]..range[1]];
            for (position, entry) in own.iter().enumerate() {
                let before = position.checked_sub(1).map(|before| &own[before]);
                let new_column = before.is_none_or(|before| before.truth != entry.truth);
                if new_column {
                    let (truth, start) = (entry.truth, cells.column_of.len() as u32);
                    cells.columns.push(Column { truth, start });
                }
                if new_column || before.is_none_or(|before| before.answer != entry.answer) {
                    let next = crowd.len() as u32;
                    let pair = *crowd.entry((entry.answer, entry.truth)).or_insert(next);
                    cells.crowd_of.push(pair);
                    cells.column_of.push(cells.columns.len() as u32 - 1);
                    cells.place_starts.push((range[0] + position) as u32);
                }
                cells.of_label[entry.of_label as usize] = cells.column_of.len() as u32 - 1;
            }
        }
        cells.right_pairs = vec![false; crowd.len()];
        for ((answer, truth), pair) in crowd {
            cells.right_pairs[pair as usize] = answer == truth;
        }
        cells.place_starts.push(entries.len() as u32);
        cells
    }

    /// The cells of all labels of a task, candidates fastest.
    pub(super) fn of_task(&self, task: usize) -> &[u32] {
        &self.of_label[self.task_starts[task]..self.task_starts[task + 1]]
    }

    /// The column of a cell.
    pub(super) fn column_of(&self, cell: usize) -> usize {
        self.column_of[cell] as usize
    }

    /// The place of a cell among the crowd's.
    pub(super) fn crowd_of(&self, cell: usize) -> usize {
        self.crowd_of[cell] as usize
    }

    /// Expected counts under these posteriors.
    pub(super) fn count(&self, posterior: &[f64]) -> CellCounts {
        let parts = map_ranges(even_ranges(self.column_of.len(), 256), |cells| {
            let sum = |cell: usize| {
                let places = self.place_starts[cell] as usize..self.place_starts[cell + 1] as usize;
                let add = |sum: f64, &place: &u32| sum + posterior[place as usize];
                self.places[places].iter().fold(0.0, add)
            };
            cells.map(sum).collect::<Vec<f64>>()
        });
        let cells = parts.concat();
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut crowd = vec![0.0; self.right_pairs.len()];
        let mut crowd_columns = vec![0.0; self.classes];
        // One thread: few additions, in an order that does not depend on the threads.
        for (place, column) in self.columns.iter().enumerate() {
            let next = self.columns.get(place + 1);
            let end = next.map_or(cells.len(), |next| next.start as usize);
            let own = column.start as usize..end;
            let mut total = 0.0;
            for (count, &pair) in cells[own.clone()].iter().zip(&self.crowd_of[own]) {
                let pair = pair as usize;
                total += count;
                crowd[pair] += count;
                if !self.right_pairs[pair] {
                    crowd_columns[usize::from(column.truth)] += count;
                }
            }
            columns.push(total);
        }
        CellCounts {
            cells,
            columns,
            crowd,
            crowd_columns,
        }
    }
}

/// All (label, candidate) pairs sorted by worker, truth and answer; where each worker's start; where each
/// task's start among the labels.
fn by_worker(annotations: &Annotations, candidates: &Candidates) -> (Vec<Entry>, Vec<usize>, Vec<usize>) {
    let mut worker_starts = vec![0usize; annotations.worker_count() + 1];
    for task in 0..annotations.task_count() {
        for (worker, _) in annotations.labels_of_task(task) {
            worker_starts[worker + 1] += candidates.of_task(task).len();
        }
    }
    add_up(&mut worker_starts);
    let mut next = worker_starts.clone();
    let mut entries = vec![Entry::default(); *worker_starts.last().unwrap_or(&0)];
    let (mut task_starts, mut touched) = (vec![0], 0);
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
