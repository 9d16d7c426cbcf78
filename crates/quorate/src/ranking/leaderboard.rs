//! The leaderboard: items from the best to the worst with intervals and ranges of ranks, and what is settled.
//!
//! A range of ranks comes from draws of all scores together: the shortest range that holds the item's rank in the
//! wanted share of the draws.

use super::fit::{RankFit, normal_below};
use super::judges::JudgeVerdict;
use super::{Comparisons, Outcome};
use crate::special::distributions::normal_quantile;

/// One item's place.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Standing {
    /// The item's code.
    pub item: usize,
    /// Its group: items of different groups cannot be compared.
    pub group: usize,
    /// Its place in the group; 1 is the best.
    pub rank: usize,
    /// The best and the worst place that the comparisons leave it; none without intervals.
    pub ranks: Option<(usize, usize)>,
    /// Its score, on the method's own scale.
    pub score: f64,
    /// The interval of the score; none without intervals.
    pub interval: Option<(f64, f64)>,
    /// Chance that it is better than the next one; none for the last, and without intervals.
    pub better_than_next: Option<f64>,
    /// Comparisons that it won, weights counted.
    pub wins: f64,
    /// Comparisons that it lost.
    pub losses: f64,
    /// Comparisons that were ties.
    pub ties: f64,
}

/// Wins, losses and ties of each item.
fn count_results(comparisons: &Comparisons) -> Vec<[f64; 3]> {
    let mut counts = vec![[0.0; 3]; comparisons.items().len()];
    for row in comparisons.iter() {
        let (left, right) = match row.outcome {
            Outcome::Left => (0, 1),
            Outcome::Right => (1, 0),
            Outcome::Tie => (2, 2),
        };
        counts[row.left as usize][left] += row.weight;
        counts[row.right as usize][right] += row.weight;
    }
    counts
}

impl RankFit {
    /// The items from the best to the worst, group by group, with intervals at this level.
    pub fn leaderboard(&self, comparisons: &Comparisons, level: f64) -> Vec<Standing> {
        self.standings(&count_results(comparisons), level)
    }

    /// The items from the best to the worst; wins, losses and ties as they were counted.
    pub fn standings(&self, counts: &[[f64; 3]], level: f64) -> Vec<Standing> {
        let order = self.order();
        let ranks = self.rank_ranges(level);
        let z = normal_quantile((1.0 - level) / 2.0);
        let mut rows = Vec::with_capacity(order.len());
        let mut rank = 0;
        for (place, &item) in order.iter().enumerate() {
            let next = order
                .get(place + 1)
                .copied()
                .filter(|&next| self.comparable(item, next));
            let first = place == 0 || !self.comparable(order[place - 1], item);
            rank = if first { 1 } else { rank + 1 };
            let [wins, losses, ties] = counts.get(item).copied().unwrap_or_default();
            rows.push(Standing {
                item,
                group: self.groups[item] as usize,
                rank,
                ranks: ranks.as_ref().map(|ranks| ranks[item]),
                score: self.scores[item],
                interval: self.interval(item, z),
                better_than_next: next.and_then(|next| self.better(item, next)),
                wins,
                losses,
                ties,
            });
        }
        rows
    }

