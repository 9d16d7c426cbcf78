//! The consensus on its way back to the tool that the answers are from.

use std::io::{Read, Write};

use quorate::annotations::{ClassOrder, Names};

use super::json::each;
use super::labelled::JsonList;
use crate::error::Result;
use crate::formats::json_texts::Shape;
use crate::tables::TaskLabels;

/// The name under which tools show the consensus.
pub(crate) const AGENT: &str = "quorate";

/// The label of every task, with its confidence.
pub(crate) struct WrittenConsensus<'a> {
    labels: &'a TaskLabels,
    /// The question that it answers.
    pub question: &'a str,
    /// The classes in natural order.
    classes: Names,
}

impl<'a> WrittenConsensus<'a> {
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

/// Writes a list with what `element` makes of each element of the input, if anything; it tells whether the
/// element has a consensus. Returns how many have none.
pub(crate) fn rewrite(
    input: impl Read,
    shape: Option<Shape>,
    output: &mut dyn Write,
    as_array: bool,
    mut element: impl FnMut(&str, &mut Vec<u8>) -> Result<bool>,
) -> Result<u64> {
    let (mut list, mut without) = (JsonList::new(output, as_array)?, 0);
    each(input, shape, |text| {
        let mut json = Vec::new();
        without += u64::from(!element(text, &mut json)?);
        if json.is_empty() { Ok(()) } else { list.push(&json) }
    })?;
    list.end()?;
    Ok(without)
}
