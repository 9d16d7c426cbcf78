//! A symmetric matrix of K x K blocks, most of them absent.

use crate::parallel::add_up;

/// Block-compressed rows: for each block row the block columns present, K x K values each, row-major.
#[derive(Debug, Clone)]
pub struct BlockSparse {
    block: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl BlockSparse {
    /// From blocks of the upper triangle, diagonal included: `(row, column, values)` with `row <= column`,
    /// each once. The lower triangle is filled with the transposes.
    pub fn symmetric(rows: usize, block: usize, upper: &[(u32, u32, Vec<f64>)]) -> Self {
        let mut starts = vec![0usize; rows + 1];
        for &(row, column, _) in upper {
            starts[row as usize + 1] += 1;
            if row != column {
                starts[column as usize + 1] += 1;
            }
        }
        add_up(&mut starts);
        let total = starts[rows];
        let mut next = starts.clone();
        let mut matrix = Self {
            block,
            starts,
            columns: vec![0; total],
            values: vec![0.0; total * block * block],
        };
        let mut put = |row: u32, column: u32, value: &dyn Fn(usize, usize) -> f64| {
            let slot = next[row as usize];
            next[row as usize] += 1;
            matrix.columns[slot] = column;
            let cells = matrix.values[slot * block * block..][..block * block].iter_mut();
            cells
                .enumerate()
                .for_each(|(cell, to)| *to = value(cell / block, cell % block));
        };
        for (row, column, values) in upper {
            put(*row, *column, &|a, b| values[a * block + b]);
            if row != column {
                put(*column, *row, &|a, b| values[b * block + a]);
            }
        }
        matrix
    }

    /// Number of rows of the whole matrix.
    pub fn dimension(&self) -> usize {
        (self.starts.len() - 1) * self.block
    }

    /// Number of blocks that are present, both triangles.
    pub fn block_count(&self) -> usize {
        self.columns.len()
    }

    /// `out = self x`.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let block = self.block;
        for (row, out) in out.chunks_exact_mut(block).enumerate() {
            out.fill(0.0);
            for slot in self.starts[row]..self.starts[row + 1] {
                let x = &x[self.columns[slot] as usize * block..][..block];
                let values = &self.values[slot * block * block..][..block * block];
                for (cell, line) in out.iter_mut().zip(values.chunks_exact(block)) {
                    *cell += super::small::dot(line, x);
                }
            }
        }
    }
}
