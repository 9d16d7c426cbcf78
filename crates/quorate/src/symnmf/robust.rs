//! Robust imputation (`eq:optim_problem`, `eq:itwa`).
//!
//! ```text
//! minimise  sum over observed pairs of  S_mj^c ( ||R_mj - U_m U_j^T||_F^2 + xi )^(1/2)      ||U_m||_F <= 1
//! ```
//!
//! Iteratively reweighted least squares, one worker at a time (`w_mj = S_mj^c (||R_mj - U_m U_j^T||^2 +
//! xi)^(-1/2)`): `U_m G_m = B_m` with `G_m = sum_j w_mj U_j^T U_j`, `B_m = sum_j w_mj R_mj U_j`. Each update
//! minimises a majoriser that touches the objective, so the objective does not rise. The stacked U_m are
//! already a factor of the completed matrix, missing and diagonal blocks included: nothing of size M x M is
//! formed. `O(pairs K^3)` a sweep. With `weights = uniform` the square root is left out (the paper's "w =
//! 1").
//!
//! The base weights `S_mj^c` are ours: the paper counts a block of one shared task as much as one of two
//! hundred (c = 0); the variance of a block is proportional to 1 / S_mj, hence c = 1.

use super::least_squares::{Scratch, descend_in_ball};
use crate::linalg::width::{Runtime, Width, with_width};
use crate::statistics::PairBlocks;
use crate::{Context, Result, declare_words};

/// Weights of the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResidualWeights {
    /// Reweighted by the residual: a block that does not fit counts less.
    Robust,
    /// All alike (up to the base weights).
    Uniform,
}

declare_words! {
    /// How one worker's K x K problem is solved.
    pub enum Solver {
        /// Exactly, in the eigenbasis.
        Exact = "exact",
        /// By projected gradient steps, as in the paper.
        Gradient = "gradient",
    }
}

/// Projected gradient steps for a worker in each sweep.
const GRADIENT_STEPS: usize = 15;

/// Settings of the robust imputation.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustSettings {
    /// Weights of the blocks.
    pub weights: ResidualWeights,
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
    /// Objective before each sweep and at the end.
    pub trace: Vec<f64>,
    /// Sweeps done.
    pub iterations: usize,
    /// Whether the imputation came to rest.
    pub converged: bool,
    /// How many blocks are missing, in the designated form.
    pub missing: Option<MissingBlocks>,
}

/// Shares of the M^2 blocks, diagonal included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissingBlocks {
    /// That were not observed.
    pub before: f64,
    /// That are still missing.
    pub after: f64,
}

/// Completes the co-occurrences from the start `factor`, going through the workers in the given order.
pub fn impute_robust(
    blocks: &PairBlocks,
    order: &[u32],
    mut factor: Vec<f64>,
    settings: &RobustSettings,
    context: &mut Context,
) -> Result<Imputation> {
    let base = base_weights(blocks, settings.evidence);
    let mut scratch = Scratch::new(blocks.class_count());
    let mut rank = vec![0; blocks.worker_count()];
    for (place, &worker) in order.iter().enumerate() {
        rank[worker as usize] = place;
    }
    let mut trace: Vec<f64> = Vec::new();
    let mut converged = false;
    for sweep in 0..settings.max_iter {
        context.step("imputing", sweep, Some(settings.max_iter))?;
        let before = with_width!(blocks.class_count(), width => {
            update_workers(width, blocks, (order, &rank), &base, settings, &mut factor, &mut scratch)
        });
        let settled = |last: &f64| (last - before).abs() <= settings.tol * last.abs();
        converged = trace.last().is_some_and(settled);
        trace.push(before);
        if converged {
            break;
        }
    }
    trace.push(objective(blocks, &base, &factor, settings));
    Ok(Imputation {
        factor,
        iterations: trace.len() - 1,
        trace,
        converged,
        missing: None,
    })
}

