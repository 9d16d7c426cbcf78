//! Small dense matrices: K x K row-major slices, factorisations by nalgebra.

use std::ops::AddAssign;

use nalgebra::{DMatrix, DVector};

/// `out = a b^T` for K x K row-major matrices.
pub fn multiply_transposed(a: &[f64], b: &[f64], n: usize, out: &mut [f64]) {
    for row in 0..n {
        for column in 0..n {
            out[row * n + column] = dot(&a[row * n..][..n], &b[column * n..][..n]);
        }
    }
}

/// `out = a b` for K x K row-major matrices.
pub fn multiply(a: &[f64], b: &[f64], n: usize, out: &mut [f64]) {
    out.fill(0.0);
    for row in 0..n {
        for inner in 0..n {
            add_scaled(&mut out[row * n..][..n], a[row * n + inner], &b[inner * n..][..n]);
        }
    }
}

/// Adds `weight a^T b` to `out`, for row-major matrices of `n` columns and any number of rows.
#[inline(always)]
pub fn add_gram(a: &[f64], b: &[f64], n: usize, weight: f64, out: &mut [f64]) {
    for (left, right) in a.chunks_exact(n).zip(b.chunks_exact(n)) {
        for (row, value) in left.iter().enumerate() {
            add_scaled(&mut out[row * n..][..n], weight * value, right);
        }
    }
}

/// Adds numbers side by side.
#[inline(always)]
pub fn add<T: Copy + AddAssign>(total: &mut [T], part: &[T]) {
    for (total, part) in total.iter_mut().zip(part) {
        *total += *part;
    }
}

/// Adds `factor * part`, number by number.
#[inline(always)]
pub fn add_scaled(total: &mut [f64], factor: f64, part: &[f64]) {
    for (total, part) in total.iter_mut().zip(part) {
        *total += factor * part;
    }
}

/// Divides all numbers by their sum.
pub fn normalise(values: &mut [f64]) {
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
}

/// The largest number; minus infinity where there is none.
#[inline(always)]
pub fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The sum of each column of a matrix of `n` columns.
pub fn column_sums(matrix: &[f64], n: usize) -> Vec<f64> {
    (0..n).map(|k| matrix[k..].iter().step_by(n).sum()).collect()
}

/// Scales each column of a matrix of `n` columns to sum 1.
pub fn normalise_columns(matrix: &mut [f64], n: usize) {
    for (k, sum) in column_sums(matrix, n).into_iter().enumerate() {
        let column = matrix[k..].iter_mut().step_by(n);
        column.for_each(|value| *value /= sum);
    }
}

/// Inner product.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Sum of squares.
#[inline(always)]
pub fn norm_squared(a: &[f64]) -> f64 {
    dot(a, a)
}

/// Transpose of a K x K matrix.
pub fn transpose(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|cell| a[cell % n * n + cell / n]).collect()
}

/// Eigenvalues and eigenvectors (columns of the second result, row-major) of a symmetric K x K matrix, in
/// rising order of eigenvalue.
pub fn symmetric_eigen(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let eigen = DMatrix::from_row_slice(n, n, a).symmetric_eigen();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
    let values = order.iter().map(|&i| eigen.eigenvalues[i]).collect();
    let vector = |cell: usize| eigen.eigenvectors[(cell / n, order[cell % n])];
    (values, (0..n * n).map(vector).collect())
}

/// The orthogonal `Q` that maximises `trace(Q^T C)` for a K x K matrix `C`: `Q = W V^T` where `C = W S V^T`.
pub fn nearest_orthogonal(c: &[f64], n: usize) -> Vec<f64> {
    let svd = DMatrix::from_row_slice(n, n, c).svd(true, true);
    let (Some(w), Some(v_t)) = (svd.u, svd.v_t) else {
        unreachable!("both factors were asked for");
    };
    row_major(&(w * v_t))
}

/// Singular values of a K x K matrix, in falling order.
pub fn singular_values(a: &[f64], n: usize) -> Vec<f64> {
    let values = DMatrix::from_row_slice(n, n, a).singular_values();
    let mut values: Vec<f64> = values.iter().copied().collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// Left singular vectors (columns of the first result, row-major) and singular values of a K x K matrix, in
/// falling order of singular value.
pub fn left_singular(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let svd = DMatrix::from_row_slice(n, n, a).svd(true, false);
    let Some(u) = svd.u else {
        unreachable!("the left factor was asked for");
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| svd.singular_values[j].total_cmp(&svd.singular_values[i]));
    let values = order.iter().map(|&i| svd.singular_values[i]).collect();
    let vectors = (0..n * n).map(|cell| u[(cell / n, order[cell % n])]).collect();
    (vectors, values)
}

/// Inverse of a K x K matrix, `None` if it is singular to working precision.
pub fn inverse(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let inverse = DMatrix::from_row_slice(n, n, a).try_inverse()?;
    let values = row_major(&inverse);
    values.iter().all(|value| value.is_finite()).then_some(values)
}

/// Solution `x` of `a x = b`, `None` if `a` is singular to working precision.
pub fn solve(a: &[f64], b: &[f64], n: usize) -> Option<Vec<f64>> {
    let right = DVector::from_column_slice(b);
    let solution = DMatrix::from_row_slice(n, n, a).lu().solve(&right)?;
    let finite = solution.iter().all(|value| value.is_finite());
    finite.then(|| solution.iter().copied().collect())
}

fn row_major(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().iter().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 9] = [2.0, 1.0, 0.0, 1.0, 3.0, -1.0, 0.0, -1.0, 1.0];

    fn assert_close(found: &[f64], wanted: &[f64]) {
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-12, "{found:?} {wanted:?}");
        }
    }

    const IDENTITY: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

    #[test]
    fn eigen_reconstructs() {
        let (values, vectors) = symmetric_eigen(&A, 3);
        assert!(values.is_sorted());
        let scaled: Vec<f64> = (0..9).map(|cell| vectors[cell] * values[cell % 3]).collect();
        let mut rebuilt = [0.0; 9];
        multiply_transposed(&scaled, &vectors, 3, &mut rebuilt);
        assert_close(&rebuilt, &A);
    }

    #[test]
    fn inverse_and_solve() {
        let mut product = [0.0; 9];
        multiply(&A, &inverse(&A, 3).unwrap(), 3, &mut product);
        assert_close(&product, &IDENTITY);
        assert!(inverse(&[1.0, 2.0, 2.0, 4.0], 2).is_none());
        assert_close(
            &solve(&[2.0, 0.0, 0.0, 4.0], &[2.0, 2.0], 2).unwrap(),
            &[1.0, 0.5],
        );
    }

    #[test]
    fn nearest_orthogonal_is_orthogonal_and_fixes_rotations() {
        let q = nearest_orthogonal(&A, 3);
        let mut product = [0.0; 9];
        multiply_transposed(&q, &q, 3, &mut product);
        assert_close(&product, &IDENTITY);
        assert_close(&nearest_orthogonal(&q, 3), &q);
    }

    #[test]
    fn gram_and_transpose() {
        let mut gram = [0.0; 9];
        add_gram(&A, &A, 3, 1.0, &mut gram);
        let mut naive = [0.0; 9];
        multiply(&transpose(&A, 3), &A, 3, &mut naive);
        assert_close(&gram, &naive);
        assert_close(&[norm_squared(&A)], &[18.0]);
        assert_close(
            &[singular_values(&A, 3).iter().map(|s| s * s).sum::<f64>()],
            &[18.0],
        );
    }
}
