//! Enhanced Bayesian classifier combination: each class is a mixture of subtypes, so workers may err
//! together.
//!
//! ```text
//! tau ~ Dir(alpha),  pi_k ~ Dir(a_pi/G, .., a_pi/G),  v_mkg ~ Dir(beta_k),  beta_k(a) = right if a = k else wrong
//! truth z_n ~ tau,  subtype s_n ~ pi_{z_n},  answer x_mn ~ v_{m z_n s_n}
//! ```
//!
//! Symbols: `G` is `subtypes`, `a_pi` is `subtype-count`, `rho_n(k, g)` the posterior of class and subtype,
//! `q_n(k)` its sum over `g`; `alpha(k)` is the number of votes for `k`, each task counting 1
//! (`class-counts=votes`), or 1 (`one`).
//!
//! 1. Start: `rho_n(k, g) = vote share q_n(k)` times a draw from the uniform distribution on the simplex of
//!    subtypes.
//! 2. Mean-field rounds (formulas in [`variational`](crate::variational)) until no `q_n(k)` moves by more
//!    than `tol`.
//! 3. Repeat from `restarts` draws; keep the result with the largest evidence bound.
//!
//! `O(L K G + M K^2 G)` a round; memory `O(M K^2 G + N K G)`. The bound (trace of the restart that is kept)
//! does not fall. Subtypes that are not needed empty themselves. With few labels the largest bound need not
//! be the best labelling, and results vary with the seed.
//!
//! Differs from the paper: one draw a task is used for all its classes (theirs: one for each task and class),
//! so that the answer does not depend on the names of classes and workers; tasks draw in the order of their
//! names. 5 restarts instead of 40. A restart replaces the best one only if it is better by more than
//! rounding.
//!
//! Y. Li, B. I. P. Rubinstein, T. Cohn, "Exploiting worker correlation for label aggregation in
//! crowdsourcing", ICML 2019.

use rand::distr::Distribution;
use rand_distr::Exp1;

use crate::restarts::beats;
use crate::variational::Variational;
use quorate::internal::blocks::Passes;
use quorate::internal::linalg::small::add;
use quorate::internal::starting_votes;
use quorate::methods::{Aggregate, Fit};
use quorate::model::Consensus;
use quorate::{Annotations, Context, Result, declare_method, declare_words};

declare_method! {
    /// Bayesian classifier combination with subtypes, by mean field from random starts.
    pub struct Ebcc {
        /// number of random starts, of which the one with the largest evidence bound is kept
        restarts: usize in 1..=10_000 = 5,
        /// largest number of subtypes of a class (1: ibcc)
        subtypes: usize in 1..=1000 = 10,
        /// largest number of rounds of a start
        max_iter: usize in 1..=1_000_000 = 500,
        /// stops when no posterior changes by more than this
        tol: f64 in 0..=1 = 1e-3,
        /// pseudo-count of right answers in every confusion matrix, for each class
        right: f64 in 1e-3..=1e9 = 4,
        /// pseudo-count of each wrong answer in every confusion matrix, for each class
        wrong: f64 in 1e-3..=1e9 = 1,
        /// pseudo-count of a class that its subtypes share: small values leave subtypes empty
        subtype_count: f64 in 1e-3..=1e9 = 0.1,
        /// pseudo-counts of the classes: their votes, or one each
        class_counts: ClassCounts = Votes,
    }
    name: "ebcc",
    aliases: ["enhanced-bcc"],
    summary: "Bayesian confusion matrices for subtypes of each class: workers may err together",
    description: "Each class is a mixture of subtypes (easy and hard ones, say), and each worker has a \
                  confusion matrix for each of them: this captures workers that make the same mistakes on \
                  the same tasks. Inferred by mean field from several random starts. Needs enough labels a \
                  task to tell subtypes apart; slower than ibcc by the number of subtypes and restarts.",
    citation: "Y. Li, B. I. P. Rubinstein, T. Cohn: Exploiting worker correlation for label aggregation in \
               crowdsourcing. ICML 2019",
    facts: [returns_model, learns_from_gold, canonical_order],
}

declare_words! {
    /// Pseudo-counts of the classes.
    pub enum ClassCounts {
        /// Their votes.
        Votes = "votes",
        /// One each.
        One = "one",
    }
}

