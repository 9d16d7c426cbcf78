//! Draws of truths given parameters and of parameters given truths.

use chacha20::ChaCha8Rng;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma};
use rayon::prelude::*;

use super::RunningMoments;
use super::hierarchy::Hierarchy;
use crate::annotations::keep_truth;
use crate::blocks::{Block, Passes, Stage};
use crate::context::{Context, seeded};
use crate::error::Result;
use crate::linalg::assignment;
use crate::model::{AnswerCounts, DawidSkene, LOG_FLOOR, Priors, softmax_in_place};
use crate::parallel::{balanced_ranges, even_ranges, map_ranges, map_rows, map_rows_with, private_chunks};

/// Chunks of tasks and of workers, each with a random stream of its own: fixed by the data, so that threads
/// do not matter. Few of them are one chunk.
const CHUNKS: usize = 16;
const TASKS_A_CHUNK: usize = 256;
const WORKERS_A_CHUNK: usize = 1024;

/// Pseudo-tasks of each class in the posterior of the class shares.
const CLASS_COUNT: f64 = 1.0;

/// Random streams from one block of labels to the next; far more than one block uses in all draws.
const BLOCK_STREAMS: u64 = 1 << 40;

/// Mean and variance of a number given the parameters.
pub(super) struct Given {
    pub mean: f64,
    pub variance: f64,
}

