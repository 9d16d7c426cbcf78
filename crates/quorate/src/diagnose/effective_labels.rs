//! How many independent labels the labels of a task are worth.
//!
//! ```text
//! n_eff = n / (1 + (n - 1) r)
//! ```
//!
//! for n labels whose errors have the mean pairwise correlation r (the variance of the mean of n equally
//! correlated variables). r comes from how much oftener two workers are wrong together than the model says,
//! the others' posterior given ([`copy_groups`](super::copy_groups)). Hard tasks and copies both raise r. A
//! mean over pairs and tasks: it does not say that every task is alike. Negative r counts as 0.

use crate::annotations::Annotations;

/// What labels are worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveLabels {
    /// Mean number of labels on a labelled task.
    pub labels: f64,
    /// Mean number of independent labels they are worth.
    pub effective: f64,
    /// r.
    pub error_correlation: f64,
}

pub(super) fn effective_labels(annotations: &Annotations, error_correlation: f64) -> EffectiveLabels {
    let sizes = annotations
        .task_starts()
        .windows(2)
        .map(|pair| f64::from(pair[1] - pair[0]));
    let (mut labels, mut effective, mut tasks) = (0.0, 0.0, 0.0);
    for n in sizes.filter(|&n| n > 0.0) {
        labels += n;
        effective += n / (1.0 + (n - 1.0) * error_correlation);
        tasks += 1.0;
    }
    EffectiveLabels {
        labels: labels / tasks,
        effective: effective / tasks,
        error_correlation,
    }
}
