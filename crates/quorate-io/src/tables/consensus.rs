//! The consensus as a table: `task, label, confidence` and, if asked for, `difficulty` and `p:<class>` for
//! every class.

use std::ops::Range;

use quorate::Annotations;
use quorate::annotations::Names;
use quorate::model::Consensus;

use super::labels::{CONFIDENCE_COLUMN, PROBABILITY_PREFIX};
use super::review::join_votes;
use crate::error::{Error, Result};
use crate::formats::{Cell, ColumnKind, FileFormat, PIECE, RowSource, write_table};
use crate::target::Target;

/// The column with the chance that an average worker answers a task wrongly.
const DIFFICULTY_COLUMN: &str = "difficulty";

/// The column with how often each class was named.
const VOTES_COLUMN: &str = "votes";

/// The column with the distance of the label's probability to that of the next class.
const MARGIN_COLUMN: &str = "margin";

/// What is written beside the label and the confidence of a task.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConsensusParts<'a> {
    /// The probabilities of all classes.
    pub probabilities: bool,
    /// How difficult each task is.
    pub difficulty: Option<&'a [f64]>,
    /// The labels: how often each class was named, and the margin of the label over the next class.
    pub votes: Option<&'a Annotations>,
    /// The format, if the name does not tell it.
    pub format: Option<FileFormat>,
}

impl From<bool> for ConsensusParts<'_> {
    /// With the probabilities of all classes, or without.
    fn from(probabilities: bool) -> Self {
        Self {
            probabilities,
            ..Self::default()
        }
    }
}

/// Writes the label and the confidence of every task, and what else is asked for.
pub fn write_consensus<'a>(
    target: &Target,
    tasks: &Names,
    classes: &Names,
    consensus: &Consensus,
    parts: impl Into<ConsensusParts<'a>>,
) -> Result<()> {
    let parts = parts.into();
    let count = tasks.len();
    if parts.votes.is_some_and(|labels| labels.task_count() != count) {
        let problem = format!("labels are needed for each of the {count} tasks");
        return Err(Error::mismatch(problem));
    }
    if parts
        .difficulty
        .is_some_and(|difficulty| difficulty.len() != count)
    {
        let problem = format!("a difficulty is needed for each of the {count} tasks");
        return Err(Error::mismatch(problem));
    }
    if consensus.len() != count || consensus.class_count() != classes.len() {
        return Err(Error::mismatch(format!(
            "a consensus on {} tasks and {} classes does not fit {count} tasks and {} classes",
            consensus.len(),
            consensus.class_count(),
            classes.len()
        )));
    }
    let table = ConsensusRows {
        tasks,
        classes,
        consensus,
        parts,
        rows: 0..count,
    };
    write_table(target, parts.format, &table)
}

struct ConsensusRows<'t> {
    tasks: &'t Names,
    classes: &'t Names,
    consensus: &'t Consensus,
    parts: ConsensusParts<'t>,
    rows: Range<usize>,
}

impl RowSource for ConsensusRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        let mut columns = consensus_columns(self.classes, self.parts.probabilities);
        if self.parts.difficulty.is_some() {
            columns.insert(3, (DIFFICULTY_COLUMN.to_owned(), ColumnKind::Number));
        }
        if self.parts.votes.is_some() {
            columns.insert(3, (MARGIN_COLUMN.to_owned(), ColumnKind::Number));
            columns.insert(3, (VOTES_COLUMN.to_owned(), ColumnKind::Text));
        }
        columns
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        for n in self.rows.clone() {
            let (label, row) = (self.consensus.label(n), self.consensus.row(n));
            let votes = self.parts.votes.map(|labels| describe_votes_of(labels, n));
            let mut cells = Vec::new();
            cells.push(Cell::Text(self.tasks.get(n)));
            cells.push(Cell::Text(self.classes.get(label)));
            cells.push(row[label].into());
            if let Some(votes) = &votes {
                cells.push(Cell::Text(votes));
                cells.push(margin(row, label).into());
            }
            cells.extend(self.parts.difficulty.map(|difficulty| Cell::from(difficulty[n])));
            if self.parts.probabilities {
                cells.extend(row.iter().map(|&p| Cell::from(p)));
            }
            each(&cells)?;
        }
        Ok(())
    }

    fn pieces(&self) -> Vec<Box<dyn RowSource + Send + '_>> {
        let starts = self.rows.clone().step_by(PIECE);
        starts
            .map(|start| -> Box<dyn RowSource + Send + '_> {
                Box::new(Self {
                    rows: start..(start + PIECE).min(self.rows.end),
                    ..*self
                })
            })
            .collect()
    }
}

/// How often each class was named for a task, in the order of the classes.
fn describe_votes_of(labels: &Annotations, task: usize) -> String {
    let mut answers: Vec<usize> = labels.labels_of_task(task).map(|(_, x)| x).collect();
    answers.sort_unstable();
    let runs = answers.chunk_by(|one, other| one == other);
    let votes = runs.map(|run| (labels.classes().get(run[0]), run.len()));
    join_votes(votes)
}

/// How far the probability of the label is above that of the next class.
fn margin(row: &[f64], label: usize) -> f64 {
    let others = row.iter().enumerate().filter(|(class, _)| *class != label);
    row[label] - others.map(|(_, &p)| p).fold(0.0, f64::max)
}

/// The columns of a consensus as a table.
pub(crate) fn consensus_columns(classes: &Names, probabilities: bool) -> Vec<(String, ColumnKind)> {
    let mut columns = vec![
        ("task".to_owned(), ColumnKind::Text),
        ("label".to_owned(), ColumnKind::Text),
        (CONFIDENCE_COLUMN.to_owned(), ColumnKind::Number),
    ];
    if probabilities {
        let names = classes.iter().map(|class| format!("{PROBABILITY_PREFIX}{class}"));
        columns.extend(names.map(|name| (name, ColumnKind::Number)));
    }
    columns
}
