//! Small tables on disk, gathered: they are fitted in memory, so that it makes no difference where they were.

use rustc_hash::FxHashMap;

use super::{Block, Blocks, Extent, Pass, Passes, PosteriorRule, Stage, State, TaskBlock, Wire, wire_format};
use crate::annotations::{Annotations, Names, RowCounts};
use crate::{Context, Result};

/// Tables on disk with at most so many labels are gathered.
pub(crate) const MAX_GATHERED: u64 = 250_000;

/// The labels as a table in memory, unless they are more than [`MAX_GATHERED`] or in other processes; one
/// pass. Tasks have no names.
pub(crate) fn gather(blocks: &mut dyn Blocks, context: &mut Context) -> Result<Option<Annotations>> {
    if let Some(annotations) = blocks.in_memory() {
        return Ok(Some(annotations.clone()));
    }
    // A cluster keeps its labels: only sums travel.
    if blocks.remote().is_some() || blocks.label_count() > MAX_GATHERED {
        return Ok(None);
    }
    let workers = blocks.workers().clone();
    let classes = Names::numbered("", blocks.class_count());
    let labels = Passes::over(blocks).run(&mut GatherLabels {}, Stage::single("gathering"), context)?;
    let tasks = Names::numbered("t", labels.starts.len() - 1);
    Annotations::from_block(tasks, workers, classes, labels, RowCounts::default()).map(Some)
}

/// Takes all labels.
pub(crate) struct GatherLabels {}
wire_format!(60 GatherLabels {});

impl Pass for GatherLabels {
    type State = TaskBlock;

    fn start(&mut self, _: Extent) -> TaskBlock {
        TaskBlock::empty()
    }

    fn visit(&mut self, gathered: &mut TaskBlock, block: Block<'_>, _: &mut [f64]) {
        (0..block.task_count()).for_each(|task| gathered.push(block, task));
    }
}

impl TaskBlock {
    /// No tasks.
    pub(crate) fn empty() -> Self {
        Self {
            starts: vec![0],
            ..Self::default()
        }
    }

    /// Adds a task of a block.
    pub(crate) fn push(&mut self, block: Block<'_>, task: usize) {
        let (workers, labels) = block.task(task);
        self.worker.extend_from_slice(workers);
        self.label.extend_from_slice(labels);
        self.starts.push(self.worker.len() as u32);
        if let Some(gold) = block.gold {
            self.gold.push(gold[task]);
        }
    }
}

/// The tasks of later blocks come behind.
impl State for TaskBlock {
    fn merge(&mut self, other: Self) {
        let offset = self.label.len() as u32;
        let starts = other.starts.iter().skip(1).map(|start| start + offset);
        self.starts.extend(starts);
        self.worker.extend(other.worker);
        self.label.extend(other.label);
        self.gold.extend(other.gold);
    }
}

/// The posteriors of a gathered table, found by the labels of a task.
#[derive(Debug)]
pub(crate) struct PosteriorsByLabels {
    workers: usize,
    classes: usize,
    /// Different tasks.
    tasks: TaskBlock,
    rows: Vec<f64>,
}
wire_format!(61 PosteriorsByLabels { workers, classes, tasks, rows } check PosteriorsByLabels::fits);

/// What tells tasks apart: workers, answers, known truth.
type Key<'b> = ((&'b [u32], &'b [u16]), Option<usize>);

fn key(block: Block<'_>, task: usize) -> Key<'_> {
    (block.task(task), block.gold(task))
}

impl PosteriorsByLabels {
    /// Of a table with these posteriors; none where tasks with the same labels differ (ties at random, say).
    pub(crate) fn new(annotations: &Annotations, posteriors: &[f64]) -> Option<Self> {
        let (block, classes) = (annotations.as_block(), annotations.class_count());
        let row = |task: usize| &posteriors[task * classes..][..classes];
        let (mut tasks, mut rows) = (TaskBlock::empty(), Vec::new());
        let mut first = FxHashMap::default();
        for task in 0..block.task_count() {
            let known = *first.entry(key(block, task)).or_insert(task);
            if known == task {
                tasks.push(block, task);
                rows.extend_from_slice(row(task));
            } else if row(known) != row(task) {
                return None;
            }
        }
        let workers = block.worker_count();
        Some(Self {
            workers,
            classes,
            tasks,
            rows,
        })
    }

    fn fits(&self) -> bool {
        self.tasks.check(self.workers, self.classes).is_ok()
            && (self.tasks.starts.len() - 1).checked_mul(self.classes) == Some(self.rows.len())
    }
}

impl PosteriorRule for PosteriorsByLabels {
    fn fill(&self, block: Block<'_>, rows: &mut [f64]) {
        let known = self.tasks.view(self.workers, self.classes);
        let places = (0..known.task_count()).map(|task| (key(known, task), task));
        let place: FxHashMap<Key<'_>, usize> = places.collect();
        for (task, row) in rows.chunks_exact_mut(self.classes).enumerate() {
            match place.get(&key(block, task)) {
                Some(known) => row.copy_from_slice(&self.rows[known * self.classes..][..self.classes]),
                None => row.fill(1.0 / self.classes as f64),
            }
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }
}
