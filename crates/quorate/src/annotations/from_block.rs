//! A table from labels that are sorted by task already: read back from a file, or put together by a reader.

use rayon::prelude::*;

use super::builder::no_labels;
use super::{Annotations, MAX_CLASSES, MAX_LABELS, NO_GOLD, Names, RowCounts};
use crate::blocks::TaskBlock;
use crate::error::{Error, Result};

impl Annotations {
    /// The table of these labels, as they are; fails if codes or order are not those of a table.
    #[doc(hidden)]
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
            gold,
        } = block;
        if label.is_empty() {
            return Err(no_labels(rows.abstentions));
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
        if !codes_below(&worker, workers.len(), |&m| m as usize)
            || !codes_below(&label, classes.len(), |&x| usize::from(x))
        {
            return wrong("codes of workers or classes that were not named");
        }
        if !in_worker_order(&starts, &worker) {
            return wrong("workers out of order");
        }
        if !gold.is_empty() && gold.len() != tasks.len() {
            return wrong("truths of another number of tasks");
        }
        let known = gold.iter().filter(|&&class| class != NO_GOLD);
        if known.into_iter().any(|&class| class as usize >= classes.len()) {
            return wrong("truths of classes that were not named");
        }
        let block = TaskBlock {
            starts,
            worker,
            label,
            gold,
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
            gold: (!block.gold.is_empty()).then_some(block.gold),
            by_worker: Default::default(),
        }
    }
}

/// Codes that a thread looks at together.
const CHUNK: usize = 1 << 16;

/// Whether all codes are below `count`. The largest of all is found faster than the first that is too large.
fn codes_below<T: Sync>(codes: &[T], count: usize, code: impl Fn(&T) -> usize + Sync) -> bool {
    codes.par_chunks(CHUNK).all(|codes| {
        codes
            .iter()
            .map(&code)
            .max()
            .is_none_or(|largest| largest < count)
    })
}

/// Whether the workers of each task stand in order: then workers descend from one label to the next only
/// where a task starts. Descents are counted without a branch, those at the starts of tasks apart.
fn in_worker_order(starts: &[u32], worker: &[u32]) -> bool {
    let inside = worker.par_chunks(CHUNK).enumerate().map(|(chunk, workers)| {
        let before = worker[(chunk * CHUNK).saturating_sub(1)];
        let descents = workers.windows(2).filter(|pair| pair[0] > pair[1]).count();
        descents + usize::from(before > workers[0])
    });
    let at_starts = starts.par_windows(2).filter(|task| {
        let (start, end) = (task[0] as usize, task[1] as usize);
        0 < start && start < end && worker[start - 1] > worker[start]
    });
    inside.sum::<usize>() == at_starts.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(change: impl FnOnce(&mut TaskBlock)) -> Result<Annotations> {
        let mut block = TaskBlock {
            starts: vec![0, 2, 2, 3],
            worker: vec![0, 2, 1],
            label: vec![1, 0, 1],
            gold: Vec::new(),
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
        assert!(build(|block| block.gold = vec![0]).is_err());
        assert!(build(|block| block.gold = vec![0, 2, NO_GOLD]).is_err());
        let known = build(|block| block.gold = vec![0, 1, NO_GOLD]).unwrap();
        assert_eq!([0, 1, 2].map(|task| known.gold(task)), [Some(0), Some(1), None]);
    }
}
