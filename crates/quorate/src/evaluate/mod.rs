//! How good predictions and models are, where the truth is known.
//!
//! ```text
//! error = wrong / scored,      balanced accuracy = mean of recall(k) over the classes k that occur,
//! log loss = -mean ln p_n(y_n),      Brier = mean sum_k (p_n(k) - [k = y_n])^2,
//! calibration error = sum_b (n_b / n) |accuracy_b - confidence_b|
//! ```
//!
//! Only tasks with a prediction and a known truth are scored; the others are counted. A label that stands
//! without probabilities is scored as a label; log loss and Brier score need all probabilities, calibration a
//! confidence.
//!
//! Models are compared up to a permutation of the classes ([`model_distance`]), labelings with each other by
//! [`agreement`].

mod agreement;
mod calibration;
mod confusion_table;
mod error_rate;
mod interval;
mod model_distance;
mod predictions;
mod probability_scores;

pub use agreement::{Agreement, agreement};
pub use calibration::{Bins, Calibration, CalibrationBin};
pub use confusion_table::{ClassScore, ConfusionTable};
pub use error_rate::{ErrorRate, error_rate};
pub use interval::wilson_interval;
pub use model_distance::{ModelDistance, model_distance};
pub use predictions::{Predictions, TieRule};

use crate::error::Result;
use predictions::scored_tasks;

/// How to evaluate. [`evaluate`] uses the defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluate {
    /// What counts where several classes share the first place.
    pub ties: TieRule,
    /// How confidences are binned for calibration.
    pub bins: Bins,
}

impl Default for Evaluate {
    fn default() -> Self {
        Self {
            ties: TieRule::Lowest,
            bins: Bins::EqualWidth(10),
        }
    }
}

/// How good predictions are.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// How ties were treated.
    pub ties: TieRule,
    /// Error rate, its interval, and which tasks were scored.
    pub error: ErrorRate,
    /// Mean recall over the classes that occur in the truth.
    pub balanced_accuracy: f64,
    /// How often each class was taken for each class.
    pub confusion: ConfusionTable,
    /// Support, precision, recall and F1 of each class.
    pub per_class: Vec<ClassScore>,
    /// Mean of `-ln` of the probability of the truth, in nats; probabilities below 1e-15 count
    /// as that. None without probabilities.
    pub log_loss: Option<f64>,
    /// Mean squared distance of the probabilities from the truth, summed over classes: 0 to 2. None without
    /// probabilities.
    pub brier: Option<f64>,
    /// Confidence against accuracy. None without confidences.
    pub calibration: Option<Calibration>,
}

/// Evaluates predictions with the default tie rule (lowest class) and bins (10 of equal width).
///
/// ```
/// use quorate::evaluate::{Predictions, evaluate};
///
/// let labels = [Some(0), Some(1), Some(1), None];
/// let predictions = Predictions::from_labels(2, &labels)?;
/// let evaluation = evaluate(&predictions, &[Some(0), Some(1), Some(0), Some(1)])?;
/// assert_eq!(evaluation.error.rate, 1.0 / 3.0);
/// assert_eq!(evaluation.error.without_prediction, 1);
/// # Ok::<(), quorate::Error>(())
/// ```
pub fn evaluate(predictions: &Predictions<'_>, truth: &[Option<usize>]) -> Result<Evaluation> {
    Evaluate::default().run(predictions, truth)
}

impl Evaluate {
    /// Evaluates predictions against the truth of each task, where it is known. Fails if nothing can be
    /// scored.
    pub fn run(&self, predictions: &Predictions<'_>, truth: &[Option<usize>]) -> Result<Evaluation> {
        let error = error_rate(predictions, truth, self.ties)?;
        let confusion = ConfusionTable::count(predictions, truth, self.ties)?;
        let scored = || scored_tasks(predictions, truth);
        let scores = probability_scores::scores(predictions, scored());
        let certain = scored().map(|(task, truth)| {
            let confidence = predictions.confidence(task)?;
            Some((confidence, predictions.credit(task, truth, self.ties)))
        });
        let calibration = match certain.collect::<Option<Vec<_>>>() {
            Some(pairs) => Some(Calibration::of(pairs, self.bins)?),
            None => None,
        };
        Ok(Evaluation {
            ties: self.ties,
            error,
            balanced_accuracy: confusion.balanced_accuracy(),
            per_class: confusion.class_scores(),
            confusion,
            log_loss: scores.map(|scores| scores.log_loss),
            brier: scores.map(|scores| scores.brier),
            calibration,
        })
    }
}

#[cfg(test)]
mod tests;
