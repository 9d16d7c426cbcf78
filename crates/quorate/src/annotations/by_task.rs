//! A view of labels by task: the table's own, or any others of the same workers and classes.

use super::Annotations;
use super::gold::UNKNOWN;

/// Labels compressed by task. What a pass over the tasks needs, whoever holds it.
#[derive(Debug, Clone, Copy)]
pub struct ByTask<'t> {
    pub(crate) worker_count: usize,
    pub(crate) class_count: usize,
    /// Where each task's labels start; one entry more than there are tasks.
    pub(crate) starts: &'t [u32],
    pub(crate) worker: &'t [u32],
    pub(crate) label: &'t [u16],
    pub(crate) gold: Option<&'t [u32]>,
}

impl<'t> From<&'t Annotations> for ByTask<'t> {
    fn from(annotations: &'t Annotations) -> Self {
        Self {
            worker_count: annotations.worker_count(),
            class_count: annotations.class_count(),
            starts: &annotations.task_starts,
            worker: &annotations.worker,
            label: &annotations.label,
            gold: annotations.gold.as_deref(),
        }
    }
}

/// Labels of some tasks, compressed by task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskBlock {
    /// Where each task's labels start; one entry more than there are tasks.
    pub starts: Vec<u32>,
    /// The workers of the labels, in order of code within each task.
    pub worker: Vec<u32>,
    /// The answers.
    pub label: Vec<u16>,
}

impl TaskBlock {
    pub(crate) fn view(&self, worker_count: usize, class_count: usize) -> ByTask<'_> {
        ByTask {
            worker_count,
            class_count,
            starts: &self.starts,
            worker: &self.worker,
            label: &self.label,
            gold: None,
        }
    }
}

impl<'t> ByTask<'t> {
    /// Number of tasks.
    pub(crate) fn task_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The labels of one task: its workers and their answers, side by side.
    #[inline(always)]
    pub(crate) fn task(&self, task: usize) -> (&'t [u32], &'t [u16]) {
        let range = self.starts[task] as usize..self.starts[task + 1] as usize;
        (&self.worker[range.clone()], &self.label[range])
    }

    /// The truth of a task, if it is known.
    #[inline(always)]
    pub(crate) fn gold(&self, task: usize) -> Option<usize> {
        let class = self.gold?[task];
        (class != UNKNOWN).then_some(class as usize)
    }
}
