//! The parameters of crowd and workers, and their M-steps.
//!
//! ```text
//! W_i[l,k] = B[l,k] + alpha_i [k = l] + beta_i[l] + eps_i[l,k]
//! ```
//!
//! A step is Newton's with a majorised diagonal curvature: 2 for the softmax, 4 where two groups of
//! parameters move together. The variances follow from the parameters by MacKay's rule: squares over
//! well-determined parameters.

use super::sums::{EffectSums, WorkerSums};
use crate::linalg::exponential::exponential;
use crate::model::AnswerCounts;
use crate::parallel::{even_ranges, map_ranges, split_rows};
use rayon::prelude::*;

/// Variance of the prior of an entry of the crowd's matrix, and its expected diagonal before centring.
const CROWD_VARIANCE: f64 = 4.0;
const CROWD_DIAGONAL: f64 = 1.5;

/// Longest step of one parameter.
const LONGEST_STEP: f64 = 1.0;

/// Variances stay in this range.
const VARIANCES: (f64, f64) = (1e-4, 9.0);

/// What is expected of each variance, worth two parameters.
const EXPECTED: Variances = Variances {
    ability: 0.25,
    bias: 0.09,
    confusion: 0.09,
};
const EXPECTED_WORTH: f64 = 2.0;

/// An answer that the worker would hardly ever give keeps this log-odds: products of four stay above the
/// smallest number.
const MIN_LOG_ODDS: f64 = -60.0;

/// Workers of a chunk of an M-step.
const WORKERS_A_CHUNK: usize = 256;

/// Variances of abilities, favourite labels and remaining confusions over the workers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Variances {
    pub(super) ability: f64,
    pub(super) bias: f64,
    pub(super) confusion: f64,
}

/// Parameters of crowd and workers; K x K tables are `[answer][truth]`.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) classes: usize,
    /// `B`.
    pub(super) crowd: Vec<f64>,
    pub(super) expected_crowd: Vec<f64>,
    /// `[worker][alpha, beta.., eps..]`.
    pub(super) workers: Vec<f64>,
    pub(super) variances: Variances,
    /// `exp(W)`, each column up to a factor.
    pub(super) answers: Vec<f64>,
}

/// Sums over the workers for the variances.
#[derive(Default, Clone, Copy)]
struct EffectSquares {
    /// `sum x^2` of abilities, favourite labels, confusions.
    squares: [f64; 3],
    /// `sum D / (D + 1/v^2)`: how many of them the labels determine.
    determined: [f64; 3],
}

impl Parameters {
    /// The crowd's matrix from counts `[answer][truth]` of answers against posteriors; workers do not differ
    /// yet.
    pub(super) fn from_counts(counts: &[f64], workers: usize) -> Self {
        let classes = counts.len().isqrt();
        let mut crowd: Vec<f64> = counts.iter().map(|count| (count + 1.0).ln()).collect();
        centre(&mut crowd, classes);
        let mut expected_crowd = vec![0.0; classes * classes];
        expected_crowd
            .iter_mut()
            .step_by(classes + 1)
            .for_each(|cell| *cell = CROWD_DIAGONAL);
        centre(&mut expected_crowd, classes);
        let mut parameters = Self {
            classes,
            crowd,
            expected_crowd,
            workers: vec![0.0; workers * (1 + classes + classes * classes)],
            variances: Variances {
                ability: 1.0,
                bias: 0.25,
                confusion: 0.25,
            },
            answers: vec![0.0; workers * classes * classes],
        };
        parameters.tabulate();
        parameters
    }

    /// Parameters that tasks can be seen with, and no more: of so many classes with these `answers`.
    pub(super) fn of_answers(classes: usize, answers: Vec<f64>) -> Self {
        Self {
            classes,
            crowd: Vec::new(),
            expected_crowd: Vec::new(),
            workers: Vec::new(),
            variances: Variances::default(),
            answers,
        }
    }

    pub(super) fn worker_count(&self) -> usize {
        self.answers.len() / (self.classes * self.classes)
    }

    /// The abilities `alpha`.
    #[cfg(test)]
    pub(super) fn abilities(&self) -> Vec<f64> {
        let width = 1 + self.classes + self.classes * self.classes;
        self.workers.iter().step_by(width).copied().collect()
    }

