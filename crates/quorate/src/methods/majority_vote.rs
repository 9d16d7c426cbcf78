//! Majority vote: every label is one vote.
//!
//! ```text
//! V(n, k) = number of labels k on task n,      q_n(k) = V(n, k) / sum_k V(n, k)
//! ```
//!
//! The posterior is the share of the votes, the label the class with most of them. Ties: `lowest` class (the
//! default), the class with the larger `prior` (mean share over all tasks), or `random` with the seed; a
//! broken tie moves no votes, it puts the winner ahead by a hair more than [`TIE`](crate::model::TIE). A task
//! without labels gets the prior. The model is counted against the shares (one Dawid-Skene M-step). `O(L + N
//! K)` time.

use rand::seq::IndexedRandom;

use super::{Aggregate, BlockFit, Declared, Fit};
use crate::blocks::{Passes, Stage};
use crate::model::{RuleSource, break_ties, share_votes_over};
use crate::{Context, Error, Result, declare_method, declare_words};

declare_method! {
    /// Majority vote.
    pub struct MajorityVote {
        /// who wins a tie: the lowest class, the class that is more common, or one drawn with the seed
        ties: Ties = Lowest,
    }
    name: "majority-vote",
    aliases: ["mv", "majority"],
    summary: "The class with most labels wins",
    description: "Every label is one vote. Treats all workers alike, so it is a fair baseline where workers \
                  are equally good and err independently, and a poor one where some are spammers or share a \
                  bias.",
    citation: "Folklore",
    facts: [returns_model, streams],
}

declare_words! {
    /// Who wins a tie.
    pub enum Ties {
        /// The lowest class.
        Lowest = "lowest",
        /// The class with the larger prior, then the lowest.
        Prior = "prior",
        /// One of them drawn with the seed.
        Random = "random",
    }
}

impl Aggregate for MajorityVote {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let classes = passes.class_count();
        let counted = passes.worker_count().saturating_mul(classes * classes) <= MAX_CELLS;
        let (shares, counts) = share_votes_over(passes, counted, context)?;
        let ties_by_prior = self.ties == Ties::Prior;
        let source = RuleSource::Votes {
            shares,
            ties_by_prior,
        };
        let rule = Fit::direct(source.into());
        if self.ties == Ties::Random {
            let mut rng = context.rng(0);
            let break_all = |rows: &mut [f64]| {
                break_ties(rows, classes, |tied| *tied.choose(&mut rng).unwrap_or(&tied[0]));
            };
            let reason = "random ties are drawn in the order of the tasks, which labels outside of memory do not keep: \
                          choose ties=lowest or ties=prior";
            let (method, reason) = (self.method().name, reason.to_owned());
            let broken = passes.change_posteriors(break_all);
            broken.ok_or(Error::NotApplicable { method, reason })?;
        } else if ties_by_prior {
            passes.set_rule(rule.clone(), Stage::single("ties"), context)?;
        }
        let notes = match &counts {
            Some(_) => Vec::new(),
            None => vec!["too many classes for a confusion matrix of every worker: none were counted".into()],
        };
        Ok(Fit {
            model: counts.map(|counts| context.run(|| counts.to_model(0.0))),
            notes,
            ..rule
        })
    }
}

/// Most confusion cells that are counted along with the votes: votes alone must stay cheap whatever the
/// number of classes.
const MAX_CELLS: usize = 50_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Annotations;
    use crate::methods::tests::toy_a;

    #[test]
    fn toy_a_by_hand() {
        // Worked example: votes (3,1,0), (2,1,0), (0,4,0), (1,2,0), (1,0,3), (0,1,3).
        let fit = MajorityVote::default()
            .fit(&toy_a(), &mut Context::new(0))
            .unwrap();
        assert_eq!(fit.consensus.row(0), [0.75, 0.25, 0.0]);
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
        let model = fit.model.unwrap();
        for (found, wanted) in model.prior().iter().zip([1.0 / 3.0, 5.0 / 12.0, 0.25]) {
            assert!((found - wanted).abs() < 1e-12);
        }
        let first = [
            17.0 / 24.0,
            7.0 / 30.0,
            0.0,
            1.0 / 6.0,
            2.0 / 3.0,
            0.0,
            0.125,
            0.1,
            1.0,
        ];
        for (found, wanted) in model.confusion(0).iter().zip(first) {
            assert!((found - wanted).abs() < 1e-12);
        }
    }

    #[test]
    fn ties_follow_the_rule() {
        // Task 0 is tied between 0 and 1; class 1 is more common.
        let annotations =
            Annotations::from_codes(2, 2, 2, [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)]).unwrap();
        let label = |ties, seed| {
            let fit = MajorityVote { ties }
                .fit(&annotations, &mut Context::new(seed))
                .unwrap();
            assert!((fit.consensus.row(0).iter().sum::<f64>() - 1.0).abs() < 1e-12);
            fit.consensus.label(0)
        };
        assert_eq!((label(Ties::Lowest, 0), label(Ties::Prior, 0)), (0, 1));
        let drawn: Vec<_> = (0..20).map(|seed| label(Ties::Random, seed)).collect();
        assert!(drawn.contains(&0) && drawn.contains(&1));
        assert_eq!(label(Ties::Random, 3), drawn[3]);
    }
}
