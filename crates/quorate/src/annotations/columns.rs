//! Ready-made columns: codes of tasks, workers and classes with their names, sorted into labels by task.

use std::ops::Range;

use rayon::prelude::*;

use super::builder::no_labels;
use super::{Annotations, Duplicates, MAX_CLASSES, MAX_LABELS, Names, RowCounts};
use crate::blocks::{TaskBlock, codes_below};
use crate::error::{Error, Result};
use crate::parallel::{add_up, balanced_ranges, even_ranges, map_rows, split_rows};

/// Codes of consecutive rows, one column for each part of a label. All columns have the same length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeColumns {
    /// The task of each row.
    pub task: Vec<u32>,
    /// The worker of each row.
    pub worker: Vec<u32>,
    /// The class of each row's label.
    pub label: Vec<u16>,
}

impl Annotations {
    /// The table of rows that are coded already, in one chunk or in several, one behind the other. Codes are
    /// indexes into the names; classes stand in the order of their names.
    ///
    /// ```
    /// use quorate::Annotations;
    /// use quorate::annotations::{CodeColumns, Duplicates, Names};
    ///
    /// let names = |names: &[&str]| -> Names { names.iter().copied().collect() };
    /// let rows = CodeColumns { task: vec![0, 0, 1], worker: vec![0, 1, 1], label: vec![0, 1, 1] };
    /// let annotations = Annotations::from_columns(
    ///     names(&["t1", "t2"]), names(&["ann", "bob"]), names(&["cat", "dog"]), vec![rows], Duplicates::Last,
    /// )?;
    /// assert_eq!(annotations.label_count(), 3);
    /// # Ok::<(), quorate::Error>(())
    /// ```
    pub fn from_columns(
        tasks: Names,
        workers: Names,
        classes: Names,
        chunks: Vec<CodeColumns>,
        duplicates: Duplicates,
    ) -> Result<Self> {
        let rows: usize = chunks.iter().map(|chunk| chunk.label.len()).sum();
        if rows == 0 {
            return Err(no_labels(0));
        }
        if rows.max(tasks.len()).max(workers.len()) > MAX_LABELS || classes.len() > MAX_CLASSES {
            return Err(Error::Mismatch(
                "there are more rows, tasks, workers or classes than a table can hold".into(),
            ));
        }
        for chunk in &chunks {
            chunk.validate(tasks.len(), workers.len(), classes.len())?;
        }
        let (block, repeated) = TaskBlock::sort(tasks.len(), chunks, duplicates);
        block.refuse_repeated(duplicates, &tasks, &workers)?;
        let rows = RowCounts {
            rows: rows as u64,
            abstentions: 0,
            repeated,
            duplicates,
        };
        Ok(Self::of_block(tasks, workers, classes, block, rows))
    }
}

/// The error of two labels of one worker on one task.
pub(super) fn repeated_label(tasks: &Names, task: usize, workers: &Names, worker: u32) -> Error {
    let (task, worker) = (
        tasks.get(task).to_owned(),
        workers.get(worker as usize).to_owned(),
    );
    Error::RepeatedLabel { task, worker }
}

impl CodeColumns {
    /// Adds a row.
    pub(super) fn push(&mut self, task: u32, worker: u32, label: u16) {
        self.task.push(task);
        self.worker.push(worker);
        self.label.push(label);
    }

    /// The rows of labels that are sorted by task, and no larger than they are.
    #[doc(hidden)]
    pub fn of_block(mut block: TaskBlock) -> Self {
        let mut task = Vec::with_capacity(block.label.len());
        for (n, run) in block.starts.windows(2).enumerate() {
            task.resize(run[1] as usize, n as u32);
        }
        block.worker.shrink_to_fit();
        block.label.shrink_to_fit();
        let TaskBlock { worker, label, .. } = block;
        Self { task, worker, label }
    }

    /// Bytes that so many rows more, and sorting all of them by task, may need on top of what is held now.
    #[doc(hidden)]
    pub fn bytes_to_come(&self, rows: usize, tasks: usize) -> u64 {
        /// A row of the columns; a label of the table, and one of a task that is being sorted.
        const ROW: usize = 10;
        const LABEL: usize = 6 + 8;
        let (length, capacity) = (self.label.len(), self.label.capacity());
        // Columns that are full double.
        let full = length + rows > capacity;
        let growth = if full { capacity.max(rows) * ROW } else { 0 };
        (growth + (length + rows) * LABEL + tasks * 8) as u64
    }

