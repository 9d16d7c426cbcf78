//! Groups of workers who copy: pairs that share errors, merged, with the test repeated until it settles.
//!
//! 1. Everyone has a voice of the same weight; test the pairs ([`shared_errors`](super::shared_errors)).
//! 2. Flagged pairs are joined (union-find); each group gets one voice.
//! 3. Fit confusion matrices to these voices, test again; repeat 2 and 3 until the groups stay, at most
//!    [`MAX_ROUNDS`] times.
//!
//! The first round does not trust fitted weights: five workers with the same random answers look like five
//! perfect workers to a likelihood.

use super::answer_tables::{AnswerTable, answer_tables};
use super::others::Others;
use super::shared_errors::{Baseline, CommonErrors, PairErrors, count_common_errors, test_pairs};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;

/// Most rounds of fitting and testing.
pub const MAX_ROUNDS: usize = 4;

/// Which workers err together, and how the pairs were tested.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyGroups {
    /// Groups of two workers and more, as codes in rising order.
    pub groups: Vec<Vec<usize>>,
    /// The flagged pairs.
    pub pairs: Vec<PairErrors>,
    /// Number of pairs with enough shared tasks.
    pub tested: usize,
    /// How much common errors exceed independence in the whole crowd.
    pub baseline: Baseline,
    /// Every how many-th task was used (1: all).
    pub stride: usize,
    /// Tasks left out for their many labels.
    pub crowded: usize,
    /// Mean correlation of two workers' errors on a task, weighted by shared tasks.
    pub error_correlation: f64,
}

/// Finds the groups; also returns the final voices and the workers' tables against them.
pub(super) fn find_groups<'a>(
    annotations: &'a Annotations,
    min_shared: u32,
    level: f64,
    context: &mut Context,
) -> Result<(CopyGroups, Others<'a>, Vec<AnswerTable>)> {
    let workers = annotations.worker_count();
    let mut group: Vec<u32> = (0..workers as u32).collect();
    let mut others = Others::equal(annotations, &group, context);
    let mut round = 0;
    loop {
        context.step("looking for copies", round, Some(MAX_ROUNDS))?;
        let tables = answer_tables(&others, context);
        let CommonErrors {
            mut pairs,
            rest,
            stride,
            crowded,
        } = count_common_errors(&others, &tables, min_shared, context);
        let (baseline, tested) = test_pairs(&mut pairs, min_shared, level);
        let flagged: Vec<PairErrors> = pairs.iter().copied().filter(|pair| pair.flagged).collect();
        let joined = join(workers, &flagged);
        round += 1;
        if (round > 1 && joined == group) || round == MAX_ROUNDS {
            let found = CopyGroups {
                groups: members(&joined),
                pairs: flagged,
                tested,
                baseline,
                stride,
                crowded,
                error_correlation: error_correlation(&pairs, rest),
            };
            if joined == group {
                return Ok((found, others, tables));
            }
            // Not settled: workers are still judged by the groups that are reported.
            let others = Others::fitted(annotations, &joined, context)?;
            let tables = answer_tables(&others, context);
            return Ok((found, others, tables));
        }
        group = joined;
        others = Others::fitted(annotations, &group, context)?;
    }
}

/// `sum of covariances / sum of products of standard deviations`, over these pairs and the `rest`.
fn error_correlation(pairs: &[PairErrors], rest: (f64, f64)) -> f64 {
    let add = |sum: (f64, f64), pair: &PairErrors| (sum.0 + pair.covariance.0, sum.1 + pair.covariance.1);
    let (covariance, deviations) = pairs.iter().fold(rest, add);
    if deviations > 0.0 {
        (covariance / deviations).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// Group of each worker: the lowest code of those it is joined to.
fn join(workers: usize, pairs: &[PairErrors]) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..workers as u32).collect();
    fn root(parent: &mut [u32], mut node: u32) -> u32 {
        while parent[node as usize] != node {
            parent[node as usize] = parent[parent[node as usize] as usize];
            node = parent[node as usize];
        }
        node
    }
    for pair in pairs {
        let (a, b) = (
            root(&mut parent, pair.workers.0 as u32),
            root(&mut parent, pair.workers.1 as u32),
        );
        parent[a.max(b) as usize] = a.min(b);
    }
    (0..workers as u32)
        .map(|worker| root(&mut parent, worker))
        .collect()
}

fn members(group: &[u32]) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); group.len()];
    for (worker, &of) in group.iter().enumerate() {
        members[of as usize].push(worker);
    }
    members.retain(|members| members.len() > 1);
    members
}
