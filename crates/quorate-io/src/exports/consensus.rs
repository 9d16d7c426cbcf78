//! The consensus on its way back to the tool that the answers are from.

use quorate::annotations::{ClassOrder, Names};

use crate::tables::TaskLabels;

/// The name under which tools show the consensus.
pub(crate) const AGENT: &str = "quorate";

/// The label of every task, with its confidence.
pub(crate) struct Consensus<'a> {
    labels: &'a TaskLabels,
    /// The question that it answers.
    pub question: &'a str,
    /// The classes in natural order.
    classes: Names,
}

impl<'a> Consensus<'a> {
    pub(crate) fn new(labels: &'a TaskLabels, question: &'a str) -> Self {
        let (classes, _) = ClassOrder::Natural.arrange(&labels.classes);
        Self {
            labels,
            question,
            classes,
        }
    }

    /// The label of a task, and how sure it is, to six decimals.
    pub(crate) fn of(&self, task: &str) -> Option<(&'a str, f64)> {
        let place = self.labels.tasks.find(task)? as usize;
        let label = self.labels.classes.get(self.labels.labels[place]);
        let confidence = self.labels.confidence.as_ref().map_or(1.0, |all| all[place]);
        Some((label, (confidence * 1e6).round() / 1e6))
    }

    /// The number of a class, in natural order.
    pub(crate) fn class_number(&self, label: &str) -> u32 {
        self.classes.find(label).unwrap_or_default()
    }
}
