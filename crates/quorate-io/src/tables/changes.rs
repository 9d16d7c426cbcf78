//! Tasks whose label is not that of majority vote: `task, majority, votes, label, confidence, tipped_by`.

use quorate::Annotations;
use quorate::annotations::Names;
use quorate::model::{Consensus, DawidSkene, explain, vote_fractions};

use crate::error::Result;
use crate::formats::ColumnKind::{self, Number, Text};
use crate::formats::{Cell, write_rows};
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

/// Workers named for one task.
const NAMED: usize = 3;

/// Smallest factor worth naming.
const TELLING: f64 = 1.05;

impl<'a> ChangeRow<'a> {
    /// The tasks whose label is not that of majority vote, in the order of the tasks.
    pub fn of_fit(
        annotations: &'a Annotations,
        consensus: &Consensus,
        model: Option<&DawidSkene>,
    ) -> Vec<Self> {
        let votes = vote_fractions(annotations);
        let changed = (0..votes.len()).filter(|&task| votes.label(task) != consensus.label(task));
        let row = |task: usize| {
            let (label, majority) = (consensus.label(task), votes.label(task));
            let given = annotations.task_slices(task);
            Self {
                task: annotations.tasks().get(task),
                majority: annotations.classes().get(majority),
                votes: Self::describe_votes(given.1, annotations.classes()),
                label: annotations.classes().get(label),
                confidence: consensus.confidence(task),
                tipped_by: Self::name_tipping(given, model, (label, majority), annotations.workers()),
            }
        };
        changed.map(row).collect()
    }

    /// The votes of a task in words: `class:number` pairs.
    pub fn describe_votes(answers: &[u16], classes: &Names) -> String {
        let mut counts = vec![0; classes.len()];
        answers
            .iter()
            .for_each(|&answer| counts[usize::from(answer)] += 1);
        let given = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let parts: Vec<String> = given
            .map(|(class, count)| format!("{}:{count}", classes.get(class)))
            .collect();
        parts.join(" ")
    }

    /// The workers of a task whose answers favour the label most, with the factor by which each multiplies
    /// its odds against the majority's label.
    pub fn name_tipping(
        labels: (&[u32], &[u16]),
        model: Option<&DawidSkene>,
        (label, majority): (usize, usize),
        workers: &Names,
    ) -> String {
        let Some(model) = model else {
            return String::new();
        };
        let evidence = explain(labels, model, label, majority);
        let telling = evidence
            .iter()
            .filter(|answer| answer.weight.exp() >= TELLING)
            .take(NAMED);
        let parts: Vec<String> = telling
            .map(|answer| {
                let factor = answer.weight.exp();
                let shown = if factor < 1000.0 {
                    format!("{factor:.1}")
                } else {
                    ">1000".to_owned()
                };
                format!("{} (x{shown})", workers.get(answer.worker))
            })
            .collect();
        parts.join(", ")
    }

    /// The row as cells.
    pub(crate) fn cells(&self) -> [Cell<'_>; 6] {
        [
            Cell::Text(self.task),
            Cell::Text(self.majority),
            Cell::Text(&self.votes),
            Cell::Text(self.label),
            Cell::from(self.confidence),
            Cell::Text(&self.tipped_by),
        ]
    }
}

/// The columns of a table of changes.
pub(crate) const CHANGE_COLUMNS: [(&str, ColumnKind); 6] = [
    ("task", Text),
    ("majority", Text),
    ("votes", Text),
    ("label", Text),
    ("confidence", Number),
    ("tipped_by", Text),
];

/// Writes one row for each change.
pub fn write_changes(target: &Target, rows: &[ChangeRow<'_>]) -> Result<()> {
    write_rows(target, CHANGE_COLUMNS, |each| {
        rows.iter().try_for_each(|row| each(&row.cells()))
    })
}
