//! Pairs of workers who cannot be compared, not even through others.
//!
//! Two workers share a task, or there is a walk of three steps between them: (m, r), (r, l) and (l, j) share
//! tasks. With `N(m)` the workers who share a task with m, without m, the workers at the end of a walk of s
//! steps are
//!
//! ```text
//! W_s(m) = union of W_(s-1)(w) over w in N(m) = union over the tasks t of m of [ union of W_(s-1)(w) over w on t, w /= m ].
//! ```
//!
//! The inner union is made for all m on a task at once: of the bits that are set on it, those of two workers
//! or more, and those of one who is not m. So a step costs the labels times M / 64, whatever the pairs are.
//!
//! The columns are cut into blocks that know nothing of each other. Time: `O(L M / 64)`. Memory: a bit a
//! pair, and three blocks a thread.

use rayon::prelude::*;

use crate::{Annotations, Context};

/// Most workers whose pairs are all looked at: 128 MiB for the pairs.
pub const MAX_WORKERS: usize = 1 << 15;

/// Words of a row in one block.
const WORDS: usize = 8;

/// SharedColumns of one block.
const COLUMNS: usize = 64 * WORDS;

/// A bit for each worker of a block.
type Bits = [u64; WORDS];

/// Pairs of workers without a walk of one or three steps.
pub(super) struct Reach {
    /// How many.
    pub(super) pairs: u64,
    /// Who is out of whose reach: blocks of columns, in them a row for each worker.
    missing: Vec<Vec<Bits>>,
}

impl Reach {
    /// With the labels and those that are planned, `(task, worker)`. None for more workers than
    /// [`MAX_WORKERS`], or than memory has room for.
    pub(super) fn of(
        annotations: &Annotations,
        planned: &[(usize, usize)],
        context: &Context,
    ) -> Option<Self> {
        let workers = annotations.worker_count();
        let blocks = workers.div_ceil(COLUMNS);
        // Twice: the blocks that are worked on take room, too.
        let needed = 2 * (blocks * workers * size_of::<Bits>()) as u64;
        if workers > MAX_WORKERS || context.reserve("pairs of workers", needed, "").is_err() {
            return None;
        }
        let tasks = workers_of_tasks(annotations, planned);
        let missing = |block| SharedColumns::new(block, workers).out_of_reach(&tasks);
        let missing: Vec<Vec<Bits>> = context.run(|| (0..blocks).into_par_iter().map(missing).collect());
        let bits = missing.iter().flatten().flatten();
        let pairs = bits.map(|word| u64::from(word.count_ones())).sum::<u64>() / 2;
        Some(Self { pairs, missing })
    }

    /// Workers such that every pair out of reach has one of them, the one in most pairs first; `without`
    /// these, whom attaching does not help, and without pairs of two of them.
    pub(super) fn cover(mut self, without: &[usize]) -> Vec<usize> {
        let workers = self.missing.first().map_or(0, Vec::len);
        let mut degree: Vec<usize> = (0..workers).map(|worker| self.others(worker).count()).collect();
        without.iter().for_each(|&worker| degree[worker] = 0);
        let mut cover = Vec::new();
        loop {
            let missed = degree.iter().enumerate().filter(|(_, degree)| **degree > 0);
            let most = missed.max_by_key(|&(worker, &degree)| (degree, std::cmp::Reverse(worker)));
            let Some((worker, _)) = most else { return cover };
            cover.push(worker);
            degree[worker] = 0;
            let others: Vec<usize> = self.others(worker).collect();
            for other in others {
                let row = &mut self.missing[worker / COLUMNS][other];
                row[worker % COLUMNS / 64] &= !(1 << (worker % 64));
                degree[other] = degree[other].saturating_sub(1);
            }
        }
    }

    /// The workers out of reach of this one.
    fn others(&self, worker: usize) -> impl Iterator<Item = usize> {
        let words = self.missing.iter().flat_map(move |block| block[worker]);
        words.enumerate().flat_map(|(word, bits)| {
            let some = |bits: u64| (bits != 0).then_some(bits);
            std::iter::successors(some(bits), move |bits| some(bits & (bits - 1)))
                .map(move |bits| 64 * word + bits.trailing_zeros() as usize)
        })
    }
}

/// The workers of every task that has two or more, each once.
fn workers_of_tasks(annotations: &Annotations, planned: &[(usize, usize)]) -> Vec<Vec<u32>> {
    let task = |task| annotations.task_slices(task).0.to_vec();
    let mut tasks: Vec<Vec<u32>> = (0..annotations.task_count()).map(task).collect();
    for &(task, worker) in planned {
        tasks[task].push(worker as u32);
    }
    tasks.iter_mut().for_each(|task| task.sort_unstable());
    tasks.iter_mut().for_each(Vec::dedup);
    tasks.retain(|task| task.len() > 1);
    tasks
}

