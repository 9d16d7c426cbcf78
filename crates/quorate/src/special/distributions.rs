//! Tails and quantiles of distributions.
//!
//! ```text
//! P(a, x) = 1/Gamma(a) integral_0^x t^(a-1) e^-t dt          I_x(a, b) = 1/B(a,b) integral_0^x t^(a-1) (1-t)^(b-1) dt
//! chi-square:        Pr(X >= x) = 1 - P(df/2, x/2)
//! normal:            Pr(Z >= z) = (1 - P(1/2, z^2/2)) / 2   for z >= 0
//! Poisson:           Pr(Y >= y) = P(y, mean)
//! negative binomial: Pr(Y >= y) = I_{t mean / (1 + t mean)}(y, 1/t),   variance mean + t mean^2
//! noncentral chi-square: Pr(X <= x) = sum_i Poisson(i; d/2) P(df/2 + i, x/2)
//! ```
//!
//! Series where they converge fast, continued fractions (by Lentz' method) elsewhere; about 12 digits.

use super::gamma::ln_gamma;

/// P(a, x), the regularised lower incomplete gamma function.
fn gamma_p(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return if a > 0.0 { 0.0 } else { 1.0 };
    }
    if a <= 0.0 {
        return 1.0;
    }
    let scale = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-16 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return (scale * sum).min(1.0);
    }
    1.0 - upper_fraction(a, x) * scale
}

/// 1 - P(a, x), accurate where it is small.
fn gamma_q(a: f64, x: f64) -> f64 {
    if x <= 0.0 || a <= 0.0 || x < a + 1.0 {
        return 1.0 - gamma_p(a, x);
    }
    upper_fraction(a, x) * (a * x.ln() - x - ln_gamma(a)).exp()
}

fn upper_fraction(a: f64, x: f64) -> f64 {
    let term = |i: usize| {
        let n = i as f64;
        (n * (a - n), x + 2.0 * n + 1.0 - a)
    };
    1.0 / (x + 1.0 - a + continued_fraction(term))
}

/// `a_1 / (b_1 + a_2 / (b_2 + ..))` by Lentz' method.
fn continued_fraction(term: impl Fn(usize) -> (f64, f64)) -> f64 {
    const TINY: f64 = 1e-300;
    let (mut value, mut c, mut d) = (TINY, TINY, 0.0);
    for i in 1..10_000 {
        let (a, b) = term(i);
        let guard = |x: f64| if x.abs() < TINY { TINY } else { x };
        d = 1.0 / guard(b + a * d);
        c = guard(b + a / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// I_x(a, b), the regularised incomplete beta function.
fn beta_i(x: f64, a: f64, b: f64) -> f64 {
    beta_i_given(x, a, b, ln_beta(a, b))
}

/// ln B(a, b).
fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// I_x(a, b) given ln B(a, b).
fn beta_i_given(x: f64, a: f64, b: f64, ln_beta: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast below the mean; above it the mirror image does.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_i_given(1.0 - x, b, a, ln_beta);
    }
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta).exp() / a;
    let term = |i: usize| {
        let m = (i / 2) as f64;
        let numerator = match i % 2 {
            0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        (numerator, 1.0)
    };
    front / (1.0 + continued_fraction(term))
}

/// Pr(Z >= z) of the standard normal distribution.
pub(crate) fn normal_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_tail(-z);
    }
    0.5 * gamma_q(0.5, z * z / 2.0)
}

/// Pr(Y >= y) of counts with this mean and variance `mean + t mean^2`: Poisson for t = 0, else negative
/// binomial. Defined for y that are not whole by the same integrals.
pub(crate) fn count_tail(y: f64, mean: f64, t: f64) -> f64 {
    if y <= 0.0 {
        return 1.0;
    }
    if t * mean < 1e-9 {
        return gamma_p(y, mean);
    }
    beta_i(t * mean / (1.0 + t * mean), y, 1.0 / t)
}

/// The z with Pr(Z >= z) = tail, by bisection.
pub fn normal_quantile(tail: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        *(if normal_tail(middle) > tail {
            &mut low
        } else {
            &mut high
        }) = middle;
    }
    0.5 * (low + high)
}

