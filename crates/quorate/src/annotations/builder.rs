//! Builds the table row by row.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::class_order::ClassOrder;
use super::columns::repeated_label;
use super::{Annotations, CodeColumns, MAX_CLASSES, MAX_LABELS, Names, SPLIT, check_count};
use crate::blocks::TaskBlock;
use crate::error::{Error, Result};

/// What to do with a second label of the same worker on the same task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// The last row counts: people correct themselves.
    #[default]
    Last,
    /// The first row counts.
    First,
    /// Every row counts as a label of its own.
    Keep,
    /// A repeated row is an error.
    Error,
}

/// What happened to the rows on the way in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Rows pushed.
    pub rows: u64,
    /// Rows whose label was empty: not used.
    pub abstentions: u64,
    /// Rows that repeat the (task, worker) of an earlier row.
    pub repeated: u64,
    /// How repeated rows were treated.
    pub duplicates: Duplicates,
}

/// Collects rows and turns them into [`Annotations`].
///
/// Rows are pushed one by one, or come from an iterator: collecting and extending stop at the first bad row,
/// and [`build`](Self::build) returns its error.
///
/// ```
/// use quorate::AnnotationsBuilder;
///
/// let rows = [("t1", "ann", "cat"), ("t1", "bob", "dog")];
/// let mut builder: AnnotationsBuilder = rows.into_iter().collect();
/// builder.extend([("t2", "ann", "cat")]);
/// assert_eq!(builder.build()?.label_count(), 3);
/// # Ok::<(), quorate::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AnnotationsBuilder {
    tasks: Names,
    workers: Names,
    classes: Names,
    columns: CodeColumns,
    /// The error of the first bad row of an iterator.
    failed: Option<Error>,
    classes_given: bool,
    class_order: ClassOrder,
    rows: RowCounts,
    /// (task, worker) pairs seen; kept only where a repeated row is an error.
    seen: HashSet<(u32, u32), FxBuildHasher>,
}

impl AnnotationsBuilder {
    /// A builder that treats repeated (task, worker) rows in this way.
    pub fn new(duplicates: Duplicates) -> Self {
        let mut builder = Self::default();
        builder.rows.duplicates = duplicates;
        builder
    }

    /// Allows these classes only, in this order.
    pub fn with_classes<S: AsRef<str>>(mut self, classes: &[S]) -> Result<Self> {
        for class in classes {
            if self.classes.find(class.as_ref()).is_some() {
                return Err(Error::RepeatedClass(class.as_ref().to_owned()));
            }
            self.intern_class(class.as_ref())?;
        }
        self.classes_given = true;
        Ok(self)
    }

    /// Orders classes in this way when none are given.
    pub fn with_class_order(mut self, order: ClassOrder) -> Self {
        self.class_order = order;
        self
    }

    /// Adds one row. An empty label is an abstention: the task and the worker are noted, the row is counted,
    /// and nothing else comes of it.
    pub fn push(&mut self, task: &str, worker: &str, label: &str) -> Result<()> {
        if task.is_empty() {
            return Err(Error::EmptyId("task"));
        }
        if worker.is_empty() {
            return Err(Error::EmptyId("worker"));
        }
        let class = match self.classes.find(label) {
            _ if label.is_empty() => None,
            Some(code) => Some(code as u16),
            None if self.classes_given => {
                let (label, classes) = (label.to_owned(), self.classes.iter().map(str::to_owned).collect());
                return Err(Error::UnknownClass { label, classes });
            }
            None => Some(self.intern_class(label)?),
        };
        let (task, worker) = (self.tasks.intern(task), self.workers.intern(worker));
        let count = self.columns.label.len().max(task as usize).max(worker as usize) + 1;
        check_count("rows, tasks or workers", count, MAX_LABELS, SPLIT)?;
        let Some(class) = class else {
            self.rows.rows += 1;
            self.rows.abstentions += 1;
            return Ok(());
        };
        if self.rows.duplicates == Duplicates::Error && !self.seen.insert((task, worker)) {
            return Err(repeated_label(&self.tasks, task as usize, &self.workers, worker));
        }
        self.rows.rows += 1;
        self.columns.push(task, worker, class);
        Ok(())
    }

    /// [`CodeColumns::bytes_to_come`] of the rows so far.
    #[doc(hidden)]
    pub fn bytes_to_come(&self, rows: usize) -> u64 {
        self.columns.bytes_to_come(rows, self.tasks.len())
    }

    /// [`CodeColumns::drop_repeated`] of the rows so far, in place of waiting for [`build`](Self::build).
    #[doc(hidden)]
    pub fn drop_repeated(&mut self) -> bool {
        let (dropped, many) = self.columns.drop_repeated(self.tasks.len(), self.rows.duplicates);
        self.rows.repeated += dropped;
        many
    }