/// The state of the draws.
pub(super) struct Sampler<'a> {
    labels: &'a [u16],
    priors: &'a Priors,
    log_prior: Vec<f64>,
    log_confusion: Vec<f64>,
    /// Drawn truths of the tasks of a block.
    truths: Vec<u16>,
    counts: AnswerCounts,
    hierarchy: Hierarchy,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(model: &DawidSkene, labels: &'a [u16], priors: &'a Priors) -> Self {
        let logs = |values: &[f64]| values.iter().map(|value| value.ln().max(LOG_FLOOR)).collect();
        let (workers, classes) = (model.worker_count(), model.class_count());
        Self {
            labels,
            priors,
            log_prior: logs(model.prior()),
            log_confusion: logs(model.confusions()),
            truths: Vec::new(),
            counts: AnswerCounts::zero(workers, classes),
            hierarchy: Hierarchy::new(workers, classes),
        }
    }

    /// Draws the truth of every task and counts the answers against them; returns how many of the labels are
    /// wrong under the parameters, as a share.
    pub(super) fn draw_truths(
        &mut self,
        seed: u64,
        draw: u64,
        passes: &mut Passes<'_>,
        stage: Stage,
        context: &mut Context,
    ) -> Result<Given> {
        let stream = (draw + 1) * CHUNKS as u64 * 2;
        let (mut wrong, mut variance) = (0.0, 0.0);
        let (mut first, mut blocks) = (0, 0);
        self.counts.clear();
        passes.each_block(stage, context, &mut |block, context| {
            let labels = &self.labels[first..first + block.task_count()];
            let stream = stream + blocks * BLOCK_STREAMS;
            context.run(|| {
                for part in self.draw_block(block, labels, seed, stream) {
                    wrong += part.mean;
                    variance += part.variance;
                }
                self.count_block(block);
            });
            first += block.task_count();
            blocks += 1;
        })?;
        if !passes.has_gold() && self.priors.is_empty() {
            align(&mut self.counts);
        }
        self.priors.add_to(&mut self.counts);
        let streams = worker_chunks(self.counts.worker_count()).len() as u64;
        let rngs = (0..streams).map(|chunk| seeded(seed, stream + CHUNKS as u64 + chunk));
        context.run(|| self.hierarchy.update(&self.counts, rngs.collect()));
        let tasks = self.labels.len().max(1) as f64;
        Ok(Given {
            mean: wrong / tasks,
            variance: variance / (tasks * tasks),
        })
    }

    /// Draws the truths of the tasks of a block; how many labels of each chunk are wrong.
    fn draw_block(&mut self, block: Block<'_>, labels: &[u16], seed: u64, stream: u64) -> Vec<Given> {
        let (log_prior, log_confusion) = (&self.log_prior, &self.log_confusion);
        let classes = log_prior.len();
        let ranges = balanced_ranges(
            block.starts,
            (block.task_count() / TASKS_A_CHUNK).clamp(1, CHUNKS),
        );
        let firsts: Vec<usize> = ranges.iter().map(|range| range.start).collect();
        self.truths.resize(block.task_count(), 0);
        map_rows(ranges, &mut self.truths, 1, |tasks, truths| {
            let chunk = firsts.partition_point(|&first| first < tasks.start) as u64;
            let mut rng = seeded(seed, stream + chunk);
            let mut wrong = Given {
                mean: 0.0,
                variance: 0.0,
            };
            let mut row = vec![0.0; classes];
            for (task, truth) in tasks.zip(truths) {
                row.copy_from_slice(log_prior);
                let (workers, answers) = block.task(task);
                for (&worker, &answer) in workers.iter().zip(answers) {
                    let logs = &log_confusion[(worker as usize * classes + usize::from(answer)) * classes..]
                        [..classes];
                    row.iter_mut().zip(logs).for_each(|(sum, log)| *sum += log);
                }
                if let Some(truth) = block.gold(task) {
                    keep_truth(&mut row, truth, classes, f64::NEG_INFINITY);
                }
                softmax_in_place(&mut row);
                let right = row[usize::from(labels[task])];
                wrong.mean += 1.0 - right;
                wrong.variance += right * (1.0 - right);
                *truth = draw_class(&row, &mut rng) as u16;
            }
            wrong
        })
    }

    /// Counts the answers of a block against the drawn truths. Whole numbers: the order of the sums makes no
    /// difference.
    fn count_block(&mut self, block: Block<'_>) {
        let (truths, workers, classes) = (&self.truths, block.worker_count(), self.log_prior.len());
        let count = |tasks: std::ops::Range<usize>, counts: &mut AnswerCounts| {
            for task in tasks {
                let (workers, answers) = block.task(task);
                let truth = usize::from(truths[task]);
                counts.mass[truth] += if workers.is_empty() { 0.0 } else { 1.0 };
                for (&worker, &answer) in workers.iter().zip(answers) {
                    counts.add(worker as usize, usize::from(answer), truth, 1.0);
                }
            }
        };
        let chunks = private_chunks(block.label.len(), workers * classes * classes);
        let mut ranges = balanced_ranges(block.starts, chunks);
        if ranges.len() == 1 {
            count(ranges.remove(0), &mut self.counts);
            return;
        }
        let parts = map_ranges(ranges, |tasks| {
            let mut counts = AnswerCounts::zero(workers, classes);
            count(tasks, &mut counts);
            counts
        });
        parts.iter().for_each(|part| self.counts.merge(part));
    }

    /// Adds the means and variances of all numbers given the drawn truths.
    pub(super) fn observe(
        &self,
        prevalence: &mut [RunningMoments],
        accuracy: &mut [RunningMoments],
        confusion: &mut [RunningMoments],
    ) {
        let classes = self.log_prior.len();
        let mass: Vec<f64> = self.counts.mass.iter().map(|mass| mass + CLASS_COUNT).collect();
        let all: f64 = mass.iter().sum();
        let shares: Vec<f64> = match self.priors.fixed_shares() {
            Some(shares) => shares.to_vec(),
            None => mass.iter().map(|mass| mass / all).collect(),
        };
        let fixed = self.priors.fixed_shares().is_some();
        for (moments, share) in prevalence.iter_mut().zip(&shares) {
            let variance = if fixed {
                0.0
            } else {
                share * (1.0 - share) / (all + 1.0)
            };
            moments.add(*share, variance);
        }
        let hierarchy = &self.hierarchy;
        let observe = |(worker, (right, cells)): (usize, (&mut RunningMoments, &mut [RunningMoments]))| {
            let counts = self.counts.worker(worker);
            let (mut mean_right, mut square_right, mut variance_right) = (0.0, 0.0, 0.0);
            for truth in 0..classes {
                let column = |answer: usize| {
                    let cell = answer * classes + truth;
                    counts[cell] + hierarchy.pseudo_count(worker, cell)
                };
                let total: f64 = (0..classes).map(column).sum();
                for answer in 0..classes {
                    let mean = column(answer) / total;
                    let variance = mean * (1.0 - mean) / (total + 1.0);
                    cells[answer * classes + truth].add(mean, variance);
                    if answer == truth {
                        mean_right += shares[truth] * mean;
                        square_right += shares[truth] * mean * mean;
                        variance_right += shares[truth] * shares[truth] * variance;
                    }
                }
            }
            if !fixed {
                // The class shares are not known either.
                variance_right += (square_right - mean_right * mean_right).max(0.0) / (all + 1.0);
            }
            right.add(mean_right, variance_right);
        };
        let workers = accuracy
            .par_iter_mut()
            .zip(confusion.par_chunks_mut(classes * classes));
        workers
            .enumerate()
            .with_min_len(WORKERS_A_CHUNK)
            .for_each(observe);
    }

    /// Draws the class shares and all matrices given the drawn truths.
    pub(super) fn draw_parameters(&mut self, seed: u64, sweep: u64) {
        let classes = self.log_prior.len();
        let chunks = worker_chunks(self.counts.worker_count());
        let mut rngs: Vec<ChaCha8Rng> = (0..chunks.len() as u64)
            .map(|chunk| seeded(seed, u64::MAX - sweep - chunk * BLOCK_STREAMS))
            .collect();
        match self.priors.fixed_shares() {
            Some(shares) => {
                for (log, share) in self.log_prior.iter_mut().zip(shares) {
                    *log = share.ln();
                }
            }
            None => {
                let mass: Vec<f64> = self.counts.mass.iter().map(|mass| mass + CLASS_COUNT).collect();
                draw_log_shares(&mass, &mut self.log_prior, &mut rngs[0]);
            }
        }
        let (counts, hierarchy, block) = (&self.counts, &self.hierarchy, classes * classes);
        let labels_alone = self.priors.is_empty();
        let matrices = &mut self.log_confusion;
        map_rows_with(
            chunks,
            matrices,
            block,
            rngs.into_iter(),
            |workers, matrices, mut rng| {
                let (mut column, mut logs) = (vec![0.0; classes], vec![0.0; classes]);
                for (worker, matrix) in workers.zip(matrices.chunks_exact_mut(block)) {
                    let cells = counts.worker(worker);
                    if labels_alone && cells.iter().sum::<f64>() <= 1.0 {
                        // The one label says nothing of itself: over all matrices its probability is the
                        // centre.
                        hierarchy.expect_logs(worker, matrix);
                        continue;
                    }
                    for truth in 0..classes {
                        for (answer, value) in column.iter_mut().enumerate() {
                            let cell = answer * classes + truth;
                            *value = cells[cell] + hierarchy.pseudo_count(worker, cell);
                        }
                        draw_log_shares(&column, &mut logs, &mut rng);
                        for (answer, log) in logs.iter().enumerate() {
                            matrix[answer * classes + truth] = *log;
                        }
                    }
                }
            },
        );
    }
}

