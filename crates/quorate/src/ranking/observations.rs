//! Comparisons as the models count them: by judge, then by pair, with both orders of one pair folded.
//!
//! A judge who saw a pair in both orders on one prompt made one judgement, not two: the rows of such a group
//! count half each. Where prompts are not named, a group is one row in each order by one named judge.

use std::ops::Range;

use rayon::prelude::*;

use super::comparisons::{Comparison, Comparisons, Outcome, ShownOrder};
use crate::parallel::balanced_ranges;

/// One answer of a judge, and how much it counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Observation {
    pub left: usize,
    pub right: usize,
    pub outcome: Outcome,
    pub weight: f64,
}

/// Comparisons sorted by judge and pair: 8 bytes a row, 4 more each where rows have weights or prompts.
#[derive(Debug, Clone)]
pub(super) struct Observations {
    pub items: usize,
    /// Where the rows of each judge start; one judge where nobody is named.
    starts: Vec<u32>,
    keys: Vec<u64>,
    weights: Vec<f32>,
    /// The prompt of each row; empty where prompts are not named.
    pub prompts: Vec<u32>,
    /// What each judge said of pairs that were shown in both orders.
    pub swaps: Vec<Swaps>,
}

/// Pairs that a judge saw in both orders.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Swaps {
    /// How many.
    pub pairs: u64,
    /// On how many of them both orders got the same answer; a share of each where there are several answers.
    pub consistent: f64,
}

/// A row while it is sorted.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    key: u64,
    prompt: u32,
    weight: f32,
}

const ITEM_BITS: u32 = 30;

/// The pair with its lower item first, then whether it was shown the other way round, then the outcome.
fn key(left: usize, right: usize, outcome: Outcome) -> u64 {
    let (low, high) = (left.min(right) as u64, left.max(right) as u64);
    (low << ITEM_BITS | high) << 4 | u64::from(left > right) << 2 | outcome as u64
}

fn pair_of(key: u64) -> u64 {
    key >> 4
}

fn is_swapped(key: u64) -> bool {
    key >> 2 & 1 == 1
}

fn outcome_of(key: u64) -> Outcome {
    Outcome::ALL[(key & 3) as usize]
}

impl Observations {
    /// The rows of a table, folded, in an order that does not depend on the order of the rows.
    pub fn of(comparisons: &Comparisons) -> Self {
        let judges = comparisons.judges().len().max(1);
        let starts = row_offsets(judges, comparisons.iter().map(|comparison| comparison.judge));
        let mut rows = vec![Row::default(); comparisons.len()];
        let mut next = starts.clone();
        for comparison in comparisons.iter() {
            let Comparison {
                left,
                right,
                outcome,
                judge,
                prompt,
                weight,
            } = comparison;
            let slot = &mut next[judge as usize];
            rows[*slot as usize] = Row {
                key: key(left as usize, right as usize, outcome),
                prompt: prompt.unwrap_or(0),
                weight: weight as f32,
            };
            *slot += 1;
        }
        let with_prompts = !comparisons.prompts().is_empty();
        let named = with_prompts || !comparisons.judges().is_empty();
        let may_fold = named && comparisons.shown_order() == ShownOrder::Known;
        let sort_and_fold = |rows: &mut [Row]| {
            // The bits of positive numbers are in the order of the numbers.
            rows.par_sort_unstable_by_key(|row| {
                (pair_of(row.key), row.prompt, row.key, row.weight.to_bits())
            });
            if may_fold {
                fold(rows, with_prompts)
            } else {
                Swaps::default()
            }
        };
        let swaps = split_by(&starts, &mut rows)
            .into_par_iter()
            .map(sort_and_fold)
            .collect();
        let weighted = rows.iter().any(|row| row.weight != 1.0);
        Self {
            items: comparisons.items().len(),
            starts,
            keys: rows.iter().map(|row| row.key).collect(),
            weights: if weighted {
                rows.iter().map(|row| row.weight).collect()
            } else {
                Vec::new()
            },
            prompts: if with_prompts {
                rows.iter().map(|row| row.prompt).collect()
            } else {
                Vec::new()
            },
            swaps,
        }
    }