    /// Sorts the rows into the table.
    pub fn build(mut self) -> Result<Annotations> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.columns.label.is_empty() {
            return Err(no_labels(self.rows.abstentions));
        }
        let (block, repeated) = TaskBlock::sort(self.tasks.len(), vec![self.columns], self.rows.duplicates);
        self.rows.repeated += repeated;
        let annotations = Annotations::of_block(self.tasks, self.workers, self.classes, block, self.rows);
        let order = if self.classes_given {
            ClassOrder::Appearance
        } else {
            self.class_order
        };
        Ok(annotations.with_class_order(order))
    }

    fn intern_class(&mut self, class: &str) -> Result<u16> {
        let hint = "labels must be classes; is the label column the right one?";
        check_count("labels", self.classes.len() + 1, MAX_CLASSES, hint)?;
        Ok(self.classes.intern(class) as u16)
    }
}

impl<T: AsRef<str>, W: AsRef<str>, L: AsRef<str>> Extend<(T, W, L)> for AnnotationsBuilder {
    /// Adds (task, worker, label) rows up to the first bad one, whose error [`build`](Self::build) returns.
    fn extend<I: IntoIterator<Item = (T, W, L)>>(&mut self, rows: I) {
        if self.failed.is_none() {
            let mut rows = rows.into_iter();
            let pushed = rows.try_for_each(|(n, m, x)| self.push(n.as_ref(), m.as_ref(), x.as_ref()));
            self.failed = pushed.err();
        }
    }
}

impl<T: AsRef<str>, W: AsRef<str>, L: AsRef<str>> FromIterator<(T, W, L)> for AnnotationsBuilder {
    fn from_iter<I: IntoIterator<Item = (T, W, L)>>(rows: I) -> Self {
        let mut builder = Self::default();
        builder.extend(rows);
        builder
    }
}

impl Annotations {
    /// The table of (task, worker, label) rows: an empty label is an abstention, and the last of a worker's
    /// labels on a task counts. [`AnnotationsBuilder`] has the other choices.
    ///
    /// ```
    /// let rows = [("t1", "ann", "cat"), ("t1", "bob", "dog")];
    /// assert_eq!(quorate::Annotations::from_triples(rows)?.label_count(), 2);
    /// # Ok::<(), quorate::Error>(())
    /// ```
    pub fn from_triples<T: AsRef<str>, W: AsRef<str>, L: AsRef<str>>(
        rows: impl IntoIterator<Item = (T, W, L)>,
    ) -> Result<Self> {
        rows.into_iter().collect::<AnnotationsBuilder>().build()
    }
}

