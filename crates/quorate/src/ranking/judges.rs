//! What comparisons tell of the judges: agreement with the others, discrimination, position bias, ties, and whether
//! a judge says the same when the items change places.

use std::fmt;

use super::comparisons::Outcome;
use super::curvature::Curvature;
use super::davidson::{Parameters, Problem, Sizes, chances};
use super::observations::{Observations, Swaps};
use crate::special::distributions::normal_quantile;

/// A judge.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct JudgeFit {
    /// How many comparisons, weights counted; both orders of one pair are one.
    pub comparisons: f64,
    /// How many of them are ties.
    pub ties: f64,
    /// How many of the others prefer the left item.
    pub left: f64,
    /// How many of the others prefer the item with the higher score.
    pub agreeing: f64,
    /// Pairs that were judged in both orders.
    pub swaps: Swaps,
    /// The judge's parameters, for `judge-bt`; none where the judge has too few comparisons for parameters of its own.
    pub model: Option<JudgeModel>,
}

/// A judge's parameters with intervals of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct JudgeModel {
    /// How well the judge tells items apart: 1 is usual, 0 is chance, below 0 is against the others.
    pub discrimination: f64,
    /// Ends of its interval.
    pub discrimination_range: [f64; 2],
    /// Log odds of the left side between equal items.
    pub position: f64,
    /// Ends of its interval.
    pub position_range: [f64; 2],
    /// How readily the judge calls a tie: log of the odds against either side, between equal items; none where
    /// there are no ties.
    pub ties: Option<f64>,
}

/// What is worth a look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JudgeVerdict {
    /// Nothing.
    Fine,
    /// Too few comparisons to say.
    TooFew,
    /// Nearly all answers are ties.
    AlwaysTies,
    /// Answers have little to do with the items.
    Random,
    /// Prefers what the others reject.
    Contrary,
    /// Prefers a side: points of percent that it leads by, between equal items.
    Side(f64),
    /// Often changes its answer with the order: share of pairs with the same answer.
    Unsteady(f64),
}

/// Fewest comparisons that a verdict rests on.
const MIN_COMPARISONS: f64 = 20.0;

/// Fewest pairs in both orders that a verdict rests on.
const MIN_SWAPS: u64 = 10;

impl JudgeFit {
    /// Share of ties.
    pub fn tie_rate(&self) -> f64 {
        self.ties / self.comparisons
    }

    /// Share of the answers for a side that prefer the item with the higher score; none without such answers.
    pub fn agreement(&self) -> Option<f64> {
        let decided = self.comparisons - self.ties;
        (decided > 0.0).then(|| self.agreeing / decided)
    }

    /// Share of the pairs seen in both orders that got the same answer; none without such pairs.
    pub fn self_agreement(&self) -> Option<f64> {
        (self.swaps.pairs > 0).then(|| self.swaps.consistent / self.swaps.pairs as f64)
    }

    /// What is worth a look, the gravest first.
    pub fn verdict(&self) -> JudgeVerdict {
        let decided = self.comparisons - self.ties;
        if self.comparisons < MIN_COMPARISONS {
            return JudgeVerdict::TooFew;
        }
        if self.tie_rate() > 0.95 {
            return JudgeVerdict::AlwaysTies;
        }
        if decided >= MIN_COMPARISONS && upper_share(self.agreeing, decided) < 0.5 {
            return JudgeVerdict::Contrary;
        }
        if let Some(model) = &self.model {
            if model.discrimination_range[1] < 0.0 {
                return JudgeVerdict::Contrary;
            }
            if model.discrimination_range[1] < 0.5 && self.agreement().is_none_or(|share| share < 0.65) {
                return JudgeVerdict::Random;
            }
            let clear = model.position_range[0] > 0.0 || model.position_range[1] < 0.0;
            let points = model.side_points();
            if clear && points.abs() >= 10.0 {
                return JudgeVerdict::Side(points);
            }
        } else if decided >= MIN_COMPARISONS && upper_share(self.agreeing, decided) < 0.6 {
            return JudgeVerdict::Random;
        }
        match self.self_agreement() {
            Some(share)
                if self.swaps.pairs >= MIN_SWAPS
                    && upper_share(self.swaps.consistent, self.swaps.pairs as f64) < 0.8 =>
            {
                JudgeVerdict::Unsteady(share)
            }
            _ => JudgeVerdict::Fine,
        }
    }
}

/// What is worth a look about a judge, in words; nothing where nothing is.
impl fmt::Display for JudgeVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Fine => Ok(()),
            Self::TooFew => f.write_str("too few comparisons to say"),
            Self::AlwaysTies => f.write_str("always ties"),
            Self::Random => f.write_str("answers at random"),
            Self::Contrary => f.write_str("prefers what the others reject"),
            Self::Side(points) => {
                let side = if points > 0.0 { "left" } else { "right" };
                write!(f, "prefers the {side} side by {:.0} points", points.abs())
            }
            Self::Unsteady(share) => {
                write!(f, "agrees with itself on {:.0} % of swapped pairs", 100.0 * share)
            }
        }
    }
}

impl JudgeModel {
    /// By how many points of percent the left side leads between equal items.
    pub fn side_points(&self) -> f64 {
        let [left, right, _] = chances(self.position, self.ties);
        100.0 * (left - right)
    }
}

