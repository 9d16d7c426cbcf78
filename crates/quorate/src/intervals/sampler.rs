//! Draws of truths given parameters and of parameters given truths.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma};

use super::RunningMoments;
use super::hierarchy::Hierarchy;
use crate::annotations::keep_truth;
use crate::blocks::{Block, Passes, Stage};
use crate::context::{Context, seeded};
use crate::error::Result;
use crate::linalg::assignment;
use crate::model::{AnswerCounts, DawidSkene, LOG_FLOOR, Priors, softmax_in_place};
use crate::parallel::{balanced_ranges, map_ranges};

/// Chunks of tasks, each with a random stream of its own: fixed by the data, so that threads do not matter. Few tasks are one
/// chunk.
const CHUNKS: usize = 16;
const TASKS_A_CHUNK: usize = 256;

/// Pseudo-tasks of each class in the posterior of the class shares.
const CLASS_COUNT: f64 = 1.0;

/// Random streams from one block of labels to the next; far more than one block uses in all draws.
const BLOCK_STREAMS: u64 = 1 << 40;

/// What was drawn for a chunk of tasks.
struct Drawn {
    counts: AnswerCounts,
    /// Expected number of labels that are wrong, and its variance.
    wrong: f64,
    variance: f64,
}

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
        let classes = self.log_prior.len();
        let stream = (draw + 1) * CHUNKS as u64 * 2;
        let (mut wrong, mut variance) = (0.0, 0.0);
        let mut total = AnswerCounts::zero(self.counts.worker_count(), classes);
        let (mut first, mut blocks) = (0, 0);
        passes.each_block(stage, context, &mut |block, context| {
            let labels = &self.labels[first..first + block.task_count()];
            let stream = stream + blocks * BLOCK_STREAMS;
            for part in context.run(|| self.draw_block(block, labels, seed, stream)) {
                total.merge(&part.counts);
                wrong += part.wrong;
                variance += part.variance;
            }
            first += block.task_count();
            blocks += 1;
            Ok(())
        })?;
        self.counts = match passes.has_gold() || !self.priors.is_empty() {
            true => total,
            false => aligned(total),
        };
        self.priors.add_to(&mut self.counts);
        let mut rng = seeded(seed, stream + CHUNKS as u64);
        self.hierarchy.update(&self.counts, &mut rng);
        let tasks = self.labels.len().max(1) as f64;
        Ok(Given {
            mean: wrong / tasks,
            variance: variance / (tasks * tasks),
        })
    }

    /// The same for chunks of the tasks of a block.
    fn draw_block(&self, block: Block<'_>, labels: &[u16], seed: u64, stream: u64) -> Vec<Drawn> {
        let classes = self.log_prior.len();
        let ranges = balanced_ranges(
            block.starts,
            (block.task_count() / TASKS_A_CHUNK).clamp(1, CHUNKS),
        );
        let firsts: Vec<usize> = ranges.iter().map(|range| range.start).collect();
        map_ranges(ranges, |tasks| {
            let chunk = firsts.partition_point(|&first| first < tasks.start) as u64;
            let mut rng = seeded(seed, stream + chunk);
            let mut drawn = Drawn {
                counts: AnswerCounts::zero(block.worker_count(), classes),
                wrong: 0.0,
                variance: 0.0,
            };
            let mut row = vec![0.0; classes];
            for task in tasks {
                row.copy_from_slice(&self.log_prior);
                let (workers, answers) = block.task(task);
                let cells = || {
                    let given = workers.iter().zip(answers);
                    given.map(|(&worker, &answer)| (worker as usize, usize::from(answer)))
                };
                for (worker, answer) in cells() {
                    let logs = &self.log_confusion[(worker * classes + answer) * classes..][..classes];
                    row.iter_mut().zip(logs).for_each(|(sum, log)| *sum += log);
                }
                if let Some(truth) = block.gold(task) {
                    keep_truth(&mut row, truth, classes, f64::NEG_INFINITY);
                }
                softmax_in_place(&mut row);
                let right = row[usize::from(labels[task])];
                drawn.wrong += 1.0 - right;
                drawn.variance += right * (1.0 - right);
                let truth = draw_class(&row, &mut rng);
                if workers.is_empty() {
                    continue;
                }
                drawn.counts.mass[truth] += 1.0;
                for (worker, answer) in cells() {
                    drawn.counts.add(worker, answer, truth, 1.0);
                }
            }
            drawn
        })
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
        for (worker, right) in accuracy.iter_mut().enumerate() {
            let cells = self.counts.worker(worker);
            let (mut mean_right, mut square_right, mut variance_right) = (0.0, 0.0, 0.0);
            for truth in 0..classes {
                let column = |answer: usize| {
                    let cell = answer * classes + truth;
                    cells[cell] + self.hierarchy.pseudo_count(worker, cell)
                };
                let total: f64 = (0..classes).map(column).sum();
                for answer in 0..classes {
                    let mean = column(answer) / total;
                    let variance = mean * (1.0 - mean) / (total + 1.0);
                    confusion[(worker * classes + answer) * classes + truth].add(mean, variance);
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
        }
    }

    /// Draws the class shares and all matrices given the drawn truths.
    pub(super) fn draw_parameters(&mut self, rng: &mut impl Rng) {
        let classes = self.log_prior.len();
        match self.priors.fixed_shares() {
            Some(shares) => {
                for (log, share) in self.log_prior.iter_mut().zip(shares) {
                    *log = share.ln();
                }
            }
            None => {
                let mass: Vec<f64> = self.counts.mass.iter().map(|mass| mass + CLASS_COUNT).collect();
                draw_log_shares(&mass, &mut self.log_prior, rng);
            }
        }
        let (mut column, mut logs) = (vec![0.0; classes], vec![0.0; classes]);
        for worker in 0..self.counts.worker_count() {
            let cells = self.counts.worker(worker);
            for truth in 0..classes {
                for (answer, value) in column.iter_mut().enumerate() {
                    let cell = answer * classes + truth;
                    *value = cells[cell] + self.hierarchy.pseudo_count(worker, cell);
                }
                draw_log_shares(&column, &mut logs, rng);
                for (answer, log) in logs.iter().enumerate() {
                    self.log_confusion[(worker * classes + answer) * classes + truth] = *log;
                }
            }
        }
    }
}

/// Largest number of classes that are put in order: the cost is cubic.
const MOST_ALIGNED: usize = 100;

/// The same counts with the truths named so that as many labels as possible are right.
///
/// A model and the same model with its classes renamed explain the labels alike, and weak workers let the draws wander from
/// one to the other. As every method does, take the naming in which the crowd is right most often.
fn aligned(counts: AnswerCounts) -> AnswerCounts {
    let classes = counts.mass.len();
    let pooled = counts.pooled();
    let is_largest = |class: usize| {
        let row = &pooled[class * classes..][..classes];
        row.iter().all(|&count| count <= row[class])
    };
    if classes > MOST_ALIGNED || (0..classes).all(is_largest) {
        return counts;
    }
    counts.select_truths(&assignment::maximise(&pooled, classes))
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
        let found = aligned(counts);
        assert_eq!(found.mass, [12.0, 10.0, 11.0]);
        assert_eq!(found.worker(1), [10.0, 0.0, 3.0, 3.0, 8.0, 0.0, 0.0, 3.0, 9.0]);
        assert_eq!(aligned(found.clone()), found);
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
