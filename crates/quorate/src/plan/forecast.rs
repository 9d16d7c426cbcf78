//! The error of the labels now, after a plan, and how many labels reach a target.
//!
//! ```text
//! error now = mean_n (1 - max_k q_nk),     error after = mean_n (1 - A_n(s_n)),   s_n planned labels on task n
//! ```
//!
//! with `A_n` of [`gain`](super::gain). How far an estimate can be off depends less on the number of tasks
//! than on what is assumed: the posteriors of the fit may allow for tasks that mislead many workers at once;
//! those of its confusion matrices alone assume that workers err independently, and are the more confident
//! ones. Labels alone cannot tell which holds. The interval reaches from the lower of the two estimates to
//! the higher, each with the spread of a share of N tasks.
//!
//! New labels also teach how workers err, which helps every task and is not in `A_n`. How much is not known
//! beforehand: the lower end of the error after B labels is taken times `(L / (L + B))^2`, with the L labels
//! that are there. That holds on simulated crowds (`quorate-bench plans`); it is not derived.

use super::allocation::Allocation;
use super::gain::{LOOKAHEAD, accuracy_after};
use super::{Assignment, Plan};
use crate::model::{Consensus, DawidSkene, posterior};
use crate::special::distributions::normal_quantile;
use crate::{Annotations, Fit};

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

impl Forecast {
    /// `typical`: accuracy of the workers who are asked.
    pub(super) fn new(
        plan: &Plan,
        allocation: &Allocation,
        assignments: &[Assignment],
        (annotations, fit, model): (&Annotations, &Fit, &DawidSkene),
        typical: f64,
    ) -> Self {
        let tasks = fit.consensus.len().max(1) as f64;
        let mut labels = vec![0u8; fit.consensus.len()];
        for next in assignments {
            labels[next.task] = (labels[next.task] + 1).min(LOOKAHEAD as u8);
        }
        let independent = posterior(annotations, model).0;
        let error = |consensus: &Consensus, labels: &dyn Fn(usize) -> u8, accuracy: &dyn Fn(usize) -> f64| {
            let right = |task: usize| match labels(task) {
                0 => consensus.confidence(task),
                more => accuracy_after(consensus.row(task), accuracy(task))[usize::from(more)],
            };
            (0..consensus.len()).map(|task| 1.0 - right(task)).sum::<f64>() / tasks
        };
        let given = annotations.label_count() as f64;
        let taught = (given / (given + assignments.len() as f64)).powi(2);
        let estimate = |labels: &dyn Fn(usize) -> u8, taught: f64| {
            let of_fit = error(&fit.consensus, labels, &|task| allocation.accuracy(fit, task));
            // Known truths are known to the independent estimate, too.
            let of_model = error(&independent, &|task| labels(task), &|_| typical);
            between((of_fit, of_model), taught, tasks, plan.level)
        };
        let now = estimate(&|_| 0, 1.0);
        Self {
            after: estimate(&|task| labels[task], taught),
            target: plan.target.map(|target| reach(target, &now, allocation, tasks)),
            curve: curve(allocation, now.error, tasks),
            now,
        }
    }
}

/// From the lower of two estimates, times `taught`, to the higher, with the spread of a share of `tasks` and
/// one task more or less, which is always possible.
fn between((of_fit, of_model): (f64, f64), taught: f64, tasks: f64, level: f64) -> ErrorEstimate {
    let z = normal_quantile((1.0 - level) / 2.0);
    let spread = |error: f64| z * (error * (1.0 - error) / tasks).max(0.0).sqrt() + 1.0 / tasks;
    let (lower, higher) = (taught * of_fit.min(of_model).max(0.0), of_fit.max(of_model));
    ErrorEstimate {
        error: of_fit.max(0.0),
        low: (lower - spread(lower)).max(0.0),
        high: (higher + spread(higher)).min(1.0),
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
