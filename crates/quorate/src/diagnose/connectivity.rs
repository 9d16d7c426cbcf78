//! Who shares tasks with whom.
//!
//! Two workers can be compared directly if they share a task, and through others if there is a chain of pairs
//! that do.
//!
//! - *Parts*: workers without any chain between them. Their confusion matrices cannot be put on the same
//!   scale by the data, only by the assumption that both parts are better than chance.
//! - *Missing pairs*: share of the M (M - 1) / 2 pairs without a common task.
//! - *Imputable pairs*: missing pairs (m, j) with workers r, l such that (m, r), (r, l) and (l, j) are
//!   observed: the block follows from `R_mj = R_ml R_rl^-1 R_rj` (the designated form of the imputation), if
//!   the middle one is invertible. Up to [`MAX_CHECKED`] missing pairs are checked, beyond that as many
//!   drawn at random (seeded): then it is an estimate.
//! - *Shared tasks*: quantiles over observed pairs.
//!
//! Time: pairs of labels within tasks; not done above [`MAX_EVENTS`] of them.

use rand::RngExt;

use crate::annotations::Annotations;
use crate::context::Context;
use crate::parallel::{balanced_ranges, map_ranges};
use crate::statistics::{Components, pair_cost, worker_components};

/// Most pairs of labels that are counted.
pub const MAX_EVENTS: u64 = 50_000_000;
/// Most missing pairs that are checked for a way round.
pub const MAX_CHECKED: usize = 5_000;
const STREAM: u64 = 0xc022 << 40;

/// Who shares tasks with whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Connectivity {
    /// Parts of the crowd.
    pub parts: Components,
    /// About pairs; None if there are too many to count.
    pub pairs: Option<PairFacts>,
}

/// Facts about pairs of workers.
#[derive(Debug, Clone, PartialEq)]
pub struct PairFacts {
    /// Pairs that share a task.
    pub observed: u64,
    /// Share of all pairs that do not.
    pub missing_share: f64,
    /// Share of the missing pairs that can be reached through two others; None without missing pairs.
    pub imputable_share: Option<f64>,
    /// Whether all missing pairs were checked for that (else a random sample).
    pub exact: bool,
    /// Tasks shared by observed pairs: the 10, 25, 50, 75 and 90 % points.
    pub shared: [u32; 5],
}

pub(super) fn connectivity(annotations: &Annotations, context: &Context) -> Connectivity {
    let parts = worker_components(annotations);
    let countable = pair_cost(annotations, 0).events <= MAX_EVENTS;
    let pairs = countable.then(|| pair_facts(annotations, &parts, context));
    Connectivity { parts, pairs }
}

/// Neighbours of each worker with the number of shared tasks, both directions.
fn neighbours(annotations: &Annotations, context: &Context) -> Vec<Vec<(u32, u32)>> {
    let ranges = balanced_ranges(annotations.by_worker().starts(), 64);
    let parts = context.run(|| {
        map_ranges(ranges, |workers| {
            let mut shared = vec![0u32; annotations.worker_count()];
            workers
                .map(|m| {
                    let mut row: Vec<u32> = Vec::new();
                    for (task, _) in annotations.by_worker().labels(m) {
                        for &j in annotations.task_slices(task).0 {
                            if shared[j as usize] == 0 {
                                row.push(j);
                            }
                            shared[j as usize] += 1;
                        }
                    }
                    row.sort_unstable();
                    row.iter()
                        .map(|&j| (j, std::mem::take(&mut shared[j as usize])))
                        .filter(|&(j, _)| j as usize != m)
                        .collect::<Vec<_>>()
                })
                .collect::<Vec<_>>()
        })
    });
    parts.into_iter().flatten().collect()
}

fn pair_facts(annotations: &Annotations, parts: &Components, context: &Context) -> PairFacts {
    let workers = annotations.worker_count();
    let neighbours = neighbours(annotations, context);
    let mut shared: Vec<u32> = Vec::new();
    for (m, row) in neighbours.iter().enumerate() {
        shared.extend(
            row.iter()
                .filter(|(j, _)| *j as usize > m)
                .map(|&(_, tasks)| tasks),
        );
    }
    shared.sort_unstable();
    let point = |share: f64| {
        let at = (share * shared.len().saturating_sub(1) as f64).round() as usize;
        shared.get(at).copied().unwrap_or(0)
    };
    let observed = shared.len() as u64;
    let all = workers as u64 * (workers as u64).saturating_sub(1) / 2;
    let missing = all - observed;
    let is_missing = |m: usize, j: usize| {
        neighbours[m]
            .binary_search_by_key(&(j as u32), |entry| entry.0)
            .is_err()
    };
    let mut checked: Vec<(usize, usize)> = Vec::new();
    let exact = missing <= MAX_CHECKED as u64 && all <= 50_000_000;
    if exact {
        for m in 0..workers {
            checked.extend((m + 1..workers).filter(|&j| is_missing(m, j)).map(|j| (m, j)));
        }
    } else {
        let mut rng = context.rng(STREAM);
        // Rare missing pairs among many: give up after enough tries, what was found is still a fair sample.
        for _ in 0..100 * MAX_CHECKED {
            let (m, j) = (rng.random_range(0..workers), rng.random_range(0..workers));
            if m != j && is_missing(m, j) {
                checked.push((m.min(j), m.max(j)));
            }
            if checked.len() == MAX_CHECKED {
                break;
            }
        }
    }
    let mut near = vec![u32::MAX; workers];
    let mut reached = 0;
    for (stamp, &(m, j)) in checked.iter().enumerate() {
        if parts.of_worker[m] == parts.of_worker[j] {
            neighbours[m]
                .iter()
                .for_each(|&(r, _)| near[r as usize] = stamp as u32);
            let joins = |l: u32| {
                neighbours[l as usize]
                    .iter()
                    .any(|&(r, _)| near[r as usize] == stamp as u32)
            };
            reached += usize::from(neighbours[j].iter().any(|&(l, _)| joins(l)));
        }
    }
    PairFacts {
        observed,
        missing_share: if all > 0 { missing as f64 / all as f64 } else { 0.0 },
        imputable_share: (!checked.is_empty()).then(|| reached as f64 / checked.len() as f64),
        exact,
        shared: [0.1, 0.25, 0.5, 0.75, 0.9].map(point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_four_and_a_stranger() {
        // Workers 0-1-2-3 in a chain, 4 and 5 apart. Missing: 02, 13, 03 and the 8 with 4 or 5.
        let labels = [
            (0, 0),
            (0, 1),
            (1, 1),
            (1, 2),
            (2, 2),
            (2, 3),
            (3, 4),
            (3, 5),
            (4, 0),
            (4, 1),
        ];
        let table = Annotations::from_codes(5, 6, 2, labels.map(|(n, m)| (n, m, 0))).unwrap();
        let found = connectivity(&table, &Context::new(0));
        assert_eq!(found.parts.count(), 2);
        let pairs = found.pairs.unwrap();
        assert_eq!((pairs.observed, pairs.exact), (4, true));
        assert!((pairs.missing_share - 11.0 / 15.0).abs() < 1e-12);
        // Only 0 and 3 are two steps apart in the middle: 0-1-2-3. For 0 and 2: r = 1 and l = 1 or 3, and the
        // pairs (1, 1) and (1, 3) are not observed.
        assert_eq!(pairs.imputable_share, Some(1.0 / 11.0));
        assert_eq!(pairs.shared, [1, 1, 1, 1, 2]);
    }
}
