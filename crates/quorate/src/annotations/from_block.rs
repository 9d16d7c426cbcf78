//! A table from labels that are by task already: what was a table before, kept somewhere and read back.

use super::{Annotations, MAX_CLASSES, MAX_LABELS, Names, RowCounts, TaskBlock};
use crate::error::{Error, Result};

impl Annotations {
    /// The table of these labels, as they are; fails if codes or order are not those of a table.
    pub fn from_block(
        tasks: Names,
        workers: Names,
        classes: Names,
        block: TaskBlock,
        rows: RowCounts,
    ) -> Result<Self> {
        let wrong = |problem: &str| Err(Error::Mismatch(format!("labels by task with {problem}")));
        let TaskBlock {
            starts,
            worker,
            label,
        } = block;
        if label.is_empty() {
            return Err(Error::NoLabels("there are no labels".into()));
        }
        if label.len() > MAX_LABELS || workers.len() > MAX_LABELS || classes.len() > MAX_CLASSES {
            return wrong("more labels, workers or classes than a table can hold");
        }
        if starts.len() != tasks.len() + 1
            || starts[0] != 0
            || !starts.is_sorted()
            || starts[tasks.len()] as usize != label.len()
            || worker.len() != label.len()
        {
            return wrong("tasks whose labels do not lie one behind the other");
        }
        // The largest of all is found faster than the first that is too large.
        let outside = |largest: Option<usize>, count: usize| largest.is_some_and(|largest| largest >= count);
        if outside(worker.iter().max().map(|&m| m as usize), workers.len())
            || outside(label.iter().max().map(|&x| usize::from(x)), classes.len())
        {
            return wrong("codes of workers or classes that were not named");
        }
        let in_order = |pair: &[u32]| worker[pair[0] as usize..pair[1] as usize].is_sorted();
        if !starts.windows(2).all(in_order) {
            return wrong("workers out of order");
        }
        let block = TaskBlock {
            starts,
            worker,
            label,
        };
        Ok(Self::of_block(tasks, workers, classes, block, rows))
    }

    /// The table of labels that are known to be those of one.
    pub(super) fn of_block(
        tasks: Names,
        workers: Names,
        classes: Names,
        block: TaskBlock,
        rows: RowCounts,
    ) -> Self {
        Self {
            tasks,
            workers,
            classes,
            task_starts: block.starts,
            worker: block.worker,
            label: block.label,
            rows,
            gold: None,
            by_worker: Default::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(change: impl FnOnce(&mut TaskBlock)) -> Result<Annotations> {
        let mut block = TaskBlock {
            starts: vec![0, 2, 2, 3],
            worker: vec![0, 2, 1],
            label: vec![1, 0, 1],
        };
        change(&mut block);
        let names = |count| Names::numbered("x", count);
        Annotations::from_block(names(3), names(3), names(2), block, RowCounts::default())
    }

    #[test]
    fn labels_by_task_are_taken_as_they_are_or_refused() {
        let table = build(|_| {}).unwrap();
        assert_eq!(
            table.iter().collect::<Vec<_>>(),
            [(0, 0, 1), (0, 2, 0), (2, 1, 1)]
        );
        assert!(build(|block| block.starts[0] = 1).is_err());
        assert!(build(|block| block.starts[1] = 3).is_err());
        assert!(build(|block| block.starts[3] = 4).is_err());
        assert!(build(|block| block.starts.truncate(3)).is_err());
        assert!(build(|block| block.worker.truncate(2)).is_err());
        assert!(build(|block| block.worker.swap(0, 1)).is_err());
        assert!(build(|block| block.worker[1] = 3).is_err());
        assert!(build(|block| block.label[1] = 2).is_err());
    }
}
