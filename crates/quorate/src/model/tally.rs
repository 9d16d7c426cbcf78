//! The counts of a chunk of tasks while a sweep goes over it.
//!
//! With few truths the weights of an answer lie beside its counts, `[worker][answer][weights, counts]`: a
//! label then touches one cache line instead of two, and in crowds of thousands of workers, whose tables
//! outgrow the cache, that is what a pass waits for. With many truths the copy of the weights would cost more
//! than it saves, and they stay where they are.

use rayon::prelude::*;

use super::AnswerCounts;
use crate::annotations::row_offsets::StridedTable;
use crate::linalg::aligned::AlignedVec;
use crate::linalg::width::Width;
use crate::parallel::add;

/// Most truths whose weights are copied.
const WIDEST: usize = 8;

/// The tables of a sweep, for the next one to use again: fresh memory would have to be cleared by the system
/// first.
#[derive(Default)]
pub(crate) struct Tallies(pub(super) Vec<Tally>);

impl Tallies {
    /// A table for each of so many chunks, without counts, beside these weights.
    pub(super) fn start<W: Width>(&mut self, width: W, chunks: usize, weights: &[f64]) {
        self.0.resize_with(chunks, Tally::default);
        let tables = self.0.par_iter_mut();
        tables.for_each(|tally| tally.start(width, weights));
    }

    /// The sum of the counts of all chunks, each number in the order of the chunks.
    pub(super) fn sum<W: Width>(&self, width: W, answers: usize, cells: usize) -> AnswerCounts {
        const CELLS: usize = 1 << 12;
        let (truths, stride) = (width.get(), stride(width));
        let mut total = vec![0.0; cells];
        let chunks = total.par_chunks_mut(CELLS * truths).enumerate();
        chunks.for_each(|(chunk, total)| {
            for part in &self.0 {
                let values = &part.values[chunk * CELLS * stride + stride - truths..];
                for (total, counts) in total.chunks_exact_mut(truths).zip(values.chunks(stride)) {
                    add(total, counts);
                }
            }
        });
        let mut mass = vec![0.0; truths];
        self.0.iter().for_each(|part| add(&mut mass, &part.mass));
        AnswerCounts::from_cells(answers, total, mass)
    }
}

/// Counts of one chunk, and the weights if they lie beside them.
#[derive(Default)]
pub(super) struct Tally {
    values: AlignedVec,
    mass: Vec<f64>,
}

/// Numbers from one (worker, answer) to the next where counts are kept.
#[inline(always)]
fn stride<W: Width>(width: W) -> usize {
    match width.get() {
        truths if truths <= WIDEST => 2 * truths,
        truths => truths,
    }
}

impl Tally {
    /// No counts yet, beside these weights.
    fn start<W: Width>(&mut self, width: W, weights: &[f64]) {
        let (truths, stride) = (width.get(), stride(width));
        let length = weights.len() / truths * stride;
        if self.values.len() != length {
            self.values = AlignedVec::zero(length);
        } else if stride == truths {
            self.values.fill(0.0);
        }
        self.mass.clear();
        self.mass.resize(truths, 0.0);
        if stride > truths {
            let cells = self.values.chunks_exact_mut(stride);
            for (cell, weights) in cells.zip(weights.chunks_exact(truths)) {
                cell[..truths].copy_from_slice(weights);
                cell[truths..].fill(0.0);
            }
        }
    }

    /// The weights to use; `shared` are those of all chunks.
    #[inline(always)]
    pub(super) fn weights<'t>(
        &'t self,
        width: impl Width,
        answers: usize,
        shared: &'t [f64],
    ) -> StridedTable<'t> {
        match stride(width) / width.get() {
            1 => StridedTable::of_cells(shared, width.get(), answers, 1),
            rows => StridedTable::of_cells(&self.values, width.get(), answers, rows),
        }
    }

    /// The counts, each at the place of its weights.
    #[inline(always)]
    pub(super) fn counts<W: Width>(&mut self, width: W) -> &mut [f64] {
        &mut self.values[stride(width) - width.get()..]
    }

    /// Adds to the mass of each truth.
    pub(super) fn add_mass(&mut self, mass: &[f64]) {
        add(&mut self.mass, mass);
    }
}
