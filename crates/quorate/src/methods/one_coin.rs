//! One-coin Dawid-Skene: a worker is right with the same probability whatever the truth.
//!
//! ```text
//! A_m(a, k) = p_m if a = k, else (1 - p_m) / (K - 1);      maximise  sum_n ln sum_k prior(k) prod_m A_m(x_mn, k)
//! ```
//!
//! Symbols: `p_m` is `accuracy[m]`, `q_n` a row of the consensus, `C_m(a, k)` the expected answer counts.
//!
//! 1. Start from the vote shares `q_n(k)`.
//! 2. M: `p_m = sum_a C_m(a, a) / sum_ak C_m(a, k)`, kept within `[1e-10, 1 - 1e-10]`; `prior(k) = mean
//!    q_n(k)`.
//! 3. E: `q_n(k) ~ prior(k) prod A_m(x_mn, k)`, as a scaled product.
//! 4. Stop when the mean change of a posterior falls below `tol`, or after `max-iter` rounds.
//!
//! One pass over the labels a round, `O(L K)`; memory `O(M K^2 + N K)`, the same sweep as for full matrices;
//! with many classes `O(M + N K)` by the same formulas (`model/sparse`). One number a worker can be learned
//! from few labels, so it holds where full matrices follow noise. It is the wrong model where workers lean
//! towards a class: then it settles in a bad optimum while the likelihood rises.
//!
//! A worker without labels gets the pooled accuracy of the crowd; it has no say in any posterior.
//!
//! The homogeneous case of A. P. Dawid, A. M. Skene, Applied Statistics 28 (1979); under this name in
//! Y. Zhang, X. Chen, D. Zhou, M. I. Jordan, "Spectral methods meet EM", JMLR 17 (2016).

use super::declare::em_rounds;
use super::{Aggregate, BlockFit, Fit, PriorUse, fit_one_block};
use crate::blocks::Passes;
use crate::model::{ACCURACY_MARGIN, AnswerCounts, DawidSkene, Em, EmStart, SparseEm, prefers_sparse};
use crate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// One-coin Dawid-Skene by EM from majority vote.
    pub struct OneCoin {
        ..em_rounds,
        /// whether the E-step uses the estimated prior or a flat one
        prior: PriorUse = Estimated,
    }
    name: "one-coin",
    aliases: ["one-coin-ds", "homogeneous-ds"],
    summary: "One accuracy for each worker by EM, started from majority vote",
    description: "Each worker is right with one probability, whatever the truth, and wrong answers are \
                  spread evenly. One number a worker can be learned from few labels. Fails where workers \
                  lean towards a class: then full confusion matrices (dawid-skene) are needed.",
    citation: "A. P. Dawid, A. M. Skene: Maximum likelihood estimation of observer error-rates using the EM \
               algorithm. Applied Statistics 28 (1979), homogeneous case",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

impl Aggregate for OneCoin {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        if prefers_sparse(annotations, context) {
            let sparse = SparseEm {
                max_iter: self.max_iter,
                tol: self.tol,
                cells: None,
                flat_prior: self.prior == PriorUse::Flat,
            };
            let note = "many classes: accuracies alone were fitted; there is no model to write";
            let mut fit = sparse.run(annotations, context)?;
            fit.notes.push(note.to_owned());
            return Ok(fit);
        }
        fit_one_block(self, annotations, context)
    }

    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let em = Em {
            max_iter: self.max_iter,
            tol: self.tol,
            flat_prior: self.prior == PriorUse::Flat,
            ..Em::default()
        };
        let mut fit = em.run_with(passes, EmStart::Votes, context, &estimate_accuracies)?;
        fit.worker_scores = fit.model.as_ref().map(|model| {
            let accuracy = |worker| model.probability(worker, 0, 0);
            (0..model.worker_count()).map(accuracy).collect()
        });
        Ok(fit)
    }
}

/// M-step: the share of each worker's labels that are right in expectation.
fn estimate_accuracies(counts: &AnswerCounts) -> DawidSkene {
    let pooled = share_of_right(&counts.pooled()).unwrap_or(1.0);
    let accuracy = |worker| share_of_right(counts.worker(worker)).unwrap_or(pooled);
    let accuracy: Vec<f64> = (0..counts.worker_count()).map(accuracy).collect();
    DawidSkene::one_coin(counts.prior(), &accuracy)
}

/// Share of the diagonal of a K x K block of counts; none if the block is empty.
fn share_of_right(block: &[f64]) -> Option<f64> {
    let classes = block.len().isqrt();
    let right: f64 = block.iter().step_by(classes + 1).sum();
    let total: f64 = block.iter().sum();
    (total > 0.0).then(|| (right / total).clamp(ACCURACY_MARGIN, 1.0 - ACCURACY_MARGIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::tests::{assert_close, assert_rising, toy_a};
    use crate::methods::vote_fractions;
    use crate::model::count_answers;

    #[test]
    fn toy_a_by_hand() {
        // Worked example from vote fractions: first accuracies and log-likelihoods, six printed decimals.
        let annotations = toy_a();
        let counts = count_answers(&annotations, &vote_fractions(&annotations));
        let model = estimate_accuracies(&counts);
        let accuracy: Vec<f64> = (0..4).map(|worker| model.probability(worker, 1, 1)).collect();
        assert_close(&accuracy, &[0.763889, 0.680556, 0.652778, 0.5625], 1e-6);
        assert_close(&[model.probability(0, 1, 0)], &[(1.0 - 0.763889) / 2.0], 1e-6);

        let fit = OneCoin::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        let expected = [-20.973033, -19.790318, -19.449711, -19.374083];
        assert_close(&fit.trace[..4], &expected, 1e-6);
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
        assert!(fit.converged);
    }

    #[test]
    fn the_likelihood_does_not_fall() {
        let fit = OneCoin::default().fit(&toy_a(), &mut Context::new(0)).unwrap();
        assert_rising(&fit.trace);
    }

    #[test]
    fn a_worker_without_labels_gets_the_pooled_accuracy() {
        let annotations =
            Annotations::from_codes(2, 3, 2, [(0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 1, 1)]).unwrap();
        let counts = count_answers(&annotations, &vote_fractions(&annotations));
        let model = estimate_accuracies(&counts);
        let pooled = (model.probability(0, 0, 0) + model.probability(1, 0, 0)) / 2.0;
        assert_close(&[model.probability(2, 0, 0)], &[pooled], 1e-12);
    }
}
