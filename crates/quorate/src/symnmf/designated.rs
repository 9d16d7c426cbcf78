//! Designated imputation (`eq:constructC`, `eq:estimXmn`): a missing block from three observed ones.
//!
//! ```text
//! C = [R_mr; R_lr] = [U_m; U_l] S V^T   =>   R_mn = U_m U_l^-1 R_nl^T = R_mr R_lr^-1 R_ln
//! ```
//!
//! (The thin SVD of C is exact, so `S V^T` cancels: the product on the right is the paper's formula without
//! an SVD.) Every missing block, the diagonal included, is estimated through pairs (l, r) of workers with
//! R_mr, R_lr and R_ln observed. The paper draws one pair at random ([`Designated::Random`]); by default the
//! candidates with least predicted error are averaged. To first order, with `P = R_mr R_lr^-1`, `Q = R_lr^-1 R_ln` and sampling variance `1 /
//! S` a block,
//!
//! ```text
//! error^2 ~ ||Q||^2 / S_mr + ||P||^2 / S_ln + ||P||^2 ||Q||^2 / S_lr
//! ```
//!
//! which grows with `1 / sigma_min^2` and falls with S as Theorem 1 says. Negative entries are cut off and
//! the block is scaled to sum 1, as probabilities must. Blocks without a candidate below `MAX_ERROR` (any,
//! where the user names the pair) stay missing and are counted. Then U holds the K algebraically largest
//! eigenpairs of the completed matrix X.
//!
//! The completed X is M K x M K and nearly dense: fine for thousands of workers, refused beyond the memory
//! limit.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::robust::{Imputation, MissingBlocks};
use crate::context::{Context, seeded};
use crate::error::Result;
use crate::linalg::block_sparse::BlockSparse;
use crate::linalg::lanczos::largest_eigenpairs;
use crate::linalg::small::{inverse, multiply, norm_squared};
use crate::statistics::PairBlocks;

/// Neighbours of each worker that serve as l or r: those that share most tasks.
const NEIGHBOURS: usize = 12;

/// Candidates averaged for one block.
const AVERAGED: usize = 8;

/// Predicted error (Frobenius norm) above which a candidate says nothing: the norm of a block is at most 1.
const MAX_ERROR: f64 = 1.0;

/// Residual of the eigenvectors against the largest eigenvalue: near rounding, so that the order of the
/// workers, from which the iteration starts, does not show in the answer.
const EIGEN_TOL: f64 = 1e-12;

/// Who stands between the two workers of a missing block.
#[derive(Debug, Clone, PartialEq)]
pub enum Designated {
    /// The best candidates of each block, averaged.
    Best,
    /// One pair for each block, drawn with the context's seed: the paper.
    Random,
    /// These two workers (l, r) for every block: people who labelled a large part of the tasks.
    Pair(usize, usize),
    /// Nobody: missing blocks stay zero.
    None,
}

/// A worker's step to a neighbour r: who, S_mr and R_mr.
struct GoBetween {
    worker: usize,
    shared: f64,
    block: Vec<f64>,
}

