//! The model of paired comparisons with judges, and its fit by Newton's method.
//!
//! ```text
//! eta = a_w (s_i - s_j) + beta_w                                               i left, j right, judge w
//! P(left) : P(right) : P(tie) = exp(eta/2) : exp(-eta/2) : exp(nu_w)           ties after Davidson
//! s_i ~ N(0, vs),  a_w ~ N(1, va) with mean 1,  beta_w ~ N(b, vb),  nu_w ~ N(n, vn)
//! ```
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | `s_i` | [`Parameters::score`] | how good an item is |
//! | `a_w` | [`Parameters::judge`]`[w][0]` | discrimination: 1 is usual, 0 is chance, below 0 is against the others |
//! | `beta_w` | `[w][1]` | log odds of the left side between equal items |
//! | `nu_w` | `[w][2]` | how readily a judge calls a tie |
//! | `vs, va, vb, vn, b, n` | [`Sizes`] | learnt from the table |
//!
//! 1. With the slopes of a row by `eta` and `nu`, and their Fisher information
//!    `(p_l + p_r - (p_l - p_r)^2) / 4`, `-p_t (p_l - p_r) / 2`, `p_t (1 - p_t)`, one pass gives the gradient and the
//!    [`Curvature`].
//! 2. A step solves the curvature for the gradient. A step that would lower the objective is halved until it does
//!    not.
//! 3. The scores are not known but estimated, and a judge whose answers are noise would find them in the noise. So a
//!    judge's discrimination counts the variance `V_ij` of the differences that it was asked about, too: the mean of
//!    the log likelihood over the scores has `- a_w^2 / 2 sum h V_ij` more, with `h` the information of a row by `eta`.
//! 4. While sizes are learnt (MacKay: `v = sum x^2 / gamma`, with `gamma` the number of parameters that the rows
//!    decide, and the weight of one parameter at the starting value), they and `sum h V_ij` change after each step; then they stay,
//!    and steps go on until the expected gain is below `tol`.
//!
//! Judges with few comparisons are taken for one judge before all this (`methods/judge_bt.rs`).
//!
//! Discrimination itself is normal and not its logarithm: judges at random and against the others are then as near as
//! good ones, and answers that were left out are foretold better (`quorate-bench rank`).
//!
//! The objective is the log likelihood and the log prior with the final sizes. A pass costs two exponentials a row.
//!
//! R. R. Davidson, JASA 65 (1970); D. J. C. MacKay, Neural Computation 4 (1992).

use std::ops::Range;

use rayon::prelude::*;

use super::comparisons::Outcome;
use super::components::Components;
use super::curvature::{Curvature, MAX_DENSE, Schur, Symmetric3};
use super::observations::{Observation, Observations};
use crate::context::Context;
use crate::error::Result;
use crate::parallel::{add, map_ranges};

/// Variances and means of the parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// Variance of the scores.
    pub scores: f64,
    /// Variance of the judges' discrimination, whose mean is 1.
    pub discrimination: f64,
    /// Variance of the judges' position bias.
    pub position: f64,
    /// Mean position bias, in log odds of the left side between equal items.
    pub mean_position: f64,
    /// Variance of the judges' readiness to call a tie.
    pub ties: f64,
    /// Mean readiness to call a tie: log of the odds against either side, between equal items.
    pub mean_ties: f64,
}

/// Which parts of the model are there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Parts {
    /// Judges differ in discrimination.
    pub discrimination: bool,
    /// The side has an effect.
    pub position: bool,
    /// Ties are an outcome of their own; else half a win each way.
    pub ties: bool,
    /// What is assumed of the scores.
    pub prior: Prior,
}

/// The prior of the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Prior {
    /// Normal, its variance learnt.
    Learnt,
    /// Normal with this variance.
    Fixed(f64),
    /// None: scores of a component sum to zero, and nothing more.
    None,
}

/// The parameters of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    pub score: Vec<f64>,
    pub judge: Vec<[f64; 3]>,
}

/// A fit.
pub(super) struct Solution<'a> {
    pub parameters: Parameters,
    pub sizes: Sizes,
    pub trace: Vec<f64>,
    pub iterations: usize,
    pub converged: bool,
    pub curvature: Curvature<'a>,
}

