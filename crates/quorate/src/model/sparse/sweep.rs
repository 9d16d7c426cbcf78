//! The E-step.

use std::ops::Range;

use super::problem::{SparseProblem, SparseWeights};
use super::tally::{SparseTally, Sums, outside_share};
use crate::model::posterior::{LOG_FLOOR, softmax_in_place};
use crate::parallel::{balanced_ranges, map_slices};

impl SparseProblem<'_> {
    /// Writes the posteriors and sums what the next M-step needs.
    pub(super) fn sweep(&self, weights: &SparseWeights, rows: &mut [f64]) -> Sums {
        let accuracy = self.accuracies(weights);
        let log_right: Vec<f64> = accuracy.iter().map(|&right| log(right)).collect();
        let log_wrong: Vec<f64> = accuracy.iter().map(|&right| log(self.wrong(right))).collect();
        // Each chunk has sums of its own for workers and classes: few enough to stay below the labels.
        let sizes = self.annotations.worker_count() + 2 * self.annotations.class_count();
        let chunks = (self.annotations.label_count() / (4 * sizes)).clamp(1, 16);
        let ranges = balanced_ranges(self.annotations.task_starts(), chunks);
        let starts = self.candidates.starts();
        let length = |tasks: &Range<usize>| starts[tasks.end] - starts[tasks.start];
        let parts = map_slices(ranges, rows, length, |tasks, rows| {
            let mut tally = SparseTally::new(self.annotations);
            let mut scratch = Vec::new();
            let first = starts[tasks.start];
            for task in tasks {
                let row = &mut rows[starts[task] - first..starts[task + 1] - first];
                scratch.clear();
                scratch.extend(self.named_priors(weights, task));
                match weights.counts {
                    Some(_) => self.add_labels_elsewhere(weights, task, row, &mut scratch),
                    None => self.add_labels(&log_right, &log_wrong, task, &mut scratch),
                }
                let sum = softmax_in_place(&mut scratch);
                if !self.annotations.task_slices(task).0.is_empty() {
                    tally.sums.log_likelihood += sum;
                }
                for (old, &new) in row.iter_mut().zip(&scratch) {
                    tally.sums.change += (*old - new).abs();
                    *old = new;
                }
                tally.add(self, task, row, &weights.prior);
            }
            tally
        });
        let mut parts = parts.into_iter();
        let mut total = parts.next().expect("there is at least one chunk");
        parts.for_each(|part| total.merge(&part));
        total.finish(&weights.prior)
    }

    /// Log-prior of each candidate of a task and, last, of all other classes together.
    fn named_priors(&self, weights: &SparseWeights, task: usize) -> impl Iterator<Item = f64> {
        let named = self.candidates.of_task(task);
        let rest = match self.annotations.gold(task) {
            Some(_) => f64::NEG_INFINITY,
            None => outside_share(named, &weights.prior).ln(),
        };
        let logs = named.iter().map(|&class| log(weights.prior[class as usize]));
        logs.chain([rest])
    }

    /// Adds what the labels say where workers are their accuracies.
    fn add_labels(&self, right: &[f64], wrong: &[f64], task: usize, logs: &mut [f64]) {
        let named = self.candidates.of_task(task);
        let (workers, answers) = self.annotations.task_slices(task);
        for (&worker, answer) in workers.iter().zip(answers) {
            let worker = worker as usize;
            for (log, class) in logs.iter_mut().zip(named) {
                *log += if class == answer {
                    right[worker]
                } else {
                    wrong[worker]
                };
            }
            logs[named.len()] += wrong[worker];
        }
    }

    /// Adds what the labels say by cells, the task itself left out of them. `row`: its posterior so far.
    fn add_labels_elsewhere(&self, weights: &SparseWeights, task: usize, row: &[f64], logs: &mut [f64]) {
        let (named, others) = (self.candidates.of_task(task), self.others());
        self.for_each_touch(weights, task, row, |touch| {
            logs[touch.candidate] += log(touch.probability(weights.strengths, others));
        });
        let (workers, answers) = self.annotations.task_slices(task);
        for (&worker, answer) in workers.iter().zip(answers) {
            let own = named.binary_search(answer).map_or(0.0, |place| row[place]);
            let accuracy = self.accuracy_elsewhere(weights, worker as usize, own);
            logs[named.len()] += log(self.wrong(accuracy));
        }
    }
}

fn log(probability: f64) -> f64 {
    probability.ln().max(LOG_FLOOR)
}
