//! The error of the labels now, after a plan, and how many labels reach a target.
//!
//! ```text
//! error now = mean_n (1 - max_k q_nk),     error after B labels = error now - sum of the gains of B labels / N
//! ```

use super::allocation::Allocation;
use super::{Assignment, Plan};
use crate::methods::Fit;
use crate::special::distributions::normal_quantile;

/// An error with an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorEstimate {
    /// Estimated share of wrong labels.
    pub error: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// How many labels reach a target error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetForecast {
    /// The error asked for.
    pub error: f64,
    /// Labels that reach it; None if no number of labels in reach does.
    pub labels: Option<usize>,
    /// Labels if the error is as low as its interval allows, and as high; None: out of reach.
    pub labels_between: (Option<usize>, Option<usize>),
}

/// What labels will do to the error.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The error now.
    pub now: ErrorEstimate,
    /// The error after the planned labels.
    pub after: ErrorEstimate,
    /// What the target takes, if one was asked for.
    pub target: Option<TargetForecast>,
    /// Error after this many labels, placed as the plan places them: (labels, error), from none to all that
    /// are worth something.
    pub curve: Vec<(usize, f64)>,
}

/// Points of the curve.
const POINTS: usize = 40;

/// Relative doubt about an estimated error: the confidence of a fit is itself an estimate. Errors estimated
/// on simulated crowds lie within this factor of the true ones (`quorate-bench plans`).
const DOUBT: f64 = 0.2;

impl Forecast {
    pub(super) fn new(plan: &Plan, allocation: &Allocation, assignments: &[Assignment], fit: &Fit) -> Self {
        let tasks = fit.consensus.len().max(1) as f64;
        let now = fit.consensus.expected_error();
        let bought: f64 = assignments.iter().map(|next| next.gain).sum();
        let curve = curve(allocation, now, tasks);
        let estimate = |error: f64| interval(error.max(0.0), tasks, plan.level);
        let now = estimate(now);
        Self {
            after: estimate(now.error - bought / tasks),
            target: plan.target.map(|target| reach(target, &now, allocation, tasks)),
            now,
            curve,
        }
    }
}

/// Interval of an error: that of a share of `tasks`, widened by the doubt about the estimate.
fn interval(error: f64, tasks: f64, level: f64) -> ErrorEstimate {
    let z = normal_quantile((1.0 - level) / 2.0);
    let chance = error * (1.0 - error) / tasks;
    let reach = z * (chance + (DOUBT * error).powi(2)).sqrt();
    // One task more or less is always possible.
    ErrorEstimate {
        error,
        low: (error - reach - 1.0 / tasks).max(0.0),
        high: (error + reach + 1.0 / tasks).min(1.0),
    }
}

fn curve(allocation: &Allocation, now: f64, tasks: f64) -> Vec<(usize, f64)> {
    let slots = &allocation.slots;
    let mut curve = vec![(0, now)];
    let mut bought = 0.0;
    for (index, slot) in slots.iter().enumerate() {
        bought += slot.gain;
        let labels = index + 1;
        if labels * POINTS / slots.len() > index * POINTS / slots.len() {
            curve.push((labels, (now - bought / tasks).max(0.0)));
        }
    }
    curve
}

/// Labels until the error, if it starts at each of the three estimates and falls in proportion, is at most
/// the target.
fn reach(target: f64, now: &ErrorEstimate, allocation: &Allocation, tasks: f64) -> TargetForecast {
    let labels_from = |start: f64| {
        if start <= target {
            return Some(0);
        }
        let scale = if now.error > 0.0 { start / now.error } else { 1.0 };
        let mut error = start;
        for (index, slot) in allocation.slots.iter().enumerate() {
            error -= scale * slot.gain / tasks;
            if error <= target {
                return Some(index + 1);
            }
        }
        None
    };
    TargetForecast {
        error: target,
        labels: labels_from(now.error),
        labels_between: (labels_from(now.low), labels_from(now.high)),
    }
}
