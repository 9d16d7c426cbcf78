//! The labels compressed by worker.

use crate::blocks::Block;
use crate::parallel::add_up;

/// All labels, compressed by worker: for each worker its tasks, in order, and its answers.
#[derive(Debug, Clone)]
pub struct ByWorker {
    starts: Vec<u32>,
    task: Vec<u32>,
    label: Vec<u16>,
}

impl ByWorker {
    /// Counting sort of the labels by task into labels by worker.
    pub(crate) fn of_block(block: Block<'_>) -> Self {
        let (workers, labels) = (block.worker_count(), block.label_count());
        let mut starts = vec![0u32; workers + 1];
        for &m in block.worker {
            starts[m as usize + 1] += 1;
        }
        add_up(&mut starts);
        let mut next = starts.clone();
        let mut by_worker = Self {
            starts,
            task: vec![0; labels],
            label: vec![0; labels],
        };
        for n in 0..block.task_count() {
            let (workers, labels) = block.task(n);
            for (&worker, &label) in workers.iter().zip(labels) {
                let slot = &mut next[worker as usize];
                by_worker.task[*slot as usize] = n as u32;
                by_worker.label[*slot as usize] = label;
                *slot += 1;
            }
        }
        by_worker
    }

    /// One worker's tasks and answers, side by side.
    pub(crate) fn slices(&self, worker: usize) -> (&[u32], &[u16]) {
        let range = self.starts[worker] as usize..self.starts[worker + 1] as usize;
        (&self.task[range.clone()], &self.label[range])
    }

    /// One worker's labels as (task, class) codes, in order of task.
    pub fn labels(&self, worker: usize) -> impl ExactSizeIterator<Item = (usize, usize)> + Clone + '_ {
        let (tasks, labels) = self.slices(worker);
        let label = |(&task, &label): (&u32, &u16)| (task as usize, label as usize);
        tasks.iter().zip(labels).map(label)
    }

    /// Where each worker's labels start; one entry more than there are workers.
    #[doc(hidden)]
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }
}
