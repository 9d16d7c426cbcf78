//! Zero-based skill: agreement with a weighted vote, iterated until it stands still.
//!
//! ```text
//! V(n, k) = sum over labels x = k of s_m,   v_n = argmax V(n, .),   s_m = share of m's labels that equal v_n
//! ```
//!
//! Symbols: `s_m` is `skills[m]`, `eta` the learning rate.
//!
//! 1. Start: `s_m = 1/K + 1e-5`, `eta = 1`.
//! 2. Round `t` = 1, 2, ..: every `halve-every` rounds `eta` is halved; label by the weighted vote, tied
//!    classes sharing the win (or the lowest, with `ties=lowest`); `s_m += eta (share of agreeing labels -
//!    s_m)`.
//! 3. Stop when no label changes and no skill is more than `tol` from its agreement, or after `max-iter`
//!    rounds.
//! 4. The posterior is the share of the weight in a last vote.
//!
//! `O(L)` a round. While `eta` is 1 this is Wawa repeated; the smaller rate ends cycles of period two. Skills
//! are never negative, so adversaries are muted but not turned round, and like all self-agreement it follows
//! a wrong majority. Degenerate tables as in `wawa`. Differs from the description: it stops early as in step
//! 3, which changes nothing but the time; and ties, which go to the lowest class there, are shared, so that
//! the names of the classes do not matter.
//!
//! No paper: a heuristic of the crowdsourcing industry.

use crate::weighted_vote::{SkillTies, agreement, score_tasks, shares};
use quorate::internal::starting_votes;
use quorate::methods::{Aggregate, Fit};
use quorate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// Iterated agreement with the weighted vote.
    pub struct ZeroBasedSkill {
        /// largest number of rounds
        max_iter: usize in 1..=1_000_000 = 100,
        /// stops when no label changes and no skill is further than this from its agreement
        tol: f64 in 0..=1 = 1e-5,
        /// rounds after which the learning rate is halved
        halve_every: usize in 1..=1_000_000 = 20,
        /// whose skill grows by a tied vote: the tied classes share it, or the lowest takes it (as in the
        /// field's tables)
        ties: SkillTies = Shared,
    }
    name: "zero-based-skill",
    aliases: ["zbs"],
    summary: "Votes weighted by agreement with the weighted vote, iterated",
    description: "Each worker's weight is the share of its labels that agree with the weighted vote; vote \
                  and weights are repeated with a falling learning rate until both stand still. Cheap; \
                  mutes bad workers but never turns them round.",
    citation: "Folklore (iterated worker agreement with aggregate)",
    facts: [returns_model, learns_from_gold],
}

/// Added to the skill of chance at the start.
const START_ABOVE_CHANCE: f64 = 1e-5;

impl Aggregate for ZeroBasedSkill {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        let mut skills = vec![1.0 / classes as f64 + START_ABOVE_CHANCE; annotations.worker_count()];
        let mut scores = vec![0.0; annotations.task_count() * classes];
        let (mut winners, mut previous) = (scores.clone(), scores.clone());
        if annotations.has_gold() {
            let votes = starting_votes(annotations, context)?;
            self.ties.elect(votes.as_slice(), classes, &mut winners);
            skills = context.run(|| agreement(annotations, &winners));
        }
        let (mut rate, mut iterations, mut converged) = (1.0, 0, false);
        while iterations < self.max_iter && !converged {
            context.step("zero-based skill", iterations, Some(self.max_iter))?;
            iterations += 1;
            if iterations.is_multiple_of(self.halve_every) {
                rate *= 0.5;
            }
            let agreements = context.run(|| {
                score_tasks(annotations, &skills, &mut scores);
                self.ties.elect(&scores, classes, &mut winners);
                annotations.pin_all(&mut winners);
                agreement(annotations, &winners)
            });
            converged = winners == previous && learn(&mut skills, &agreements, 0.0) <= self.tol;
            learn(&mut skills, &agreements, rate);
            previous.copy_from_slice(&winners);
        }
        let fit = context.run(|| {
            score_tasks(annotations, &skills, &mut scores);
            Fit::counted(annotations, shares(annotations, scores))
        });
        Ok(Fit {
            worker_scores: Some(skills),
            iterations,
            converged,
            ..fit
        })
    }
}

/// Moves every skill towards its agreement by `rate` of the way; returns the largest distance before the
/// move.
fn learn(skills: &mut [f64], agreements: &[f64], rate: f64) -> f64 {
    let mut distance = 0.0f64;
    for (skill, agreement) in skills.iter_mut().zip(agreements) {
        distance = distance.max((agreement - *skill).abs());
        *skill += rate * (agreement - *skill);
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::methods::vote_fractions;
    use quorate_testkit::toys::{assert_close, toy_a};

    #[test]
    fn toy_a_by_hand() {
        // Worked example: skills 1, 5/6, 2/3, 1/2, labels of the majority vote.
        let fit = ZeroBasedSkill::default()
            .fit(&toy_a(), &mut Context::new(0))
            .unwrap();
        assert_close(
            &fit.worker_scores.unwrap(),
            &[1.0, 5.0 / 6.0, 2.0 / 3.0, 0.5],
            1e-12,
        );
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
        assert!(fit.converged);
    }

    #[test]
    fn the_first_round_is_the_majority_vote() {
        let annotations = toy_a();
        let method = ZeroBasedSkill {
            max_iter: 1,
            ..ZeroBasedSkill::default()
        };
        let fit = method.fit(&annotations, &mut Context::new(0)).unwrap();
        let mut majority = vec![0.0; 18];
        SkillTies::Shared.elect(vote_fractions(&annotations).as_slice(), 3, &mut majority);
        assert_close(
            &fit.worker_scores.unwrap(),
            &agreement(&annotations, &majority),
            1e-12,
        );
    }
}
