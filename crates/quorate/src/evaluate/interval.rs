//! The Wilson interval of a proportion.
//!
//! ```text
//! (p + z^2/2n  +-  z sqrt(p (1 - p) / n + z^2/4n^2)) / (1 + z^2/n),        p = successes / n
//! ```
//!
//! Unlike the textbook interval it keeps within [0, 1] and is honest for few tasks and for no errors at all
//! (Wilson 1927; Brown, Cai and DasGupta 2001).

/// The 97.5 % point of the normal distribution: two-sided 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// 95 % interval of the probability behind `successes` of `trials`; (0, 1) without trials.
pub fn wilson_interval(successes: f64, trials: usize) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let n = trials as f64;
    let p = successes / n;
    let scale = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    // At 0 and n successes the border is exactly 0 or 1; rounding should not say otherwise.
    let low = if successes <= 0.0 {
        0.0
    } else {
        (centre - half).max(0.0)
    };
    let high = if successes >= n {
        1.0
    } else {
        (centre + half).min(1.0)
    };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_solve_the_defining_equation() {
        // Wilson: the borders are where |p - border| = z sqrt(border (1 - border) / n).
        for (successes, trials) in [(1.0, 10), (37.0, 200), (0.5, 3), (199.0, 200)] {
            let n = trials as f64;
            let (low, high) = wilson_interval(successes, trials);
            for border in [low, high] {
                let distance = (successes / n - border).abs();
                assert!((distance - Z * (border * (1.0 - border) / n).sqrt()).abs() < 1e-12);
            }
            assert!(low < successes / n && successes / n < high);
        }
    }

    #[test]
    fn no_error_and_nothing_but_errors() {
        // At p = 0 the upper border is z^2 / (n + z^2).
        let (low, high) = wilson_interval(0.0, 20);
        assert!(low == 0.0 && (high - Z * Z / (20.0 + Z * Z)).abs() < 1e-15);
        let (low, high) = wilson_interval(20.0, 20);
        assert!(high == 1.0 && (low - 20.0 / (20.0 + Z * Z)).abs() < 1e-15);
        assert_eq!(wilson_interval(0.0, 0), (0.0, 1.0));
    }
}
