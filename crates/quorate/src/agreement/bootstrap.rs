//! Percentile intervals by resampling tasks.
//!
//! A replicate draws as many tasks as there are, with replacement. Only the number of tasks of each pattern
//! matters, so it is drawn as such: a multinomial, by one binomial for each pattern given those before,
//!
//! ```text
//! w_1 ~ Bin(N, N_1/N),    w_2 ~ Bin(N - w_1, N_2/(N - N_1)),    ..
//! ```
//!
//! Each replicate has a random stream of its own: the result does not depend on threads. Replicates in which
//! a coefficient is undefined (no variation left) are left out; with fewer than half of them there is no
//! interval.

use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;

use crate::context::{Context, seeded};

/// Values of all coefficients in each replicate.
pub(super) fn resample(
    tasks: &[u64],
    replicates: usize,
    stream: u64,
    context: &Context,
    measure: impl Fn(&[u64]) -> Vec<Option<f64>> + Sync + Send,
) -> Vec<Vec<Option<f64>>> {
    let seed = context.seed();
    let replicate = |number: usize| {
        let mut rng = seeded(seed, stream + number as u64);
        let (mut left, mut rest): (u64, u64) = (tasks.iter().sum(), tasks.iter().sum());
        let draw = |&of_pattern: &u64| {
            let share = of_pattern as f64 / rest as f64;
            let drawn = match of_pattern {
                0 => 0,
                all if all == rest => left,
                _ => Binomial::new(left, share)
                    .expect("a share lies between 0 and 1")
                    .sample(&mut rng),
            };
            left -= drawn;
            rest -= of_pattern;
            drawn
        };
        let drawn: Vec<u64> = tasks.iter().map(draw).collect();
        measure(&drawn)
    };
    context.run(|| (0..replicates).into_par_iter().map(replicate).collect())
}

/// The percentile interval of one coefficient at this confidence.
pub(super) fn percentiles(
    replicates: &[Vec<Option<f64>>],
    coefficient: usize,
    confidence: f64,
) -> Option<(f64, f64)> {
    let values = replicates.iter().filter_map(|values| values[coefficient]);
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() || 2 * values.len() < replicates.len() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Some((quantile(&values, tail), quantile(&values, 1.0 - tail)))
}

/// Quantile of sorted values by linear interpolation between order statistics.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + part * (sorted[high] - sorted[low])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_right_sum_mean_and_variance() {
        let tasks = [50, 0, 30, 20];
        let drawn = resample(&tasks, 4000, 0, &Context::new(3), |drawn| {
            assert_eq!(drawn.iter().sum::<u64>(), 100);
            drawn.iter().map(|&count| Some(count as f64)).collect()
        });
        for (pattern, &expected) in tasks.iter().enumerate() {
            let mean = drawn.iter().map(|row| row[pattern].unwrap()).sum::<f64>() / 4000.0;
            let expected = expected as f64;
            let variance = expected * (1.0 - expected / 100.0);
            // Five standard deviations of the mean.
            assert!((mean - expected).abs() <= 5.0 * (variance / 4000.0).sqrt());
            let spread = drawn
                .iter()
                .map(|row| (row[pattern].unwrap() - expected).powi(2))
                .sum::<f64>()
                / 4000.0;
            assert!((spread - variance).abs() <= 5.0 * variance * (2.0f64 / 4000.0).sqrt());
        }
    }

    #[test]
    fn quantiles_interpolate() {
        let rows: Vec<_> = (0..=100)
            .rev()
            .map(|value| vec![Some(f64::from(value))])
            .collect();
        let (low, high) = percentiles(&rows, 0, 0.95).unwrap();
        assert!((low - 2.5).abs() < 1e-12 && (high - 97.5).abs() < 1e-12);
        let mostly_undefined: Vec<_> = (0..9).map(|value| vec![(value < 4).then_some(1.0)]).collect();
        assert_eq!(percentiles(&mostly_undefined, 0, 0.95), None);
    }
}
