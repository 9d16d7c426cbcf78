//! Dawid-Skene with every worker drawn to the crowd: a hierarchical model.
//!
//! ```text
//! A_m(., k) ~ Dirichlet(s_k P(., k)),    P the crowd's confusion matrix, s_k how alike workers are (in labels)
//! ```
//!
//! Few labels a worker are the rule, and K^2 numbers cannot be learnt from ten labels. Here a worker with few
//! labels is taken for the crowd's average and moves away from it as its own labels ask for it. EM:
//!
//! 1. Start from the vote shares.
//! 2. M: `P(a, k) = sum_m C_m(a, k) / sum_ma C_m(a, k)`; `A_m(a, k) = (C_m(a, k) + s_k P(a, k)) / (sum_a
//!    C_m(a, k) + s_k)`.
//! 3. `s_k` is `strength`, or, with `strength = 0`, follows by one step of Minka's fixed point for the
//!    Dirichlet-multinomial likelihood of the counts,
//!    `s <- s sum_ma P(a) (psi(C_m(a) + s P(a)) - psi(s P(a))) / sum_m (psi(C_m + s) - psi(s))`.
//! 4. E: as in `dawid-skene`.
//!
//! `O(L K)` a round plus `O(M K^2)` digammas; memory `O(M K^2 + N K)`. Fails where workers fall into kinds
//! that have nothing in common (half of them adversaries): the average is then nobody. A strength learnt from
//! soft counts leans to the strong side: stronger pooling makes softer posteriors, and those make workers
//! look alike. On the public sets it is no better than 4 and on one (web) far worse, so it is not the
//! default.
//!
//! H.-C. Kim, Z. Ghahramani, "Bayesian classifier combination", AISTATS 2012, for the Dirichlet priors; T. P.
//! Minka, "Estimating a Dirichlet distribution" (2000) for the strength.

use std::cell::RefCell;

use super::declare::em_rounds;
use super::{Aggregate, BlockFit};
use crate::blocks::Passes;
use crate::linalg::small::column_sums;
use crate::model::{AnswerCounts, DawidSkene, Em, EmStart};
use crate::special::digamma;
use crate::{Context, Result, declare_method};

declare_method! {
    /// Dawid-Skene with workers drawn to the crowd.
    pub struct PooledDawidSkene {
        ..em_rounds,
        /// labels a column with which a worker is drawn to the crowd; 0: learnt from the data
        strength: f64 in 0..=1e6 = 4,
    }
    name: "pooled-ds",
    aliases: ["hierarchical-ds", "crowd-ds"],
    summary: "Dawid-Skene with every worker drawn to the crowd's confusion matrix",
    description: "Each worker's confusion matrix is drawn to that of the whole crowd, as strongly as the \
                  labels say that workers are alike: a worker with few labels is taken for the average one. \
                  Steady where workers gave few labels, at little cost where they gave many.",
    citation: "H.-C. Kim, Z. Ghahramani: Bayesian classifier combination. AISTATS 2012; T. P. Minka: \
               Estimating a Dirichlet distribution. 2000",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

/// Where the learnt strength starts, and its bounds.
const FIRST_STRENGTH: f64 = 4.0;
const STRENGTHS: std::ops::RangeInclusive<f64> = 1.0..=50.0;

/// Share of every pooled column that is spread evenly: no answer is impossible.
const EVEN: f64 = 1e-3;

impl Aggregate for PooledDawidSkene {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let first = if self.is_learnt() {
            FIRST_STRENGTH
        } else {
            self.strength
        };
        let strengths = RefCell::new(vec![first; passes.class_count()]);
        let em = Em {
            max_iter: self.max_iter,
            tol: self.tol,
            ..Em::default()
        };
        let maximise = |counts: &AnswerCounts| self.maximise(counts, &strengths);
        let mut fit = em.run_with(passes, EmStart::Votes, context, &maximise)?;
        // The objective of this model is not the plain likelihood that EM reports.
        fit.trace.clear();
        let strengths = strengths.into_inner();
        let listed = strengths.iter().map(|strength| format!("{strength:.1}"));
        let listed = listed.collect::<Vec<_>>().join(", ");
        fit.notes
            .push(format!("workers drawn to the crowd by {listed} labels a class"));
        Ok(fit)
    }
}

impl PooledDawidSkene {
    /// Whether the strength is learnt from the data.
    fn is_learnt(&self) -> bool {
        self.strength == 0.0
    }

    /// M-step.
    fn maximise(&self, counts: &AnswerCounts, strengths: &RefCell<Vec<f64>>) -> DawidSkene {
        let crowd = crowd_matrix(counts);
        let mut strengths = strengths.borrow_mut();
        if self.is_learnt() {
            learn_strengths(counts, &crowd, &mut strengths);
        }
        shrink_to_crowd(counts, &crowd, &strengths)
    }
}