impl Aggregate for Ebcc {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let votes = starting_votes(annotations, context)?;
        let settings = Variational {
            max_iter: self.max_iter,
            tol: self.tol,
            class_counts: match self.class_counts {
                ClassCounts::Votes => count_votes(&votes),
                ClassCounts::One => vec![1.0; annotations.class_count()],
            },
            subtypes: self.subtypes,
            subtype_count: self.subtype_count,
            right: self.right,
            wrong: self.wrong,
        };
        settings.reserve(&Passes::over(&mut { annotations }), context)?;
        let order = annotations.tasks().natural_order();
        let mut best: Option<Fit> = None;
        for restart in 0..self.restarts {
            context.step("restarts", restart, Some(self.restarts))?;
            let start = split_votes(&votes, &order, self.subtypes, &mut context.rng(restart as u64));
            let fit = settings.fit_components(annotations, start, context)?;
            if best.as_ref().is_none_or(|best| beats(&fit.trace, &best.trace)) {
                best = Some(fit);
            }
        }
        Ok(best.expect("there is at least one restart"))
    }
}

/// `alpha(k) = sum_n vote share of k`; a class that nobody chose counts as one thousandth of a vote.
fn count_votes(votes: &Consensus) -> Vec<f64> {
    let mut counts = vec![0.0; votes.class_count()];
    (0..votes.len()).for_each(|task| add(&mut counts, votes.row(task)));
    counts.iter().map(|count| f64::max(*count, 1e-3)).collect()
}

/// `rho_n(k, g) = q_n(k) w_n(g)`, `w_n` uniform on the simplex, drawn task by task in the given order.
fn split_votes(votes: &Consensus, order: &[usize], subtypes: usize, rng: &mut impl rand::Rng) -> Vec<f64> {
    let components = votes.class_count() * subtypes;
    let mut rows = vec![0.0; votes.len() * components];
    let mut weights = vec![0.0; subtypes];
    for &task in order {
        weights.fill_with(|| Exp1.sample(rng));
        let total: f64 = weights.iter().sum();
        let row = &mut rows[task * components..][..components];
        for (part, share) in row.chunks_exact_mut(subtypes).zip(votes.row(task)) {
            for (cell, weight) in part.iter_mut().zip(&weights) {
                *cell = share * weight / total;
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ibcc;
    use quorate::methods::vote_fractions;
    use quorate_testkit::toys::{assert_close, assert_rising, toy_a};

    fn one_subtype(max_iter: usize) -> Ebcc {
        Ebcc {
            restarts: 1,
            subtypes: 1,
            max_iter,
            tol: 0.0,
            class_counts: ClassCounts::One,
            ..Ebcc::default()
        }
    }

    #[test]
    fn toy_a_by_hand() {
        // Worked example, one subtype: first posteriors and bounds, six printed decimals.
        let first = one_subtype(1).fit(&toy_a(), &mut Context::new(0)).unwrap();
        assert_close(first.consensus.row(0), &[0.947108, 0.052288, 0.000605], 1e-6);
        assert_close(first.consensus.row(1), &[0.825493, 0.169550, 0.004958], 1e-6);
        let fit = one_subtype(4).fit(&toy_a(), &mut Context::new(0)).unwrap();
        let expected = [-24.496121, -23.829910, -23.785702, -23.783164];
        assert_close(&fit.trace, &expected, 1e-6);
    }

    #[test]
    fn one_subtype_is_ibcc() {
        let ibcc = Ibcc {
            max_iter: 7,
            tol: 0.0,
            ..Ibcc::default()
        };
        let a = ibcc.fit(&toy_a(), &mut Context::new(0)).unwrap();
        let b = one_subtype(7).fit(&toy_a(), &mut Context::new(3)).unwrap();
        assert_close(a.consensus.as_slice(), b.consensus.as_slice(), 1e-12);
        assert_close(&a.trace, &b.trace, 1e-10);
    }

    #[test]
    fn starts_split_the_votes_whatever_the_order_of_tasks() {
        let votes = vote_fractions(&toy_a());
        let rows = split_votes(&votes, &[3, 0, 1, 2, 5, 4], 4, &mut Context::new(1).rng(0));
        for (part, share) in rows.chunks_exact(4).zip(votes.as_slice()) {
            assert!((part.iter().sum::<f64>() - share).abs() < 1e-12);
        }
    }

    #[test]
    fn the_bound_does_not_fall() {
        let method = Ebcc {
            tol: 1e-9,
            ..Ebcc::default()
        };
        let fit = method.fit(&toy_a(), &mut Context::new(5)).unwrap();
        assert_rising(&fit.trace);
    }
}
