//! A table from labels that are sorted by task already: read back from a file, or put together by a reader.

use rayon::prelude::*;

use super::builder::no_labels;
use super::{Annotations, MAX_CLASSES, MAX_LABELS, Names, RowCounts};
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
        if block.label.is_empty() {
            return Err(no_labels(rows.abstentions));
        }
        if workers.len() > MAX_LABELS || classes.len() > MAX_CLASSES {
            return wrong("more workers or classes than a table can hold");
        }
        block.check(workers.len(), classes.len())?;
        if block.starts.len() != tasks.len() + 1 {
            return wrong("labels of another number of tasks");
        }
        if !in_worker_order(&block.starts, &block.worker) {
            return wrong("workers out of order");
        }
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
        let by_worker = Default::default();
        Self {
            tasks,
            workers,
            classes,
            block,
            rows,
            by_worker,
        }
    }
}

/// Codes that a thread looks at together.
const CHUNK: usize = 1 << 16;

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
    use crate::annotations::NO_GOLD;

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
