//! Low-rank completion of the (task, class, worker) tensor of answers, for the methods that stand on it.
//!
//! ```text
//! T[n, ., m] = +1 at the answer, -1 elsewhere, for a label (n, m);  unobserved otherwise
//! SVT_theta(X) = sum_i max(s_i - theta, 0) u_i v_i^T      of an unfolding X = sum_i s_i u_i v_i^T
//! ```
//!
//! Mode-d unfoldings flatten the tensor to a matrix with one row for each task, class or worker. Singular
//! values are shrunk through the eigenvectors of the smaller Gram matrix: `X' = X V diag(max(s - theta, 0) /
//! s) V^T`.
//!
//! With two classes a fibre is always `(v, -v)`: in the orthonormal basis `((1, -1), (1, 1)) / sqrt(2)` its
//! second coordinate is 0. The tensor is then kept as the matrix of first coordinates, `sqrt(2) v`; singular
//! values are the same, and the unfoldings by task and by worker are each other's transpose.
//!
//! Dense: N K M numbers, a few copies, and products with Gram matrices of side `min(N, K M)` and M. For
//! moderate sizes.

use nalgebra::{DMatrix, DMatrixView};
use rayon::prelude::*;

use quorate::internal::linalg::{
    lanczos::largest_eigenpairs,
    small::{add, add_scaled, dot, norm_squared},
};
use quorate::{Annotations, Context, Result};

/// Sizes of the tensor: tasks, coordinates of a fibre (1 for two classes), slices (workers, and any added
/// layer).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub tasks: usize,
    pub width: usize,
    pub slices: usize,
    pub classes: usize,
}

/// Which index makes the rows of an unfolding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Tasks,
    Classes,
    Slices,
}

impl Shape {
    /// The shape of a table with `layers` slices beyond the workers; refused if copies of the tensor would
    /// not fit.
    pub fn of(annotations: &Annotations, layers: usize, copies: u64, context: &Context) -> Result<Self> {
        let (tasks, classes) = (annotations.task_count(), annotations.class_count());
        let width = if classes == 2 { 1 } else { classes };
        let shape = Self {
            tasks,
            width,
            slices: annotations.worker_count() + layers,
            classes,
        };
        let cells = tasks as u64 * width as u64 * shape.slices as u64;
        context.reserve(
            format!(
                "the dense tensor of {tasks} tasks, {classes} classes and {} workers",
                shape.slices
            ),
            8 * copies * cells,
            "use a method that follows the labels, such as dawid-skene or cnmf",
        )?;
        Ok(shape)
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.tasks * self.width * self.slices
    }

    /// Where coordinate `k` of fibre (task, slice) is: `[task][coordinate][slice]`.
    pub fn cell(&self, task: usize, k: usize, slice: usize) -> usize {
        (task * self.width + k) * self.slices + slice
    }

    /// Coordinates of a fibre with these class values (which sum to 0 if there are two).
    pub fn code(&self, values: &[f64], out: &mut [f64]) {
        match self.width {
            1 if self.classes == 2 => out[0] = (values[0] - values[1]) / std::f64::consts::SQRT_2,
            _ => out.copy_from_slice(values),
        }
    }

    /// Class values of a fibre from its coordinates.
    pub fn decode(&self, coordinates: impl Fn(usize) -> f64, values: &mut [f64]) {
        match self.width {
            1 if self.classes == 2 => {
                values[0] = coordinates(0) / std::f64::consts::SQRT_2;
                values[1] = -values[0];
            }
            _ => (0..self.width).for_each(|k| values[k] = coordinates(k)),
        }
    }

    /// The distinct modes, each with the number of times it counts.
    pub fn modes(&self) -> Vec<(Mode, f64)> {
        match self.width {
            1 => vec![(Mode::Tasks, 2.0), (Mode::Classes, 1.0)],
            _ => vec![(Mode::Tasks, 1.0), (Mode::Classes, 1.0), (Mode::Slices, 1.0)],
        }
    }

    /// Calls `visit(cell, value)` for every coordinate of every label's fibre.
    pub fn visit_labels(&self, annotations: &Annotations, mut visit: impl FnMut(usize, f64)) {
        let mut fibres = vec![0.0; self.classes * self.width];
        for answer in 0..self.classes {
            let mut values = vec![-1.0; self.classes];
            values[answer] = 1.0;
            self.code(&values, &mut fibres[answer * self.width..][..self.width]);
        }
        for (task, worker, answer) in annotations.iter() {
            for (k, value) in fibres[answer * self.width..][..self.width].iter().enumerate() {
                visit(self.cell(task, k, worker), *value);
            }
        }
    }

