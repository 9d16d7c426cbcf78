//! Workers who copy each other, found by their answers alone and counted once.
//!
//! Workers agree where a task is easy, and where it misleads many of them at once. Neither is copying. So a
//! pair is compared with what the *other* answers to the same task say: with `n` answers to a task, `c(a)` of
//! them a, the two left out, and `b(a)` the share of answer a in the whole table,
//!
//! ```text
//! p(a) = (c(a) + 2 b(a)) / n,        P = sum_a p(a)^2             two answers like the others' agree with this probability
//! similarity = (Y - sum P) / (S - sum P),     z = (Y - sum P) / sqrt(sum P (1 - P))           Y of S shared tasks agree
//! ```
//!
//! Skilled workers, and workers whom the same tasks mislead, are alike as well: similarity then comes in
//! degrees, and a worker who is much like one other is nearly as much like a third. Copies are different:
//! there is a gap. A group counts as copies if
//!
//! 1. its pairs are alike beyond chance (z, all pairs together at [`FALSE_ALARMS`]) and by at least
//!    [`MIN_SIMILARITY`];
//! 2. every member is less like everybody outside, by at least [`MIN_GAP`], than the least alike of its
//!    pairs;
//! 3. every member can be compared with at least [`MIN_OTHERS`] workers outside.
//!
//! The labels of a group on a task then count as one: the answer that most of its members gave, ties to the
//! lowest class. It is given to the member with most labels; the other members keep their place and have no
//! labels.
//!
//! Pairs need [`MIN_SHARED`] tasks in common. At most [`MAX_PAIRS`] pairs of labels are looked at: with more
//! of them every s-th task is used. Limits: a pair with fewer tasks in common is not seen; a copy who changes
//! most answers neither; two workers who are right about everything while all others guess would be taken for
//! copies.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::parallel::{balanced_ranges, map_ranges};
use crate::special::distributions::normal_quantile;
use crate::statistics::{PairSums, SharedTask, join, root};
use crate::{Annotations, Result};

/// Tasks that a pair must share.
const MIN_SHARED: u32 = 20;
/// Least similarity of copies.
const MIN_SIMILARITY: f64 = 0.6;
/// Least distance between the similarity within a group and that to anybody outside.
const MIN_GAP: f64 = 0.4;
/// Workers outside that a member must be comparable with.
const MIN_OTHERS: usize = 3;
/// Chance of one false pair or more in a crowd of independent workers.
const FALSE_ALARMS: f64 = 0.01;
/// Most pairs of labels that are looked at.
const MAX_PAIRS: u64 = 1_000_000;
/// Tasks with more labels than this are left out.
const MAX_ON_A_TASK: usize = 500;
/// Parts of the workers that are looked at side by side.
const CHUNKS: usize = 64;
/// Weight of the table's answers beside those of a task.
const PRIOR: f64 = 2.0;

/// Sums over the tasks that a pair shares.
#[derive(Debug, Clone, Copy, Default)]
struct Shared {
    tasks: u32,
    agreed: u32,
    expected: f64,
    variance: f64,
}

impl Shared {
    fn similarity(&self) -> f64 {
        (f64::from(self.agreed) - self.expected) / (f64::from(self.tasks) - self.expected).max(1e-9)
    }

    fn z(&self) -> f64 {
        (f64::from(self.agreed) - self.expected) / self.variance.max(1e-9).sqrt()
    }
}

/// Groups of workers who copy each other, as codes in rising order.
pub(in crate::methods) fn find_copies(annotations: &Annotations) -> Vec<Vec<usize>> {
    let pairs = compare_pairs(annotations);
    if pairs.is_empty() {
        return Vec::new();
    }
    let critical = normal_quantile(FALSE_ALARMS / pairs.len() as f64);
    let mut parent: Vec<u32> = (0..annotations.worker_count() as u32).collect();
    for &((m, j), shared) in &pairs {
        if shared.similarity() >= MIN_SIMILARITY && shared.z() >= critical {
            join(&mut parent, m, j);
        }
    }
    let group: Vec<u32> = (0..parent.len() as u32)
        .map(|worker| root(&mut parent, worker))
        .collect();
    keep_apart(&group, &pairs)
}

