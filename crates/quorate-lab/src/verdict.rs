//! When a value of ours is better than the paper's, worse, or the same within noise.
//!
//! ```text
//! equal   if  |ours - paper| <= t s (1/n + 1/n_paper)^(1/2) + grain + half a unit of the paper's last digit
//! better, worse   otherwise, by the sign
//! ```
//!
//! `s` is the standard deviation of our n trials, taken to be the paper's too, which prints none; `t` the
//! two-sided 95 % point of Student's distribution with n - 1 degrees of freedom.
//!
//! `grain` is for errors on one fixed set of tasks, where trials hardly differ: three tasks. Two labelings
//! whose numbers of errors differ by d tasks disagree on at least d of them, so the statistic of McNemar's
//! test is at most `d / d^(1/2)`: a difference below four tasks can never be two standard errors, however the
//! disagreements fall. Four tasks or more need not be significant either: better and worse say what was
//! measured on these tasks.

use serde::Serialize;

use crate::paper::Printed;
use crate::statistics::Summary;

/// Ours beside the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Better than the paper beyond noise.
    Better,
    /// Equal within noise.
    Equal,
    /// Worse than the paper beyond noise.
    Worse,
}

impl Verdict {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Equal => "equal",
            Self::Worse => "worse",
        }
    }
}

/// Which direction is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Errors, times.
    Lower,
    /// Accuracies.
    Higher,
}

/// What may differ by chance alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Trials behind the paper's value; none where it comes from one fixed set of data and trials play no
    /// part.
    pub paper_trials: Option<usize>,
    /// A difference that means nothing, in the unit of the value.
    pub grain: f64,
}

impl Noise {
    /// Averages over this many trials in the paper.
    pub fn of_trials(paper_trials: usize) -> Self {
        Self {
            paper_trials: Some(paper_trials),
            grain: 0.0,
        }
    }

    /// Errors in percent on one fixed set of tasks with known truth.
    pub fn of_tasks(tasks: usize) -> Self {
        Self {
            paper_trials: None,
            grain: 100.0 * 3.0 / tasks as f64,
        }
    }

    /// How far our mean may be from the paper's value and still count as equal.
    pub fn width(&self, ours: &Summary, paper: &Printed) -> f64 {
        let spread = ours.spread.unwrap_or(0.0);
        let shares = 1.0 / ours.trials as f64 + self.paper_trials.map_or(0.0, |trials| 1.0 / trials as f64);
        student(ours.trials.saturating_sub(1)) * spread * shares.sqrt() + self.grain + paper.half_unit()
    }

    /// The verdict; none without a printed number, or where a single trial stands against an average.
    pub fn judge(&self, ours: &Summary, paper: &Printed, better: Better) -> Option<Verdict> {
        let value = paper.value?;
        if ours.trials < 2 && self.paper_trials.is_some() || !ours.mean.is_finite() {
            return None;
        }
        let gain = match better {
            Better::Lower => value - ours.mean,
            Better::Higher => ours.mean - value,
        };
        // A hair more, so that a difference of exactly the grain does not hang on the last bit.
        let width = self.width(ours, paper) * (1.0 + 1e-9);
        Some(match gain {
            gain if gain.abs() <= width => Verdict::Equal,
            gain if gain > 0.0 => Verdict::Better,
            _ => Verdict::Worse,
        })
    }
}

/// The 97.5 % point of Student's distribution, for 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

pub(crate) fn student(freedom: usize) -> f64 {
    match freedom {
        0 => 0.0,
        1..=30 => STUDENT[freedom - 1],
        _ => 1.96,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Printed {
        Printed {
            text: text.into(),
            value: text.parse().ok(),
        }
    }

    #[test]
    fn trials_decide_by_their_spread() {
        // Mean 2, standard deviation 1, n = 3: 4.303 (1/3 + 1/20)^(1/2) = 2.664, and 0.05 for rounding.
        let ours = Summary::of(&[1.0, 2.0, 3.0]);
        let noise = Noise::of_trials(20);
        let width = noise.width(&ours, &printed("4.7"));
        assert!((width - (4.303 * (1.0f64 / 3.0 + 0.05).sqrt() + 0.05)).abs() < 1e-12);
        assert_eq!(
            noise.judge(&ours, &printed("4.7"), Better::Lower),
            Some(Verdict::Equal)
        );
        assert_eq!(
            noise.judge(&ours, &printed("4.8"), Better::Lower),
            Some(Verdict::Better)
        );
        assert_eq!(
            noise.judge(&ours, &printed("4.8"), Better::Higher),
            Some(Verdict::Worse)
        );
        assert_eq!(
            noise.judge(&ours, &printed("-0.8"), Better::Lower),
            Some(Verdict::Worse)
        );
    }

    #[test]
    fn four_tasks_of_a_fixed_set_decide_three_do_not() {
        let noise = Noise::of_tasks(1000);
        let paper = printed("10.00");
        for (error, verdict) in [
            (9.7, Verdict::Equal),
            (9.6, Verdict::Better),
            (10.3, Verdict::Equal),
            (10.4, Verdict::Worse),
        ] {
            assert_eq!(
                noise.judge(&Summary::of(&[error]), &paper, Better::Lower),
                Some(verdict),
                "{error}"
            );
        }
    }

    #[test]
    fn no_verdict_without_a_number_or_from_one_trial_of_many() {
        let one = Summary::of(&[1.0]);
        assert_eq!(
            Noise::of_trials(20).judge(&one, &printed("5"), Better::Lower),
            None
        );
        assert_eq!(
            Noise::of_tasks(10).judge(&one, &printed("N/A"), Better::Lower),
            None
        );
        let failed = Summary::of(&[f64::NAN]);
        assert_eq!(
            Noise::of_tasks(10).judge(&failed, &printed("5"), Better::Lower),
            None
        );
    }
}