/// One block of columns.
struct SharedColumns {
    first: usize,
    workers: usize,
    /// The bits that stand for a worker.
    all: Bits,
}

impl SharedColumns {
    fn new(block: usize, workers: usize) -> Self {
        let (first, all) = (COLUMNS * block, [0; WORDS]);
        let mut columns = Self { first, workers, all };
        for worker in first..workers.min(first + COLUMNS) {
            let bits = columns.set(worker);
            bits.iter()
                .zip(&mut columns.all)
                .for_each(|(bit, all)| *all |= bit);
        }
        columns
    }

    /// The bit of a worker; none if it stands in another block.
    fn set(&self, worker: usize) -> Bits {
        let mut bits = [0; WORDS];
        let place = worker.checked_sub(self.first);
        if let Some(word) = place.and_then(|place| bits.get_mut(place / 64)) {
            *word = 1 << (worker % 64);
        }
        bits
    }

    /// For every worker those of this block without a walk of one or three steps.
    fn out_of_reach(&self, tasks: &[Vec<u32>]) -> Vec<Bits> {
        let own: Vec<Bits> = (0..self.workers).map(|worker| self.set(worker)).collect();
        let one = self.step(tasks, &own);
        let two = self.step(tasks, &one);
        let mut missing = self.step(tasks, &two);
        for ((row, one), own) in missing.iter_mut().zip(&one).zip(&own) {
            for word in 0..WORDS {
                row[word] = self.all[word] & !(row[word] | one[word] | own[word]);
            }
        }
        missing
    }

    /// `W_s` of `W_(s-1)`.
    fn step(&self, tasks: &[Vec<u32>], from: &[Bits]) -> Vec<Bits> {
        let mut to = vec![[0; WORDS]; self.workers];
        for task in tasks {
            // Where most workers share tasks, everybody is soon reached.
            if task.iter().all(|&m| to[m as usize] == self.all) {
                continue;
            }
            let (mut any, mut twice) = ([0; WORDS], [0; WORDS]);
            for &w in task {
                for word in 0..WORDS {
                    twice[word] |= any[word] & from[w as usize][word];
                    any[word] |= from[w as usize][word];
                }
            }
            for &m in task {
                for word in 0..WORDS {
                    to[m as usize][word] |= twice[word] | (any[word] & !from[m as usize][word]);
                }
            }
        }
        to
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Beside walks of three steps, tried one by one.
    fn agrees_with_walks(tasks: &[Vec<usize>]) {
        let rows = tasks.iter().enumerate().flat_map(|(task, workers)| {
            let row = move |worker: &usize| (format!("t{task}"), format!("w{worker}"), "a");
            workers.iter().map(row)
        });
        let annotations = Annotations::from_triples(rows).unwrap();
        let workers = annotations.worker_count();
        let mut share = vec![vec![false; workers]; workers];
        for task in 0..annotations.task_count() {
            let together = annotations.task_slices(task).0;
            for &m in together {
                for &j in together.iter().filter(|&&j| j != m) {
                    share[m as usize][j as usize] = true;
                }
            }
        }
        let next: Vec<Vec<usize>> = share
            .iter()
            .map(|row| (0..workers).filter(|&j| row[j]).collect())
            .collect();
        let mut expected = Vec::new();
        for m in 0..workers {
            let mut reached = share[m].clone();
            reached[m] = true;
            for &r in &next[m] {
                for &l in &next[r] {
                    next[l].iter().for_each(|&j| reached[j] = true);
                }
            }
            expected.push((0..workers).filter(|&j| !reached[j]).collect::<Vec<_>>());
        }
        let reach = Reach::of(&annotations, &[], &Context::new(0)).unwrap();
        let found: Vec<Vec<usize>> = (0..workers).map(|m| reach.others(m).collect()).collect();
        assert_eq!(found, expected);
        assert_eq!(
            reach.pairs as usize,
            expected.iter().map(Vec::len).sum::<usize>() / 2
        );
        let cover = reach.cover(&[]);
        for (m, others) in expected.iter().enumerate() {
            assert!(cover.contains(&m) || others.iter().all(|j| cover.contains(j)));
        }
    }

    proptest! {
        #[test]
        fn pairs_out_of_reach_have_no_walk_of_three_steps(
            tasks in proptest::collection::vec(proptest::collection::vec(0..90usize, 1..5), 1..60),
        ) {
            agrees_with_walks(&tasks);
        }
    }

    /// A long chain: workers of neighbouring blocks share tasks.
    #[test]
    fn blocks_of_columns_fit_together() {
        let chain: Vec<Vec<usize>> = (0..2 * COLUMNS + 40).map(|m| vec![m, m + 1]).collect();
        agrees_with_walks(&chain);
    }
}
