//! The labels as the passes see them: equal tasks once, with their number; workers with next to no labels as
//! one.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::annotations::Annotations;
use crate::blocks::Block;

/// Equal tasks are merged if that saves at least this share of the labels.
const WORTH_MERGING: f64 = 0.2;

/// Tables of workers with more cells than this leave the near caches; workers with at most [`RARE`] labels
/// then share one table. So few labels say next to nothing about a worker.
const MAX_CELLS: usize = 1 << 21;
const RARE: u32 = 2;

/// A sample that would be more than one part of so many is not worth it.
const FEWEST_PARTS: usize = 3;

/// Tables with more tasks are judged by a part of them, one of so many kinds, to see whether tasks repeat.
const FEW_TASKS: usize = 10_000;
const KINDS_LOOKED_AT: u64 = 64;

/// The labels to fit.
pub(super) struct Problem<'a> {
    annotations: &'a Annotations,
    starts: Cow<'a, [u32]>,
    worker: Cow<'a, [u32]>,
    label: Cow<'a, [u16]>,
    gold: Option<Cow<'a, [u32]>>,
    /// How many tasks each one stands for, if any stands for several.
    pub(super) weights: Option<Vec<f64>>,
    /// The task of the problem for each task of the table, if they differ.
    task_of: Option<Vec<u32>>,
    /// The worker of the problem for each worker of the table, if they differ.
    worker_of: Option<Vec<u32>>,
    worker_count: usize,
}

impl<'a> Problem<'a> {
    /// All labels; `pooling` workers with next to no labels is allowed.
    pub(super) fn new(annotations: &'a Annotations, pooling: bool) -> Self {
        let labels = Block::from(annotations);
        let mut problem = Self {
            annotations,
            starts: Cow::Borrowed(labels.starts),
            worker: Cow::Borrowed(labels.worker),
            label: Cow::Borrowed(labels.label),
            gold: labels.gold.map(Cow::Borrowed),
            weights: None,
            task_of: None,
            worker_of: None,
            worker_count: annotations.worker_count(),
        };
        problem.merge_equal_tasks();
        if pooling {
            problem.pool_rare_workers();
        }
        problem
    }

    /// The labels of a random part of the tasks, about so many, if that is a small part of all. Chance hangs
    /// on the names of the tasks alone, so the order of the rows makes no difference.
    pub(super) fn sample(&self, labels: usize) -> Option<Self> {
        let all = self.labels();
        let parts = all.label.len() / labels.max(1);
        // Merged tasks have no names of their own, and are few already.
        if parts < FEWEST_PARTS || self.weights.is_some() {
            return None;
        }
        let names = self.annotations.tasks();
        let drawn = |task: &usize| {
            let mut hasher = FxHasher::default();
            names.get(*task).hash(&mut hasher);
            (hasher.finish() >> 20).is_multiple_of(parts as u64)
        };
        let kept: Vec<u32> = (0..all.task_count())
            .filter(drawn)
            .map(|task| task as u32)
            .collect();
        let (starts, worker, label, gold) = select_tasks(all, &kept);
        let mut task_of = vec![u32::MAX; all.task_count()];
        for (place, &task) in kept.iter().enumerate() {
            task_of[task as usize] = place as u32;
        }
        (!label.is_empty()).then(|| Self {
            annotations: self.annotations,
            starts: starts.into(),
            worker: worker.into(),
            label: label.into(),
            gold: gold.map(Cow::Owned),
            weights: None,
            task_of: Some(task_of),
            worker_of: None,
            worker_count: self.worker_count,
        })
    }

