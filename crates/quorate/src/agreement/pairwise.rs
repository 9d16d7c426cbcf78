//! Agreement of every two workers that share enough tasks.
//!
//! Only observed pairs are looked at. The mean over pairs weights Cohen's kappa by the shared tasks, so that
//! a pair with three tasks does not weigh as much as one with three hundred. Of the pairs those with the most
//! shared tasks are listed, up to a limit. Time linear in the pairs of labels within tasks; memory in
//! observed pairs times K^2 while counting.
//!
//! Intervals of a pair resample its shared tasks, which is a multinomial draw over the cells of its table.

use super::bootstrap::{percentiles, resample};
use super::cohen::cohen_kappa;
use super::{AgreementSettings, Undefined};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::statistics::{count_cooccurrences, pair_cost};

/// Most steps spent on counting pairs.
const MOST_EVENTS: u64 = 500_000_000;
/// Most memory for their tables, in bytes.
const MOST_BYTES: u64 = 1 << 30;
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
        listed: Vec::new(),
    };
    let classes = annotations.class_count();
    let cells = (classes * classes) as u64;
    let cost = context.run(|| pair_cost(annotations, MOST_EVENTS));
    if cost.pairs.is_none_or(|pairs| 4 * pairs * cells > MOST_BYTES) {
        return found;
    }
    let counts = context.run(|| count_cooccurrences(annotations));
    let (mut sum, mut weight) = (0.0, 0.0);
    let mut tables: Vec<&[u32]> = Vec::new();
    for (m, j, shared, table) in counts.iter() {
        if (shared as usize) < settings.min_shared.max(1) {
            found.skipped += 1;
            continue;
        }
        let kappa = cohen_kappa(table, classes);
        if let Ok(kappa) = kappa {
            sum += f64::from(shared) * kappa;
            weight += f64::from(shared);
        }
        let equal: u32 = (0..classes).map(|a| table[a * classes + a]).sum();
        found.listed.push(PairAgreement {
            workers: (m, j),
            shared,
            observed: f64::from(equal) / f64::from(shared),
            kappa,
            interval: None,
        });
        tables.push(table);
    }
    found.pairs = found.listed.len();
    found.mean_kappa = match (found.pairs, weight > 0.0) {
        (0, _) => Err(Undefined::TooFewShared),
        (_, true) => Ok(sum / weight),
        (_, false) => Err(Undefined::NoVariation),
    };
    let mut order: Vec<usize> = (0..found.pairs).collect();
    order.sort_by_key(|&pair| std::cmp::Reverse(found.listed[pair].shared));
    order.truncate(settings.max_pairs);
    found.listed = order
        .iter()
        .enumerate()
        .map(|(rank, &pair)| {
            let interval = pair_interval(tables[pair], classes, settings, context, rank as u64);
            PairAgreement {
                interval,
                ..found.listed[pair].clone()
            }
        })
        .collect();
    found
}

fn pair_interval(
    table: &[u32],
    classes: usize,
    settings: &AgreementSettings,
    context: &Context,
    rank: u64,
) -> Option<(f64, f64)> {
    let counts: Vec<u64> = table.iter().map(|&count| u64::from(count)).collect();
    let kappas = resample(
        &counts,
        settings.replicates,
        STREAM + (rank << 20),
        context,
        |drawn| {
            let table: Vec<u32> = drawn.iter().map(|&count| count as u32).collect();
            vec![cohen_kappa(&table, classes).ok()]
        },
    );
    percentiles(&kappas, 0, settings.confidence)
}
