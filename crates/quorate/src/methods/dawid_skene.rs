//! Dawid-Skene by expectation-maximisation from majority vote.
//!
//! ```text
//! maximise  sum_n ln sum_k prior(k) prod_m A_m(x_mn, k)
//! ```
//!
//! 1. Start from the vote shares `q_n(k)`.
//! 2. M: `A_m(a, k) = (C_m(a, k) + s) / sum_a (C_m(a, k) + s)` from the expected counts `C`, `prior(k) = mean q_n(k)`.
//! 3. E: `q_n(k) ~ prior(k) prod A_m(x_mn, k)`, in the log domain.
//! 4. Stop when no posterior moves by more than `tol`, or after `max-iter` rounds.
//!
//! One pass over the labels a round, `O(L K)`; memory `O(M K^2 + N K)`. The likelihood has local optima: with few
//! labels a worker the model follows its own mistakes, and more rounds can raise the error while the likelihood
//! rises. The tables of the field run 10 rounds with a flat prior and call it MV-EM: `max-iter=10`, `prior=flat`.
//!
//! A. P. Dawid, A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
//! Applied Statistics 28 (1979).

use super::{Aggregate, ClassSupport, Fit, Kind, Method, Parameter, Values, vote_fractions};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use crate::model::{Em, EmFit, EmStart};

pub(super) const METHOD: Method = Method {
    name: "dawid-skene",
    aliases: &["ds", "mv-em", "em"],
    summary: "Confusion matrices by EM, started from majority vote",
    description: "Each worker has a confusion matrix, each class a prior; both are fitted by maximum likelihood, \
                  starting from majority vote. Strong where workers gave many labels; follows its own mistakes where \
                  they gave few, and can be very sure and wrong.",
    citation: "A. P. Dawid, A. M. Skene: Maximum likelihood estimation of observer error-rates using the EM \
               algorithm. Applied Statistics 28 (1979)",
    classes: ClassSupport::Any,
    returns_model: true,
    parameters: PARAMETERS,
    build: |values| Box::new(DawidSkeneEm::from(values)),
};

const PARAMETERS: &[Parameter] = &[
    super::EM_MAX_ITER,
    super::EM_TOL,
    super::EM_SMOOTHING,
    Parameter {
        name: "prior",
        about: "whether the E-step uses the estimated prior or a flat one (as in the field's tables)",
        kind: Kind::Choice(&["estimated", "flat"]),
        default: "estimated",
    },
];

/// Dawid-Skene by EM from majority vote.
#[derive(Debug, Clone, PartialEq)]
pub struct DawidSkeneEm {
    /// Settings of EM.
    pub em: Em,
}

impl From<&Values> for DawidSkeneEm {
    fn from(values: &Values) -> Self {
        Self {
            em: Em {
                flat_prior: values.text("prior") == "flat",
                ..Em::from(values)
            },
        }
    }
}

impl Default for DawidSkeneEm {
    fn default() -> Self {
        Self::from(&Values::defaults(PARAMETERS))
    }
}

impl Aggregate for DawidSkeneEm {
    fn fit(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let start = EmStart::Consensus(context.run(|| vote_fractions(annotations)));
        Ok(self.em.run(annotations, start, context)?.into())
    }
}

impl From<EmFit> for Fit {
    fn from(em: EmFit) -> Self {
        Self {
            model: Some(em.model),
            trace: em.trace,
            iterations: em.iterations,
            converged: em.converged,
            ..Self::direct(em.consensus)
        }
    }
}
