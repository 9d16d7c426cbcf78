//! The annotation table: who answered what on which task.
//!
//! Labels are kept compressed by task (CSR: row offsets, a worker and a class code for each label: 6 bytes)
//! and, once a method asks for it, by worker (another 6 bytes). Ids are interned in order of first
//! appearance. Classes stand in their natural order (numbers by value, words by spelling) unless the caller
//! gives an order: then the answer, ties included, does not depend on the order of the rows.
//!
//! A table comes from rows ([`AnnotationsBuilder`], [`Annotations::from_triples`]) or from ready-made columns
//! of codes ([`Annotations::from_columns`]).

mod builder;
mod by_worker;
mod class_order;
mod columns;
mod content_order;
pub(crate) mod fingerprint;
mod from_block;
pub(crate) mod gold;
mod joined;
mod names;
mod reindexed_like;
pub(crate) mod row_offsets;
pub(crate) mod similar_classes;
mod summary;
mod worker_order;

use std::sync::OnceLock;

pub use builder::{AnnotationsBuilder, Duplicates, RowCounts};
pub use by_worker::ByWorker;
pub use class_order::ClassOrder;
pub use columns::CodeColumns;
pub(crate) use content_order::ContentOrder;
pub(crate) use gold::{NO_GOLD, gold_worker_name, keep_truth};
pub use names::Names;
pub(crate) use similar_classes::SimilarClasses;
pub use summary::{LabelsPerTask, LabelsPerWorker, TableSummary};
pub(crate) use worker_order::WorkerOrder;

use crate::blocks::{Block, TaskBlock};
use crate::error::{Error, Result};

/// Largest number of classes a table can hold (codes are 16 bits).
pub const MAX_CLASSES: usize = 1 << 16;

/// Largest number of labels, tasks or workers a table can hold (offsets are 32 bits).
pub const MAX_LABELS: usize = u32::MAX as usize - 1;

/// What to do about more than [`MAX_LABELS`].
const SPLIT: &str = "split the input by task and aggregate the parts";

/// Refuses more of something than a table can hold.
pub(crate) fn check_count(what: &'static str, count: usize, limit: usize, hint: &'static str) -> Result<()> {
    if count > limit {
        return Err(Error::TooMany { what, limit, hint });
    }
    Ok(())
}

/// All labels, compressed by task, with the names of tasks, workers and classes.
#[derive(Debug, Clone)]
pub struct Annotations {
    tasks: Names,
    workers: Names,
    classes: Names,
    block: TaskBlock,
    rows: RowCounts,
    by_worker: OnceLock<ByWorker>,
}

impl Annotations {
    /// A table from codes, with numbered names `t0..`, `w0..`, `0..`: for simulations and for callers that
    /// have done their own interning. Repeated (task, worker) labels are kept.
    pub fn from_codes(
        tasks: usize,
        workers: usize,
        classes: usize,
        labels: impl IntoIterator<Item = (u32, u32, u16)>,
    ) -> Result<Self> {
        let tasks = Names::numbered("t", tasks);
        let workers = Names::numbered("w", workers);
        let classes = Names::numbered("", classes);
        Self::from_named_codes(tasks, workers, classes, labels)
    }

    /// A table from codes into the given names. Repeated (task, worker) labels are kept.
    pub(crate) fn from_named_codes(
        tasks: Names,
        workers: Names,
        classes: Names,
        labels: impl IntoIterator<Item = (u32, u32, u16)>,
    ) -> Result<Self> {
        let mut columns = CodeColumns::default();
        labels
            .into_iter()
            .for_each(|(task, worker, label)| columns.push(task, worker, label));
        Self::from_columns(tasks, workers, classes, vec![columns], Duplicates::Keep)
    }

    /// A table of the same names with other labels: repeated ones are kept, known truths are not.
    pub(crate) fn with_labels(&self, labels: impl IntoIterator<Item = (u32, u32, u16)>) -> Result<Self> {
        let (workers, classes) = (self.workers.clone(), self.classes.clone());
        Self::from_named_codes(self.tasks.clone(), workers, classes, labels)
    }

    /// Names of the tasks, in order of first appearance.
    pub fn tasks(&self) -> &Names {
        &self.tasks
    }

    /// Names of the workers, in order of first appearance.
    pub fn workers(&self) -> &Names {
        &self.workers
    }

    /// Names of the classes; a class code is an index into them.
    pub fn classes(&self) -> &Names {
        &self.classes
    }

    /// Number of tasks, N.
    pub fn task_count(&self) -> usize {
        self.tasks.len()
    }

    /// Number of workers, M.
    pub fn worker_count(&self) -> usize {
        self.workers.len()
    }

    /// Number of classes, K.
    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Number of labels, L.
    pub fn label_count(&self) -> usize {
        self.block.label.len()
    }

