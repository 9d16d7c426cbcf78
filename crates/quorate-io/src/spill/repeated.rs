//! Where a worker labels a task again. Labels on disk have no lines: the input is read once more, for that
//! worker and task alone.

use crate::error::{Error, ErrorKind, Result};
use crate::exports::recognise;
use crate::formats::{Row, RowSink};
use crate::source::{Progress, Source};
use crate::tables::TableLayout;
use crate::tables::annotations::{LabelSink, ReadOptions, read_into};
use crate::tables::label_cells::LabelCells;

/// The error about a repeated label with the row that repeats it, as it would be found in memory; any other
/// error as it is.
pub(super) fn with_row(
    error: Error,
    source: &Source,
    options: &ReadOptions,
    cancelled: &dyn Fn() -> bool,
    progress: Progress<'_>,
) -> Error {
    let ErrorKind::Data(quorate::Error::RepeatedLabel { task, worker }) = error.kind() else {
        return error;
    };
    if source.is_stream() {
        return Error::new(ErrorKind::RepeatedInStream(repeated(task, worker))).in_file(source.name());
    }
    let mut rows = SearchedRows {
        cells: LabelCells::new(options),
        search: Search {
            task,
            worker,
            found: false,
            rows: 0,
            cancelled,
        },
    };
    let read = recognise(source, options)
        .and_then(|recognised| read_into(source, options, recognised, &mut rows, progress));
    match read {
        Err(found) if matches!(found.kind(), ErrorKind::Data(_)) => found.in_file(source.name()),
        // The input is no longer what it was.
        _ => error,
    }
}

fn repeated(task: &str, worker: &str) -> quorate::Error {
    quorate::Error::RepeatedLabel {
        task: task.to_owned(),
        worker: worker.to_owned(),
    }
}

/// Takes labels until the second one of a worker for a task.
struct Search<'a> {
    task: &'a str,
    worker: &'a str,
    found: bool,
    rows: u64,
    cancelled: &'a dyn Fn() -> bool,
}

impl Search<'_> {
    fn take(&mut self, task: &str, worker: &str, label: &str) -> Result<()> {
        self.rows += 1;
        if self.rows.is_multiple_of(1 << 16) && (self.cancelled)() {
            return Err(quorate::Error::Cancelled.into());
        }
        if label.is_empty() || task != self.task || worker != self.worker {
            return Ok(());
        }
        if std::mem::replace(&mut self.found, true) {
            Err(repeated(task, worker).into())
        } else {
            Ok(())
        }
    }
}

struct SearchedRows<'a> {
    cells: LabelCells<'a>,
    search: Search<'a>,
}

impl LabelSink for SearchedRows<'_> {
    fn label(&mut self, task: &str, worker: &str, label: &str) -> Result<()> {
        self.search.take(task, worker, label)
    }

    fn layout(&mut self) -> &mut TableLayout {
        &mut self.cells.layout
    }
}

impl RowSink for SearchedRows<'_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        self.cells.select(names)
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let Self { cells, search } = self;
        cells.each(row, |task, worker, label| search.take(task, worker, label))
    }
}
