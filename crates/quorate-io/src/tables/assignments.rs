//! Who should label what: `task, worker`, with what each label gains and costs where it is known.

use crate::error::{Error, Result};
use crate::formats::{
    Cell, ColumnKind, FileFormat, Row, RowSink, RowSource, field, find_column, scan, write_table,
};
use crate::source::Source;
use crate::target::Target;

/// One label to collect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssignmentRow<'a> {
    /// The task's id.
    pub task: &'a str,
    /// The worker's id.
    pub worker: &'a str,
    /// Expected gain in accuracy of the task.
    pub gain: Option<f64>,
    /// Cost of the label.
    pub cost: Option<f64>,
    /// The task's confidence now.
    pub confidence: Option<f64>,
}

/// Writes one row for each label to collect. Columns that no row has a value for are left out.
pub fn write_assignments(
    target: &Target,
    format: Option<FileFormat>,
    rows: &[AssignmentRow<'_>],
) -> Result<()> {
    let with_numbers = rows.is_empty() || rows.iter().any(|row| row.gain.is_some());
    write_table(target, format, &AssignmentRows { rows, with_numbers })
}

struct AssignmentRows<'t> {
    rows: &'t [AssignmentRow<'t>],
    with_numbers: bool,
}

impl RowSource for AssignmentRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        let texts = ["task", "worker"].map(|name| (name.to_owned(), ColumnKind::Text));
        let numbers = ["gain", "cost", "confidence"].map(|name| (name.to_owned(), ColumnKind::Number));
        let numbers = numbers.into_iter().filter(|_| self.with_numbers);
        texts.into_iter().chain(numbers).collect()
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::from);
        for row in self.rows {
            let cells = [
                Cell::Text(row.task),
                Cell::Text(row.worker),
                number(row.gain),
                number(row.cost),
                number(row.confidence),
            ];
            each(if self.with_numbers { &cells } else { &cells[..2] })?;
        }
        Ok(())
    }
}

/// Reads pairs of task and worker, in the order of the file.
pub fn read_assignments(source: &Source, format: Option<FileFormat>) -> Result<Vec<(String, String)>> {
    let mut sink = PairSink { pairs: Vec::new() };
    scan(source, format, &mut sink, &mut |_, _| {})?;
    Ok(sink.pairs)
}

struct PairSink {
    pairs: Vec<(String, String)>,
}

impl RowSink for PairSink {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        ["task", "worker"]
            .iter()
            .map(|name| find_column(names, name, name))
            .collect()
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let (task, worker) = (field(row, 0, "task")?, field(row, 1, "worker")?);
        for (id, what) in [(task, "task"), (worker, "worker")] {
            if id.is_empty() {
                return Err(Error::from(quorate::Error::EmptyId(what)).in_column(what));
            }
        }
        self.pairs.push((task.to_owned(), worker.to_owned()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.csv");
        let row = AssignmentRow {
            task: "t1",
            worker: "ann",
            gain: Some(0.25),
            cost: Some(1.0),
            confidence: Some(0.5),
        };
        write_assignments(&Target::from(path.clone()), None, &[row]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().next(), Some("task,worker,gain,cost,confidence"));
        let pairs = read_assignments(&Source::from(path), None).unwrap();
        assert_eq!(pairs, [("t1".to_owned(), "ann".to_owned())]);
    }
}
