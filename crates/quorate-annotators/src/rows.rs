//! Rows of numbers, and the scale on which classifiers see them.

/// Rows of `width` numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureRows {
    /// Numbers in a row.
    pub width: usize,
    values: Vec<f32>,
}

impl FeatureRows {
    /// Rows from their numbers, one row after the other.
    ///
    /// # Panics
    /// If the numbers do not fill rows.
    pub fn new(width: usize, values: Vec<f32>) -> Self {
        assert!(
            width > 0 && values.len().is_multiple_of(width),
            "rows of one width"
        );
        Self { width, values }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.width
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> + '_ {
        self.values.chunks_exact(self.width)
    }

    /// These rows, in this order.
    pub fn select(&self, rows: &[u32]) -> Self {
        let values = rows.iter().flat_map(|&row| self.row(row as usize)).copied();
        Self::new(self.width, values.collect())
    }

    /// Every number of a column times its factor, after its shift.
    fn rescale(&self, columns: &[(f64, f64)]) -> Self {
        let values = self
            .iter()
            .flat_map(|row| row.iter().zip(columns))
            .map(|(&value, &(shift, factor))| ((f64::from(value) - shift) * factor) as f32);
        Self::new(self.width, values.collect())
    }

    /// Both with the columns of `self` at mean 0 and standard deviation 1; constant columns become 0.
    pub fn standardise(&self, other: &Self) -> (Self, Self) {
        let count = self.len().max(1) as f64;
        let column = |k: usize| self.iter().map(move |row| f64::from(row[k]));
        let columns: Vec<(f64, f64)> = (0..self.width)
            .map(|k| {
                let mean = column(k).sum::<f64>() / count;
                let variance = column(k).map(|x| (x - mean).powi(2)).sum::<f64>() / count;
                (
                    mean,
                    if variance > 0.0 {
                        1.0 / variance.sqrt()
                    } else {
                        0.0
                    },
                )
            })
            .collect();
        (self.rescale(&columns), other.rescale(&columns))
    }

    /// Everything times a factor.
    pub fn scaled(&self, factor: f32) -> Self {
        Self::new(
            self.width,
            self.values.iter().map(|value| value * factor).collect(),
        )
    }
}

/// The most frequent class; ties to the lowest.
pub(crate) fn most_frequent(counts: &[u32]) -> u8 {
    let top = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|&count| count == top).unwrap_or(0) as u8
}

/// How often each class occurs.
pub(crate) fn count_classes(classes: usize, labels: impl Iterator<Item = u8>) -> Vec<u32> {
    let mut counts = vec![0; classes];
    labels.for_each(|label| counts[usize::from(label)] += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_that_of_the_training_rows() {
        let (train, other) =
            FeatureRows::new(2, vec![1.0, 7.0, 3.0, 7.0]).standardise(&FeatureRows::new(2, vec![5.0, 9.0]));
        assert_eq!(train, FeatureRows::new(2, vec![-1.0, 0.0, 1.0, 0.0]));
        assert_eq!(other, FeatureRows::new(2, vec![3.0, 0.0]));
        assert_eq!(most_frequent(&[1, 3, 3]), 1);
    }
}