    /// Shrinks the singular values of one unfolding by `threshold`, in place; returns how many are left.
    pub fn shrink(&self, x: &mut [f64], mode: Mode, threshold: f64) -> usize {
        match mode {
            Mode::Tasks => shrink_matrix(x, self.width * self.slices, threshold),
            Mode::Slices => shrink_matrix(x, self.slices, threshold),
            Mode::Classes => self.shrink_classes(x, threshold),
        }
    }

    fn shrink_classes(&self, x: &mut [f64], threshold: f64) -> usize {
        let (k, row) = (self.width, self.width * self.slices);
        let gram = |part: &[f64]| {
            let mut gram = DMatrix::zeros(k, k);
            for fibres in part.chunks_exact(row) {
                for (a, b) in (0..k * k).map(|cell| (cell / k, cell % k)) {
                    let (left, right) = (&fibres[a * self.slices..], &fibres[b * self.slices..]);
                    gram[(a, b)] += dot(&left[..self.slices], &right[..self.slices]);
                }
            }
            gram
        };
        let parts: Vec<DMatrix<f64>> = x.par_chunks(row * PART).map(gram).collect();
        let (map, rank) = shrinkage(sum(parts, k), threshold).dense();
        x.par_chunks_mut(row).for_each(|fibres| {
            let view = DMatrixView::from_slice(fibres, self.slices, k);
            let mapped = view * &map;
            fibres.copy_from_slice(mapped.as_slice());
        });
        rank
    }

    /// Largest singular value of the unfolding by task.
    pub fn spectral_norm(&self, x: &[f64]) -> f64 {
        let columns = self.width * self.slices;
        let pairs = largest_eigenpairs(columns, 1, 1e-6, |v, out| {
            let product = |part: &[f64]| {
                let mut sum = vec![0.0; columns];
                let rows = part.chunks_exact(columns);
                rows.for_each(|row| add_scaled(&mut sum, dot(row, v), row));
                sum
            };
            let parts: Vec<Vec<f64>> = x.par_chunks(columns * PART).map(product).collect();
            out.fill(0.0);
            parts.iter().for_each(|part| add(out, part));
        });
        pairs.values[0].max(0.0).sqrt()
    }
}

/// Rows of a matrix that are worked on together: the borders depend on the data alone.
const PART: usize = 1024;

/// Adds square matrices in order.
fn sum(parts: Vec<DMatrix<f64>>, n: usize) -> DMatrix<f64> {
    let nothing = DMatrix::zeros(n, n);
    parts.into_iter().fold(nothing, |total, part| total + part)
}

/// The map `V diag(f) V^T`, `f = max(s - theta, 0) / s`, by its factors: only the vectors with f > 0.
struct Shrinkage {
    vectors: DMatrix<f64>,
    factors: Vec<f64>,
}

fn shrinkage(gram: DMatrix<f64>, threshold: f64) -> Shrinkage {
    let eigen = gram.symmetric_eigen();
    let size = eigen.eigenvalues.iter().copied().fold(0.0f64, f64::max);
    // Singular values below rounding are zero.
    let is_kept = |&at: &usize| eigen.eigenvalues[at] > (threshold * threshold).max(1e-14 * size);
    let kept: Vec<usize> = (0..eigen.eigenvalues.len()).filter(is_kept).collect();
    let factor = |&at: &usize| 1.0 - threshold / eigen.eigenvalues[at].sqrt();
    let factors = kept.iter().map(factor).collect();
    let vectors = eigen.eigenvectors.select_columns(&kept);
    Shrinkage { vectors, factors }
}

impl Shrinkage {
    fn scaled(&self) -> DMatrix<f64> {
        let mut scaled = self.vectors.clone();
        for (mut column, factor) in scaled.column_iter_mut().zip(&self.factors) {
            column *= *factor;
        }
        scaled
    }

    /// The map as a matrix, and its rank.
    fn dense(&self) -> (DMatrix<f64>, usize) {
        (self.scaled() * self.vectors.transpose(), self.factors.len())
    }
}

