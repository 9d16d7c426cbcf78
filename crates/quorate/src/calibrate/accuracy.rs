//! How often a worker is right: the mean probability of its answers, by the posteriors of the labels.
//!
//! ```text
//! p_m = mean over the labels of m of q_n(x_mn)
//! p_m -+ z sqrt(p_m (1 - p_m) / L + 1 / (4 L^2) + (e / 2)^2)          L labels of m, e the estimated error of all labels
//! ```
//!
//! What is wrong with the labels is wrong with the accuracies, and for many workers at once: that is the last term.
//! Half of the error is what held nine of ten accuracies on real data (`quorate-bench trust`); it has no interval
//! where the error has no range.

use super::error::LEVEL;
use crate::annotations::Annotations;
use crate::methods::Fit;
use crate::model::ConsensusSummary;
use crate::special::distributions::normal_quantile;

/// Part of the error of the labels that an accuracy may be off by (a standard deviation).
const SHARED: f64 = 0.5;

/// The accuracy of a worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkerAccuracy {
    /// The estimate.
    pub value: f64,
    /// The interval that holds the true share with probability [`LEVEL`]; none where no interval was found to hold.
    pub interval: Option<(f64, f64)>,
}

impl<C> Fit<C> {
    /// The accuracy of each worker by these facts about the labels; none for workers without labels.
    #[doc(hidden)]
    pub fn accuracies(&self, facts: &ConsensusSummary) -> Vec<Option<WorkerAccuracy>> {
        let error = self.estimate_error(facts);
        let z = normal_quantile((1.0 - LEVEL) / 2.0);
        let accuracy = |(&labels, right): (&u64, &f64)| {
            let count = labels as f64;
            (labels > 0).then(|| {
                let value = (right / count).clamp(0.0, 1.0);
                let variance =
                    (value * (1.0 - value) + 0.25 / count) / count + (SHARED * error.value).powi(2);
                let half = z * variance.sqrt();
                let interval = ((value - half).max(0.0), (value + half).min(1.0));
                WorkerAccuracy {
                    value,
                    interval: error.range.map(|_| interval),
                }
            })
        };
        facts
            .worker_labels
            .iter()
            .zip(&facts.worker_right)
            .map(accuracy)
            .collect()
    }
}

impl Fit {
    /// The accuracy of each worker of this table, in order of code; none for workers without labels.
    pub fn worker_accuracies(&self, annotations: &Annotations) -> Vec<Option<WorkerAccuracy>> {
        self.accuracies(&ConsensusSummary::of(annotations, &self.consensus, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::ErrorBasis;
    use crate::model::Consensus;

    #[test]
    fn an_accuracy_is_the_mean_probability_of_the_answers() {
        let labels = [(0, 0, 0), (1, 0, 1), (0, 1, 1)];
        let annotations = Annotations::from_codes(2, 3, 2, labels).unwrap();
        let mut fit = Fit::direct(Consensus::new(2, vec![0.9, 0.1, 0.3, 0.7]));
        let found = fit.worker_accuracies(&annotations);
        assert!((found[0].unwrap().value - 0.8).abs() < 1e-12);
        assert!((found[1].unwrap().value - 0.1).abs() < 1e-12);
        // No labels, no accuracy; no range of the error, no interval.
        assert!(found[2].is_none() && found[0].unwrap().interval.is_none());
        fit.error_basis = ErrorBasis::Calibrated { caution: 0.0 };
        let (low, high) = fit.worker_accuracies(&annotations)[0].unwrap().interval.unwrap();
        let half = 1.644_853_627 * (0.8 * 0.2 / 2.0 + 0.0625 + 0.01f64).sqrt();
        assert!((low - (0.8 - half)).abs() < 1e-6 && high == 1.0, "{low} {high}");
    }
}
