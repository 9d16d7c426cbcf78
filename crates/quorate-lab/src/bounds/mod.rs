//! The theorems' bounds, measured.

mod contraction;
mod designated;
mod robust;

pub(crate) use contraction::run as run_contraction;
pub(crate) use designated::run as run_designated;
pub(crate) use robust::run as run_robust;

use rand::{Rng, RngExt};

use crate::statistics::{Line, fit_line};
use quorate_report::figure::{Mark, Series};

/// Shares of the cells in `samples` draws from a block.
fn sampled_block(block: &[f64], samples: usize, rng: &mut impl Rng) -> Vec<f64> {
    let mut counts = vec![0.0; block.len()];
    // Conditional binomials cost the same for any number of draws.
    let (mut left, mut mass) = (samples as u64, 1.0f64);
    for (count, &share) in counts.iter_mut().zip(block) {
        let probability = if mass > 0.0 {
            (share / mass).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let drawn = match rand_distr::Binomial::new(left, probability) {
            Ok(binomial) => rng.sample(binomial),
            Err(_) => 0,
        };
        *count = drawn as f64 / samples as f64;
        left -= drawn;
        mass -= share;
    }
    // What rounding of the masses left over belongs to the last cell.
    if let Some(last) = counts.last_mut() {
        *last += left as f64 / samples as f64;
    }
    counts
}

/// The Frobenius distance of two matrices.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        .sqrt()
}

/// The line through points in log-log.
fn power_law(points: &[(f64, f64)]) -> Option<Line> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    fit_line(&logs)
}

/// "-0.50 ± 0.01".
fn slope_words(line: Option<Line>) -> String {
    match line {
        Some(Line {
            slope,
            slope_error: Some(error),
            ..
        }) => format!("{slope:.2} ± {error:.2}"),
        Some(Line { slope, .. }) => format!("{slope:.2}"),
        None => "none".into(),
    }
}

/// A line of this slope through the middle of the points, in log-log.
fn theory_line(name: &str, points: &[(f64, f64)], slope: f64) -> Series {
    let middle = points[points.len() / 2];
    let at = |x: f64| (x, middle.1 * (x / middle.0).powf(slope));
    Series::new(
        name,
        Mark::Theory,
        vec![at(points[0].0), at(points[points.len() - 1].0)],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::internal::seeded;

    #[test]
    fn sampled_blocks_sum_to_one_and_come_near_the_block() {
        let block = [0.4, 0.1, 0.0, 0.5];
        let sampled = sampled_block(&block, 100_000, &mut seeded(1, 2));
        assert!((sampled.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(sampled[2], 0.0);
        // Five standard deviations of the norm.
        assert!(distance(&sampled, &block) < 5.0 / 100_000f64.sqrt());
    }

    #[test]
    fn a_power_law_is_a_line_in_logarithms() {
        let points: Vec<(f64, f64)> = [1.0f64, 10.0, 100.0].map(|x| (x, 3.0 * x.powf(-0.5))).to_vec();
        let line = power_law(&points).unwrap();
        assert!((line.slope + 0.5).abs() < 1e-12);
        let theory = theory_line("t", &points, -0.5);
        assert!((theory.points[1].1 - points[2].1).abs() < 1e-12);
    }
}
