//! Log-gamma, digamma, and the divergence of Dirichlet distributions.
//!
//! ```text
//! ln G(x) = ln G(x + n) - sum ln (x + i),      psi(x) = psi(x + n) - sum 1 / (x + i)      up to x + n >= 10, then
//! ln G(x) ~ (x - 1/2) ln x - x + ln(2 pi)/2 + 1/(12 x) - 1/(360 x^3) + 1/(1260 x^5) - 1/(1680 x^7) + 1/(1188 x^9)
//! psi(x)  ~ ln x - 1/(2 x) - 1/(12 x^2) + 1/(120 x^4) - 1/(252 x^6) + 1/(240 x^8) - 1/(132 x^10)
//! ```
//!
//! The first term left out is below 2e-14 at 10 in both.

/// From here on the asymptotic series is exact to rounding.
const SERIES_FROM: f64 = 10.0;

/// `ln(2 pi) / 2`.
const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_7;

/// `(ln gamma(x), digamma(x))` of a positive `x`: the two share most of their work.
pub fn ln_gamma_and_digamma(x: f64) -> (f64, f64) {
    let (mut x, mut product, mut reciprocals) = (x, 1.0, 0.0);
    while x < SERIES_FROM {
        product *= x;
        reciprocals += 1.0 / x;
        x += 1.0;
    }
    let (ln, inverse) = (x.ln(), 1.0 / x);
    let square = inverse * inverse;
    let gamma_series = inverse
        * (1.0 / 12.0
            + square * (-1.0 / 360.0 + square * (1.0 / 1260.0 + square * (-1.0 / 1680.0 + square / 1188.0))));
    let digamma_series = square
        * (1.0 / 12.0
            + square * (-1.0 / 120.0 + square * (1.0 / 252.0 + square * (-1.0 / 240.0 + square / 132.0))));
    (
        (x - 0.5) * ln - x + HALF_LN_TWO_PI + gamma_series - product.ln(),
        ln - 0.5 * inverse - digamma_series - reciprocals,
    )
}

/// Logarithm of the gamma function at a positive `x`.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    ln_gamma_and_digamma(x).0
}

/// Logarithmic derivative of the gamma function at a positive `x`.
pub fn digamma(x: f64) -> f64 {
    ln_gamma_and_digamma(x).1
}

/// Most terms of a sum that takes the place of two digammas.
const MAX_TERMS: f64 = 8.0;

/// `psi(x + count) - psi(x)` of a positive `x`; for a small whole number the sum `1 / x + .. + 1 / (x + count
/// - 1)`.
pub(crate) fn digamma_rise(x: f64, count: f64) -> f64 {
    if count <= MAX_TERMS && count.fract() == 0.0 {
        return (0..count as u32).map(|term| 1.0 / (x + f64::from(term))).sum();
    }
    digamma(x + count) - digamma(x)
}

/// Expected logarithms of a Dirichlet variable with the given parameters, written into `out`:
/// `E ln p_i = psi(a_i) - psi(sum a)`. Returns its divergence from the Dirichlet with parameters `base`,
///
/// ```text
/// KL = lnB(base) - lnB(a) + sum (a_i - base_i) E ln p_i,      lnB(a) = sum ln G(a_i) - ln G(sum a)
/// ```
pub fn expect_dirichlet_logs(parameters: &[f64], base: &[f64], out: &mut [f64]) -> f64 {
    let (ln_gamma_sum, digamma_sum) = ln_gamma_and_digamma(parameters.iter().sum());
    let mut divergence = ln_gamma_sum - ln_gamma_and_digamma(base.iter().sum()).0;
    for ((&a, &b), log) in parameters.iter().zip(base).zip(out) {
        let (ln_gamma, digamma) = ln_gamma_and_digamma(a);
        *log = digamma - digamma_sum;
        divergence += ln_gamma_and_digamma(b).0 - ln_gamma + (a - b) * *log;
    }
    divergence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rise_is_a_difference() {
        for x in [1e-3, 0.7, 4.0, 25.0] {
            for count in [0.0, 1.0, 3.0, 8.0, 9.0, 2.5, 0.1] {
                let (rise, difference) = (digamma_rise(x, count), digamma(x + count) - digamma(x));
                assert!(
                    (rise - difference).abs() < 1e-12 * (1.0 + rise),
                    "{x} {count} {rise} {difference}"
                );
            }
        }
    }

    #[test]
    fn known_values() {
        // psi(1) = -gamma, psi(1/2) = -gamma - 2 ln 2; gamma(1/2) = sqrt(pi), gamma(5) = 24.
        const EULER: f64 = 0.577_215_664_901_532_9;
        assert!((digamma(1.0) + EULER).abs() < 1e-13);
        assert!((digamma(0.5) + EULER + 2.0 * 2f64.ln()).abs() < 1e-13);
        assert!((ln_gamma_and_digamma(0.5).0 - std::f64::consts::PI.sqrt().ln()).abs() < 1e-13);
        assert!((ln_gamma_and_digamma(5.0).0 - 24f64.ln()).abs() < 1e-13);
    }

    #[test]
    fn recurrences_hold_across_the_border_of_the_series() {
        for x in [1e-3, 0.3, 3.7, 9.5, 10.5, 123.4, 1e6] {
            let ((ln_gamma, psi), (next_ln_gamma, next_psi)) =
                (ln_gamma_and_digamma(x), ln_gamma_and_digamma(x + 1.0));
            assert!((next_psi - psi - 1.0 / x).abs() < 1e-12 * (1.0 + 1.0 / x), "{x}");
            assert!(
                (next_ln_gamma - ln_gamma - x.ln()).abs() < 1e-14 * (10.0 + ln_gamma.abs() * 10.0),
                "{x}"
            );
        }
    }

    #[test]
    fn divergence_is_zero_at_home_and_positive_elsewhere() {
        let (base, mut logs) = ([4.0, 1.0, 1.0], [0.0; 3]);
        assert!(expect_dirichlet_logs(&base, &base, &mut logs).abs() < 1e-13);
        // Beta(2, 1) from Beta(1, 1): ln 2 + E ln p = ln 2 - 1/2.
        let divergence = expect_dirichlet_logs(&[2.0, 1.0], &[1.0, 1.0], &mut logs[..2]);
        assert!((divergence - (2f64.ln() - 0.5)).abs() < 1e-13);
        assert!((logs[0] + 0.5).abs() < 1e-13);
    }
}
