//! The error rate and its interval.
//!
//! ```text
//! rate = sum over scored tasks of (1 - credit) / scored,      credit = [prediction is the truth], or 1/t in a t-fold tie
//! ```

use super::interval::wilson_interval;
use super::predictions::{Predictions, TieRule, check_truth, scored_tasks};
use crate::error::{Error, Result};

/// The error rate with its counts.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorRate {
    /// Tasks with a prediction and a known truth.
    pub scored: usize,
    /// Wrong ones; with [`TieRule::Fractional`] not always a whole number.
    pub wrong: f64,
    /// `wrong / scored`.
    pub rate: f64,
    /// 95 % Wilson interval of the rate.
    pub interval: (f64, f64),
    /// Scored tasks where several classes share the first place.
    pub tied: usize,
    /// Tasks with a prediction whose truth is not known.
    pub without_truth: usize,
    /// Tasks with a known truth but no prediction: not scored.
    pub without_prediction: usize,
}

/// The error rate of the predictions where the truth is known. Fails if nothing can be scored.
pub fn error_rate(
    predictions: &Predictions<'_>,
    truth: &[Option<usize>],
    ties: TieRule,
) -> Result<ErrorRate> {
    check_truth(predictions, truth)?;
    let (mut scored, mut wrong, mut tied) = (0, 0.0, 0);
    for (task, truth) in scored_tasks(predictions, truth) {
        scored += 1;
        wrong += 1.0 - predictions.credit(task, truth, ties);
        tied += usize::from(predictions.tied(task) > 1);
    }
    let known = truth.iter().flatten().count();
    let predicted = (0..predictions.len()).filter(|&task| predictions.label(task).is_some());
    let without_truth = predicted.count() - scored;
    if scored == 0 {
        return Err(Error::Mismatch(format!(
            "nothing to evaluate: of {} tasks, {known} have a known truth and {without_truth} a prediction, but none \
             has both; do the task ids match?",
            truth.len()
        )));
    }
    Ok(ErrorRate {
        scored,
        wrong,
        rate: wrong / scored as f64,
        interval: wilson_interval(wrong, scored),
        tied,
        without_truth,
        without_prediction: known - scored,
    })
}
