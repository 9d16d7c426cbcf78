//! Fast Dawid-Skene: hard EM, every task counted for its best class alone.
//!
//! ```text
//! maximise over labels y, prior and A:  sum_n [ ln prior(y_n) + sum_m ln A_m(x_mn, y_n) ]
//! ```
//!
//! Symbols: `y_n` is the one-hot row of task `n`, `C_m(a, k)` the number of answers `a` of worker `m` on
//! tasks with `y_n = k`.
//!
//! 1. Start from the majority vote: its winners (`start=majority`), or its shares for the first M-step
//!    (`start=shares`).
//! 2. M: `A_m(a, k) = (C_m(a, k) + s) / sum_a (C_m(a, k) + s)`, `prior(k)` = share of the tasks with `y_n =
//!    k`.
//! 3. E: `y_n = argmax_k [ln prior(k) + sum ln A_m(x_mn, k)]`, ties to the lowest class.
//! 4. Stop when no label changes, or after `max-iter` rounds.
//!
//! One pass over the labels a round, `O(L K)`, and few rounds (3 to 17 on the public data sets); memory `O(M
//! K^2 + N K)`. The classification likelihood above does not fall (the trace); the likelihood of the labels
//! alone may. Being greedy it stops at the first labelling that explains itself, so it leans on a good start.
//!
//! Differs from the paper: the first M-step counts the shares of the votes (`start=majority` is the paper's,
//! and errs a little more on the public data sets); ties go to the lowest class instead of a random one; it
//! stops when no label changes instead of when the prior stands still; and the posterior returned is the soft
//! one under the last model, so that confidences mean something. Its labels are those of the last hard step.
//!
//! V. B. Sinha, S. Rao, V. N. Balasubramanian, "Fast Dawid-Skene: a fast vote aggregation scheme for
//! sentiment classification", arXiv:1803.02781 (2018).

use super::declare::em_smoothing;
use super::{Aggregate, BlockFit};
use crate::blocks::Passes;
use crate::model::{Em, EmStart};
use crate::{Context, Result, declare_method, declare_words};

declare_method! {
    /// Dawid-Skene by hard EM from majority vote.
    pub struct FastDawidSkene {
        /// largest number of rounds
        max_iter: usize in 1..=1_000_000 = 100,
        ..em_smoothing(0),
        /// what the first round counts: the shares of the votes, or the winner of each vote
        start: FastStart = Shares,
    }
    name: "fast-ds",
    aliases: ["fds", "fast-dawid-skene", "hard-em"],
    summary: "Dawid-Skene by hard EM: each task counts for its best class only",
    description: "Dawid-Skene in which each round gives every task wholly to its most probable class. A \
                  handful of rounds suffices, and the labels are close to those of the full EM. It stops at \
                  the first labelling that explains itself, so it depends on a good majority vote, and it \
                  is surer than it should be.",
    citation: "V. B. Sinha, S. Rao, V. N. Balasubramanian: Fast Dawid-Skene: a fast vote aggregation scheme \
               for sentiment classification. arXiv:1803.02781 (2018)",
    facts: [returns_model, learns_from_gold, uses_priors, streams],
}

declare_words! {
    /// What the first round counts.
    pub enum FastStart {
        /// The shares of the votes.
        Shares = "shares",
        /// The winner of each vote.
        Majority = "majority",
    }
}

impl Aggregate for FastDawidSkene {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let em = Em {
            max_iter: self.max_iter,
            smoothing: self.smoothing,
            hard: true,
            ..Em::default()
        };
        let start = match self.start {
            FastStart::Shares => EmStart::Votes,
            FastStart::Majority => EmStart::Winners,
        };
        em.run(passes, start, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::tests::{assert_close, assert_rising, toy_a};
    use crate::methods::vote_fractions;
    use crate::model::{Consensus, count_answers, posterior};

    #[test]
    fn toy_a_by_hand() {
        // Worked example: log-likelihood of the labels under the models of the first two rounds.
        let annotations = toy_a();
        let likelihood = |start: &Consensus| {
            let model = count_answers(&annotations, start).to_model(0.0);
            posterior(&annotations, &model).1
        };
        let shares = vote_fractions(&annotations);
        assert_close(&[likelihood(&shares)], &[-15.637619], 1e-6);
        let fit = FastDawidSkene::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
        let hard = Consensus::one_hot(3, fit.consensus.labels());
        assert_close(&[likelihood(&hard)], &[-12.136851], 1e-6);
        assert_eq!((fit.iterations, fit.converged), (2, true));
    }

    #[test]
    fn the_classification_likelihood_does_not_fall() {
        for start in [FastStart::Shares, FastStart::Majority] {
            let method = FastDawidSkene {
                start,
                ..FastDawidSkene::default()
            };
            assert_rising(&method.fit(&toy_a(), &mut Context::new(0)).unwrap().trace);
        }
    }

    #[test]
    fn the_labels_are_a_fixed_point() {
        let annotations = toy_a();
        let fit = FastDawidSkene::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        let hard = Consensus::one_hot(3, fit.consensus.labels());
        let model = count_answers(&annotations, &hard).to_model(0.0);
        assert_eq!(Some(&model), fit.model.as_ref());
    }
}
