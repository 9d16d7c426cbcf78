//! Connected parts of the crowd: workers joined by a chain of shared tasks. Between parts nothing can be
//! compared.

use crate::annotations::Annotations;
use crate::blocks::{Block, State, wire_format};
use crate::parallel::add;

/// The parts of the crowd, the largest (by labels) first.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    /// Part of each worker.
    pub of_worker: Vec<u32>,
    /// Number of workers in each part.
    pub workers: Vec<usize>,
    /// Number of labels in each part.
    pub labels: Vec<usize>,
}

impl Components {
    /// Number of parts.
    pub fn count(&self) -> usize {
        self.workers.len()
    }
}

/// Finds the parts with a union-find over the labels, `O(L)` up to the inverse Ackermann function. Workers
/// without labels are parts of their own.
pub fn worker_components(annotations: &Annotations) -> Components {
    let mut joining = Joining::new(annotations.worker_count());
    joining.add(annotations.as_block());
    joining.finish().1
}

/// Workers joined so far.
pub(crate) struct Joining {
    parent: Vec<u32>,
    labels: Vec<u32>,
}

impl Joining {
    /// Everybody alone.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            parent: (0..workers as u32).collect(),
            labels: vec![0; workers],
        }
    }

    /// Joins the workers of each task.
    pub(super) fn add(&mut self, block: Block<'_>) {
        let parent = &mut self.parent;
        for task in 0..block.task_count() {
            let pairs = block.task(task).0.windows(2);
            pairs.for_each(|pair| join(parent, pair[0], pair[1]));
        }
        for &worker in block.worker {
            self.labels[worker as usize] += 1;
        }
    }

    /// Roots have the lowest code of their part, so that every chain ends.
    fn is_forest(&self) -> bool {
        let falls = |(worker, &above): (usize, &u32)| above as usize <= worker;
        self.parent.len() == self.labels.len() && self.parent.iter().enumerate().all(falls)
    }

    /// Labels of each worker, and the parts.
    pub(super) fn finish(self) -> (Vec<u32>, Components) {
        let Self { mut parent, labels } = self;
        let workers = parent.len();
        // Root, members and labels of each part.
        let mut sizes: Vec<(u32, usize, usize)> = (0..workers as u32).map(|worker| (worker, 0, 0)).collect();
        for (worker, &labels) in labels.iter().enumerate() {
            let top = root(&mut parent, worker as u32) as usize;
            sizes[top].1 += 1;
            sizes[top].2 += labels as usize;
        }
        sizes.retain(|&(_, members, _)| members > 0);
        sizes.sort_by_key(|&(top, _, labels)| (std::cmp::Reverse(labels), top));
        let mut rank = vec![0u32; workers];
        for (part, &(top, _, _)) in sizes.iter().enumerate() {
            rank[top as usize] = part as u32;
        }
        let part = |worker| rank[root(&mut parent, worker) as usize];
        let parts = Components {
            of_worker: (0..workers as u32).map(part).collect(),
            workers: sizes.iter().map(|&(_, members, _)| members).collect(),
            labels: sizes.iter().map(|&(_, _, labels)| labels).collect(),
        };
        (labels, parts)
    }
}

wire_format!(56 Joining { parent, labels } check Joining::is_forest);

/// Joins those that other tasks joined.
impl State for Joining {
    fn merge(&mut self, other: Self) {
        let pairs = other.parent.iter().enumerate();
        pairs.for_each(|(worker, &above)| join(&mut self.parent, worker as u32, above));
        add(&mut self.labels, &other.labels);
    }
}

/// Makes the lower one of two roots that of both.
pub(crate) fn join(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}

/// The root of the part that a worker is in.
pub(crate) fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let above = parent[parent[node as usize] as usize];
        parent[node as usize] = above;
        node = above;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_and_ordered_by_labels() {
        let labels = [(0, 0, 0), (0, 2, 0), (1, 1, 0), (1, 3, 0), (2, 3, 1), (2, 4, 1)];
        let parts = worker_components(&Annotations::from_codes(3, 6, 2, labels).unwrap());
        assert_eq!(parts.of_worker, [1, 0, 1, 0, 0, 2]);
        assert_eq!((parts.workers, parts.labels), (vec![3, 2, 1], vec![4, 2, 0]));
    }
}