/// Shrinks the singular values of a row-major matrix with this many columns; returns how many are left.
fn shrink_matrix(x: &mut [f64], columns: usize, threshold: f64) -> usize {
    let rows = x.len() / columns;
    if rows < columns {
        // X (rows x columns) in memory is X^T by columns: X^T X'-map on the right.
        let transposed = DMatrixView::from_slice(x, columns, rows);
        let gram = transposed.transpose() * transposed;
        let (map, rank) = shrinkage(gram, threshold).dense();
        let mapped = transposed * map;
        x.copy_from_slice(mapped.as_slice());
        return rank;
    }
    let gram = |range: &[f64]| {
        let mut gram = DMatrix::zeros(columns, columns);
        for part in range.chunks(columns * PART) {
            let transposed = DMatrixView::from_slice(part, columns, part.len() / columns);
            gram.gemm(1.0, &transposed, &transposed.transpose(), 1.0);
        }
        gram
    };
    let ranges = x.par_chunks(columns * PART.max(rows.div_ceil(8)));
    let parts: Vec<DMatrix<f64>> = ranges.map(gram).collect();
    let shrinkage = shrinkage(sum(parts, columns), threshold);
    let rank = shrinkage.factors.len();
    let whole = (2 * rank >= columns).then(|| shrinkage.dense().0);
    let (scaled, turned) = (shrinkage.scaled(), shrinkage.vectors.transpose());
    x.par_chunks_mut(columns * PART).for_each(|part| {
        let transposed = DMatrixView::from_slice(part, columns, part.len() / columns);
        let mapped = match &whole {
            Some(map) => map * transposed,
            None => &scaled * (&turned * transposed),
        };
        part.copy_from_slice(mapped.as_slice());
    });
    rank
}

/// `||a - b||`.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    let square = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum();
    let chunks = a.par_chunks(1 << 16).zip(b.par_chunks(1 << 16));
    let parts: Vec<f64> = chunks.map(square).collect();
    parts.iter().sum::<f64>().sqrt()
}

/// `||a||`.
pub(crate) fn norm(a: &[f64]) -> f64 {
    let parts: Vec<f64> = a.par_chunks(1 << 16).map(norm_squared).collect();
    parts.iter().sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::assert_close;

    #[test]
    fn singular_values_are_shrunk() {
        let mut x = [3.0, 0.0, 0.0, 1.0];
        assert_eq!(shrink_matrix(&mut x, 2, 1.0), 1);
        assert_close(&x, &[2.0, 0.0, 0.0, 0.0], 1e-12);
        // Wide and tall, a matrix and its transpose: the same answer.
        let wide = [1.0, 2.0, 0.5, -1.0, 0.3, 2.0];
        let mut tall = [1.0, -1.0, 2.0, 0.3, 0.5, 2.0];
        let mut shrunk = wide;
        assert_eq!(
            shrink_matrix(&mut shrunk, 3, 0.7),
            shrink_matrix(&mut tall, 2, 0.7)
        );
        for (row, column) in [(0, 0), (0, 2), (1, 1)] {
            assert_close(&[shrunk[row * 3 + column]], &[tall[column * 2 + row]], 1e-12);
        }
        let mut same = wide;
        shrink_matrix(&mut same, 3, 0.0);
        assert_close(&same, &wide, 1e-12);
    }

    #[test]
    fn unfoldings_of_three_classes_shrink_as_matrices() {
        let shape = Shape {
            tasks: 4,
            width: 3,
            slices: 2,
            classes: 3,
        };
        let x: Vec<f64> = (0..24).map(|at| f64::from(at * at % 7) - 3.0).collect();
        // The unfolding by class, built by hand.
        let mut by_class: Vec<f64> = Vec::new();
        for n in 0..4 {
            for w in 0..2 {
                by_class.extend((0..3).map(|k| x[shape.cell(n, k, w)]));
            }
        }
        let mut found = x.clone();
        let rank = shape.shrink(&mut found, Mode::Classes, 1.5);
        assert_eq!(shrink_matrix(&mut by_class, 3, 1.5), rank);
        for n in 0..4 {
            for w in 0..2 {
                for k in 0..3 {
                    assert_close(
                        &[found[shape.cell(n, k, w)]],
                        &[by_class[(n * 2 + w) * 3 + k]],
                        1e-10,
                    );
                }
            }
        }
        let exact = DMatrix::from_row_slice(4, 6, &x).singular_values()[0];
        assert!((shape.spectral_norm(&x) - exact).abs() < 1e-5 * exact);
    }

    #[test]
    fn two_classes_are_one_coordinate() {
        let shape = Shape {
            tasks: 1,
            width: 1,
            slices: 1,
            classes: 2,
        };
        let (mut coordinate, mut values) = ([0.0], [0.0; 2]);
        shape.code(&[-1.0, 1.0], &mut coordinate);
        assert_close(&coordinate, &[-std::f64::consts::SQRT_2], 1e-12);
        shape.decode(|k| coordinate[k], &mut values);
        assert_close(&values, &[-1.0, 1.0], 1e-12);
    }
}
