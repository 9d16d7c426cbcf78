//! Tasks whose label is not that of majority vote: `task, majority, votes, label, confidence, tipped_by`.

use crate::error::Result;
use crate::formats::{Cell, ColumnKind, FileFormat, RowSource, write_table};
use crate::target::Target;

/// A task whose label is not that of majority vote.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeRow<'a> {
    /// The task's id.
    pub task: &'a str,
    /// Its label by votes.
    pub majority: &'a str,
    /// The votes, in words.
    pub votes: String,
    /// Its label.
    pub label: &'a str,
    /// Probability of the label.
    pub confidence: f64,
    /// The workers whose answers favour the label most, in words.
    pub tipped_by: String,
}

/// Writes one row for each change.
pub fn write_changes(target: &Target, format: Option<FileFormat>, rows: &[ChangeRow<'_>]) -> Result<()> {
    write_table(target, format, &ChangeRows(rows))
}

struct ChangeRows<'t>(&'t [ChangeRow<'t>]);

impl RowSource for ChangeRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        let kind = |name| match name {
            "confidence" => ColumnKind::Number,
            _ => ColumnKind::Text,
        };
        ["task", "majority", "votes", "label", "confidence", "tipped_by"]
            .map(|name| (name.to_owned(), kind(name)))
            .into()
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        self.0.iter().try_for_each(|row| {
            each(&[
                Cell::Text(row.task),
                Cell::Text(row.majority),
                Cell::Text(&row.votes),
                Cell::Text(row.label),
                Cell::from(row.confidence),
                Cell::Text(&row.tipped_by),
            ])
        })
    }
}
