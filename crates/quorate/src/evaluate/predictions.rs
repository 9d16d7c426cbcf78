//! What is evaluated: probabilities, labels with a confidence, or labels alone.

use crate::annotations::MAX_CLASSES;
use crate::error::{Error, Result};
use crate::model::{Consensus, label_of, leaders};

/// What counts where several classes share the first place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieRule {
    /// The lowest class is the prediction.
    Lowest,
    /// Each of t tied classes counts as 1/t of a prediction: the expectation over a fair draw.
    Fractional,
}

/// Predictions for the tasks, in order of task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predictions<'a> {
    classes: usize,
    tasks: usize,
    consensus: Option<&'a Consensus>,
    /// The labels that were written: they need not be the most probable classes.
    labels: Option<&'a [Option<usize>]>,
    confidences: Option<&'a [f64]>,
}

/// How far the probabilities of a task may sum from 1.
const SUM_SLACK: f64 = 1e-6;

impl<'a> Predictions<'a> {
    /// All probabilities. A row of zeros means that the task has no prediction.
    pub fn from_consensus(consensus: &'a Consensus) -> Result<Self> {
        for task in 0..consensus.len() {
            let row = consensus.row(task);
            let sum: f64 = row.iter().sum();
            let in_range = row
                .iter()
                .all(|probability| (0.0..=1.0 + SUM_SLACK).contains(probability));
            if !in_range || (sum != 0.0 && (sum - 1.0).abs() > SUM_SLACK) {
                return Err(Error::Mismatch(format!(
                    "the prediction for task number {} is not a probability vector: {}; expected values from 0 to 1 \
                     that sum to 1",
                    task + 1,
                    shown(row),
                )));
            }
        }
        Ok(Self {
            classes: consensus.class_count(),
            tasks: consensus.len(),
            consensus: Some(consensus),
            labels: None,
            confidences: None,
        })
    }

    /// All probabilities beside the labels that were chosen: errors are those of the labels, scores of
    /// probabilities those of the probabilities.
    pub fn from_consensus_and_labels(consensus: &'a Consensus, labels: &'a [Option<usize>]) -> Result<Self> {
        Self::from_labels(consensus.class_count(), labels)?;
        if labels.len() != consensus.len() {
            return Err(Error::Mismatch(format!(
                "{} labels for the probabilities of {} tasks",
                labels.len(),
                consensus.len()
            )));
        }
        let mut predictions = Self::from_consensus(consensus)?;
        predictions.labels = Some(labels);
        Ok(predictions)
    }

    /// Labels alone; None where there is no prediction.
    pub fn from_labels(classes: usize, labels: &'a [Option<usize>]) -> Result<Self> {
        let outside = |label: &&Option<usize>| label.is_some_and(|label| label >= classes);
        if let Some(Some(label)) = labels.iter().find(outside) {
            let problem = format!("predicted class code {label} lies outside the {classes} classes");
            return Err(Error::Mismatch(problem));
        }
        Ok(Self {
            classes,
            tasks: labels.len(),
            consensus: None,
            labels: Some(labels),
            confidences: None,
        })
    }

    /// Labels, each with the probability that it is right. The confidence of a task without a label is not
    /// looked at.
    pub fn from_confidences(
        classes: usize,
        labels: &'a [Option<usize>],
        confidences: &'a [f64],
    ) -> Result<Self> {
        let mut predictions = Self::from_labels(classes, labels)?;
        if labels.len() != confidences.len() {
            let (labels, confidences) = (labels.len(), confidences.len());
            return Err(Error::Mismatch(format!(
                "{confidences} confidences for {labels} labels"
            )));
        }
        for (task, (label, confidence)) in labels.iter().zip(confidences).enumerate() {
            if label.is_some() && !(0.0..=1.0 + SUM_SLACK).contains(confidence) {
                return Err(Error::Mismatch(format!(
                    "the confidence of task number {} is {confidence}; expected 0 to 1",
                    task + 1
                )));
            }
        }
        predictions.confidences = Some(confidences);
        Ok(predictions)
    }

    /// Number of tasks, those without a prediction included.
    pub(crate) fn len(&self) -> usize {
        self.tasks
    }

    /// Number of classes that can be predicted.
    pub(crate) fn class_count(&self) -> usize {
        self.classes
    }

    /// The predicted class (of tied ones the lowest), if there is one.
    pub(crate) fn label(&self, task: usize) -> Option<usize> {
        match self.labels {
            Some(labels) => labels[task],
            None => self.row(task).map(label_of),
        }
    }

    /// The probability that the prediction is right, if it is known.
    pub(crate) fn confidence(&self, task: usize) -> Option<f64> {
        let label = self.label(task)?;
        match self.confidences {
            Some(confidences) => Some(confidences[task]),
            None => Some(self.row(task)?[label]),
        }
    }

