//! Pairwise co-occurrences of workers' answers (`eq:Rest` of the paper).
//!
//! ```text
//! N_mj(a, b) = number of tasks where m answered a and j answered b,    S_mj = sum N_mj,    R_mj = N_mj / S_mj
//! ```
//!
//! Only observed pairs (m < j, S_mj > 0) are stored, as integers: the result does not depend on threads or on
//! how the input was split, and parts [`merge`](CoOccurrence::merge). Counting goes worker by worker, as a
//! sparse matrix product does: for each task of m all later workers of that task, into a scratch row. Time
//! `sum_n d_n (d_n - 1) / 2`, no hashing.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::annotations::{Annotations, ByWorker};
use crate::blocks::{Block, wire_format};
use crate::parallel::{add, balanced_ranges, map_ranges};

/// Counts of answer pairs for every observed pair of workers, ordered by (m, j), m < j.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoOccurrence {
    classes: usize,
    starts: Vec<usize>,
    second: Vec<u32>,
    shared: Vec<u32>,
    cells: Vec<u32>,
}

wire_format!(5 CoOccurrence { classes, starts, second, shared, cells } check CoOccurrence::fits);

/// How much work and memory the pairs of a table would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairCost {
    /// Pairs of labels on the same task: the time to count them.
    pub events: u64,
    /// Distinct pairs of workers, `None` where counting them was not worth the time.
    pub pairs: Option<u64>,
}

/// Counts distinct pairs unless that would take more than `most_events` steps.
pub fn pair_cost(annotations: &Annotations, most_events: u64) -> PairCost {
    let events = annotations.as_block().pairs_of_labels();
    let pairs = (events <= most_events).then(|| distinct_pairs(annotations, u64::MAX));
    PairCost { events, pairs }
}

/// Whether there are at most so many distinct pairs of workers; stops counting where there are more.
pub fn has_at_most_pairs(annotations: &Annotations, most: u64) -> bool {
    distinct_pairs(annotations, most) <= most
}

/// The number of distinct pairs of workers, or any number above `most` if that is larger.
pub(crate) fn distinct_pairs(annotations: &Annotations, most: u64) -> u64 {
    let pairs = AtomicU64::new(0);
    let labels = TaskAndWorkerLabels::of(annotations);
    map_ranges(labels.worker_ranges(), |workers| {
        let mut scratch = vec![u32::MAX; annotations.worker_count()];
        for worker in workers {
            let mut new = 0;
            labels.visit_pairs(worker, |other, _, _| {
                new += u64::from(scratch[other] != worker as u32);
                scratch[other] = worker as u32;
            });
            // A count, not a message: no order is needed.
            if pairs.fetch_add(new, Relaxed) + new > most {
                break;
            }
        }
    });
    pairs.into_inner()
}

/// Counts all observed pairs.
pub fn count_cooccurrences(annotations: &Annotations) -> CoOccurrence {
    TaskAndWorkerLabels::of(annotations).count()
}

/// Labels by task and by worker.
struct TaskAndWorkerLabels<'l> {
    by_task: Block<'l>,
    by_worker: &'l ByWorker,
}

impl<'l> TaskAndWorkerLabels<'l> {
    fn of(annotations: &'l Annotations) -> Self {
        Self {
            by_task: annotations.as_block(),
            by_worker: annotations.by_worker(),
        }
    }

    fn count(&self) -> CoOccurrence {
        let mut total = CoOccurrence::empty(0, self.by_task.class_count());
        for part in map_ranges(self.worker_ranges(), |workers| count_range(self, workers)) {
            let offset = total.second.len();
            let starts = part.starts[1..].iter().map(|start| start + offset);
            total.starts.extend(starts);
            total.second.extend(part.second);
            total.shared.extend(part.shared);
            total.cells.extend(part.cells);
        }
        total
    }

    fn worker_ranges(&self) -> Vec<Range<usize>> {
        balanced_ranges(self.by_worker.starts(), 32)
    }

