//! Follows SymNMF step by step against a known H.
//!
//! ```text
//! U = H Q^T + N;   h_(t) = min over P of ||H_(t) - H P||_F^2;   q_(t) = ||Q_(t) - Q P||_F^2 for the same P
//! ```

use anyhow::Result;
use quorate::Context;
use quorate::internal::linalg::assignment;
use quorate::internal::linalg::small::{dot, multiply, norm_squared, transpose};
use quorate::internal::symnmf::{Alpha, FactorSettings, factor, rotation_towards};
use rand::{Rng, RngExt};

/// Errors of each step, the start first.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    /// h_(t): of ReLU(U Q_(t)).
    pub h_error: Vec<f64>,
    /// q_(t).
    pub q_error: Vec<f64>,
}

/// Follows SymNMF with each of two thresholds.
pub(crate) fn follow_both(
    u: &[f64],
    h: &[f64],
    classes: usize,
    start: &[f64],
    thresholds: [Alpha; 2],
    steps: usize,
    context: &mut Context,
) -> Result<[Trace; 2]> {
    let [one, other] = thresholds.map(|alpha| follow(u, h, classes, start.to_vec(), alpha, steps, context));
    Ok([one?, other?])
}

/// Runs `steps` steps from the rotation `q`.
fn follow(
    u: &[f64],
    h: &[f64],
    classes: usize,
    mut q: Vec<f64>,
    threshold: Alpha,
    steps: usize,
    context: &mut Context,
) -> Result<Trace> {
    let weights = vec![1.0; u.len().div_ceil(classes * classes)];
    // The rotation that turns U into H: Q of the model.
    let truth = rotation_towards(u, h, &weights, classes);
    let mut trace = Trace {
        h_error: Vec::with_capacity(steps + 1),
        q_error: Vec::with_capacity(steps + 1),
    };
    for step in 0..=steps {
        let alpha = threshold.at(step);
        let (h_error, order) = h_error(u, h, &q, alpha, classes);
        trace.h_error.push(h_error);
        trace.q_error.push(q_error(&q, &truth, &order, classes));
        if step < steps {
            let one = FactorSettings {
                alpha: Alpha::Constant(alpha),
                max_iter: 1,
                tol: 0.0,
            };
            q = factor(u, &weights, q, classes, &one, context)?.q;
        }
    }
    Ok(trace)
}

/// The least squared distance of ReLU(U Q) to H over the orders of columns, and that order: column `order[k]`
/// stands for k.
fn h_error(u: &[f64], h: &[f64], q: &[f64], alpha: f64, classes: usize) -> (f64, Vec<usize>) {
    let columns = transpose(q, classes);
    let mut cost = vec![0.0; classes * classes];
    for (from, truth) in u.chunks_exact(classes).zip(h.chunks_exact(classes)) {
        for (component, column) in columns.chunks_exact(classes).enumerate() {
            let z = dot(from, column);
            let value = if z >= alpha { z } else { 0.0 };
            for (class, truth) in truth.iter().enumerate() {
                cost[class * classes + component] += (value - truth) * (value - truth);
            }
        }
    }
    let order = assignment::minimise(&cost, classes);
    let error = order
        .iter()
        .enumerate()
        .map(|(class, component)| cost[class * classes + component])
        .sum();
    (error, order)
}

fn q_error(q: &[f64], truth: &[f64], order: &[usize], classes: usize) -> f64 {
    let mut sum = 0.0;
    for row in 0..classes {
        for (class, component) in order.iter().enumerate() {
            sum += (q[row * classes + component] - truth[row * classes + class]).powi(2);
        }
    }
    sum
}

/// A nonnegative matrix whose entries are nonzero with probability `density`, and then uniform in the given
/// range.
pub(crate) fn sparse_factor(entries: usize, density: f64, range: (f64, f64), rng: &mut impl Rng) -> Vec<f64> {
    let draw = |_| {
        let (kept, value) = (rng.random::<f64>() < density, rng.random::<f64>());
        if kept {
            range.0 + (range.1 - range.0) * value
        } else {
            0.0
        }
    };
    (0..entries).map(draw).collect()
}

/// A rotation by `angle` away from `q`, in a direction drawn by `draw` (K x K numbers).
pub(crate) fn turned(q: &[f64], angle: f64, draw: &[f64], classes: usize) -> Vec<f64> {
    // exp of a skew matrix of norm `angle`, by its series: small angles only.
    let mut skew = vec![0.0; classes * classes];
    for row in 0..classes {
        for column in 0..classes {
            skew[row * classes + column] = draw[row * classes + column] - draw[column * classes + row];
        }
    }
    let norm = norm_squared(&skew).sqrt();
    skew.iter_mut().for_each(|value| *value *= angle / norm);
    let mut turn = quorate::internal::symnmf::identity(classes);
    let mut power = turn.clone();
    let mut next = vec![0.0; classes * classes];
    for order in 1..30 {
        multiply(&power, &skew, classes, &mut next);
        power = next.iter().map(|value| value / f64::from(order)).collect();
        turn.iter_mut().zip(&power).for_each(|(sum, value)| *sum += value);
    }
    let mut out = vec![0.0; classes * classes];
    multiply(q, &turn, classes, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::internal::symnmf::identity;

    #[test]
    fn the_true_rotation_has_no_error_and_a_turned_one_has_its_angle() {
        // U = H: the true rotation is the identity.
        let h = [1.0, 0.0, 0.0, 2.0, 0.5, 0.0, 0.0, 0.7];
        let trace = follow(
            &h,
            &h,
            2,
            identity(2),
            Alpha::Constant(1e-9),
            2,
            &mut Context::new(0),
        )
        .unwrap();
        assert!(
            trace
                .h_error
                .iter()
                .chain(&trace.q_error)
                .all(|error| *error < 1e-24),
            "{trace:?}"
        );
        let away = turned(&identity(2), 0.2, &[0.0, 1.0, 0.3, 0.0], 2);
        // ||R - I||_F^2 = 4 (1 - cos a) for a plane rotation by a;
        // the skew matrix of norm 0.2 turns by 0.2 / 2^(1/2).
        let expected = 4.0 * (1.0 - (0.2 / 2f64.sqrt()).cos());
        let found = follow(&h, &h, 2, away, Alpha::Constant(1e-9), 1, &mut Context::new(0)).unwrap();
        assert!(
            (found.q_error[0] - expected).abs() < 1e-12,
            "{} {expected}",
            found.q_error[0]
        );
        assert!(found.q_error[1] < found.q_error[0]);
    }

    #[test]
    fn a_permuted_start_is_no_error() {
        let h = [1.0, 0.0, 0.0, 2.0, 0.5, 0.0, 0.0, 0.7];
        let swapped = vec![0.0, 1.0, 1.0, 0.0];
        let trace = follow(&h, &h, 2, swapped, Alpha::Power(1e-9), 1, &mut Context::new(0)).unwrap();
        assert!(trace.h_error[0] < 1e-24 && trace.q_error[0] < 1e-24);
    }
}
