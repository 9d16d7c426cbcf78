//! A fit that does not depend on the order of rows nor on names, to the last bit, for methods that are
//! sensitive to rounding, draw at random or go through workers one by one.
//!
//! Sums over tasks in another order differ in the last digit. Most methods forget that; a decomposition of
//! noisy moments, or one of many optima, need not. Such a method (the fact `canonical_order`) gets a table
//! whose workers and classes stand in an order that the labels alone decide (`annotations/content_order.rs`;
//! classes whose order has a meaning keep it) and whose tasks stand by their labels, and its results are put
//! back into the caller's order.
//!
//! In three cases the table is taken as it is: if the method is one for any number of labels (`streams`) and
//! there are more than [`MAX_LABELS`], since the order takes a copy of the table, and time; if expectations
//! about classes or workers are given, which come in the caller's codes; and if a parameter names workers.

use super::{Aggregate, Fit, Kind};
use crate::annotations::{Annotations, ContentOrder};
use crate::{Consensus, Context, DawidSkene, Result};

/// Labels up to which a method for any number of labels gets its table in canonical order: tables on which
/// rounding decides between solutions are smaller, and on larger ones the order would take longer than some
/// of the methods.
const MAX_LABELS: usize = 2_000;

/// The answer of `method`, in canonical order where the method gets it.
pub(super) fn estimate_in_order<A: Aggregate + ?Sized>(
    method: &A,
    annotations: &Annotations,
    context: &mut Context,
) -> Result<Fit> {
    if has_canonical_order(method, annotations, context) {
        fit_in_canonical_order(method, annotations, context)
    } else {
        method.estimate(annotations, context)
    }
}

/// Whether `method` gets this table in canonical order.
fn has_canonical_order<A: Aggregate + ?Sized>(
    method: &A,
    annotations: &Annotations,
    context: &Context,
) -> bool {
    let facts = method.method();
    let names_workers = || {
        let mut parameters = facts.parameters.iter().zip(method.values());
        parameters.any(|(parameter, value)| parameter.kind == Kind::Text && !value.is_empty())
    };
    facts.canonical_order
        && (!facts.streams || annotations.label_count() <= MAX_LABELS)
        && context.priors().is_empty()
        && !names_workers()
}

/// Fits `method` to the table in canonical order.
fn fit_in_canonical_order<A: Aggregate + ?Sized>(
    method: &A,
    annotations: &Annotations,
    context: &mut Context,
) -> Result<Fit> {
    let (tasks, workers) = (annotations.task_count(), annotations.worker_count());
    let content = ContentOrder::of(annotations, method.method().uses_class_order);
    let (worker_rank, class_rank) = (ranks(&content.workers), ranks(&content.classes));
    let ranked = |task: usize| {
        let rank = |(worker, class): (usize, usize)| (worker_rank[worker], class_rank[class] as u16);
        let mut labels: Vec<(u32, u16)> = annotations.labels_of_task(task).map(rank).collect();
        labels.sort_unstable();
        labels
    };
    let mut labels: Vec<Vec<(u32, u16)>> = (0..tasks).map(ranked).collect();
    let mut order: Vec<u32> = (0..tasks as u32).collect();
    // Gold tells tasks apart, too; tasks that are alike in both may stand in any order.
    let gold = |task: u32| annotations.gold(task as usize).map(|class| class_rank[class]);
    order.sort_by(|&a, &b| (&labels[a as usize], gold(a)).cmp(&(&labels[b as usize], gold(b))));
    let rows = order.iter().enumerate().flat_map(|(rank, &task)| {
        let labels = std::mem::take(&mut labels[task as usize]).into_iter();
        labels.map(move |(worker, class)| (rank as u32, worker, class))
    });
    let table = Annotations::from_codes(tasks, workers, annotations.class_count(), rows)?;
    let known = order.iter().enumerate();
    let known = known.filter_map(|(rank, &task)| Some((rank as u32, gold(task)? as u16)));
    let table = table.with_gold(known)?;
    let fit = method.estimate(&table, context)?;
    Ok(put_back(fit, &ranks(&order), &worker_rank, &class_rank))
}

/// Where each code stands in an order.
fn ranks(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, &code) in order.iter().enumerate() {
        ranks[code as usize] = rank as u32;
    }
    ranks
}

/// The same fit with tasks, workers and classes where the caller has them.
fn put_back(fit: Fit, task_rank: &[u32], worker_rank: &[u32], class_rank: &[u32]) -> Fit {
    let classes = fit.consensus.class_count();
    let in_order = |row: &[f64]| pick(row, 1, class_rank);
    let by_task = pick(fit.consensus.as_slice(), classes, task_rank);
    let rows = by_task.chunks_exact(classes).flat_map(in_order).collect();
    let model = fit.model.as_ref().map(|model| {
        let by_worker = pick(model.confusions(), classes * classes, worker_rank);
        let matrices = by_worker.chunks_exact(classes * classes);
        let cells: Vec<f64> = matrices
            .flat_map(|matrix| pick(matrix, classes, class_rank))
            .collect();
        let confusions = cells.chunks_exact(classes).flat_map(in_order).collect();
        DawidSkene::new(in_order(model.prior()), confusions)
    });
    let one_by_one = |numbers: &Option<Vec<f64>>, rank| Some(pick(numbers.as_ref()?, 1, rank));
    Fit {
        worker_scores: one_by_one(&fit.worker_scores, worker_rank),
        task_difficulty: one_by_one(&fit.task_difficulty, task_rank),
        model,
        ..fit.with_consensus(Consensus::new(classes, rows))
    }
}

/// Records of `width` numbers, taken from where their ranks say.
fn pick(values: &[f64], width: usize, rank: &[u32]) -> Vec<f64> {
    let record = |&rank: &u32| &values[rank as usize * width..][..width];
    rank.iter().flat_map(record).copied().collect()
}
