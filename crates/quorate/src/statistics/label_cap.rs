//! A cap on the pairs of labels that are counted.
//!
//! A task with d labels holds `d (d - 1) / 2` pairs of them: one task that everybody answered would cost more
//! than all others together. Where the pairs of all tasks are more than a budget, tasks with very many labels
//! stand for themselves with some of them: the same number from each, drawn with the seed. Co-occurrence
//! frequencies of a pair stay unbiased, a pair only rests on fewer tasks. Which labels are drawn depends on
//! the seed and on names, not on the order of rows.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::statistics::pair_blocks::pair_bytes;
use crate::{Annotations, Context, Result};

/// Labels for counting pairs, and what was left out.
#[derive(Debug)]
pub struct CappedLabels<'a> {
    /// The labels: all of them, or capped.
    pub annotations: Cow<'a, Annotations>,
    /// What to tell about it, if something was left out.
    pub note: Option<String>,
}

/// Pairs that are always counted, and pairs for each label beyond that.
const FREE_EVENTS: u64 = 200_000_000;
const EVENTS_A_LABEL: u64 = 32;

/// Memory for pairs of workers that is always granted.
const FREE_BYTES: u64 = 256 << 20;

/// Fewest labels that a capped task stands for itself with.
const LEAST: u64 = 16;

/// Pairs of labels that are worth counting in a table of so many labels.
pub(crate) fn pair_budget(labels: u64) -> u64 {
    FREE_EVENTS.max(EVENTS_A_LABEL * labels)
}

/// Caps the labels of large tasks if their pairs are more than is worth counting.
pub fn cap_labels<'a>(annotations: &'a Annotations, context: &Context) -> Result<CappedLabels<'a>> {
    let (workers, labels) = (
        annotations.worker_count() as u64,
        annotations.label_count() as u64,
    );
    let mut budget = pair_budget(labels);
    // Every pair of labels may be a pair of workers of its own, unless there are few workers. A pair that
    // shares one task says next to nothing, so memory follows the labels long before the limit.
    let bytes = pair_bytes(annotations.class_count() as u64);
    let enough = (FREE_BYTES / bytes).max(EVENTS_A_LABEL * labels);
    let room = (context.memory_limit() / 2 / bytes).min(enough);
    if workers * workers / 2 > room {
        budget = budget.min(room);
    }
    cap_labels_to(annotations, budget, context.seed())
}

fn cap_labels_to(annotations: &Annotations, budget: u64, seed: u64) -> Result<CappedLabels<'_>> {
    let starts = annotations.task_starts();
    let sizes = || starts.windows(2).map(|pair| u64::from(pair[1] - pair[0]));
    let events = |cap: u64| -> u64 {
        let capped = sizes().map(|size| size.min(cap));
        capped.map(|size| size * size.saturating_sub(1) / 2).sum()
    };
    let largest = sizes().max().unwrap_or(0);
    let total = events(largest);
    // Where many short tasks are too much, leaving out labels of the longer ones would not help.
    if total <= budget || events(LEAST) > budget {
        let (annotations, note) = (Cow::Borrowed(annotations), None);
        return Ok(CappedLabels { annotations, note });
    }
    let mut cap = largest;
    while cap > LEAST && events(cap) > budget {
        cap = (cap / 2).max(LEAST);
    }
    let mut kept = Vec::with_capacity(annotations.label_count());
    let mut drawn = Vec::new();
    for task in 0..annotations.task_count() {
        let (workers, labels) = annotations.task_slices(task);
        drawn.clear();
        drawn.extend(workers.iter().copied().zip(labels.iter().copied()));
        if drawn.len() as u64 > cap {
            let key = |&(worker, _): &(u32, u16)| {
                let name = annotations.workers().get(worker as usize);
                (draw(seed, annotations.tasks().get(task), name), worker)
            };
            drawn.sort_by_cached_key(key);
            drawn.truncate(cap as usize);
        }
        kept.extend(drawn.iter().map(|&(worker, label)| (task as u32, worker, label)));
    }
    let capped = sizes().filter(|&size| size > cap).count();
    let note = format!(
        "{capped} task(s) have more than {cap} labels: {cap} of each, drawn with the seed, are paired ({} of {total} pairs of \
         labels)",
        events(cap)
    );
    let (annotations, note) = (Cow::Owned(annotations.with_labels(kept)?), Some(note));
    Ok(CappedLabels { annotations, note })
}

/// A number that stands for a label, the same for any order of rows.
fn draw(seed: u64, task: &str, worker: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(seed);
    hasher.write(task.as_bytes());
    hasher.write_u8(0xff);
    hasher.write(worker.as_bytes());
    // Spread neighbouring names apart: the hash alone keeps some of their order.
    let mut bits = hasher.finish();
    bits = (bits ^ (bits >> 32)).wrapping_mul(0x9fb2_1c65_1e98_df25);
    bits ^ (bits >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::pair_cost;

    fn one_long_task() -> Annotations {
        let long = (0..2000).map(|m| (0, m, (m % 2) as u16));
        let short = (1..500).flat_map(|n| [(n, n, 0), (n, n + 1, 1)]);
        Annotations::from_codes(500, 2000, 2, long.chain(short)).unwrap()
    }

    #[test]
    fn long_tasks_are_capped_and_short_ones_stay() {
        let whole = one_long_task();
        let capped = cap_labels_to(&whole, 20_000, 1).unwrap();
        let words = capped.note.unwrap();
        assert!(
            words.starts_with("1 task(s) have more than 125 labels"),
            "{words}"
        );
        assert_eq!(capped.annotations.task_slices(0).0.len(), 125);
        assert!((1..500).all(|task| capped.annotations.task_slices(task) == whole.task_slices(task)));
        assert!(pair_cost(&capped.annotations, 0).events <= 20_000);
        // Nothing is left out where all pairs can be counted.
        assert!(cap_labels_to(&whole, 2_000_000, 1).unwrap().note.is_none());
    }

    #[test]
    fn the_draw_depends_on_the_seed_and_is_fair() {
        let whole = one_long_task();
        let drawn = |seed| {
            cap_labels_to(&whole, 20_000, seed)
                .unwrap()
                .annotations
                .task_slices(0)
                .0
                .to_vec()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        let mut times = vec![0; 2000];
        for seed in 0..400 {
            drawn(seed).iter().for_each(|&worker| times[worker as usize] += 1);
        }
        // Each worker is drawn 25 times in expectation, with a standard deviation of 4.8; 6 of them either
        // way.
        assert!(times.iter().all(|&count| (1..=54).contains(&count)));
    }
}
