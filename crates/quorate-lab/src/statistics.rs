//! Means, spreads and straight lines over trials.

use serde::Serialize;

/// The mean of some numbers; NaN of none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle of some numbers (the mean of the two in the middle); NaN of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => (sorted[even / 2 - 1] + sorted[even / 2]) / 2.0,
    }
}

/// The median of one number of each item.
pub(crate) fn median_of<T>(items: &[T], number: impl Fn(&T) -> f64) -> f64 {
    median(&items.iter().map(number).collect::<Vec<_>>())
}

/// Spearman's correlation of ranks: 1 for the same order, -1 for the opposite one. NaN where one side is
/// constant.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let below = |x: &f64| values.iter().filter(|y| *y < x).count() as f64;
        let equal = |x: &f64| values.iter().filter(|y| *y == x).count() as f64;
        values.iter().map(|x| below(x) + equal(x) / 2.0).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let (center_a, center_b) = (mean(&a), mean(&b));
    let products = |x: &[f64], cx: f64, y: &[f64], cy: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - cx) * (y - cy)).sum()
    };
    let own = |x: &[f64], center| products(x, center, x, center);
    products(&a, center_a, &b, center_b) / (own(&a, center_a) * own(&b, center_b)).sqrt()
}

/// What came out over the trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Mean over the trials.
    pub mean: f64,
    /// Standard deviation over the trials (n - 1); none of a single trial.
    pub spread: Option<f64>,
    /// Median over the trials.
    pub median: f64,
    /// Number of trials.
    pub trials: usize,
}

impl Summary {
    /// Of at least one number.
    pub fn of(values: &[f64]) -> Self {
        assert!(!values.is_empty(), "a summary of no trial");
        let average = mean(values);
        let squares: f64 = values.iter().map(|value| (value - average).powi(2)).sum();
        Self {
            mean: average,
            spread: (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt()),
            median: median(values),
            trials: values.len(),
        }
    }
}

/// A straight line through points.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Line {
    /// Rise for each step to the right.
    pub slope: f64,
    /// Height at 0.
    pub intercept: f64,
    /// Standard error of the slope; none for two points.
    pub slope_error: Option<f64>,
}

/// The least-squares line; none for fewer than two different x.
pub fn fit_line(points: &[(f64, f64)]) -> Option<Line> {
    let n = points.len() as f64;
    let (mean_x, mean_y) = (
        points.iter().map(|point| point.0).sum::<f64>() / n,
        points.iter().map(|point| point.1).sum::<f64>() / n,
    );
    let across: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
    if points.len() < 2 || across <= 0.0 {
        return None;
    }
    let slope = points
        .iter()
        .map(|point| (point.0 - mean_x) * (point.1 - mean_y))
        .sum::<f64>()
        / across;
    let intercept = mean_y - slope * mean_x;
    let residual: f64 = points
        .iter()
        .map(|point| (point.1 - intercept - slope * point.0).powi(2))
        .sum();
    Some(Line {
        slope,
        intercept,
        slope_error: (points.len() > 2).then(|| (residual / (n - 2.0) / across).sqrt()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_see_order_alone() {
        assert!((rank_correlation(&[1.0, 2.0, 9.0], &[-3.0, 0.0, 0.1]) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        // Ranks 1, 2.5, 2.5 against 1, 2, 3: covariance 1.5, variances 1.5 and 2.
        let tied = rank_correlation(&[0.0, 5.0, 5.0], &[1.0, 2.0, 3.0]);
        assert!((tied - 1.5 / 3f64.sqrt()).abs() < 1e-12, "{tied}");
    }

    #[test]
    fn worked_examples() {
        let summary = Summary::of(&[1.0, 2.0, 6.0]);
        assert_eq!((summary.mean, summary.median, summary.trials), (3.0, 2.0, 3));
        assert!((summary.spread.unwrap() - 7f64.sqrt()).abs() < 1e-12);
        assert_eq!(Summary::of(&[4.0]).spread, None);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn a_line_goes_through_points_on_a_line_and_not_through_a_column() {
        let line = fit_line(&[(1.0, 1.0), (2.0, -1.0), (4.0, -5.0)]).unwrap();
        assert!((line.slope + 2.0).abs() < 1e-12 && (line.intercept - 3.0).abs() < 1e-12);
        assert!(line.slope_error.unwrap() < 1e-12);
        assert_eq!(fit_line(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(fit_line(&[]), None);
        // Residuals 1/3, -2/3, 1/3 over x = -1, 0, 1: s^2 = 6/9, error = (6/9 / 2)^(1/2).
        let bent = fit_line(&[(-1.0, 1.0), (0.0, 0.0), (1.0, 1.0)]).unwrap();
        assert!((bent.slope_error.unwrap() - (2.0f64 / 3.0 / 2.0).sqrt()).abs() < 1e-12);
    }
}
