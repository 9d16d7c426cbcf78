//! Many tests at once: the procedure of Benjamini and Hochberg.
//!
//! ```text
//! reject the i smallest p-values for the largest i with  p_(i) <= level i / n
//! ```
//!
//! Of what is flagged, at most the share `level` is a false alarm on average, if the p-values are honest and
//! not negatively dependent; where nothing is wrong at all, the probability of any alarm is at most `level`.
//!
//! Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical
//! Society B 57 (1995).

/// Which of the tests are rejected.
pub fn discoveries(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let passes = |(rank, p): (usize, &f64)| *p <= level * (rank + 1) as f64 / n;
    match sorted
        .iter()
        .enumerate()
        .rev()
        .find(|&(rank, p)| passes((rank, p)))
    {
        Some((_, &threshold)) => p_values.iter().map(|&p| p <= threshold).collect(),
        None => vec![false; p_values.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_up_to_the_last_that_passes() {
        // At level 0.05 of 5 the steps are 0.01, 0.02, ..: 0.028 passes the third, so that 0.021 is taken
        // along.
        let found = discoveries(&[0.9, 0.028, 0.001, 0.021, 0.5], 0.05);
        assert_eq!(found, [false, true, true, true, false]);
        assert_eq!(discoveries(&[0.02, 0.03], 0.01), [false, false]);
        assert!(discoveries(&[], 0.05).is_empty());
    }
}
