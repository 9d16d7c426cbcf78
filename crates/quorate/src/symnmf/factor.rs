//! Shifted-ReLU SymNMF (`eq:algo_updates`).
//!
//! ```text
//! minimise ||H - U Q||_F^2   over H >= 0, Q orthogonal
//! repeat:  Z = U Q;   H = Z where Z >= alpha_t, else 0;   W S V^T = svd(H^T U);   Q = V W^T
//! ```
//!
//! `alpha_t` is a small constant, `psi^(t+1)`, or 0 (the older algorithm of Huang et al. 2014). Rows may be weighted:
//! scaling the rows of one worker in U and H together leaves Q the same in exact data and lets workers with more
//! evidence decide under noise. `O(M K^3)` a step; nothing is allocated in the loop but K x K.

use crate::context::Context;
use crate::error::Result;
use crate::linalg::small::{dot, nearest_orthogonal, transpose};

/// The threshold below which an entry becomes zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Alpha {
    /// The same in every step; 0 is the older algorithm.
    Constant(f64),
    /// `psi^(t+1)` in step t = 0, 1, ..
    Power(f64),
}

impl Alpha {
    /// The threshold in step t = 0, 1, ..
    pub fn at(self, step: usize) -> f64 {
        match self {
            Self::Constant(alpha) => alpha,
            Self::Power(psi) => psi.powi(step as i32 + 1),
        }
    }
}

/// Settings of the factorisation.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorSettings {
    /// The threshold.
    pub alpha: Alpha,
    /// Largest number of steps.
    pub max_iter: usize,
    /// Stops when no entry of Q moves by more than this.
    pub tol: f64,
}

/// A nonnegative factor.
#[derive(Debug, Clone)]
pub struct Factor {
    /// H, row-major, K columns.
    pub h: Vec<f64>,
    /// The rotation Q, K x K.
    pub q: Vec<f64>,
    /// `||H - U Q||_F^2` (rows weighted) of each step.
    pub trace: Vec<f64>,
    /// Steps done.
    pub iterations: usize,
    /// Whether Q came to rest.
    pub converged: bool,
}

/// Factors `u` (rows x K), starting from the rotation `q`; `weights` holds one weight for each block of K rows.
pub fn factor(
    u: &[f64],
    weights: &[f64],
    q: Vec<f64>,
    classes: usize,
    settings: &FactorSettings,
    context: &mut Context,
) -> Result<Factor> {
    let mut q = q;
    let mut h = vec![0.0; u.len()];
    let mut cross = vec![0.0; classes * classes];
    let mut trace = Vec::new();
    let mut converged = false;
    for step in 0..settings.max_iter {
        context.step("factoring", step, Some(settings.max_iter))?;
        trace.push(rectify(u, weights, &q, settings.alpha.at(step), classes, &mut h));
        cross.fill(0.0);
        for (row, (from, to)) in u.chunks_exact(classes).zip(h.chunks_exact(classes)).enumerate() {
            let weight = weights[row / classes];
            for (line, value) in cross.chunks_exact_mut(classes).zip(from) {
                for (cell, other) in line.iter_mut().zip(to) {
                    *cell += weight * value * other;
                }
            }
        }
        let next = nearest_orthogonal(&cross, classes);
        let moved = next
            .iter()
            .zip(&q)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        q = next;
        // A shrinking threshold has to be small before rest means anything.
        converged = moved <= settings.tol && settings.alpha.at(step) <= 1e-3;
        if converged {
            break;
        }
    }
    trace.push(rectify(
        u,
        weights,
        &q,
        settings.alpha.at(settings.max_iter),
        classes,
        &mut h,
    ));
    Ok(Factor {
        h,
        q,
        iterations: trace.len() - 1,
        trace,
        converged,
    })
}

