//! The threshold reduction: K ordered classes as K - 1 questions with two answers.
//!
//! ```text
//! a_nm(t) = +1 if x_nm > t, -1 if x_nm <= t, 0 if m did not label n,      t = 0 .. K-2
//! ```
//!
//! A binary method answers "is the truth of task n above t?" for each t; the label is the first t that was
//! denied, else K - 1 (Karger, Oh, Shah 2013). With two classes there is one threshold and nothing changes.
//! With more, the order of the classes matters: natural for grades, arbitrary for kinds.
//!
//! The methods that stand on this decide by signs of weighted votes `s_n = sum_m a_nm w_m (+ offset)`. Their
//! scores have no scale of their own, so a probability is read off as majority vote reads it, as a share of
//! the weight:
//!
//! ```text
//! Pr(truth of n > t) = (1 + s_n / (sum_m |w_m| + |offset|)) / 2
//! ```
//!
//! (a worker with a negative weight votes for the other side). These shares rank tasks by how contested they
//! are; they are not calibrated. The row of a task holds two classes: the label, with the share of the least
//! certain decision on the way to it, and the class to which the opposite of that decision leads, with the
//! rest. A decision at exactly one half is a tie between the two.

use quorate::internal::linalg::lanczos::largest_eigenpairs;
use quorate::internal::model::TIE;
use quorate::internal::parallel::{balanced_ranges, map_rows};
use quorate::methods::{Fit, vote_fractions};
use quorate::model::Consensus;
use quorate::{Annotations, Context, Result};

/// The signs of one threshold: the N x M matrix U, never formed.
#[derive(Clone, Copy)]
pub(crate) struct Signs<'a> {
    pub annotations: &'a Annotations,
    pub threshold: usize,
}

/// The answer of a binary method at one threshold.
pub(crate) struct Decisions {
    /// Share of the weight that says "above", for each task.
    pub above: Vec<f64>,
    /// Weight of each worker: its score.
    pub weights: Vec<f64>,
    /// What to beware of.
    pub warnings: Vec<String>,
}

impl Signs<'_> {
    /// +1 above the threshold, -1 below.
    pub fn sign(&self, answer: usize) -> f64 {
        if answer > self.threshold { 1.0 } else { -1.0 }
    }

    /// `out = U x`: the weighted vote of every task.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let ranges = balanced_ranges(self.annotations.task_starts(), 64);
        map_rows(ranges, out, 1, |tasks, out| {
            for (task, cell) in tasks.zip(out) {
                let labels = self.annotations.labels_of_task(task);
                *cell = labels.map(|(worker, answer)| self.sign(answer) * x[worker]).sum();
            }
        });
    }

    /// `out = U^T y`: how each worker's answers go with the tasks' values.
    pub fn multiply_transposed(&self, y: &[f64], out: &mut [f64]) {
        let by_worker = self.annotations.by_worker();
        map_rows(balanced_ranges(by_worker.starts(), 64), out, 1, |workers, out| {
            for (worker, cell) in workers.zip(out) {
                let labels = by_worker.labels(worker);
                *cell = labels.map(|(task, answer)| self.sign(answer) * y[task]).sum();
            }
        });
    }

    /// Vote totals, `U 1`.
    pub fn vote_totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.annotations.task_count()];
        self.multiply(&vec![1.0; self.annotations.worker_count()], &mut totals);
        totals
    }

    /// Share of the weight above the threshold for each task, where worker m's answer to n has weight
    /// `weight(position of the label, m)`; one half where there is no weight. Shares within rounding of one
    /// half are one half.
    pub fn shares(&self, weight: impl Fn(usize, usize) -> f64, offset: f64) -> Vec<f64> {
        let starts = self.annotations.task_starts();
        let share = |task: usize| {
            let (mut score, mut total) = (offset, offset.abs());
            let labels = self.annotations.labels_of_task(task).enumerate();
            for (position, (worker, answer)) in labels {
                let weight = weight(starts[task] as usize + position, worker);
                score += self.sign(answer) * weight;
                total += weight.abs();
            }
            let tied = total <= 0.0 || score.abs() <= 4.0 * TIE * total;
            let silent = starts[task] == starts[task + 1];
            if tied || silent {
                0.5
            } else {
                0.5 + 0.5 * (score / total)
            }
        };
        (0..self.annotations.task_count()).map(share).collect()
    }

    /// Majority vote at this threshold, for a task without labels the share over all tasks.
    pub fn vote_shares(&self, votes: &Consensus) -> Vec<f64> {
        let above = |task| votes.row(task)[self.threshold + 1..].iter().sum();
        (0..votes.len()).map(above).collect()
    }

    /// Majority vote as the answer, all workers alike, for want of anything better.
    pub fn majority(&self, votes: &Consensus, why: &str) -> Decisions {
        Decisions {
            above: self.vote_shares(votes),
            weights: vec![1.0; self.annotations.worker_count()],
            warnings: vec![format!("{why}: the answer is majority vote")],
        }
    }
}

/// The leading right singular vector of an operator on workers, with its singular value; `None` if the
/// operator is zero. The flag says whether the two largest singular values are so close that the vector is
/// not determined.
pub(crate) fn leading_singular_vector(
    workers: usize,
    scale: f64,
    gram: impl FnMut(&[f64], &mut [f64]),
) -> Option<(Vec<f64>, f64, bool)> {
    let mut pairs = largest_eigenpairs(workers, 2, 1e-10, gram);
    let top = pairs.values[0];
    if top <= 1e-12 * scale {
        return None;
    }
    let second = pairs.values.get(1);
    let undetermined = second.is_some_and(|second| top - second <= 2e-6 * top);
    Some((pairs.vectors.swap_remove(0), top.sqrt(), undetermined))
}

