//! Agreement of every two workers that share enough tasks.
//!
//! Only observed pairs are looked at. There are two means of Cohen's kappa over pairs: weighted by the shared
//! tasks, so that a pair with three tasks does not weigh as much as one with three hundred, and plain. Of the
//! pairs those with the most shared tasks are listed, up to a limit. Time linear in the pairs of labels
//! within tasks; memory in the pairs with enough shared tasks, and K^2 for each of those of one worker while
//! counting.
//!
//! Intervals of a pair resample its shared tasks, which is a multinomial draw over the cells of its table.

use std::ops::Range;

use super::bootstrap::{percentiles, resample};
use super::cohen::cohen_kappa;
use super::{AgreementSettings, Undefined};
use crate::parallel::{balanced_ranges, map_ranges};
use crate::statistics::{PairSums, SharedTask};
use crate::{Annotations, Context};

/// Most steps spent on counting pairs.
const MAX_EVENTS: u64 = 500_000_000;
/// First random stream of the pairs' intervals.
const STREAM: u64 = 0xc0e0 << 40;

/// Agreement of two workers.
#[derive(Debug, Clone, PartialEq)]
pub struct PairAgreement {
    /// The two workers, as codes.
    pub workers: (usize, usize),
    /// Tasks that both labelled.
    pub shared: u32,
    /// Share of them with the same answer.
    pub observed: f64,
    /// Cohen's kappa.
    pub kappa: Result<f64, Undefined>,
    /// Percentile interval of kappa over the shared tasks.
    pub interval: Option<(f64, f64)>,
}

/// Agreement between workers, two at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairwise {
    /// Pairs with at least the asked number of shared tasks.
    pub pairs: usize,
    /// Pairs with fewer shared tasks: not used.
    pub skipped: usize,
    /// Mean of Cohen's kappa over the pairs where it is defined, weighted by shared tasks.
    pub mean_kappa: Result<f64, Undefined>,
    /// The same mean with every pair counted alike.
    pub plain_mean_kappa: Result<f64, Undefined>,
    /// The pairs with the most shared tasks, up to the limit, in falling order of shared tasks.
    pub listed: Vec<PairAgreement>,
}

pub(super) fn pairwise(
    annotations: &Annotations,
    settings: &AgreementSettings,
    context: &Context,
) -> Pairwise {
    let mut found = Pairwise {
        pairs: 0,
        skipped: 0,
        mean_kappa: Err(Undefined::TooManyPairs),
        plain_mean_kappa: Err(Undefined::TooManyPairs),
        listed: Vec::new(),
    };
    if annotations.as_block().pairs_of_labels() > MAX_EVENTS {
        return found;
    }
    let ranges = balanced_ranges(annotations.by_worker().starts(), 64);
    let least = settings.min_shared.max(1) as u32;
    let parts = context.run(|| map_ranges(ranges, |workers| compare_range(annotations, workers, least)));
    for (pairs, skipped) in parts {
        found.listed.extend(pairs);
        found.skipped += skipped;
    }
    found.pairs = found.listed.len();
    found.mean_kappa = mean_kappa(&found.listed, |pair| f64::from(pair.shared));
    found.plain_mean_kappa = mean_kappa(&found.listed, |_| 1.0);
    found.listed.sort_by_key(|pair| std::cmp::Reverse(pair.shared));
    found.listed.truncate(settings.max_pairs);
    let classes = annotations.class_count();
    for (rank, pair) in found.listed.iter_mut().enumerate() {
        let table = table_of_pair(annotations, pair.workers);
        pair.interval = pair_interval(&table, classes, settings, context, rank as u64);
    }
    found
}

/// Mean of kappa where it is defined.
fn mean_kappa(pairs: &[PairAgreement], weight: impl Fn(&PairAgreement) -> f64) -> Result<f64, Undefined> {
    let (mut sum, mut total) = (0.0, 0.0);
    for pair in pairs {
        if let Ok(kappa) = pair.kappa {
            sum += weight(pair) * kappa;
            total += weight(pair);
        }
    }
    match (pairs.is_empty(), total > 0.0) {
        (true, _) => Err(Undefined::TooFewShared),
        (_, true) => Ok(sum / total),
        (_, false) => Err(Undefined::NoVariation),
    }
}

/// The pairs of some workers with those after them, and the number of pairs with fewer shared tasks than
/// `least`. Shared tasks are counted first: where most pairs share a few, tables for all of them would be
/// most of the work.
fn compare_range(
    annotations: &Annotations,
    workers: Range<usize>,
    least: u32,
) -> (Vec<PairAgreement>, usize) {
    let classes = annotations.class_count();
    let mut pairs = PairSums::new(annotations);
    let (mut found, mut skipped) = (Vec::new(), 0);
    for m in workers {
        let start = |_, shared| {
            skipped += usize::from(shared < least);
            (shared >= least).then(|| (shared, vec![0; classes * classes]))
        };
        let add = |(_, table): &mut (u32, Vec<u32>), shared: SharedTask| {
            table[shared.answers.0 * classes + shared.answers.1] += 1;
        };
        for (j, (shared, table)) in pairs.of_worker(m, |_| true, start, add) {
            let equal: u32 = table.iter().step_by(classes + 1).sum();
            found.push(PairAgreement {
                workers: (m, j),
                shared,
                observed: f64::from(equal) / f64::from(shared),
                kappa: cohen_kappa(&table, classes),
                interval: None,
            });
        }
    }
    (found, skipped)
}

/// Answers of two workers to the tasks they share, `[answer of the first][answer of the second]`.
fn table_of_pair(annotations: &Annotations, (m, j): (usize, usize)) -> Vec<u32> {
    let classes = annotations.class_count();
    let mut table = vec![0; classes * classes];
    for (task, answer) in annotations.by_worker().labels(m) {
        let (workers, labels) = annotations.task_slices(task);
        if let Ok(place) = workers.binary_search(&(j as u32)) {
            table[answer * classes + labels[place] as usize] += 1;
        }
    }
    table
}

fn pair_interval(
    table: &[u32],
    classes: usize,
    settings: &AgreementSettings,
    context: &Context,
    rank: u64,
) -> Option<(f64, f64)> {
    let counts: Vec<u64> = table.iter().map(|&count| u64::from(count)).collect();
    let stream = STREAM + (rank << 20);
    let kappas = resample(&counts, settings.replicates, stream, context, |drawn| {
        let table: Vec<u32> = drawn.iter().map(|&count| count as u32).collect();
        vec![cohen_kappa(&table, classes).ok()]
    });
    percentiles(&kappas, 0, settings.confidence)
}