/// Imputes missing blocks and takes the leading eigenpairs of the completed matrix. `order`: the workers,
/// those to be preferred as go-betweens first. `weights`: one for each worker; the eigenvectors are those of
/// the matrix with block (m, j) scaled by `weights[m] * weights[j]`, scaled back. A worker of weight 0 has no
/// part in them.
pub fn impute_designated(
    blocks: &PairBlocks,
    designated: &Designated,
    order: &[u32],
    weights: &[f64],
    context: &mut Context,
) -> Result<Imputation> {
    let (workers, classes) = (blocks.worker_count(), blocks.class_count());
    let size = classes * classes;
    let all = (workers * workers) as u64;
    // Nothing is added to the observed blocks where nothing is imputed.
    let blocks_held = match designated {
        Designated::None => 2 * blocks.pair_count() as u64,
        _ => all,
    };
    context.reserve(
        format!("the completed co-occurrence matrix of {workers} workers"),
        blocks_held * (size as u64 * 16 + 64),
        "use rob-symnmf, which never forms it",
    )?;
    context.step("imputing", 0, None)?;
    let seed = context.seed();
    let imputed = context.run(|| impute_missing(blocks, designated, order, seed));
    let mut upper: Vec<(u32, u32, Vec<f64>)> = (0..blocks.pair_count())
        .map(|pair| {
            let (m, j) = blocks.pair(pair);
            (m as u32, j as u32, blocks.block(pair).to_vec())
        })
        .collect();
    upper.extend(imputed);
    for (m, j, block) in &mut upper {
        let scale = weights[*m as usize] * weights[*j as usize];
        block.iter_mut().for_each(|value| *value *= scale);
    }
    let matrix = BlockSparse::symmetric(workers, classes, &upper);
    context.step("eigenvectors", 0, None)?;
    let pairs = largest_eigenpairs(matrix.dimension(), classes, EIGEN_TOL, |x, out| {
        matrix.multiply(x, out)
    });
    let mut factor = vec![0.0; workers * size];
    for (component, (value, vector)) in pairs.values.iter().zip(&pairs.vectors).enumerate() {
        // A negative eigenvalue has no place in U U^T.
        let scale = value.max(0.0).sqrt();
        for (row, entry) in vector.iter().enumerate() {
            let weight = weights[row / classes];
            factor[row * classes + component] = if weight > 0.0 { scale * entry / weight } else { 0.0 };
        }
    }
    let present = matrix.block_count() as f64;
    Ok(Imputation {
        factor,
        trace: Vec::new(),
        iterations: 1,
        converged: pairs.converged,
        missing: Some(MissingBlocks {
            before: 1.0 - 2.0 * blocks.pair_count() as f64 / all as f64,
            after: 1.0 - present / all as f64,
        }),
    })
}

fn impute_missing(
    blocks: &PairBlocks,
    designated: &Designated,
    order: &[u32],
    seed: u64,
) -> Vec<(u32, u32, Vec<f64>)> {
    let workers = blocks.worker_count();
    let steps: Vec<Vec<GoBetween>> = match designated {
        Designated::None => return Vec::new(),
        Designated::Best | Designated::Random => {
            let mut rank = vec![0; workers];
            for (place, &worker) in order.iter().enumerate() {
                rank[worker as usize] = place;
            }
            let most = match designated {
                Designated::Random => usize::MAX,
                _ => NEIGHBOURS,
            };
            (0..workers)
                .map(|worker| nearest_steps(blocks, &rank, worker, most))
                .collect()
        }
        Designated::Pair(l, r) => (0..workers)
            .map(|worker| {
                [*l, *r]
                    .into_iter()
                    .filter_map(|other| step_to(blocks, worker, other))
                    .collect()
            })
            .collect(),
    };
    // Whoever names the go-betweens, or has them drawn, wants them used.
    let most_error = match designated {
        Designated::Pair(..) | Designated::Random => f64::INFINITY,
        Designated::Best | Designated::None => MAX_ERROR,
    };
    let draws = *designated == Designated::Random;
    let inverses: Vec<Option<Vec<f64>>> = (0..blocks.pair_count())
        .into_par_iter()
        .map(|pair| inverse(blocks.block(pair), blocks.class_count()))
        .collect();
    let rows: Vec<Vec<(u32, u32, Vec<f64>)>> = (0..workers)
        .into_par_iter()
        .map(|m| {
            let mut scratch = BlockScratch::new(blocks.class_count(), most_error);
            let mut row = Vec::new();
            for n in m..workers {
                if m != n && blocks.find(m, n).is_some() {
                    continue;
                }
                let mut between = (steps_of(&steps[m]), steps_of(&steps[n]));
                if draws {
                    let mut rng = seeded(seed, (m * workers + n) as u64);
                    between.0.shuffle(&mut rng);
                    between.1.shuffle(&mut rng);
                    scratch.most_candidates = 1;
                }
                if scratch.impute(blocks, &inverses, (m, &between.0), (n, &between.1)) {
                    row.push((m as u32, n as u32, scratch.block.clone()));
                }
            }
            row
        })
        .collect();
    rows.into_iter().flatten().collect()
}

fn steps_of(steps: &[GoBetween]) -> Vec<&GoBetween> {
    steps.iter().collect()
}

