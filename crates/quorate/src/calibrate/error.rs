//! How many labels are wrong: one estimate with a range, for every face.
//!
//! ```text
//! lo(p) = ln((p + 0.01) / (1 - p + 0.01))
//! nothing known:     lo(e) = lo(mean of 1 - confidence) + 0.2 w,    range: lo^-1(lo(e) -+ 1.10)
//! 30 known truths:   w of n labels wrong, each by a fit that did not see its truth; range of Clopper and Pearson
//! ```
//!
//! `w` is the allowance that was made for effects of tasks, from 0 to 1: crowds that show them err together more often
//! than the confidence of single labels can allow for. Where nothing is known the range is empirical: labels cannot tell how often a whole crowd errs together, so its
//! width is what held nine times in ten on real data ([`LEVEL`]; `quorate-bench trust` has the table). It is given
//! for confidences that allow for tasks that mislead; by the confidence of other methods workers err
//! independently, and no width was found to hold.

use std::fmt;

use crate::special::distributions::beta_quantile;

/// Probability that a range is meant to hold the true share.
pub const LEVEL: f64 = 0.9;

/// Known truths from which the range rests on them alone.
pub const ENOUGH_TRUTHS: u64 = 30;

/// Half the width of the range where nothing is known, in `lo`.
const HALF_WIDTH: f64 = 1.10;

/// What the confidence lacks where the labels show effects of tasks, in `lo`.
const SHORTFALL: f64 = 0.2;

/// Keeps `lo` finite, and ranges near 0 from vanishing.
const OFFSET: f64 = 0.01;

/// What the estimated error of a fit rests on.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ErrorBasis {
    /// The confidence of a method that takes workers for independent, or that was never measured.
    #[default]
    Confidence,
    /// A confidence that allows for tasks that mislead many workers at once.
    Calibrated {
        /// How much of the allowance was made, from 0 to 1: as much as labels show effects of tasks.
        caution: f64,
    },
    /// Labels of tasks whose truth is known, made without it.
    Checked(CheckedLabels),
}

/// Labels of tasks with known truth, each made by a fit that did not know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckedLabels {
    /// Labels that were checked.
    pub known: u64,
    /// Those that are wrong.
    pub wrong: u64,
}

/// The share of wrong labels: an estimate, and the range that holds it with probability [`LEVEL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorEstimate {
    /// The estimate.
    pub value: f64,
    /// Lower and upper end of the range; none where no range was found to hold.
    pub range: Option<(f64, f64)>,
    /// Labels with a known truth that the estimate rests on; 0 where it rests on the confidence.
    pub checked: u64,
}

impl ErrorEstimate {
    /// Of `tasks` labels whose confidence implies this error; `known`: those whose truth is known, and which are right
    /// for that.
    pub fn new(basis: ErrorBasis, implied: f64, tasks: u64, known: u64) -> Self {
        match basis {
            ErrorBasis::Checked(checked) if checked.known >= ENOUGH_TRUTHS => {
                Self::of_checked(checked, tasks, known)
            }
            ErrorBasis::Confidence | ErrorBasis::Checked(_) => Self {
                value: implied,
                range: None,
                checked: 0,
            },
            ErrorBasis::Calibrated { caution } => {
                let around = |step: f64| from_lo(lo(implied) + SHORTFALL * caution + step).clamp(0.0, 1.0);
                Self {
                    value: around(0.0),
                    range: Some((around(-HALF_WIDTH), around(HALF_WIDTH))),
                    checked: 0,
                }
            }
        }
    }

    /// By labels that were checked; the `known` of all `tasks` labels are right.
    fn of_checked(checked: CheckedLabels, tasks: u64, known: u64) -> Self {
        let open = tasks.saturating_sub(known) as f64 / tasks.max(1) as f64;
        let (low, high) = exact_interval(checked.wrong, checked.known);
        Self {
            value: open * checked.wrong as f64 / checked.known.max(1) as f64,
            range: Some((open * low, open * high)),
            checked: checked.known,
        }
    }
}

