//! Which component of a factorisation is which class.
//!
//! The factors of the co-occurrences are known up to a common permutation of the classes. The permutation
//! that maximises
//!
//! ```text
//! sum_m c_m trace(A_m P),        c_m: number of labels of worker m
//! ```
//!
//! is chosen by assignment. This is the assumption that most answers are better than chance; the margin says by
//! how much the best permutation wins.

use super::DawidSkene;
use crate::linalg::assignment;

/// The chosen permutation and how clear the choice was.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// Class `k` is component `order[k]`.
    pub order: Vec<usize>,
    /// Share of the labels by which the best permutation beats the next best one (0: a toss-up).
    pub margin: f64,
}

/// Finds the best permutation of the model's components, each worker weighted by its number of labels.
pub fn align_classes(model: &DawidSkene, labels_per_worker: &[u32]) -> Alignment {
    let classes = model.class_count();
    // gain[answer][component]: how much it gains to call `component` the class `answer`.
    let mut gain = vec![0.0; classes * classes];
    let mut total = 0.0;
    for (worker, &labels) in labels_per_worker.iter().enumerate() {
        total += f64::from(labels);
        for (cell, probability) in gain.iter_mut().zip(model.confusion(worker)) {
            *cell += f64::from(labels) * probability;
        }
    }
    let order = assignment::maximise(&gain, classes);
    let value = |order: &[usize]| -> f64 { (0..classes).map(|k| gain[k * classes + order[k]]).sum() };
    let best = value(&order);
    let mut margin = f64::INFINITY;
    for k in 0..classes {
        // The next best permutation differs somewhere: forbid one pair of the best at a time.
        if classes < 2 {
            break;
        }
        let mut without = gain.clone();
        without[k * classes + order[k]] = -(total + 1.0) * classes as f64;
        let other = assignment::maximise(&without, classes);
        margin = margin.min(best - value(&other));
    }
    let margin = if margin.is_finite() && total > 0.0 {
        margin / total
    } else {
        1.0
    };
    Alignment { order, margin }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_permutation_and_its_margin() {
        // Two workers, classes swapped: component 1 is class 0.
        let swapped = vec![0.1, 0.8, 0.9, 0.2];
        let model = DawidSkene::new(vec![0.3, 0.7], [swapped.clone(), swapped].concat());
        let alignment = align_classes(&model, &[3, 1]);
        assert_eq!(alignment.order, [1, 0]);
        assert!((alignment.margin - (1.7 - 0.3)).abs() < 1e-12);
        let aligned = model.with_truth_order(&alignment.order);
        assert_eq!(aligned.prior(), [0.7, 0.3]);
        assert_eq!(aligned.confusion(0), [0.8, 0.1, 0.2, 0.9]);
    }

    #[test]
    fn spammers_leave_no_margin() {
        let model = DawidSkene::new(vec![0.5, 0.5], vec![0.5; 4]);
        assert_eq!(align_classes(&model, &[10]).margin, 0.0);
    }
}
