//! Two tables as one: labels that came later behind those that were there.

use super::class_order::natural_codes;
use super::{Annotations, AnnotationsBuilder, Duplicates, Names};
use crate::error::Result;

impl Annotations {
    /// The labels of both tables, as if the rows of `later` had stood below the rows of this one: tasks and workers keep
    /// their order, new ones come behind, and a worker's second label on a task is settled by `duplicates`. Classes stand
    /// in the order of `later` if it has them all, else in natural order. Known truths are not carried over.
    pub fn followed_by(&self, later: &Self, duplicates: Duplicates) -> Result<Self> {
        let (mut tasks, mut workers) = (self.tasks.clone(), self.workers.clone());
        let intern = |all: &mut Names, names: &Names| -> Vec<u32> {
            names.iter().map(|name| all.intern(name)).collect()
        };
        let later_tasks = intern(&mut tasks, &later.tasks);
        let later_workers = intern(&mut workers, &later.workers);
        let classes = self.joined_classes(later);
        let codes = |names: &Names| -> Vec<u16> {
            let code = |name| classes.find(name).expect("the joined classes hold all of them") as u16;
            names.iter().map(code).collect()
        };
        let (own_codes, later_codes) = (codes(&self.classes), codes(&later.classes));
        let mut builder = AnnotationsBuilder::with_names(tasks, workers, classes, duplicates);
        for (task, worker, label) in self.iter() {
            builder.push_codes(task as u32, worker as u32, own_codes[label])?;
        }
        for (task, worker, label) in later.iter() {
            builder.push_codes(later_tasks[task], later_workers[worker], later_codes[label])?;
        }
        let mut joined = builder.build()?;
        joined.rows.rows = self.rows.rows + later.rows.rows;
        joined.rows.abstentions = self.rows.abstentions + later.rows.abstentions;
        Ok(joined)
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
        let mut ordered = vec![""; all.len()];
        for (old, &new) in natural_codes(&all).iter().enumerate() {
            ordered[new as usize] = all.get(old);
        }
        ordered.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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

    proptest! {
        #[test]
        fn two_tables_are_what_one_of_all_rows_is(first in rows(), second in rows()) {
            for duplicates in [Duplicates::Last, Duplicates::First, Duplicates::Keep, Duplicates::Error] {
                let tables = (table(duplicates, &first), table(duplicates, &second));
                let (Ok(one), Ok(two)) = tables else { continue };
                let all = table(duplicates, &[first.clone(), second.clone()].concat());
                match (one.followed_by(&two, duplicates), all) {
                    (Ok(joined), Ok(all)) => {
                        prop_assert_eq!(joined.fingerprint(), all.fingerprint());
                        prop_assert_eq!(joined.rows().abstentions, all.rows().abstentions);
                    }
                    (joined, all) => prop_assert!(joined.is_err() && all.is_err()),
                }
            }
        }
    }
}
