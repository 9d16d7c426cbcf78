//! Shifted-ReLU SymNMF (`eq:algo_updates`).
//!
//! ```text
//! minimise ||H - U Q||_F^2   over H >= 0, Q orthogonal
//! repeat:  Z = U Q;   H = Z where Z >= alpha_t, else 0;   W S V^T = svd(H^T U);   Q = V W^T
//! ```
//!
//! `alpha_t` is a small constant, `psi^(t+1)`, or 0 (the older algorithm of Huang et al. 2014). Rows may be
//! weighted: scaling the rows of one worker in U and H together leaves Q the same in exact data and lets
//! workers with more evidence decide under noise. `O(M K^3)` a step; nothing is allocated in the loop but K x
//! K.

use quorate_machine::dispatch::{self, Kernel};

use crate::linalg::small::{add_gram, dot, nearest_orthogonal, transpose};
use crate::linalg::width::{Width, with_width};
use crate::parallel::{add, even_ranges, map_ranges};
use crate::{Context, Result};

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

/// Factors `u` (rows x K), starting from the rotation `q`; `weights` holds one weight for each block of K
/// rows.
pub fn factor(
    u: &[f64],
    weights: &[f64],
    q: Vec<f64>,
    classes: usize,
    settings: &FactorSettings,
    context: &mut Context,
) -> Result<Factor> {
    let (mut q, mut trace, mut converged) = (q, Vec::new(), false);
    for step in 0..settings.max_iter {
        context.step("factoring", step, Some(settings.max_iter))?;
        let (lost, cross) = context.run(|| cross_product(u, weights, &q, settings.alpha.at(step), classes));
        trace.push(lost);
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
    let (columns, alpha) = (transpose(&q, classes), settings.alpha.at(settings.max_iter));
    let mut h = vec![0.0; u.len()];
    let rows = u
        .chunks_exact(classes)
        .zip(h.chunks_exact_mut(classes))
        .enumerate();
    let lost = rows.map(|(row, (from, to))| weights[row / classes] * rectify(from, &columns, alpha, to));
    trace.push(lost.sum());
    Ok(Factor {
        h,
        q,
        iterations: trace.len() - 1,
        trace,
        converged,
    })
}

/// A row `z = u Q` with what is below `alpha` set to zero; returns the sum of squares of what was lost.
/// `columns`: those of Q, one after the other.
#[inline(always)]
fn rectify(u: &[f64], columns: &[f64], alpha: f64, h: &mut [f64]) -> f64 {
    let mut lost = 0.0;
    for (h, column) in h.iter_mut().zip(columns.chunks_exact(u.len())) {
        let z = dot(u, column);
        *h = if z >= alpha { z } else { 0.0 };
        lost += (*h - z) * (*h - z);
    }
    lost
}

/// `U^T H` for the rectified `H` of a rotation, and the sum of squares that was lost, rows weighted.
fn cross_product(u: &[f64], weights: &[f64], q: &[f64], alpha: f64, classes: usize) -> (f64, Vec<f64>) {
    /// Workers in a chunk of their own.
    const WORKERS: usize = 1024;
    let columns = transpose(q, classes);
    let ranges = even_ranges(weights.len(), weights.len() / WORKERS);
    let parts = map_ranges(ranges, |workers| {
        // The last block may have fewer rows.
        let end = u.len().min(workers.end * classes * classes);
        let u = &u[workers.start * classes * classes..end];
        let (weights, columns) = (&weights[workers], &columns[..]);
        with_width!(classes, width => dispatch::run(CrossProduct { width, u, weights, columns, alpha }))
    });
    let nothing = (0.0, vec![0.0; classes * classes]);
    parts.iter().fold(nothing, |(total, mut sum), (lost, cross)| {
        add(&mut sum, cross);
        (total + lost, sum)
    })
}

/// The part of some workers in [`cross_product`].
struct CrossProduct<'c, W> {
    width: W,
    u: &'c [f64],
    weights: &'c [f64],
    columns: &'c [f64],
    alpha: f64,
}

impl<W: Width> Kernel for CrossProduct<'_, W> {
    type Output = (f64, Vec<f64>);

    #[inline(always)]
    fn run(self) -> (f64, Vec<f64>) {
        let (width, classes) = (self.width, self.width.get());
        let columns = &self.columns[..classes * classes];
        let (mut lost, mut cross) = (0.0, vec![0.0; classes * classes]);
        let mut h = width.row();
        for (u, &weight) in self.u.chunks(classes * classes).zip(self.weights) {
            for u in u.chunks_exact(classes) {
                lost += weight * rectify(u, columns, self.alpha, h.as_mut());
                add_gram(u, h.as_ref(), classes, weight, &mut cross);
            }
        }
        (lost, cross)
    }
}

/// The K x K identity: the start for a factor that is already nearly aligned with the classes.
pub fn identity(classes: usize) -> Vec<f64> {
    let cell = |cell: usize| f64::from(u8::from(cell.is_multiple_of(classes + 1)));
    (0..classes * classes).map(cell).collect()
}

/// The rotation that turns `u` nearest to `target`, rows weighted: a start aligned with an earlier estimate.
pub fn rotation_towards(u: &[f64], target: &[f64], weights: &[f64], classes: usize) -> Vec<f64> {
    let mut cross = vec![0.0; classes * classes];
    let rows = u.chunks_exact(classes).zip(target.chunks_exact(classes));
    for (row, (from, to)) in rows.enumerate() {
        add_gram(from, to, classes, weights[row / classes], &mut cross);
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
    fn the_cross_product_is_that_of_all_rows_whatever_their_number() {
        let (_, u) = rotated();
        let q = identity(3);
        for rows in [1usize, 2, 3, 4, 299, 300] {
            let weights: Vec<f64> = (0..rows.div_ceil(3)).map(|block| 1.0 + block as f64).collect();
            let (lost, cross) = cross_product(&u[..3 * rows], &weights, &q, 0.1, 3);
            let (mut all, mut sum) = (0.0, vec![0.0; 9]);
            for (row, u) in u[..3 * rows].chunks_exact(3).enumerate() {
                let h = [0, 1, 2].map(|k| if u[k] >= 0.1 { u[k] } else { 0.0 });
                for k in 0..3 {
                    all += weights[row / 3] * (u[k] - h[k]).powi(2);
                    (0..3).for_each(|i| sum[i * 3 + k] += weights[row / 3] * u[i] * h[k]);
                }
            }
            assert!((lost - all).abs() < 1e-9 * (1.0 + all));
            assert!(
                cross
                    .iter()
                    .zip(&sum)
                    .all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs()))
            );
        }
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
