//! Verdicts on workers as a table, the worst first: `rank, worker, labels, compared, accuracy, low, high,
//! informativeness, kind, same_errors_as, advice`.

use quorate::annotations::Names;
use quorate::diagnose::WorkerVerdict;

use crate::error::Result;
use crate::formats::ColumnKind::{Count, Number, Text};
use crate::formats::{Cell, write_rows};
use crate::target::Target;

/// Writes one row for each worker. `low` and `high` are the ends of the interval of the accuracy.
pub fn write_verdicts(target: &Target, workers: &Names, verdicts: &[WorkerVerdict]) -> Result<()> {
    let columns = [
        ("rank", Count),
        ("worker", Text),
        ("labels", Count),
        ("compared", Count),
        ("accuracy", Number),
        ("low", Number),
        ("high", Number),
        ("informativeness", Number),
        ("kind", Text),
        ("same_errors_as", Text),
        ("advice", Text),
    ];
    write_rows(target, columns, |each| {
        verdicts.iter().try_for_each(|verdict| {
            let same = verdict.same_errors_as.iter().map(|&worker| workers.get(worker));
            let same: Vec<&str> = same.collect();
            each(&[
                Cell::Count(verdict.rank as u64),
                Cell::Text(workers.get(verdict.worker)),
                Cell::Count(verdict.labels as u64),
                Cell::Count(verdict.compared as u64),
                verdict.accuracy.into(),
                verdict.interval.map(|interval| interval.0).into(),
                verdict.interval.map(|interval| interval.1).into(),
                verdict.informativeness.into(),
                Cell::Text(verdict.kind.name()),
                Cell::Text(&same.join(" ")),
                Cell::Text(verdict.advice()),
            ])
        })
    })
}
