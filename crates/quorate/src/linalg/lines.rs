//! Numbers that start where a cache line does, so that a row of eight lies in one line and not in two.

use std::ops::{Deref, DerefMut};

/// Numbers in a cache line.
pub(crate) const LINE: usize = 8;

/// Numbers from the start of a cache line on.
#[derive(Default)]
pub(crate) struct Lines {
    values: Vec<f64>,
    /// Where the first line starts in `values`.
    offset: usize,
    length: usize,
}

impl Lines {
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

impl Deref for Lines {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.values[self.offset..self.offset + self.length]
    }
}

impl DerefMut for Lines {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.values[self.offset..self.offset + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_length_and_start_at_a_line() {
        for length in [0, 1, 7, 8, 9, 1000] {
            let mut lines = Lines::zero(length);
            lines.fill(2.0);
            assert_eq!(lines.iter().sum::<f64>(), 2.0 * length as f64);
            assert_eq!(lines.as_ptr() as usize % (LINE * size_of::<f64>()), 0);
        }
    }
}
