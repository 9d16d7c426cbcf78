//! Robust imputation (`eq:optim_problem`, `eq:itwa`).
//!
//! ```text
//! minimise  sum over observed pairs of  S_mj^c ( ||R_mj - U_m U_j^T||_F^2 + xi )^(1/2)      ||U_m||_F <= 1
//! ```
//!
//! Iteratively reweighted least squares, one worker at a time (`w_mj = S_mj^c (||R_mj - U_m U_j^T||^2 + xi)^(-1/2)`):
//! `U_m G_m = B_m` with `G_m = sum_j w_mj U_j^T U_j`, `B_m = sum_j w_mj R_mj U_j`. Each update minimises a
//! majoriser that touches the objective, so the objective does not rise. The stacked U_m are already a factor of the
//! completed matrix, missing and diagonal blocks included: nothing of size M x M is formed.
//! `O(pairs K^3)` a sweep. With `weights = uniform` the square root is left out (the paper's "w = 1").
//!
//! The base weights `S_mj^c` are ours: the paper counts a block of one shared task as much as one of two hundred
//! (c = 0); the variance of a block is proportional to 1 / S_mj, hence c = 1.

use super::least_squares::{Scratch, descend_in_ball};
use crate::context::Context;
use crate::error::Result;
use crate::linalg::small::{add_gram, dot};
use crate::statistics::PairBlocks;

/// Weights of the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// Reweighted by the residual: a block that does not fit counts less.
    Robust,
    /// All alike (up to the base weights).
    Uniform,
}

/// How one worker's K x K problem is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// Exactly, in the eigenbasis.
    Exact,
    /// By this many projected gradient steps.
    ProjectedGradient(usize),
}

/// Settings of the robust imputation.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustSettings {
    /// Weights of the blocks.
    pub weights: Weights,
    /// Exponent c of the base weights `S_mj^c`.
    pub evidence: f64,
    /// Smoothing xi of the norm.
    pub xi: f64,
    /// How a worker's problem is solved.
    pub solver: Solver,
    /// Largest number of sweeps.
    pub max_iter: usize,
    /// Stops when a sweep lowers the objective by less than this share.
    pub tol: f64,
}

/// The radius D of the ball that holds every U_m: `||A_m D^(1/2)||_F <= 1` for every model.
pub(super) const RADIUS: f64 = 1.0;

/// A factor U of the completed co-occurrence matrix.
#[derive(Debug, Clone)]
pub struct Imputation {
    /// `[worker][answer][component]`.
    pub factor: Vec<f64>,
    /// Objective before the first sweep and after each.
    pub trace: Vec<f64>,
    /// Sweeps done.
    pub iterations: usize,
    /// Whether the objective settled.
    pub converged: bool,
}

/// Completes the co-occurrences from the start `factor`.
pub fn impute_robust(
    blocks: &PairBlocks,
    mut factor: Vec<f64>,
    settings: &RobustSettings,
    context: &mut Context,
) -> Result<Imputation> {
    let classes = blocks.class_count();
    let size = classes * classes;
    let base = base_weights(blocks, settings.evidence);
    let (mut g, mut b) = (vec![0.0; size], vec![0.0; size]);
    let mut scratch = Scratch::new(classes);
    let mut trace = vec![objective(blocks, &base, &factor, settings)];
    let mut converged = false;
    for sweep in 0..settings.max_iter {
        context.step("imputing", sweep, Some(settings.max_iter))?;
        for worker in 0..blocks.worker_count() {
            g.fill(0.0);
            b.fill(0.0);
            for (other, pair) in blocks.neighbours(worker) {
                let (own, others) = (&factor[worker * size..][..size], &factor[other * size..][..size]);
                let block = blocks.block(pair);
                let weight = base[pair]
                    * match settings.weights {
                        Weights::Uniform => 1.0,
                        Weights::Robust => {
                            let (first, second) = if worker < other { (own, others) } else { (others, own) };
                            1.0 / (residual_squared(block, first, second, classes) + settings.xi).sqrt()
                        }
                    };
                add_gram(others, others, classes, weight, &mut g);
                add_product(block, others, classes, weight, worker > other, &mut b);
            }
            let own = &mut factor[worker * size..][..size];
            match settings.solver {
                Solver::Exact => scratch.solve_in_ball(&mut g, &mut b, own, RADIUS),
                Solver::ProjectedGradient(steps) => descend_in_ball(&g, &b, own, classes, RADIUS, steps),
            }
        }
        let (before, after) = (trace[trace.len() - 1], objective(blocks, &base, &factor, settings));
        trace.push(after);
        converged = (before - after).abs() <= settings.tol * before.abs();
        if converged {
            break;
        }
    }
    Ok(Imputation { factor, iterations: trace.len() - 1, trace, converged })
}

/// The objective at `factor`.
pub fn robust_objective(blocks: &PairBlocks, factor: &[f64], settings: &RobustSettings) -> f64 {
    objective(blocks, &base_weights(blocks, settings.evidence), factor, settings)
}

fn objective(blocks: &PairBlocks, base: &[f64], factor: &[f64], settings: &RobustSettings) -> f64 {
    let classes = blocks.class_count();
    let size = classes * classes;
    (0..blocks.pair_count())
        .map(|pair| {
            let (m, j) = blocks.pair(pair);
            let first = &factor[m * size..][..size];
            let residual = residual_squared(blocks.block(pair), first, &factor[j * size..][..size], classes);
            base[pair]
                * match settings.weights {
                    Weights::Uniform => residual,
                    Weights::Robust => (residual + settings.xi).sqrt(),
                }
        })
        .sum()
}

/// `S_mj^c`, scaled to mean 1 so that the objective has the same size for every c.
fn base_weights(blocks: &PairBlocks, evidence: f64) -> Vec<f64> {
    let weights: Vec<f64> = (0..blocks.pair_count()).map(|pair| blocks.shared(pair).powf(evidence)).collect();
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    weights.into_iter().map(|weight| weight / mean).collect()
}

/// `||R - U_m U_j^T||_F^2`.
fn residual_squared(block: &[f64], first: &[f64], second: &[f64], n: usize) -> f64 {
    let mut sum = 0.0;
    for (row, line) in first.chunks_exact(n).zip(block.chunks_exact(n)) {
        for (other, value) in second.chunks_exact(n).zip(line) {
            let difference = value - dot(row, other);
            sum += difference * difference;
        }
    }
    sum
}

/// Adds `weight R U_j` to `b`, or `weight R^T U_j` if the pair is stored the other way round.
fn add_product(block: &[f64], others: &[f64], n: usize, weight: f64, transposed: bool, b: &mut [f64]) {
    for (row, line) in block.chunks_exact(n).enumerate() {
        for (column, value) in line.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            let (to, from) = if transposed { (column, row) } else { (row, column) };
            for (cell, other) in b[to * n..][..n].iter_mut().zip(&others[from * n..][..n]) {
                *cell += weight * value * other;
            }
        }
    }
}

