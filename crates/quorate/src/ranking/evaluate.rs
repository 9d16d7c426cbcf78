//! Scores against a known order.
//!
//! ```text
//! tau_b = (concordant - discordant) / sqrt((pairs - tied by one) (pairs - tied by the other))
//! pairwise accuracy = share of pairs of different truth in the right order, ties of the scores half
//! ```
//!
//! and how honest the chances of being better are: pairs by their stated chance beside the share that is right.
//! `O(items^2)`.

use super::fit::{RankFit, normal_below};
use crate::error::{Error, Result};

/// How scores compare with a known order.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankEvaluation {
    /// Items with a known place.
    pub items: usize,
    /// Pairs of items that differ in truth and can be compared.
    pub pairs: usize,
    /// Kendall's tau-b.
    pub tau: f64,
    /// Share of the pairs in the right order.
    pub accuracy: f64,
    /// Brier score of the chances that one is better than the other; none where there are no such chances.
    pub brier: Option<f64>,
    /// Pairs by the stated chance of the better-looking item: lower end, mean chance, share that is right, pairs.
    pub calibration: Vec<(f64, f64, f64, usize)>,
}

/// One item as it is compared with the truth: its score, its standard deviation if it has one, its group, its truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredItem {
    /// The score; larger is better.
    pub score: f64,
    /// Standard deviation of the score.
    pub deviation: Option<f64>,
    /// Items of different groups are not compared.
    pub group: u32,
    /// The truth; larger is better.
    pub truth: f64,
}

/// Compares scores with a known order. Chances take the scores for independent where nothing else is known.
pub fn evaluate_scores(items: &[ScoredItem]) -> Result<RankEvaluation> {
    evaluate(items, |i, j| {
        let deviation = items[i].deviation?.hypot(items[j].deviation?);
        (deviation > 0.0).then(|| normal_below((items[i].score - items[j].score) / deviation))
    })
}

impl RankFit {
    /// Compares the fit with a known order: the truth of each item, where it is known; larger is better.
    pub fn evaluate(&self, truth: &[Option<f64>]) -> Result<RankEvaluation> {
        let codes: Vec<usize> = (0..truth.len()).filter(|&item| truth[item].is_some()).collect();
        let item = |&code: &usize| ScoredItem {
            score: self.strengths[code],
            deviation: None,
            group: self.groups[code],
            truth: truth[code].expect("only known ones are kept"),
        };
        let items: Vec<ScoredItem> = codes.iter().map(item).collect();
        evaluate(&items, |i, j| self.better(codes[i], codes[j]))
    }
}

fn evaluate(items: &[ScoredItem], better: impl Fn(usize, usize) -> Option<f64>) -> Result<RankEvaluation> {
    const BINS: usize = 5;
    let (mut concordant, mut discordant, mut tied_score, mut tied_truth, mut all) =
        (0u64, 0u64, 0u64, 0u64, 0u64);
    let (mut brier, mut chances) = (0.0, 0usize);
    let mut bins = [(0.0, 0.0, 0usize); BINS];
    for i in 0..items.len() {
        for j in 0..i {
            let (a, b) = (&items[i], &items[j]);
            if a.group != b.group {
                continue;
            }
            all += 1;
            let by_truth = a.truth.total_cmp(&b.truth) as i32;
            let by_score = if a.score == b.score {
                0
            } else {
                a.score.total_cmp(&b.score) as i32
            };
            match by_truth * by_score {
                1 => concordant += 1,
                -1 => discordant += 1,
                _ => {}
            }
            tied_truth += u64::from(by_truth == 0);
            tied_score += u64::from(by_score == 0);
            if by_truth != 0
                && let Some(chance) = better(i, j)
            {
                let (chance, right) = if chance >= 0.5 {
                    (chance, by_truth > 0)
                } else {
                    (1.0 - chance, by_truth < 0)
                };
                let right = f64::from(u8::from(right));
                brier += (chance - right).powi(2);
                chances += 1;
                let bin = &mut bins[(((chance - 0.5) * 2.0 * BINS as f64) as usize).min(BINS - 1)];
                *bin = (bin.0 + chance, bin.1 + right, bin.2 + 1);
            }
        }
    }
    let pairs = all - tied_truth;
    if pairs == 0 {
        return Err(Error::Mismatch(
            "no two items that can be compared have different known places; the truth needs scores or ranks of at least two items".into(),
        ));
    }
    let ties_half = (pairs - concordant - discordant) as f64 / 2.0;
    let untied = ((all - tied_score) as f64 * pairs as f64).sqrt();
    let calibration = bins
        .iter()
        .enumerate()
        .filter(|(_, bin)| bin.2 > 0)
        .map(|(place, bin)| {
            let count = bin.2 as f64;
            (
                0.5 + place as f64 / (2 * BINS) as f64,
                bin.0 / count,
                bin.1 / count,
                bin.2,
            )
        });
    Ok(RankEvaluation {
        items: items.len(),
        pairs: pairs as usize,
        tau: if untied > 0.0 {
            (concordant as f64 - discordant as f64) / untied
        } else {
            0.0
        },
        accuracy: (concordant as f64 + ties_half) / pairs as f64,
        brier: (chances > 0).then(|| brier / chances as f64),
        calibration: calibration.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(score: f64, truth: f64) -> ScoredItem {
        ScoredItem {
            score,
            deviation: None,
            group: 0,
            truth,
        }
    }

    #[test]
    fn tau_by_hand() {
        // Pairs of (1, 2, 3, 4) against (1, 3, 2, 4): five in order, one not.
        let found =
            evaluate_scores(&[item(1.0, 1.0), item(3.0, 2.0), item(2.0, 3.0), item(4.0, 4.0)]).unwrap();
        assert_eq!((found.pairs, found.brier), (6, None));
        assert!((found.tau - 4.0 / 6.0).abs() < 1e-12);
        assert!((found.accuracy - 5.0 / 6.0).abs() < 1e-12);
        // A tied score: tau-b is (2 - 0) / sqrt(2 x 3), the pair counts half.
        let found = evaluate_scores(&[item(1.0, 1.0), item(1.0, 2.0), item(2.0, 3.0)]).unwrap();
        assert!((found.tau - 2.0 / 6f64.sqrt()).abs() < 1e-12);
        assert!((found.accuracy - 2.5 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn other_groups_are_not_compared_and_nothing_to_compare_is_an_error() {
        let apart = [
            item(1.0, 1.0),
            ScoredItem {
                group: 1,
                ..item(2.0, 2.0)
            },
        ];
        assert!(evaluate_scores(&apart).is_err());
        assert!(evaluate_scores(&[item(1.0, 1.0), item(2.0, 1.0)]).is_err());
    }

    #[test]
    fn chances_are_held_against_the_truth() {
        let sure = |score, truth| ScoredItem {
            deviation: Some(0.1),
            ..item(score, truth)
        };
        let found = evaluate_scores(&[sure(0.0, 0.0), sure(1.0, 1.0), sure(2.0, -1.0)]).unwrap();
        assert_eq!(found.calibration.len(), 1);
        let (_, chance, right, pairs) = found.calibration[0];
        assert!(chance > 0.99 && pairs == 3 && (right - 1.0 / 3.0).abs() < 1e-12);
    }
}