    /// The rows with all judges of fewer than `least` rows taken for one, who comes last, and the place of each other
    /// judge; nothing where fewer than two are. All judges are taken for one where those with few rows gave most of them:
    /// the others would not tell what the usual judge is.
    pub fn with_few_joined(&self, least: usize) -> Option<(Self, Vec<Option<usize>>)> {
        let has_few = |judge: usize| self.rows(judge).len() < least;
        let mut few: Vec<usize> = (0..self.judges()).filter(|&judge| has_few(judge)).collect();
        if few.len() < 2 {
            return None;
        }
        let rows: usize = few.iter().map(|&judge| self.rows(judge).len()).sum();
        let all = 2 * rows > self.len();
        if all {
            few = (0..self.judges()).collect();
        }
        let mut places = vec![None; self.judges()];
        let (mut order, mut starts) = (Vec::with_capacity(self.len()), vec![0]);
        for judge in (0..self.judges()).filter(|&judge| !all && !has_few(judge)) {
            places[judge] = Some(starts.len() - 1);
            order.extend(self.rows(judge));
            starts.push(order.len() as u32);
        }
        let rest = order.len();
        order.extend(few.into_iter().flat_map(|judge| self.rows(judge)));
        // Not in the order of the judges: their names do not matter.
        order[rest..].par_sort_unstable_by_key(|&row| {
            (self.keys[row], self.prompts.get(row), self.weight(row).to_bits())
        });
        starts.push(order.len() as u32);
        let joined = Self {
            items: self.items,
            starts,
            keys: order.iter().map(|&row| self.keys[row]).collect(),
            weights: order
                .iter()
                .filter_map(|&row| self.weights.get(row).copied())
                .collect(),
            prompts: order
                .iter()
                .filter_map(|&row| self.prompts.get(row).copied())
                .collect(),
            swaps: Vec::new(),
        };
        Some((joined, places))
    }

    /// All rows as those of one judge, equal ones joined; judges and prompts are not told any more.
    pub fn pooled(&self) -> Self {
        let all_pairs = self.items.saturating_mul(self.items).saturating_mul(6);
        let dense = all_pairs <= (2 * self.len()).max(1 << 16);
        let mut cells = if dense {
            self.cells_of_all_pairs()
        } else {
            self.sorted_cells()
        };
        cells.retain(|cell| cell.1 > 0.0);
        Self {
            items: self.items,
            starts: vec![0, cells.len() as u32],
            keys: cells.iter().map(|cell| cell.0).collect(),
            weights: cells.iter().map(|cell| cell.1 as f32).collect(),
            prompts: Vec::new(),
            swaps: Vec::new(),
        }
    }

    /// A cell for each pair, order and outcome, in order of their keys: no sorting.
    fn cells_of_all_pairs(&self) -> Vec<(u64, f64)> {
        let mut weights = vec![0.0; self.items * self.items * 6];
        for (row, &key) in self.keys.iter().enumerate() {
            let pair = pair_of(key);
            let (low, high) = (
                (pair >> ITEM_BITS) as usize,
                (pair & ((1 << ITEM_BITS) - 1)) as usize,
            );
            let place = usize::from(is_swapped(key)) * 3 + outcome_of(key) as usize;
            weights[(low * self.items + high) * 6 + place] += self.weight(row);
        }
        let cell = |(cell, weight): (usize, f64)| {
            let (low, high, place) = (cell / 6 / self.items, cell / 6 % self.items, cell % 6);
            let (left, right) = if place >= 3 { (high, low) } else { (low, high) };
            (key(left, right, Outcome::ALL[place % 3]), weight)
        };
        weights
            .into_iter()
            .enumerate()
            .filter(|cell| cell.1 > 0.0)
            .map(cell)
            .collect()
    }

    fn sorted_cells(&self) -> Vec<(u64, f64)> {
        let mut rows: Vec<(u64, u32)> = self.keys.iter().copied().zip(0..).collect();
        rows.par_sort_unstable();
        let mut cells: Vec<(u64, f64)> = Vec::new();
        for (key, row) in rows {
            let weight = self.weight(row as usize);
            match cells.last_mut() {
                Some(last) if last.0 == key => last.1 += weight,
                _ => cells.push((key, weight)),
            }
        }
        cells
    }

    /// Number of judges, of whom one may be nobody in particular.
    pub fn judges(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// The rows of a judge.
    pub fn rows(&self, judge: usize) -> Range<usize> {
        self.starts[judge] as usize..self.starts[judge + 1] as usize
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).map_or(1.0, |&weight| f64::from(weight))
    }

    /// The observation in one row.
    #[inline]
    pub fn get(&self, row: usize) -> Observation {
        let key = self.keys[row];
        let pair = pair_of(key);
        let (low, high) = (
            (pair >> ITEM_BITS) as usize,
            (pair & ((1 << ITEM_BITS) - 1)) as usize,
        );
        let (left, right) = if is_swapped(key) { (high, low) } else { (low, high) };
        Observation {
            left,
            right,
            outcome: outcome_of(key),
            weight: self.weight(row),
        }
    }

    /// All rows, judge by judge.
    pub fn iter(&self) -> impl Iterator<Item = Observation> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Ranges of judges with about the same number of rows each, from the data alone.
    pub fn judge_ranges(&self, chunks: usize) -> Vec<Range<usize>> {
        balanced_ranges(&self.starts, chunks)
    }
}

