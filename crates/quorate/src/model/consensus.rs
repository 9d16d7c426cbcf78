//! The posterior over the classes for every task.

use std::ops::Range;

use crate::linalg::small::largest;
use crate::parallel::{even_ranges, map_ranges};

/// Probabilities closer than this count as tied. Sums of the same terms in another order differ by less, so
/// the label of a tied task does not depend on the order of rows.
pub const TIE: f64 = 1e-9;

/// Parts that tasks are cut into where all of them are looked at.
const PARTS: usize = 64;

/// One probability vector for each task.
#[derive(Debug, Clone, PartialEq)]
pub struct Consensus {
    classes: usize,
    probabilities: Vec<f64>,
}

impl Consensus {
    /// From the probabilities `[task][class]`, class fastest.
    ///
    /// # Panics
    /// If the length is not a multiple of the number of classes.
    pub fn new(classes: usize, probabilities: Vec<f64>) -> Self {
        assert!(
            classes > 0 && probabilities.len().is_multiple_of(classes),
            "a row for each task"
        );
        Self {
            classes,
            probabilities,
        }
    }

    /// All mass on one class for each task.
    pub fn one_hot(classes: usize, labels: impl IntoIterator<Item = usize>) -> Self {
        let mut probabilities = Vec::new();
        for label in labels {
            let row = probabilities.len();
            probabilities.resize(row + classes, 0.0);
            probabilities[row + label] = 1.0;
        }
        Self::new(classes, probabilities)
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.probabilities.len() / self.classes
    }

    /// Whether there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.probabilities.is_empty()
    }

    /// Number of classes.
    pub fn class_count(&self) -> usize {
        self.classes
    }

    /// One task's probabilities.
    pub fn row(&self, task: usize) -> &[f64] {
        &self.probabilities[task * self.classes..][..self.classes]
    }

    /// All probabilities, `[task][class]`.
    pub fn as_slice(&self) -> &[f64] {
        &self.probabilities
    }

    /// The probabilities, given up.
    pub fn into_vec(self) -> Vec<f64> {
        self.probabilities
    }

    /// The most probable class; of tied ones ([`TIE`]) the lowest.
    pub fn label(&self, task: usize) -> usize {
        label_of(self.row(task))
    }

    /// Probability of the task's label.
    pub fn confidence(&self, task: usize) -> f64 {
        self.row(task)[self.label(task)]
    }

    /// Share of the labels that are wrong if the confidence is right.
    pub fn expected_error(&self) -> f64 {
        let doubt = |tasks: Range<usize>| tasks.map(|task| 1.0 - largest(self.row(task))).sum::<f64>();
        let doubts = map_ranges(even_ranges(self.len(), PARTS), doubt);
        doubts.iter().sum::<f64>() / self.len().max(1) as f64
    }

    /// Number of tasks where several classes share the first place.
    pub fn tied_tasks(&self) -> usize {
        let tied = |tasks: Range<usize>| tasks.filter(|&task| self.tied(task) > 1).count();
        map_ranges(even_ranges(self.len(), PARTS), tied).iter().sum()
    }

    /// Number of classes that share the first place (1: no tie).
    pub fn tied(&self, task: usize) -> usize {
        leaders(self.row(task)).count()
    }

    /// The label of every task.
    pub fn labels(&self) -> Vec<usize> {
        (0..self.len()).map(|task| self.label(task)).collect()
    }
}

/// The classes that share the first place.
#[inline(always)]
pub fn leaders(row: &[f64]) -> impl Iterator<Item = usize> + '_ {
    let top = largest(row);
    (0..row.len()).filter(move |&k| row[k] >= top - TIE)
}

pub(crate) fn label_of(row: &[f64]) -> usize {
    leaders(row).next().unwrap_or(0)
}

/// Puts all mass of each row on its best class.
pub(crate) fn harden(rows: &mut [f64], classes: usize) {
    for row in rows.chunks_exact_mut(classes) {
        let best = label_of(row);
        row.fill(0.0);
        row[best] = 1.0;
    }
}

/// Lets `choose` pick the winner of each tie; the winner gets a hair of the mass of the other tied classes.
pub(crate) fn break_ties(rows: &mut [f64], classes: usize, mut choose: impl FnMut(&[usize]) -> usize) {
    let mut tied = Vec::with_capacity(classes);
    for row in rows.chunks_exact_mut(classes) {
        tied.clear();
        tied.extend(leaders(row));
        if tied.len() < 2 {
            continue;
        }
        let winner = choose(&tied);
        for &k in &tied {
            row[k] -= 2.0 * TIE;
        }
        row[winner] += 2.0 * TIE * tied.len() as f64;
    }
}

/// The tied class with the largest weight, the lowest of several.
pub(crate) fn heaviest(weights: &[f64], tied: &[usize]) -> usize {
    let heavier = |best, k| if weights[k] > weights[best] + TIE { k } else { best };
    tied.iter().copied().reduce(heavier).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_lowest_class_even_with_rounding() {
        let consensus = Consensus::new(3, vec![0.4 - 1e-12, 0.4, 0.2, 0.1, 0.2, 0.7]);
        assert_eq!(consensus.labels(), [0, 2]);
        assert_eq!((consensus.tied(0), consensus.tied(1)), (2, 1));
        assert_eq!(consensus.confidence(1), 0.7);
        assert_eq!(Consensus::one_hot(2, [1, 0]).as_slice(), [0.0, 1.0, 1.0, 0.0]);
    }
}
