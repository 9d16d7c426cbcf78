//! Gwet's AC1.
//!
//! ```text
//! AC1 = (p_o - p_e) / (1 - p_e),      p_e = sum_k p(k) (1 - p(k)) / (K - 1)
//! ```
//!
//! with the observed agreement p_o and the class shares p(k) of [Fleiss' kappa](super::fleiss). Chance
//! agreement is small where one class is rare, so that AC1 does not fall to zero there as kappa does. K is
//! the number of classes of the table, whether or not all of them occur. Undefined for K = 1.
//!
//! K. L. Gwet, "Computing inter-rater reliability and its variance in the presence of high agreement",
//! British Journal of Mathematical and Statistical Psychology 61 (2008).

use super::Undefined;
use super::fleiss::{Shares, above_chance};

pub(super) fn ac1(shares: &Shares) -> Result<f64, Undefined> {
    let classes = shares.class.len();
    if classes < 2 {
        return Err(Undefined::OneClass);
    }
    let mixed: f64 = shares.class.iter().map(|share| share * (1.0 - share)).sum();
    above_chance(shares.observed?, mixed / (classes - 1) as f64)
}