    /// Calls `visit(j, answer of m, answer of j)` for every label of another worker j > m on a task of worker
    /// m.
    fn visit_pairs(&self, worker: usize, mut visit: impl FnMut(usize, usize, usize)) {
        for (task, answer) in self.by_worker.labels(worker) {
            let (workers, labels) = self.by_task.task(task);
            let after = workers.partition_point(|&other| other as usize <= worker);
            for (&other, &other_answer) in workers[after..].iter().zip(&labels[after..]) {
                visit(other as usize, answer, other_answer as usize);
            }
        }
    }
}

fn count_range(labels: &TaskAndWorkerLabels<'_>, workers: Range<usize>) -> CoOccurrence {
    const ABSENT: u32 = u32::MAX;
    let classes = labels.by_task.class_count();
    let block = classes * classes;
    let mut slot_of = vec![ABSENT; labels.by_task.worker_count()];
    let (mut others, mut row) = (Vec::new(), Vec::<u32>::new());
    let mut part = CoOccurrence::empty(0, classes);
    for worker in workers {
        others.clear();
        row.clear();
        labels.visit_pairs(worker, |other, answer, other_answer| {
            if slot_of[other] == ABSENT {
                slot_of[other] = others.len() as u32;
                others.push(other as u32);
                row.resize(row.len() + block, 0);
            }
            row[slot_of[other] as usize * block + answer * classes + other_answer] += 1;
        });
        others.sort_unstable();
        for &other in &others {
            let cells = &row[slot_of[other as usize] as usize * block..][..block];
            part.second.push(other);
            part.shared.push(cells.iter().sum());
            part.cells.extend_from_slice(cells);
            slot_of[other as usize] = ABSENT;
        }
        part.starts.push(part.second.len());
    }
    part
}

impl CoOccurrence {
    /// No pairs.
    pub fn empty(workers: usize, classes: usize) -> Self {
        Self {
            classes,
            starts: vec![0; workers + 1],
            second: Vec::new(),
            shared: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// The pairs of a block of labels.
    pub fn of_block(block: Block<'_>) -> Self {
        let by_worker = ByWorker::of_block(block);
        let (by_task, by_worker) = (block, &by_worker);
        TaskAndWorkerLabels { by_task, by_worker }.count()
    }

    /// Whether the arrays are those of pairs, for a binary form.
    fn fits(&self) -> bool {
        let workers = self.starts.len().saturating_sub(1);
        let block = self.classes.checked_mul(self.classes).unwrap_or(0);
        let arrays = block > 0
            && self.starts.first() == Some(&0)
            && self.starts.is_sorted()
            && self.starts.last() == Some(&self.second.len())
            && self.second.len() == self.shared.len()
            && self.second.len().checked_mul(block) == Some(self.cells.len());
        let ordered = |(worker, pairs): (usize, &[usize])| {
            let second = &self.second[pairs[0]..pairs[1]];
            second.is_sorted_by(|a, b| a < b)
                && second.first().is_none_or(|&first| first as usize > worker)
                && second.last().is_none_or(|&last| (last as usize) < workers)
        };
        let sum = |cells: &[u32]| cells.iter().try_fold(0u32, |sum, &count| sum.checked_add(count));
        let shares = |(cells, &shared): (&[u32], &u32)| sum(cells) == Some(shared);
        arrays
            && self.starts.windows(2).enumerate().all(ordered)
            && self.cells.chunks_exact(block).zip(&self.shared).all(shares)
    }

    /// Number of classes.
    pub fn class_count(&self) -> usize {
        self.classes
    }

    /// Number of workers.
    pub fn worker_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of observed pairs.
    pub fn pair_count(&self) -> usize {
        self.second.len()
    }

    /// All pairs (m, j, S_mj, counts `[answer of m][answer of j]`), in order of (m, j).
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, u32, &[u32])> + '_ {
        let block = self.classes * self.classes;
        (0..self.worker_count()).flat_map(move |worker| {
            (self.starts[worker]..self.starts[worker + 1]).map(move |pair| {
                let cells = &self.cells[pair * block..][..block];
                (worker, self.second[pair] as usize, self.shared[pair], cells)
            })
        })
    }

