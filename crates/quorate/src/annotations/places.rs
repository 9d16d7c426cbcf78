//! Where the labels of a few tasks stand in a table of (worker, answer).
//!
//! They are found for all labels of a batch of tasks together, several in one instruction, and one batch ahead: where the
//! table is larger than the near caches its lines are on their way when they are needed.

use std::ops::Range;

use super::ByTask;
use crate::kernel::prefetch;
use crate::linalg::lines::LINE;

/// Bytes of a table above which it is not in a near cache, and fetching ahead is worth its instructions.
const FAR: usize = 1 << 20;

/// The places of the labels of a range of tasks, batch by batch.
pub(crate) struct Places<'t> {
    labels: ByTask<'t>,
    /// Tasks after the batch ahead.
    rest: Range<usize>,
    /// Most tasks in a batch.
    size: usize,
    ahead: Vec<usize>,
    current: Vec<usize>,
}

/// A table in which places are found, as rows of so many numbers.
#[derive(Clone, Copy)]
pub(crate) struct Table<'v> {
    pub(crate) values: &'v [f64],
    pub(crate) width: usize,
    /// Rows from one worker to the next.
    pub(crate) of_worker: usize,
    /// Rows from one answer to the next.
    pub(crate) of_answer: usize,
    /// Numbers from a place on that are going to be used.
    pub(crate) reach: usize,
}

impl<'v> Table<'v> {
    /// So many rows for each (worker, answer), of which the first is used.
    #[inline(always)]
    pub(crate) fn of_cells(values: &'v [f64], width: usize, answers: usize, rows: usize) -> Self {
        Self {
            values,
            width,
            of_worker: answers * rows,
            of_answer: rows,
            reach: 1,
        }
    }
}

impl<'t> Places<'t> {
    /// Before the first batch of these tasks.
    #[inline(always)]
    pub(crate) fn new(labels: ByTask<'t>, tasks: Range<usize>, size: usize, table: Table<'_>) -> Self {
        let mut places = Self {
            labels,
            rest: tasks,
            size,
            ahead: Vec::new(),
            current: Vec::new(),
        };
        places.find_ahead(table);
        places
    }

    /// The rows of the next batch of tasks, for each of its labels; only numbers in the table may have changed.
    #[inline(always)]
    pub(crate) fn next(&mut self, table: Table<'_>) -> &[usize] {
        std::mem::swap(&mut self.current, &mut self.ahead);
        self.find_ahead(table);
        &self.current
    }

    #[inline(always)]
    fn find_ahead(&mut self, table: Table<'_>) {
        let labels = self.labels;
        let end = (self.rest.start + self.size).min(self.rest.end);
        let range = labels.starts[self.rest.start] as usize..labels.starts[end] as usize;
        self.rest.start = end;
        // Factors of 32 bits: the product of longer ones is no single instruction where several are made at once.
        let (of_worker, of_answer) = (table.of_worker as u32, table.of_answer as u32);
        let place = |(&worker, &label): (&u32, &u16)| {
            let of_worker = u64::from(worker) * u64::from(of_worker);
            (of_worker + u64::from(label) * u64::from(of_answer)) as usize
        };
        let given = labels.worker[range.clone()].iter().zip(&labels.label[range]);
        self.ahead.clear();
        self.ahead.extend(given.map(place));
        if size_of_val(table.values) > FAR {
            for place in &self.ahead {
                for number in (0..table.reach).step_by(LINE) {
                    prefetch(table.values, place * table.width + number);
                }
            }
        }
    }
}

/// The labels of each task among those of a batch, given where they start; one entry more than there are tasks.
#[inline(always)]
pub(crate) fn ranges_in_batch(starts: &[u32]) -> impl Iterator<Item = Range<usize>> {
    let of_batch = move |start: u32| (start - starts[0]) as usize;
    starts
        .windows(2)
        .map(move |ends| of_batch(ends[0])..of_batch(ends[1]))
}
