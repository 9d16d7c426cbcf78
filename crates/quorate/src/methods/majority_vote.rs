//! Majority vote: every label is one vote.
//!
//! ```text
//! V(n, k) = number of labels k on task n,      q_n(k) = V(n, k) / sum_k V(n, k)
//! ```
//!
//! The posterior is the share of the votes, the label the class with most of them. Ties: `lowest` class (the
//! default), the class with the larger `prior` (mean share over all tasks), or `random` with the seed; a broken
//! tie moves no votes, it puts the winner ahead by a hair more than [`TIE`](crate::model::TIE). A task without
//! labels gets the prior. The model is counted against the shares (one Dawid-Skene M-step).
//! `O(L + N K)` time.

use std::ops::Range;

use rand::seq::IndexedRandom;

use super::{Aggregate, Fit};
use crate::annotations::{Annotations, ByTask};
use crate::context::Context;
use crate::error::Result;
use crate::linalg::width::{Width, with_width};
use crate::model::{Consensus, TIE, count_answers, label_of};
use crate::parallel::{add, balanced_ranges, map_ranges, map_rows};
use crate::{declare_method, declare_words};

declare_method! {
    /// Majority vote.
    pub struct MajorityVote {
        /// who wins a tie: the lowest class, the class that is more common, or one drawn with the seed
        ties: Ties = Lowest,
    }
    name: "majority-vote",
    aliases: ["mv", "majority"],
    summary: "The class with most labels wins",
    description: "Every label is one vote. Treats all workers alike, so it is a fair baseline where workers \
                  are equally good and err independently, and a poor one where some are spammers or share a \
                  bias.",
    citation: "Folklore",
    facts: [returns_model, streams],
}

declare_words! {
    /// Who wins a tie.
    pub enum Ties {
        /// The lowest class.
        Lowest = "lowest",
        /// The class with the larger prior, then the lowest.
        Prior = "prior",
        /// One of them drawn with the seed.
        Random = "random",
    }
}

impl Aggregate for MajorityVote {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let mut consensus = context.run(|| vote_fractions(annotations));
        let model = (dense_cells(annotations) <= MOST_CELLS)
            .then(|| context.run(|| count_answers(annotations, &consensus).to_model(0.0)));
        match self.ties {
            Ties::Lowest => {}
            Ties::Prior => {
                let prior = mean_row(&consensus);
                consensus = break_ties(consensus, |_, tied| heaviest(&prior, tied));
            }
            Ties::Random => {
                let mut rng = context.rng(0);
                consensus = break_ties(consensus, |_, tied| *tied.choose(&mut rng).unwrap_or(&tied[0]));
            }
        }
        let notes = match &model {
            Some(_) => Vec::new(),
            None => vec!["too many classes for a confusion matrix of every worker: none were counted".into()],
        };
        Ok(Fit {
            model,
            notes,
            ..Fit::direct(consensus)
        })
    }
}

/// Most confusion cells that are counted along with the votes: votes alone must stay cheap whatever the number of classes.
const MOST_CELLS: usize = 50_000_000;

fn dense_cells(annotations: &Annotations) -> usize {
    let row = annotations
        .class_count()
        .saturating_mul(annotations.class_count());
    annotations.worker_count().saturating_mul(row)
}

/// Mean over the tasks.
fn mean_row(consensus: &Consensus) -> Vec<f64> {
    let mut mean = vec![0.0; consensus.class_count()];
    for task in 0..consensus.len() {
        for (sum, share) in mean.iter_mut().zip(consensus.row(task)) {
            *sum += share / consensus.len() as f64;
        }
    }
    mean
}

/// Share of the votes of each class on every task; a task without labels gets the mean share over the tasks
/// that have some, one with a known truth all of its mass there.
pub fn vote_fractions(annotations: &Annotations) -> Consensus {
    let classes = annotations.class_count();
    let mut shares = vec![0.0; annotations.task_count() * classes];
    let sums = fill_votes(annotations.into(), &mut shares);
    let mut prior = vec![0.0; classes];
    for sum in sums {
        prior.iter_mut().zip(sum).for_each(|(total, part)| *total += part);
    }
    let total: f64 = prior.iter().sum();
    prior.iter_mut().for_each(|share| *share /= total);
    let silent =
        |task: &usize| annotations.task_slices(*task).0.is_empty() && annotations.gold(*task).is_none();
    for task in (0..annotations.task_count()).filter(silent) {
        shares[task * classes..][..classes].copy_from_slice(&prior);
    }
    Consensus::new(classes, shares)
}

/// Writes the vote shares of every task, zeros where nobody voted; returns the sums of the shares of ranges of tasks.
pub(super) fn fill_votes(labels: ByTask<'_>, rows: &mut [f64]) -> Vec<Vec<f64>> {
    let ranges = balanced_ranges(labels.starts, 64);
    map_rows(
        ranges,
        rows,
        labels.class_count,
        |tasks, rows| with_width!(labels.class_count, width => share_votes(width, labels, tasks, rows)),
    )
}

