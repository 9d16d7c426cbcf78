//! Gold: tasks whose truth is known.
//!
//! The truths travel with the labels, so that every step of every method that goes through the tasks can hold
//! them fixed: a known task is no vote but a fact.

use super::{Annotations, Names};
use crate::error::{Error, Result};

/// Stands for "not known" in a table of truths.
pub const NO_GOLD: u32 = u32::MAX;

/// Name of the worker that gold is turned into; more quotes are added while a worker has this very name.
const GOLD_WORKER: &str = "gold";

impl Annotations {
    /// The same labels with the truth of some tasks known, as (task, class) codes. Later truths replace
    /// earlier ones.
    pub fn with_gold(mut self, truths: impl IntoIterator<Item = (u32, u16)>) -> Result<Self> {
        let (tasks, classes) = (self.task_count(), self.class_count());
        let mut gold = vec![NO_GOLD; tasks];
        for (task, class) in truths {
            if task as usize >= tasks || usize::from(class) >= classes {
                return Err(Error::Mismatch(format!(
                    "the truth {class} of task {task} does not fit {tasks} tasks and {classes} classes"
                )));
            }
            gold[task as usize] = u32::from(class);
        }
        gold.truncate(if gold.iter().all(|&class| class == NO_GOLD) {
            0
        } else {
            tasks
        });
        self.block.gold = gold;
        Ok(self)
    }

    /// The truth of a task, if it is known.
    #[inline]
    pub fn gold(&self, task: usize) -> Option<usize> {
        let class = *self.block.gold.get(task)?;
        (class != NO_GOLD).then_some(class as usize)
    }

    /// Whether the truth of any task is known.
    pub fn has_gold(&self) -> bool {
        !self.block.gold.is_empty()
    }

    /// The tasks whose truth is known, with it.
    pub fn known_truths(&self) -> impl Iterator<Item = (u32, u16)> + '_ {
        (0..self.task_count()).filter_map(|task| Some((task as u32, self.gold(task)? as u16)))
    }

    /// Puts all mass of a known task on its truth; leaves the others alone. A row holds a probability for
    /// each class.
    #[inline]
    pub(crate) fn pin(&self, task: usize, row: &mut [f64]) {
        if let Some(truth) = self.gold(task) {
            row.fill(0.0);
            row[truth] = 1.0;
        }
    }

    /// [`pin`](Self::pin) for all tasks, rows one after another.
    #[doc(hidden)]
    pub fn pin_all(&self, rows: &mut [f64]) {
        if self.has_gold() {
            for (task, row) in rows.chunks_exact_mut(self.class_count()).enumerate() {
                self.pin(task, row);
            }
        }
    }

    /// Makes every truth of a known task impossible but the right one, in a row of log-weights.
    #[doc(hidden)]
    #[inline]
    pub fn pin_logs(&self, task: usize, row: &mut [f64]) {
        if let Some(truth) = self.gold(task) {
            keep_truth(row, truth, self.class_count(), f64::NEG_INFINITY);
        }
    }

    /// The table with one worker more, the last one, who answers every known task rightly and no other: gold
    /// for methods that learn from the agreement of workers.
    pub(crate) fn with_gold_worker(&self) -> Result<Self> {
        let mut workers: Names = self.workers.clone();
        let oracle = workers.intern(&gold_worker_name(&self.workers));
        let truths = self.known_truths().map(|(task, truth)| (task, oracle, truth));
        let (tasks, classes) = (self.tasks.clone(), self.classes.clone());
        let labels = self.codes().chain(truths);
        Self::from_named_codes(tasks, workers, classes, labels)?.with_gold(self.known_truths())
    }
}

/// A name that no worker has, for gold as a worker.
pub(crate) fn gold_worker_name(workers: &Names) -> String {
    let mut name = GOLD_WORKER.to_owned();
    while workers.find(&name).is_some() {
        name = format!("'{name}'");
    }
    name
}

/// Makes every truth impossible but those of the class that is known. A row holds a weight for each class, or
/// for each of equally many components of every class.
pub(crate) fn keep_truth(row: &mut [f64], truth: usize, classes: usize, impossible: f64) {
    let components = row.len() / classes;
    for (component, weight) in row.iter_mut().enumerate() {
        if component / components != truth {
            *weight = impossible;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known_tasks(table: &Annotations) -> usize {
        (0..table.task_count())
            .filter(|&task| table.gold(task).is_some())
            .count()
    }

    fn table() -> Annotations {
        Annotations::from_codes(3, 2, 2, [(0, 0, 0), (0, 1, 1), (1, 0, 1), (2, 1, 0)]).unwrap()
    }

    #[test]
    fn truths_are_kept_and_checked() {
        let known = table().with_gold([(0, 1), (2, 0), (2, 1)]).unwrap();
        assert_eq!([0, 1, 2].map(|task| known.gold(task)), [Some(1), None, Some(1)]);
        assert_eq!(known_tasks(&known), 2);
        assert!(!table().has_gold() && !table().with_gold([]).unwrap().has_gold());
        assert!(table().with_gold([(3, 0)]).is_err());
        assert!(table().with_gold([(0, 2)]).is_err());
    }

    #[test]
    fn known_rows_are_pinned_with_or_without_components() {
        let known = table().with_gold([(1, 0)]).unwrap();
        let mut rows = [0.5; 6];
        known.pin_all(&mut rows);
        assert_eq!(rows, [0.5, 0.5, 1.0, 0.0, 0.5, 0.5]);
        let mut logs = [-1.0, -2.0, -3.0, -4.0];
        known.pin_logs(1, &mut logs);
        assert_eq!(logs, [-1.0, -2.0, f64::NEG_INFINITY, f64::NEG_INFINITY]);
    }

    #[test]
    fn gold_as_a_worker_answers_known_tasks_rightly() {
        let known = table().with_gold([(0, 1), (2, 0)]).unwrap();
        let extended = known.with_gold_worker().unwrap();
        assert_eq!(extended.workers().get(2), "gold");
        let answers: Vec<_> = extended.by_worker().labels(2).collect();
        assert_eq!(answers, [(0, 1), (2, 0)]);
        assert_eq!(known_tasks(&extended), 2);
    }
}