/// The groups that are set apart from everybody else.
fn keep_apart(group: &[u32], pairs: &[((u32, u32), Shared)]) -> Vec<Vec<usize>> {
    let mut members: HashMap<u32, Vec<usize>, FxBuildHasher> = HashMap::default();
    for (worker, &of) in group.iter().enumerate() {
        members.entry(of).or_default().push(worker);
    }
    members.retain(|_, members| members.len() > 1);
    let mut within: HashMap<u32, f64, FxBuildHasher> = HashMap::default();
    let mut outside: HashMap<u32, (f64, usize), FxBuildHasher> = HashMap::default();
    for &((m, j), shared) in pairs {
        let (of_m, of_j) = (group[m as usize], group[j as usize]);
        if of_m == of_j {
            let least = within.entry(of_m).or_insert(1.0);
            *least = least.min(shared.similarity());
            continue;
        }
        let in_groups = |worker: &u32| members.contains_key(&group[*worker as usize]);
        for worker in [m, j].into_iter().filter(in_groups) {
            let (most, others) = outside.entry(worker).or_insert((-1.0, 0));
            *most = most.max(shared.similarity());
            *others += 1;
        }
    }
    let apart = |of: u32, members: &[usize]| {
        let least = within.get(&of).copied().unwrap_or(0.0);
        members.iter().all(|&worker| {
            let found = outside.get(&(worker as u32));
            found.is_some_and(|&(most, others)| others >= MIN_OTHERS && most <= least - MIN_GAP)
        })
    };
    members.retain(|&of, members| apart(of, members));
    let mut groups: Vec<Vec<usize>> = members.into_values().collect();
    groups.sort();
    groups
}

/// Sums for all pairs of workers with enough shared tasks, in order.
fn compare_pairs(annotations: &Annotations) -> Vec<((u32, u32), Shared)> {
    let labels = annotations.labels_per_worker();
    let eligible = |worker: usize| labels[worker] >= MIN_SHARED;
    let mut shares = vec![0.0; annotations.class_count()];
    for (.., label) in annotations.iter() {
        shares[label] += PRIOR / annotations.label_count() as f64;
    }
    let count = |task: usize| {
        let workers = annotations.task_slices(task).0;
        let eligible = workers.iter().filter(|&&worker| eligible(worker as usize));
        let number = if workers.len() <= MAX_ON_A_TASK {
            eligible.count() as u64
        } else {
            0
        };
        number * number.saturating_sub(1) / 2
    };
    let all: u64 = (0..annotations.task_count()).map(count).sum();
    let stride = all.div_ceil(MAX_PAIRS).max(1) as usize;
    let chosen = |task: usize| {
        task.is_multiple_of(stride) && (3..=MAX_ON_A_TASK).contains(&annotations.task_slices(task).0.len())
    };
    let ranges = balanced_ranges(annotations.by_worker().starts(), CHUNKS);
    let parts = map_ranges(ranges, |workers| {
        let mut pairs = PairSums::new(annotations);
        let mut expected = Expected::new(annotations, &shares);
        let mut found = Vec::new();
        for m in workers.filter(|&worker| eligible(worker)) {
            let start = |_, shared| (shared >= MIN_SHARED).then(Shared::default);
            let add = |sums: &mut Shared, task: SharedTask| {
                let agree = expected.agreement(task);
                sums.tasks += 1;
                sums.agreed += u32::from(task.answers.0 == task.answers.1);
                sums.expected += agree;
                sums.variance += agree * (1.0 - agree);
            };
            let sums = pairs.of_worker(m, chosen, start, add);
            found.extend(sums.into_iter().map(|(j, sums)| ((m as u32, j as u32), sums)));
        }
        found
    });
    parts.concat()
}

/// What the others on a task say of two answers: the sums of the task at hand are made once.
struct Expected<'a> {
    annotations: &'a Annotations,
    shares: &'a [f64],
    task: usize,
    weights: Vec<f64>,
    squares: f64,
    total: f64,
}

impl<'a> Expected<'a> {
    fn new(annotations: &'a Annotations, shares: &'a [f64]) -> Self {
        Self {
            annotations,
            shares,
            task: usize::MAX,
            weights: shares.to_vec(),
            squares: 0.0,
            total: 1.0,
        }
    }

