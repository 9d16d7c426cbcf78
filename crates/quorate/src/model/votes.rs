//! Vote shares of the tasks.
//!
//! ```text
//! V(n, k) = number of labels k on task n,      q_n(k) = V(n, k) / sum_k V(n, k)
//! ```
//!
//! A task without labels gets the mean share over the tasks that have some, a task whose truth is known all
//! of its mass there.

use std::ops::Range;

use super::{Consensus, label_of};
use crate::annotations::Annotations;
use crate::blocks::{Block, wire_format};
use crate::linalg::small::normalise;
use crate::linalg::width::{Width, with_width};
use crate::parallel::{add, balanced_ranges, map_ranges, map_rows};

/// Parts of a block that are worked on at a time.
const PARTS: usize = 64;

/// What it takes to know the vote shares of any block.
#[derive(Debug, Clone, PartialEq)]
pub struct VoteShares {
    /// Shares of a task that nobody labelled.
    prior: Vec<f64>,
}

impl VoteShares {
    /// From the sum over the labelled tasks of their vote shares.
    pub(crate) fn new(mut sum: Vec<f64>) -> Self {
        normalise(&mut sum);
        Self { prior: sum }
    }

    /// Of a block; even ones where no task is silent, since only such tasks need to know them.
    pub(crate) fn where_needed(block: Block<'_>) -> Self {
        match silent_tasks(block).next() {
            Some(_) => Self::new(fill_votes(
                block,
                &mut vec![0.0; block.task_count() * block.class_count],
            )),
            None => Self::even(block.class_count),
        }
    }

    /// All classes alike: for labels of which every task has some.
    pub fn even(classes: usize) -> Self {
        Self::new(vec![1.0; classes])
    }

    /// The vote shares of a block's tasks, one row after another.
    pub fn rows(&self, block: Block<'_>) -> Vec<f64> {
        let mut rows = vec![0.0; block.task_count() * block.class_count()];
        self.fill(block, &mut rows);
        rows
    }

    /// Mean share of each class over the labelled tasks.
    pub(crate) fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// Writes the vote shares of a block's tasks.
    pub(crate) fn fill(&self, block: Block<'_>, rows: &mut [f64]) {
        fill_votes(block, rows);
        self.fill_silent(block, rows);
    }

    /// Writes the shares of the tasks that nobody labelled.
    pub(crate) fn fill_silent(&self, block: Block<'_>, rows: &mut [f64]) {
        for task in silent_tasks(block) {
            rows[task * self.prior.len()..][..self.prior.len()].copy_from_slice(&self.prior);
        }
    }

    /// Number of a block's tasks whose label is not the one that majority vote gives.
    pub(crate) fn count_changed(&self, block: Block<'_>, rows: &[f64]) -> usize {
        let of_silent = label_of(&self.prior);
        let changed = map_ranges(balanced_ranges(block.starts, PARTS), |tasks| {
            with_width!(block.class_count, width => {
                let mut row = width.row();
                let mut by_vote = |task: usize| if is_silent(block, task) { of_silent } else {
                        count_votes(block, task, row.as_mut());
                        label_of(row.as_ref())
                    };
                tasks
                    .filter(|&task| by_vote(task) != label_of(&rows[task * width.get()..][..width.get()]))
                    .count()
            })
        });
        changed.iter().sum()
    }
}

wire_format!(31 VoteShares { prior });

/// Whether nothing is said about a task.
fn is_silent(block: Block<'_>, task: usize) -> bool {
    block.task(task).0.is_empty() && block.gold(task).is_none()
}

fn silent_tasks(block: Block<'_>) -> impl Iterator<Item = usize> + '_ {
    (0..block.task_count()).filter(move |&task| is_silent(block, task))
}

/// Writes the vote shares of every task, zeros where nobody voted; returns the sum of the shares over the
/// labelled tasks.
pub(crate) fn fill_votes(block: Block<'_>, rows: &mut [f64]) -> Vec<f64> {
    let ranges = balanced_ranges(block.starts, PARTS);
    let share = |tasks, rows: &mut [f64]| with_width!(block.class_count, width => share_votes(width, block, tasks, rows));
    let sums = map_rows(ranges, rows, block.class_count, share);
    let mut total = vec![0.0; block.class_count];
    sums.iter().for_each(|sum| add(&mut total, sum));
    total
}

/// The same for a range of tasks.
fn share_votes<W: Width>(width: W, block: Block<'_>, tasks: Range<usize>, rows: &mut [f64]) -> Vec<f64> {
    let mut sum = vec![0.0; width.get()];
    for (task, row) in tasks.zip(rows.chunks_exact_mut(width.get())) {
        let given = count_votes(block, task, row).max(1) as f64;
        row.iter_mut().for_each(|share| *share /= given);
        if !block.task(task).0.is_empty() {
            add(&mut sum, row);
        }
    }
    sum
}

/// Writes the votes of one task, a single one for the truth where that is known; returns how many there are.
#[inline(always)]
fn count_votes(block: Block<'_>, task: usize, row: &mut [f64]) -> usize {
    row.fill(0.0);
    if let Some(truth) = block.gold(task) {
        row[truth] = 1.0;
        return 1;
    }
    let (_, answers) = block.task(task);
    for &label in answers {
        row[label as usize] += 1.0;
    }
    answers.len()
}

/// Share of the votes of each class on every task.
pub fn vote_fractions(annotations: &Annotations) -> Consensus {
    let (block, classes) = (annotations.as_block(), annotations.class_count());
    let mut rows = vec![0.0; annotations.task_count() * classes];
    VoteShares::new(fill_votes(block, &mut rows)).fill_silent(block, &mut rows);
    Consensus::new(classes, rows)
}

/// Number of tasks whose label is not the one that majority vote gives.
pub fn changed_from_votes(annotations: &Annotations, consensus: &Consensus) -> usize {
    let block = annotations.as_block();
    VoteShares::where_needed(block).count_changed(block, consensus.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_against_the_votes() {
        // Task 3 has no label: the mean share of the others names class 1. The truth of task 1 is known.
        let labels = [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (2, 0, 1), (2, 1, 1)];
        let annotations = Annotations::from_codes(4, 2, 2, labels)
            .unwrap()
            .with_gold([(1, 0)])
            .unwrap();
        let votes = vote_fractions(&annotations);
        assert_eq!(changed_from_votes(&annotations, &votes), 0);
        for task in 0..4 {
            let labels = (0..4).map(|n| votes.label(n) ^ usize::from(n == task));
            assert_eq!(
                changed_from_votes(&annotations, &Consensus::one_hot(2, labels)),
                1
            );
        }
    }

    #[test]
    fn a_task_without_labels_gets_the_prior() {
        let annotations = Annotations::from_codes(2, 1, 2, [(0, 0, 1)]).unwrap();
        assert_eq!(vote_fractions(&annotations).row(1), [0.0, 1.0]);
    }
}
