//! Where chance comes from: a ChaCha stream for each use, and numbers addressed by cell.

use chacha20::ChaCha8Rng;
use rand::{Rng, RngExt};
use rand_distr::Distribution;
use rand_distr::multi::Dirichlet;

use crate::context::seeded;

/// What a stream is for. The top bit keeps them apart from the streams of fits with the same seed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Prior,
    Kinds,
    Confusion,
    Truth,
    Designated,
    Activity,
    Coverage,
    Answers,
    MissingPairs,
    DropOrder,
}

impl Stream {
    /// The generator number `index` of this use.
    pub(super) fn rng(self, seed: u64, index: usize) -> ChaCha8Rng {
        seeded(seed, 1 << 63 | (self as u64) << 32 | index as u64)
    }
}

/// A uniform number in `[0, 1)`.
pub(super) fn uniform(rng: &mut impl Rng) -> f64 {
    rng.random()
}

/// A uniform number for every cell (row, column), in any order and without a table: each row is a SplitMix64
/// generator (Steele, Lea and Flood 2014) of its own, the column the position in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellChance {
    key: u64,
}

impl CellChance {
    pub(super) fn new(seed: u64, stream: Stream) -> Self {
        let key = stream.rng(seed, 0).next_u64();
        Self { key }
    }

    /// The number of this cell, in `[0, 1)`.
    pub(super) fn uniform(&self, row: usize, column: usize) -> f64 {
        let bits = split_mix(split_mix(self.key, row as u64), column as u64);
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The output at `position` of the SplitMix64 generator that starts at `state`.
fn split_mix(state: u64, position: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut z = state.wrapping_add(STEP.wrapping_mul(position.wrapping_add(1)));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The first index whose cumulative probability exceeds `uniform`. Rounding cannot lead to an index of
/// probability 0.
pub(super) fn pick(probabilities: impl Iterator<Item = f64>, uniform: f64) -> usize {
    let (mut sum, mut last) = (0.0, 0);
    for (index, probability) in probabilities.enumerate() {
        if probability > 0.0 {
            last = index;
            sum += probability;
            if uniform < sum {
                break;
            }
        }
    }
    last
}

/// The symmetric Dirichlet distribution on `length` classes; on one class it is the point 1.
pub(super) struct SymmetricDirichlet {
    length: usize,
    many: Option<Dirichlet<f64>>,
}

impl SymmetricDirichlet {
    /// `concentration` is positive and finite (the settings were validated).
    pub(super) fn new(concentration: f64, length: usize) -> Self {
        let many = Dirichlet::new(&vec![concentration; length]).ok();
        assert!(many.is_some() || length < 2, "a validated concentration");
        Self { length, many }
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> Vec<f64> {
        match &self.many {
            Some(dirichlet) => dirichlet.sample(rng),
            None => vec![1.0; self.length],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_uniform_and_uncorrelated_with_their_neighbours() {
        let cells = CellChance::new(3, Stream::Answers);
        let side = 300;
        let (mut sum, mut across, mut down) = (0.0, 0.0, 0.0);
        for row in 0..side {
            for column in 0..side {
                let centred = cells.uniform(row, column) - 0.5;
                sum += centred;
                across += centred * (cells.uniform(row, column + 1) - 0.5);
                down += centred * (cells.uniform(row + 1, column) - 0.5);
            }
        }
        // Variances of a cell and of a product: 1/12 and 1/144. Five standard deviations.
        let count = (side * side) as f64;
        assert!(sum.abs() < 5.0 * (count / 12.0).sqrt());
        assert!(across.abs() < 5.0 * (count / 144.0).sqrt());
        assert!(down.abs() < 5.0 * (count / 144.0).sqrt());
    }

    #[test]
    fn picks_by_cumulative_probability_and_never_an_impossible_class() {
        let column = [0.0, 0.25, 0.0, 0.75, 0.0];
        for (uniform, expected) in [(0.0, 1), (0.2499, 1), (0.25, 3), (0.9999, 3), (1.0, 3)] {
            assert_eq!(pick(column.into_iter(), uniform), expected);
        }
    }

    #[test]
    fn streams_are_apart_from_those_of_fits() {
        assert_ne!(Stream::Prior.rng(5, 0).next_u64(), seeded(5, 0).next_u64());
        assert_ne!(
            Stream::Confusion.rng(5, 0).next_u64(),
            Stream::Confusion.rng(5, 1).next_u64()
        );
    }
}
