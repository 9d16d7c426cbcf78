//! How alike two voices answer, beyond chance: the correlation of their answers, written as indicators of the
//! classes.
//!
//! ```text
//! u_i(a) = ([x_i = a] - p_i(a)) / s_i,   s_i^2 = 1 - sum_a p_i(a)^2,     p_i(a) the share of answer a
//! y_ij = sum_a u_i(a) u_j(a)  for one item,      r_ij = mean of y_ij over the items that both answered
//! ```
//!
//! With two classes `r` is Pearson's correlation (phi). If two judges err independently given the truth, then
//! `r_ij = l_i l_j`, where `l` is the correlation of a judge with the truth: exactly with two classes, and
//! with more of them where wrong answers are spread evenly.

use super::answers::{NONE, Patterns, given};
use crate::annotations::ByWorker;
use crate::linalg::small::dot;
use crate::statistics::{PairSums, SharedTask};

/// Similarity of all pairs of voices.
pub(super) struct VoiceSimilarity {
    voices: usize,
    /// `[pattern][voice]`.
    spoken: Vec<u16>,
    items: Vec<u64>,
    /// `p`, `[voice][class]`, and `s`.
    shares: Vec<f64>,
    deviation: Vec<f64>,
    /// `sum_a p_i(a) p_j(a)`.
    overlap: Vec<f64>,
    classes: usize,
    /// Items that both answered, and `r`, `[voice][voice]`.
    both: Vec<f64>,
    r: Vec<f64>,
}

impl VoiceSimilarity {
    pub(super) fn of(patterns: &Patterns, groups: &[Vec<usize>]) -> Self {
        let (voices, classes) = (groups.len(), patterns.classes);
        let mut similarity = Self {
            voices,
            spoken: patterns.speak(groups),
            items: patterns.items.clone(),
            shares: vec![0.0; voices * classes],
            deviation: vec![0.0; voices],
            overlap: vec![0.0; voices * voices],
            classes,
            both: vec![0.0; voices * voices],
            r: vec![0.0; voices * voices],
        };
        similarity.count_shares();
        similarity.correlate(patterns);
        similarity
    }

    fn count_shares(&mut self) {
        let classes = self.classes;
        for (row, &items) in self.spoken.chunks_exact(self.voices).zip(&self.items) {
            for (voice, answer) in given(row) {
                self.shares[voice * classes + answer] += items as f64;
            }
        }
        for (voice, shares) in self.shares.chunks_exact_mut(classes).enumerate() {
            let total: f64 = shares.iter().sum::<f64>().max(1.0);
            shares.iter_mut().for_each(|share| *share /= total);
            let variance = 1.0 - shares.iter().map(|share| share * share).sum::<f64>();
            self.deviation[voice] = variance.max(0.0).sqrt();
        }
        let of = |voice: usize| &self.shares[voice * classes..][..classes];
        for (cell, overlap) in self.overlap.iter_mut().enumerate() {
            *overlap = dot(of(cell / self.voices), of(cell % self.voices));
        }
    }

    fn correlate(&mut self, patterns: &Patterns) {
        let labels = patterns.labels(&self.spoken);
        let block = labels.view(self.voices, self.classes);
        let by_voice = ByWorker::of_block(block);
        let mut pairs = PairSums::of(block, &by_voice);
        for i in 0..self.voices {
            let start = |j, _| Some((j, 0.0, 0.0));
            let add = |(j, sum, items): &mut (usize, f64, f64), shared: SharedTask| {
                let count = self.items[shared.task] as f64;
                let answers = (shared.answers.0 as u16, shared.answers.1 as u16);
                if let Some(y) = self.together(answers, i, *j) {
                    *sum += count * y;
                    *items += count;
                }
            };
            for (_, (j, sum, items)) in pairs.of_worker(i, |_| true, start, add) {
                for cell in [i * self.voices + j, j * self.voices + i] {
                    self.r[cell] = if items > 0.0 { sum / items } else { 0.0 };
                    self.both[cell] = items;
                }
            }
        }
    }

    /// `y_ij` of an item; none unless both answered, and where one always gives the same answer.
    fn together(&self, (x, z): (u16, u16), i: usize, j: usize) -> Option<f64> {
        let scale = self.deviation[i] * self.deviation[j];
        if x == NONE || z == NONE || scale <= 0.0 {
            return None;
        }
        let share = |voice: usize, answer: u16| self.shares[voice * self.classes + usize::from(answer)];
        let same = if x == z { 1.0 } else { 0.0 };
        Some((same - share(i, z) - share(j, x) + self.overlap[i * self.voices + j]) / scale)
    }

