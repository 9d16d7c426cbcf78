//! Exponentials that the compiler can compute several at a time.
//!
//! ```text
//! exp(x) = 2^n exp(r)      n = x / ln 2 rounded,  r = x - n ln 2,  exp(r) by its Taylor sum to r^12
//! ```
//!
//! `|r| <= ln 2 / 2`, so the first term left out, `r^13 / 13!`, is below `2^-52`. The library function is as
//! exact, but a call for every number.

/// Arguments beyond this are moved to it: the result stays a normal number.
const LARGEST: f64 = 700.0;

/// 1.5 x 2^52: adding it rounds to a whole number, which then stands in the lowest bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts; multiples of the first one by an exponent are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `1 / n!` for even n from 12 down to 0, and for odd n from 11 down to 1.
const EVEN: [f64; 7] = [
    1.0 / 479_001_600.0,
    1.0 / 3_628_800.0,
    1.0 / 40_320.0,
    1.0 / 720.0,
    1.0 / 24.0,
    0.5,
    1.0,
];
const ODD: [f64; 6] = [
    1.0 / 39_916_800.0,
    1.0 / 362_880.0,
    1.0 / 5_040.0,
    1.0 / 120.0,
    1.0 / 6.0,
    1.0,
];

/// `exp(x)` for `x` within +-700, to about two units in the last place; arguments beyond are moved there.
#[inline(always)]
pub(crate) fn exponential(x: f64) -> f64 {
    let x = x.clamp(-LARGEST, LARGEST);
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let whole = shifted - ROUNDER;
    let r = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    // Two chains of half the length: the processor works on both at once.
    let square = r * r;
    let step = |sum: f64, factor: &f64| sum * square + factor;
    let even = EVEN[1..].iter().fold(EVEN[0], step);
    let odd = ODD[1..].iter().fold(ODD[0], step);
    let sum = even + r * odd;
    // The lowest bits of `shifted` hold the exponent; the shift drops the others.
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    sum * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library() {
        for step in -70_000..=70_000 {
            let x = f64::from(step) * 0.009_99;
            let (found, wanted) = (exponential(x), x.exp());
            assert!(
                (found - wanted).abs() <= 4.0 * f64::EPSILON * wanted,
                "{x}: {found} {wanted}"
            );
        }
        assert_eq!(exponential(0.0), 1.0);
        assert!(exponential(1e9).is_finite() && exponential(-1e9) > 0.0);
    }
}