/// Upper end of Wilson's interval of 95 % for a share.
fn upper_share(hits: f64, count: f64) -> f64 {
    let z = 1.959_963_984_540_054;
    let (share, square) = (hits / count, z * z / count);
    (share + square / 2.0 + z * ((share * (1.0 - share) + square / 4.0) / count).sqrt()) / (1.0 + square)
}

/// What can be counted of each judge, given the scores; nothing where nobody is named.
pub(super) fn count_judges(rows: &Observations, named: bool, strengths: &[f64]) -> Vec<JudgeFit> {
    if !named {
        return Vec::new();
    }
    let count = |judge: usize| {
        let mut found = JudgeFit {
            comparisons: 0.0,
            ties: 0.0,
            left: 0.0,
            agreeing: 0.0,
            swaps: rows.swaps[judge],
            model: None,
        };
        for row in rows.rows(judge) {
            let row = rows.get(row);
            let lead = strengths[row.left] - strengths[row.right];
            found.comparisons += row.weight;
            let share = |sign: f64| {
                if lead == 0.0 {
                    0.5
                } else {
                    f64::from(u8::from(lead * sign > 0.0))
                }
            };
            match row.outcome {
                Outcome::Tie => found.ties += row.weight,
                Outcome::Left => {
                    found.left += row.weight;
                    found.agreeing += row.weight * share(1.0);
                }
                Outcome::Right => found.agreeing += row.weight * share(-1.0),
            }
        }
        found
    };
    (0..rows.judges()).map(count).collect()
}

/// The parameters of the problem's judges with intervals; `covariance` is that of the scores, where it is known.
pub(super) fn model_judges(
    problem: &Problem<'_>,
    parameters: &Parameters,
    sizes: &Sizes,
    curvature: &Curvature<'_>,
    covariance: Option<&[f64]>,
) -> Vec<JudgeModel> {
    let z = normal_quantile(0.025);
    let variances = curvature.judge_variances(covariance);
    let count = parameters.judge.len() as f64;
    let model = |(own, mut variance): (&[f64; 3], [f64; 3])| {
        if count > 1.0 {
            // The mean of the judges is not known better than they tell it; it counts as far as a judge's own rows do
            // not decide.
            let undecided = (variance[1] / sizes.position).min(1.0);
            variance[1] += undecided * undecided * sizes.position / count;
        }
        let spread = |part: usize| z * variance[part].max(0.0).sqrt();
        let there = |there: bool, value: f64| if there { value } else { 0.0 };
        let reach = there(problem.parts.discrimination, spread(0));
        let side = there(problem.parts.position, spread(1));
        JudgeModel {
            discrimination: own[0],
            discrimination_range: [own[0] - reach, own[0] + reach],
            position: own[1],
            position_range: [own[1] - side, own[1] + side],
            ties: problem.parts.ties.then_some(own[2]),
        }
    };
    parameters.judge.iter().zip(variances).map(model).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(comparisons: f64, ties: f64, agreeing: f64) -> JudgeFit {
        JudgeFit {
            comparisons,
            ties,
            left: 0.0,
            agreeing,
            swaps: Swaps::default(),
            model: None,
        }
    }

    #[test]
    fn verdicts_rest_on_enough_answers() {
        assert_eq!(judge(19.0, 0.0, 0.0).verdict(), JudgeVerdict::TooFew);
        assert_eq!(judge(20.0, 20.0, 0.0).verdict(), JudgeVerdict::AlwaysTies);
        assert_eq!(judge(100.0, 10.0, 20.0).verdict(), JudgeVerdict::Contrary);
        assert_eq!(judge(400.0, 0.0, 200.0).verdict(), JudgeVerdict::Random);
        assert_eq!(judge(400.0, 0.0, 300.0).verdict(), JudgeVerdict::Fine);
        let unsteady = JudgeFit {
            swaps: Swaps {
                pairs: 100,
                consistent: 61.0,
            },
            ..judge(400.0, 0.0, 300.0)
        };
        assert_eq!(unsteady.verdict(), JudgeVerdict::Unsteady(0.61));
        let once = JudgeFit {
            swaps: Swaps {
                pairs: 1,
                consistent: 0.0,
            },
            ..judge(400.0, 0.0, 300.0)
        };
        assert_eq!(once.verdict(), JudgeVerdict::Fine);
    }

    #[test]
    fn a_judge_with_a_side_is_told_in_points() {
        let model = JudgeModel {
            discrimination: 1.0,
            discrimination_range: [0.8, 1.2],
            position: 0.5,
            position_range: [0.3, 0.7],
            ties: None,
        };
        // Without ties the lead is tanh(beta / 2).
        assert!((model.side_points() - 100.0 * (0.25f64).tanh()).abs() < 1e-9);
        let sided = JudgeFit {
            model: Some(model),
            ..judge(400.0, 0.0, 300.0)
        };
        assert_eq!(sided.verdict(), JudgeVerdict::Side(model.side_points()));
    }

    #[test]
    fn wilson_by_hand() {
        // (0.5 + z^2/20 + z sqrt(0.025 + z^2/400)) / (1 + z^2/10) with z = 1.959964.
        assert!((upper_share(5.0, 10.0) - 0.763).abs() < 5e-4);
    }
}