    /// Drops the rows of these tasks that a repeated one replaces; returns how many, and whether these are
    /// many: half of all or more. Only where one of the labels of one worker on one task counts.
    #[doc(hidden)]
    pub fn drop_repeated(&mut self, tasks: usize, duplicates: Duplicates) -> (u64, bool) {
        if !matches!(duplicates, Duplicates::Last | Duplicates::First) {
            return (0, false);
        }
        let (block, repeated) = TaskBlock::sort(tasks, vec![std::mem::take(self)], duplicates);
        *self = Self::of_block(block);
        (repeated, repeated >= self.label.len() as u64)
    }

    fn validate(&self, tasks: usize, workers: usize, classes: usize) -> Result<()> {
        let [n, m, k] = [self.task.len(), self.worker.len(), self.label.len()];
        if n != k || m != k {
            let problem = format!("columns of {n} tasks, {m} workers and {k} labels do not lie side by side");
            return Err(Error::Mismatch(problem));
        }
        let named = codes_below(&self.task, tasks) && codes_below(&self.worker, workers);
        if named && codes_below(&self.label, classes) {
            return Ok(());
        }
        let mut rows = self.task.iter().zip(&self.worker).zip(&self.label);
        let outside = rows.find(|&((&task, &worker), &label)| {
            task as usize >= tasks || worker as usize >= workers || usize::from(label) >= classes
        });
        let ((task, worker), label) = outside.expect("a code is too large");
        Err(Error::Mismatch(format!(
            "codes (task {task}, worker {worker}, class {label}) lie outside the {tasks} tasks, {workers} workers and \
             {classes} classes that were named"
        )))
    }
}

impl TaskBlock {
    /// Sorts rows of codes, chunks one behind the other, into labels by task, each task's in order of worker;
    /// returns how many repeat the task and worker of an earlier row, and does with them as told
    /// ([`Duplicates::Error`] keeps them).
    ///
    /// # Panics
    /// If a task is not below `tasks`.
    pub fn sort(tasks: usize, mut chunks: Vec<CodeColumns>, duplicates: Duplicates) -> (Self, u64) {
        let spans = task_spans(&chunks);
        let starts = count_tasks(tasks, &chunks, &spans);
        let (mut worker, mut label) = match &mut chunks[..] {
            // Rows that stand by task do not have to move.
            [rows] if rows.task.is_sorted() => {
                (std::mem::take(&mut rows.worker), std::mem::take(&mut rows.label))
            }
            _ => scatter(&starts, &chunks, &spans),
        };
        drop(chunks);
        let repeated = order_tasks(&starts, &mut worker, &mut label);
        let mut block = Self {
            starts,
            worker,
            label,
            gold: Vec::new(),
        };
        block.drop_repeated(repeated, duplicates);
        (block, repeated)
    }

    /// Sorts one task's labels by worker, rows of one worker in their order; returns how many rows repeat the
    /// worker of another. `scratch` is memory to work in.
    pub fn sort_task(workers: &mut [u32], labels: &mut [u16], scratch: &mut Vec<(u32, u16)>) -> u64 {
        // A known number of rows needs no loops; most tasks of a table have one number.
        match workers.len() {
            0 | 1 => return 0,
            2 => return sort_few::<2>(workers, labels),
            3 => return sort_few::<3>(workers, labels),
            4 => return sort_few::<4>(workers, labels),
            5 => return sort_few::<5>(workers, labels),
            6 => return sort_few::<6>(workers, labels),
            7 => return sort_few::<7>(workers, labels),
            8 => return sort_few::<8>(workers, labels),
            count @ 9..=16 => return insertion_sort(workers, labels, &mut [0; 16][..count]),
            _ => {}
        }
        if !workers.is_sorted() {
            scratch.clear();
            scratch.extend(workers.iter().copied().zip(labels.iter().copied()));
            scratch.sort_by_key(|&(m, _)| m);
            for (place, &(m, x)) in scratch.iter().enumerate() {
                (workers[place], labels[place]) = (m, x);
            }
        }
        workers.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64
    }

    /// Keeps one of the labels of one worker on one task, of which `repeated` follow another, if told so.
    pub fn drop_repeated(&mut self, repeated: u64, duplicates: Duplicates) {
        if repeated == 0 || !matches!(duplicates, Duplicates::Last | Duplicates::First) {
            return;
        }
        let Self {
            starts,
            worker,
            label,
            ..
        } = self;
        let mut write = 0;
        for n in 0..starts.len() - 1 {
            let (start, end) = (starts[n] as usize, starts[n + 1] as usize);
            starts[n] = write as u32;
            for position in start..end {
                let repeats = position > start && worker[position] == worker[position - 1];
                if !repeats {
                    worker[write] = worker[position];
                    write += 1;
                }
                if !repeats || duplicates == Duplicates::Last {
                    label[write - 1] = label[position];
                }
            }
        }
        if let Some(last) = starts.last_mut() {
            *last = write as u32;
        }
        worker.truncate(write);
        label.truncate(write);
    }

