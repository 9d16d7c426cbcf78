//! Mean and variance over draws, and the interval of the Beta distribution that has them.

use crate::special::beta_quantile;

/// An estimate and the borders of its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Posterior mean.
    pub estimate: f64,
    /// Lower border.
    pub low: f64,
    /// Upper border.
    pub high: f64,
}

/// Sums over draws of a number between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RunningMoments {
    draws: f64,
    mean: f64,
    /// Sum of squared distances of the conditional means from their mean.
    spread: f64,
    /// Sum of the conditional variances.
    within: f64,
}

impl RunningMoments {
    /// Adds a draw in which the number has this mean and variance.
    pub(crate) fn add(&mut self, mean: f64, variance: f64) {
        self.draws += 1.0;
        let distance = mean - self.mean;
        self.mean += distance / self.draws;
        self.spread += distance * (mean - self.mean);
        self.within += variance;
    }

    /// Equal-tailed interval of the Beta distribution with the whole mean and variance, widened to hold the
    /// mean: where nearly all mass is at 0, the mean lies beyond the upper quantile.
    pub(crate) fn interval(&self, level: f64) -> Interval {
        let variance = self.within / self.draws + self.spread / (self.draws - 1.0);
        let mean = self.mean.clamp(0.0, 1.0);
        // A Beta distribution has a smaller variance than any two-point one with its mean.
        let largest = mean * (1.0 - mean);
        if variance <= 0.0 || largest <= 0.0 {
            return Interval {
                estimate: mean,
                low: mean,
                high: mean,
            };
        }
        let size = (largest / variance.min(0.999 * largest) - 1.0).max(1e-3);
        let (a, b) = (mean * size, (1.0 - mean) * size);
        let tail = (1.0 - level) / 2.0;
        Interval {
            estimate: mean,
            low: beta_quantile(a, b, tail).min(mean),
            high: beta_quantile(a, b, 1.0 - tail).max(mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_known_beta_gives_its_own_quantiles() {
        // Beta(3, 7): mean 0.3, variance 21 / (100 * 11). Quantiles from tables of the Beta distribution.
        let mut moments = RunningMoments::default();
        moments.add(0.3, 21.0 / 1100.0);
        moments.add(0.3, 21.0 / 1100.0);
        let interval = moments.interval(0.95);
        assert!((interval.low - 0.074_85).abs() < 1e-4, "{interval:?}");
        assert!((interval.high - 0.600_10).abs() < 1e-4, "{interval:?}");
        // Draws that differ widen it.
        let mut apart = RunningMoments::default();
        apart.add(0.2, 21.0 / 1100.0);
        apart.add(0.4, 21.0 / 1100.0);
        let wider = apart.interval(0.95);
        assert!(wider.low < interval.low && wider.high > interval.high);
    }

    #[test]
    fn what_is_certain_has_no_width_and_what_is_wild_stays_within_bounds() {
        let mut moments = RunningMoments::default();
        moments.add(1.0, 0.0);
        moments.add(1.0, 0.0);
        assert_eq!(
            moments.interval(0.95),
            Interval {
                estimate: 1.0,
                low: 1.0,
                high: 1.0
            }
        );
        let mut wild = RunningMoments::default();
        wild.add(0.0, 0.0);
        wild.add(1.0, 0.0);
        let interval = wild.interval(0.95);
        assert!(interval.low >= 0.0 && interval.high <= 1.0 && interval.low < interval.high);
    }
}
