//! How often each class was taken for each class, and what follows for each class.
//!
//! ```text
//! C(y, x) = scored tasks with truth y and prediction x,      recall(k) = C(k, k) / sum_x C(k, x),
//! precision(k) = C(k, k) / sum_y C(y, k),      F1(k) = 2 C(k, k) / (sum_x C(k, x) + sum_y C(y, k))
//! ```

use super::predictions::{Predictions, TieRule, check_truth, scored_tasks};
use crate::{DEFAULT_MEMORY_LIMIT, Error, Result};

/// Counts of (truth, predicted) over the scored tasks; ties may count in fractions. K x K.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfusionTable {
    classes: usize,
    /// `[truth][predicted]`.
    cells: Vec<f64>,
    support: Vec<usize>,
}

/// How well one class is predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassScore {
    /// Scored tasks that are of this class.
    pub support: usize,
    /// Scored tasks that were predicted to be.
    pub predicted: f64,
    /// Those that are both.
    pub correct: f64,
    /// `correct / predicted`; None if it was never predicted.
    pub precision: Option<f64>,
    /// `correct / support`; None if it never occurs.
    pub recall: Option<f64>,
    /// Harmonic mean of both; None if the class neither occurs nor was predicted.
    pub f1: Option<f64>,
}

impl ConfusionTable {
    /// Counts the scored tasks.
    pub fn count(predictions: &Predictions<'_>, truth: &[Option<usize>], ties: TieRule) -> Result<Self> {
        let classes = check_truth(predictions, truth)?;
        let needed = (classes * classes * size_of::<f64>()) as u64;
        if needed > DEFAULT_MEMORY_LIMIT {
            let what = format!("the confusion table of {classes} classes");
            let hint = "the error rate alone needs no table";
            return Err(Error::too_large(what, needed, DEFAULT_MEMORY_LIMIT, hint));
        }
        let mut table = Self {
            classes,
            cells: vec![0.0; classes * classes],
            support: vec![0; classes],
        };
        for (task, truth) in scored_tasks(predictions, truth) {
            table.support[truth] += 1;
            let row = &mut table.cells[truth * classes..][..classes];
            if ties == TieRule::Fractional && predictions.tied(task) > 1 {
                for (class, cell) in row.iter_mut().enumerate() {
                    *cell += predictions.credit(task, class, ties);
                }
            } else if let Some(label) = predictions.label(task) {
                row[label] += 1.0;
            }
        }
        Ok(table)
    }

    /// Number of classes.
    pub fn class_count(&self) -> usize {
        self.classes
    }

    /// Tasks of class `truth` that were predicted to be `predicted`.
    pub fn get(&self, truth: usize, predicted: usize) -> f64 {
        self.cells[truth * self.classes + predicted]
    }

    /// All counts, `[truth][predicted]`.
    pub fn as_slice(&self) -> &[f64] {
        &self.cells
    }

    /// The scores of each class.
    pub fn class_scores(&self) -> Vec<ClassScore> {
        let ratio = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let score = |class: usize| {
            let support = self.support[class];
            let predicted: f64 = (0..self.classes).map(|truth| self.get(truth, class)).sum();
            let correct = self.get(class, class);
            ClassScore {
                support,
                predicted,
                correct,
                precision: ratio(correct, predicted),
                recall: ratio(correct, support as f64),
                f1: ratio(2.0 * correct, support as f64 + predicted),
            }
        };
        (0..self.classes).map(score).collect()
    }

    /// Mean recall over the classes that occur; 0 if none does.
    pub fn balanced_accuracy(&self) -> f64 {
        let occurring = || (0..self.classes).filter(|&class| self.support[class] > 0);
        let recall = |class: usize| self.get(class, class) / self.support[class] as f64;
        occurring().map(recall).sum::<f64>() / occurring().count().max(1) as f64
    }
}
