//! From rows of codes to the table: labels by task, in order of worker, repeated ones settled.

use std::ops::Range;

use rayon::prelude::*;

use super::class_order::{ClassOrder, in_natural_order, natural_codes};
use super::grouped::Grouped;
use super::{Annotations, Duplicates, Names, RowCounts, TaskBlock};
use crate::parallel::{balanced_ranges, even_ranges};

/// Codes of consecutive rows, side by side.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) task: Vec<u32>,
    pub(super) worker: Vec<u32>,
    pub(super) label: Vec<u16>,
}

/// Labels on their way into the table.
#[derive(Debug)]
pub(super) enum Labels {
    /// In the order of the table.
    Grouped(Grouped),
    /// In any order, one part behind the other.
    Scattered(Vec<Rows>),
}

/// Makes the table of the labels. Classes are put in `order` if there is one.
pub(super) fn assemble(
    tasks: Names,
    workers: Names,
    mut classes: Names,
    order: Option<ClassOrder>,
    labels: Labels,
    mut rows: RowCounts,
) -> Annotations {
    let codes = (order == Some(ClassOrder::Natural)).then(|| natural_codes(&classes));
    if codes.is_some() {
        classes = in_natural_order(&classes);
    }
    // Names that came in their order keep their codes.
    let codes = codes.filter(|codes| !codes.is_sorted());
    let (mut block, repeated) = match labels {
        Labels::Grouped(grouped) => grouped.into_block(),
        Labels::Scattered(parts) => sort_rows(tasks.len(), parts),
    };
    block.settle(repeated, rows.duplicates);
    if let Some(codes) = codes {
        let pieces = block.label.par_chunks_mut(1 << 16);
        pieces.for_each(|labels| {
            labels
                .iter_mut()
                .for_each(|label| *label = codes[*label as usize])
        });
    }
    rows.repeated = repeated;
    Annotations::of_block(tasks, workers, classes, block, rows)
}

/// Rows by task, in order of worker; and how many repeat an earlier one.
pub(super) fn sort_rows(tasks: usize, mut parts: Vec<Rows>) -> (TaskBlock, u64) {
    let spans = task_spans(&parts);
    let starts = count_tasks(tasks, &parts, &spans);
    let (mut worker, mut label) = match &mut parts[..] {
        // Rows that stand by task do not have to move.
        [rows] if rows.task.is_sorted() => {
            (std::mem::take(&mut rows.worker), std::mem::take(&mut rows.label))
        }
        _ => scatter(&starts, &parts, &spans),
    };
    drop(parts);
    let repeated = order_tasks(&starts, &mut worker, &mut label);
    let block = TaskBlock {
        starts,
        worker,
        label,
    };
    (block, repeated)
}

/// Where each task's labels start.
fn count_tasks(tasks: usize, parts: &[Rows], spans: &[(u32, u32)]) -> Vec<u32> {
    let mut starts = vec![0u32; tasks + 1];
    // A thread counts tasks of its own: parts in task order are looked at by one thread, others by all.
    let ranges = even_ranges(tasks, rayon::current_num_threads());
    let mut jobs = Vec::new();
    let mut rest = &mut starts[1..];
    for range in ranges {
        let (counts, tail) = rest.split_at_mut(range.len());
        rest = tail;
        jobs.push((range, counts));
    }
    jobs.into_par_iter().for_each(|(range, counts)| {
        for_rows_of(parts, spans, &range, |part, row| {
            counts[part.task[row] as usize - range.start] += 1;
        });
    });
    for n in 0..tasks {
        starts[n + 1] += starts[n];
    }
    starts
}

/// Calls `each` for every row about one of the tasks, in order.
fn for_rows_of(
    parts: &[Rows],
    spans: &[(u32, u32)],
    tasks: &Range<usize>,
    mut each: impl FnMut(&Rows, usize),
) {
    for (part, &(lowest, highest)) in parts.iter().zip(spans) {
        if (highest as usize) < tasks.start || lowest as usize >= tasks.end {
            continue;
        }
        for (row, &task) in part.task.iter().enumerate() {
            if tasks.contains(&(task as usize)) {
                each(part, row);
            }
        }
    }
}

/// Lowest and highest task of each part.
fn task_spans(parts: &[Rows]) -> Vec<(u32, u32)> {
    let span = |part: &Rows| {
        let fold = |(low, high): (u32, u32), &task: &u32| (low.min(task), high.max(task));
        part.task.iter().fold((u32::MAX, 0), fold)
    };
    parts.par_iter().map(span).collect()
}