/// Updates every worker once, in order; returns the objective from before. It comes for free: when worker m
/// is visited, neither m nor any later j has moved yet in this sweep, so the residuals of the pairs with
/// later workers that the weights need are those of the start of the sweep.
fn update_workers<W: Width>(
    width: W,
    blocks: &PairBlocks,
    (order, rank): (&[u32], &[usize]),
    base: &[f64],
    settings: &RobustSettings,
    factor: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let classes = width.get();
    let size = classes * classes;
    let (mut g, mut b) = (vec![0.0; size], vec![0.0; size]);
    let mut objective = 0.0;
    for worker in order.iter().map(|&worker| worker as usize) {
        g.fill(0.0);
        b.fill(0.0);
        for (other, pair) in blocks.neighbours(worker) {
            let (own, others) = (&factor[worker * size..][..size], &factor[other * size..][..size]);
            let block = blocks.block(pair);
            let (first, second) = if worker < other {
                (own, others)
            } else {
                (others, own)
            };
            let residual = residual_squared(width, block, first, second);
            let weight = match settings.weights {
                ResidualWeights::Uniform => base[pair],
                ResidualWeights::Robust => base[pair] / (residual + settings.xi).sqrt(),
            };
            if rank[worker] < rank[other] {
                objective += base[pair] * loss(settings, residual);
            }
            add_normal_equations(width, block, others, weight, worker > other, &mut g, &mut b);
        }
        let own = &mut factor[worker * size..][..size];
        match settings.solver {
            Solver::Exact => scratch.solve_in_ball(&mut g, &mut b, own, RADIUS),
            Solver::Gradient => descend_in_ball(&g, &b, own, classes, RADIUS, GRADIENT_STEPS),
        }
    }
    objective
}

/// The objective at `factor`.
pub fn robust_objective(blocks: &PairBlocks, factor: &[f64], settings: &RobustSettings) -> f64 {
    objective(blocks, &base_weights(blocks, settings.evidence), factor, settings)
}

fn objective(blocks: &PairBlocks, base: &[f64], factor: &[f64], settings: &RobustSettings) -> f64 {
    let width = Runtime(blocks.class_count());
    let size = blocks.class_count() * blocks.class_count();
    let one = |pair: usize| {
        let (m, j) = blocks.pair(pair);
        let (first, second) = (&factor[m * size..][..size], &factor[j * size..][..size]);
        let residual = residual_squared(width, blocks.block(pair), first, second);
        base[pair] * loss(settings, residual)
    };
    (0..blocks.pair_count()).map(one).sum()
}

/// What a block with this squared residual costs.
fn loss(settings: &RobustSettings, residual: f64) -> f64 {
    match settings.weights {
        ResidualWeights::Uniform => residual,
        ResidualWeights::Robust => (residual + settings.xi).sqrt(),
    }
}

/// `S_mj^c`, scaled to mean 1 so that the objective has the same size for every c. Beside a pair with endless
/// evidence (exact blocks of a known model) the others count nothing.
fn base_weights(blocks: &PairBlocks, evidence: f64) -> Vec<f64> {
    let shared = |pair| blocks.shared(pair);
    let endless = evidence > 0.0 && (0..blocks.pair_count()).any(|pair| shared(pair).is_infinite());
    let weight = |pair| {
        if endless {
            f64::from(u8::from(shared(pair).is_infinite()))
        } else {
            shared(pair).powf(evidence)
        }
    };
    let weights: Vec<f64> = (0..blocks.pair_count()).map(weight).collect();
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    weights.into_iter().map(|weight| weight / mean).collect()
}

/// `||R - U_m U_j^T||_F^2`.
#[inline(always)]
fn residual_squared<W: Width>(width: W, block: &[f64], first: &[f64], second: &[f64]) -> f64 {
    let n = width.get();
    let (block, first, second) = (&block[..n * n], &first[..n * n], &second[..n * n]);
    let mut sum = 0.0;
    for a in 0..n {
        for b in 0..n {
            let mut difference = block[a * n + b];
            for k in 0..n {
                difference -= first[a * n + k] * second[b * n + k];
            }
            sum += difference * difference;
        }
    }
    sum
}

/// Adds `weight U_j^T U_j` to `g` and `weight R U_j` to `b` (`R^T` if the pair is stored the other way
/// round).
#[inline(always)]
fn add_normal_equations<W: Width>(
    width: W,
    block: &[f64],
    others: &[f64],
    weight: f64,
    transposed: bool,
    g: &mut [f64],
    b: &mut [f64],
) {
    let n = width.get();
    let (block, others) = (&block[..n * n], &others[..n * n]);
    let (g, b) = (&mut g[..n * n], &mut b[..n * n]);
    for from in 0..n {
        for row in 0..n {
            let gram = weight * others[from * n + row];
            let cell = if transposed {
                from * n + row
            } else {
                row * n + from
            };
            let value = weight * block[cell];
            for k in 0..n {
                g[row * n + k] += gram * others[from * n + k];
                b[row * n + k] += value * others[from * n + k];
            }
        }
    }
}
