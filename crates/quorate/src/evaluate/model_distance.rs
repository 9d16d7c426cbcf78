//! How far an estimated model is from the true one, up to a permutation of the classes.
//!
//! ```text
//! MSE = min over P of [ sum_m |A_m^est P - A_m|_F^2 + |P^T prior^est - prior|^2 ] / (M K + 1)
//! ```
//!
//! One permutation for the prior and all workers. The sum splits into pairs (class k, component j) with cost
//! `sum_m |A_m^est(:, j) - A_m(:, k)|^2 + (prior^est(j) - prior(k))^2`, so assignment finds the minimum
//! exactly. `O(M K^3 + K^3)` time.

use crate::linalg::assignment;
use crate::{DawidSkene, Error, Result};

/// The distance of two models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelDistance {
    /// The paper's mean squared error.
    pub mse: f64,
    /// L1 distance of two columns of confusion matrices, averaged over workers and classes: 0 to 2.
    pub mean_l1: f64,
    /// Class k of the truth is component `order[k]` of the estimate:
    /// [`with_truth_order`](DawidSkene::with_truth_order) of the estimate puts it in the order of the truth.
    pub order: Vec<usize>,
}

/// The distance for the best permutation of the estimate's components.
pub fn model_distance(estimate: &DawidSkene, truth: &DawidSkene) -> Result<ModelDistance> {
    check_sizes(estimate, truth)?;
    let classes = truth.class_count();
    // cost[class][component]
    let mut cost = vec![0.0; classes * classes];
    let mut add_row = |estimate: &[f64], truth: &[f64]| {
        for (costs, truth) in cost.chunks_exact_mut(classes).zip(truth) {
            for (cost, estimate) in costs.iter_mut().zip(estimate) {
                *cost += (estimate - truth).powi(2);
            }
        }
    };
    add_row(estimate.prior(), truth.prior());
    rows(estimate)
        .zip(rows(truth))
        .for_each(|(estimate, truth)| add_row(estimate, truth));
    let order = assignment::minimise(&cost, classes);
    distance_with_permutation(estimate, truth, &order)
}

/// The distance when class k is taken to be component `order[k]` of the estimate.
pub fn distance_with_permutation(
    estimate: &DawidSkene,
    truth: &DawidSkene,
    order: &[usize],
) -> Result<ModelDistance> {
    check_sizes(estimate, truth)?;
    let classes = truth.class_count();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..classes) {
        return Err(Error::Mismatch(format!(
            "{order:?} is not an order of {classes} classes"
        )));
    }
    let (mut squares, mut absolute) = (0.0, 0.0);
    for (k, &component) in order.iter().enumerate() {
        squares += (estimate.prior()[component] - truth.prior()[k]).powi(2);
    }
    for (estimate, truth) in rows(estimate).zip(rows(truth)) {
        for (&component, truth) in order.iter().zip(truth) {
            let difference = estimate[component] - truth;
            squares += difference * difference;
            absolute += difference.abs();
        }
    }
    let columns = (truth.worker_count() * classes) as f64;
    Ok(ModelDistance {
        mse: squares / (columns + 1.0),
        mean_l1: if columns > 0.0 { absolute / columns } else { 0.0 },
        order: order.to_vec(),
    })
}

/// The rows of all confusion matrices: one worker and answer each.
fn rows(model: &DawidSkene) -> impl Iterator<Item = &[f64]> {
    model.confusions().chunks_exact(model.class_count())
}

