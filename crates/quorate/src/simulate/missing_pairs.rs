//! Pairs of workers that never meet.
//!
//! ```text
//! apart(m, j) = [u_mj < share],  neither designated;    a task keeps a maximal set of workers no two of which are
//!                                                       apart, taken in random order
//! ```
//!
//! The coin of a pair is addressed by the pair, so no M x M table is made.

use super::chance::{CellChance, Stream};
use super::coverage::Assigned;
use crate::annotations::Annotations;
use crate::statistics::distinct_pairs;

/// Drops labels until workers that are apart share no task; returns how many were dropped.
pub(super) fn separate(assigned: &mut Assigned, share: f64, designated: &[usize], seed: u64) -> usize {
    if share == 0.0 {
        return 0;
    }
    let coins = CellChance::new(seed, Stream::MissingPairs);
    let order = CellChance::new(seed, Stream::DropOrder);
    let apart = |a: u32, b: u32| {
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        let exempt = |worker: usize| designated.binary_search(&worker).is_ok();
        coins.uniform(low, high) < share && !exempt(low) && !exempt(high)
    };
    let before = assigned.workers.len();
    let mut write = 0;
    let mut queue: Vec<(f64, u32)> = Vec::new();
    for task in 0..assigned.starts.len() - 1 {
        queue.clear();
        let workers = assigned.of_task(task).iter();
        queue.extend(workers.map(|&worker| (order.uniform(task, worker as usize), worker)));
        queue.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let first = write;
        assigned.starts[task] = first as u32;
        for &(_, worker) in &queue {
            let mut kept = assigned.workers[first..write].iter();
            if !kept.any(|&kept| apart(kept, worker)) {
                assigned.workers[write] = worker;
                write += 1;
            }
        }
    }
    if let Some(last) = assigned.starts.last_mut() {
        *last = write as u32;
    }
    assigned.workers.truncate(write);
    before - write
}

/// Share of the pairs of workers without a common task; 0 if there is no pair.
pub(super) fn missing_share(annotations: &Annotations) -> f64 {
    let workers = annotations.worker_count() as f64;
    if workers < 2.0 {
        return 0.0;
    }
    1.0 - distinct_pairs(annotations, u64::MAX) as f64 / (workers * (workers - 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everyone(tasks: usize, workers: u32) -> Assigned {
        Assigned {
            starts: (0..=tasks as u32).map(|task| task * workers).collect(),
            workers: (0..tasks).flat_map(|_| 0..workers).collect(),
        }
    }

    #[test]
    fn all_pairs_apart_leave_one_label_a_task() {
        let mut assigned = everyone(50, 6);
        assert_eq!(separate(&mut assigned, 1.0, &[], 1), 50 * 5);
        assert!((0..50).all(|task| assigned.of_task(task).len() == 1));
        let mut assigned = everyone(50, 6);
        assert_eq!(separate(&mut assigned, 0.0, &[], 1), 0);
        assert_eq!(assigned, everyone(50, 6));
    }

    #[test]
    fn designated_workers_meet_everyone() {
        let mut assigned = everyone(200, 6);
        separate(&mut assigned, 1.0, &[2, 4], 1);
        for task in 0..200 {
            let workers = assigned.of_task(task);
            assert!(workers.len() == 3 && workers.contains(&2) && workers.contains(&4));
        }
    }

    #[test]
    fn the_missing_share_is_the_share_asked_for() {
        let (workers, share) = (60u32, 0.5f64);
        let mut assigned = everyone(3000, workers);
        separate(&mut assigned, share, &[], 3);
        let labels =
            (0..3000).flat_map(|task| assigned.of_task(task).iter().map(move |&m| (task as u32, m, 0)));
        let annotations = Annotations::from_codes(3000, workers as usize, 1, labels).unwrap();
        let found = missing_share(&annotations);
        let mut naive = 0;
        for m in 0..workers {
            for j in m + 1..workers {
                let both =
                    |task: usize| assigned.of_task(task).contains(&m) && assigned.of_task(task).contains(&j);
                naive += usize::from(!(0..3000).any(both));
            }
        }
        let pairs = f64::from(workers * (workers - 1) / 2);
        assert!((found - f64::from(naive as u32) / pairs).abs() < 1e-12);
        // Pairs are drawn independently: five binomial standard deviations.
        assert!(
            (found - share).abs() < 5.0 * (share * (1.0 - share) / pairs).sqrt(),
            "{found}"
        );
    }
}
