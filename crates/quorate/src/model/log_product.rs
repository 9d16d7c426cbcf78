//! The logarithm of a long product, for the price of a multiplication a factor.
//!
//! ```text
//! ln prod x_i = ln prod m_i + ln 2 sum e_i,      x_i = m_i 2^e_i,  1 <= m_i < 2
//! ```
//!
//! The mantissas of a few factors cannot leave the range of numbers, so nothing has to be looked at in
//! between.

/// A product of many numbers.
pub(super) struct LogProduct {
    /// From 1 to below 2.
    mantissa: f64,
    /// Of two.
    exponent: i64,
    /// Factors that came as logarithms.
    logarithm: f64,
}

impl Default for LogProduct {
    fn default() -> Self {
        Self {
            mantissa: 1.0,
            exponent: 0,
            logarithm: 0.0,
        }
    }
}

impl LogProduct {
    /// Most factors at a time: mantissas below 2 multiply to less than the largest number.
    pub(super) const MOST: usize = 1022;

    /// Multiplies by all these, at most [`Self::MOST`] positive normal numbers.
    #[inline(always)]
    pub(super) fn multiply(&mut self, factors: &[f64]) {
        debug_assert!(factors.len() <= Self::MOST);
        let mut product = self.mantissa;
        for &factor in factors {
            let (mantissa, exponent) = split(factor);
            product *= mantissa;
            self.exponent += exponent;
        }
        let (mantissa, exponent) = split(product);
        self.mantissa = mantissa;
        self.exponent += exponent;
    }

    /// Multiplies by a power of two.
    #[inline(always)]
    pub(super) fn shift(&mut self, exponent: i64) {
        self.exponent += exponent;
    }

    /// Multiplies by a number of which this is the logarithm.
    pub(super) fn add(&mut self, logarithm: f64) {
        self.logarithm += logarithm;
    }

    /// The logarithm of the product.
    pub(super) fn logarithm(&self) -> f64 {
        self.logarithm + self.exponent as f64 * std::f64::consts::LN_2 + self.mantissa.ln()
    }
}

/// A positive normal number as one from 1 to below 2 and a power of two.
#[inline(always)]
fn split(number: f64) -> (f64, i64) {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = number.to_bits();
    let mantissa = f64::from_bits(bits & FRACTION | 1f64.to_bits());
    (mantissa, (bits >> 52) as i64 - 1023)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_put_together_again(number in prop_oneof![1e-300..1e-290, 0.1..10.0, 1e290..1e300f64]) {
            let (mantissa, exponent) = split(number);
            prop_assert!((1.0..2.0).contains(&mantissa));
            prop_assert_eq!(mantissa * 2f64.powi(exponent as i32), number);
        }

        /// Far beyond what a product of numbers could hold.
        #[test]
        fn the_logarithm_is_the_sum_of_logarithms(
            factors in proptest::collection::vec(prop_oneof![1e-290..1e-280, 0.1..2.0f64], 0..300),
            shift in -10_000i64..10_000,
        ) {
            let mut product = LogProduct::default();
            factors.chunks(7).for_each(|factors| product.multiply(factors));
            product.shift(shift);
            product.add(-3.5);
            let sum: f64 = factors.iter().map(|factor| factor.ln()).sum();
            let expected = sum + shift as f64 * std::f64::consts::LN_2 - 3.5;
            // Each of up to 300 terms of the sum is rounded at up to 2e5, each product by a part of 2^-53.
            prop_assert!((product.logarithm() - expected).abs() < 300.0 * 2e5 * f64::EPSILON);
        }
    }
}