    /// The labels of one task as (worker, class) codes, in order of worker.
    pub fn labels_of_task(&self, task: usize) -> impl ExactSizeIterator<Item = (usize, usize)> + Clone + '_ {
        let (workers, labels) = self.task_slices(task);
        let label = |(&worker, &label): (&u32, &u16)| (worker as usize, label as usize);
        workers.iter().zip(labels).map(label)
    }

    /// The labels of one task: its workers and their answers, side by side.
    #[doc(hidden)]
    pub fn task_slices(&self, task: usize) -> (&[u32], &[u16]) {
        self.labels_between(task..task + 1)
    }

    /// The labels of consecutive tasks: workers and answers, side by side.
    #[doc(hidden)]
    pub fn labels_between(&self, tasks: std::ops::Range<usize>) -> (&[u32], &[u16]) {
        let TaskBlock {
            starts,
            worker,
            label,
            ..
        } = &self.block;
        let range = starts[tasks.start] as usize..starts[tasks.end] as usize;
        (&worker[range.clone()], &label[range])
    }

    /// Where each task's labels start in the arrays by task; one entry more than there are tasks.
    #[doc(hidden)]
    pub fn task_starts(&self) -> &[u32] {
        &self.block.starts
    }

    /// All labels as one block.
    #[doc(hidden)]
    pub fn as_block(&self) -> Block<'_> {
        self.block.view(self.worker_count(), self.class_count())
    }

    /// The same labels compressed by worker; built on first use.
    #[doc(hidden)]
    pub fn by_worker(&self) -> &ByWorker {
        self.by_worker.get_or_init(|| ByWorker::of_block(self.as_block()))
    }

    /// Every label as (task, worker, class) codes, by task.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.task_count()).flat_map(move |task| {
            let labels = self.labels_of_task(task);
            labels.map(move |(worker, label)| (task, worker, label))
        })
    }

    /// Every label as codes of a table's columns.
    fn codes(&self) -> impl Iterator<Item = (u32, u32, u16)> + '_ {
        self.iter()
            .map(|(task, worker, label)| (task as u32, worker as u32, label as u16))
    }

    /// Number of labels each worker gave.
    pub fn labels_per_worker(&self) -> Vec<u32> {
        let mut counts = vec![0; self.worker_count()];
        for &worker in &self.block.worker {
            counts[worker as usize] += 1;
        }
        counts
    }

    /// The workers in an order that does not depend on the order of rows and hardly on names: most labels
    /// first, then by how often others agree with them, names only to break what ties are left. For methods
    /// that go through the workers one by one.
    #[doc(hidden)]
    pub fn canonical_worker_order(&self) -> Vec<u32> {
        let mut order = WorkerOrder::new(self.worker_count(), self.class_count());
        order.add(self.as_block());
        order.finish(&self.workers)
    }

    /// What happened to the rows on the way in: abstentions, repeated rows.
    pub fn rows(&self) -> &RowCounts {
        &self.rows
    }

    /// Number of tasks without any label.
    pub fn unlabelled_tasks(&self) -> usize {
        let tasks = self.block.starts.windows(2);
        tasks.filter(|ends| ends[0] == ends[1]).count()
    }

    /// Sizes, density and other plain facts of the table.
    pub fn summary(&self) -> TableSummary {
        TableSummary::of(self)
    }

    /// The table with only the workers that `keep` accepts. All tasks stay, so that a task without labels is
    /// seen and said.
    pub fn keep_workers(&self, mut keep: impl FnMut(&str) -> bool) -> Result<Self> {
        let (workers, code) = self.workers.keep(&mut keep);
        if workers.is_empty() {
            let problem = "none of the workers to keep labelled anything";
            return Err(Error::NoLabels(problem.into()));
        }
        let kept = |(task, worker, label): (u32, u32, u16)| Some((task, code[worker as usize]?, label));
        let labels = self.codes().filter_map(kept);
        let mut subset = Self::from_named_codes(self.tasks.clone(), workers, self.classes.clone(), labels)?;
        subset.rows = self.rows.clone();
        subset.block.gold = self.block.gold.clone();
        Ok(subset)
    }

    /// The table with only the tasks that `keep` accepts. All workers stay.
    pub fn keep_tasks(&self, mut keep: impl FnMut(&str) -> bool) -> Result<Self> {
        let (tasks, code) = self.tasks.keep(&mut keep);
        let kept = |(task, worker, label): (u32, u32, u16)| Some((code[task as usize]?, worker, label));
        let mut labels = self.codes().filter_map(kept).peekable();
        if labels.peek().is_none() {
            return Err(Error::NoLabels("none of the tasks to keep has a label".into()));
        }
        let (workers, classes) = (self.workers.clone(), self.classes.clone());
        let mut subset = Self::from_named_codes(tasks, workers, classes, labels)?;
        subset.rows = self.rows.clone();
        let gold = self.known_truths();
        subset.with_gold(gold.filter_map(|(task, truth)| Some((code[task as usize]?, truth))))
    }
}
