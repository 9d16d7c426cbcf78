//! Row offsets of the labels of a few tasks in a table by (worker, answer), computed one batch ahead and
//! prefetched.
//!
//! The offsets of all labels of a batch of tasks are computed together, several in one instruction, and one
//! batch ahead: where the table is larger than the near caches, its cache lines are prefetched before they
//! are needed.

use std::ops::Range;

use quorate_machine::prefetch;

use crate::blocks::Block;
use crate::linalg::aligned::LINE;

/// Bytes of a table up to which it stays in a near cache, and prefetching is not worth its instructions.
const CACHED: usize = 1 << 20;

/// The row offsets of the labels of a range of tasks, batch by batch.
pub(crate) struct RowOffsets<'t> {
    labels: Block<'t>,
    /// Tasks after the batch ahead.
    rest: Range<usize>,
    /// Most tasks in a batch.
    size: usize,
    ahead: Vec<usize>,
    current: Vec<usize>,
}

/// A table in rows of `width` numbers, with a stride for workers and one for answers.
#[derive(Clone, Copy)]
pub(crate) struct StridedTable<'v> {
    pub(crate) values: &'v [f64],
    pub(crate) width: usize,
    /// Rows from one worker to the next.
    pub(crate) worker_stride: usize,
    /// Rows from one answer to the next.
    pub(crate) answer_stride: usize,
    /// Numbers to prefetch from the start of a row on.
    pub(crate) prefetched: usize,
}

impl<'v> StridedTable<'v> {
    /// So many rows for each (worker, answer), of which the first is used.
    #[inline(always)]
    pub(crate) fn of_cells(values: &'v [f64], width: usize, answers: usize, rows: usize) -> Self {
        Self {
            values,
            width,
            worker_stride: answers * rows,
            answer_stride: rows,
            prefetched: 1,
        }
    }
}

impl<'t> RowOffsets<'t> {
    /// Before the first batch of these tasks.
    #[inline(always)]
    pub(crate) fn new(labels: Block<'t>, tasks: Range<usize>, size: usize, table: StridedTable<'_>) -> Self {
        let mut offsets = Self {
            labels,
            rest: tasks,
            size,
            ahead: Vec::new(),
            current: Vec::new(),
        };
        offsets.find_ahead(table);
        offsets
    }

    /// The row of each label of the next batch of tasks; only numbers in the table may have changed.
    #[inline(always)]
    pub(crate) fn next(&mut self, table: StridedTable<'_>) -> &[usize] {
        std::mem::swap(&mut self.current, &mut self.ahead);
        self.find_ahead(table);
        &self.current
    }

    #[inline(always)]
    fn find_ahead(&mut self, table: StridedTable<'_>) {
        let labels = self.labels;
        let end = (self.rest.start + self.size).min(self.rest.end);
        let range = labels.starts[self.rest.start] as usize..labels.starts[end] as usize;
        self.rest.start = end;
        // Factors of 32 bits: the product of longer ones is no single instruction where several are made at
        // once.
        let (worker_stride, answer_stride) = (table.worker_stride as u32, table.answer_stride as u32);
        let row = |(&worker, &label): (&u32, &u16)| {
            let first = u64::from(worker) * u64::from(worker_stride);
            (first + u64::from(label) * u64::from(answer_stride)) as usize
        };
        let given = labels.worker[range.clone()].iter().zip(&labels.label[range]);
        self.ahead.clear();
        self.ahead.extend(given.map(row));
        if size_of_val(table.values) > CACHED {
            for row in &self.ahead {
                for number in (0..table.prefetched).step_by(LINE) {
                    prefetch(table.values, row * table.width + number);
                }
            }
        }
    }
}

/// The labels of each task among those of a batch, given where they start; one entry more than there are
/// tasks.
#[inline(always)]
pub(crate) fn ranges_in_batch(starts: &[u32]) -> impl Iterator<Item = Range<usize>> {
    let of_batch = move |start: u32| (start - starts[0]) as usize;
    starts
        .windows(2)
        .map(move |ends| of_batch(ends[0])..of_batch(ends[1]))
}