    /// `r_ij`.
    pub(super) fn between(&self, i: usize, j: usize) -> f64 {
        self.r[i * self.voices + j]
    }

    /// What the truth does not explain of the similarity of i and j, seen from the voices outside.
    ///
    /// ```text
    /// R = mean r_lm,   C = mean r_il r_jm  over l, m outside,      T = r_ij R - C,      excess = (r_ij - C / R) / (1 - C / R)
    /// ```
    ///
    /// The standard error of T is by the delta method: an item moves `r_ij` by `y_ij - r_ij`, and T by what
    /// follows from that.
    pub(super) fn beyond_truth(&self, (i, j): (usize, usize), outside: &[usize]) -> BeyondTruth {
        let r = |a: usize, b: usize| self.between(a, b);
        let pairs = (outside.len() * (outside.len() - 1)) as f64;
        // Sums over l and m, l != m, of products are products of sums less the diagonal.
        let mean_product = |of_i: &dyn Fn(usize) -> f64, of_j: &dyn Fn(usize) -> f64| {
            let sum = |of: &dyn Fn(usize) -> f64| outside.iter().map(|&l| of(l)).sum::<f64>();
            (sum(of_i) * sum(of_j) - sum(&|l| of_i(l) * of_j(l))) / pairs
        };
        let mean_outside = |of: &dyn Fn(usize, usize) -> f64| {
            let others = |&l: &usize| outside.iter().filter(move |&&m| m != l).map(move |&m| (l, m));
            outside
                .iter()
                .flat_map(others)
                .map(|(l, m)| of(l, m))
                .sum::<f64>()
                / pairs
        };
        let common = mean_outside(&r);
        let cross = mean_product(&|l| r(i, l), &|m| r(j, m));
        let mut variance = 0.0;
        for (row, &count) in self.spoken.chunks_exact(self.voices).zip(&self.items) {
            let moved = |a: usize, b: usize| {
                let y = self.together((row[a], row[b]), a, b);
                y.map_or(0.0, |y| (y - r(a, b)) / self.both[a * self.voices + b])
            };
            let slope = moved(i, j) * common + r(i, j) * mean_outside(&moved)
                - mean_product(&|l| moved(i, l), &|m| r(j, m))
                - mean_product(&|l| r(i, l), &|m| moved(j, m));
            variance += count as f64 * slope * slope;
        }
        let by_truth = if common > 0.0 {
            (cross / common).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let z = (r(i, j) * common - cross) / variance.sqrt();
        BeyondTruth {
            common,
            excess: (r(i, j) - by_truth) / (1.0 - by_truth).max(1e-9),
            z: if variance > 0.0 { z } else { 0.0 },
        }
    }
}

/// How far the similarity of two voices goes beyond what the truth explains.
pub(super) struct BeyondTruth {
    /// R: mean similarity of the voices outside.
    pub common: f64,
    /// The part of the similarity that the truth does not explain, over all that it leaves open.
    pub excess: f64,
    /// T over its standard error.
    pub z: f64,
}

#[cfg(test)]
mod tests {
    use super::super::panel::Panel;
    use super::*;

    #[test]
    fn with_two_classes_it_is_the_correlation_of_a_two_by_two_table() {
        // 40 both pass, 30 both fail, 20 only a, 10 only b: phi = (40*30 - 20*10) / sqrt(60*40*50*50).
        let table = [
            ("pass", "pass", 40),
            ("fail", "fail", 30),
            ("pass", "fail", 20),
            ("fail", "pass", 10),
        ];
        let mut rows = Vec::new();
        for (a, b, times) in table {
            for _ in 0..times {
                let item = format!("q{}", rows.len());
                rows.push((item.clone(), "a", a));
                rows.push((item, "b", b));
            }
        }
        let patterns = Patterns::of(&Panel::from_rows(rows).unwrap());
        let similarity = VoiceSimilarity::of(&patterns, &[vec![0], vec![1]]);
        let phi = (40.0 * 30.0 - 20.0 * 10.0) / (60.0f64 * 40.0 * 50.0 * 50.0).sqrt();
        assert!(
            (similarity.between(0, 1) - phi).abs() < 1e-12,
            "{}",
            similarity.between(0, 1)
        );
    }
}
