//! The K algebraically largest eigenpairs of a large symmetric operator.
//!
//! Lanczos with full reorthogonalisation: the Krylov basis grows until the residuals of the K leading Ritz
//! pairs are below `tol` times the largest Ritz value. "Largest" is algebraic, not by magnitude: a
//! block-sparse matrix with absent blocks has negative eigenvalues that are large in magnitude and mean
//! nothing.

use nalgebra::DMatrix;
use rand::RngExt;

use super::small::{add_scaled, dot, norm_squared};
use crate::context::seeded;

/// Leading eigenpairs: values in falling order, vectors as `[value][row]`.
#[derive(Debug, Clone)]
pub struct Eigenpairs {
    /// Eigenvalues, the largest first.
    pub values: Vec<f64>,
    /// One unit vector for each eigenvalue.
    pub vectors: Vec<Vec<f64>>,
    /// Whether the residuals fell below the tolerance.
    pub converged: bool,
}

/// Finds `count` eigenpairs of the symmetric operator `apply` of dimension `n`. Deterministic: the start
/// vector comes from a fixed seed.
pub fn largest_eigenpairs(
    n: usize,
    count: usize,
    tol: f64,
    mut apply: impl FnMut(&[f64], &mut [f64]),
) -> Eigenpairs {
    let count = count.min(n);
    let max_steps = n.min(40 * count + 200);
    let mut rng = seeded(0x1a2c_2035, 0);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let (mut diagonal, mut off_diagonal) = (Vec::new(), Vec::new());
    let mut next: Vec<f64> = (0..n).map(|_| rng.random::<f64>() - 0.5).collect();
    let mut product = vec![0.0; n];
    loop {
        // The product was freed of the basis once when its residual was taken, and twice is enough (Kahan,
        // Parlett).
        if !orthonormalise(&mut next, &basis, 1) {
            // The Krylov space is exhausted: go on in a new direction, coupled by zero.
            next = (0..n).map(|_| rng.random::<f64>() - 0.5).collect();
            if !orthonormalise(&mut next, &basis, 2) {
                break;
            }
            if let Some(last) = off_diagonal.last_mut() {
                *last = 0.0;
            }
        }
        apply(&next, &mut product);
        diagonal.push(dot(&next, &product));
        basis.push(std::mem::replace(&mut next, product.clone()));
        let steps = basis.len();
        let beta = residual_norm(&mut next, &basis);
        let last = steps == max_steps;
        if last || (steps >= count && steps.is_multiple_of(8)) {
            let (values, vectors) = tridiagonal_eigen(&diagonal, &off_diagonal);
            let settled = |pair: usize| (beta * vectors[pair][steps - 1]).abs() <= tol * scale_of(&values);
            let settled = (0..count.min(steps)).all(settled);
            if last || settled {
                break;
            }
        }
        off_diagonal.push(beta);
    }
    let steps = basis.len();
    let (values, weights) = tridiagonal_eigen(&diagonal, &off_diagonal[..steps - 1]);
    let vector = |pair: usize| {
        let mut vector = vec![0.0; n];
        let terms = weights[pair].iter().zip(&basis);
        terms.for_each(|(weight, direction)| add_scaled(&mut vector, *weight, direction));
        vector
    };
    let vectors: Vec<Vec<f64>> = (0..count).map(vector).collect();
    let converged = vectors.iter().zip(&values).all(|(vector, value)| {
        apply(vector, &mut product);
        let residual = product.iter().zip(vector).map(|(a, b)| (a - value * b).powi(2));
        residual.sum::<f64>().sqrt() <= 10.0 * tol * scale_of(&values)
    });
    Eigenpairs {
        values: values[..count].to_vec(),
        vectors,
        converged,
    }
}