/// What is said where the leading direction is not determined.
pub(crate) const UNDETERMINED: &str = "the two largest singular values are almost equal, so the leading direction and the answer are nearly arbitrary";

/// Where the weights say nothing, majority vote does.
pub(crate) fn give_ties_their_votes(signs: Signs<'_>, votes: &Consensus, above: &mut [f64]) {
    for (share, vote) in above.iter_mut().zip(signs.vote_shares(votes)) {
        if *share == 0.5 {
            *share = vote;
        }
    }
}

/// Weights in units of the largest magnitude, for methods whose weights have no unit.
pub(crate) fn in_units_of_largest(mut weights: Vec<f64>) -> Vec<f64> {
    let largest = weights.iter().fold(0.0f64, |top, weight| top.max(weight.abs()));
    if largest > 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= largest);
    }
    weights
}

/// Solves every threshold with `solve` and decodes the labels. Worker scores: the mean of the weights over
/// the thresholds.
pub(crate) fn fit_thresholds(
    annotations: &Annotations,
    context: &mut Context,
    stage: &str,
    mut solve: impl FnMut(Signs<'_>, &Consensus, &mut Context) -> Result<Decisions>,
) -> Result<Fit> {
    let (tasks, classes) = (annotations.task_count(), annotations.class_count());
    context.reserve(
        format!("{} decisions on each of {tasks} tasks", classes - 1),
        16 * (tasks * classes) as u64,
        "merge rare classes",
    )?;
    let votes = context.run(|| vote_fractions(annotations));
    if classes == 1 {
        return Ok(Fit {
            worker_scores: Some(vec![1.0; annotations.worker_count()]),
            ..Fit::direct(votes)
        });
    }
    let thresholds = classes - 1;
    let mut above = vec![0.0; tasks * thresholds];
    let mut scores = vec![0.0; annotations.worker_count()];
    let mut warnings: Vec<String> = Vec::new();
    for threshold in 0..thresholds {
        context.step(stage, threshold, Some(thresholds))?;
        let signs = Signs {
            annotations,
            threshold,
        };
        let decisions = solve(signs, &votes, context)?;
        for (task, &share) in decisions.above.iter().enumerate() {
            above[task * thresholds + threshold] = share;
        }
        let pairs = scores.iter_mut().zip(&decisions.weights);
        pairs.for_each(|(score, weight)| *score += weight / thresholds as f64);
        for warning in decisions.warnings {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    let mut rows = vec![0.0; tasks * classes];
    let tasks = above.chunks_exact(thresholds).zip(rows.chunks_exact_mut(classes));
    tasks.for_each(|(above, row)| decode(above, row));
    Ok(Fit {
        worker_scores: Some(scores),
        iterations: thresholds,
        warnings,
        ..Fit::direct(Consensus::new(classes, rows))
    })
}

/// The row of one task from its decisions.
fn decode(above: &[f64], row: &mut [f64]) {
    let next_denied = |from: usize| {
        let denied = (from..above.len()).find(|&t| above[t] < 0.5 - TIE);
        denied.unwrap_or(above.len())
    };
    let certainty = |t: usize| above[t].max(1.0 - above[t]);
    let label = next_denied(0);
    let path = 0..(label + 1).min(above.len());
    let weaker = |best, t| if certainty(t) < certainty(best) { t } else { best };
    let weakest = path.reduce(weaker).unwrap_or(0);
    let other = if weakest == label {
        next_denied(label + 1)
    } else {
        weakest
    };
    row.fill(0.0);
    row[label] = certainty(weakest);
    row[other] += 1.0 - certainty(weakest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(above: &[f64]) -> Vec<f64> {
        let mut row = vec![0.0; above.len() + 1];
        decode(above, &mut row);
        row
    }

    #[test]
    fn rows_hold_the_label_and_the_weakest_alternative() {
        assert_eq!(row(&[0.25]), [0.75, 0.25]);
        assert_eq!(row(&[1.0, 1.0, 0.0]), [0.0, 0.0, 1.0, 0.0]);
        // Above 0 surely, above 1 hardly: class 2, or class 1 if that decision is wrong.
        assert_eq!(row(&[0.75, 0.625]), [0.0, 0.375, 0.625]);
        // Denied at 0: otherwise the next denial, 2.
        assert_eq!(row(&[0.375, 0.75, 0.25]), [0.625, 0.0, 0.375, 0.0]);
        // A tie is a tie.
        assert_eq!(row(&[0.5, 0.0]), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn products_equal_the_definition() {
        let annotations =
            Annotations::from_codes(2, 3, 3, [(0, 0, 2), (0, 1, 0), (1, 0, 1), (1, 2, 1)]).unwrap();
        let signs = Signs {
            annotations: &annotations,
            threshold: 0,
        };
        let (mut tasks, mut workers) = ([0.0; 2], [0.0; 3]);
        signs.multiply(&[1.0, 2.0, 4.0], &mut tasks);
        signs.multiply_transposed(&[1.0, 3.0], &mut workers);
        assert_eq!((tasks, workers), ([-1.0, 5.0], [4.0, -1.0, 3.0]));
        assert_eq!(signs.vote_totals(), [0.0, 2.0]);
        assert_eq!(
            signs.shares(|_, worker| [1.0, 3.0, -3.0][worker], 0.0),
            [0.25, 0.25]
        );
    }
}
