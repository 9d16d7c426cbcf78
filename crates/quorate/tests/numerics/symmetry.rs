//! Whether some exchange of tasks, workers and classes carries one table with its answer over to another.
//!
//! Of a table that such an exchange leaves as it is, codes are all that tells the exchanged parts apart. A
//! method that gives them different answers (several decompositions fit, numbers are drawn for every task)
//! can only choose by the codes. So under other codes the answer may be the exchanged one, and nothing else.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use quorate::Consensus;

use crate::table::Table;

/// Tasks, workers, classes: places in the arrays below.
const TASK: usize = 0;
const WORKER: usize = 1;
const CLASS: usize = 2;

/// Most labels that are tried in one place or another.
const MAX_STEPS: usize = 2_000_000;

/// Searches for an exchange under which posteriors differ by at most `slack`; with `keep_classes` classes
/// stay.
pub fn carries_over(
    one: (&Table, &Consensus),
    two: (&Table, &Consensus),
    keep_classes: bool,
    slack: f64,
) -> bool {
    let sizes = [one.0.tasks, one.0.workers + 1, one.0.classes];
    let labels = [count_labels(one.0), count_labels(two.0)];
    let mut search = Search {
        kinds: [0, 1].map(|table| tell_kinds(&labels[table], sizes)),
        labels,
        answers: [one.1, two.1],
        slack,
        to: sizes.map(|size| vec![None; size]),
        from: sizes.map(|size| vec![None; size]),
        used: Vec::new(),
        steps: 0,
    };
    search.used = vec![false; search.labels[1].len()];
    // Gold is the last worker's.
    let gold = one.0.workers;
    let kept = (0..one.0.classes).filter(|_| keep_classes).map(|k| (CLASS, k));
    let bound = kept
        .chain([(WORKER, gold)])
        .all(|(kind, code)| search.bind(kind, code, code).is_some());
    bound && search.labels[0].len() == search.labels[1].len() && search.place(0)
}

/// Labels as `[task, worker, class]` and how often each was given.
fn count_labels(table: &Table) -> Vec<([usize; 3], usize)> {
    let mut counts = BTreeMap::new();
    for &(n, m, k) in &table.labels {
        *counts
            .entry([n as usize, m as usize, usize::from(k)])
            .or_default() += 1;
    }
    for &(n, k) in &table.gold {
        counts.insert([n as usize, table.workers, usize::from(k)], 1);
    }
    counts.into_iter().collect()
}

/// Rounds in which kinds take in the kinds of their neighbours.
const KIND_ROUNDS: usize = 4;

/// What no exchange changes: a hash of every task, worker and class with what its labels connect it with.
fn tell_kinds(labels: &[([usize; 3], usize)], sizes: [usize; 3]) -> [Vec<u64>; 3] {
    let mut kinds = sizes.map(|size| vec![0u64; size]);
    for _ in 0..KIND_ROUNDS {
        let mut seen = sizes.map(|size| vec![Vec::new(); size]);
        for (label, count) in labels {
            for (kind, seen) in seen.iter_mut().enumerate() {
                let others =
                    [TASK, WORKER, CLASS].map(|other| (other != kind).then(|| kinds[other][label[other]]));
                seen[label[kind]].push((others, *count));
            }
        }
        for (kinds, seen) in kinds.iter_mut().zip(&mut seen) {
            for (kind, seen) in kinds.iter_mut().zip(seen) {
                seen.sort_unstable();
                let mut hasher = DefaultHasher::new();
                (*kind, &*seen).hash(&mut hasher);
                *kind = hasher.finish();
            }
        }
    }
    kinds
}

struct Search<'a> {
    labels: [Vec<([usize; 3], usize)>; 2],
    /// Only what is of one kind can be exchanged.
    kinds: [[Vec<u64>; 3]; 2],
    answers: [&'a Consensus; 2],
    slack: f64,
    /// Codes of the second table for those of the first, and back.
    to: [Vec<Option<usize>>; 3],
    from: [Vec<Option<usize>>; 3],
    used: Vec<bool>,
    steps: usize,
}

