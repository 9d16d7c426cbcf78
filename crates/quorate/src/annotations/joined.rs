//! Two tables joined: later labels behind earlier ones.

use super::class_order::{ClassOrder, check_class_count};
use super::{Annotations, Duplicates, MAX_LABELS, Names, RowCounts, SPLIT, check_count};
use crate::blocks::TaskBlock;
use crate::error::Result;

impl Annotations {
    /// The labels of both tables, as if the rows of `later` had stood below the rows of this one: tasks and
    /// workers keep their order, new ones come behind, and a worker's second label on a task is settled by
    /// `duplicates`. Classes stand in the order of `later` if it has them all, else in natural order. Known
    /// truths are not carried over.
    ///
    /// Labels of tasks that `later` does not name are copied as they lie; names are looked up among those of
    /// `later`, so that what is large here costs a pass over memory and no table of its names.
    pub fn concat(mut self, later: &Self, duplicates: Duplicates) -> Result<Self> {
        let classes = self.joined_classes(later);
        check_class_count(&classes)?;
        let later_tasks = join_names(&mut self.tasks, &later.tasks);
        let later_workers = join_names(&mut self.workers, &later.workers);
        let labels = self.label_count() + later.label_count();
        let count = labels.max(self.tasks.len()).max(self.workers.len());
        check_count("labels, tasks or workers", count, MAX_LABELS, SPLIT)?;
        let codes = |names: &Names| -> Vec<u16> {
            let code = |name| classes.find(name).expect("the joined classes hold all of them") as u16;
            names.iter().map(code).collect()
        };
        let (own_codes, later_codes) = (codes(&self.classes), codes(&later.classes));
        self.recode(classes, &own_codes);
        let mut block = self.joined_block(later, &later_tasks, &later_workers, &later_codes);
        let repeated = count_repeated(&block);
        block.refuse_repeated(duplicates, &self.tasks, &self.workers)?;
        block.drop_repeated(repeated, duplicates);
        let rows = RowCounts {
            rows: self.rows.rows + later.rows.rows,
            abstentions: self.rows.abstentions + later.rows.abstentions,
            repeated,
            duplicates,
        };
        Ok(Self::of_block(
            self.tasks,
            self.workers,
            self.classes,
            block,
            rows,
        ))
    }

    /// The labels by task, those of `later` behind the own ones of their worker.
    fn joined_block(&self, later: &Self, tasks: &[u32], workers: &[u32], codes: &[u16]) -> TaskBlock {
        // Which task of `later` has more labels for a task; new tasks stand behind the old ones in the order
        // of `later`.
        let mut more: Vec<(u32, usize)> = tasks.iter().copied().zip(0..).collect();
        more.sort_unstable();
        let labels = self.label_count() + later.label_count();
        let mut block = TaskBlock::default();
        block.starts.reserve(self.tasks.len() + 1);
        block.worker.reserve(labels);
        block.label.reserve(labels);
        block.starts.push(0);
        let own_tasks = self.block.starts.len() - 1;
        let (mut next, mut scratch) = (0, Vec::new());
        for (task, later_task) in more {
            let task = task as usize;
            self.copy_tasks(next..task.min(own_tasks), &mut block);
            let start = block.label.len();
            if task < own_tasks {
                let (workers, labels) = self.task_slices(task);
                block.worker.extend_from_slice(workers);
                block.label.extend_from_slice(labels);
            }
            let (later_workers, later_labels) = later.task_slices(later_task);
            block
                .worker
                .extend(later_workers.iter().map(|&m| workers[m as usize]));
            block
                .label
                .extend(later_labels.iter().map(|&x| codes[usize::from(x)]));
            let (workers, labels) = (&mut block.worker[start..], &mut block.label[start..]);
            TaskBlock::sort_task(workers, labels, &mut scratch);
            block.starts.push(block.label.len() as u32);
            next = task + 1;
        }
        self.copy_tasks(next..own_tasks, &mut block);
        block
    }