    /// `exp(W)` of every worker.
    fn tabulate(&mut self) {
        let (classes, crowd) = (self.classes, &self.crowd);
        let cells = classes * classes;
        self.answers
            .par_chunks_mut(WORKERS_A_CHUNK * cells)
            .zip(self.workers.par_chunks(WORKERS_A_CHUNK * (1 + classes + cells)))
            .for_each(|(answers, workers)| {
                let workers = workers.chunks_exact(1 + classes + cells);
                for (answers, worker) in answers.chunks_exact_mut(cells).zip(workers) {
                    tabulate_worker(classes, crowd, worker, answers);
                }
            });
    }

    /// Moves the crowd's matrix; `history` are earlier answers of the workers.
    pub(super) fn improve_crowd(&mut self, sums: &EffectSums, history: Option<&AnswerCounts>) {
        let cells = self.classes * self.classes;
        let (mut slope, mut curvature) = (sums.slope.clone(), sums.curvature.clone());
        if let Some(history) = history {
            for worker in 0..self.worker_count() {
                let answers = &self.answers[worker * cells..][..cells];
                add_history(
                    self.classes,
                    answers,
                    history.worker(worker),
                    &mut slope,
                    &mut curvature,
                );
            }
        }
        let precision = CROWD_VARIANCE.recip();
        let factors: Vec<f64> = (0..cells)
            .map(|cell| {
                let pull = (self.crowd[cell] - self.expected_crowd[cell]) * precision;
                let step = bounded((slope[cell] - pull) / (2.0 * curvature[cell] + precision));
                self.crowd[cell] += step;
                step.exp()
            })
            .collect();
        // exp(W + step) = exp(W) exp(step): no exponential for each worker.
        self.answers
            .par_chunks_mut(WORKERS_A_CHUNK * cells)
            .for_each(|answers| {
                for answers in answers.chunks_exact_mut(cells) {
                    answers
                        .iter_mut()
                        .zip(&factors)
                        .for_each(|(answer, factor)| *answer *= factor);
                }
            });
    }

    /// Moves abilities, favourite labels and confusions of every worker, all three from the same sums. Then
    /// the variances, if they are to be learnt.
    pub(super) fn improve_workers(
        &mut self,
        sums: &WorkerSums,
        history: Option<&AnswerCounts>,
        learn_variances: bool,
    ) {
        let (classes, cells) = (self.classes, self.classes * self.classes);
        let count = self.worker_count();
        let ranges = even_ranges(count, count.div_ceil(WORKERS_A_CHUNK));
        let tables = split_rows(ranges.clone(), &mut self.answers, |range| range.len() * cells);
        let parts = split_rows(ranges, &mut self.workers, |range| {
            range.len() * (1 + classes + cells)
        });
        let (crowd, variances) = (&self.crowd, self.variances);
        let moments: Vec<EffectSquares> = parts
            .into_iter()
            .zip(tables)
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|((range, workers), (_, answers))| {
                let mut moments = EffectSquares::default();
                let mut found = vec![0.0; 2 * cells];
                let workers = workers.chunks_exact_mut(1 + classes + cells);
                for ((worker, parameters), answers) in range.zip(workers).zip(answers.chunks_exact_mut(cells))
                {
                    found.copy_from_slice(&sums.values()[worker * 2 * cells..][..2 * cells]);
                    let (slope, curvature) = found.split_at_mut(cells);
                    if let Some(history) = history {
                        add_history(classes, answers, history.worker(worker), slope, curvature);
                    }
                    improve_worker(classes, parameters, (slope, curvature), variances, &mut moments);
                    tabulate_worker(classes, crowd, parameters, answers);
                }
                moments
            })
            .collect();
        if learn_variances {
            self.learn_variances(&moments);
        }
    }

    /// MacKay's rule.
    fn learn_variances(&mut self, moments: &[EffectSquares]) {
        let rule = |group: usize, expected: f64| {
            let squares: f64 = moments.iter().map(|part| part.squares[group]).sum();
            let determined: f64 = moments.iter().map(|part| part.determined[group]).sum();
            let variance = (squares + EXPECTED_WORTH * expected) / (determined + EXPECTED_WORTH);
            variance.clamp(VARIANCES.0, VARIANCES.1)
        };
        self.variances = Variances {
            ability: rule(0, EXPECTED.ability),
            bias: rule(1, EXPECTED.bias),
            confusion: rule(2, EXPECTED.confusion),
        };
    }

    /// Confusion matrices on a task without effects, `[worker][answer][truth]`.
    pub(super) fn confusions(&self) -> Vec<f64> {
        let (classes, cells) = (self.classes, self.classes * self.classes);
        let blocks = map_ranges(even_ranges(self.worker_count(), 64), |range| {
            let mut answers = self.answers[range.start * cells..range.end * cells].to_vec();
            for answers in answers.chunks_exact_mut(cells) {
                for truth in 0..classes {
                    let sum: f64 = answers[truth..].iter().step_by(classes).sum();
                    answers[truth..]
                        .iter_mut()
                        .step_by(classes)
                        .for_each(|cell| *cell /= sum);
                }
            }
            answers
        });
        blocks.concat()
    }
}