    /// The items from the best to the worst, group by group; equal scores in the order of their names.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.scores.len()).collect();
        order.sort_by(|&a, &b| {
            let by_score = self.strengths[b].total_cmp(&self.strengths[a]);
            self.groups[a].cmp(&self.groups[b]).then(by_score).then(a.cmp(&b))
        });
        order
    }

    fn interval(&self, item: usize, z: f64) -> Option<(f64, f64)> {
        let reach = z * self.uncertainty.as_ref()?.deviations[item];
        let strength = self.strengths[item];
        if self.method != "win-rate" {
            return Some((strength - reach, strength + reach));
        }
        // Shares are not log odds; all wins, or none, are an end of their interval.
        let share = |odds: f64| 1.0 / (1.0 + (-odds).exp());
        let score = self.scores[item];
        Some((
            share(strength - reach).min(score),
            share(strength + reach).max(score),
        ))
    }

    /// For each item, the best and the worst place in its group that the comparisons leave it.
    pub fn rank_ranges(&self, level: f64) -> Option<Vec<(usize, usize)>> {
        let draws = &self.uncertainty.as_ref()?.draws;
        let items = self.scores.len();
        let count = draws.len() / items.max(1);
        if count == 0 {
            return None;
        }
        let mut sizes = vec![0; items];
        self.groups.iter().for_each(|&group| sizes[group as usize] += 1);
        let mut ranks = vec![0u32; count * items];
        let mut order: Vec<usize> = (0..items).collect();
        for (draw, ranks) in draws.chunks_exact(items).zip(ranks.chunks_exact_mut(items)) {
            let drawn = |item: usize| self.strengths[item] + f64::from(draw[item]);
            order.sort_by(|&a, &b| {
                self.groups[a]
                    .cmp(&self.groups[b])
                    .then(drawn(b).total_cmp(&drawn(a)))
                    .then(a.cmp(&b))
            });
            let mut rank = 0;
            for (place, &item) in order.iter().enumerate() {
                let first = place == 0 || self.groups[order[place - 1]] != self.groups[item];
                rank = if first { 1 } else { rank + 1 };
                ranks[item] = rank;
            }
        }
        let wanted = ((level * count as f64).ceil() as usize).clamp(1, count);
        let range = |item: usize| {
            let mut own: Vec<u32> = ranks.iter().skip(item).step_by(items).copied().collect();
            own.sort_unstable();
            let width = |start: &usize| own[start + wanted - 1] - own[*start];
            let start = (0..=count - wanted).min_by_key(width).expect("there is a range");
            (own[start] as usize, own[start + wanted - 1] as usize)
        };
        Some((0..items).map(range).collect())
    }

    /// The items of the first group that cannot be told from its leader at this level, the leader among them.
    pub fn tied_for_first(&self, level: f64) -> Vec<usize> {
        let order = self.order();
        let Some(&leader) = order.first() else {
            return Vec::new();
        };
        let close = |&item: &usize| {
            item == leader
                || (self.comparable(leader, item)
                    && self.better(leader, item).is_none_or(|chance| chance < level))
        };
        order.into_iter().filter(close).collect()
    }

    /// How many more comparisons of two items would tell them apart at this level if their scores are what they
    /// seem; none where they are told apart already, cannot be compared, or seem equal.
    pub fn comparisons_to_settle(&self, i: usize, j: usize, level: f64) -> Option<f64> {
        if !self.comparable(i, j) {
            return None;
        }
        let difference = self.strengths[i] - self.strengths[j];
        let deviation = self.uncertainty.as_ref()?.of_difference(i, j);
        let z = normal_quantile(1.0 - level);
        if normal_below(difference.abs() / deviation) >= level || difference == 0.0 {
            return None;
        }
        let wanted = (z / difference).powi(2);
        Some(((wanted - 1.0 / (deviation * deviation)) * self.design_effect / self.information(i, j)).ceil())
    }

    /// What one more comparison of two items tells about their difference, by a judge of the usual discrimination.
    pub(super) fn information(&self, i: usize, j: usize) -> f64 {
        let ties = self.sizes.map(|sizes| sizes.mean_ties);
        let [left, right, _] = super::davidson::chances(self.strengths[i] - self.strengths[j], ties);
        (left + right - (left - right).powi(2)) / 4.0
    }

    /// The judges with something worth a look, those with the most comparisons first.
    pub fn judges_worth_a_look(&self) -> Vec<usize> {
        let fine = |judge: &usize| {
            matches!(
                self.judges[*judge].verdict(),
                JudgeVerdict::Fine | JudgeVerdict::TooFew
            )
        };
        let mut worth: Vec<usize> = (0..self.judges.len()).filter(|judge| !fine(judge)).collect();
        worth.sort_by(|&a, &b| {
            let comparisons = |judge: usize| self.judges[judge].comparisons;
            comparisons(b).total_cmp(&comparisons(a)).then(a.cmp(&b))
        });
        worth
    }

    /// Triples of items of which each won more comparisons against the next than it lost, round the circle; and how
    /// many triples have three decided pairs. The first 300 items are looked at.
    pub fn cycles(&self, comparisons: &Comparisons) -> (u64, u64) {
        let items = self.scores.len().min(300);
        let mut lead = vec![0.0; items * items];
        for row in comparisons.iter() {
            let (i, j) = (row.left as usize, row.right as usize);
            if i < items && j < items {
                let won = row.weight * (2.0 * row.outcome.left_share() - 1.0);
                lead[i * items + j] += won;
                lead[j * items + i] -= won;
            }
        }
        let (mut cycles, mut decided) = (0, 0);
        for a in 0..items {
            for b in a + 1..items {
                let ab = lead[a * items + b];
                if ab == 0.0 {
                    continue;
                }
                for c in b + 1..items {
                    let (bc, ca) = (lead[b * items + c], lead[c * items + a]);
                    if bc != 0.0 && ca != 0.0 {
                        decided += 1;
                        cycles += u64::from((ab > 0.0) == (bc > 0.0) && (bc > 0.0) == (ca > 0.0));
                    }
                }
            }
        }
        (cycles, decided)
    }
}
