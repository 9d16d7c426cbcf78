//! An order of workers, tasks and classes that depends on the labels alone: neither on the order of rows nor on names.
//!
//! Every worker, task and class starts with the same colour. In a round each takes in the colours of what its labels
//! connect it with,
//!
//! ```text
//! colour(m) <- mix(colour(m), sum over labels (n, m, k) of mix(colour(n), colour(k)))
//! ```
//!
//! and the same for tasks and classes (colour refinement, B. Weisfeiler and A. Leman 1968). Sums of hashes do not depend
//! on the order of the labels. After a few rounds two workers of the same colour are alike in all that a method can
//! see, but for rare regular tables; names break such ties. `O(L)` a round.

use super::Annotations;

/// Rounds of refinement: a colour then depends on everything up to four labels away.
const ROUNDS: usize = 4;

/// Workers, tasks and classes, each in an order of its own.
pub(crate) struct ContentOrder {
    /// Most labels first.
    pub(crate) workers: Vec<u32>,
    /// Most labels first, or as they were.
    pub(crate) classes: Vec<u32>,
}

impl ContentOrder {
    /// The order of a table; `ordered`: the order of the classes has a meaning and stays.
    pub(crate) fn of(annotations: &Annotations, ordered: bool) -> Self {
        let mut workers = vec![1u64; annotations.worker_count()];
        let mut tasks = vec![2u64; annotations.task_count()];
        let first = |class: u64| if ordered { 3 + class } else { 3 };
        let mut classes: Vec<u64> = (0..annotations.class_count() as u64).map(first).collect();
        for _ in 0..ROUNDS {
            let mut next = [&workers, &tasks, &classes].map(|colours| vec![0u64; colours.len()]);
            for (n, m, k) in annotations.iter() {
                let (worker, task, class) = (workers[m], tasks[n], classes[k]);
                take_in(&mut next[0][m], pair(task, class));
                take_in(&mut next[1][n], pair(worker, class));
                take_in(&mut next[2][k], pair(worker, task));
            }
            for n in 0..tasks.len() {
                if let Some(k) = annotations.gold(n) {
                    take_in(&mut next[1][n], mix(!classes[k]));
                    take_in(&mut next[2][k], mix(!tasks[n]));
                }
            }
            for (colours, next) in [&mut workers, &mut tasks, &mut classes].into_iter().zip(&next) {
                colours
                    .iter_mut()
                    .zip(next)
                    .for_each(|(colour, &seen)| *colour = pair(*colour, seen));
            }
        }
        let labels = annotations.labels_per_worker();
        let mut votes = vec![0u32; classes.len()];
        annotations.iter().for_each(|(_, _, k)| votes[k] += 1);
        let order = |names: &super::Names, given: &[u32], colours: &[u64]| {
            let mut order: Vec<u32> = names.natural_order().iter().map(|&code| code as u32).collect();
            order.sort_by_key(|&code| (std::cmp::Reverse(given[code as usize]), colours[code as usize]));
            order
        };
        Self {
            workers: order(annotations.workers(), &labels, &workers),
            classes: match ordered {
                true => (0..classes.len() as u32).collect(),
                false => order(annotations.classes(), &votes, &classes),
            },
        }
    }
}

fn take_in(sum: &mut u64, colour: u64) {
    *sum = sum.wrapping_add(colour);
}

/// A hash of two colours, in this order.
fn pair(first: u64, second: u64) -> u64 {
    mix(mix(first).wrapping_add(second.rotate_left(17)))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
pub(super) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand::seq::SliceRandom;

    use super::*;
    use crate::context::seeded;

    /// The same labels under other codes: the order goes along.
    #[test]
    fn other_codes_give_the_same_order() {
        let (tasks, workers, classes) = (40, 12, 4);
        let mut rng = seeded(5, 0);
        let mut labels = Vec::new();
        for n in 0..tasks as u32 {
            for m in 0..workers as u32 {
                if rng.random_bool(0.5) {
                    labels.push((n, m, rng.random_range(0..classes as u16)));
                }
            }
        }
        let table = Annotations::from_codes(tasks, workers, classes, labels.clone()).unwrap();
        let mut shuffled = |length: usize| {
            let mut codes: Vec<u32> = (0..length as u32).collect();
            codes.shuffle(&mut rng);
            codes
        };
        let (new_task, new_worker, new_class) = (shuffled(tasks), shuffled(workers), shuffled(classes));
        let renamed = labels.iter().map(|&(n, m, k)| {
            (
                new_task[n as usize],
                new_worker[m as usize],
                new_class[usize::from(k)] as u16,
            )
        });
        let other = Annotations::from_codes(tasks, workers, classes, renamed).unwrap();
        let (one, two) = (ContentOrder::of(&table, false), ContentOrder::of(&other, false));
        let map =
            |order: &[u32], new: &[u32]| order.iter().map(|&code| new[code as usize]).collect::<Vec<_>>();
        assert_eq!(map(&one.workers, &new_worker), two.workers);
        assert_eq!(map(&one.classes, &new_class), two.classes);
        assert_eq!(ContentOrder::of(&other, true).classes, [0, 1, 2, 3]);
    }
}