    /// The probabilities of a task, if they are known.
    pub(crate) fn row(&self, task: usize) -> Option<&'a [f64]> {
        let row = self.consensus?.row(task);
        row.iter().any(|&probability| probability > 0.0).then_some(row)
    }

    /// Number of classes that share the first place; 0 without a prediction.
    pub(crate) fn tied(&self, task: usize) -> usize {
        match self.consensus {
            Some(_) => self.row(task).map_or(0, |row| leaders(row).count()),
            None => usize::from(self.label(task).is_some()),
        }
    }

    /// How much of the prediction for `task` is `class`: 0 or 1, or a fraction of a tie.
    pub(super) fn credit(&self, task: usize, class: usize, ties: TieRule) -> f64 {
        let tied = self.tied(task);
        let Some(row) = self.row(task).filter(|_| ties == TieRule::Fractional && tied > 1) else {
            return f64::from(u8::from(self.label(task) == Some(class)));
        };
        if leaders(row).any(|leader| leader == class) {
            1.0 / tied as f64
        } else {
            0.0
        }
    }
}

/// The tasks with a prediction and a known truth, each with its truth.
pub(super) fn scored_tasks<'a>(
    predictions: &'a Predictions<'_>,
    truth: &'a [Option<usize>],
) -> impl Iterator<Item = (usize, usize)> + 'a {
    truth.iter().enumerate().filter_map(|(task, &truth)| {
        let truth = truth?;
        predictions.label(task)?;
        Some((task, truth))
    })
}

/// Checks that predictions and truth are about the same tasks; returns the number of classes of both.
pub(super) fn check_truth(predictions: &Predictions<'_>, truth: &[Option<usize>]) -> Result<usize> {
    if predictions.len() != truth.len() {
        return Err(Error::Mismatch(format!(
            "predictions for {} tasks, but the truth of {}: expected one entry for each task in both",
            predictions.len(),
            truth.len()
        )));
    }
    let highest = truth.iter().flatten().max().copied().unwrap_or(0);
    check_code("true class code", highest)?;
    // A truth that no prediction can name is a class all the same: every prediction there is wrong.
    Ok(predictions.class_count().max(highest + 1))
}

pub(super) fn check_code(what: &str, highest: usize) -> Result<()> {
    if highest < MAX_CLASSES {
        return Ok(());
    }
    Err(Error::Mismatch(format!(
        "{what} {highest}; codes are below {MAX_CLASSES}"
    )))
}

fn shown(row: &[f64]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<_> = row.iter().take(SHOWN).map(f64::to_string).collect();
    if row.len() > SHOWN {
        text.push("..".into());
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_prediction_is_an_error() {
        for row in [[0.5, 0.6], [f64::NAN, 0.0], [-0.5, 1.5]] {
            let consensus = Consensus::new(2, [[0.5, 0.5], row].concat());
            let message = Predictions::from_consensus(&consensus).unwrap_err().to_string();
            assert!(message.contains("task number 2"), "{message}");
        }
        assert!(Predictions::from_labels(2, &[Some(2)]).is_err());
        assert!(Predictions::from_confidences(2, &[Some(1)], &[1.5]).is_err());
        assert!(Predictions::from_confidences(2, &[Some(1)], &[]).is_err());
        assert!(Predictions::from_confidences(2, &[None], &[f64::NAN]).is_ok());
    }

    #[test]
    fn the_label_that_was_written_is_scored_not_the_most_probable_class() {
        let consensus = Consensus::new(2, vec![0.9, 0.1, 0.2, 0.8]);
        let labels = [Some(1), Some(1)];
        let predictions = Predictions::from_consensus_and_labels(&consensus, &labels).unwrap();
        assert_eq!([0, 1].map(|task| predictions.label(task)), [Some(1), Some(1)]);
        assert_eq!(predictions.confidence(0), Some(0.1));
        assert_eq!(predictions.credit(0, 1, TieRule::Lowest), 1.0);
        assert!(Predictions::from_consensus_and_labels(&consensus, &labels[..1]).is_err());
    }

    #[test]
    fn ties_share_the_credit_only_when_asked() {
        let consensus = Consensus::new(3, vec![0.4, 0.4, 0.2, 0.0, 0.0, 0.0]);
        let predictions = Predictions::from_consensus(&consensus).unwrap();
        let credits = |ties| [0, 1, 2, 3].map(|class| predictions.credit(0, class, ties));
        assert_eq!(credits(TieRule::Lowest), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(credits(TieRule::Fractional), [0.5, 0.5, 0.0, 0.0]);
        assert_eq!((predictions.label(0), predictions.tied(0)), (Some(0), 2));
        assert_eq!(
            (
                predictions.label(1),
                predictions.tied(1),
                predictions.confidence(1)
            ),
            (None, 0, None)
        );
    }
}
