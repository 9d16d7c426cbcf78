//! The robust tensor power method: components of a third-order tensor with (nearly) orthogonal components.
//!
//! ```text
//! T = sum_k alpha_k v_k (x) v_k (x) v_k      v <- T(I, v, v) / ||T(I, v, v)||      T <- T - alpha v (x) v (x) v
//! ```
//!
//! From many random starts the fixed point with the largest `alpha = T(v, v, v)` is kept, then removed from
//! the tensor (Anandkumar et al. 2014). Tensors are n x n x n slices `[i][j][k]`, k fastest. `O(n^3)` a step.

use rand::{Rng, RngExt};
use rayon::prelude::*;

use quorate::internal::linalg::small::{add_scaled, dot, norm_squared};

/// A component: its weight `alpha` and its unit vector `v`.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// T(v, v, v).
    pub alpha: f64,
    /// The unit vector.
    pub vector: Vec<f64>,
}

/// The `n` components of the tensor, found one after the other, each from `starts` random starts with up to
/// `steps` steps.
pub fn tensor_components(
    mut tensor: Vec<f64>,
    n: usize,
    starts: usize,
    steps: usize,
    rng: &mut impl Rng,
) -> Vec<Component> {
    let mut components = Vec::with_capacity(n);
    for _ in 0..n {
        let mut draw = |_| (0..n).map(|_| rng.random::<f64>() - 0.5).collect();
        let first: Vec<Vec<f64>> = (0..starts).map(&mut draw).collect();
        let found = first
            .into_par_iter()
            .map(|start| iterate(&tensor, n, start, steps));
        let found: Vec<Component> = found.collect();
        // Of equal ones the first, so that nothing depends on threads.
        let better = |best: Component, other: Component| if other.alpha > best.alpha { other } else { best };
        let Some(best) = found.into_iter().reduce(better) else {
            break;
        };
        deflate(&mut tensor, n, &best);
        components.push(best);
    }
    components
}

/// `T(I, v, v)`.
fn contract(tensor: &[f64], n: usize, v: &[f64], out: &mut [f64]) {
    for (slice, cell) in tensor.chunks_exact(n * n).zip(out) {
        let rows = slice.chunks_exact(n).zip(v);
        *cell = rows.map(|(row, factor)| factor * dot(row, v)).sum();
    }
}

fn iterate(tensor: &[f64], n: usize, mut v: Vec<f64>, steps: usize) -> Component {
    let mut next = vec![0.0; n];
    normalise(&mut v);
    for _ in 0..steps {
        contract(tensor, n, &v, &mut next);
        if !normalise(&mut next) {
            break;
        }
        let moved: f64 = v.iter().zip(&next).map(|(a, b)| (a - b).powi(2)).sum();
        std::mem::swap(&mut v, &mut next);
        if moved < 1e-28 {
            break;
        }
    }
    contract(tensor, n, &v, &mut next);
    Component {
        alpha: dot(&v, &next),
        vector: v,
    }
}

fn normalise(v: &mut [f64]) -> bool {
    let norm = norm_squared(v).sqrt();
    if norm.is_nan() || norm <= f64::MIN_POSITIVE {
        return false;
    }
    v.iter_mut().for_each(|value| *value /= norm);
    true
}

fn deflate(tensor: &mut [f64], n: usize, component: &Component) {
    let v = &component.vector;
    for (i, slice) in tensor.chunks_exact_mut(n * n).enumerate() {
        for (j, row) in slice.chunks_exact_mut(n).enumerate() {
            add_scaled(row, -(component.alpha * v[i] * v[j]), v);
        }
    }
}

/// The tensor with `matrix` (n x n) applied to one mode: `out[.., p, ..] = sum_i matrix[p][i] tensor[.., i,
/// ..]`.
pub fn transform_mode(tensor: &[f64], n: usize, mode: usize, matrix: &[f64]) -> Vec<f64> {
    let stride = n.pow(2 - mode as u32);
    let mut out = vec![0.0; tensor.len()];
    for (cell, &value) in tensor.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        let i = cell / stride % n;
        let base = cell - i * stride;
        for p in 0..n {
            out[base + p * stride] += matrix[p * n + i] * value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::internal::seeded;

    #[test]
    fn finds_orthogonal_components() {
        let vectors = [[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]];
        let alphas = [2.0, 1.5, 1.1];
        let mut tensor = vec![0.0; 27];
        for (vector, alpha) in vectors.iter().zip(alphas) {
            deflate(
                &mut tensor,
                3,
                &Component {
                    alpha: -alpha,
                    vector: vector.to_vec(),
                },
            );
        }
        let found = tensor_components(tensor, 3, 20, 100, &mut seeded(1, 0));
        for ((component, vector), alpha) in found.iter().zip(&vectors).zip(alphas) {
            assert!((component.alpha - alpha).abs() < 1e-10, "{found:?}");
            assert!((dot(&component.vector, vector) - 1.0).abs() < 1e-10, "{found:?}");
        }
    }

    #[test]
    fn a_mode_is_transformed_as_defined() {
        let tensor: Vec<f64> = (0..8).map(f64::from).collect();
        let swap = [0.0, 1.0, 1.0, 0.0];
        assert_eq!(
            transform_mode(&tensor, 2, 0, &swap),
            [4.0, 5.0, 6.0, 7.0, 0.0, 1.0, 2.0, 3.0]
        );
        assert_eq!(
            transform_mode(&tensor, 2, 1, &swap),
            [2.0, 3.0, 0.0, 1.0, 6.0, 7.0, 4.0, 5.0]
        );
        assert_eq!(
            transform_mode(&tensor, 2, 2, &swap),
            [1.0, 0.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.0]
        );
        assert!(
            tensor_components(vec![0.0; 8], 2, 3, 5, &mut seeded(1, 0))
                .iter()
                .all(|c| c.alpha == 0.0)
        );
    }
}
