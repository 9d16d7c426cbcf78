//! Independent Bayesian classifier combination: Dawid-Skene with Dirichlet priors, by mean field.
//!
//! ```text
//! prior ~ Dir(alpha, .., alpha),   column k of A_m ~ Dir(beta_k),   beta_k(a) = right if a = k, else wrong
//! ```
//!
//! Symbols: `nu` are the Dirichlet parameters of the prior, `mu_m(a, k)` those of worker `m`'s column `k`,
//! `C_m(a, k)` the expected answer counts, `psi` the digamma function.
//!
//! 1. Start from the vote shares `q_n(k)`.
//! 2. `nu(k) = alpha + sum_n q_n(k)`, `mu_m(a, k) = beta_k(a) + C_m(a, k)`.
//! 3. `q_n(k) ~ exp( psi(nu(k)) - psi(sum nu) + sum over labels of psi(mu_m(x, k)) - psi(sum_a mu_m(a, k))
//!    )`.
//! 4. Stop when no posterior moves by more than `tol`, or after `max-iter` rounds.
//!
//! One pass over the labels a round, `O(L K)`, and `O(M K^2)` digammas; memory `O(M K^2 + N K)`. The evidence
//! bound (the trace) does not fall. The prior makes workers with few labels moderately good instead of
//! perfect or hopeless; where most workers gave few labels for many classes it decides the answer, for better
//! or worse.
//!
//! The model returned is the mean of the Dirichlet posteriors. Differs from the original, which samples: this
//! is its later mean-field form, with the priors of Li et al. (2019).
//!
//! H.-C. Kim, Z. Ghahramani, "Bayesian classifier combination", AISTATS 2012; mean field: E. Simpson, S.
//! Roberts, I. Psorakis, A. Smith, "Dynamic Bayesian combination of multiple imperfect classifiers" (2013).

use quorate::internal::blocks::Passes;
use quorate::internal::model::BlockFit;
use quorate::methods::Aggregate;
use quorate::{Context, Result, declare_method};

use crate::variational::Variational;

declare_method! {
    /// Dawid-Skene with Dirichlet priors by mean field.
    pub struct Ibcc {
        /// largest number of rounds
        max_iter: usize in 1..=1_000_000 = 500,
        /// stops when no posterior changes by more than this
        tol: f64 in 0..=1 = 1e-3,
        /// pseudo-count of right answers in every confusion matrix, for each class
        right: f64 in 1e-3..=1e9 = 4,
        /// pseudo-count of each wrong answer in every confusion matrix, for each class
        wrong: f64 in 1e-3..=1e9 = 1,
        /// pseudo-count of every class
        class_count: f64 in 1e-3..=1e9 = 1,
    }
    name: "ibcc",
    aliases: ["bcc", "vb-ds"],
    summary: "Dawid-Skene with Dirichlet priors, by variational inference",
    description: "Confusion matrices and class prior have Dirichlet priors that expect workers to be better \
                  than chance; all are inferred by mean field from majority vote. Calmer than dawid-skene \
                  where workers gave few labels. With many classes and few labels the prior decides, which \
                  can cost accuracy.",
    citation: "H.-C. Kim, Z. Ghahramani: Bayesian classifier combination. AISTATS 2012",
    facts: [returns_model, learns_from_gold, uses_priors, streams],
}

impl Aggregate for Ibcc {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let settings = Variational {
            max_iter: self.max_iter,
            tol: self.tol,
            class_counts: vec![self.class_count; passes.class_count()],
            subtypes: 1,
            subtype_count: 1.0,
            right: self.right,
            wrong: self.wrong,
        };
        settings.run_from_votes(passes, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::Annotations;
    use quorate::methods::Fit;
    use quorate_testkit::toys::{assert_close, assert_rising, toy_a};

    fn fit(max_iter: usize, tol: f64) -> Fit {
        let method = Ibcc {
            max_iter,
            tol,
            ..Ibcc::default()
        };
        method.fit(&toy_a(), &mut Context::new(0)).unwrap()
    }

    #[test]
    fn toy_a_by_hand() {
        // Worked example, pseudo-counts (4, 1, 1): first posterior and bounds, six printed decimals.
        assert_close(
            fit(1, 0.0).consensus.row(0),
            &[0.947108, 0.052288, 0.000605],
            1e-6,
        );
        let expected = [-24.496121, -23.829910, -23.785702, -23.783164];
        assert_close(&fit(4, 0.0).trace, &expected, 1e-6);
    }

    #[test]
    fn three_rows_without_a_task_in_common_keep_their_labels() {
        let table = Annotations::from_codes(3, 3, 2, [(0, 0, 0), (1, 1, 0), (2, 2, 1)]).unwrap();
        let fit = Ibcc::default().fit(&table, &mut Context::new(0)).unwrap();
        assert_eq!(fit.consensus.labels(), [0, 0, 1]);
    }

    #[test]
    fn the_bound_does_not_fall() {
        let fit = fit(500, 1e-9);
        assert!(fit.converged);
        assert_rising(&fit.trace);
    }

    #[test]
    fn a_worker_without_labels_keeps_its_prior() {
        let annotations = Annotations::from_codes(1, 2, 3, [(0, 0, 1)]).unwrap();
        let fit = Ibcc::default().fit(&annotations, &mut Context::new(0)).unwrap();
        let model = fit.model.unwrap();
        assert_close(
            &[model.probability(1, 0, 0), model.probability(1, 0, 1)],
            &[4.0 / 6.0, 1.0 / 6.0],
            1e-12,
        );
    }
}