    /// Fails with the first repeated label where these are an error.
    pub(super) fn refuse_repeated(
        &self,
        duplicates: Duplicates,
        tasks: &Names,
        workers: &Names,
    ) -> Result<()> {
        let refused = self.first_repeated().filter(|_| duplicates == Duplicates::Error);
        refused.map_or(Ok(()), |(task, worker)| {
            Err(repeated_label(tasks, task, workers, worker))
        })
    }

    /// The first task with two labels of one worker, and that worker.
    pub fn first_repeated(&self) -> Option<(usize, u32)> {
        let mut tasks = self.starts.windows(2).enumerate();
        tasks.find_map(|(task, range)| {
            let mut pairs = self.worker[range[0] as usize..range[1] as usize].windows(2);
            let twice = pairs.find(|pair| pair[0] == pair[1])?;
            Some((task, twice[0]))
        })
    }
}

/// Where each task's labels start.
fn count_tasks(tasks: usize, chunks: &[CodeColumns], spans: &[(u32, u32)]) -> Vec<u32> {
    let mut starts = vec![0u32; tasks + 1];
    // A thread counts tasks of its own: chunks in task order are looked at by one thread, others by all.
    let ranges = even_ranges(tasks, rayon::current_num_threads());
    map_rows(ranges, &mut starts[1..], 1, |range, counts| {
        for_rows_of(chunks, spans, &range, |chunk, row| {
            counts[chunk.task[row] as usize - range.start] += 1;
        });
    });
    add_up(&mut starts);
    starts
}

/// Calls `each` for every row about one of the tasks, in order.
fn for_rows_of(
    chunks: &[CodeColumns],
    spans: &[(u32, u32)],
    tasks: &Range<usize>,
    mut each: impl FnMut(&CodeColumns, usize),
) {
    for (chunk, &(lowest, highest)) in chunks.iter().zip(spans) {
        if (highest as usize) < tasks.start || lowest as usize >= tasks.end {
            continue;
        }
        for (row, &task) in chunk.task.iter().enumerate() {
            if tasks.contains(&(task as usize)) {
                each(chunk, row);
            }
        }
    }
}

/// Lowest and highest task of each chunk.
fn task_spans(chunks: &[CodeColumns]) -> Vec<(u32, u32)> {
    let span = |chunk: &CodeColumns| {
        let fold = |(low, high): (u32, u32), &task: &u32| (low.min(task), high.max(task));
        chunk.task.iter().fold((u32::MAX, 0), fold)
    };
    chunks.par_iter().map(span).collect()
}

/// Sorts the rows by task; rows of one task keep their order.
fn scatter(starts: &[u32], chunks: &[CodeColumns], spans: &[(u32, u32)]) -> (Vec<u32>, Vec<u16>) {
    let total = starts[starts.len() - 1] as usize;
    let (mut worker, mut label) = (vec![0; total], vec![0; total]);
    let ranges = balanced_ranges(starts, rayon::current_num_threads());
    let jobs = split_tasks(starts, ranges, &mut worker, &mut label);
    jobs.into_par_iter().for_each(|(tasks, workers, labels)| {
        let base = starts[tasks.start];
        let mut next: Vec<u32> = starts[tasks.clone()].iter().map(|start| start - base).collect();
        for_rows_of(chunks, spans, &tasks, |chunk, row| {
            let slot = &mut next[chunk.task[row] as usize - tasks.start];
            workers[*slot as usize] = chunk.worker[row];
            labels[*slot as usize] = chunk.label[row];
            *slot += 1;
        });
    });
    (worker, label)
}

/// The slices of the arrays by task that belong to each range of tasks.
fn split_tasks<'a>(
    starts: &[u32],
    ranges: Vec<Range<usize>>,
    workers: &'a mut [u32],
    labels: &'a mut [u16],
) -> Vec<(Range<usize>, &'a mut [u32], &'a mut [u16])> {
    let count = |range: &Range<usize>| (starts[range.end] - starts[range.start]) as usize;
    let labels = split_rows(ranges.clone(), labels, count);
    let parts = split_rows(ranges, workers, count).into_iter().zip(labels);
    parts
        .map(|((range, workers), (_, labels))| (range, workers, labels))
        .collect()
}

