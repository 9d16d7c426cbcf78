//! The (label, candidate) pairs of a task, each with what the rest of the table says of it.

use super::problem::{SparseProblem, SparseWeights};
use super::strengths::Strengths;

/// One label against one truth that the task may have, in counts that the task has no part in.
pub(super) struct Touch {
    /// Which of the task's candidates.
    pub(super) candidate: usize,
    /// Whether the label names it.
    pub(super) right: bool,
    /// The worker's accuracy.
    accuracy: f64,
    /// The worker's labels like this one, and all its labels, on tasks of this truth.
    cell: f64,
    column: f64,
    /// The crowd's labels like this one, and all its wrong ones, on tasks of this truth.
    pub(super) crowd_cell: f64,
    pub(super) crowd_column: f64,
}

impl Touch {
    /// Share of an answer among the crowd's wrong ones, with even ones worth `strength` behind them.
    pub(super) fn crowd_share(&self, strength: f64, others: f64) -> f64 {
        (self.crowd_cell + strength / others) / (self.crowd_column + strength)
    }

    /// Probability of the label.
    pub(super) fn probability(&self, strengths: Strengths, others: f64) -> f64 {
        let wrong = (1.0 - self.accuracy) * self.crowd_share(strengths.crowd, others);
        let background = if self.right { self.accuracy } else { wrong };
        (self.cell + strengths.worker * background) / (self.column + strengths.worker)
    }
}

impl SparseProblem<'_> {
    /// Goes through the pairs of a task, candidates fastest. `row`: the posterior that is in the counts, if
    /// one is.
    pub(super) fn for_each_touch(
        &self,
        weights: &SparseWeights,
        task: usize,
        row: &[f64],
        mut visit: impl FnMut(Touch),
    ) {
        let (Some(cells), Some(counts)) = (&self.cells, &weights.counts) else {
            return;
        };
        let named = self.candidates.of_task(task);
        let (workers, answers) = self.annotations.task_slices(task);
        let own = |candidate: usize| if weights.own_counted { row[candidate] } else { 0.0 };
        let place = |answer: u16| named.binary_search(&answer).ok();
        let mut votes = vec![0.0; named.len()];
        for candidate in answers.iter().filter_map(|&answer| place(answer)) {
            votes[candidate] += 1.0;
        }
        let labels = answers.len() as f64;
        for (label, (&worker, &answer)) in workers.iter().zip(answers).enumerate() {
            let said = place(answer);
            let accuracy = self.accuracy_elsewhere(weights, worker as usize, said.map_or(0.0, own));
            // A class that is no candidate (there were too many) is one that few named.
            let alike = said.map_or(1.0, |candidate| votes[candidate]);
            let touched = &cells.of_task(task)[label * named.len()..][..named.len()];
            for (candidate, (&cell, &truth)) in touched.iter().zip(named).enumerate() {
                let (cell, q) = (cell as usize, own(candidate));
                let right = answer == truth;
                let like_it = (counts.crowd[cells.crowd_of(cell)] - q * alike).max(0.0);
                let wrong = counts.crowd_columns[usize::from(truth)] - q * (labels - votes[candidate]);
                visit(Touch {
                    candidate,
                    right,
                    accuracy,
                    cell: (counts.cells[cell] - q).max(0.0),
                    column: (counts.columns[cells.column_of(cell)] - q).max(0.0),
                    crowd_cell: if right { 0.0 } else { like_it },
                    crowd_column: wrong.max(0.0),
                });
            }
        }
    }

    /// The worker's accuracy on other tasks; `own`: the share of this label that was counted as right.
    pub(super) fn accuracy_elsewhere(&self, weights: &SparseWeights, worker: usize, own: f64) -> f64 {
        let (own, labels) = if weights.own_counted {
            (own, 1.0)
        } else {
            (0.0, 0.0)
        };
        weights.accuracy(worker, own, labels)
    }
}
