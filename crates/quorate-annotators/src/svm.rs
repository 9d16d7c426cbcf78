//! Support vector machines: one for each pair of classes (`linfa-svm`), which then vote.

use anyhow::Result;
use linfa::Dataset;
use linfa::traits::Fit;
use linfa_svm::Svm;
use ndarray::{Array1, Array2};
use rayon::prelude::*;

use crate::rows::{FeatureRows, most_frequent};

/// How alike two rows are, on rows that are divided by a scale before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// `x . y`
    Linear,
    /// `(1 + x . y)^2`
    Quadratic,
    /// `exp(-|x - y|^2)`
    Gaussian,
}

impl Kernel {
    fn value(self, a: &[f32], b: &[f32]) -> f32 {
        let pairs = a.iter().zip(b);
        match self {
            Self::Linear => pairs.map(|(x, y)| x * y).sum(),
            Self::Quadratic => (1.0 + pairs.map(|(x, y)| x * y).sum::<f32>()).powi(2),
            Self::Gaussian => (-pairs.map(|(x, y)| (x - y) * (x - y)).sum::<f32>()).exp(),
        }
    }
}

/// Training rows of a class pair with their weights; the first class where the sum is at least `threshold`.
struct Pair {
    classes: [u8; 2],
    kernel: Kernel,
    support: Vec<(f32, Vec<f32>)>,
    threshold: f32,
}

impl Pair {
    /// Fits with box constraint 1.
    fn fit(kernel: Kernel, classes: [u8; 2], rows: &FeatureRows, labels: &[u8]) -> Result<Self> {
        let own: Vec<u32> = (0..rows.len() as u32)
            .filter(|&row| classes.contains(&labels[row as usize]))
            .collect();
        let part = rows.select(&own);
        let values: Vec<f64> = part.iter().flatten().map(|&value| f64::from(value)).collect();
        let records = Array2::from_shape_vec((part.len(), part.width), values)?;
        let first: Array1<bool> = own
            .iter()
            .map(|&row| labels[row as usize] == classes[0])
            .collect();
        let parameters = Svm::<f64, bool>::params().pos_neg_weights(1.0, 1.0);
        let parameters = match kernel {
            Kernel::Linear => parameters.linear_kernel(),
            Kernel::Quadratic => parameters.polynomial_kernel(1.0, 2.0),
            Kernel::Gaussian => parameters.gaussian_kernel(1.0),
        };
        let model = parameters.fit(&Dataset::new(records, first))?;
        let support = model
            .alpha
            .iter()
            .zip(part.iter())
            .filter(|(weight, _)| **weight != 0.0);
        let mut support: Vec<(f32, Vec<f32>)> = support
            .map(|(&weight, row)| (weight as f32, row.to_vec()))
            .collect();
        if kernel == Kernel::Linear {
            // The weighted sum of the rows stands for them all.
            let mut sum = vec![0.0; part.width];
            for (weight, row) in &support {
                sum.iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += weight * value);
            }
            support = vec![(1.0, sum)];
        }
        Ok(Self {
            classes,
            kernel,
            support,
            threshold: model.rho as f32,
        })
    }

    fn vote(&self, row: &[f32]) -> u8 {
        let sum: f32 = self
            .support
            .iter()
            .map(|(weight, support)| weight * self.kernel.value(support, row))
            .sum();
        self.classes[usize::from(sum < self.threshold)]
    }
}

/// The classes of `items` by a machine for each pair of the classes that occur in training; ties to the
/// lowest class.
pub fn classify(
    kernel: Kernel,
    scale: f32,
    train: &FeatureRows,
    labels: &[u8],
    classes: usize,
    items: &FeatureRows,
) -> Result<Vec<u8>> {
    let (train, items) = (train.scaled(1.0 / scale), items.scaled(1.0 / scale));
    let present: Vec<u8> = (0..classes as u8)
        .filter(|class| labels.contains(class))
        .collect();
    let pairs: Vec<[u8; 2]> = present
        .iter()
        .flat_map(|&a| present.iter().filter(move |&&b| a < b).map(move |&b| [a, b]))
        .collect();
    let pairs: Vec<Pair> = pairs
        .into_par_iter()
        .map(|pair| Pair::fit(kernel, pair, &train, labels))
        .collect::<Result<_>>()?;
    let only = present.first().copied().unwrap_or(0);
    let decide = |row: &[f32]| {
        if pairs.is_empty() {
            return only;
        }
        let mut votes = vec![0; classes];
        pairs
            .iter()
            .for_each(|pair| votes[usize::from(pair.vote(row))] += 1);
        most_frequent(&votes)
    };
    Ok((0..items.len())
        .into_par_iter()
        .map(|item| decide(items.row(item)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three rings of points: the inner one by itself, so that a line cannot tell and a parabola can.
    fn errors(kernel: Kernel) -> usize {
        let point = |i: usize| {
            let (radius, angle) = (0.5 + (i % 3) as f32, i as f32 * 0.7);
            [radius * angle.cos(), radius * angle.sin()]
        };
        let rows = FeatureRows::new(2, (0..90).flat_map(point).collect());
        let labels: Vec<u8> = (0..90).map(|i| (i % 3) as u8).collect();
        let found = classify(kernel, 1.0, &rows, &labels, 4, &rows).unwrap();
        found.iter().zip(&labels).filter(|(a, b)| a != b).count()
    }

    #[test]
    fn curved_borders_need_a_kernel() {
        assert!(errors(Kernel::Linear) > 30, "{}", errors(Kernel::Linear));
        assert!(errors(Kernel::Quadratic) <= 2, "{}", errors(Kernel::Quadratic));
        assert!(errors(Kernel::Gaussian) <= 2, "{}", errors(Kernel::Gaussian));
    }

    #[test]
    fn one_class_is_always_that_class() {
        let rows = FeatureRows::new(1, vec![1.0, 2.0]);
        assert_eq!(
            classify(Kernel::Linear, 1.0, &rows, &[2, 2], 3, &rows).unwrap(),
            [2, 2]
        );
    }
}
