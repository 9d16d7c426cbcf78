//! The verdict on an item: by the model's probabilities, or by a count of votes.
//!
//! | policy | verdict |
//! |---|---|
//! | model | the most probable class, judges weighed by how good and how independent they are |
//! | majority | the answer that most judges gave |
//! | strict majority | an answer that more than half of the judges gave who were asked; failures count as asked |
//!
//! An item without a verdict is unscored: fewer judges than the quorum answered, a tie, no strict majority.
//! It stays in the denominator of every rate unless the caller says otherwise ([`Unscored`]).

use super::answers::{NONE, most_frequent};
use crate::model::leaders;

/// How a verdict is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerdictPolicy {
    /// The most probable class.
    #[default]
    Model,
    /// The answer that most judges gave.
    Majority,
    /// An answer that more than half of the judges gave who were asked.
    StrictMajority,
}

/// What an item without a verdict counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unscored {
    /// Kept: in the denominator, of no class.
    #[default]
    Kept,
    /// Of this class.
    As(usize),
    /// Left out of the denominator.
    LeftOut,
}

/// The verdict on an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The class; none if the item is unscored.
    pub label: Option<usize>,
    /// Probability of the class under the model; of the most probable one if the item is unscored.
    pub confidence: f64,
    /// Judges with an answer.
    pub answered: usize,
    /// Judges who were asked.
    pub asked: usize,
}

/// The class of an item with these probabilities and answers.
pub(super) fn decide(
    policy: VerdictPolicy,
    row: &[f64],
    answers: &[u16],
    asked: usize,
    votes: &mut [u32],
) -> Option<usize> {
    match policy {
        VerdictPolicy::Model => {
            let mut leaders = leaders(row);
            leaders.next().filter(|_| leaders.next().is_none())
        }
        VerdictPolicy::Majority | VerdictPolicy::StrictMajority => {
            let answer = most_frequent(answers.iter().copied(), votes);
            let given = answers.iter().filter(|&&other| other == answer).count();
            let enough = policy == VerdictPolicy::Majority || 2 * given > asked;
            (answer != NONE && enough).then_some(usize::from(answer))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strict_majority_is_of_all_who_were_asked() {
        let row = [0.5, 0.5];
        let label = |policy, answers: &[u16], asked| decide(policy, &row, answers, asked, &mut [0; 2]);
        assert_eq!(label(VerdictPolicy::Model, &[1, 0], 2), None);
        assert_eq!(label(VerdictPolicy::Majority, &[1, 1, NONE, NONE], 4), Some(1));
        assert_eq!(label(VerdictPolicy::StrictMajority, &[1, 1, NONE, NONE], 4), None);
        assert_eq!(
            label(VerdictPolicy::StrictMajority, &[1, 1, NONE, NONE], 3),
            Some(1)
        );
        assert_eq!(label(VerdictPolicy::Majority, &[1, 0], 2), None);
        assert_eq!(label(VerdictPolicy::StrictMajority, &[NONE], 1), None);
    }
}