/// There is nothing to build a table from.
pub(super) fn no_labels(abstentions: u64) -> Error {
    let expected = "expected one row for each label with a task, a worker and a label";
    Error::NoLabels(match abstentions {
        0 => format!("the input has no rows; {expected}"),
        count => format!("all {count} rows have an empty label"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(annotations: &Annotations) -> Vec<(String, String, String)> {
        let named = |(task, worker, label): (usize, usize, usize)| {
            (
                annotations.tasks().get(task).to_owned(),
                annotations.workers().get(worker).to_owned(),
                annotations.classes().get(label).to_owned(),
            )
        };
        annotations.iter().map(named).collect()
    }

    fn build(duplicates: Duplicates, rows: &[(&str, &str, &str)]) -> Result<Annotations> {
        let mut builder = AnnotationsBuilder::new(duplicates);
        for (task, worker, label) in rows {
            builder.push(task, worker, label)?;
        }
        builder.build()
    }

    const REPEATED: [(&str, &str, &str); 4] =
        [("t", "a", "1"), ("t", "b", "1"), ("t", "a", "2"), ("u", "a", "")];

    #[test]
    fn repeated_rows_follow_the_policy_and_are_counted() {
        for (duplicates, expected) in [(Duplicates::Last, "2"), (Duplicates::First, "1")] {
            let annotations = build(duplicates, &REPEATED).unwrap();
            assert_eq!(annotations.label_count(), 2);
            assert_eq!(rows(&annotations)[0].2, expected);
            assert_eq!(annotations.rows().repeated, 1);
            assert_eq!(annotations.rows().abstentions, 1);
            assert_eq!(annotations.summary().unlabelled_tasks, 1);
        }
        assert_eq!(build(Duplicates::Keep, &REPEATED).unwrap().label_count(), 3);
        assert_eq!(
            build(Duplicates::Error, &REPEATED).unwrap_err(),
            Error::RepeatedLabel {
                task: "t".into(),
                worker: "a".into()
            }
        );
    }

    #[test]
    fn repeated_rows_that_are_dropped_early_change_nothing() {
        let rows: Vec<(String, String, String)> = (0..500u32)
            .map(|row| {
                let mixed = row.wrapping_mul(2_654_435_761) >> 8;
                (
                    format!("t{}", mixed % 7),
                    format!("w{}", mixed / 7 % 5),
                    format!("{}", mixed / 35 % 3),
                )
            })
            .collect();
        for duplicates in [Duplicates::Last, Duplicates::First, Duplicates::Keep] {
            let (mut early, mut late) = (
                AnnotationsBuilder::new(duplicates),
                AnnotationsBuilder::new(duplicates),
            );
            for (row, (task, worker, label)) in rows.iter().enumerate() {
                early.push(task, worker, label).unwrap();
                late.push(task, worker, label).unwrap();
                if row % 40 == 39 {
                    early.drop_repeated();
                }
            }
            let (early, late) = (early.build().unwrap(), late.build().unwrap());
            assert_eq!(early.iter().collect::<Vec<_>>(), late.iter().collect::<Vec<_>>());
            assert_eq!(early.rows(), late.rows());
        }
    }

    #[test]
    fn bad_rows_are_errors() {
        let mut builder = AnnotationsBuilder::default()
            .with_classes(&["yes", "no"])
            .unwrap();
        assert_eq!(builder.push("", "w", "yes"), Err(Error::EmptyId("task")));
        assert_eq!(builder.push("t", "", "yes"), Err(Error::EmptyId("worker")));
        let message = builder.push("t", "w", "maybe").unwrap_err().to_string();
        assert_eq!(
            message,
            r#"label "maybe" is not one of the given classes "yes", "no""#
        );
        assert_eq!(builder.rows.rows, 0);
        assert!(matches!(builder.build(), Err(Error::NoLabels(_))));
        let empty = AnnotationsBuilder::default().build();
        assert!(matches!(empty, Err(Error::NoLabels(_))));
        assert!(AnnotationsBuilder::default().with_classes(&["a", "a"]).is_err());
    }

    #[test]
    fn given_classes_keep_their_order_and_unused_ones_stay() {
        let mut builder = AnnotationsBuilder::default()
            .with_classes(&["z", "a", "m"])
            .unwrap();
        builder.push("t", "w", "a").unwrap();
        let annotations = builder.build().unwrap();
        assert_eq!(annotations.classes().iter().collect::<Vec<_>>(), ["z", "a", "m"]);
    }

    #[test]
    fn iterators_stop_at_the_first_bad_row_and_build_says_why() {
        let mut builder: AnnotationsBuilder = [("t", "a", "1"), ("", "b", "1"), ("u", "c", "1")]
            .into_iter()
            .collect();
        builder.extend([("v", String::from("a"), "2")]);
        assert_eq!(builder.rows.rows, 1);
        assert_eq!(builder.build().unwrap_err(), Error::EmptyId("task"));
        let table = Annotations::from_triples(REPEATED).unwrap();
        assert_eq!(rows(&table), rows(&build(Duplicates::Last, &REPEATED).unwrap()));
    }

    proptest! {
        #[test]
        fn table_holds_the_rows_that_a_map_would_hold(
            rows in proptest::collection::vec((0u8..6, 0u8..5, 0u8..4), 1..60),
        ) {
            let named: Vec<_> = rows.iter().map(|(t, w, x)| (format!("t{t}"), format!("w{w}"), x.to_string())).collect();
            let borrowed: Vec<_> = named.iter().map(|(t, w, x)| (t.as_str(), w.as_str(), x.as_str())).collect();
            let annotations = build(Duplicates::Last, &borrowed).unwrap();
            let mut naive = std::collections::BTreeMap::new();
            for (task, worker, label) in &named {
                naive.insert((task.clone(), worker.clone()), label.clone());
            }
            let table: std::collections::BTreeMap<_, _> =
                self::rows(&annotations).into_iter().map(|(t, w, x)| ((t, w), x)).collect();
            prop_assert_eq!(&table, &naive);
            prop_assert_eq!(annotations.rows().repeated as usize, named.len() - naive.len());
            let by_worker = annotations.by_worker();
            let transposed: usize = (0..annotations.worker_count()).map(|m| by_worker.labels(m).count()).sum();
            prop_assert_eq!(transposed, naive.len());
            for m in 0..annotations.worker_count() {
                for (n, x) in by_worker.labels(m) {
                    prop_assert!(annotations.labels_of_task(n).any(|label| label == (m, x)));
                }
            }
        }
    }
}