/// Sorts the rows by task; rows of one task keep their order.
fn scatter(starts: &[u32], parts: &[Rows], spans: &[(u32, u32)]) -> (Vec<u32>, Vec<u16>) {
    let total = starts[starts.len() - 1] as usize;
    let (mut worker, mut label) = (vec![0; total], vec![0; total]);
    let ranges = balanced_ranges(starts, rayon::current_num_threads());
    let jobs = split_tasks(starts, ranges, &mut worker, &mut label);
    jobs.into_par_iter().for_each(|(tasks, workers, labels)| {
        let base = starts[tasks.start];
        let mut next: Vec<u32> = starts[tasks.clone()].iter().map(|start| start - base).collect();
        for_rows_of(parts, spans, &tasks, |part, row| {
            let slot = &mut next[part.task[row] as usize - tasks.start];
            workers[*slot as usize] = part.worker[row];
            labels[*slot as usize] = part.label[row];
            *slot += 1;
        });
    });
    (worker, label)
}

/// The slices of the arrays by task that belong to each range of tasks.
fn split_tasks<'a>(
    starts: &[u32],
    ranges: Vec<Range<usize>>,
    mut workers: &'a mut [u32],
    mut labels: &'a mut [u16],
) -> Vec<(Range<usize>, &'a mut [u32], &'a mut [u16])> {
    let mut jobs = Vec::with_capacity(ranges.len());
    for range in ranges {
        let count = (starts[range.end] - starts[range.start]) as usize;
        let (own_workers, rest) = workers.split_at_mut(count);
        workers = rest;
        let (own_labels, rest) = labels.split_at_mut(count);
        labels = rest;
        jobs.push((range, own_workers, own_labels));
    }
    jobs
}

/// Puts the labels of each task in order of worker; returns how many rows repeat an earlier one.
fn order_tasks(starts: &[u32], worker: &mut [u32], label: &mut [u16]) -> u64 {
    let ranges = balanced_ranges(starts, 8 * rayon::current_num_threads());
    let jobs = split_tasks(starts, ranges, worker, label);
    jobs.into_par_iter()
        .map(|(tasks, workers, labels)| {
            let base = starts[tasks.start];
            let mut scratch = Vec::new();
            let mut repeated = 0;
            for n in tasks {
                let range = (starts[n] - base) as usize..(starts[n + 1] - base) as usize;
                repeated += sort_by_worker(&mut workers[range.clone()], &mut labels[range], &mut scratch);
            }
            repeated
        })
        .sum()
}

impl TaskBlock {
    /// Keeps one of `repeated` labels of one worker on one task, if told so.
    pub(super) fn settle(&mut self, repeated: u64, duplicates: Duplicates) {
        let one_of_each = matches!(duplicates, Duplicates::Last | Duplicates::First);
        if repeated > 0 && one_of_each {
            drop_repeated(&mut self.starts, &mut self.worker, &mut self.label, duplicates);
        }
    }
}

/// Sorts one task's labels by worker, rows of one worker in their order; returns how many rows repeat the worker of
/// another.
pub(super) fn sort_by_worker(workers: &mut [u32], labels: &mut [u16], scratch: &mut Vec<(u32, u16)>) -> u64 {
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
        count @ 9..=16 => return sort_past_each_other(workers, labels, &mut [0; 16][..count]),
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

/// [`sort_by_worker`] for `COUNT` rows.
fn sort_few<const COUNT: usize>(workers: &mut [u32], labels: &mut [u16]) -> u64 {
    sort_past_each_other(&mut workers[..COUNT], &mut labels[..COUNT], &mut [0; COUNT])
}

/// [`sort_by_worker`] for few rows: every row goes past all that are sorted already, the smaller of two to the front. No
/// branch depends on the order, and wrong guesses at branches are what sorting a few random numbers costs.
#[inline(always)]
fn sort_past_each_other(workers: &mut [u32], labels: &mut [u16], sorted: &mut [u64]) -> u64 {
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

/// Keeps one label of each worker on each task.
fn drop_repeated(starts: &mut [u32], worker: &mut Vec<u32>, label: &mut Vec<u16>, duplicates: Duplicates) {
    let mut write = 0;
    for n in 0..starts.len() - 1 {
        let (start, end) = (starts[n] as usize, starts[n + 1] as usize);
        starts[n] = write as u32;
        for position in start..end {
            if position > start && worker[position] == worker[position - 1] {
                if duplicates == Duplicates::Last {
                    label[write - 1] = label[position];
                }
                continue;
            }
            worker[write] = worker[position];
            label[write] = label[position];
            write += 1;
        }
    }
    if let Some(last) = starts.last_mut() {
        *last = write as u32;
    }
    worker.truncate(write);
    label.truncate(write);
}