/// The neighbours with most shared tasks; of equals, the one that comes first in the given order.
fn nearest_steps(blocks: &PairBlocks, rank: &[usize], worker: usize, most: usize) -> Vec<GoBetween> {
    let mut nearest: Vec<(usize, usize)> = blocks.neighbours(worker).collect();
    nearest.sort_by(|a, b| {
        let shared = blocks.shared(b.1).total_cmp(&blocks.shared(a.1));
        shared.then(rank[a.0].cmp(&rank[b.0]))
    });
    let steps = nearest.iter().take(most);
    steps
        .filter_map(|&(other, _)| step_to(blocks, worker, other))
        .collect()
}

fn step_to(blocks: &PairBlocks, worker: usize, other: usize) -> Option<GoBetween> {
    if worker == other {
        return None;
    }
    let pair = blocks.find(worker, other)?;
    Some(GoBetween {
        worker: other,
        shared: blocks.shared(pair),
        block: blocks.oriented(worker, other)?,
    })
}

/// Buffers for one block after another.
struct BlockScratch {
    classes: usize,
    /// Predicted error from which on a candidate is not used.
    most_error: f64,
    /// The search ends with so many candidates.
    most_candidates: usize,
    inverse: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    candidates: Vec<(f64, Vec<f64>)>,
    block: Vec<f64>,
}

impl BlockScratch {
    fn new(classes: usize, most_error: f64) -> Self {
        let zeros = vec![0.0; classes * classes];
        Self {
            classes,
            most_error,
            most_candidates: usize::MAX,
            inverse: zeros.clone(),
            p: zeros.clone(),
            q: zeros.clone(),
            candidates: Vec::new(),
            block: zeros,
        }
    }

    /// Estimates R_mn into `self.block`; false if no candidate is good enough.
    fn impute(
        &mut self,
        blocks: &PairBlocks,
        inverses: &[Option<Vec<f64>>],
        (m, from_m): (usize, &[&GoBetween]),
        (n, from_n): (usize, &[&GoBetween]),
    ) -> bool {
        let classes = self.classes;
        self.candidates.clear();
        'search: for to_r in from_m {
            for to_l in from_n {
                let (r, l) = (to_r.worker, to_l.worker);
                if r == l || r == n || l == m {
                    continue;
                }
                let Some(pair) = blocks.find(l, r) else { continue };
                let Some(inverted) = &inverses[pair] else { continue };
                // R_lr^-1 from the inverse of the stored block, which is R_rl if r < l.
                for row in 0..classes {
                    for column in 0..classes {
                        let at = if l < r {
                            row * classes + column
                        } else {
                            column * classes + row
                        };
                        self.inverse[row * classes + column] = inverted[at];
                    }
                }
                multiply(&to_r.block, &self.inverse, classes, &mut self.p);
                // Q = R_lr^-1 R_ln with R_ln = R_nl^T.
                crate::linalg::small::multiply_transposed(&self.inverse, &to_l.block, classes, &mut self.q);
                let (p, q) = (norm_squared(&self.p), norm_squared(&self.q));
                let error = q / to_r.shared + p / to_l.shared + p * q / blocks.shared(pair);
                if error >= self.most_error * self.most_error {
                    continue;
                }
                let mut estimate = vec![0.0; classes * classes];
                crate::linalg::small::multiply_transposed(&self.p, &to_l.block, classes, &mut estimate);
                self.candidates.push((error, estimate));
                if self.candidates.len() == self.most_candidates {
                    break 'search;
                }
            }
        }
        self.candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.candidates.truncate(AVERAGED);
        self.block.fill(0.0);
        for (error, estimate) in &self.candidates {
            for (cell, value) in self.block.iter_mut().zip(estimate) {
                *cell += value / error.max(1e-12);
            }
        }
        if m == n {
            symmetrise(&mut self.block, classes);
        }
        self.block.iter_mut().for_each(|value| *value = value.max(0.0));
        let sum: f64 = self.block.iter().sum();
        if sum <= 0.0 {
            return false;
        }
        self.block.iter_mut().for_each(|value| *value /= sum);
        true
    }
}

fn symmetrise(block: &mut [f64], n: usize) {
    for row in 0..n {
        for column in 0..row {
            let mean = (block[row * n + column] + block[column * n + row]) / 2.0;
            block[row * n + column] = mean;
            block[column * n + row] = mean;
        }
    }
}
