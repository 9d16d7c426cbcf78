//! Labels of some tasks, compressed by task (CSR): a view that passes work on, and its owned form.

use rayon::prelude::*;

use super::wire_format;
use crate::annotations::{Annotations, MAX_LABELS, NO_GOLD};
use crate::error::{Error, Result};

/// Labels of some tasks, compressed by task. What a pass over the tasks needs, whoever holds it: a table in
/// memory, a file on disk, a partition of a cluster.
#[derive(Debug, Clone, Copy)]
pub struct Block<'t> {
    pub(crate) worker_count: usize,
    pub(crate) class_count: usize,
    /// Where each task's labels start; one entry more than there are tasks.
    pub(crate) starts: &'t [u32],
    pub(crate) worker: &'t [u32],
    pub(crate) label: &'t [u16],
    /// Truth of each task, [`NO_GOLD`] where it is not known.
    pub(crate) gold: Option<&'t [u32]>,
}

impl<'t> Block<'t> {
    /// Number of tasks.
    pub fn task_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of labels.
    pub fn label_count(&self) -> usize {
        self.label.len()
    }

    /// Number of workers of the whole crowd, whether they have labels here or not.
    pub fn worker_count(&self) -> usize {
        self.worker_count
    }

    /// Number of classes.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// The labels of one task: its workers and their answers, side by side.
    #[inline(always)]
    pub fn task(&self, task: usize) -> (&'t [u32], &'t [u16]) {
        let range = self.starts[task] as usize..self.starts[task + 1] as usize;
        (&self.worker[range.clone()], &self.label[range])
    }

    /// Pairs of labels on the same task.
    pub(crate) fn pairs_of_labels(&self) -> u64 {
        let sizes = self.starts.windows(2).map(|task| u64::from(task[1] - task[0]));
        sizes.map(|size| size * size.saturating_sub(1) / 2).sum()
    }

    /// The truth of a task, if it is known.
    #[inline(always)]
    pub fn gold(&self, task: usize) -> Option<usize> {
        let class = self.gold?[task];
        (class != NO_GOLD).then_some(class as usize)
    }

    /// The one answer that everybody gave to a task; none for tasks without labels or with a known truth.
    pub(crate) fn unanimous(&self, task: usize) -> Option<usize> {
        let (_, answers) = self.task(task);
        let (&first, others) = answers.split_first()?;
        let agreed = others.iter().all(|&answer| answer == first) && self.gold(task).is_none();
        agreed.then_some(usize::from(first))
    }
}

/// Labels of some tasks with their own memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskBlock {
    /// Where each task's labels start; one entry more than there are tasks.
    pub starts: Vec<u32>,
    /// The workers of the labels, in order of code within each task.
    pub worker: Vec<u32>,
    /// The answers.
    pub label: Vec<u16>,
    /// Truth of each task, [`NO_GOLD`] where it is not known; empty where none is.
    pub gold: Vec<u32>,
}

// Codes are not checked: see `TaskBlock::check`.
wire_format!(1 TaskBlock { starts, worker, label, gold });

impl TaskBlock {
    /// The labels as labels of so many workers and classes.
    pub fn view(&self, worker_count: usize, class_count: usize) -> Block<'_> {
        Block {
            worker_count,
            class_count,
            starts: &self.starts,
            worker: &self.worker,
            label: &self.label,
            gold: (!self.gold.is_empty()).then_some(&self.gold[..]),
        }
    }

    /// Fails if the arrays do not fit together or hold codes of other workers or classes: for labels that
    /// come from outside.
    pub fn check(&self, worker_count: usize, class_count: usize) -> Result<()> {
        let wrong = |problem: &str| Err(Error::Mismatch(format!("a block of labels with {problem}")));
        let labels = self.label.len();
        if labels > MAX_LABELS || self.worker.len() != labels {
            return wrong("arrays that do not fit together");
        }
        let ends = (self.starts.first(), self.starts.last());
        if ends != (Some(&0), Some(&(labels as u32))) || !self.starts.is_sorted() {
            return wrong("tasks whose labels do not lie one behind the other");
        }
        if !self.gold.is_empty() && self.gold.len() != self.starts.len() - 1 {
            return wrong("truths of another number of tasks");
        }
        let mut known = self.gold.iter().filter(|&&class| class != NO_GOLD);
        let given = codes_below(&self.worker, worker_count) && codes_below(&self.label, class_count);
        if !given || known.any(|&class| class as usize >= class_count) {
            return wrong("codes of workers or classes that there are not");
        }
        Ok(())
    }
}

/// Whether all codes are below `count`. The largest of all is found faster than the first that is too large.
pub(crate) fn codes_below<T: Copy + Ord + Into<u64> + Sync>(codes: &[T], count: usize) -> bool {
    let largest = |codes: &[T]| codes.iter().copied().max().map_or(0, |code| code.into() + 1);
    codes
        .par_chunks(1 << 16)
        .all(|codes| largest(codes) <= count as u64)
}

impl<'t> From<&'t Annotations> for Block<'t> {
    fn from(annotations: &'t Annotations) -> Self {
        annotations.as_block()
    }
}
