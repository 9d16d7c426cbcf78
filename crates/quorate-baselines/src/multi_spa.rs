//! MultiSPA: each worker's confusion matrix from the extreme columns of its co-occurrences.
//!
//! ```text
//! R_mj = A_m D A_j^T,    D = Diag(prior)     =>     columns of [R_mj1, R_mj2, ..], scaled to sum 1, mix the columns of A_m
//! ```
//!
//! If for each class some other worker has an answer that it gives (almost) only when that class is the
//! truth, the columns of `A_m` stand among those of the stack, and they are its extreme points.
//!
//! 1. Count `R_mj` for all observed pairs; keep the blocks of numerical rank K.
//! 2. For each worker with at least `min-blocks` of them: scale all columns of the stack to sum 1 and pick K
//!    by successive projection ([`successive_projection`](crate::linalg::successive_projection)).
//! 3. Which column is which class: the assignment with the largest diagonal, for each worker by itself.
//! 4. Workers that cannot be estimated (too few blocks, dependent columns) get the confusion matrix counted
//!    against vote shares, or a uniform one (`fill`).
//! 5. Flat prior, Bayes' rule.
//!
//! Names: `columns` is the stack, `evidence` the number of answers behind a column. Equal residuals go to the
//! column with more evidence. Time `sum_n d_n^2` for the pairs and `O(K^3)` a pair after that; memory `K^2`
//! numbers a pair.
//!
//! Picks extremes of noisy frequencies: pairs that share few tasks give extreme columns, so estimates lean
//! outwards, and exact zeros are common (Bayes' rule floors them). Fails where no pair has a block of full
//! rank: then every worker is counted against the votes, and the result says so. Workers worse than chance
//! are turned around by step 3.
//!
//! Differs from the compared program: assignment instead of the largest entry of each row (which can take a
//! column twice), and no random matrices for workers that cannot be estimated.
//!
//! S. Ibrahim, X. Fu, N. Kargas, K. Huang, "Crowdsourcing via pairwise co-occurrences: identifiability and
//! algorithms", NeurIPS 2019.

use rayon::prelude::*;

use crate::linalg::successive_projection::extreme_columns;
use quorate::internal::linalg::{assignment, small::singular_values};
use quorate::internal::statistics::PairBlocks;
use quorate::methods::{Aggregate, Fit, vote_fractions};
use quorate::model::{DawidSkene, count_answers, posterior};
use quorate::{Annotations, Context, Result, declare_method, declare_words};

declare_method! {
    /// MultiSPA.
    pub struct MultiSpa {
        ..min_blocks,
        /// matrix of a worker that cannot be estimated: counted against vote shares, or uniform
        fill: Fill = Votes,
    }
    name: "multi-spa",
    aliases: ["multispa"],
    summary: "Confusion matrices from extreme columns of pairwise co-occurrences",
    description: "Stacks the co-occurrences of a worker with all others and picks the most extreme columns: \
                  they are the worker's confusion matrix if every class has a specialist among the others. \
                  Fast and without local optima, but it follows the noise of pairs that share few tasks; a \
                  good start for cnmf or EM.",
    citation: "S. Ibrahim, X. Fu, N. Kargas, K. Huang: Crowdsourcing via pairwise co-occurrences: \
               identifiability and algorithms. NeurIPS 2019",
    facts: [returns_model, canonical_order],
}

declare_words! {
    /// Matrix of a worker that cannot be estimated.
    pub enum Fill {
        /// Counted against vote shares.
        Votes = "votes",
        /// Uniform.
        Uniform = "uniform",
    }
}

/// How many blocks a worker needs; `cnmf` has it too.
macro_rules! min_blocks {
    ([] $($state:tt)*) => {
        quorate::declare_method! { @shared [
            /// co-occurrence blocks of full rank that a worker needs to be estimated (the 2019 program: 8)
            min_blocks: usize in 2..=1_000_000 = 2,
        ] $($state)* }
    };
}
pub(super) use min_blocks;