/// Chances of left, right and tie.
#[inline]
pub(super) fn chances(eta: f64, nu: Option<f64>) -> [f64; 3] {
    // Beyond this a chance is 0 or 1 to the last bit.
    let left = (eta / 2.0).clamp(-300.0, 300.0).exp();
    let right = 1.0 / left;
    let tie = nu.map_or(0.0, |nu| nu.clamp(-300.0, 300.0).exp());
    let total = left + right + tie;
    [left / total, right / total, tie / total]
}

/// Comparisons and the model that is fitted to them.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub rows: &'a Observations,
    pub components: &'a Components,
    pub parts: Parts,
}

/// What is held while the parameters move: the sizes, and for each judge `sum h V_ij`.
#[derive(Clone)]
struct Held {
    sizes: Sizes,
    noise: Vec<f64>,
}

/// Precision of a parameter that the model does not have.
const NO_PART: f64 = 1e12;

/// Parts of the table that are summed side by side.
const CHUNKS: usize = 8;

/// Steps in which sizes may change.
const MAX_LEARNING: usize = 30;

/// One row's place in the model.
struct Local {
    difference: f64,
    chances: [f64; 3],
}

/// Slopes of a row's log likelihood by `eta` and `nu`, and their information.
pub(super) struct Slopes {
    pub eta: f64,
    pub nu: f64,
    pub eta_eta: f64,
    pub eta_nu: f64,
    pub nu_nu: f64,
}

/// What a pass gathers from some judges.
struct Sums {
    log_likelihood: f64,
    score: Vec<f64>,
    /// Gradient and curvature of each judge's parameters.
    judges: Vec<([f64; 3], Symmetric3)>,
    schur: Option<Schur>,
}

