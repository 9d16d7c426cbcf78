//! Which comparisons to make next.
//!
//! ```text
//! gain(i, j) = ln(1 + h V_ij) 4 P (1 - P)      V_ij variance of the difference, h information of one comparison, P = P(i better than j)
//! ```
//!
//! The first factor is what a comparison is expected to tell, the second keeps to orders that are open. Pairs are
//! taken one by one; after each, `V` is what it will be, `C - C x x' C h / (1 + h V)`. Beyond 200 items only those
//! within 20 places of each other in the ranking are looked at, and `V` is not updated but shrunk for the pair itself.
//!
//! Pairs go in turn to the better half of the judges by what an answer about equal items tells: the square of the
//! discrimination, less for a position bias and for ties. Judges who answer at random get none.

use super::davidson::chances;
use super::fit::{RankFit, normal_below};
use super::judges::JudgeVerdict;

/// A comparison that is worth making.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct NextPair {
    /// One item.
    pub left: usize,
    /// The other item.
    pub right: usize,
    /// Who should compare them; none where judges are not modelled.
    pub judge: Option<usize>,
    /// Chance that the one with the higher score is better, as of now.
    pub better: f64,
    /// What the comparison is expected to tell.
    pub gain: f64,
}

const MAX_UPDATED: usize = 200;
const NEIGHBOURS: usize = 20;

impl RankFit {
    /// The `count` comparisons that help the ranking most, in the order in which they help; empty where the method
    /// has no intervals. Which item is shown on the left alternates.
    pub fn next_pairs(&self, count: usize) -> Vec<NextPair> {
        let Some(uncertainty) = &self.uncertainty else {
            return Vec::new();
        };
        let order = self.order();
        let items = order.len();
        let mut covariance = match &uncertainty.covariance {
            Some(covariance) if items <= MAX_UPDATED => Some(covariance.clone()),
            _ => None,
        };
        let reach = if covariance.is_some() { items } else { NEIGHBOURS };
        let mut pairs: Vec<(usize, usize, f64)> = Vec::new();
        for (place, &i) in order.iter().enumerate() {
            for &j in order[place + 1..].iter().take(reach) {
                if self.comparable(i, j) {
                    pairs.push((i, j, uncertainty.of_difference(i, j).powi(2)));
                }
            }
        }
        let judges = self.better_half();
        let better = |i: usize, j: usize, variance: f64| {
            normal_below((self.strengths[i] - self.strengths[j]) / variance.sqrt().max(1e-12))
        };
        let gain = |&(i, j, variance): &(usize, usize, f64)| {
            let better = better(i, j, variance);
            (self.information(i, j) * variance / self.design_effect).ln_1p() * 4.0 * better * (1.0 - better)
        };
        let mut gains: Vec<f64> = pairs.iter().map(gain).collect();
        let mut found: Vec<NextPair> = Vec::new();
        while found.len() < count {
            let largest = gains
                .iter()
                .copied()
                .enumerate()
                .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            let Some((place, best)) = largest else { break };
            if best <= 0.0 {
                break;
            }
            let (i, j, variance) = pairs[place];
            let judge = (!judges.is_empty()).then(|| judges[found.len() % judges.len()]);
            let information =
                self.information(i, j) / self.design_effect * judge.map_or(1.0, |judge| judge.1);
            let swap = found.len() % 2 == 1;
            found.push(NextPair {
                left: if swap { j } else { i },
                right: if swap { i } else { j },
                judge: judge.map(|judge| judge.0),
                better: better(i, j, variance),
                gain: best,
            });
            let factor = information / (1.0 + information * variance);
            match &mut covariance {
                Some(covariance) => {
                    let along: Vec<f64> = (0..items)
                        .map(|item| covariance[item * items + i] - covariance[item * items + j])
                        .collect();
                    for (a, row) in covariance.chunks_exact_mut(items).enumerate() {
                        let scale = factor * along[a];
                        row.iter_mut()
                            .zip(&along)
                            .for_each(|(cell, along)| *cell -= scale * along);
                    }
                    for pair in &mut pairs {
                        let (a, b) = (pair.0, pair.1);
                        pair.2 = covariance[a * (items + 1)] + covariance[b * (items + 1)]
                            - 2.0 * covariance[a * items + b];
                    }
                    gains = pairs.iter().map(gain).collect();
                }
                None => {
                    pairs[place].2 -= factor * variance * variance;
                    gains[place] = gain(&pairs[place]);
                }
            }
        }
        found
    }

    /// The better half of the judges, the best first, and how much an answer of each tells.
    fn better_half(&self) -> Vec<(usize, f64)> {
        let told = |(judge, found): (usize, &super::JudgeFit)| {
            let model = found.model?;
            let useless = matches!(
                found.verdict(),
                JudgeVerdict::Random | JudgeVerdict::Contrary | JudgeVerdict::AlwaysTies
            );
            let [left, right, _] = chances(model.position, model.ties);
            // What an answer about equal items tells: a judge who nearly always takes one side, or ties, tells little.
            let open = left + right - (left - right).powi(2);
            (!useless).then_some((judge, model.discrimination.max(0.0).powi(2) * open))
        };
        let mut judges: Vec<(usize, f64)> = self.judges.iter().enumerate().filter_map(told).collect();
        judges.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        judges.truncate(judges.len().div_ceil(2));
        judges
    }
}