impl Aggregate for MultiSpa {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        let votes = context.run(|| vote_fractions(annotations));
        let mut fill = context.run(|| count_answers(annotations, &votes)).to_model(0.0);
        let uniform = 1.0 / classes as f64;
        if self.fill == Fill::Uniform {
            fill = DawidSkene::new(fill.prior().to_vec(), vec![uniform; fill.confusions().len()]);
        }
        let blocks = PairBlocks::observed(annotations, context)?;
        context.step("extreme columns", 0, None)?;
        let estimate = context.run(|| estimate_workers(&blocks, &fill, self.min_blocks));
        let model = DawidSkene::new(vec![uniform; classes], estimate.confusion);
        let (consensus, _) = context.run(|| posterior(annotations, &model));
        let mut fit = Fit {
            model: Some(model),
            ..Fit::direct(consensus)
        };
        estimate.summary.describe(&mut fit);
        Ok(fit)
    }
}

/// Confusion matrices of all workers, and for how many of them they are more than the fill.
pub(super) struct Estimate {
    /// `[worker][answer][truth]`.
    pub confusion: Vec<f64>,
    pub summary: Estimable,
}

/// How many of the workers could be estimated.
#[derive(Clone, Copy)]
pub(super) struct Estimable {
    pub workers: usize,
    pub estimated: usize,
}

impl Estimable {
    /// Says in the fit how many workers were estimated.
    pub fn describe(self, fit: &mut Fit) {
        let Self { workers, estimated } = self;
        if estimated == 0 {
            let warning = "no worker has enough co-occurrence blocks of full rank: all confusion matrices start from, or \
                           are, those counted against majority vote";
            fit.warnings.push(warning.into());
        } else {
            let note = format!("{estimated} of {workers} workers estimated by successive projection");
            fit.notes.push(note);
        }
    }
}

/// Estimates every worker; those that cannot be keep their matrix of `fill`.
pub(super) fn estimate_workers(blocks: &PairBlocks, fill: &DawidSkene, min_blocks: usize) -> Estimate {
    let (workers, classes) = (blocks.worker_count(), blocks.class_count());
    let good = blocks_above_rank(blocks, classes - 1);
    let estimate = |worker| estimate_worker(blocks, &good, worker, min_blocks);
    let found: Vec<Option<Vec<f64>>> = (0..workers).into_par_iter().map(estimate).collect();
    let estimated = found.iter().flatten().count();
    let summary = Estimable { workers, estimated };
    let mut confusion = fill.confusions().to_vec();
    for (block, matrix) in confusion.chunks_exact_mut(classes * classes).zip(found) {
        if let Some(matrix) = matrix {
            block.copy_from_slice(&matrix);
        }
    }
    Estimate { confusion, summary }
}

/// Which blocks have a numerical rank above `rank`.
pub(super) fn blocks_above_rank(blocks: &PairBlocks, rank: usize) -> Vec<bool> {
    let classes = blocks.class_count();
    let above = |pair| rank_above(blocks.block(pair), classes, rank);
    (0..blocks.pair_count()).into_par_iter().map(above).collect()
}

fn rank_above(matrix: &[f64], n: usize, rank: usize) -> bool {
    let values = singular_values(matrix, n);
    let counts = |value: &f64| *value > n as f64 * f64::EPSILON * values[0];
    values.get(rank).is_some_and(counts)
}