    /// Adds the counts of other tasks, of the same workers and classes.
    ///
    /// # Panics
    /// If the numbers of workers or classes differ.
    pub fn merge(&self, other: &Self) -> Self {
        assert_eq!(
            (self.worker_count(), self.classes),
            (other.worker_count(), other.classes)
        );
        let block = self.classes * self.classes;
        let mut merged = Self::empty(0, self.classes);
        for worker in 0..self.worker_count() {
            let (mut a, mut b) = (self.starts[worker], other.starts[worker]);
            let (a_end, b_end) = (self.starts[worker + 1], other.starts[worker + 1]);
            while a < a_end || b < b_end {
                let from_a = a < a_end && (b == b_end || self.second[a] <= other.second[b]);
                let from_b = b < b_end && (a == a_end || other.second[b] <= self.second[a]);
                let at = merged.cells.len();
                merged.cells.resize(at + block, 0);
                for (part, pair, is) in [(self, a, from_a), (other, b, from_b)] {
                    if is {
                        add(&mut merged.cells[at..], &part.cells[pair * block..]);
                    }
                }
                let second = if from_a { self.second[a] } else { other.second[b] };
                merged.second.push(second);
                merged.shared.push(merged.cells[at..].iter().sum());
                a += usize::from(from_a);
                b += usize::from(from_b);
            }
            merged.starts.push(merged.second.len());
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// The definition, pair by pair.
    fn naive(annotations: &Annotations) -> BTreeMap<(usize, usize), Vec<u32>> {
        let classes = annotations.class_count();
        let mut pairs = BTreeMap::new();
        for task in 0..annotations.task_count() {
            for (m, a) in annotations.labels_of_task(task) {
                for (j, b) in annotations.labels_of_task(task).filter(|&(j, _)| j > m) {
                    pairs.entry((m, j)).or_insert_with(|| vec![0; classes * classes])[a * classes + b] += 1;
                }
            }
        }
        pairs
    }

    fn as_map(counts: &CoOccurrence) -> BTreeMap<(usize, usize), Vec<u32>> {
        counts
            .iter()
            .map(|(m, j, _, cells)| ((m, j), cells.to_vec()))
            .collect()
    }

    fn labels() -> impl Strategy<Value = Vec<(u32, u32, u16)>> {
        proptest::collection::btree_map((0u32..12, 0u32..7), 0u16..3, 1..60)
            .prop_map(|map| map.into_iter().map(|((n, m), x)| (n, m, x)).collect())
    }

    proptest! {
        #[test]
        fn equals_the_definition_and_merges(labels in labels()) {
            let table = |tasks: Range<u32>| {
                let part = labels.iter().copied().filter(|(n, _, _)| tasks.contains(n));
                Annotations::from_codes(12, 7, 3, part)
            };
            let whole = table(0..12).unwrap();
            let counts = count_cooccurrences(&whole);
            prop_assert_eq!(as_map(&counts), naive(&whole));
            prop_assert_eq!(pair_cost(&whole, u64::MAX).pairs, Some(counts.pair_count() as u64));
            let pairs = counts.pair_count() as u64;
            prop_assert!(has_at_most_pairs(&whole, pairs));
            prop_assert!(pairs == 0 || !has_at_most_pairs(&whole, pairs - 1));
            prop_assert!(counts.iter().all(|(_, _, shared, cells)| shared == cells.iter().sum::<u32>()));
            if let (Ok(left), Ok(right)) = (table(0..5), table(5..12)) {
                prop_assert_eq!(count_cooccurrences(&left).merge(&count_cooccurrences(&right)), counts);
            }
        }
    }

    #[test]
    fn too_many_pairs_are_not_counted() {
        let one_task = Annotations::from_codes(1, 100, 2, (0..100).map(|m| (0, m, 1))).unwrap();
        assert_eq!(
            pair_cost(&one_task, 4949),
            PairCost {
                events: 4950,
                pairs: None
            }
        );
        assert_eq!(pair_cost(&one_task, 4950).pairs, Some(4950));
    }
}