/// Where the rows of each group start.
fn row_offsets(groups: usize, of_rows: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0; groups + 1];
    of_rows.for_each(|group| starts[group as usize + 1] += 1);
    for group in 0..groups {
        starts[group + 1] += starts[group];
    }
    starts
}

fn split_by<'a, T>(starts: &[u32], column: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut rest = column;
    let part = |pair: &[u32]| {
        let (part, tail) = std::mem::take(&mut rest).split_at_mut((pair[1] - pair[0]) as usize);
        rest = tail;
        part
    };
    starts.windows(2).map(part).collect()
}

/// Halves the weights of rows about a pair that stands there in both orders.
fn fold(rows: &mut [Row], with_prompts: bool) -> Swaps {
    let mut swaps = Swaps::default();
    for group in rows.chunk_by_mut(|a, b| (pair_of(a.key), a.prompt) == (pair_of(b.key), b.prompt)) {
        // Swapped rows stand behind the others.
        let (straight, swapped) = group.split_at(group.partition_point(|row| !is_swapped(row.key)));
        let both = !straight.is_empty() && !swapped.is_empty();
        if both && (with_prompts || group.len() == 2) {
            let agree = |a: &Row| {
                swapped
                    .iter()
                    .filter(|b| outcome_of(a.key) == outcome_of(b.key).swapped())
                    .count()
            };
            let agreeing: usize = straight.iter().map(agree).sum();
            swaps.pairs += 1;
            swaps.consistent += agreeing as f64 / (straight.len() * swapped.len()) as f64;
            group.iter_mut().for_each(|row| row.weight /= 2.0);
        }
    }
    swaps
}

#[cfg(test)]
mod tests {
    use super::super::comparisons::ComparisonsBuilder;
    use super::*;

    fn table(rows: &[(&str, &str, Outcome, &str, &str)]) -> Comparisons {
        let mut builder = ComparisonsBuilder::default();
        for &(left, right, outcome, judge, prompt) in rows {
            builder.push(left, right, outcome, judge, prompt, 1.0).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn both_orders_of_one_pair_count_once() {
        let rows = [
            ("a", "b", Outcome::Left, "ann", "p1"),
            ("b", "a", Outcome::Right, "ann", "p1"),
            ("a", "b", Outcome::Left, "bob", "p1"),
            ("b", "a", Outcome::Left, "bob", "p1"),
            ("a", "b", Outcome::Left, "ann", "p2"),
        ];
        let found = Observations::of(&table(&rows));
        assert_eq!(
            found.swaps,
            [
                Swaps {
                    pairs: 1,
                    consistent: 1.0
                },
                Swaps {
                    pairs: 1,
                    consistent: 0.0
                }
            ]
        );
        let weights: Vec<f64> = found.iter().map(|row| row.weight).collect();
        assert_eq!(weights, [0.5, 0.5, 1.0, 0.5, 0.5]);
        assert_eq!(found.pooled().iter().map(|row| row.weight).sum::<f64>(), 3.0);
    }

    #[test]
    fn without_prompts_only_one_row_in_each_order_is_a_swapped_pair() {
        let once = [
            ("a", "b", Outcome::Left, "ann", ""),
            ("b", "a", Outcome::Right, "ann", ""),
        ];
        assert_eq!(Observations::of(&table(&once)).swaps[0].pairs, 1);
        let twice = [once[0], once[0], once[1]];
        assert_eq!(Observations::of(&table(&twice)).swaps[0].pairs, 0);
        let nobody = once.map(|row| (row.0, row.1, row.2, "", ""));
        assert_eq!(Observations::of(&table(&nobody)).swaps[0].pairs, 0);
    }

    #[test]
    fn rows_in_any_order_are_the_same_observations_and_pools_agree() {
        let rows = [
            ("a", "b", Outcome::Left, "ann", ""),
            ("c", "b", Outcome::Tie, "bob", ""),
            ("a", "c", Outcome::Right, "ann", ""),
            ("a", "b", Outcome::Left, "bob", ""),
        ];
        let found = Observations::of(&table(&rows));
        let mut turned = rows;
        turned.reverse();
        let other = Observations::of(&table(&turned));
        assert_eq!(found.iter().collect::<Vec<_>>(), other.iter().collect::<Vec<_>>());
        let cells = |mut cells: Vec<(u64, f64)>| {
            cells.retain(|cell| cell.1 > 0.0);
            cells
        };
        assert_eq!(cells(found.cells_of_all_pairs()), cells(found.sorted_cells()));
        assert_eq!(found.pooled().len(), 3);
    }
}