/// The number below which a Beta(a, b) variable falls with this probability: Halley's method (Newton's with
/// the slope of the density), bisecting where it would leave the bracket.
pub(crate) fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    let ln_beta = ln_beta(a, b);
    let (mut low, mut high) = (0.0, 1.0);
    let mut x = a / (a + b);
    // Near 0 the integral is x^a / (a B(a, b)), near 1 its mirror image: a better start than the mean where
    // it holds.
    let corners = [
        (((a * probability).ln() + ln_beta) / a).exp(),
        1.0 - (((b * (1.0 - probability)).ln() + ln_beta) / b).exp(),
    ];
    if probability < 0.5 && corners[0] < 0.5 * x {
        x = corners[0].max(f64::MIN_POSITIVE);
    } else if probability > 0.5 && 1.0 - corners[1] < 0.5 * (1.0 - x) {
        x = corners[1].min(1.0 - f64::EPSILON);
    }
    for _ in 0..100 {
        let above = beta_i_given(x, a, b, ln_beta) - probability;
        (low, high) = if above < 0.0 { (x, high) } else { (low, x) };
        let density = ((a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p() - ln_beta).exp();
        let newton = above / density;
        let slope = (a - 1.0) / x - (b - 1.0) / (1.0 - x);
        let halley = x - newton / (1.0 - (0.5 * newton * slope).clamp(-1.0, 0.5));
        let inside = halley > low && halley < high;
        let next = if inside { halley } else { 0.5 * (low + high) };
        if (next - x).abs() <= 1e-12 || high - low < 1e-12 {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, wanted: f64) {
        assert!(
            (found - wanted).abs() < 1e-10 * wanted.abs().max(1.0),
            "{found} {wanted}"
        );
    }

    #[test]
    fn gamma_at_known_points() {
        close(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln());
        close(ln_gamma(11.0), 3_628_800f64.ln());
        for x in [0.3, 2.0, 9.0, 40.0] {
            // P(1, x) = 1 - e^-x, P(2, x) = 1 - (1 + x) e^-x.
            close(gamma_p(1.0, x), 1.0 - (-x).exp());
            close(gamma_p(2.0, x), 1.0 - (1.0 + x) * (-x).exp());
            close(gamma_q(1.0, x) * x.exp(), 1.0);
        }
    }

    #[test]
    fn quantiles_of_beta_have_their_probability_below_them() {
        for a in [1e-3, 0.05, 0.7, 1.0, 3.0, 40.0, 1e4] {
            for b in [1e-3, 0.3, 1.0, 2.5, 100.0, 1e5] {
                for probability in [0.005, 0.025, 0.5, 0.975] {
                    let x = beta_quantile(a, b, probability);
                    // Quantiles are exact to 1e-12, which is much of the mass where that lies at 0 or 1.
                    let (low, high) = (beta_i(x - 2e-12, a, b) - 1e-9, beta_i(x + 2e-12, a, b) + 1e-9);
                    assert!(
                        low <= probability && probability <= high,
                        "{a} {b} {probability}: {x}"
                    );
                }
            }
        }
    }

    #[test]
    fn tails_equal_their_sums() {
        let poisson = |mean: f64, y: usize| -> f64 {
            let term = |i: usize| (i as f64 * mean.ln() - mean - ln_gamma(i as f64 + 1.0)).exp();
            1.0 - (0..y).map(term).sum::<f64>()
        };
        for (mean, y) in [(0.2, 1), (3.0, 5), (20.0, 12), (20.0, 30)] {
            close(count_tail(y as f64, mean, 0.0), poisson(mean, y));
        }
        // Negative binomial of size r and odds p, summed: Pr(i) = C(i + r - 1, i) (1 - p)^r p^i.
        let negative = |mean: f64, t: f64, y: usize| -> f64 {
            let (r, p) = (1.0 / t, t * mean / (1.0 + t * mean));
            let term = |i: usize| {
                let n = i as f64;
                (ln_gamma(n + r) - ln_gamma(n + 1.0) - ln_gamma(r) + r * (1.0 - p).ln() + n * p.ln()).exp()
            };
            1.0 - (0..y).map(term).sum::<f64>()
        };
        for (mean, t, y) in [(3.0, 0.5, 5), (20.0, 0.1, 30), (1.0, 2.0, 2)] {
            close(count_tail(y as f64, mean, t), negative(mean, t, y));
        }
        close(count_tail(4.0, 3.0, 1e-12), count_tail(4.0, 3.0, 0.0));
    }

    #[test]
    fn normal_tails_and_quantiles() {
        close(normal_tail(1.959_963_984_540_054), 0.025);
        close(normal_quantile(0.025), 1.959_963_984_540_054);
        close(normal_tail(-1.0) + normal_tail(1.0), 1.0);
    }
}