    /// Appends the labels of consecutive tasks as they are.
    fn copy_tasks(&self, tasks: std::ops::Range<usize>, block: &mut TaskBlock) {
        if tasks.is_empty() {
            return;
        }
        let (workers, labels) = self.labels_between(tasks.clone());
        let (from, to) = (self.block.starts[tasks.start], block.label.len() as u32);
        block.worker.extend_from_slice(workers);
        block.label.extend_from_slice(labels);
        let ends = &self.block.starts[tasks.start + 1..=tasks.end];
        block.starts.extend(ends.iter().map(|end| end - from + to));
    }

    fn joined_classes(&self, later: &Self) -> Names {
        if self
            .classes
            .iter()
            .all(|class| later.classes.find(class).is_some())
        {
            return later.classes.clone();
        }
        let all: Names = self.classes.iter().chain(later.classes.iter()).collect();
        ClassOrder::Natural.arrange(&all).0
    }
}

/// Appends the names of `later` that are not there; returns the code of each name of `later`.
fn join_names(names: &mut Names, later: &Names) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let mut codes = vec![NEW; later.len()];
    for (code, name) in names.iter().enumerate() {
        if let Some(place) = later.find(name) {
            codes[place as usize] = code as u32;
        }
    }
    let new: Vec<usize> = (0..later.len()).filter(|&place| codes[place] == NEW).collect();
    for (place, code) in new.iter().zip(names.len() as u32..) {
        codes[*place] = code;
    }
    names.append(new.iter().map(|&place| later.get(place)));
    codes
}

/// How many labels repeat the worker of another on the same task.
fn count_repeated(block: &TaskBlock) -> u64 {
    let task = |pair: &[u32]| {
        let workers = &block.worker[pair[0] as usize..pair[1] as usize];
        workers.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64
    };
    block.starts.windows(2).map(task).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Error;
    use crate::annotations::AnnotationsBuilder;

    type Rows = Vec<(u8, u8, u8)>;

    fn table(duplicates: Duplicates, rows: &[(u8, u8, u8)]) -> Result<Annotations> {
        let mut builder = AnnotationsBuilder::new(duplicates);
        for (task, worker, label) in rows {
            // A third of the labels is empty: tasks and workers without a label stay.
            let label = if label % 3 == 0 {
                String::new()
            } else {
                label.to_string()
            };
            builder.push(&format!("t{task}"), &format!("w{worker}"), &label)?;
        }
        builder.build()
    }

    fn rows() -> impl Strategy<Value = Rows> {
        proptest::collection::vec((0u8..7, 0u8..5, 0u8..30), 1..40)
    }

    #[test]
    fn more_classes_than_labels_can_name_are_refused() {
        let many = |prefix: &str| {
            let mut builder = AnnotationsBuilder::default();
            for n in 0..40_000 {
                let (task, class) = (format!("t{n}"), format!("{prefix}{n}"));
                builder.push(&task, "w", &class).unwrap();
            }
            builder.build().unwrap()
        };
        let joined = many("a").concat(&many("b"), Duplicates::Last);
        assert!(matches!(joined, Err(Error::TooMany { what: "classes", .. })));
    }

    proptest! {
        #[test]
        fn two_tables_are_what_one_of_all_rows_is(first in rows(), second in rows()) {
            for duplicates in [Duplicates::Last, Duplicates::First, Duplicates::Keep, Duplicates::Error] {
                let tables = (table(duplicates, &first), table(duplicates, &second));
                let (Ok(one), Ok(two)) = tables else { continue };
                let all = table(duplicates, &[first.clone(), second.clone()].concat());
                match (one.concat(&two, duplicates), all) {
                    (Ok(joined), Ok(all)) => {
                        prop_assert_eq!(joined.fingerprint(), all.fingerprint());
                        prop_assert_eq!(joined.iter().collect::<Vec<_>>(), all.iter().collect::<Vec<_>>());
                        prop_assert_eq!(joined.tasks(), all.tasks());
                        prop_assert_eq!(joined.workers(), all.workers());
                        prop_assert_eq!(joined.rows().abstentions, all.rows().abstentions);
                        // Names that were appended are found, too.
                        for (code, name) in all.tasks().iter().enumerate() {
                            prop_assert_eq!(joined.tasks().find(name), Some(code as u32));
                        }
                    }
                    (joined, all) => prop_assert!(joined.is_err() && all.is_err()),
                }
            }
        }
    }
}
