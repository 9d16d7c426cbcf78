//! Intervals as one long table: `what, worker, answer, truth, estimate, low, high`.
//!
//! `what` is `prevalence` (of the class `truth`), `accuracy` (of `worker`) or
//! `confusion` (of `worker`: chance of `answer` where `truth` is true); columns that do not apply are empty.

use quorate::annotations::Names;
use quorate::intervals::{Interval, ModelIntervals};

use crate::error::{Error, Result};
use crate::formats::ColumnKind::{Number, OptionalText, Text};
use crate::formats::{Cell, write_rows};
use crate::target::Target;

/// Writes a row for every interval.
pub fn write_intervals(
    target: &Target,
    workers: &Names,
    classes: &Names,
    intervals: &ModelIntervals,
) -> Result<()> {
    let cells = workers.len() * classes.len() * classes.len();
    if intervals.accuracy.len() != workers.len() || intervals.confusion.len() != cells {
        return Err(Error::mismatch(format!(
            "intervals of {} workers do not fit {} workers and {} classes",
            intervals.accuracy.len(),
            workers.len(),
            classes.len()
        )));
    }
    let columns = [
        ("what", Text),
        ("worker", OptionalText),
        ("answer", OptionalText),
        ("truth", OptionalText),
        ("estimate", Number),
        ("low", Number),
        ("high", Number),
    ];
    write_rows(target, columns, |each| {
        let mut row = |what: &'static str, names: [Option<&str>; 3], interval: &Interval| {
            let [worker, answer, truth] = names.map(Cell::from);
            let [estimate, low, high] = [interval.estimate, interval.low, interval.high].map(Cell::from);
            each(&[Cell::Text(what), worker, answer, truth, estimate, low, high])
        };
        for (class, interval) in classes.iter().zip(&intervals.prevalence) {
            row("prevalence", [None, None, Some(class)], interval)?;
        }
        for (worker, interval) in workers.iter().zip(&intervals.accuracy) {
            row("accuracy", [Some(worker), None, None], interval)?;
        }
        let matrices = intervals.confusion.chunks_exact(classes.len() * classes.len());
        for (worker, cells) in workers.iter().zip(matrices) {
            for (cell, interval) in cells.iter().enumerate() {
                let (answer, truth) = (cell / classes.len(), cell % classes.len());
                let names = [Some(worker), Some(classes.get(answer)), Some(classes.get(truth))];
                row("confusion", names, interval)?;
            }
        }
        Ok(())
    })
}
