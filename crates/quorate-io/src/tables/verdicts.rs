//! Verdicts on workers as a table, the worst first: `rank, worker, labels, compared, accuracy, low, high,
//! informativeness, kind, same_errors_as, advice`.

use quorate::annotations::Names;
use quorate::diagnose::WorkerVerdict;

use crate::error::Result;
use crate::formats::{Cell, ColumnKind, FileFormat, RowSource, write_table};
use crate::target::Target;

/// Writes one row for each worker. `low` and `high` are the ends of the 95 % interval of the accuracy.
pub fn write_verdicts(
    target: &Target,
    format: Option<FileFormat>,
    workers: &Names,
    verdicts: &[WorkerVerdict],
) -> Result<()> {
    write_table(target, format, &VerdictRows { workers, verdicts })
}

struct VerdictRows<'t> {
    workers: &'t Names,
    verdicts: &'t [WorkerVerdict],
}

impl RowSource for VerdictRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        let columns = [
            ("rank", ColumnKind::Count),
            ("worker", ColumnKind::Text),
            ("labels", ColumnKind::Count),
            ("compared", ColumnKind::Count),
            ("accuracy", ColumnKind::Number),
            ("low", ColumnKind::Number),
            ("high", ColumnKind::Number),
            ("informativeness", ColumnKind::Number),
            ("kind", ColumnKind::Text),
            ("same_errors_as", ColumnKind::Text),
            ("advice", ColumnKind::Text),
        ];
        columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec()
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::from);
        for verdict in self.verdicts {
            let same: Vec<&str> = verdict
                .same_errors_as
                .iter()
                .map(|&worker| self.workers.get(worker))
                .collect();
            let same = same.join(" ");
            each(&[
                Cell::Count(verdict.rank as u64),
                Cell::Text(self.workers.get(verdict.worker)),
                Cell::Count(verdict.labels as u64),
                Cell::Count(verdict.compared as u64),
                number(verdict.accuracy),
                number(verdict.interval.map(|interval| interval.0)),
                number(verdict.interval.map(|interval| interval.1)),
                number(verdict.informativeness),
                Cell::Text(verdict.kind.name()),
                Cell::Text(&same),
                Cell::Text(verdict.kind.advice()),
            ])?;
        }
        Ok(())
    }
}