/// The same for a range of tasks.
fn share_votes<W: Width>(width: W, labels: ByTask<'_>, tasks: Range<usize>, rows: &mut [f64]) -> Vec<f64> {
    let mut sum = vec![0.0; width.get()];
    for (task, row) in tasks.zip(rows.chunks_exact_mut(width.get())) {
        let given = count_votes(labels, task, row).max(1) as f64;
        row.iter_mut().for_each(|share| *share /= given);
        if !labels.task(task).0.is_empty() {
            add(&mut sum, row);
        }
    }
    sum
}

/// Writes the votes of one task, a single one for the truth where that is known; returns how many there are.
#[inline(always)]
fn count_votes(labels: ByTask<'_>, task: usize, row: &mut [f64]) -> usize {
    row.fill(0.0);
    if let Some(truth) = labels.gold(task) {
        row[truth] = 1.0;
        return 1;
    }
    let (_, answers) = labels.task(task);
    for &label in answers {
        row[label as usize] += 1.0;
    }
    answers.len()
}

/// Number of tasks whose label is not the one that majority vote gives.
pub fn changed_from_votes(annotations: &Annotations, consensus: &Consensus) -> usize {
    let labels = ByTask::from(annotations);
    let silent =
        |task: &usize| annotations.task_slices(*task).0.is_empty() && annotations.gold(*task).is_none();
    // Tasks that nobody voted on all have the label of the mean share.
    let of_silent = (0..annotations.task_count())
        .find(silent)
        .map(|task| vote_fractions(annotations).label(task));
    let changed = map_ranges(balanced_ranges(labels.starts, 64), |tasks| {
        with_width!(labels.class_count, width => {
            let mut row = width.row();
            let mut by_vote = |task: usize| match of_silent {
                Some(label) if silent(&task) => label,
                _ => {
                    count_votes(labels, task, row.as_mut());
                    label_of(row.as_ref())
                }
            };
            tasks
                .filter(|&task| by_vote(task) != consensus.label(task))
                .count()
        })
    });
    changed.iter().sum()
}

/// Lets `choose` pick the winner of each tie; the winner gets a hair of the mass of the other tied classes.
fn break_ties(consensus: Consensus, mut choose: impl FnMut(usize, &[usize]) -> usize) -> Consensus {
    let classes = consensus.class_count();
    let mut rows = consensus.into_vec();
    let mut tied = Vec::with_capacity(classes);
    for (task, row) in rows.chunks_exact_mut(classes).enumerate() {
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        tied.clear();
        tied.extend((0..classes).filter(|&k| row[k] >= top - TIE));
        if tied.len() < 2 {
            continue;
        }
        let winner = choose(task, &tied);
        for &k in &tied {
            row[k] -= 2.0 * TIE;
        }
        row[winner] += 2.0 * TIE * tied.len() as f64;
    }
    Consensus::new(classes, rows)
}

fn heaviest(prior: &[f64], tied: &[usize]) -> usize {
    tied.iter()
        .copied()
        .reduce(|best, k| if prior[k] > prior[best] + TIE { k } else { best })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::tests::toy_a;

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
    fn toy_a_by_hand() {
        // Worked example: votes (3,1,0), (2,1,0), (0,4,0), (1,2,0), (1,0,3), (0,1,3).
        let fit = MajorityVote::default()
            .fit(&toy_a(), &mut Context::new(0))
            .unwrap();
        assert_eq!(fit.consensus.row(0), [0.75, 0.25, 0.0]);
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
        let model = fit.model.unwrap();
        for (found, wanted) in model.prior().iter().zip([1.0 / 3.0, 5.0 / 12.0, 0.25]) {
            assert!((found - wanted).abs() < 1e-12);
        }
        let first = [
            17.0 / 24.0,
            7.0 / 30.0,
            0.0,
            1.0 / 6.0,
            2.0 / 3.0,
            0.0,
            0.125,
            0.1,
            1.0,
        ];
        for (found, wanted) in model.confusion(0).iter().zip(first) {
            assert!((found - wanted).abs() < 1e-12);
        }
    }

    #[test]
    fn ties_follow_the_rule() {
        // Task 0 is tied between 0 and 1; class 1 is more common.
        let annotations =
            Annotations::from_codes(2, 2, 2, [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)]).unwrap();
        let label = |ties, seed| {
            let fit = MajorityVote { ties }
                .fit(&annotations, &mut Context::new(seed))
                .unwrap();
            assert!((fit.consensus.row(0).iter().sum::<f64>() - 1.0).abs() < 1e-12);
            fit.consensus.label(0)
        };
        assert_eq!((label(Ties::Lowest, 0), label(Ties::Prior, 0)), (0, 1));
        let drawn: Vec<_> = (0..20).map(|seed| label(Ties::Random, seed)).collect();
        assert!(drawn.contains(&0) && drawn.contains(&1));
        assert_eq!(label(Ties::Random, 3), drawn[3]);
    }

    #[test]
    fn a_task_without_labels_gets_the_prior() {
        let annotations = Annotations::from_codes(2, 1, 2, [(0, 0, 1)]).unwrap();
        assert_eq!(vote_fractions(&annotations).row(1), [0.0, 1.0]);
    }
}