/// The estimate with its range, in percent.
impl fmt::Display for ErrorEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %", 100.0 * self.value)?;
        let Some((low, high)) = self.range else {
            return f.write_str(" by the method's own confidence; no range was found to hold");
        };
        write!(
            f,
            " ({:.0} % range: {:.1} to {:.1} %",
            100.0 * LEVEL,
            100.0 * low,
            100.0 * high
        )?;
        if self.checked > 0 {
            write!(f, ", by {} known truths", self.checked)?;
        }
        f.write_str(")")
    }
}

/// The interval of Clopper and Pearson of this [`LEVEL`].
fn exact_interval(wrong: u64, known: u64) -> (f64, f64) {
    let (wrong, known, tail) = (wrong as f64, known as f64, (1.0 - LEVEL) / 2.0);
    let low = if wrong > 0.0 {
        beta_quantile(wrong, known - wrong + 1.0, tail)
    } else {
        0.0
    };
    let high = if wrong < known {
        beta_quantile(wrong + 1.0, known - wrong, 1.0 - tail)
    } else {
        1.0
    };
    (low, high)
}

/// A share on the scale of the range.
pub(crate) fn lo(share: f64) -> f64 {
    ((share + OFFSET) / (1.0 - share + OFFSET)).ln()
}

/// The share of this `lo`; below 0 or above 1 at the ends of the scale.
pub(crate) fn from_lo(lo: f64) -> f64 {
    let odds = lo.exp();
    (odds * (1.0 + OFFSET) - OFFSET) / (1.0 + odds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_exact_range_solve_their_equation() {
        // Clopper and Pearson: Pr(X >= wrong) at the lower end and Pr(X <= wrong) at the upper end are 5 %.
        let at_most = |most: u64, trials: u64, p: f64| -> f64 {
            let mut term = (1.0 - p).powi(trials as i32);
            (0..=most)
                .map(|count| {
                    let now = term;
                    term *= (trials - count) as f64 / (count + 1) as f64 * p / (1.0 - p);
                    now
                })
                .sum()
        };
        for (wrong, known) in [(1, 30), (7, 40), (29, 30), (60, 200)] {
            let (low, high) = exact_interval(wrong, known);
            assert!((1.0 - at_most(wrong - 1, known, low) - 0.05).abs() < 1e-9);
            assert!((at_most(wrong, known, high) - 0.05).abs() < 1e-9);
        }
        assert_eq!(exact_interval(0, 50).0, 0.0);
        assert!((exact_interval(0, 50).1 - (1.0 - 0.05f64.powf(1.0 / 50.0))).abs() < 1e-9);
        assert_eq!(exact_interval(50, 50).1, 1.0);
    }

    #[test]
    fn truths_decide_from_thirty_on_and_known_labels_are_right() {
        let checked = |known, wrong| ErrorBasis::Checked(CheckedLabels { known, wrong });
        assert_eq!(ErrorEstimate::new(checked(29, 29), 0.1, 1000, 29).range, None);
        let enough = ErrorEstimate::new(checked(40, 10), 0.1, 100, 40);
        assert_eq!((enough.value, enough.checked), (0.6 * 0.25, 40));
        let (low, high) = enough.range.unwrap();
        let (exact_low, exact_high) = exact_interval(10, 40);
        assert_eq!((low, high), (0.6 * exact_low, 0.6 * exact_high));
    }

    #[test]
    fn the_range_is_symmetric_on_its_scale_and_stays_a_share() {
        for share in [0.0, 0.003, 0.2, 0.5, 0.99, 1.0] {
            assert!((from_lo(lo(share)) - share).abs() < 1e-12);
            let found = ErrorEstimate::new(ErrorBasis::Calibrated { caution: 0.0 }, share, 100, 0);
            let (low, high) = found.range.unwrap();
            assert!(0.0 <= low && low <= share && share <= high && high <= 1.0);
            if share == 0.2 {
                assert!((lo(high) + lo(low) - 2.0 * lo(share)).abs() < 1e-12);
            }
        }
        assert_eq!(
            ErrorEstimate::new(ErrorBasis::Confidence, 0.2, 100, 0).range,
            None
        );
    }
}
