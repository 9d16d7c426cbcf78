//! Imputation without pairs: linear in labels.
//!
//! With base weights S_mj and no reweighting the normal equations need only sums over tasks:
//!
//! ```text
//! V_n = sum_j U_j[x_jn, :]      T_n = sum_j U_j^T U_j        (j: the workers of task n)
//! B_m[a, :] = sum over tasks of m answered a of (V_n - U_m[a, :])      G_m = sum over tasks of m of (T_n - U_m^T U_m)
//! ```
//!
//! All U_m move at once towards their least-squares solution, damped; a step that raises the objective is taken back
//! and halved. Up to a constant the objective `sum S_mj ||R_mj - U_m U_j^T||^2` over pairs is
//! `sum_n [ -(|V_n|^2 - sum_j |U_j[x_jn]|^2) + (||T_n||^2 - sum_j ||U_j^T U_j||^2) / 2 ]`.
//! `O(L K^2)` a sweep whatever the number of pairs; sums over disjoint tasks add up.

use rayon::prelude::*;

use super::least_squares::Scratch;
use super::robust::{Imputation, RADIUS};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use crate::linalg::small::{add_gram, norm_squared};
use crate::linalg::width::{Width, with_width};
use crate::parallel::{add_in_order, balanced_ranges, map_ranges};

/// Sums over tasks: the normal equations of every worker, and the objective.
struct Normal {
    g: Vec<f64>,
    b: Vec<f64>,
    objective: f64,
}

/// Completes the co-occurrences from the start `factor`.
pub fn impute_matrix_free(
    annotations: &Annotations,
    mut factor: Vec<f64>,
    max_iter: usize,
    tol: f64,
    context: &mut Context,
) -> Result<Imputation> {
    let classes = annotations.class_count();
    let size = classes * classes;
    let mut normal = context.run(|| sum_tasks(annotations, &factor, classes));
    let scale = normal.objective.abs().max(f64::MIN_POSITIVE);
    let mut trace = vec![normal.objective];
    let (mut converged, mut damping) = (false, 0.5);
    for sweep in 0..max_iter {
        context.step("imputing", sweep, Some(max_iter))?;
        let mut target = factor.clone();
        context.run(|| {
            let blocks = normal.g.par_chunks_mut(size).zip(normal.b.par_chunks_mut(size));
            blocks
                .zip(target.par_chunks_mut(size))
                .with_min_len(256)
                .for_each_init(
                    || Scratch::new(classes),
                    |scratch, ((g, b), u)| scratch.solve_in_ball(g, b, u, RADIUS),
                );
        });
        let before = trace[trace.len() - 1];
        loop {
            let moved: Vec<f64> = factor
                .iter()
                .zip(&target)
                .map(|(old, new)| old + damping * (new - old))
                .collect();
            let next = context.run(|| sum_tasks(annotations, &moved, classes));
            if next.objective <= before || damping < 1e-3 {
                converged = before - next.objective <= tol * scale;
                if next.objective <= before {
                    (factor, normal) = (moved, next);
                    trace.push(normal.objective);
                }
                break;
            }
            damping /= 2.0;
        }
        if converged {
            break;
        }
    }
    Ok(Imputation {
        factor,
        iterations: trace.len() - 1,
        trace,
        converged,
    })
}

fn sum_tasks(annotations: &Annotations, factor: &[f64], classes: usize) -> Normal {
    let size = classes * classes;
    let mut grams = vec![0.0; factor.len()];
    factor
        .par_chunks(size)
        .zip(grams.par_chunks_mut(size))
        .with_min_len(1 << 10)
        .for_each(|(u, gram)| add_gram(u, u, classes, 1.0, gram));
    // Private sums cost 2 M K^2 numbers a chunk: few chunks where workers have few labels.
    let chunks = (annotations.label_count() / (8 * factor.len()).max(1)).clamp(1, 16);
    let ranges = balanced_ranges(annotations.task_starts(), chunks);
    let parts = map_ranges(ranges, |tasks| {
        let mut part = Normal {
            g: vec![0.0; factor.len()],
            b: vec![0.0; factor.len()],
            objective: 0.0,
        };
        // V_n and T_n of the task at hand.
        let mut sums = vec![0.0; classes + size];
        with_width!(classes, width => {
            for task in tasks {
                add_task(width, annotations.task_slices(task), factor, &grams, &mut sums, &mut part);
            }
        });
        part
    });
    let mut parts = parts.into_iter();
    let mut total = parts.next().expect("there is at least one chunk");
    let parts: Vec<Normal> = parts.collect();
    add_in_order(&mut total.g, parts.iter().map(|part| &part.g[..]).collect());
    add_in_order(&mut total.b, parts.iter().map(|part| &part.b[..]).collect());
    total.objective += parts.iter().map(|part| part.objective).sum::<f64>();
    total
}

/// Adds what one task contributes; `sums` has room for V_n and T_n.
#[inline(always)]
fn add_task<W: Width>(
    width: W,
    (workers, labels): (&[u32], &[u16]),
    factor: &[f64],
    grams: &[f64],
    sums: &mut [f64],
    part: &mut Normal,
) {
    let classes = width.get();
    let size = classes * classes;
    let (v, t) = sums.split_at_mut(classes);
    let t = &mut t[..size];
    v.fill(0.0);
    t.fill(0.0);
    let mut own = 0.0;
    for (&m, &x) in workers.iter().zip(labels) {
        let at = m as usize * size;
        let row = &factor[at + x as usize * classes..][..classes];
        let gram = &grams[at..][..size];
        for k in 0..classes {
            v[k] += row[k];
        }
        for k in 0..size {
            t[k] += gram[k];
        }
        own += norm_squared(row) - 0.5 * norm_squared(gram);
    }
    part.objective += own - norm_squared(v) + 0.5 * norm_squared(t);
    for (&m, &x) in workers.iter().zip(labels) {
        let at = m as usize * size;
        let place = at + x as usize * classes;
        let (row, b) = (&factor[place..][..classes], &mut part.b[place..][..classes]);
        for k in 0..classes {
            b[k] += v[k] - row[k];
        }
        let (gram, g) = (&grams[at..][..size], &mut part.g[at..][..size]);
        for k in 0..size {
            g[k] += t[k] - gram[k];
        }
    }
}