/// Workers who share a random stream.
pub(super) fn worker_chunks(workers: usize) -> Vec<std::ops::Range<usize>> {
    even_ranges(workers, (workers / WORKERS_A_CHUNK).clamp(1, CHUNKS))
}

/// Largest number of classes that are put in order: the cost is cubic.
const MAX_ALIGNED: usize = 100;

/// Names the truths so that as many labels as possible are right.
///
/// A model and the same model with its classes renamed explain the labels alike, and weak workers let the
/// draws wander from one to the other. As every method does, take the naming in which the crowd is right most
/// often.
fn align(counts: &mut AnswerCounts) {
    let classes = counts.mass.len();
    let pooled = counts.pooled();
    let is_largest = |class: usize| {
        let row = &pooled[class * classes..][..classes];
        row.iter().all(|&count| count <= row[class])
    };
    if classes <= MAX_ALIGNED && !(0..classes).all(is_largest) {
        *counts = counts.select_truths(&assignment::maximise(&pooled, classes));
    }
}

/// A class drawn from a distribution.
pub(crate) fn draw_class(row: &[f64], rng: &mut impl Rng) -> usize {
    let mut left: f64 = rng.random();
    for (class, share) in row.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return class;
        }
    }
    // Rounding: the last class that is possible at all.
    row.iter().rposition(|&share| share > 0.0).unwrap_or(0)
}

/// Logarithms of a draw from a Dirichlet distribution. Gamma variables with small shapes underflow, so those
/// are drawn by `G(a) = G(a + 1) U^(1/a)` in the log domain.
pub(crate) fn draw_log_shares(parameters: &[f64], logs: &mut [f64], rng: &mut impl Rng) {
    for (log, &parameter) in logs.iter_mut().zip(parameters) {
        let parameter = parameter.max(1e-9);
        let gamma = Gamma::new(parameter + 1.0, 1.0).expect("the shape is above 1");
        let above: f64 = gamma.sample(rng);
        let uniform: f64 = 1.0 - rng.random::<f64>();
        *log = above.ln() + uniform.ln() / parameter;
    }
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = top + logs.iter().map(|log| (log - top).exp()).sum::<f64>().ln();
    logs.iter_mut()
        .for_each(|log| *log = (*log - total).max(LOG_FLOOR));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truths_that_changed_names_change_back() {
        let mut counts = AnswerCounts::zero(2, 3);
        for worker in 0..2 {
            // What is called class 0 is 1, 1 is 2 and 2 is 0.
            for (answer, truth) in [(1, 0), (2, 1), (0, 2)] {
                counts.add(worker, answer, truth, 8.0 + truth as f64);
                counts.add(worker, (answer + 1) % 3, truth, 3.0);
                counts.mass[truth] = 10.0 + truth as f64;
            }
        }
        align(&mut counts);
        assert_eq!(counts.mass, [12.0, 10.0, 11.0]);
        assert_eq!(counts.worker(1), [10.0, 0.0, 3.0, 3.0, 8.0, 0.0, 0.0, 3.0, 9.0]);
        let again = counts.clone();
        align(&mut counts);
        assert_eq!(counts, again);
    }

    #[test]
    fn shares_have_the_mean_of_their_dirichlet() {
        let mut rng = seeded(3, 0);
        let parameters = [0.2, 1.0, 4.0];
        let (mut sums, mut logs) = ([0.0; 3], [0.0; 3]);
        let draws = 20_000;
        for _ in 0..draws {
            draw_log_shares(&parameters, &mut logs, &mut rng);
            assert!((logs.iter().map(|log| log.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
            sums.iter_mut()
                .zip(&logs)
                .for_each(|(sum, log)| *sum += log.exp());
        }
        for (sum, parameter) in sums.iter().zip(parameters) {
            assert!(
                (sum / f64::from(draws) - parameter / 5.2).abs() < 0.01,
                "{sums:?}"
            );
        }
    }
}
