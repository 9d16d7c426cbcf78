//! Intervals as one long table: `what, worker, answer, truth, estimate, low, high`.
//!
//! `what` is `error` (of the labels), `prevalence` (of the class `truth`), `accuracy` (of `worker`) or
//! `confusion` (of `worker`: chance of `answer` where `truth` is true); columns that do not apply are empty.

use quorate::annotations::Names;
use quorate::intervals::{Interval, ModelIntervals};

use crate::error::Result;
use crate::formats::{Cell, ColumnKind, FileFormat, RowSource, write_table};
use crate::target::Target;

/// Writes a row for every interval.
pub fn write_intervals(
    target: &Target,
    format: Option<FileFormat>,
    workers: &Names,
    classes: &Names,
    intervals: &ModelIntervals,
) -> Result<()> {
    let cells = workers.len() * classes.len() * classes.len();
    if intervals.accuracy.len() != workers.len() || intervals.confusion.len() != cells {
        return Err(quorate::Error::Mismatch(format!(
            "intervals of {} workers do not fit {} workers and {} classes",
            intervals.accuracy.len(),
            workers.len(),
            classes.len()
        ))
        .into());
    }
    let table = IntervalRows {
        workers,
        classes,
        intervals,
    };
    write_table(target, format, &table)
}

struct IntervalRows<'t> {
    workers: &'t Names,
    classes: &'t Names,
    intervals: &'t ModelIntervals,
}

impl RowSource for IntervalRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        let column = |kind| move |name: &&str| (name.to_string(), kind);
        let texts = ["worker", "answer", "truth"];
        let numbers = ["estimate", "low", "high"];
        let what = [("what".to_owned(), ColumnKind::Text)].into_iter();
        what.chain(texts.iter().map(column(ColumnKind::OptionalText)))
            .chain(numbers.iter().map(column(ColumnKind::Number)))
            .collect()
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let (workers, classes) = (self.workers, self.classes);
        let mut row = |what: &'static str, names: [Option<&str>; 3], interval: &Interval| {
            let [worker, answer, truth] = names.map(|name| name.map_or(Cell::Missing, Cell::Text));
            let numbers = [interval.estimate, interval.low, interval.high].map(Cell::from);
            let [estimate, low, high] = numbers;
            each(&[Cell::Text(what), worker, answer, truth, estimate, low, high])
        };
        row("error", [None; 3], &self.intervals.error)?;
        for (class, interval) in classes.iter().zip(&self.intervals.prevalence) {
            row("prevalence", [None, None, Some(class)], interval)?;
        }
        for (worker, interval) in workers.iter().zip(&self.intervals.accuracy) {
            row("accuracy", [Some(worker), None, None], interval)?;
        }
        let block = classes.len() * classes.len();
        for (worker, cells) in workers.iter().zip(self.intervals.confusion.chunks_exact(block)) {
            for (cell, interval) in cells.iter().enumerate() {
                let (answer, truth) = (cell / classes.len(), cell % classes.len());
                let names = [Some(worker), Some(classes.get(answer)), Some(classes.get(truth))];
                row("confusion", names, interval)?;
            }
        }
        Ok(())
    }
}
