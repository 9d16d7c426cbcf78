//! Wawa, worker agreement with aggregate: one round of votes weighted by agreement with the majority.
//!
//! ```text
//! s_m = share of m's labels that equal the majority vote,      q_n(k) ~ sum over labels x = k of s_m
//! ```
//!
//! 1. Label every task by majority vote; tied classes share the win (`ties=shared`) or the lowest has it
//!    (`ties=lowest`).
//! 2. Skill `s_m`: the share of worker `m`'s labels that agree; naming one of `t` tied classes counts `1/t`.
//! 3. Vote again with the skills as weights; the posterior is the share of the weight.
//!
//! `O(L + N K)`. A mild correction of the majority vote: workers who disagree with it are muted, never turned
//! round, and where the majority is wrong the skills are wrong with it. A worker without labels gets the
//! agreement of all labels together; where all weights of a task are 0, the plain vote stands. The model is
//! counted against the posterior. Differs from the description: there ties go to the lowest class, which lets
//! the names of the classes weigh on skills.
//!
//! No paper: a heuristic of the crowdsourcing industry.

use quorate::internal::starting_votes;
use quorate::methods::{Aggregate, Fit};
use quorate::{Annotations, Context, Result, declare_method};

use crate::weighted_vote::{SkillTies, agreement, score_tasks, shares};

declare_method! {
    /// Votes weighted by agreement with the majority.
    pub struct Wawa {
        /// whose skill grows by a tied vote: the tied classes share it, or the lowest takes it (as in the
        /// field's tables)
        ties: SkillTies = Shared,
    }
    name: "wawa",
    aliases: ["worker-agreement"],
    summary: "Votes weighted by each worker's agreement with the majority",
    description: "A majority vote, then a second one in which each worker counts by the share of its labels \
                  that agreed with the first. Cheap and hard to break; corrects little, and nothing where \
                  the majority is wrong.",
    citation: "Folklore (worker agreement with aggregate)",
    facts: [returns_model, learns_from_gold],
}

impl Aggregate for Wawa {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let votes = starting_votes(annotations, context)?;
        Ok(context.run(|| {
            let (classes, votes) = (votes.class_count(), votes.as_slice());
            let mut scores = vec![0.0; votes.len()];
            self.ties.elect(votes, classes, &mut scores);
            let skills = agreement(annotations, &scores);
            score_tasks(annotations, &skills, &mut scores);
            let mut fit = Fit::counted(annotations, shares(annotations, scores));
            fit.worker_scores = Some(skills);
            fit
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::methods::vote_fractions;
    use quorate_testkit::toys::{assert_close, toy_a};

    #[test]
    fn toy_a_by_hand() {
        // Worked example: skills 1, 5/6, 2/3, 1/2 and the weighted votes.
        let fit = Wawa::default().fit(&toy_a(), &mut Context::new(0)).unwrap();
        let skills = fit.worker_scores.unwrap();
        assert_close(&skills, &[1.0, 5.0 / 6.0, 2.0 / 3.0, 0.5], 1e-12);
        let scores = [
            [2.5, 0.5, 0.0],
            [1.833333, 0.666667, 0.0],
            [0.0, 3.0, 0.0],
            [0.666667, 1.833333, 0.0],
            [0.5, 0.0, 2.5],
            [0.0, 0.833333, 2.166667],
        ];
        for (task, scores) in scores.iter().enumerate() {
            let total: f64 = scores.iter().sum();
            let expected = scores.map(|score| score / total);
            assert_close(fit.consensus.row(task), &expected, 1e-6);
        }
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
    }

    /// A tie says nothing against the label of a unanimous task, whichever code it has.
    #[test]
    fn a_tie_on_a_unanimous_task_is_a_tie_under_any_codes() {
        let confidence = |label: u16| {
            let table = Annotations::from_codes(2, 2, 3, [(0, 0, label), (1, 1, label)]).unwrap();
            let fit = Wawa::default().fit(&table, &mut Context::new(0)).unwrap();
            assert_eq!(fit.consensus.labels(), [usize::from(label); 2]);
            fit.consensus.confidence(0)
        };
        let (first, last) = (confidence(0), confidence(2));
        assert!((first - last).abs() < 1e-6, "{first} and {last}");
    }

    #[test]
    fn a_copy_of_the_majority_changes_no_skill() {
        let annotations = toy_a();
        let majority = vote_fractions(&annotations).labels();
        let copy = majority
            .iter()
            .enumerate()
            .map(|(task, &label)| (task as u32, 4, label as u16));
        let labels = annotations.iter().map(|(n, m, x)| (n as u32, m as u32, x as u16));
        let larger = Annotations::from_codes(6, 5, 3, labels.chain(copy)).unwrap();
        let skills = |annotations| {
            Wawa::default()
                .fit(annotations, &mut Context::new(0))
                .unwrap()
                .worker_scores
                .unwrap()
        };
        assert_eq!(skills(&annotations), skills(&larger)[..4]);
        assert_eq!(skills(&larger)[4], 1.0);
    }
}