/// The model that goes with these counts, each worker drawn to the crowd by `strength` labels a column.
pub(super) fn match_model(counts: &AnswerCounts, strength: f64) -> DawidSkene {
    let strengths = vec![strength; counts.prior().len()];
    shrink_to_crowd(counts, &crowd_matrix(counts), &strengths)
}

/// The pooled matrix, no cell of it zero.
fn crowd_matrix(counts: &AnswerCounts) -> Vec<f64> {
    let pooled = counts.pooled_matrix();
    let classes = (pooled.len() as f64).sqrt();
    pooled.iter().map(|p| (1.0 - EVEN) * p + EVEN / classes).collect()
}

/// `A_m(a, k) = (C_m(a, k) + s_k P(a, k)) / (sum_a C_m(a, k) + s_k)`.
fn shrink_to_crowd(counts: &AnswerCounts, crowd: &[f64], strengths: &[f64]) -> DawidSkene {
    let classes = strengths.len();
    let mut confusion = Vec::with_capacity(counts.worker_count() * crowd.len());
    for worker in 0..counts.worker_count() {
        let cells = counts.worker(worker);
        let sums = column_sums(cells, classes);
        confusion.extend(cells.iter().zip(crowd).enumerate().map(|(cell, (count, share))| {
            let k = cell % classes;
            (count + strengths[k] * share) / (sums[k] + strengths[k])
        }));
    }
    DawidSkene::new(counts.prior(), confusion)
}

/// One step of Minka's fixed point for each class.
fn learn_strengths(counts: &AnswerCounts, crowd: &[f64], strengths: &mut [f64]) {
    let classes = strengths.len();
    for (k, strength) in strengths.iter_mut().enumerate() {
        let s = *strength;
        let (mut gained, mut possible) = (0.0, 0.0);
        let crowd = crowd[k..].iter().step_by(classes);
        let own: Vec<f64> = crowd.clone().map(|share| digamma(s * share)).collect();
        for worker in 0..counts.worker_count() {
            let cells = counts.worker(worker)[k..].iter().step_by(classes);
            let mut sum = 0.0;
            for ((count, share), own) in cells.zip(crowd.clone()).zip(&own) {
                sum += count;
                if *count > 0.0 {
                    gained += share * (digamma(count + s * share) - own);
                }
            }
            if sum > 0.0 {
                possible += digamma(sum + s) - digamma(s);
            }
        }
        if possible > 0.0 {
            *strength = (s * gained / possible).clamp(*STRENGTHS.start(), *STRENGTHS.end());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::tests::{assert_close, toy_a};
    use crate::methods::vote_fractions;

    #[test]
    fn a_worker_without_labels_of_a_class_is_the_crowd_and_one_with_many_is_itself() {
        let annotations = toy_a();
        let consensus = vote_fractions(&annotations);
        let counts = crate::model::count_answers(&annotations, &consensus);
        let crowd = crowd_matrix(&counts);
        let nearly_own = match_model(&counts, 1e-9);
        assert_close(nearly_own.confusions(), counts.to_model(0.0).confusions(), 1e-6);
        let nearly_crowd = match_model(&counts, 1e9);
        for worker in 0..4 {
            assert_close(nearly_crowd.confusion(worker), &crowd, 1e-6);
        }
        // By hand, worker 0, column 0: counts (1.416667, 0.333333, 0.25), sum 2, strength 4.
        let drawn = match_model(&counts, 4.0);
        let expected = (17.0 / 12.0 + 4.0 * crowd[0]) / 6.0;
        assert_close(&[drawn.probability(0, 0, 0)], &[expected], 1e-12);
    }

    #[test]
    fn the_learnt_strength_is_high_for_workers_who_are_alike_and_low_for_others() {
        let learn = |rows: [[f64; 4]; 4]| {
            let mut counts = AnswerCounts::zero(4, 2);
            counts.cells = rows.concat();
            counts.mass = vec![100.0, 100.0];
            let crowd = crowd_matrix(&counts);
            let mut strengths = vec![FIRST_STRENGTH; 2];
            for _ in 0..200 {
                learn_strengths(&counts, &crowd, &mut strengths);
            }
            strengths[0]
        };
        let alike = learn([[80.0, 20.0, 20.0, 80.0]; 4]);
        let apart = learn([
            [99.0, 1.0, 1.0, 99.0],
            [50.0, 50.0, 50.0, 50.0],
            [5.0, 95.0, 95.0, 5.0],
            [90.0, 0.0, 10.0, 100.0],
        ]);
        assert_eq!(alike, *STRENGTHS.end());
        assert!(apart < 4.0, "{apart}");
    }
}
