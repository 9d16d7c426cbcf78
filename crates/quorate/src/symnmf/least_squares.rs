//! The K x K least squares behind every imputation sweep.
//!
//! ```text
//! minimise over U_m:  tr(U_m G U_m^T) - 2 tr(U_m B^T)    subject to  ||U_m||_F <= D
//! ```
//!
//! Exactly: `U_m = B (G + mu I)^-1` in the eigenbasis of `G`, `mu = 0` if that lies in the ball, else the
//! `mu` that puts it on the sphere (one-dimensional root). Or by the paper's projected gradient steps of
//! length `1 / lambda_max(G)`. A proximal term `eps ||U_m - U_old||^2` keeps directions that the data say
//! nothing about where they were.

use crate::linalg::small::{add_scaled, dot, multiply, multiply_transposed, norm_squared, symmetric_eigen};

/// Relative weight of the proximal term.
const PROXIMAL: f64 = 1e-9;

/// Buffers for one solve after another.
pub(super) struct Scratch {
    n: usize,
    cholesky: Vec<f64>,
    solution: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(n: usize) -> Self {
        Self {
            n,
            cholesky: vec![0.0; n * n],
            solution: vec![0.0; n * n],
        }
    }

    /// Replaces `u` (K x K) by the constrained minimiser. `g` and `b` are used up.
    pub(super) fn solve_in_ball(&mut self, g: &mut [f64], b: &mut [f64], u: &mut [f64], radius: f64) {
        let n = self.n;
        let eps = PROXIMAL * (0..n).map(|k| g[k * n + k]).sum::<f64>() / n as f64;
        if eps <= 0.0 {
            return;
        }
        add_scaled(b, eps, u);
        (0..n).for_each(|k| g[k * n + k] += eps);
        // Most solutions lie inside the ball: Cholesky is enough, and cheap.
        if self.solve_unconstrained(g, b) && norm_squared(&self.solution) <= radius * radius {
            u.copy_from_slice(&self.solution);
            return;
        }
        solve_on_sphere(g, b, u, n, radius, eps);
    }

    /// `solution = B G^-1` row by row; false if `G` is not positive definite to working precision.
    fn solve_unconstrained(&mut self, g: &[f64], b: &[f64]) -> bool {
        let (n, l) = (self.n, &mut self.cholesky);
        for row in 0..n {
            for column in 0..=row {
                let sum = g[row * n + column] - dot(&l[row * n..][..column], &l[column * n..][..column]);
                if row == column && sum <= 0.0 {
                    return false;
                }
                l[row * n + column] = if row == column {
                    sum.sqrt()
                } else {
                    sum / l[column * n + column]
                };
            }
        }
        for (x, b) in self.solution.chunks_exact_mut(n).zip(b.chunks_exact(n)) {
            for k in 0..n {
                x[k] = (b[k] - dot(&l[k * n..][..k], &x[..k])) / l[k * n + k];
            }
            for k in (0..n).rev() {
                let above: f64 = (k + 1..n).map(|i| l[i * n + k] * x[i]).sum();
                x[k] = (x[k] - above) / l[k * n + k];
            }
        }
        true
    }
}

/// The constrained minimiser in the eigenbasis of `G`, where the columns of `B V` are scaled one by one.
fn solve_on_sphere(g: &[f64], b: &[f64], u: &mut [f64], n: usize, radius: f64, eps: f64) {
    let (mut values, vectors) = symmetric_eigen(g, n);
    values.iter_mut().for_each(|value| *value = value.max(eps));
    let mut rotated = vec![0.0; n * n];
    multiply(b, &vectors, n, &mut rotated);
    let mut column_norms = vec![0.0; n];
    for row in rotated.chunks_exact(n) {
        for (norm, value) in column_norms.iter_mut().zip(row) {
            *norm += value * value;
        }
    }
    let mu = multiplier(&values, &column_norms, radius);
    for row in rotated.chunks_exact_mut(n) {
        for (cell, value) in row.iter_mut().zip(&values) {
            *cell /= value + mu;
        }
    }
    multiply_transposed(&rotated, &vectors, n, u);
}

/// The `mu >= 0` with `sum_k norms_k / (values_k + mu)^2 = radius^2`, 0 if the sum is already below. Newton's
/// method on `1 / ||U(mu)|| - 1 / radius`, which is nearly linear and concave: it converges from the left.
fn multiplier(values: &[f64], norms: &[f64], radius: f64) -> f64 {
    let mut mu = 0.0;
    for _ in 0..50 {
        let (mut square, mut slope) = (0.0, 0.0);
        for (value, norm) in values.iter().zip(norms) {
            let inverse = 1.0 / (value + mu);
            square += norm * inverse * inverse;
            slope -= norm * inverse * inverse * inverse;
        }
        let length = square.sqrt();
        if length <= radius * (1.0 + 1e-12) {
            break;
        }
        mu -= (1.0 - length / radius) * square / -slope;
    }
    mu
}

/// `steps` projected gradient steps on `u` (the paper's update).
pub(super) fn descend_in_ball(g: &[f64], b: &[f64], u: &mut [f64], n: usize, radius: f64, steps: usize) {
    let largest = symmetric_eigen(g, n).0[n - 1];
    if largest <= 0.0 {
        return;
    }
    let mut product = vec![0.0; n * n];
    for _ in 0..steps {
        multiply(u, g, n, &mut product);
        for ((value, gradient), target) in u.iter_mut().zip(&product).zip(b) {
            *value -= (gradient - target) / largest;
        }
        let norm = norm_squared(u).sqrt();
        if norm > radius {
            u.iter_mut().for_each(|value| *value *= radius / norm);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::small::add_gram;

    fn value(g: &[f64], b: &[f64], u: &[f64], n: usize) -> f64 {
        let mut product = vec![0.0; n * n];
        multiply(u, g, n, &mut product);
        dot(u, &product) - 2.0 * dot(u, b)
    }

    proptest! {
        #[test]
        fn exact_solution_is_feasible_and_no_descent_step_improves_it(
            factor in proptest::collection::vec(-1.0f64..1.0, 9),
            b in proptest::collection::vec(-2.0f64..2.0, 9),
            start in proptest::collection::vec(-0.3f64..0.3, 9),
        ) {
            let n = 3;
            let mut g = vec![0.0; 9];
            add_gram(&factor, &factor, n, 1.0, &mut g);
            let mut exact = start.clone();
            Scratch::new(n).solve_in_ball(&mut g.clone(), &mut b.clone(), &mut exact, 1.0);
            prop_assert!(norm_squared(&exact) <= 1.0 + 1e-9);
            let mut descended = start;
            descend_in_ball(&g, &b, &mut descended, n, 1.0, 2000);
            prop_assert!(value(&g, &b, &exact, n) <= value(&g, &b, &descended, n) + 1e-6);
        }
    }

    #[test]
    fn directions_without_data_stay_where_they_were() {
        let mut u = vec![0.3, 0.4, 0.1, 0.2];
        let mut scratch = Scratch::new(2);
        scratch.solve_in_ball(&mut [1.0, 0.0, 0.0, 0.0], &mut [0.5, 0.0, 0.6, 0.0], &mut u, 1.0);
        for (found, wanted) in u.iter().zip([0.5, 0.4, 0.6, 0.2]) {
            assert!((found - wanted).abs() < 1e-6, "{u:?}");
        }
        let mut untouched = vec![0.3; 4];
        scratch.solve_in_ball(&mut [0.0; 4], &mut [0.0; 4], &mut untouched, 1.0);
        assert_eq!(untouched, [0.3; 4]);
    }
}