fn check_sizes(estimate: &DawidSkene, truth: &DawidSkene) -> Result<()> {
    let sizes = |model: &DawidSkene| (model.worker_count(), model.class_count());
    if sizes(estimate) != sizes(truth) {
        let ((workers, classes), (true_workers, true_classes)) = (sizes(estimate), sizes(truth));
        return Err(Error::Mismatch(format!(
            "an estimate of {workers} workers and {classes} classes cannot be compared with a truth of \
             {true_workers} workers and {true_classes} classes"
        )));
    }
    for (name, model) in [("estimate", estimate), ("truth", truth)] {
        let mut numbers = model.prior().iter().chain(model.confusions());
        if let Some(number) = numbers.find(|number| !number.is_finite()) {
            return Err(Error::Mismatch(format!("the {name} contains {number}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simulate::Simulation;

    fn orders(classes: usize) -> Vec<Vec<usize>> {
        let all = (0..classes.pow(classes as u32)).map(|code| {
            (0..classes as u32)
                .map(|place| code / classes.pow(place) % classes)
                .collect::<Vec<_>>()
        });
        let distinct = |order: &Vec<usize>| (0..classes).all(|class| order.contains(&class));
        all.filter(distinct).collect()
    }

    /// The formula, written out with a permutation matrix.
    fn naive(estimate: &DawidSkene, truth: &DawidSkene, order: &[usize]) -> f64 {
        let (workers, classes) = (truth.worker_count(), truth.class_count());
        let p = |component: usize, k: usize| f64::from(u8::from(order[k] == component));
        let mut sum = 0.0;
        for k in 0..classes {
            let prior: f64 = (0..classes).map(|j| p(j, k) * estimate.prior()[j]).sum();
            sum += (prior - truth.prior()[k]).powi(2);
            for m in 0..workers {
                for a in 0..classes {
                    let cell: f64 = (0..classes)
                        .map(|j| estimate.probability(m, a, j) * p(j, k))
                        .sum();
                    sum += (cell - truth.probability(m, a, k)).powi(2);
                }
            }
        }
        sum / (workers * classes + 1) as f64
    }

    fn random_model(classes: usize, workers: usize, seed: u64) -> DawidSkene {
        let settings = Simulation {
            tasks: 20,
            workers,
            classes,
            ..Simulation::default()
        };
        let settings = Simulation {
            coverage: crate::simulate::Coverage::PerTask(1),
            ..settings
        };
        settings.run(seed).unwrap().model
    }

    #[test]
    fn worked_example() {
        let truth = DawidSkene::new(vec![0.75, 0.25], vec![1.0, 0.0, 0.0, 1.0]);
        let estimate = DawidSkene::new(vec![0.5, 0.5], vec![0.25, 1.0, 0.75, 0.0]);
        let distance = model_distance(&estimate, &truth).unwrap();
        assert_eq!(distance.order, [1, 0]);
        // Prior: 2 (1/4)^2. Columns: (1, 0) exact, (0.25, 0.75) against (0, 1): 2 (1/4)^2, L1 1/2.
        assert_eq!(distance.mse, (0.125 + 0.125) / 3.0);
        assert_eq!(distance.mean_l1, 0.25);
        let as_it_is = distance_with_permutation(&estimate, &truth, &[0, 1]).unwrap();
        assert!(as_it_is.mse > distance.mse);
    }

    #[test]
    fn sizes_numbers_and_orders_are_checked() {
        let two = DawidSkene::new(vec![0.5, 0.5], vec![0.5; 4]);
        let three = random_model(3, 1, 1);
        assert!(model_distance(&two, &three).is_err());
        assert!(distance_with_permutation(&two, &two, &[0, 0]).is_err());
        let broken = DawidSkene::new(vec![0.5, 0.5], vec![f64::NAN; 4]);
        assert!(
            model_distance(&broken, &two)
                .unwrap_err()
                .to_string()
                .contains("NaN")
        );
        let nobody = DawidSkene::new(vec![0.5, 0.5], vec![]);
        assert_eq!(model_distance(&nobody, &nobody).unwrap().mean_l1, 0.0);
    }

    proptest! {
        #[test]
        fn the_best_of_all_permutations(classes in 1usize..5, workers in 1usize..5, seed in 0u64..1000) {
            let truth = random_model(classes, workers, seed);
            let estimate = random_model(classes, workers, seed + 1000);
            let found = model_distance(&estimate, &truth).unwrap();
            let values = orders(classes).into_iter().map(|order| naive(&estimate, &truth, &order));
            let best = values.fold(f64::INFINITY, f64::min);
            prop_assert!((found.mse - best).abs() < 1e-12);
            prop_assert!((naive(&estimate, &truth, &found.order) - best).abs() < 1e-12);
        }

        #[test]
        fn a_permuted_model_is_the_same_model(classes in 1usize..7, seed in 0u64..1000, shift in 0usize..6) {
            let truth = random_model(classes, 4, seed);
            let other = random_model(classes, 4, seed + 1000);
            let order: Vec<_> = (0..classes).map(|k| (k + shift) % classes).collect();
            let permuted = truth.with_truth_order(&order);
            let found = model_distance(&permuted, &truth).unwrap();
            prop_assert_eq!((found.mse, found.mean_l1), (0.0, 0.0));
            prop_assert_eq!(permuted.with_truth_order(&found.order), truth.clone());
            let (straight, turned) = (model_distance(&other, &truth), model_distance(&other.with_truth_order(&order), &truth));
            prop_assert!((straight.unwrap().mse - turned.unwrap().mse).abs() < 1e-12);
        }
    }
}
