//! Aligned vector: numbers that start at a cache line, so that a row of eight lies in one line and not in
//! two.

use std::ops::{Deref, DerefMut};

/// Numbers in a cache line.
pub(crate) const LINE: usize = 8;

/// A vector of numbers aligned to a cache line.
#[derive(Default)]
pub(crate) struct AlignedVec {
    values: Vec<f64>,
    /// Where the first line starts in `values`.
    offset: usize,
    length: usize,
}

impl AlignedVec {
    /// So many zeros.
    pub(crate) fn zero(length: usize) -> Self {
        let values = vec![0.0; length + LINE];
        let offset = values.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        Self {
            values,
            offset,
            length,
        }
    }
}

impl Deref for AlignedVec {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.values[self.offset..self.offset + self.length]
    }
}

impl DerefMut for AlignedVec {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.values[self.offset..self.offset + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_vectors_have_their_length_and_start_at_a_line() {
        for length in [0, 1, 7, 8, 9, 1000] {
            let mut vector = AlignedVec::zero(length);
            vector.fill(2.0);
            assert_eq!(vector.iter().sum::<f64>(), 2.0 * length as f64);
            assert_eq!(vector.as_ptr() as usize % (LINE * size_of::<f64>()), 0);
        }
    }
}
