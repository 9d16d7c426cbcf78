//! What a panel said: every answer, repeated ones included, and every failure.
//!
//! A judge can be asked about an item several times. An answer that is missing (an abstention, a reply that
//! could not be parsed) is a failure: it says nothing about the item, and it stays in the count of what the
//! judge was asked.

use crate::annotations::{Annotations, AnnotationsBuilder, Duplicates, check_count};
use crate::error::{Error, Result};

/// Most judges of a panel: what is learnt about every two of them grows with the square.
pub const MAX_JUDGES: usize = 50;

/// Most classes of a panel.
pub const MAX_CLASSES: usize = 1000;

/// The answers of a panel of judges; items are tasks, judges are workers.
#[derive(Debug, Clone)]
pub struct Panel {
    annotations: Annotations,
    failures: Vec<(u32, u32)>,
}

impl Panel {
    /// From a table in which repeated answers were kept, and the (task, worker) codes of the failures.
    pub fn new(annotations: Annotations, failures: Vec<(u32, u32)>) -> Result<Self> {
        let (tasks, judges) = (annotations.task_count(), annotations.worker_count());
        let known = |&(task, judge): &(u32, u32)| (task as usize) < tasks && (judge as usize) < judges;
        if !failures.iter().all(known) {
            return Err(Error::Mismatch(format!(
                "a failure does not fit {tasks} items and {judges} judges"
            )));
        }
        if judges > MAX_JUDGES {
            let reason = format!(
                "found {judges} judges, and a panel has at most {MAX_JUDGES}; aggregate the labels of a crowd instead"
            );
            let method = "judges";
            return Err(Error::NotApplicable { method, reason });
        }
        let hint = "verdicts must be classes; is the label column the right one?";
        check_count("verdicts", annotations.class_count(), MAX_CLASSES, hint)?;
        Ok(Self {
            annotations,
            failures,
        })
    }

    /// From (item, judge, answer) rows; an empty answer is a failure.
    ///
    /// ```
    /// use quorate::judges::Panel;
    ///
    /// let panel = Panel::from_rows([("q1", "a", "pass"), ("q1", "b", ""), ("q1", "a", "fail")])?;
    /// assert_eq!((panel.annotations().label_count(), panel.failures().len()), (2, 1));
    /// # Ok::<(), quorate::Error>(())
    /// ```
    pub fn from_rows<T: AsRef<str>, W: AsRef<str>, L: AsRef<str>>(
        rows: impl IntoIterator<Item = (T, W, L)>,
    ) -> Result<Self> {
        let mut builder = PanelBuilder::default();
        for (item, judge, answer) in rows {
            builder.push(item.as_ref(), judge.as_ref(), answer.as_ref())?;
        }
        builder.build()
    }

    /// The answers.
    pub fn annotations(&self) -> &Annotations {
        &self.annotations
    }

    /// The (task, worker) codes of every failure.
    pub fn failures(&self) -> &[(u32, u32)] {
        &self.failures
    }

    /// The same panel with its table changed, all tasks and workers in their places.
    pub fn map<E: From<Error>>(
        self,
        change: impl FnOnce(Annotations) -> Result<Annotations, E>,
    ) -> Result<Self, E> {
        Ok(Self::new(change(self.annotations)?, self.failures)?)
    }
}

/// Collects rows and turns them into a [`Panel`].
#[derive(Debug, Clone)]
pub struct PanelBuilder {
    answers: AnnotationsBuilder,
    failures: Vec<(String, String)>,
}

impl Default for PanelBuilder {
    fn default() -> Self {
        Self {
            answers: AnnotationsBuilder::new(Duplicates::Keep),
            failures: Vec::new(),
        }
    }
}

impl PanelBuilder {
    /// Allows these classes only, in this order.
    pub fn with_classes<S: AsRef<str>>(mut self, classes: &[S]) -> Result<Self> {
        self.answers = self.answers.with_classes(classes)?;
        Ok(self)
    }

    /// Adds one row; an empty answer is a failure.
    pub fn push(&mut self, item: &str, judge: &str, answer: &str) -> Result<()> {
        self.answers.push(item, judge, answer)?;
        if answer.is_empty() {
            self.failures.push((item.to_owned(), judge.to_owned()));
        }
        Ok(())
    }

    /// The panel.
    pub fn build(self) -> Result<Panel> {
        let annotations = self.answers.build()?;
        let code = |(item, judge): &(String, String)| {
            let (tasks, workers) = (annotations.tasks(), annotations.workers());
            Some((tasks.find(item)?, workers.find(judge)?))
        };
        let failures = self.failures.iter().filter_map(code).collect();
        Panel::new(annotations, failures)
    }
}
