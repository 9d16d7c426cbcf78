//! Imputation without pairs: linear in labels.
//!
//! With base weights S_mj and no reweighting the normal equations need only sums over tasks:
//!
//! ```text
//! V_n = sum_j U_j[x_jn, :]      T_n = sum_j U_j^T U_j        (j: the workers of task n)
//! B_m[a, :] = sum over tasks of m answered a of (V_n - U_m[a, :])      G_m = sum over tasks of m of (T_n - U_m^T U_m)
//! ```
//!
//! All U_m move at once towards their least-squares solution, damped; a step that raises the objective is
//! taken back and halved. Up to a constant the objective `sum S_mj ||R_mj - U_m U_j^T||^2` over pairs is
//! `sum_n [ -(|V_n|^2 - sum_j |U_j[x_jn]|^2) + (||T_n||^2 - sum_j ||U_j^T U_j||^2) / 2 ]`. `O(L K^2)` a sweep
//! whatever the number of pairs; sums over disjoint tasks add up.

use super::robust::Imputation;
use super::task_sums::TaskSums;
use crate::blocks::{Passes, Stage};
use crate::{Context, Result};

/// Completes the co-occurrences from the start `factor`.
pub fn impute_matrix_free(
    passes: &mut Passes<'_>,
    mut factor: Vec<f64>,
    max_iter: usize,
    tol: f64,
    context: &mut Context,
) -> Result<Imputation> {
    let mut sums = TaskSums::new(passes, context)?;
    let mut objective = sums.sum(&factor, passes, Stage::single("imputing"), context)?;
    let scale = objective.abs().max(f64::MIN_POSITIVE);
    let mut trace = vec![objective];
    let (mut converged, mut damping) = (false, 0.5);
    let (mut target, mut moved) = (factor.clone(), factor.clone());
    for sweep in 0..max_iter {
        let stage = Stage::round("imputing", sweep, max_iter);
        target.copy_from_slice(&factor);
        context.run(|| sums.solve(&mut target));
        let stalled = loop {
            for ((moved, old), new) in moved.iter_mut().zip(&factor).zip(&target) {
                *moved = old + damping * (new - old);
            }
            let next = sums.sum(&moved, passes, stage, context)?;
            if next <= objective || damping < 1e-3 {
                // A line search that finds only higher values has stalled, unless these are as good as equal.
                converged = (objective - next).abs() <= tol * scale;
                let stalled = next > objective;
                if !stalled {
                    std::mem::swap(&mut factor, &mut moved);
                    objective = next;
                    trace.push(objective);
                }
                break stalled;
            }
            damping /= 2.0;
        };
        if converged || stalled {
            break;
        }
    }
    Ok(Imputation {
        factor,
        iterations: trace.len() - 1,
        trace,
        converged,
        missing: None,
    })
}
