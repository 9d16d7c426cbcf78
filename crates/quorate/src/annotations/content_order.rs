//! An order of workers, tasks and classes that depends on the labels alone: neither on the order of rows nor
//! on names.
//!
//! Every worker, task and class starts with the same colour. In a round each takes in the colours of what its
//! labels connect it with,
//!
//! ```text
//! colour(m) <- mix(colour(m), sum over labels (n, m, k) of mix(colour(n), colour(k)))
//! ```
//!
//! and the same for tasks and classes (colour refinement, B. Weisfeiler and A. Leman 1968). Sums of hashes do
//! not depend on the order of the labels. `O(L)` a round.
//!
//! Where several still have one colour after the first rounds, rounds go on as long as they tell more apart,
//! and take in the colours of all who gave the same label to the task, too. When they do not, all of one
//! colour are mostly alike: some exchange of workers, tasks and classes leaves the table as it is. Each of
//! them in turn gets a colour of its own, and the rounds go on, so that what belongs to it is told apart with
//! it. The one with the least colours in the end is kept (of those that are alike the first by name: all of
//! them lead to the same table). Where the work that this may take ([`MAX_VISITS`]) does not suffice, names
//! decide.

use std::cmp::Reverse;

use super::{Annotations, Names};

/// Rounds of refinement: a colour then depends on everything up to four labels away.
const ROUNDS: usize = 4;

/// Labels that further rounds may visit in all: some thousandths of a second.
const MAX_VISITS: usize = 1 << 17;

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
        let mut colours = Colours::first(annotations, ordered);
        for _ in 0..ROUNDS {
            colours.refine(annotations, false);
        }
        let mut votes = vec![0u32; annotations.class_count()];
        annotations.iter().for_each(|(_, _, k)| votes[k] += 1);
        let labels = annotations.labels_per_worker();
        let mut order = [
            Ranking::new(annotations.workers(), labels, &colours.0[WORKERS]),
            Ranking::new(annotations.classes(), votes, &colours.0[CLASSES]),
        ];
        annotations
            .known_truths()
            .for_each(|(_, k)| order[1].used[usize::from(k)] = true);
        tell_apart(colours, annotations, &mut order);
        let [workers, classes] = order.map(|ranking| ranking.order);
        let given = (0..annotations.class_count() as u32).collect();
        Self {
            workers,
            classes: if ordered { given } else { classes },
        }
    }
}

/// Codes in order, with what tells them apart.
struct Ranking {
    order: Vec<u32>,
    /// Number of labels, then colour after the first rounds, then after all.
    keys: Vec<(Reverse<u32>, u64, u64)>,
    /// Whether anything is known: those of which nothing is are alike.
    used: Vec<bool>,
}

impl Ranking {
    fn new(names: &Names, labels: Vec<u32>, colours: &[u64]) -> Self {
        let key = |(&labels, &colour): (&u32, &u64)| (Reverse(labels), colour, 0);
        let mut ranking = Self {
            order: names.natural_order().iter().map(|&code| code as u32).collect(),
            keys: labels.iter().zip(colours).map(key).collect(),
            used: labels.iter().map(|&labels| labels > 0).collect(),
        };
        ranking.sort();
        ranking
    }

    /// Names still decide between equals: the sort is stable.
    fn sort(&mut self) {
        let keys = &self.keys;
        self.order.sort_by_key(|&code| keys[code as usize]);
    }

    fn recolour(&mut self, colours: &[u64]) {
        let keys = self.keys.iter_mut().zip(colours);
        keys.for_each(|(key, &colour)| key.2 = colour);
        self.sort();
    }

    /// The first ones that are not told apart and need to be.
    fn first_tie(&self) -> Option<&[u32]> {
        let alike = |a: &u32, b: &u32| self.keys[*a as usize] == self.keys[*b as usize];
        let mut equal = self.order.chunk_by(alike);
        equal.find(|codes| codes.len() > 1 && self.used[codes[0] as usize])
    }
}

/// Places of the colours.
const WORKERS: usize = 0;
const TASKS: usize = 1;
const CLASSES: usize = 2;

/// Colours of workers, tasks and classes.
#[derive(Clone)]
struct Colours([Vec<u64>; 3]);

impl Colours {
    fn first(annotations: &Annotations, ordered: bool) -> Self {
        let first = |class: u64| if ordered { 3 + class } else { 3 };
        Self([
            vec![1; annotations.worker_count()],
            vec![2; annotations.task_count()],
            (0..annotations.class_count() as u64).map(first).collect(),
        ])
    }

    /// One round; with `votes` it takes in who gave the same label to a task, too.
    fn refine(&mut self, annotations: &Annotations, votes: bool) {
        let [workers, tasks, classes] = &self.0;
        let mut next = [workers, tasks, classes].map(|colours| vec![0u64; colours.len()]);
        let mut voters = vec![0u64; classes.len()];
        for n in 0..tasks.len() {
            let labels = annotations.labels_of_task(n);
            if votes {
                labels
                    .clone()
                    .for_each(|(m, k)| take_in(&mut voters[k], mix(workers[m])));
            }
            for (m, k) in labels.clone() {
                let (worker, task, class) = (workers[m], tasks[n], classes[k]);
                let seen = |colours: u64| if votes { pair(colours, voters[k]) } else { colours };
                take_in(&mut next[WORKERS][m], seen(pair(task, class)));
                take_in(&mut next[TASKS][n], seen(pair(worker, class)));
                take_in(&mut next[CLASSES][k], seen(pair(worker, task)));
            }
            labels.for_each(|(_, k)| voters[k] = 0);
        }
        self.mix_in(next, annotations);
    }

