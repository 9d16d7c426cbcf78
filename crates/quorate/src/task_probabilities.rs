//! Class probabilities of tasks from elsewhere: the predictions of a classifier.
//!
//! Side data of a fit, lined up with the tasks and classes of its annotations: a row of K probabilities for
//! each of the N tasks, or none where the classifier said nothing.

use crate::{Annotations, Error, Result};

/// How far from 1 a row may sum: printed probabilities are rounded.
const SUM_SLACK: f64 = 0.05;

/// A probability vector for each task that has a prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskProbabilities {
    classes: usize,
    /// `[task][class]`; zeros where there is no prediction.
    rows: Vec<f64>,
    known: Vec<bool>,
}

impl TaskProbabilities {
    /// No prediction for any task of these annotations yet.
    pub fn none(annotations: &Annotations) -> Self {
        Self {
            classes: annotations.class_count(),
            rows: vec![0.0; annotations.task_count() * annotations.class_count()],
            known: vec![false; annotations.task_count()],
        }
    }

    /// Sets the prediction of one task, in the order of the classes. Scaled to sum 1.
    ///
    /// # Panics
    /// If there is no such task.
    pub fn set(&mut self, task: usize, probabilities: &[f64]) -> Result<()> {
        let sum: f64 = probabilities.iter().sum();
        if probabilities.len() != self.classes {
            return Err(Error::Mismatch(format!(
                "found {} probabilities for a task, expected one for each of the {} classes",
                probabilities.len(),
                self.classes
            )));
        }
        if probabilities.iter().any(|p| p.is_nan() || *p < 0.0) || (sum - 1.0).abs() > SUM_SLACK {
            return Err(Error::Mismatch(format!(
                "the class probabilities {probabilities:?} of a task are not probabilities: expected numbers from 0 \
                 to 1 that sum to 1"
            )));
        }
        let row = &mut self.rows[task * self.classes..][..self.classes];
        for (cell, probability) in row.iter_mut().zip(probabilities) {
            *cell = probability / sum;
        }
        self.known[task] = true;
        Ok(())
    }

    /// One task's prediction, if it has one.
    pub fn row(&self, task: usize) -> Option<&[f64]> {
        self.known[task].then(|| &self.rows[task * self.classes..][..self.classes])
    }

    /// Number of tasks with a prediction.
    #[doc(hidden)]
    pub fn known_count(&self) -> usize {
        self.known.iter().filter(|known| **known).count()
    }

    /// Fails if these are not the probabilities of tasks like those of `annotations`.
    #[doc(hidden)]
    pub fn check(&self, annotations: &Annotations) -> Result<()> {
        if (self.known.len(), self.classes) == (annotations.task_count(), annotations.class_count()) {
            return Ok(());
        }
        Err(Error::Mismatch(format!(
            "class probabilities of {} tasks and {} classes do not fit annotations of {} tasks and {} classes",
            self.known.len(),
            self.classes,
            annotations.task_count(),
            annotations.class_count()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_checked_scaled_and_optional() {
        let annotations = Annotations::from_codes(2, 1, 2, [(0, 0, 1)]).unwrap();
        let mut probabilities = TaskProbabilities::none(&annotations);
        probabilities.set(0, &[0.26, 0.78]).unwrap();
        assert_eq!(probabilities.row(0), Some(&[0.25, 0.75][..]));
        assert_eq!((probabilities.row(1), probabilities.known_count()), (None, 1));
        for wrong in [&[1.0][..], &[0.5, f64::NAN], &[1.5, -0.5], &[0.2, 0.2]] {
            assert!(probabilities.set(1, wrong).is_err(), "{wrong:?}");
        }
        let other = Annotations::from_codes(3, 1, 2, [(0, 0, 1)]).unwrap();
        assert!(probabilities.check(&annotations).is_ok() && probabilities.check(&other).is_err());
    }
}