/// `H = Z where Z >= alpha else 0` for `Z = U Q`; returns the weighted `||H - Z||^2`.
fn rectify(u: &[f64], weights: &[f64], q: &[f64], alpha: f64, classes: usize, h: &mut [f64]) -> f64 {
    let columns = transpose(q, classes);
    let mut lost = 0.0;
    for (row, (from, to)) in u
        .chunks_exact(classes)
        .zip(h.chunks_exact_mut(classes))
        .enumerate()
    {
        for (cell, column) in to.iter_mut().zip(columns.chunks_exact(classes)) {
            let z = dot(from, column);
            *cell = if z >= alpha { z } else { 0.0 };
            lost += weights[row / classes] * (*cell - z) * (*cell - z);
        }
    }
    lost
}

/// The K x K identity: the start for a factor that is already nearly aligned with the classes.
pub fn identity(classes: usize) -> Vec<f64> {
    (0..classes * classes)
        .map(|cell| f64::from(u8::from(cell / classes == cell % classes)))
        .collect()
}

/// The rotation that turns `u` nearest to `target`, rows weighted: a start aligned with an earlier estimate.
pub fn rotation_towards(u: &[f64], target: &[f64], weights: &[f64], classes: usize) -> Vec<f64> {
    let mut cross = vec![0.0; classes * classes];
    let rows = u.chunks_exact(classes).zip(target.chunks_exact(classes));
    for (row, (from, to)) in rows.enumerate() {
        let weight = weights[row / classes];
        crate::linalg::small::add_gram(from, to, classes, weight, &mut cross);
    }
    nearest_orthogonal(&cross, classes)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::context::seeded;
    use crate::linalg::small::multiply;

    /// A nonnegative 300 x 3 matrix, mostly zeros so that it is sufficiently scattered, and U = H Q^T.
    fn rotated() -> (Vec<f64>, Vec<f64>) {
        let mut rng = seeded(3, 0);
        let h: Vec<f64> = (0..900)
            .map(|_| {
                if rng.random::<f64>() < 0.5 {
                    0.0
                } else {
                    0.1 + rng.random::<f64>()
                }
            })
            .collect();
        let random: Vec<f64> = (0..9).map(|_| rng.random::<f64>() - 0.5).collect();
        let q = nearest_orthogonal(&random, 3);
        let mut u = vec![0.0; 900];
        for (rows, out) in h.chunks_exact(9).zip(u.chunks_exact_mut(9)) {
            multiply(rows, &q, 3, out);
        }
        (h, u)
    }

    #[test]
    fn recovers_a_scattered_factor_up_to_the_order_of_columns() {
        let (h, u) = rotated();
        let settings = FactorSettings {
            alpha: Alpha::Constant(1e-6),
            max_iter: 2000,
            tol: 1e-10,
        };
        let found = factor(
            &u,
            &vec![1.0; 100],
            identity(3),
            3,
            &settings,
            &mut Context::new(0),
        )
        .unwrap();
        assert!(found.converged);
        let gap = |permutation: [usize; 3]| {
            let columns = (0..900).map(|cell| h[cell] - found.h[cell / 3 * 3 + permutation[cell % 3]]);
            columns.fold(0.0f64, |worst, difference| worst.max(difference.abs()))
        };
        let best = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(gap);
        assert!(best.iter().any(|&gap| gap < 1e-6), "{best:?}");
    }

    #[test]
    fn the_residual_does_not_rise_without_a_threshold() {
        let (_, u) = rotated();
        let settings = FactorSettings {
            alpha: Alpha::Constant(0.0),
            max_iter: 100,
            tol: 1e-10,
        };
        let found = factor(
            &u,
            &vec![1.0; 100],
            identity(3),
            3,
            &settings,
            &mut Context::new(0),
        )
        .unwrap();
        assert!(
            found.trace.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12),
            "{:?}",
            found.trace
        );
    }

    #[test]
    fn rotation_towards_undoes_a_rotation() {
        let (h, u) = rotated();
        let q = rotation_towards(&u, &h, &vec![1.0; 100], 3);
        let mut back = vec![0.0; 9];
        multiply(&u[..9], &q, 3, &mut back);
        assert!(back.iter().zip(&h).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