    /// The labels by task.
    pub(super) fn labels(&self) -> Block<'_> {
        Block {
            worker_count: self.worker_count,
            class_count: self.annotations.class_count(),
            starts: &self.starts,
            worker: &self.worker,
            label: &self.label,
            gold: self.gold.as_deref(),
        }
    }

    /// Number of workers that share one table.
    pub(super) fn pooled_workers(&self) -> usize {
        match &self.worker_of {
            Some(slots) => slots.iter().filter(|&&slot| slot == 0).count(),
            None => 0,
        }
    }

    /// Rows of the table's tasks for the tasks of the problem: those of the first task of each kind.
    pub(super) fn select_rows(&self, rows: &[f64], width: usize) -> Vec<f64> {
        let Some(task_of) = &self.task_of else {
            return rows.to_vec();
        };
        let mut selected = Vec::with_capacity((self.starts.len() - 1) * width);
        for (&kind, row) in task_of.iter().zip(rows.chunks_exact(width)) {
            if kind as usize == selected.len() / width {
                selected.extend_from_slice(row);
            }
        }
        selected
    }

    /// Rows of the problem's tasks for all tasks of the table.
    pub(super) fn expand_tasks(&self, rows: Vec<f64>, width: usize) -> Vec<f64> {
        expand(self.task_of.as_deref(), rows, width)
    }

    /// Rows of the problem's workers for all workers of the table.
    pub(super) fn expand_workers(&self, rows: Vec<f64>, width: usize) -> Vec<f64> {
        expand(self.worker_of.as_deref(), rows, width)
    }

    fn merge_equal_tasks(&mut self) {
        let labels = self.labels();
        if !worth_merging(labels) {
            return;
        }
        let (kinds, task_of) = find_kinds(labels);
        let (starts, worker, label, gold) = select_tasks(labels, &kinds);
        let mut weights = vec![0.0; kinds.len()];
        task_of.iter().for_each(|&kind| weights[kind as usize] += 1.0);
        (self.starts, self.worker, self.label) = (starts.into(), worker.into(), label.into());
        self.gold = gold.map(Cow::Owned);
        (self.weights, self.task_of) = (Some(weights), Some(task_of));
    }

    fn pool_rare_workers(&mut self) {
        let classes = self.annotations.class_count();
        if self.worker_count * classes * classes <= MAX_CELLS {
            return;
        }
        let counts = self.annotations.labels_per_worker();
        let mut next = 1;
        let slots: Vec<u32> = counts
            .iter()
            .map(|&labels| {
                if labels <= RARE {
                    0
                } else {
                    next += 1;
                    next - 1
                }
            })
            .collect();
        self.worker_count = next as usize;
        self.worker
            .to_mut()
            .iter_mut()
            .for_each(|worker| *worker = slots[*worker as usize]);
        self.worker_of = Some(slots);
    }
}

/// The labels of some tasks: row offsets, workers, answers, gold.
type Columns = (Vec<u32>, Vec<u32>, Vec<u16>, Option<Vec<u32>>);

fn select_tasks(labels: Block<'_>, tasks: &[u32]) -> Columns {
    let count = tasks.iter().map(|&task| labels.task(task as usize).0.len()).sum();
    let (mut starts, mut worker, mut label) = (vec![0], Vec::with_capacity(count), Vec::with_capacity(count));
    for &task in tasks {
        let (workers, answers) = labels.task(task as usize);
        worker.extend_from_slice(workers);
        label.extend_from_slice(answers);
        starts.push(worker.len() as u32);
    }
    let gold = labels
        .gold
        .map(|gold| tasks.iter().map(|&task| gold[task as usize]).collect());
    (starts, worker, label, gold)
}

fn expand(kind_of: Option<&[u32]>, rows: Vec<f64>, width: usize) -> Vec<f64> {
    let Some(kind_of) = kind_of else {
        return rows;
    };
    let row = |&kind: &u32| &rows[kind as usize * width..][..width];
    kind_of.iter().flat_map(row).copied().collect()
}

/// Whether tasks of a kind are so many that it pays to merge them.
fn worth_merging(labels: Block<'_>) -> bool {
    let mut found: FxHashSet<u64> = FxHashSet::default();
    let (mut all, mut kept) = (0, 0);
    for task in 0..labels.task_count() {
        let (workers, answers) = labels.task(task);
        let mut hasher = FxHasher::default();
        (workers, answers, labels.gold(task)).hash(&mut hasher);
        let hash = hasher.finish() >> 8;
        if labels.task_count() < FEW_TASKS || hash.is_multiple_of(KINDS_LOOKED_AT) {
            all += workers.len();
            kept += if found.insert(hash) { workers.len() } else { 0 };
        }
    }
    (kept as f64) < (1.0 - WORTH_MERGING) * all as f64
}

/// The first task of each kind, and the kind of each task. Tasks are of a kind if the same workers gave the
/// same answers and the same truth is known, if any.
fn find_kinds(labels: Block<'_>) -> (Vec<u32>, Vec<u32>) {
    let mut kinds: Vec<u32> = Vec::new();
    let mut found: FxHashMap<_, u32> = FxHashMap::default();
    let key = |task: usize| (labels.task(task), labels.gold(task));
    let of_tasks = (0..labels.task_count())
        .map(|task| {
            *found.entry(key(task)).or_insert_with(|| {
                kinds.push(task as u32);
                kinds.len() as u32 - 1
            })
        })
        .collect();
    (kinds, of_tasks)
}
