//! Gold as a worker: labels in blocks with one worker more, who answers every known task rightly and no
//! other.

use super::{Block, Blocks, TaskBlock};
use crate::annotations::{Names, gold_worker_name};
use crate::error::Result;

/// The labels of other blocks with those of the gold worker, the last one: for methods that learn from the
/// agreement of workers.
pub(crate) struct GoldWorker<'b> {
    blocks: &'b mut dyn Blocks,
    workers: Names,
    known: u64,
    buffer: TaskBlock,
}

impl<'b> GoldWorker<'b> {
    /// Counts the known tasks in one pass.
    pub(crate) fn beside(blocks: &'b mut dyn Blocks) -> Result<Self> {
        let mut workers = blocks.workers().clone();
        workers.intern(&gold_worker_name(&workers));
        let mut known = 0;
        blocks.for_each(&mut |block| {
            known += (0..block.task_count())
                .filter(|&task| block.gold(task).is_some())
                .count() as u64;
            Ok(())
        })?;
        Ok(Self {
            blocks,
            workers,
            known,
            buffer: TaskBlock::default(),
        })
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

    fn for_each(&mut self, visit: &mut dyn FnMut(Block<'_>) -> Result<()>) -> Result<()> {
        let (buffer, workers) = (&mut self.buffer, self.workers.len());
        self.blocks.for_each(&mut |block| {
            add_labels(block, workers as u32 - 1, buffer);
            visit(buffer.view(workers, block.class_count()))
        })
    }
}

/// Writes the labels of `block` with one more, of this worker, for each known task. Its code is the largest:
/// the workers of a task stay in order.
fn add_labels(block: Block<'_>, oracle: u32, to: &mut TaskBlock) {
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