/// Puts the labels of each task in order of worker; returns how many rows repeat an earlier one.
fn order_tasks(starts: &[u32], worker: &mut [u32], label: &mut [u16]) -> u64 {
    let ranges = balanced_ranges(starts, 8 * rayon::current_num_threads());
    let jobs = split_tasks(starts, ranges, worker, label);
    let sorted = jobs.into_par_iter().map(|(tasks, workers, labels)| {
        let (base, mut scratch) = (starts[tasks.start], Vec::new());
        let sort = |n: usize| {
            let range = (starts[n] - base) as usize..(starts[n + 1] - base) as usize;
            TaskBlock::sort_task(&mut workers[range.clone()], &mut labels[range], &mut scratch)
        };
        tasks.map(sort).sum::<u64>()
    });
    sorted.sum()
}

/// [`TaskBlock::sort_task`] for `COUNT` rows.
fn sort_few<const COUNT: usize>(workers: &mut [u32], labels: &mut [u16]) -> u64 {
    insertion_sort(&mut workers[..COUNT], &mut labels[..COUNT], &mut [0; COUNT])
}

/// [`TaskBlock::sort_task`] for few rows: every row goes past all that are sorted already, the smaller of two
/// to the front. No branch depends on the order, and wrong guesses at branches are what sorting a few random
/// numbers costs.
#[inline(always)]
fn insertion_sort(workers: &mut [u32], labels: &mut [u16], sorted: &mut [u64]) -> u64 {
    for row in 0..sorted.len() {
        let mut last = u64::from(workers[row]) << 32 | (row as u64) << 16 | u64::from(labels[row]);
        for earlier in &mut sorted[..row] {
            (*earlier, last) = ((*earlier).min(last), (*earlier).max(last));
        }
        sorted[row] = last;
    }
    let mut repeated = 0;
    for row in 0..sorted.len() {
        (workers[row], labels[row]) = ((sorted[row] >> 32) as u32, sorted[row] as u16);
        repeated += u64::from(row > 0 && workers[row] == workers[row - 1]);
    }
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(chunks: Vec<CodeColumns>, duplicates: Duplicates) -> Result<Annotations> {
        let names = |prefix, count| Names::numbered(prefix, count);
        Annotations::from_columns(names("t", 3), names("w", 2), names("c", 2), chunks, duplicates)
    }

    fn chunk(rows: &[(u32, u32, u16)]) -> CodeColumns {
        CodeColumns {
            task: rows.iter().map(|row| row.0).collect(),
            worker: rows.iter().map(|row| row.1).collect(),
            label: rows.iter().map(|row| row.2).collect(),
        }
    }

    #[test]
    fn chunks_become_one_table() {
        let chunks = || {
            vec![
                chunk(&[(2, 1, 0), (0, 1, 1)]),
                chunk(&[]),
                chunk(&[(0, 0, 0), (2, 1, 1)]),
            ]
        };
        let rows = |duplicates| build(chunks(), duplicates).unwrap().iter().collect::<Vec<_>>();
        assert_eq!(rows(Duplicates::Last), [(0, 0, 0), (0, 1, 1), (2, 1, 1)]);
        assert_eq!(rows(Duplicates::First), [(0, 0, 0), (0, 1, 1), (2, 1, 0)]);
        assert_eq!(rows(Duplicates::Keep).len(), 4);
        let counts = build(chunks(), Duplicates::Last).unwrap().rows().clone();
        assert_eq!((counts.rows, counts.repeated), (4, 1));
        let repeated = build(chunks(), Duplicates::Error).unwrap_err().to_string();
        assert!(repeated.contains("t2") && repeated.contains("w1"), "{repeated}");
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        for row in [(3, 0, 0), (0, 2, 0), (0, 0, 2)] {
            let message = build(vec![chunk(&[(0, 0, 0), row])], Duplicates::Last)
                .unwrap_err()
                .to_string();
            let (task, worker, label) = row;
            let codes = format!("(task {task}, worker {worker}, class {label})");
            assert!(message.contains(&codes), "{message}");
        }
        let mut uneven = chunk(&[(0, 0, 0)]);
        uneven.worker.push(0);
        assert!(build(vec![uneven], Duplicates::Last).is_err());
        assert!(matches!(build(vec![], Duplicates::Last), Err(Error::NoLabels(_))));
    }
}
