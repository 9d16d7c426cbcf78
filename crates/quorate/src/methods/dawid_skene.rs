//! Dawid-Skene by expectation-maximisation from majority vote.
//!
//! ```text
//! maximise  sum_n ln sum_k prior(k) prod_m A_m(x_mn, k)
//! ```
//!
//! 1. Start from the vote shares `q_n(k)`.
//! 2. M: `A_m(a, k) = (C_m(a, k) + s) / sum_a (C_m(a, k) + s)` from the expected counts `C`, `prior(k) = mean
//!    q_n(k)`.
//! 3. E: `q_n(k) ~ prior(k) prod A_m(x_mn, k)`, as a scaled product.
//! 4. Stop when the mean change of a posterior falls below `tol`, or after `max-iter` rounds.
//!
//! One pass over the labels a round, `O(L K)`; memory `O(M K^2 + N K)`. Where that does not fit or nearly all
//! cells would be empty (many classes), only the answers seen are kept, and a task is judged by counts
//! without itself (`model/sparse`). The likelihood has local optima: with few labels a worker the model
//! follows its own mistakes, and more rounds can raise the error while the likelihood rises. The tables of
//! the field run 10 rounds with a flat prior and call it MV-EM: `max-iter=10`, `prior=flat`.
//!
//! A. P. Dawid, A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
//! Applied Statistics 28 (1979).

use super::declare::{em_rounds, em_smoothing};
use super::{Aggregate, Fit, PriorUse};
use crate::blocks::Passes;
use crate::model::{BlockFit, CellSettings, Em, EmStart, SparseEm, prefers_sparse};
use crate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// Dawid-Skene by EM from majority vote.
    pub struct DawidSkeneEm {
        ..em_rounds,
        ..em_smoothing(0),
        /// whether the E-step uses the estimated prior or a flat one (as in the field's tables)
        prior: PriorUse = Estimated,
    }
    name: "dawid-skene",
    aliases: ["ds", "mv-em", "em"],
    summary: "Confusion matrices by EM, started from majority vote",
    description: "Each worker has a confusion matrix, each class a prior; both are fitted by maximum \
                  likelihood, starting from majority vote. Strong where workers gave many labels; follows \
                  its own mistakes where they gave few, and can be very sure and wrong.",
    citation: "A. P. Dawid, A. M. Skene: Maximum likelihood estimation of observer error-rates using the EM \
               algorithm. Applied Statistics 28 (1979)",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

impl Aggregate for DawidSkeneEm {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        self.em().run(passes, EmStart::Votes, context)
    }

    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        if prefers_sparse(annotations, context) {
            self.fit_sparse(annotations, context)
        } else {
            self.em().fit(annotations, EmStart::Votes, context)
        }
    }
}

impl DawidSkeneEm {
    /// The rounds.
    #[doc(hidden)]
    pub fn em(&self) -> Em {
        Em {
            max_iter: self.max_iter,
            tol: self.tol,
            smoothing: self.smoothing,
            flat_prior: self.prior == PriorUse::Flat,
            ..Em::default()
        }
    }

    /// The fit of these labels in fewer passes over them: EM from the votes with jumps (`model/squarem`), to
    /// the optimum of
    /// [`fit`](Aggregate::fit). `max_iter` bounds the passes.
    pub(crate) fn fit_accelerated(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        if prefers_sparse(annotations, context) {
            return self.fit_sparse(annotations, context);
        }
        let em = Em {
            accelerated: true,
            ..self.em()
        };
        em.fit(annotations, EmStart::Votes, context)
    }

    /// The fit with cells for the answers that were seen alone, whatever the size.
    pub(super) fn fit_sparse(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        let sparse = SparseEm {
            max_iter: self.max_iter,
            tol: self.tol,
            // What smoothing would add to a column goes to the background.
            cells: Some(CellSettings::learnt(self.smoothing * classes as f64)),
            flat_prior: self.prior == PriorUse::Flat,
        };
        let note = format!(
            "{classes} classes: only the answers seen were kept for each worker, with its accuracy behind them; there is no model"
        );
        let mut fit = sparse.run(annotations, context)?;
        fit.notes.push(note);
        Ok(fit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::tests::{assert_close, assert_rising, toy_a};

    #[test]
    fn toy_a_by_hand() {
        // Worked example from vote fractions: log-likelihoods of successive E-steps, six printed decimals.
        let fit = DawidSkeneEm::default()
            .fit(&toy_a(), &mut Context::new(0))
            .unwrap();
        let expected = [
            -15.637619, -12.870370, -12.225511, -12.138476, -12.136852, -12.136851,
        ];
        assert_close(&fit.trace[..6], &expected, 1e-6);
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
        assert!(fit.converged);

        let one_round = DawidSkeneEm::default().max_iter(1);
        let first = one_round.fit(&toy_a(), &mut Context::new(0)).unwrap();
        assert_eq!(first.iterations, 1);
        assert_close(first.consensus.row(0), &[0.907425, 0.092575, 0.0], 1e-6);
        assert_close(first.consensus.row(1), &[0.821676, 0.178324, 0.0], 1e-6);
        assert_close(first.consensus.row(4), &[0.002597, 0.0, 0.997403], 1e-6);
        let model = first.model.unwrap();
        let last_worker = [0.25, 0.0, 0.5, 0.75, 0.833333, 0.0, 0.0, 0.166667, 0.5];
        assert_close(model.confusion(3), &last_worker, 1e-6);
    }

    #[test]
    fn smoothing_by_hand() {
        let method = DawidSkeneEm::default().max_iter(1).smoothing(1.0);
        let fit = method.fit(&toy_a(), &mut Context::new(0)).unwrap();
        let expected = [
            0.3125, 0.222222, 0.388889, 0.4375, 0.5, 0.222222, 0.25, 0.277778, 0.388889,
        ];
        assert_close(fit.model.unwrap().confusion(3), &expected, 1e-6);
        assert_close(fit.consensus.row(0), &[0.681752, 0.288968, 0.029280], 1e-6);
    }

    #[test]
    fn the_likelihood_does_not_fall() {
        let fit = DawidSkeneEm::default()
            .fit(&toy_a(), &mut Context::new(0))
            .unwrap();
        assert_rising(&fit.trace);
    }
}