    /// New colours from those so far, what was seen, and gold.
    fn mix_in(&mut self, mut seen: [Vec<u64>; 3], annotations: &Annotations) {
        let [_, tasks, classes] = &self.0;
        for (n, k) in annotations.known_truths() {
            let (n, k) = (n as usize, usize::from(k));
            take_in(&mut seen[TASKS][n], mix(!classes[k]));
            take_in(&mut seen[CLASSES][k], mix(!tasks[n]));
        }
        for (colours, seen) in self.0.iter_mut().zip(&seen) {
            let pairs = colours.iter_mut().zip(seen);
            pairs.for_each(|(colour, &seen)| *colour = pair(*colour, seen));
        }
    }

    /// Number of colours.
    fn count(&self) -> usize {
        let distinct = |colours: &Vec<u64>| {
            let mut sorted = colours.clone();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.len()
        };
        self.0.iter().map(distinct).sum()
    }

    /// Rounds as long as they tell more apart.
    fn settle(&mut self, annotations: &Annotations, visits: &mut usize) {
        let mut known = 0;
        loop {
            let count = self.count();
            if count == known || *visits >= MAX_VISITS {
                return;
            }
            known = count;
            *visits += annotations.label_count();
            self.refine(annotations, true);
        }
    }

    /// The same for tables that are the same but for codes.
    fn fingerprint(&self) -> u64 {
        let sum = |colours: &Vec<u64>| {
            colours
                .iter()
                .map(|&colour| mix(colour))
                .fold(0, u64::wrapping_add)
        };
        self.0.iter().map(sum).fold(0, pair)
    }

    /// Puts what is ordered into the order of these colours.
    fn rank(&self, order: &mut [Ranking; 2]) {
        order[0].recolour(&self.0[WORKERS]);
        order[1].recolour(&self.0[CLASSES]);
    }
}

/// Rounds until no two workers and no two classes have one colour, or the work is too much.
fn tell_apart(mut colours: Colours, annotations: &Annotations, order: &mut [Ranking; 2]) {
    let mut visits = 0;
    while visits < MAX_VISITS && order.iter().any(|ranking| ranking.first_tie().is_some()) {
        colours.settle(annotations, &mut visits);
        colours.rank(order);
        let tie = |(ranking, kind): (&Ranking, usize)| Some((kind, ranking.first_tie()?.to_vec()));
        let Some((kind, tied)) = order.iter().zip([WORKERS, CLASSES]).find_map(tie) else {
            return;
        };
        let mut best: Option<(u64, Colours)> = None;
        for code in tied {
            let mut marked = colours.clone();
            take_in(&mut marked.0[kind][code as usize], 1);
            marked.settle(annotations, &mut visits);
            let fingerprint = marked.fingerprint();
            if best.as_ref().is_none_or(|(least, _)| fingerprint < *least) {
                best = Some((fingerprint, marked));
            }
        }
        if let Some((_, marked)) = best {
            colours = marked;
            colours.rank(order);
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

/// A step of SplitMix64 (Steele, Lea, Flood 2014).
pub(super) fn mix(value: u64) -> u64 {
    super::fingerprint::mix(value.wrapping_add(0x9e37_79b9_7f4a_7c15))
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

    /// Workers, tasks and classes in a ring, each like all others: whatever comes first, the table is the
    /// same.
    #[test]
    fn alike_workers_and_classes_are_put_in_order_together() {
        let size = 7;
        let coded = |workers: &[u32], classes: &[u32]| {
            let labels = (0..size).flat_map(|n| [(n, n), (n, (n + 1) % size)]);
            let labels = labels.map(|(n, m)| (n, workers[m as usize], classes[m as usize] as u16));
            let table = Annotations::from_codes(7, 7, 7, labels).unwrap();
            let order = ContentOrder::of(&table, false);
            let rank = |order: &[u32], code: usize| order.iter().position(|&other| other as usize == code);
            let mut tasks: Vec<Vec<_>> = (0..7)
                .map(|n| {
                    let ranks = |(m, k)| (rank(&order.workers, m), rank(&order.classes, k));
                    let mut labels: Vec<_> = table.labels_of_task(n).map(ranks).collect();
                    labels.sort_unstable();
                    labels
                })
                .collect();
            tasks.sort();
            tasks
        };
        let same: Vec<u32> = (0..size).collect();
        let mut rng = seeded(6, 0);
        for _ in 0..20 {
            let (mut workers, mut classes) = (same.clone(), same.clone());
            workers.shuffle(&mut rng);
            classes.shuffle(&mut rng);
            assert_eq!(coded(&workers, &classes), coded(&same, &same));
        }
    }

    /// Each worker gave every class once, and every class was given twice to a task: colours of single labels
    /// do not tell that two workers always agree.
    #[test]
    fn workers_who_agree_are_told_apart_from_one_who_does_not() {
        let labels = [
            (0, 0, 0),
            (0, 1, 1),
            (0, 2, 0),
            (1, 0, 2),
            (1, 1, 0),
            (1, 2, 2),
            (2, 0, 1),
            (2, 1, 2),
            (2, 2, 1),
        ];
        for codes in [[0, 1, 2], [1, 0, 2], [2, 0, 1]] {
            let renamed = labels.map(|(n, m, k): (u32, usize, u16)| (n, codes[m], k));
            let table = Annotations::from_codes(3, 3, 3, renamed).unwrap();
            assert_eq!(ContentOrder::of(&table, false).workers[2], codes[1]);
        }
    }
}
