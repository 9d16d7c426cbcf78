//! Which component of a factorisation is which class.
//!
//! The factors of the co-occurrences are known up to a common permutation of the classes. The permutation
//! that maximises the expected number of right answers
//!
//! ```text
//! sum_m c_m trace(A_m D P),        c_m: number of labels of worker m,  D: prior
//! ```
//!
//! is chosen by assignment. This is the assumption that most answers are better than chance. The prior
//! matters where classes are rare: two components can look like the most common class, one of them with
//! hardly any task behind it, and without the prior the common component may be left with a class that nobody
//! means.
//!
//! The margin says by how much the choice wins when all classes count alike, so that a rare class that is
//! hardly told apart shows.

use super::DawidSkene;
use crate::linalg::{assignment, small::add_scaled};

/// The chosen permutation and how clear the choice was.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// Class `k` is component `order[k]`.
    pub order: Vec<usize>,
    /// By how much the choice beats every other permutation in `sum_m c_m trace(A_m P)` over `sum_m c_m`; 0:
    /// a toss-up, or another one is ahead when classes count alike.
    pub margin: f64,
}

/// Finds the best permutation of the model's components, each worker weighted by its number of labels.
pub fn align_classes(model: &DawidSkene, labels_per_worker: &[u32]) -> Alignment {
    let classes = model.class_count();
    // alike[answer][component]: how much it gains to call `component` the class `answer`, classes alike.
    let mut alike = vec![0.0; classes * classes];
    let mut total = 0.0;
    for (worker, &labels) in labels_per_worker.iter().enumerate() {
        total += f64::from(labels);
        add_scaled(&mut alike, f64::from(labels), model.confusion(worker));
    }
    let prior = model.prior().iter().cycle();
    let expected: Vec<f64> = alike
        .iter()
        .zip(prior)
        .map(|(gain, prior)| gain * prior)
        .collect();
    let order = assignment::maximise(&expected, classes);
    let value = |order: &[usize]| -> f64 { (0..classes).map(|k| alike[k * classes + order[k]]).sum() };
    let chosen = value(&order);
    let mut margin = f64::INFINITY;
    // Every other permutation differs somewhere: forbid one pair of the chosen one at a time.
    for k in (0..classes).filter(|_| classes > 1) {
        let mut without = alike.clone();
        without[k * classes + order[k]] = -(total + 1.0) * classes as f64;
        let other = assignment::maximise(&without, classes);
        margin = margin.min(chosen - value(&other));
    }
    let known = margin.is_finite() && total > 0.0;
    let margin = if known { (margin / total).max(0.0) } else { 1.0 };
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
    fn the_common_component_is_not_left_with_a_class_that_nobody_means() {
        // As seen on classifiers that hardly ever answer the rare classes: components 0 and 2 both look like
        // class 0, and counted alike component 0 wins it (0.9 + 0.6 + 0.1 against 0.8 + 0.6 + 0.05), though
        // all tasks are component 2's.
        let block = vec![0.9, 0.2, 0.8, 0.05, 0.6, 0.1, 0.05, 0.2, 0.1];
        let model = DawidSkene::new(vec![0.05, 0.05, 0.9], block);
        let alignment = align_classes(&model, &[100]);
        assert_eq!(alignment.order, [2, 1, 0]);
        assert_eq!(alignment.margin, 0.0);
    }

    #[test]
    fn spammers_leave_no_margin() {
        let model = DawidSkene::new(vec![0.5, 0.5], vec![0.5; 4]);
        assert_eq!(align_classes(&model, &[10]).margin, 0.0);
    }
}
