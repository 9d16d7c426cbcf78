//! Labels of an input that is grouped by task: they are appended in the order of the table (CSR).

use quorate::annotations::CodeColumns;
use quorate::internal::blocks::TaskBlock;
use rayon::prelude::*;

/// Labels by task, tasks in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Grouped {
    /// Where each task's labels start.
    starts: Vec<u32>,
    worker: Vec<u32>,
    label: Vec<u16>,
    /// Tasks whose labels are not in order of worker yet.
    unsorted: Vec<u32>,
    /// Rows that repeat the worker of another on the same task, of all tasks that are sorted.
    repeated: u64,
}

/// The labels of one part of the input.
pub(super) struct Runs<'p> {
    /// The task of each run of rows.
    pub(super) tasks: &'p [u32],
    /// Where each run starts.
    pub(super) starts: &'p [u32],
    pub(super) worker: &'p mut [u32],
    pub(super) label: &'p mut [u16],
}

impl Runs<'_> {
    /// Whether each run belongs to the next task; the first may continue the `last` one.
    fn follow(&self, last: Option<u32>) -> bool {
        let Some(&first) = self.tasks.first() else {
            return true;
        };
        let next = last.map_or(0, |last| last + 1);
        (first == next || Some(first) == last) && self.tasks.windows(2).all(|pair| pair[1] == pair[0] + 1)
    }

    /// Sorts the labels of each run by worker, except for the first and the last run, which may continue in
    /// other parts; returns how many rows repeat an earlier one.
    fn sort(&mut self) -> u64 {
        let mut scratch = Vec::new();
        let inside = self.starts.windows(2).skip(1).map(|run| {
            let run = run[0] as usize..run[1] as usize;
            TaskBlock::sort_task(&mut self.worker[run.clone()], &mut self.label[run], &mut scratch)
        });
        inside.sum()
    }
}

impl Grouped {
    /// The last task so far.
    fn last_task(&self) -> Option<u32> {
        (self.starts.len() as u32).checked_sub(1)
    }

    /// Whether the labels of these parts can be appended.
    pub(super) fn takes(&self, parts: &[Runs<'_>]) -> bool {
        let mut last = self.last_task();
        parts.iter().all(|part| {
            let follows = part.follow(last);
            last = part.tasks.last().copied().or(last);
            follows
        })
    }

    /// Appends the labels of these parts; [`takes`](Self::takes) says whether that is possible.
    pub(super) fn append(&mut self, mut parts: Vec<Runs<'_>>) {
        self.repeated += parts.par_iter_mut().map(Runs::sort).sum::<u64>();
        let mut base = self.worker.len() as u32;
        for part in &parts {
            let (Some(&first), Some(&last)) = (part.tasks.first(), part.tasks.last()) else {
                continue;
            };
            let goes_on = Some(first) == self.last_task();
            let new = part.starts.iter().skip(usize::from(goes_on));
            self.starts.extend(new.map(|start| base + start));
            self.unsorted.extend([first, last]);
            base += part.worker.len() as u32;
        }
        let Self { worker, label, .. } = self;
        rayon::join(
            || {
                parts
                    .iter()
                    .for_each(|part| worker.extend_from_slice(part.worker))
            },
            || parts.iter().for_each(|part| label.extend_from_slice(part.label)),
        );
    }

    /// Bytes that [`expect`](Self::expect) reserves.
    pub(super) fn bytes_for(&self, more: impl Fn(usize) -> usize) -> u64 {
        (4 * more(self.starts.len()) + 6 * more(self.worker.len())) as u64
    }

    /// Bytes for so many rows more: vectors that are full double.
    pub(super) fn bytes_to_come(&self, rows: usize) -> usize {
        let capacity = self.label.capacity();
        if self.label.len() + rows > capacity {
            6 * capacity.max(rows)
        } else {
            0
        }
    }

    /// Reserves memory; `more` estimates how many more are to come, given how many there are. Where there is
    /// not enough memory, the vectors grow step by step.
    pub(super) fn expect(&mut self, more: impl Fn(usize) -> usize) {
        let _ = self.starts.try_reserve(more(self.starts.len()));
        let _ = self.worker.try_reserve(more(self.worker.len()));
        let _ = self.label.try_reserve(more(self.label.len()));
    }

    /// The rows, each with its task.
    pub(super) fn into_columns(mut self) -> CodeColumns {
        self.starts.push(self.worker.len() as u32);
        CodeColumns::of_block(TaskBlock {
            starts: self.starts,
            worker: self.worker,
            label: self.label,
            gold: Vec::new(),
        })
    }

    /// The labels by task, in order of worker, and how many rows repeat an earlier one.
    pub(super) fn into_block(mut self) -> (TaskBlock, u64) {
        self.starts.push(self.worker.len() as u32);
        self.unsorted.dedup();
        let mut scratch = Vec::new();
        for task in self.unsorted {
            let run = self.starts[task as usize] as usize..self.starts[task as usize + 1] as usize;
            self.repeated +=
                TaskBlock::sort_task(&mut self.worker[run.clone()], &mut self.label[run], &mut scratch);
        }
        let block = TaskBlock {
            starts: self.starts,
            worker: self.worker,
            label: self.label,
            gold: Vec::new(),
        };
        (block, self.repeated)
    }
}