/// Makes `vector` a unit vector orthogonal to the basis, which is subtracted `times`; false if nothing is
/// left of it.
fn orthonormalise(vector: &mut [f64], basis: &[Vec<f64>], times: usize) -> bool {
    let before = norm_squared(vector).sqrt();
    (0..times).for_each(|_| subtract_projections(vector, basis));
    let norm = norm_squared(vector).sqrt();
    if norm.is_nan() || norm <= 1e-12 * before.max(1e-300) {
        return false;
    }
    vector.iter_mut().for_each(|value| *value /= norm);
    true
}

/// The largest Ritz value, of which tolerances are shares.
fn scale_of(values: &[f64]) -> f64 {
    values
        .first()
        .map_or(0.0, |value| value.abs())
        .max(f64::MIN_POSITIVE)
}

fn residual_norm(vector: &mut [f64], basis: &[Vec<f64>]) -> f64 {
    subtract_projections(vector, basis);
    norm_squared(vector).sqrt()
}

fn subtract_projections(vector: &mut [f64], basis: &[Vec<f64>]) {
    for direction in basis {
        add_scaled(vector, -dot(vector, direction), direction);
    }
}

/// Eigenpairs of the tridiagonal matrix, largest value first; vectors as `[value][row]`.
fn tridiagonal_eigen(diagonal: &[f64], off_diagonal: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = diagonal.len();
    let mut matrix = DMatrix::zeros(n, n);
    for i in 0..n {
        matrix[(i, i)] = diagonal[i];
        if i + 1 < n {
            matrix[(i, i + 1)] = off_diagonal[i];
            matrix[(i + 1, i)] = off_diagonal[i];
        }
    }
    let eigen = matrix.symmetric_eigen();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    let values = order.iter().map(|&i| eigen.eigenvalues[i]).collect();
    let vector = |&i: &usize| eigen.eigenvectors.column(i).iter().copied().collect();
    (values, order.iter().map(vector).collect())
}

#[cfg(test)]
mod tests {
    use super::super::block_sparse::BlockSparse;
    use super::*;

    #[test]
    fn finds_the_algebraically_largest_pairs_of_a_block_matrix() {
        // A ring of 2 x 2 blocks with zero diagonal: negative eigenvalues of the same magnitude exist.
        let rows = 30;
        let upper: Vec<_> = (0..rows as u32 - 1)
            .map(|row| (row, row + 1, vec![0.5 + f64::from(row) * 0.01, 0.1, 0.2, 0.4]))
            .collect();
        let matrix = BlockSparse::symmetric(rows, 2, &upper);
        let n = matrix.dimension();
        let found = largest_eigenpairs(n, 3, 1e-10, |x, out| matrix.multiply(x, out));
        assert!(found.converged);
        let mut dense = DMatrix::zeros(n, n);
        let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
        for j in 0..n {
            unit[j] = 1.0;
            matrix.multiply(&unit, &mut column);
            unit[j] = 0.0;
            dense.column_mut(j).copy_from_slice(&column);
        }
        assert_eq!(dense, dense.transpose());
        let mut exact: Vec<f64> = dense.symmetric_eigen().eigenvalues.iter().copied().collect();
        exact.sort_by(|a, b| b.total_cmp(a));
        for (value, wanted) in found.values.iter().zip(&exact) {
            assert!((value - wanted).abs() < 1e-9, "{value} {wanted}");
        }
        for (vector, value) in found.vectors.iter().zip(&found.values) {
            matrix.multiply(vector, &mut column);
            let residual: f64 = column
                .iter()
                .zip(vector)
                .map(|(a, b)| (a - value * b).powi(2))
                .sum();
            assert!(residual.sqrt() < 1e-8);
        }
    }

    #[test]
    fn small_and_degenerate_operators() {
        let identity = largest_eigenpairs(5, 3, 1e-10, |x, out| out.copy_from_slice(x));
        assert!(identity.values.iter().all(|value| (value - 1.0).abs() < 1e-12));
        let zero = largest_eigenpairs(4, 2, 1e-10, |_, out| out.fill(0.0));
        assert!(zero.values.iter().all(|value| value.abs() < 1e-12));
    }
}
