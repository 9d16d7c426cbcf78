//! The labels compressed by worker.

use crate::blocks::Block;

/// All labels, compressed by worker: for each worker its tasks, in order, and its answers.
#[derive(Debug, Clone)]
pub struct ByWorker {
    starts: Vec<u32>,
    task: Vec<u32>,
    label: Vec<u16>,
}

impl ByWorker {
    /// Counting sort of the labels by task into labels by worker.
    pub(super) fn transpose(workers: usize, task_starts: &[u32], worker: &[u32], label: &[u16]) -> Self {
        let mut starts = vec![0u32; workers + 1];
        for &m in worker {
            starts[m as usize + 1] += 1;
        }
        for m in 0..workers {
            starts[m + 1] += starts[m];
        }
        let mut next = starts.clone();
        let mut by_worker = Self {
            starts,
            task: vec![0; worker.len()],
            label: vec![0; worker.len()],
        };
        for n in 0..task_starts.len() - 1 {
            for position in task_starts[n] as usize..task_starts[n + 1] as usize {
                let slot = &mut next[worker[position] as usize];
                by_worker.task[*slot as usize] = n as u32;
                by_worker.label[*slot as usize] = label[position];
                *slot += 1;
            }
        }
        by_worker
    }

    /// The labels of a block by worker.
    pub(crate) fn of_block(block: Block<'_>) -> Self {
        Self::transpose(block.worker_count(), block.starts, block.worker, block.label)
    }

    /// One worker's tasks and answers, side by side.
    pub(crate) fn slices(&self, worker: usize) -> (&[u32], &[u16]) {
        let range = self.starts[worker] as usize..self.starts[worker + 1] as usize;
        (&self.task[range.clone()], &self.label[range])
    }

    /// One worker's labels as (task, class) codes, in order of task.
    pub fn labels(&self, worker: usize) -> impl ExactSizeIterator<Item = (usize, usize)> + Clone + '_ {
        let (tasks, labels) = self.slices(worker);
        tasks
            .iter()
            .zip(labels)
            .map(|(&task, &label)| (task as usize, label as usize))
    }

    /// Where each worker's labels start; one entry more than there are workers.
    #[doc(hidden)]
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }
}