impl Search<'_> {
    /// Finds places for the labels from `number` on.
    fn place(&mut self, number: usize) -> bool {
        let Some(&(label, times)) = self.labels[0].get(number) else {
            return self.match_unnamed();
        };
        for other in 0..self.labels[1].len() {
            let (place, count) = self.labels[1][other];
            if self.used[other] || count != times {
                continue;
            }
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return false;
            }
            let mut news = Vec::new();
            let mut fits = true;
            for kind in [TASK, WORKER, CLASS] {
                match self.bind(kind, label[kind], place[kind]) {
                    Some(true) => news.push((kind, label[kind], place[kind])),
                    Some(false) => {}
                    None => {
                        fits = false;
                        break;
                    }
                }
            }
            self.used[other] = true;
            if fits && self.place(number + 1) {
                return true;
            }
            self.used[other] = false;
            for (kind, a, b) in news {
                (self.to[kind][a], self.from[kind][b]) = (None, None);
            }
        }
        false
    }

    /// Takes `a` for `b`: whether this is new, or none if it cannot be.
    fn bind(&mut self, kind: usize, a: usize, b: usize) -> Option<bool> {
        match (self.to[kind][a], self.from[kind][b]) {
            (Some(known), _) => (known == b).then_some(false),
            (None, Some(_)) => None,
            (None, None) if self.kinds[0][kind][a] != self.kinds[1][kind][b] => None,
            (None, None) => {
                (self.to[kind][a], self.from[kind][b]) = (Some(b), Some(a));
                let agrees = match kind {
                    TASK => self.bound(CLASS).all(|(k, l)| self.near((a, b), (k, l))),
                    CLASS => self.bound(TASK).all(|(n, o)| self.near((n, o), (a, b))),
                    _ => true,
                };
                if !agrees {
                    (self.to[kind][a], self.from[kind][b]) = (None, None);
                }
                agrees.then_some(true)
            }
        }
    }

    fn bound(&self, kind: usize) -> impl Iterator<Item = (usize, usize)> {
        let pairs = self.to[kind].iter().enumerate();
        pairs.filter_map(|(a, b)| b.map(|b| (a, b)))
    }

    /// Whether the posteriors of two tasks have the same probability of these classes.
    fn near(&self, tasks: (usize, usize), classes: (usize, usize)) -> bool {
        let one = self.answers[0].row(tasks.0)[classes.0];
        let two = self.answers[1].row(tasks.1)[classes.1];
        (one - two).abs() <= self.slack
    }

    /// Finds partners for the classes that nobody named.
    fn match_unnamed(&self) -> bool {
        let classes = self.to[CLASS].len();
        let mut left: Vec<usize> = (0..classes).filter(|&k| self.from[CLASS][k].is_none()).collect();
        (0..classes).filter(|&k| self.to[CLASS][k].is_none()).all(|k| {
            let fits = |&l: &usize| self.bound(TASK).all(|tasks| self.near(tasks, (k, l)));
            let found = left.iter().position(fits);
            found.map(|place| left.swap_remove(place)).is_some()
        })
    }
}

#[test]
fn an_exchanged_answer_is_told_from_another_one() {
    // Exchanging the workers, the classes and the last two tasks leaves this table as it is.
    let table = Table {
        tasks: 3,
        workers: 2,
        classes: 3,
        labels: vec![(0, 0, 0), (0, 1, 1), (1, 0, 0), (2, 1, 1)],
        gold: Vec::new(),
    };
    let answer = |rows: [[f64; 3]; 3]| Consensus::new(3, rows.concat());
    let one = answer([[0.7, 0.3, 0.0], [0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]);
    let exchanged = answer([[0.3, 0.7, 0.0], [0.8, 0.2, 0.0], [0.1, 0.9, 0.0]]);
    let other = answer([[0.3, 0.7, 0.0], [0.8, 0.2, 0.0], [0.2, 0.8, 0.0]]);
    let unnamed = answer([[0.3, 0.7, 0.0], [0.8, 0.1, 0.1], [0.1, 0.9, 0.0]]);
    let carries = |answer: &Consensus, keep| carries_over((&table, &one), (&table, answer), keep, 1e-9);
    assert!(carries(&one, true) && carries(&exchanged, false));
    assert!(!carries(&exchanged, true) && !carries(&other, false) && !carries(&unnamed, false));
    // Gold tells the classes apart.
    let known = Table {
        gold: vec![(0, 0)],
        ..table.clone()
    };
    assert!(!carries_over((&known, &one), (&known, &exchanged), false, 1e-9));
}