/// Subtracts from each column of an `[answer][truth]` table its mean.
fn centre(table: &mut [f64], classes: usize) {
    for truth in 0..classes {
        let mean = table[truth..].iter().step_by(classes).sum::<f64>() / classes as f64;
        table[truth..]
            .iter_mut()
            .step_by(classes)
            .for_each(|cell| *cell -= mean);
    }
}

fn bounded(step: f64) -> f64 {
    step.clamp(-LONGEST_STEP, LONGEST_STEP)
}

/// `exp(W)` of one worker, the largest entry of each column 1.
fn tabulate_worker(classes: usize, crowd: &[f64], worker: &[f64], answers: &mut [f64]) {
    let (ability, bias, confusion) = (worker[0], &worker[1..=classes], &worker[1 + classes..]);
    for (cell, ((answer, crowd), confusion)) in answers.iter_mut().zip(crowd).zip(confusion).enumerate() {
        let right = if cell % (classes + 1) == 0 { ability } else { 0.0 };
        *answer = crowd + right + bias[cell / classes] + confusion;
    }
    for truth in 0..classes {
        let column = answers[truth..].iter().step_by(classes);
        let top = column.fold(f64::NEG_INFINITY, |top, &value| top.max(value));
        for answer in answers[truth..].iter_mut().step_by(classes) {
            *answer = exponential((*answer - top).max(MIN_LOG_ODDS));
        }
    }
}

/// Adds earlier answers to tasks of known classes, as if on tasks without effects.
fn add_history(classes: usize, answers: &[f64], counts: &[f64], slope: &mut [f64], curvature: &mut [f64]) {
    for truth in 0..classes {
        let given: f64 = counts[truth..].iter().step_by(classes).sum();
        if given > 0.0 {
            let sum: f64 = answers[truth..].iter().step_by(classes).sum();
            for cell in (truth..classes * classes).step_by(classes) {
                let p = answers[cell] / sum;
                slope[cell] += counts[cell] - given * p;
                curvature[cell] += given * p * (1.0 - p);
            }
        }
    }
}

/// The step of one worker, and what it says of the variances.
fn improve_worker(
    classes: usize,
    worker: &mut [f64],
    (slope, curvature): (&[f64], &[f64]),
    variances: Variances,
    moments: &mut EffectSquares,
) {
    let mut step = |group: usize, x: &mut f64, (slope, curvature): (f64, f64), factor: f64, variance: f64| {
        let precision = variance.recip();
        *x += bounded((slope - *x * precision) / (factor * curvature + precision));
        moments.squares[group] += *x * *x;
        moments.determined[group] += curvature / (curvature + precision);
    };
    let diagonal = |table: &[f64]| table.iter().step_by(classes + 1).sum::<f64>();
    let (own, confusion) = worker.split_at_mut(1 + classes);
    let (ability, bias) = own.split_at_mut(1);
    step(
        0,
        &mut ability[0],
        (diagonal(slope), diagonal(curvature)),
        2.0,
        variances.ability,
    );
    for (answer, bias) in bias.iter_mut().enumerate() {
        let row = |table: &[f64]| table[answer * classes..][..classes].iter().sum::<f64>();
        step(1, bias, (row(slope), row(curvature)), 4.0, variances.bias);
    }
    for ((cell, &slope), &curvature) in confusion.iter_mut().zip(slope).zip(curvature) {
        step(2, cell, (slope, curvature), 4.0, variances.confusion);
    }
}
