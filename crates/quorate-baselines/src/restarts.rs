//! Which of several restarts is kept.

/// Whether a restart with this objective trace beats the best one so far: by more than rounding, so that the
/// choice does not hang on the order of sums.
pub(crate) fn beats(trace: &[f64], best: &[f64]) -> bool {
    const ROUNDING: f64 = 1e-10;
    let last = |trace: &[f64]| trace.last().copied().unwrap_or(f64::NEG_INFINITY);
    last(trace) > last(best) + ROUNDING * last(best).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_must_be_better_by_more_than_rounding() {
        assert!(beats(&[-3.0, -2.0], &[-2.5]));
        assert!(!beats(&[-2.0 + 1e-13], &[-2.0]) && !beats(&[-3.0], &[-2.0]));
    }
}