impl<'a> Problem<'a> {
    /// Fits the model.
    pub fn solve(&self, max_iter: usize, tol: f64, context: &mut Context) -> Result<Solution<'a>> {
        let sizes = self.first_sizes();
        let mut held = Held {
            sizes,
            noise: vec![0.0; self.rows.judges()],
        };
        let mut parameters = Parameters {
            score: vec![0.0; self.rows.items],
            judge: vec![[1.0, sizes.mean_position, sizes.mean_ties]; self.rows.judges()],
        };
        let mut trace = Vec::new();
        let mut learning = self.learns();
        let mut iterations = 0;
        loop {
            context.step("steps", iterations, None)?;
            let (sums, curvature) = self.derivatives(&parameters, &held)?;
            let objective = sums.log_likelihood + self.log_prior(&parameters, &held);
            if !learning {
                trace.push(objective);
            }
            let gradients: Vec<[f64; 3]> = sums.judges.iter().map(|judge| judge.0).collect();
            let (score_step, judge_step) = curvature.solve(&sums.score, &gradients);
            let gain = dot(&sums.score, &score_step)
                + gradients
                    .iter()
                    .zip(&judge_step)
                    .map(|(a, b)| dot(a, b))
                    .sum::<f64>();
            let done = !learning && gain <= tol;
            if done || iterations >= max_iter {
                let converged = done;
                return Ok(Solution {
                    parameters,
                    sizes: held.sizes,
                    trace,
                    iterations,
                    converged,
                    curvature,
                });
            }
            iterations += 1;
            let before = parameters.clone();
            let mut length = 1.0;
            // Rounding of so many numbers; a step of 2^-30 of Newton's is none.
            let slack = 1e-13 * objective.abs();
            loop {
                parameters = before.moved(&score_step, &judge_step, length);
                if self.objective(&parameters, &held) >= objective - slack {
                    break;
                }
                length /= 2.0;
                if length < 1e-9 {
                    parameters = before;
                    let converged = !learning;
                    return Ok(Solution {
                        parameters,
                        sizes,
                        trace,
                        iterations,
                        converged,
                        curvature,
                    });
                }
            }
            if learning {
                let change = self.learn(&parameters, &curvature, &mut held.sizes);
                if self.parts.discrimination {
                    held.noise = curvature.noise_of_judges();
                }
                learning = change > 0.01 && iterations < MAX_LEARNING.min(max_iter);
            }
        }
    }

    fn learns(&self) -> bool {
        let of_judges = self.parts.discrimination || self.parts.position || self.parts.ties;
        self.parts.prior == Prior::Learnt || (of_judges && self.rows.judges() > 1)
    }

    fn first_sizes(&self) -> Sizes {
        let (mut ties, mut total) = (0.0, 0.0);
        for row in self.rows.iter() {
            total += row.weight;
            ties += if row.outcome == Outcome::Tie {
                row.weight
            } else {
                0.0
            };
        }
        // One comparison more of each kind.
        let odds = (ties + 1.0) / (total - ties + 1.0);
        // One judge has nobody to be like.
        let alone = self.rows.judges() == 1;
        Sizes {
            scores: if let Prior::Fixed(variance) = self.parts.prior {
                variance
            } else {
                1.0
            },
            discrimination: 0.25,
            position: if alone { 1.0 } else { 0.1 },
            mean_position: 0.0,
            ties: if alone { 4.0 } else { 0.5 },
            mean_ties: (2.0 * odds).ln(),
        }
    }

    /// Sizes from the parameters and how sure they are; returns the largest relative change.
    fn learn(&self, parameters: &Parameters, curvature: &Curvature<'_>, sizes: &mut Sizes) -> f64 {
        let before = *sizes;
        let first = self.first_sizes();
        // MacKay's rule, with the weight of one parameter of the first size.
        let size = |squares: f64, count: usize, uncertain: f64, old: f64, first: f64| {
            let decided = (count as f64 - uncertain / old).max(0.0);
            ((squares + first) / (decided + 1.0)).clamp(1e-6, 1e4)
        };
        if self.parts.prior == Prior::Learnt {
            let squares = parameters.score.iter().map(|score| score * score).sum();
            let uncertain = curvature.total_variance();
            sizes.scores = size(
                squares,
                parameters.score.len(),
                uncertain,
                before.scores,
                first.scores,
            );
        }
        let judges = parameters.judge.len();
        if judges > 1 {
            let squares = |part: usize, mean: f64| -> f64 {
                parameters
                    .judge
                    .iter()
                    .map(|judge| (judge[part] - mean).powi(2))
                    .sum()
            };
            let total = |part: usize| -> f64 { parameters.judge.iter().map(|judge| judge[part]).sum() };
            let uncertain = |part: usize| -> f64 {
                curvature
                    .judge_inverses()
                    .iter()
                    .map(|inverse| inverse.get(part, part))
                    .sum()
            };
            if self.parts.discrimination {
                let old = before.discrimination;
                sizes.discrimination = size(squares(0, 1.0), judges, uncertain(0), old, first.discrimination);
            }
            if self.parts.position {
                // The mean has a prior of its own: N(0, 1).
                sizes.mean_position = total(1) / (judges as f64 + before.position);
                let squares = squares(1, sizes.mean_position);
                sizes.position = size(squares, judges, uncertain(1), before.position, first.position);
            }
            if self.parts.ties {
                sizes.mean_ties = (total(2) + before.ties * first.mean_ties) / (judges as f64 + before.ties);
                let squares = squares(2, sizes.mean_ties);
                sizes.ties = size(squares, judges, uncertain(2), before.ties, first.ties);
            }
        }
        let change = |new: f64, old: f64| (new - old).abs() / old.max(1e-3);
        [
            change(sizes.scores, before.scores),
            change(sizes.discrimination, before.discrimination),
            change(sizes.position, before.position),
            change(sizes.ties, before.ties),
            (sizes.mean_position - before.mean_position).abs(),
            (sizes.mean_ties - before.mean_ties).abs(),
        ]
        .into_iter()
        .fold(0.0, f64::max)
    }

    #[inline]
    fn local(&self, row: &Observation, score: &[f64], judge: &[f64; 3]) -> Local {
        let difference = score[row.left] - score[row.right];
        let eta = judge[0] * difference + judge[1];
        Local {
            difference,
            chances: chances(eta, self.parts.ties.then_some(judge[2])),
        }
    }

    #[inline]
    fn log_likelihood_of(&self, row: &Observation, local: &Local) -> f64 {
        let [left, right, tie] = local.chances.map(|chance| chance.max(f64::MIN_POSITIVE));
        let logarithm = match row.outcome {
            Outcome::Left => left.ln(),
            Outcome::Right => right.ln(),
            Outcome::Tie if self.parts.ties => tie.ln(),
            Outcome::Tie => (left * right).max(f64::MIN_POSITIVE).ln() / 2.0,
        };
        row.weight * logarithm
    }

    fn log_likelihood(&self, parameters: &Parameters) -> f64 {
        let of_judges = |judges: Range<usize>| -> f64 {
            let of_judge = |judge: usize| -> f64 {
                let own = &parameters.judge[judge];
                let rows = self.rows.rows(judge).map(|row| self.rows.get(row));
                rows.map(|row| {
                    let local = self.local(&row, &parameters.score, own);
                    self.log_likelihood_of(&row, &local)
                })
                .sum()
            };
            judges.map(of_judge).sum()
        };
        map_ranges(self.rows.judge_ranges(CHUNKS), of_judges)
            .into_iter()
            .sum()
    }

    /// Precision and mean of a judge's parameters.
    pub fn judge_prior(&self, sizes: &Sizes) -> ([f64; 3], [f64; 3]) {
        let precision = |there: bool, variance: f64| if there { 1.0 / variance } else { NO_PART };
        let precision = [
            precision(self.parts.discrimination, sizes.discrimination),
            precision(self.parts.position, sizes.position),
            precision(self.parts.ties, sizes.ties),
        ];
        (precision, [1.0, sizes.mean_position, sizes.mean_ties])
    }

    pub fn score_precision(&self, sizes: &Sizes) -> f64 {
        if self.parts.prior == Prior::None {
            0.0
        } else {
            1.0 / sizes.scores
        }
    }

    /// Log density of the parameters, without its constant.
    fn log_prior(&self, parameters: &Parameters, held: &Held) -> f64 {
        let squares: f64 = parameters.score.iter().map(|score| score * score).sum();
        let (precision, mean) = self.judge_prior(&held.sizes);
        let of_judge = |(judge, noise): (&[f64; 3], &f64)| -> f64 {
            let squares = (0..3).map(|part| precision[part] * (judge[part] - mean[part]).powi(2));
            squares.sum::<f64>() + noise * judge[0] * judge[0]
        };
        let judges: f64 = parameters.judge.iter().zip(&held.noise).map(of_judge).sum();
        -(squares * self.score_precision(&held.sizes) + judges) / 2.0
    }

    fn objective(&self, parameters: &Parameters, held: &Held) -> f64 {
        self.log_likelihood(parameters) + self.log_prior(parameters, held)
    }

    /// Objective, gradient and curvature.
    fn derivatives(&self, parameters: &Parameters, held: &Held) -> Result<(Sums, Curvature<'a>)> {
        let mut information = vec![[0f32; 2]; self.rows.len()];
        let mut parts = Vec::new();
        let mut rest = &mut information[..];
        for range in self.rows.judge_ranges(CHUNKS) {
            let count = range.clone().map(|judge| self.rows.rows(judge).len()).sum();
            let (part, tail) = rest.split_at_mut(count);
            rest = tail;
            parts.push((range, part));
        }
        let sums: Vec<Sums> = parts
            .into_par_iter()
            .map(|(judges, information)| self.sums_of(judges, information, parameters, held))
            .collect();
        let mut sums = sums.into_iter();
        let mut total = sums.next().expect("there is at least one range of judges");
        for part in sums {
            total.log_likelihood += part.log_likelihood;
            add(&mut total.score, &part.score);
            total.judges.extend(part.judges);
            if let (Some(total), Some(part)) = (&mut total.schur, part.schur) {
                total.merge(&part);
            }
        }
        let prior = self.score_precision(&held.sizes);
        for (gradient, score) in total.score.iter_mut().zip(&parameters.score) {
            *gradient -= prior * score;
        }
        let curvature = Curvature::new(
            self,
            parameters,
            information,
            &total.judges,
            total.schur.take(),
            &held.sizes,
        )?;
        Ok((total, curvature))
    }

    fn sums_of(
        &self,
        judges: Range<usize>,
        information: &mut [[f32; 2]],
        parameters: &Parameters,
        held: &Held,
    ) -> Sums {
        let items = self.rows.items;
        let (precision, mean) = self.judge_prior(&held.sizes);
        let mut sums = Sums {
            log_likelihood: 0.0,
            score: vec![0.0; items],
            judges: Vec::with_capacity(judges.len()),
            schur: (items <= MAX_DENSE).then(|| Schur::new(items)),
        };
        let mut place = information.iter_mut();
        for judge in judges {
            let own = &parameters.judge[judge];
            let mut gradient = [0, 1, 2].map(|part| precision[part] * (mean[part] - own[part]));
            let noise = held.noise[judge];
            gradient[0] -= noise * own[0];
            let mut block = Symmetric3::diagonal([precision[0] + noise, precision[1], precision[2]]);
            for row in self.rows.rows(judge) {
                let row = self.rows.get(row);
                let local = self.local(&row, &parameters.score, own);
                let slopes = self.slopes(&row, &local);
                sums.log_likelihood += self.log_likelihood_of(&row, &local);
                *place.next().expect("one place for each row") =
                    [slopes.eta_eta as f32, slopes.eta_nu as f32];
                let a = own[0];
                sums.score[row.left] += a * slopes.eta;
                sums.score[row.right] -= a * slopes.eta;
                let along = self.along(local.difference);
                gradient[0] += along[0] * slopes.eta;
                gradient[1] += along[1] * slopes.eta;
                gradient[2] += slopes.nu;
                let (h, to_tie) = (slopes.eta_eta, slopes.eta_nu);
                block.add([
                    along[0] * along[0] * h,
                    along[0] * along[1] * h,
                    along[0] * to_tie,
                    along[1] * along[1] * h,
                    along[1] * to_tie,
                    slopes.nu_nu,
                ]);
                if let Some(schur) = &mut sums.schur {
                    let couple = [a * h * along[0], a * h * along[1], a * to_tie];
                    schur.add(row.left, row.right, a * a * h, couple);
                }
            }
            if let Some(schur) = &mut sums.schur {
                schur.eliminate(&block);
            }
            sums.judges.push((gradient, block));
        }
        sums
    }

    #[inline]
    fn slopes(&self, row: &Observation, local: &Local) -> Slopes {
        let [left, right, tie] = local.chances;
        let lead = left - right;
        let (eta, nu) = match row.outcome {
            Outcome::Left => ((1.0 - lead) / 2.0, -tie),
            Outcome::Right => ((-1.0 - lead) / 2.0, -tie),
            Outcome::Tie => (-lead / 2.0, if self.parts.ties { 1.0 - tie } else { 0.0 }),
        };
        let weight = row.weight;
        Slopes {
            eta: weight * eta,
            nu: weight * nu,
            eta_eta: weight * (left + right - lead * lead) / 4.0,
            eta_nu: -weight * tie * lead / 2.0,
            nu_nu: weight * tie * (1.0 - tie),
        }
    }

    /// How `eta` changes with a judge's discrimination and position bias.
    #[inline]
    pub fn along(&self, difference: f64) -> [f64; 2] {
        let there = |there: bool, value: f64| if there { value } else { 0.0 };
        [
            there(self.parts.discrimination, difference),
            there(self.parts.position, 1.0),
        ]
    }

    /// Slopes of one row, and the difference of its scores.
    pub fn slopes_at(&self, row: &Observation, parameters: &Parameters, judge: usize) -> (Slopes, f64) {
        let own = &parameters.judge[judge];
        let local = self.local(row, &parameters.score, own);
        (self.slopes(row, &local), local.difference)
    }
}

impl Parameters {
    fn moved(&self, score: &[f64], judge: &[[f64; 3]], length: f64) -> Self {
        let score = self
            .score
            .iter()
            .zip(score)
            .map(|(old, step)| old + length * step)
            .collect();
        let own = |(old, step): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|part| old[part] + length * step[part]);
        Self {
            score,
            judge: self.judge.iter().zip(judge).map(own).collect(),
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