    /// `P` of a task without the two workers.
    fn agreement(&mut self, shared: SharedTask) -> f64 {
        if self.task != shared.task {
            let answers = self.annotations.task_slices(shared.task).1;
            self.weights.copy_from_slice(self.shares);
            answers
                .iter()
                .for_each(|&answer| self.weights[usize::from(answer)] += 1.0);
            self.squares = self.weights.iter().map(|weight| weight * weight).sum();
            self.total = (answers.len() as f64 - 2.0 + PRIOR).powi(2);
            self.task = shared.task;
        }
        let (x, y) = shared.answers;
        let apart = 2.0 * (self.weights[x] + self.weights[y]) - 2.0;
        let less = if x == y {
            4.0 * self.weights[x] - 4.0
        } else {
            apart
        };
        ((self.squares - less) / self.total).clamp(0.0, 1.0)
    }
}

/// The table with the labels of each group on a task counted as one.
pub(in crate::methods) fn count_once(
    annotations: &Annotations,
    groups: &[Vec<usize>],
) -> Result<Annotations> {
    let labels = annotations.labels_per_worker();
    let mut voice: Vec<usize> = (0..annotations.worker_count()).collect();
    for group in groups {
        let name = |worker: usize| std::cmp::Reverse(annotations.workers().get(worker));
        let speaker = group
            .iter()
            .copied()
            .max_by_key(|&worker| (labels[worker], name(worker)));
        group
            .iter()
            .for_each(|&worker| voice[worker] = speaker.unwrap_or(worker));
    }
    let mut speaks_for_others = vec![false; voice.len()];
    for (worker, &speaker) in voice.iter().enumerate() {
        speaks_for_others[speaker] |= speaker != worker;
    }
    let mut kept: Vec<(u32, u32, u16)> = Vec::with_capacity(annotations.label_count());
    let mut votes: Vec<(usize, u16)> = Vec::new();
    for task in 0..annotations.task_count() {
        votes.clear();
        for (worker, label) in annotations.labels_of_task(task) {
            if speaks_for_others[voice[worker]] {
                votes.push((voice[worker], label as u16))
            } else {
                kept.push((task as u32, worker as u32, label as u16))
            }
        }
        votes.sort_unstable();
        for of_voice in votes.chunk_by(|a, b| a.0 == b.0) {
            let runs = of_voice.chunk_by(|a, b| a.1 == b.1);
            // Of equally long runs the first, which is the lowest class.
            let best = runs.reduce(|best, run| if run.len() > best.len() { run } else { best });
            if let Some(&(speaker, label)) = best.and_then(<[_]>::first) {
                kept.push((task as u32, speaker as u32, label));
            }
        }
    }
    annotations
        .with_labels(kept)?
        .with_gold(annotations.known_truths())
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::context::seeded;

    /// Ten workers of 70 % on 200 tasks, and so many copies of one more who copy nine answers of ten.
    fn crowd(copies: usize, seed: u64) -> Annotations {
        let mut rng = seeded(seed, 0);
        let mut labels = Vec::new();
        for task in 0..200u32 {
            let truth: u16 = rng.random_range(0..3);
            let mut answer = |rate: f64| {
                if rng.random::<f64>() < rate {
                    truth
                } else {
                    (truth + rng.random_range(1..3u16)) % 3
                }
            };
            let copied = answer(0.5);
            for worker in 0..10 {
                labels.push((task, worker, answer(0.7)));
            }
            for copy in 0..copies as u32 {
                let own = answer(0.5);
                labels.push((task, 10 + copy, if task % 10 == copy { own } else { copied }));
            }
        }
        Annotations::from_codes(200, 10 + copies, 3, labels).unwrap()
    }

    #[test]
    fn copies_are_found_and_nobody_else_is() {
        for seed in 0..5 {
            assert!(find_copies(&crowd(0, seed)).is_empty());
            assert_eq!(find_copies(&crowd(2, seed)), [vec![10, 11]]);
            assert_eq!(find_copies(&crowd(4, seed)), [vec![10, 11, 12, 13]]);
        }
    }

    #[test]
    fn a_group_counts_once_on_each_task() {
        let labels = [
            (0, 0, 1),
            (0, 1, 1),
            (0, 2, 0),
            (0, 3, 0),
            (1, 1, 1),
            (1, 2, 0),
            (1, 3, 1),
        ];
        let table = Annotations::from_codes(2, 4, 2, labels).unwrap();
        let once = count_once(&table, &[vec![1, 2, 3]]).unwrap();
        let rows: Vec<_> = once.iter().collect();
        // Workers 1, 2 and 3 have two labels each: the first name speaks. Two of three say 0, then two of
        // three 1.
        assert_eq!(rows, [(0, 0, 1), (0, 1, 0), (1, 1, 1)]);
        assert_eq!(once.worker_count(), 4);
    }
}