/// The confusion matrix of one worker, if its blocks tell it.
fn estimate_worker(blocks: &PairBlocks, good: &[bool], worker: usize, min_blocks: usize) -> Option<Vec<f64>> {
    let classes = blocks.class_count();
    let usable = blocks.neighbours(worker).filter(|&(_, pair)| good[pair]);
    if usable.clone().count() < min_blocks {
        return None;
    }
    let mut columns: Vec<(f64, Vec<f64>)> = Vec::new();
    for (other, pair) in usable {
        for answer in 0..classes {
            let cell = |row: usize| blocks.cell((worker, other), pair, (row, answer));
            let sum: f64 = (0..classes).map(cell).sum();
            if sum > 0.0 {
                let evidence = sum * blocks.shared(pair);
                columns.push((evidence, (0..classes).map(|row| cell(row) / sum).collect()));
            }
        }
    }
    // An order that does not depend on the order of workers, for the sake of ties.
    columns.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| compare(&b.1, &a.1)));
    let flat: Vec<f64> = columns.iter().flat_map(|(_, column)| column).copied().collect();
    let picked = extreme_columns(&flat, classes, classes);
    if picked.len() < classes {
        return None;
    }
    let cell = |cell: usize| columns[picked[cell % classes]].1[cell / classes];
    let by_pick: Vec<f64> = (0..classes * classes).map(cell).collect();
    if !rank_above(&by_pick, classes, classes - 1) {
        return None;
    }
    let order = assignment::maximise(&by_pick, classes);
    let ordered = |row: &[f64]| -> Vec<f64> { order.iter().map(|&k| row[k]).collect() };
    Some(by_pick.chunks_exact(classes).flat_map(ordered).collect())
}

fn compare(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    let mut orders = a.iter().zip(b).map(|(x, y)| x.total_cmp(y));
    let differing = orders.find(|order| order.is_ne());
    differing.unwrap_or(std::cmp::Ordering::Equal)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use quorate::internal::linalg::small::{multiply, multiply_transposed};
    use quorate_testkit::toys::assert_close;

    pub(crate) const A1: [f64; 9] = [0.9, 0.1, 0.1, 0.05, 0.8, 0.2, 0.05, 0.1, 0.7];
    pub(crate) const A2: [f64; 9] = [0.9, 0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0, 1.0];
    pub(crate) const A3: [f64; 9] = [0.6, 0.2, 0.2, 0.2, 0.6, 0.2, 0.2, 0.2, 0.6];

    /// Exact blocks of three workers with prior (.5, .3, .2).
    pub(crate) fn exact_blocks(matrices: [[f64; 9]; 3]) -> PairBlocks {
        let d = [0.5, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.2];
        let block = |m: usize, j: usize| {
            let (mut scaled, mut block) = ([0.0; 9], vec![0.0; 9]);
            multiply(&matrices[m], &d, 3, &mut scaled);
            multiply_transposed(&scaled, &matrices[j], 3, &mut block);
            (m, j, 100.0, block)
        };
        PairBlocks::new(3, 3, [block(0, 1), block(0, 2), block(1, 2)])
    }

    #[test]
    fn a_perfect_neighbour_gives_the_matrix_exactly() {
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let blocks = exact_blocks([A1, identity, A3]);
        let good = blocks_above_rank(&blocks, 2);
        assert_close(&estimate_worker(&blocks, &good, 0, 2).unwrap(), &A1, 1e-12);
    }

    #[test]
    fn without_a_specialist_the_column_is_biased() {
        let blocks = exact_blocks([A1, A2, A3]);
        let good = blocks_above_rank(&blocks, 2);
        let found = estimate_worker(&blocks, &good, 0, 2).unwrap();
        let expected = [0.9, 0.214286, 0.1, 0.05, 0.692857, 0.2, 0.05, 0.092857, 0.7];
        assert_close(&found, &expected, 1e-6);
        assert!(estimate_worker(&blocks, &good, 0, 3).is_none());
    }

    #[test]
    fn singular_blocks_leave_the_fill_and_are_said() {
        // Two workers who always give the same answer: the block has rank 1.
        let labels = (0..12).map(|cell| (cell / 3, cell % 3, 1));
        let annotations = Annotations::from_codes(4, 3, 2, labels).unwrap();
        let fit = MultiSpa::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        assert_eq!(fit.consensus.labels(), [1; 4]);
        assert!(fit.warnings[0].contains("majority vote"));
    }
}
