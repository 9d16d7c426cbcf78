//! Reads the model off the nonnegative factor.
//!
//! Block m of `H = [A_1; ..; A_M] D^(1/2)` has column sums `s_m(k)`, each an estimate of `prior(k)^(1/2)`:
//!
//! ```text
//! A_m(., k) = H_m(., k) / s_m(k),      prior(k) ~ weighted median over workers of s_m(k)^2
//! ```
//!
//! A column whose sum is about zero says nothing about the worker: it becomes the distribution of the
//! worker's answers. The median makes the prior indifferent to the few workers whose block is far off.

use crate::linalg::small::{column_sums, normalise};
use crate::model::DawidSkene;

/// Column sums below this share of the largest one of the worker count as zero.
const EMPTY: f64 = 1e-9;

/// The model in the factor `h`, workers weighted by `weights` for the prior; `answers` are the workers'
/// answer shares `[worker][answer]`.
pub fn extract_model(h: &[f64], weights: &[f64], answers: &[f64], classes: usize) -> DawidSkene {
    let block = classes * classes;
    let mut confusion = h.to_vec();
    let mut squares: Vec<Vec<(f64, f64)>> = vec![Vec::with_capacity(weights.len()); classes];
    let matrices = confusion.chunks_exact_mut(block).zip(weights);
    for ((matrix, &weight), answers) in matrices.zip(answers.chunks_exact(classes)) {
        let sums = column_sums(matrix, classes);
        let largest = sums.iter().copied().fold(0.0, f64::max);
        for (k, &sum) in sums.iter().enumerate() {
            let empty = sum <= EMPTY * largest || sum <= f64::MIN_POSITIVE;
            for (a, &share) in answers.iter().enumerate() {
                let cell = &mut matrix[a * classes + k];
                *cell = if empty { share } else { *cell / sum };
            }
            squares[k].push((sum * sum, weight));
        }
    }
    let prior: Vec<f64> = squares.iter_mut().map(|values| weighted_median(values)).collect();
    let total: f64 = prior.iter().sum();
    // Keep every class possible: an empty median means "not seen by most workers", not "impossible".
    let floor = |p: &f64| if total > 0.0 { (p / total).max(1e-6) } else { 1.0 };
    let mut prior: Vec<f64> = prior.iter().map(floor).collect();
    normalise(&mut prior);
    DawidSkene::new(prior, confusion)
}

/// The value at which half of the weight is reached.
fn weighted_median(values: &mut [(f64, f64)]) -> f64 {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|value| value.1).sum();
    let mut sum = 0.0;
    let middle = values.iter().find(|(_, weight)| {
        sum += weight;
        sum >= total / 2.0
    });
    middle.map_or(0.0, |&(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symnmf::model_factor;

    #[test]
    fn reads_an_exact_factor_back() {
        let confusion = vec![0.9, 0.2, 0.1, 0.8, 0.6, 0.3, 0.4, 0.7];
        let model = DawidSkene::new(vec![0.3, 0.7], confusion);
        let found = extract_model(&model_factor(&model), &[1.0, 2.0], &[0.5; 4], 2);
        for (a, b) in found.confusions().iter().zip(model.confusions()) {
            assert!((a - b).abs() < 1e-12);
        }
        assert!((found.prior()[0] - 0.3).abs() < 1e-12);
    }

    #[test]
    fn an_empty_column_becomes_the_answer_shares() {
        let found = extract_model(&[0.5, 0.0, 0.5, 0.0], &[1.0], &[0.25, 0.75], 2);
        assert_eq!(found.confusion(0), [0.5, 0.25, 0.5, 0.75]);
        assert!(found.prior()[1] > 0.0);
        let nothing = extract_model(&[0.0; 4], &[1.0], &[0.25, 0.75], 2);
        assert_eq!(nothing.prior(), [0.5, 0.5]);
    }
}
