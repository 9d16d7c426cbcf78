//! Who gives the next label of a task.
//!
//! Some labels go to the worker who is best for the task ([`place`](Assigning::place)). Others compare
//! workers, whatever the model thinks of them ([`explore`](Assigning::explore)): a plan that asks only whom
//! it trusts about what it doubts cannot find out that it is wrong. Whom to trust is learnt from pairs of
//! answers to the same task. A label on a task with m labels adds m pairs, so these labels complete the tasks
//! with most labels.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use super::roster::Roster;
use crate::{Annotations, Fit};

/// The labels that nobody gave yet, nor is planned to give.
pub(super) struct OpenLabels<'a> {
    annotations: &'a Annotations,
    excluded: FxHashSet<(u32, u32)>,
    /// Workers planned for a task so far.
    pub(super) planned: FxHashMap<usize, Vec<usize>>,
}

impl<'a> OpenLabels<'a> {
    pub(super) fn new(annotations: &'a Annotations, excluded: &[(u32, u32)]) -> Self {
        Self {
            annotations,
            excluded: excluded.iter().copied().collect(),
            planned: FxHashMap::default(),
        }
    }

    /// Whether a worker may label a task: has not done so, will not do so, is not excluded.
    pub(super) fn allows(&self, task: usize, worker: usize) -> bool {
        let (planned, pair) = (self.planned.get(&task), (task as u32, worker as u32));
        !self.annotations.task_slices(task).0.contains(&pair.1)
            && !planned.is_some_and(|planned| planned.contains(&worker))
            && (self.excluded.is_empty() || !self.excluded.contains(&pair))
    }
}

/// Labels being handed out.
pub(super) struct Assigning<'a> {
    annotations: &'a Annotations,
    fit: &'a Fit,
    roster: Roster<'a>,
    open: OpenLabels<'a>,
    available: &'a dyn Fn(usize, usize) -> bool,
}

impl<'a> Assigning<'a> {
    pub(super) fn new(
        annotations: &'a Annotations,
        fit: &'a Fit,
        roster: Roster<'a>,
        excluded: &[(u32, u32)],
        available: &'a dyn Fn(usize, usize) -> bool,
    ) -> Self {
        Self {
            annotations,
            fit,
            roster,
            open: OpenLabels::new(annotations, excluded),
            available,
        }
    }

    /// The best worker for a label of this task who is free and has not labelled it.
    pub(super) fn place(&mut self, task: usize) -> Option<usize> {
        let pair = most_probable_pair(self.fit.consensus.row(task));
        // The roster remembers who is used up, so it cannot be borrowed together with the rest.
        let mut rankings = std::mem::take(&mut self.roster.rankings);
        let allowed = |worker| self.allows(task, worker);
        let found = self.roster.best(&mut rankings, pair, allowed);
        self.roster.rankings = rankings;
        found
    }

    /// Pairs for this many labels that compare workers most: the task with most labels, by the free worker
    /// with fewest labels, where a label that costs twice as much counts as two. Fewer where nobody is left.
    pub(super) fn explore(
        &mut self,
        labels: usize,
        order: &[u32],
        costs: &[f64],
        spend: &mut dyn FnMut(usize) -> bool,
    ) -> Vec<(usize, usize)> {
        let annotations = self.annotations;
        let count = |task: usize, planned: &FxHashMap<usize, Vec<usize>>| {
            annotations.task_slices(task).0.len() + planned.get(&task).map_or(0, Vec::len)
        };
        let name = |task: usize| annotations.tasks().get(task);
        let open = (0..annotations.task_count()).filter(|&task| annotations.gold(task).is_none());
        let open = open.map(|task| (count(task, &self.open.planned), Reverse(name(task)), task));
        let mut tasks: BinaryHeap<(usize, Reverse<&str>, usize)> = open.collect();
        let mut given = annotations.labels_per_worker();
        // Positive numbers are ordered as their bits are.
        let price = |worker: usize, given: u32| (f64::from(given + 1) * costs[worker]).to_bits();
        let ranked = order
            .iter()
            .enumerate()
            .map(|(rank, &worker)| (worker as usize, rank));
        let free = ranked.filter(|&(worker, _)| self.roster.left[worker] > 0);
        let priced = free.map(|(worker, rank)| (price(worker, given[worker]), rank));
        let mut workers: BTreeSet<(u64, usize)> = priced.collect();
        // A task stays the one with most labels until nobody is left for it. Whoever cannot label it waits aside, so that
        // each worker is looked at once for each task.
        let (mut current, mut aside) = (usize::MAX, Vec::new());
        let mut found = Vec::new();
        while found.len() < labels {
            let Some((labelled, name, task)) = tasks.pop() else {
                break;
            };
            if task != current {
                workers.extend(aside.drain(..));
                current = task;
            }
            let cheapest = loop {
                match workers.pop_first() {
                    Some(next) if self.allows(task, order[next.1] as usize) => break Some(next.1),
                    Some(next) => aside.push(next),
                    None => break None,
                }
            };
            let Some(rank) = cheapest else {
                continue;
            };
            let worker = order[rank] as usize;
            if !spend(worker) {
                break;
            }
            self.confirm(task, worker);
            found.push((task, worker));
            tasks.push((labelled + 1, name, task));
            if self.roster.left[worker] > 0 {
                given[worker] += 1;
                aside.push((price(worker, given[worker]), rank));
            }
        }
        found
    }

    /// Whether a worker may label a task: has not done so, is not excluded, is available.
    fn allows(&self, task: usize, worker: usize) -> bool {
        self.open.allows(task, worker) && (self.available)(task, worker)
    }

    /// Makes it so.
    pub(super) fn confirm(&mut self, task: usize, worker: usize) {
        self.roster.left[worker] -= 1;
        self.open.planned.entry(task).or_default().push(worker);
    }
}

/// The two most probable classes; of tied ones the lowest.
fn most_probable_pair(row: &[f64]) -> (usize, usize) {
    let mut pair = (0, usize::from(row.len() > 1));
    if row.len() > 1 && row[1] > row[0] {
        pair = (1, 0);
    }
    for (class, &q) in row.iter().enumerate().skip(2) {
        if q > row[pair.0] {
            pair = (class, pair.0);
        } else if q > row[pair.1] {
            pair.1 = class;
        }
    }
    pair
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_most_probable_classes() {
        assert_eq!(most_probable_pair(&[0.2, 0.5, 0.3]), (1, 2));
        assert_eq!(most_probable_pair(&[0.1, 0.2, 0.7]), (2, 1));
        assert_eq!(most_probable_pair(&[0.25; 4]), (0, 1));
        assert_eq!(most_probable_pair(&[1.0]), (0, 0));
    }
}
