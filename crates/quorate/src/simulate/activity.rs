//! How busy each worker is.
//!
//! ```text
//! w_m = rank(m)^-s,        p_m = min(1, c w_m),        mean of p_m = p
//! ```

use rand::Rng;
use rand::seq::SliceRandom;

/// Weights `rank^-exponent`, the ranks in random order; all 1 for exponent 0.
pub(super) fn draw_weights(count: usize, exponent: f64, rng: &mut impl Rng) -> Vec<f64> {
    let mut weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-exponent)).collect();
    weights.shuffle(rng);
    weights
}

/// Probabilities proportional to the weights with the given mean; what would exceed 1 stays at 1 and the
/// others make up for it.
pub(super) fn probabilities_with_mean(weights: &[f64], mean: f64) -> Vec<f64> {
    let mut rising = weights.to_vec();
    rising.sort_unstable_by(f64::total_cmp);
    // Sums from the small end: to subtract the large weights from the whole would lose the small ones.
    let mut sums = rising.clone();
    for index in 1..sums.len() {
        sums[index] += sums[index - 1];
    }
    let mut expected = mean * weights.len() as f64;
    let mut scale = 0.0;
    for (weight, sum) in rising.iter().zip(&sums).rev() {
        scale = expected / sum;
        if scale * weight <= 1.0 {
            break;
        }
        // This one is always there: it takes 1 of the expected labels.
        expected -= 1.0;
    }
    weights.iter().map(|weight| (scale * weight).min(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::seeded;

    #[test]
    fn weights_follow_the_power_law() {
        let mut weights = draw_weights(4, 2.0, &mut seeded(1, 0));
        weights.sort_unstable_by(|a, b| b.total_cmp(a));
        assert_eq!(weights, [1.0, 1.0 / 4.0, 1.0 / 9.0, 1.0 / 16.0]);
        assert_eq!(draw_weights(3, 0.0, &mut seeded(1, 0)), [1.0; 3]);
    }

    #[test]
    fn the_mean_is_kept_when_some_are_always_there() {
        // By hand: the first is capped; 0.5 expected labels remain over weights 3 and 1.
        assert_eq!(
            probabilities_with_mean(&[3.0, 96.0, 1.0], 0.5),
            [0.375, 1.0, 0.125]
        );
        for mean in [0.0, 0.01, 0.3, 0.5, 0.9, 1.0] {
            for exponent in [0.0, 0.5, 1.0, 3.0, 10.0] {
                let weights = draw_weights(50, exponent, &mut seeded(2, 0));
                let probabilities = probabilities_with_mean(&weights, mean);
                let found = probabilities.iter().sum::<f64>() / 50.0;
                assert!((found - mean).abs() < 1e-9, "{mean} {exponent} {found}");
            }
        }
    }
}
