//! The consensus as a table: `task, label, confidence` and, if asked for, `p:<class>` for every class.

use quorate::annotations::Names;
use quorate::model::Consensus;

use crate::error::Result;
use crate::format::FileFormat;
use crate::labels::{CONFIDENCE_COLUMN, PROBABILITY_PREFIX};
use crate::table::{Cell, ColumnKind, Table, write_table};
use crate::target::Target;

/// Writes the label and the confidence of every task, with the probabilities of all classes if asked for.
pub fn write_consensus(
    target: &Target,
    format: Option<FileFormat>,
    tasks: &Names,
    classes: &Names,
    consensus: &Consensus,
    probabilities: bool,
) -> Result<()> {
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
    };
    write_table(target, format, &table)
}

struct ConsensusRows<'t> {
    tasks: &'t Names,
    classes: &'t Names,
    consensus: &'t Consensus,
    probabilities: bool,
}

impl Table for ConsensusRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        consensus_columns(self.classes, self.probabilities)
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let mut cells = Vec::new();
        for (n, task) in self.tasks.iter().enumerate() {
            cells.clear();
            cells.push(Cell::Text(task));
            cells.push(Cell::Text(self.classes.get(self.consensus.label(n))));
            cells.push(self.consensus.confidence(n).into());
            if self.probabilities {
                cells.extend(self.consensus.row(n).iter().map(|&p| Cell::from(p)));
            }
            each(&cells)?;
        }
        Ok(())
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
