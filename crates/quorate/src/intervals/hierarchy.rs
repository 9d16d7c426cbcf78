//! What workers have in common: the prior of a worker's matrix, learnt from all workers.
//!
//! ```text
//! right answers of m in all:   p_m ~ Beta(t p, t (1 - p))             p the accuracy of the crowd
//! columns of m:                A_m(., k) ~ Dir(s_k centre_m(., k))    centre: the crowd's column, its diagonal moved on the
//!                                                                     logit scale by logit(p_m) - logit(p)
//! ```
//!
//! The crowd's columns are not known either, least of all in a small crowd:
//!
//! ```text
//! P(., k) ~ Dir(1/2 + sum_m w_mk C_m(., k)),      w_mk = (1 + s_k) / max(n_mk + s_k, 1 + s_k),   n_mk labels of m in column k
//! p       ~ Beta(1 + sum_m w_m R_m, 1 + sum_m w_m W_m),   R_m, W_m right and wrong answers of m, w_m likewise with t
//! ```
//!
//! Labels of one worker share its deviation from the crowd, so that they count for at most `1 + s_k`; an
//! answer that nobody gave is rare, not impossible, and how rare depends on how many could have given it.
//!
//! A worker who is good at one class is mostly good at the others: a prior without `p_m` would draw every
//! column of a good worker to the average one, and its interval with it. `t` and `s_k` follow by one step a
//! draw of Minka's fixed point for the Dirichlet-multinomial likelihood (T. P. Minka, "Estimating a Dirichlet
//! distribution", 2000).

use chacha20::ChaCha8Rng;
use rand::Rng;
use rand_distr::{Beta, Distribution};

use super::sampler::{draw_log_shares, worker_chunks};
use crate::model::AnswerCounts;
use crate::parallel::map_rows_with;
use crate::special::digamma_rise;

/// Where the strengths start, in labels.
const FIRST_STRENGTH: f64 = 4.0;

/// Bounds of the strengths. Left to itself the upper one wanders off where labels are few: truths drawn with
/// matrices that are alike make workers look alike, and the intervals become too narrow.
const STRENGTHS: std::ops::RangeInclusive<f64> = 0.5..=20.0;

/// Pseudo-labels in every cell of the crowd's matrix.
const CROWD_COUNT: f64 = 0.5;

/// Probabilities are kept this far from 0 and 1.
const MARGIN: f64 = 1e-3;

/// The prior of all workers.
#[derive(Debug)]
pub(super) struct Hierarchy {
    classes: usize,
    /// `[worker][answer][truth]`, columns sum to 1.
    centres: Vec<f64>,
    /// `s_k`.
    column_strengths: Vec<f64>,
    /// `t`.
    accuracy_strength: f64,
}

impl Hierarchy {
    pub(super) fn new(workers: usize, classes: usize) -> Self {
        Self {
            classes,
            centres: vec![0.0; workers * classes * classes],
            column_strengths: vec![FIRST_STRENGTH; classes],
            accuracy_strength: FIRST_STRENGTH,
        }
    }

    /// Pseudo-count of a cell of a worker's matrix.
    pub(super) fn pseudo_count(&self, worker: usize, cell: usize) -> f64 {
        let block = self.classes * self.classes;
        self.column_strengths[cell % self.classes] * self.centres[worker * block + cell]
    }

    /// Logarithms of the cells that are expected of a worker who has no labels yet.
    pub(super) fn expect_logs(&self, worker: usize, matrix: &mut [f64]) {
        let centre = &self.centres[worker * matrix.len()..][..matrix.len()];
        matrix
            .iter_mut()
            .zip(centre)
            .for_each(|(log, share)| *log = share.ln());
    }

    /// The crowd's matrix, `[answer][truth]`.
    fn draw_crowd(&self, counts: &AnswerCounts, rng: &mut impl Rng) -> Vec<f64> {
        let classes = self.classes;
        let mut weights = vec![CROWD_COUNT; classes * classes];
        for worker in 0..counts.worker_count() {
            let cells = counts.worker(worker);
            for (truth, &strength) in self.column_strengths.iter().enumerate() {
                let given: f64 = cells[truth..].iter().step_by(classes).sum();
                let worth = worth(given, strength);
                for cell in (truth..classes * classes).step_by(classes) {
                    weights[cell] += worth * cells[cell];
                }
            }
        }
        let mut crowd = vec![0.0; classes * classes];
        let (mut column, mut logs) = (vec![0.0; classes], vec![0.0; classes]);
        for truth in 0..classes {
            for (answer, weight) in column.iter_mut().enumerate() {
                *weight = weights[answer * classes + truth];
            }
            draw_log_shares(&column, &mut logs, rng);
            for (answer, log) in logs.iter().enumerate() {
                crowd[answer * classes + truth] = log.exp().clamp(MARGIN / classes as f64, 1.0);
            }
        }
        crowd
    }

