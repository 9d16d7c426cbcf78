//! Gold as a worker: labels in blocks with one worker more, who answers every known task rightly and no
//! other.

use super::remote::{PartNode, RemoteBlocks, mark_gold_worker};
use super::{Block, Blocks, Extent, Pass, Passes, Stage, TaskBlock, wire_format};
use crate::annotations::{Annotations, Names, gold_worker_name};
use crate::{Context, Result};

/// The labels of other blocks with those of the gold worker, the last one: for methods that learn from the
/// agreement of workers.
struct GoldWorker<'b> {
    blocks: &'b mut dyn Blocks,
    workers: Names,
    known: u64,
    buffer: TaskBlock,
}

impl<'b> GoldWorker<'b> {
    /// Counts the known tasks in one pass.
    fn beside(blocks: &'b mut dyn Blocks, context: &mut Context) -> Result<Self> {
        let mut workers = blocks.workers().clone();
        workers.intern(&gold_worker_name(&workers));
        let known = Passes::over(blocks).run(&mut KnownTasks {}, Stage::single("gold"), context)?;
        let buffer = TaskBlock::default();
        Ok(Self {
            blocks,
            workers,
            known,
            buffer,
        })
    }
}

impl Passes<'_> {
    /// Passes over the same labels with gold as one more worker, the last one. Afterwards the posteriors are
    /// those that these passes left.
    pub(crate) fn beside_gold_worker<T>(
        &mut self,
        context: &mut Context,
        run: impl FnOnce(&mut Passes<'_>, &mut Context) -> Result<T>,
    ) -> Result<T> {
        if let Some(extended) = self.look_at_table(Annotations::with_gold_worker).transpose()? {
            return self.over_other_table(&extended, |passes| run(passes, context));
        }
        let mut extended = GoldWorker::beside(self.blocks(), context)?;
        run(&mut Passes::over(&mut extended), context)
    }
}

impl Blocks for GoldWorker<'_> {
    fn workers(&self) -> &Names {
        &self.workers
    }

    fn class_count(&self) -> usize {
        self.blocks.class_count()
    }

    fn task_count(&self) -> u64 {
        self.blocks.task_count()
    }

    fn label_count(&self) -> u64 {
        self.blocks.label_count() + self.known
    }

    fn has_gold(&self) -> bool {
        self.blocks.has_gold()
    }

    fn remote(&mut self) -> Option<&mut dyn RemoteBlocks> {
        self.blocks.remote().is_some().then_some(self)
    }

    fn for_each(&mut self, visit: &mut dyn FnMut(Block<'_>) -> Result<()>) -> Result<()> {
        let (buffer, workers) = (&mut self.buffer, self.workers.len());
        self.blocks.for_each(&mut |block| {
            add_labels(block, workers as u32 - 1, buffer);
            visit(buffer.view(workers, block.class_count()))
        })
    }
}

/// The other process adds the worker to its blocks.
impl RemoteBlocks for GoldWorker<'_> {
    fn run_remote(&mut self, request: &[u8]) -> Result<Vec<PartNode>> {
        let request = mark_gold_worker(request)?;
        let remote = self.blocks.remote();
        remote.map_or(Ok(Vec::new()), |remote| remote.run_remote(&request))
    }
}

/// Counts the tasks whose truth is known.
pub(crate) struct KnownTasks {}
wire_format!(20 KnownTasks {});

impl Pass for KnownTasks {
    /// Number of tasks.
    type State = u64;

    fn start(&mut self, _: Extent) -> u64 {
        0
    }

    fn visit(&mut self, known: &mut u64, block: Block<'_>, _: &mut [f64]) {
        let tasks = (0..block.task_count()).filter(|&task| block.gold(task).is_some());
        *known += tasks.count() as u64;
    }
}

/// Writes the labels of `block` with one more, of this worker, for each known task. Its code is the largest:
/// the workers of a task stay in order.
pub(crate) fn add_labels(block: Block<'_>, oracle: u32, to: &mut TaskBlock) {
    to.starts.clear();
    to.worker.clear();
    to.label.clear();
    to.gold.clear();
    to.gold.extend_from_slice(block.gold.unwrap_or_default());
    to.starts.push(0);
    for task in 0..block.task_count() {
        let (workers, labels) = block.task(task);
        to.worker.extend_from_slice(workers);
        to.label.extend_from_slice(labels);
        if let Some(truth) = block.gold(task) {
            to.worker.push(oracle);
            to.label.push(truth as u16);
        }
        to.starts.push(to.worker.len() as u32);
    }
}
