//! The consensus as a table: `task, label, confidence` and, if asked for, `difficulty` and `p:<class>` for
//! every class.

use std::ops::Range;

use quorate::annotations::Names;
use quorate::model::Consensus;

use super::labels::{CONFIDENCE_COLUMN, PROBABILITY_PREFIX};
use crate::error::Result;
use crate::formats::{Cell, ColumnKind, FileFormat, PIECE, RowSource, write_table};
use crate::target::Target;

/// The column with the chance that an average worker answers a task wrongly.
const DIFFICULTY_COLUMN: &str = "difficulty";

/// Writes the label and the confidence of every task, with the probabilities of all classes if asked for.
pub fn write_consensus(
    target: &Target,
    format: Option<FileFormat>,
    tasks: &Names,
    classes: &Names,
    consensus: &Consensus,
    probabilities: bool,
) -> Result<()> {
    write_consensus_with_difficulty(target, format, tasks, classes, consensus, probabilities, None)
}

/// [`write_consensus`] with the difficulty of every task, if there is one.
pub fn write_consensus_with_difficulty(
    target: &Target,
    format: Option<FileFormat>,
    tasks: &Names,
    classes: &Names,
    consensus: &Consensus,
    probabilities: bool,
    difficulty: Option<&[f64]>,
) -> Result<()> {
    if difficulty.is_some_and(|difficulty| difficulty.len() != tasks.len()) {
        let problem = format!("a difficulty is needed for each of the {} tasks", tasks.len());
        return Err(quorate::Error::Mismatch(problem).into());
    }
    if consensus.len() != tasks.len() || consensus.class_count() != classes.len() {
        return Err(quorate::Error::Mismatch(format!(
            "a consensus on {} tasks and {} classes does not fit {} tasks and {} classes",
            consensus.len(),
            consensus.class_count(),
            tasks.len(),
            classes.len()
        ))
        .into());
    }
    let table = ConsensusRows {
        tasks,
        classes,
        consensus,
        probabilities,
        difficulty,
        rows: 0..tasks.len(),
    };
    write_table(target, format, &table)
}

struct ConsensusRows<'t> {
    tasks: &'t Names,
    classes: &'t Names,
    consensus: &'t Consensus,
    probabilities: bool,
    difficulty: Option<&'t [f64]>,
    rows: Range<usize>,
}

impl RowSource for ConsensusRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        let mut columns = consensus_columns(self.classes, self.probabilities);
        if self.difficulty.is_some() {
            columns.insert(3, (DIFFICULTY_COLUMN.to_owned(), ColumnKind::Number));
        }
        columns
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let mut cells = Vec::new();
        for n in self.rows.clone() {
            let (label, row) = (self.consensus.label(n), self.consensus.row(n));
            cells.clear();
            cells.push(Cell::Text(self.tasks.get(n)));
            cells.push(Cell::Text(self.classes.get(label)));
            cells.push(row[label].into());
            cells.extend(self.difficulty.map(|difficulty| Cell::from(difficulty[n])));
            if self.probabilities {
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
