//! An order of the workers for methods that go through them one by one.

use super::Names;
use super::content_order::mix;
use crate::blocks::{Block, State, wire_format};

/// Numbers that a worker is ordered by.
const KEYS: usize = 4;

/// Sums that put the workers in an order that does not depend on the order of rows and hardly on names: most
/// labels first, then by how often others agree with them, then by a hash of how its tasks were answered,
/// names only to break what ties are left.
pub(crate) struct WorkerOrder {
    /// For each worker: labels, equal labels of others, all labels of others on its tasks, and the hash.
    keys: Vec<u64>,
    votes: Vec<u64>,
}

impl WorkerOrder {
    /// Nothing seen yet.
    pub(crate) fn new(workers: usize, classes: usize) -> Self {
        Self {
            keys: vec![0; workers * KEYS],
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
                let alike = votes[label as usize];
                let more = [1, alike, workers.len() as u64, mix(shape ^ alike)];
                take_in(&mut self.keys[worker as usize * KEYS..], &more);
            }
            labels.iter().for_each(|&label| votes[label as usize] = 0);
        }
    }

    /// The workers in order.
    pub(crate) fn finish(self, names: &Names) -> Vec<u32> {
        let key = |worker: u32| &self.keys[worker as usize * KEYS..][..KEYS];
        let mut order: Vec<u32> = (0..(self.keys.len() / KEYS) as u32).collect();
        order.sort_by(|&a, &b| {
            let by_name = || names.get(a as usize).cmp(names.get(b as usize));
            key(b).cmp(key(a)).then_with(by_name)
        });
        order
    }
}

wire_format!(43 WorkerOrder { keys, votes });

impl State for WorkerOrder {
    fn merge(&mut self, other: Self) {
        take_in(&mut self.keys, &other.keys);
    }
}

/// Adds the numbers; the hashes go round.
fn take_in(keys: &mut [u64], more: &[u64]) {
    let pairs = keys.iter_mut().zip(more);
    pairs.for_each(|(key, more)| *key = key.wrapping_add(*more));
}
