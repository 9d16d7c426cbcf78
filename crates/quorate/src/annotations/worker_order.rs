//! An order of the workers for methods that go through them one by one.

use super::Names;
use super::content_order::mix;
use crate::blocks::{Block, State, wire_format};

/// Sums that put the workers in an order that does not depend on the order of rows and hardly on names: most
/// labels first, then by how often others agree with them, then by a hash of how its tasks were answered,
/// names only to break what ties are left.
pub(crate) struct WorkerOrder {
    /// For each worker: labels, equal labels of others, all labels of others on its tasks, and the hash.
    keys: Vec<(u64, u64, u64, u64)>,
    votes: Vec<u64>,
}

impl WorkerOrder {
    /// Nothing seen yet.
    pub(crate) fn new(workers: usize, classes: usize) -> Self {
        Self {
            keys: vec![(0, 0, 0, 0); workers],
            votes: vec![0; classes],
        }
    }

    /// Takes in the labels of more tasks.
    pub(crate) fn add(&mut self, block: Block<'_>) {
        let votes = &mut self.votes;
        for task in 0..block.task_count() {
            let (workers, labels) = block.task(task);
            labels.iter().for_each(|&label| votes[label as usize] += 1);
            // How the labels of the task fall apart, whatever the classes are called.
            let sizes = labels.iter().map(|&label| mix(votes[label as usize]));
            let shape = sizes.fold(0u64, u64::wrapping_add);
            for (&worker, &label) in workers.iter().zip(labels) {
                let key = &mut self.keys[worker as usize];
                *key = (
                    key.0 + 1,
                    key.1 + votes[label as usize],
                    key.2 + workers.len() as u64,
                    key.3.wrapping_add(mix(shape ^ votes[label as usize])),
                );
            }
            labels.iter().for_each(|&label| votes[label as usize] = 0);
        }
    }

    /// Takes in what others took in of other tasks.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (key, more) in self.keys.iter_mut().zip(&other.keys) {
            *key = (
                key.0 + more.0,
                key.1 + more.1,
                key.2 + more.2,
                key.3.wrapping_add(more.3),
            );
        }
    }

    /// The workers in order.
    pub(crate) fn finish(self, names: &Names) -> Vec<u32> {
        let keys = self.keys;
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by(|&a, &b| {
            let by_name = || names.get(a as usize).cmp(names.get(b as usize));
            keys[b as usize].cmp(&keys[a as usize]).then_with(by_name)
        });
        order
    }
}

wire_format!(43 WorkerOrder { keys, votes });

impl State for WorkerOrder {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}