    /// Draws the crowd's matrix and every worker's accuracy given the counts, and learns how alike workers
    /// are. One random stream for each of the [`worker_chunks`].
    pub(super) fn update(&mut self, counts: &AnswerCounts, mut rngs: Vec<ChaCha8Rng>) {
        let crowd = self.draw_crowd(counts, &mut rngs[0]);
        let (classes, block) = (self.classes, self.classes * self.classes);
        let totals = self.right_and_wrong(counts);
        let t = self.accuracy_strength;
        let (right, wrong) = totals.iter().fold((1.0, 1.0), |(right, wrong), pair| {
            let worth = worth(pair[0] + pair[1], t);
            (right + worth * pair[0], wrong + worth * pair[1])
        });
        let crowds = Beta::new(right, wrong).expect("both above 0");
        let mean: f64 = crowds.sample(&mut rngs[0]).clamp(MARGIN, 1.0 - MARGIN);
        let own_odds: Vec<f64> = (0..classes)
            .map(|truth| odds(crowd[truth * classes + truth]))
            .collect();
        let chunks = worker_chunks(totals.len());
        let strengths = &self.column_strengths;
        let centres = &mut self.centres;
        let parts = map_rows_with(
            chunks,
            centres,
            block,
            rngs.into_iter(),
            |workers, centres, mut rng| {
                let mut accuracy_steps = FixedPointStep::default();
                let mut column_steps = vec![FixedPointStep::default(); classes];
                for (worker, centres) in workers.zip(centres.chunks_exact_mut(block)) {
                    let pair = totals[worker];
                    let posterior =
                        Beta::new(pair[0] + t * mean, pair[1] + t * (1.0 - mean)).expect("both above 0");
                    let shift = odds(posterior.sample(&mut rng)) / odds(mean);
                    for truth in 0..classes {
                        let moved = own_odds[truth] * shift;
                        let diagonal = (moved / (1.0 + moved)).clamp(MARGIN, 1.0 - MARGIN);
                        let others = (1.0 - diagonal) / (1.0 - crowd[truth * classes + truth]).max(1e-12);
                        for answer in 0..classes {
                            let cell = answer * classes + truth;
                            centres[cell] = if answer == truth {
                                diagonal
                            } else {
                                crowd[cell] * others
                            };
                        }
                    }
                    accuracy_steps.add(t, pair.into_iter().zip([mean, 1.0 - mean]));
                    let cells = counts.worker(worker);
                    for (truth, steps) in column_steps.iter_mut().enumerate() {
                        let column = cells[truth..].iter().step_by(classes).copied();
                        let shares = centres[truth..].iter().step_by(classes).copied();
                        steps.add(strengths[truth], column.zip(shares));
                    }
                }
                (accuracy_steps, column_steps)
            },
        );
        let accuracy_steps = parts.iter().map(|part| part.0);
        self.accuracy_strength = FixedPointStep::of_all(accuracy_steps).strength(t);
        for (truth, strength) in self.column_strengths.iter_mut().enumerate() {
            let steps = parts.iter().map(|part| part.1[truth]);
            *strength = FixedPointStep::of_all(steps).strength(*strength);
        }
    }

    /// Right and wrong answers of every worker, for what they are worth.
    fn right_and_wrong(&self, counts: &AnswerCounts) -> Vec<[f64; 2]> {
        let classes = self.classes;
        let total = |worker: usize| {
            let cells = counts.worker(worker);
            let (mut right, mut wrong) = (0.0, 0.0);
            for (truth, &strength) in self.column_strengths.iter().enumerate() {
                let given: f64 = cells[truth..].iter().step_by(classes).sum();
                let own = cells[truth * classes + truth];
                let worth = worth(given, strength);
                right += worth * own;
                wrong += worth * (given - own).max(0.0);
            }
            [right, wrong]
        };
        (0..counts.worker_count()).map(total).collect()
    }
}

/// What a label is worth beyond its own worker and column: the labels there share the column's own deviation,
/// so that they say less the more there are.
fn worth(given: f64, strength: f64) -> f64 {
    (1.0 + strength) / (given + strength).max(1.0 + strength)
}

/// One step of Minka's fixed point: sums over groups of (count, expected share).
#[derive(Debug, Clone, Copy, Default)]
struct FixedPointStep {
    gained: f64,
    possible: f64,
}

impl FixedPointStep {
    fn add(&mut self, strength: f64, group: impl Iterator<Item = (f64, f64)>) {
        let mut total = 0.0;
        for (count, share) in group {
            total += count;
            self.gained += share * digamma_rise(strength * share, count);
        }
        self.possible += digamma_rise(strength, total);
    }

    fn of_all(steps: impl Iterator<Item = Self>) -> Self {
        steps.fold(Self::default(), |sum, step| Self {
            gained: sum.gained + step.gained,
            possible: sum.possible + step.possible,
        })
    }

    /// The strength after the step.
    fn strength(self, before: f64) -> f64 {
        if self.possible > 0.0 {
            (before * self.gained / self.possible).clamp(*STRENGTHS.start(), *STRENGTHS.end())
        } else {
            before
        }
    }
}

fn odds(probability: f64) -> f64 {
    let probability = probability.clamp(1e-6, 1.0 - 1e-6);
    probability / (1.0 - probability)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::seeded;

    #[test]
    fn a_good_worker_is_expected_to_be_good_at_every_class() {
        let mut counts = AnswerCounts::zero(3, 2);
        // Worker 0 is right on 95 of 100 tasks of class 0 and has no label of class 1; the others toss a
        // coin.
        counts.add(0, 0, 0, 95.0);
        counts.add(0, 1, 0, 5.0);
        for worker in 1..3 {
            for (answer, truth) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                counts.add(worker, answer, truth, 50.0);
            }
        }
        let mut hierarchy = Hierarchy::new(3, 2);
        for draw in 0..50 {
            hierarchy.update(&counts, vec![seeded(1, draw)]);
        }
        let share = |worker: usize| {
            let (right, wrong) = (
                hierarchy.pseudo_count(worker, 3),
                hierarchy.pseudo_count(worker, 1),
            );
            right / (right + wrong)
        };
        assert!(share(0) > 0.8 && share(1) < 0.6, "{} {}", share(0), share(1));
    }
}
