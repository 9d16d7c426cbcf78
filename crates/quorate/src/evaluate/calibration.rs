//! Calibration: of the predictions made with confidence c, is the share c right?
//!
//! ```text
//! ECE = sum over bins b of (n_b / n) |accuracy_b - confidence_b|
//! ```
//!
//! Bins of equal width show where the confidences lie; bins of equal mass give each point of the curve the
//! same weight (Guo et al. 2017; Nixon et al. 2019).

use crate::error::{Error, Result};

/// How confidences are binned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bins {
    /// This many bins `[b/B, (b+1)/B)`, the last one closed.
    EqualWidth(usize),
    /// At most this many bins of about as many tasks each. Equal confidences stay together, so the bins do
    /// not depend on the order of the tasks.
    EqualMass(usize),
}

/// The reliability table and the figure that sums it up.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Expected calibration error.
    pub expected_error: f64,
    /// The bins in rising order of confidence; bins without tasks are left out.
    pub bins: Vec<CalibrationBin>,
}

/// One point of the reliability curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationBin {
    /// Lower end of the bin (of equal mass: its lowest confidence).
    pub lower: f64,
    /// Upper end of the bin (of equal mass: its highest confidence).
    pub upper: f64,
    /// Number of tasks.
    pub count: usize,
    /// Mean confidence.
    pub confidence: f64,
    /// Share of the tasks that are right.
    pub accuracy: f64,
}

impl Calibration {
    /// From the confidence of each task and whether it is right (1, 0, or a fraction of a tie).
    pub fn of(mut pairs: Vec<(f64, f64)>, bins: Bins) -> Result<Self> {
        let (Bins::EqualWidth(count) | Bins::EqualMass(count)) = bins;
        if count == 0 {
            return Err(Error::parameter("bins", "0 bins; expected at least 1"));
        }
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let bins = match bins {
            Bins::EqualWidth(count) => equal_width(&pairs, count),
            Bins::EqualMass(count) => equal_mass(&pairs, count),
        };
        let total = pairs.len().max(1) as f64;
        let gap = |bin: &CalibrationBin| bin.count as f64 / total * (bin.accuracy - bin.confidence).abs();
        Ok(Self {
            expected_error: bins.iter().map(gap).sum(),
            bins,
        })
    }
}

fn equal_width(sorted: &[(f64, f64)], count: usize) -> Vec<CalibrationBin> {
    let bin_of = |confidence: f64| ((confidence * count as f64) as usize).min(count - 1);
    let summarise = |chunk: &[(f64, f64)]| {
        let bin = bin_of(chunk[0].0) as f64;
        summarise(chunk, bin / count as f64, (bin + 1.0) / count as f64)
    };
    let chunks = sorted.chunk_by(|a, b| bin_of(a.0) == bin_of(b.0));
    chunks.map(summarise).collect()
}

fn equal_mass(sorted: &[(f64, f64)], count: usize) -> Vec<CalibrationBin> {
    let mut bins = Vec::new();
    let mut start = 0;
    for bin in 1..=count {
        let mut end = ((bin as u128 * sorted.len() as u128) / count as u128) as usize;
        while end > 0 && end < sorted.len() && sorted[end].0 == sorted[end - 1].0 {
            end += 1;
        }
        if end > start {
            bins.push(summarise(&sorted[start..end], sorted[start].0, sorted[end - 1].0));
            start = end;
        }
    }
    bins
}

fn summarise(chunk: &[(f64, f64)], lower: f64, upper: f64) -> CalibrationBin {
    let mean = |part: fn(&(f64, f64)) -> f64| chunk.iter().map(part).sum::<f64>() / chunk.len() as f64;
    CalibrationBin {
        lower,
        upper,
        count: chunk.len(),
        confidence: mean(|pair| pair.0),
        accuracy: mean(|pair| pair.1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn worked_example() {
        let pairs = vec![(1.0, 1.0), (0.95, 0.0), (0.55, 1.0), (0.9, 1.0)];
        let calibration = Calibration::of(pairs.clone(), Bins::EqualWidth(10)).unwrap();
        assert_eq!(calibration.bins.len(), 2);
        assert_eq!((calibration.bins[0].lower, calibration.bins[0].upper), (0.5, 0.6));
        assert_eq!(
            (calibration.bins[1].count, calibration.bins[1].accuracy),
            (3, 2.0 / 3.0)
        );
        // 1/4 |1 - 0.55| + 3/4 |2/3 - 0.95|
        assert!((calibration.expected_error - (0.1125 + 0.2125)).abs() < 1e-12);
        let halves = Calibration::of(pairs, Bins::EqualMass(2)).unwrap();
        assert_eq!(
            halves.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(),
            [2, 2]
        );
        assert_eq!((halves.bins[0].lower, halves.bins[0].upper), (0.55, 0.9));
        assert!(Calibration::of(vec![(0.5, 1.0)], Bins::EqualMass(0)).is_err());
    }

    #[test]
    fn equal_confidences_stay_together() {
        let pairs: Vec<_> = (0..9).map(|task| (0.7, f64::from(u8::from(task < 6)))).collect();
        let calibration = Calibration::of(pairs, Bins::EqualMass(4)).unwrap();
        assert_eq!(calibration.bins.len(), 1);
        assert!((calibration.expected_error - (0.7 - 6.0 / 9.0)).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn as_the_plain_sum_and_whatever_the_order(
            pairs in proptest::collection::vec((0.0f64..=1.0, 0u8..2), 1..60),
            count in 1usize..12,
        ) {
            let pairs: Vec<_> = pairs.into_iter().map(|(c, right)| (c, f64::from(right))).collect();
            // |sum of (right - confidence)| over the tasks of each bin, by going through all tasks.
            let naive: f64 = (0..count)
                .map(|bin| {
                    let in_bin = |c: f64| {
                        let scaled = c * count as f64;
                        scaled >= bin as f64 && (scaled < (bin + 1) as f64 || bin + 1 == count)
                    };
                    let gaps = pairs.iter().filter(|pair| in_bin(pair.0)).map(|(c, right)| right - c);
                    gaps.sum::<f64>().abs() / pairs.len() as f64
                })
                .sum();
            let found = Calibration::of(pairs.clone(), Bins::EqualWidth(count)).unwrap();
            prop_assert!((found.expected_error - naive).abs() < 1e-12);
            let mut reversed = pairs.clone();
            reversed.reverse();
            for bins in [Bins::EqualWidth(count), Bins::EqualMass(count)] {
                let table = Calibration::of(pairs.clone(), bins).unwrap();
                prop_assert_eq!(table.bins.iter().map(|bin| bin.count).sum::<usize>(), pairs.len());
                prop_assert!(table.bins.len() <= count);
                prop_assert!(table.bins.windows(2).all(|pair| pair[0].upper <= pair[1].lower));
                prop_assert_eq!(&table, &Calibration::of(reversed.clone(), bins).unwrap());
            }
        }
    }
}
