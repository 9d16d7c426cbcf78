//! Numbers that describe the tasks: what a network sees of an image or a text.
//!
//! Side data of a fit, lined up with the tasks of its annotations: a row of `width` numbers for each task.
//! Methods that learn from features need a row for every task, so a missing one is an error that names the
//! task.

use crate::{Annotations, Error, Result};

/// A row of numbers for each task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFeatures {
    width: usize,
    /// `[task][feature]`; zeros where nothing is known.
    rows: Vec<f32>,
    known: Vec<bool>,
}

impl TaskFeatures {
    /// Rows of `width` numbers, none of them known yet.
    pub fn none(annotations: &Annotations, width: usize) -> Self {
        Self {
            width,
            rows: vec![0.0; annotations.task_count() * width],
            known: vec![false; annotations.task_count()],
        }
    }

    /// Sets the features of one task.
    ///
    /// # Panics
    /// If there is no such task.
    pub fn set(&mut self, task: usize, features: &[f32]) -> Result<()> {
        let (given, width) = (features.len(), self.width);
        if given != width {
            let problem = format!("found {given} features for a task, expected {width}");
            return Err(Error::Mismatch(problem));
        }
        if let Some(place) = features.iter().position(|value| !value.is_finite()) {
            return Err(Error::Mismatch(format!(
                "feature {} of a task is {}, expected a finite number: fill gaps in before",
                place + 1,
                features[place]
            )));
        }
        self.rows[task * self.width..][..self.width].copy_from_slice(features);
        self.known[task] = true;
        Ok(())
    }

    /// Numbers in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether a task has features.
    pub fn is_known(&self, task: usize) -> bool {
        self.known[task]
    }

    /// One task's features; zeros where nothing is known.
    pub fn row(&self, task: usize) -> &[f32] {
        &self.rows[task * self.width..][..self.width]
    }

    /// Fails unless every task of `annotations` has features.
    #[doc(hidden)]
    pub fn check(&self, annotations: &Annotations) -> Result<()> {
        const SHOWN: usize = 3;
        let (known, tasks) = (self.known.len(), annotations.task_count());
        if known != tasks {
            let problem = format!("features of {known} tasks do not fit annotations of {tasks} tasks");
            return Err(Error::Mismatch(problem));
        }
        let missing: Vec<usize> = (0..self.known.len()).filter(|&task| !self.known[task]).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let shown = missing
            .iter()
            .take(SHOWN)
            .map(|&task| annotations.tasks().get(task));
        let names = shown
            .map(|name| format!("{name:?}"))
            .collect::<Vec<_>>()
            .join(", ");
        let more = if missing.len() > SHOWN { ", .." } else { "" };
        let count = missing.len();
        Err(Error::Mismatch(format!(
            "{count} of {known} tasks have no features ({names}{more}): every task needs a row of them"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_needs_a_row_of_finite_numbers() {
        let annotations = Annotations::from_codes(2, 1, 2, [(0, 0, 1)]).unwrap();
        let mut features = TaskFeatures::none(&annotations, 2);
        features.set(0, &[0.5, -3.0]).unwrap();
        assert_eq!((features.row(0), features.is_known(1)), (&[0.5, -3.0][..], false));
        for wrong in [&[1.0][..], &[1.0, f32::NAN], &[f32::INFINITY, 0.0]] {
            assert!(features.set(1, wrong).is_err(), "{wrong:?}");
        }
        let message = features.check(&annotations).unwrap_err().to_string();
        assert_eq!(
            message,
            "1 of 2 tasks have no features (\"t1\"): every task needs a row of them"
        );
        features.set(1, &[0.0, 0.0]).unwrap();
        let other = Annotations::from_codes(3, 1, 2, [(0, 0, 1)]).unwrap();
        assert!(features.check(&annotations).is_ok() && features.check(&other).is_err());
    }
}
