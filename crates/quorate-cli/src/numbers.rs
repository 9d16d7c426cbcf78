//! Numbers on the command line: each has a finite range, and whatever lies outside is refused in words.
//! `inf`, `nan` and `1e308` are numbers to the standard library, and no answer to any question here.

use std::fmt::Display;

/// Most labels or tasks that an option can speak of: what a table holds.
pub const MOST: u64 = u32::MAX as u64 - 1;

/// A number from `low` to `high`, both allowed.
pub fn number(low: f64, high: f64) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let found = text.trim().parse::<f64>().ok();
        found
            .filter(|found| (low..=high).contains(found))
            .ok_or_else(|| format!("expected a number from {low} to {high}"))
    }
}

/// A whole number from `low` to `high`, both allowed.
pub fn whole<T: TryFrom<u64>>(low: u64, high: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let found = text.trim().parse::<u64>().ok();
        found
            .filter(|found| (low..=high).contains(found))
            .and_then(|found| T::try_from(found).ok())
            .ok_or_else(|| format!("expected a whole number from {low} to {high}"))
    }
}

/// A share, neither nothing nor all.
pub fn share(text: &str) -> Result<f64, String> {
    within(
        text,
        |found| found > 0.0 && found < 1.0,
        "between 0 and 1, both excluded",
    )
}

/// A share below all.
pub fn below_one(text: &str) -> Result<f64, String> {
    within(text, |found| (0.0..1.0).contains(&found), "from 0 to below 1")
}

fn within(text: &str, fits: impl Fn(f64) -> bool, range: impl Display) -> Result<f64, String> {
    let found = text.trim().parse::<f64>().ok();
    found
        .filter(|found| fits(*found))
        .ok_or_else(|| format!("expected a number {range}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_finite_number_in_the_range_is_refused() {
        for text in ["inf", "-inf", "nan", "1e308", "-1", "", "x", "1e18"] {
            assert!(number(0.0, 1e12)(text).is_err(), "{text}");
            assert!(whole::<usize>(0, MOST)(text).is_err(), "{text}");
            assert!(share(text).is_err() && below_one(text).is_err(), "{text}");
        }
        assert_eq!(number(0.0, 1e12)("1e12"), Ok(1e12));
        assert_eq!(whole::<u32>(1, MOST)("4294967294"), Ok(4_294_967_294));
        assert!(whole::<u32>(1, MOST)("4294967295").is_err());
        assert!(whole::<u16>(0, MOST)("65536").is_err());
        assert!(share("0").is_err() && below_one("0").is_ok());
    }
}
