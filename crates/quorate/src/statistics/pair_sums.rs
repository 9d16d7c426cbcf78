//! Sums over the tasks that two workers share, for the pairs of one worker at a time: the kernel of agreement
//! between pairs and of the search for copies.

use crate::annotations::{Annotations, ByWorker};
use crate::blocks::Block;

/// Goes through the pairs of a worker with those after it.
pub(crate) struct PairSums<'a> {
    by_task: Block<'a>,
    by_worker: &'a ByWorker,
    /// Tasks shared with each worker, and where its sums are; both as before the first worker in between.
    shared: Vec<u32>,
    slot_of: Vec<u32>,
    met: Vec<u32>,
}

/// A task that two workers share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedTask {
    pub(crate) task: usize,
    /// Answers of the first worker and of the later one.
    pub(crate) answers: (usize, usize),
    /// Where these stand among all labels.
    pub(crate) places: (usize, usize),
}

const ABSENT: u32 = u32::MAX;

impl<'a> PairSums<'a> {
    pub(crate) fn new(annotations: &'a Annotations) -> Self {
        Self::of(annotations.as_block(), annotations.by_worker())
    }

    /// Of labels by task and by worker.
    pub(crate) fn of(by_task: Block<'a>, by_worker: &'a ByWorker) -> Self {
        let workers = by_task.worker_count();
        Self {
            by_task,
            by_worker,
            shared: vec![0; workers],
            slot_of: vec![ABSENT; workers],
            met: Vec::new(),
        }
    }

    /// The sums of worker `m` with each later worker, in order of these, over the `chosen` tasks. `start`
    /// gets the later worker and the number of tasks that both share, and says what the sums are before the
    /// first; a pair without is left out.
    pub(crate) fn of_worker<S>(
        &mut self,
        m: usize,
        chosen: impl Fn(usize) -> bool,
        mut start: impl FnMut(usize, u32) -> Option<S>,
        mut add: impl FnMut(&mut S, SharedTask),
    ) -> Vec<(usize, S)> {
        let (labels, by_worker) = (self.by_task, self.by_worker);
        let tasks = || by_worker.labels(m).filter(|&(task, _)| chosen(task));
        self.met.clear();
        for (task, _) in tasks() {
            for &j in labels.task(task).0.iter().rev() {
                if j as usize <= m {
                    break;
                }
                if self.shared[j as usize] == 0 {
                    self.met.push(j);
                }
                self.shared[j as usize] += 1;
            }
        }
        self.met.sort_unstable();
        let mut sums = Vec::new();
        for &j in &self.met {
            let shared = std::mem::take(&mut self.shared[j as usize]);
            if let Some(first) = start(j as usize, shared) {
                self.slot_of[j as usize] = sums.len() as u32;
                sums.push((j as usize, first));
            }
        }
        if sums.is_empty() {
            return sums;
        }
        for (task, answer) in tasks() {
            let (workers, answers) = labels.task(task);
            let first = labels.starts[task] as usize;
            let after = workers.partition_point(|&other| other as usize <= m);
            for offset in after..workers.len() {
                let slot = self.slot_of[workers[offset] as usize];
                if slot != ABSENT {
                    let shared = SharedTask {
                        task,
                        answers: (answer, answers[offset] as usize),
                        places: (first + after - 1, first + offset),
                    };
                    add(&mut sums[slot as usize].1, shared);
                }
            }
        }
        for &(j, _) in &sums {
            self.slot_of[j] = ABSENT;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_every_pair_one_by_one() {
        let labels = (0..40u32).flat_map(|task| {
            (0..7u32)
                .filter(move |worker| (task * 3 + worker * 5) % 4 != 0)
                .map(move |worker| (task, worker, ((task + worker * worker) % 3) as u16))
        });
        let annotations = Annotations::from_codes(40, 7, 3, labels).unwrap();
        let chosen = |task: usize| !task.is_multiple_of(5);
        let mut pairs = PairSums::new(&annotations);
        for m in 0..7 {
            let start = |j: usize, shared: u32| (j != 4).then_some((shared, 0u32, 0u32));
            let found = pairs.of_worker(m, chosen, start, |sums, shared| {
                let (x, y) = shared.answers;
                assert_eq!(annotations.as_block().label[shared.places.0] as usize, x);
                assert_eq!(annotations.as_block().label[shared.places.1] as usize, y);
                sums.1 += 1;
                sums.2 += u32::from(x == y);
            });
            let mut wanted = Vec::new();
            for j in (m + 1..7).filter(|&j| j != 4) {
                let (mut shared, mut agreed) = (0, 0);
                for task in (0..40).filter(|&task| chosen(task)) {
                    let answer = |worker| {
                        let mut labels = annotations.labels_of_task(task);
                        labels.find(|&(other, _)| other == worker).map(|(_, label)| label)
                    };
                    if let (Some(x), Some(y)) = (answer(m), answer(j)) {
                        shared += 1;
                        agreed += u32::from(x == y);
                    }
                }
                if shared > 0 {
                    wanted.push((j, (shared, shared, agreed)));
                }
            }
            assert_eq!(found, wanted);
        }
    }
}
