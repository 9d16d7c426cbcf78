//! The workers as a table: `worker, labels, accuracy, low, high, agreement`, for methods that have one `score`, and,
//! with a model, a column `p:<answer>|<truth>` for every cell of the confusion matrix.

use quorate::Fit;
use quorate::annotations::Names;
use quorate::internal::model::ConsensusSummary;
use quorate::review::WorkerAccuracy;

use super::labels::PROBABILITY_PREFIX;
use crate::error::{Error, Result};
use crate::formats::ColumnKind::{self, Count, Number, Text};
use crate::formats::{Cell, write_rows};
use crate::target::Target;

/// What there is to say about one worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkerRow<'a> {
    /// The worker's id.
    pub worker: &'a str,
    /// Number of labels the worker gave.
    pub labels: u64,
    /// Share of the worker's labels that are right, with its interval.
    pub accuracy: Option<WorkerAccuracy>,
    /// Share of the worker's labels that equal the consensus.
    pub agreement: Option<f64>,
    /// The worker's number in the method's own terms, a weight or a skill.
    pub score: Option<f64>,
    /// Confusion matrix, row-major: row = answer, column = truth.
    pub confusion: Option<&'a [f64]>,
}

impl<'a> WorkerRow<'a> {
    /// What a fit says of these workers.
    pub fn of_fit<C>(workers: &'a Names, fit: &'a Fit<C>, summary: &ConsensusSummary) -> Vec<Self> {
        let accuracies = fit.accuracies(summary);
        let row = |(worker, id): (usize, _)| {
            let given = summary.worker_labels[worker];
            Self {
                worker: id,
                labels: given,
                accuracy: accuracies[worker],
                agreement: (given > 0).then(|| summary.worker_agreed[worker] as f64 / given as f64),
                score: fit.worker_scores.as_ref().map(|scores| scores[worker]),
                confusion: fit.model.as_ref().map(|model| model.confusion(worker)),
            }
        };
        workers.iter().enumerate().map(row).collect()
    }
}

/// Writes one row for each worker. The cells of the confusion matrices are written if any row has one.
pub fn write_workers(target: &Target, classes: &Names, rows: &[WorkerRow<'_>]) -> Result<()> {
    let cells = classes.len() * classes.len();
    if let Some(row) = rows
        .iter()
        .find(|row| row.confusion.is_some_and(|confusion| confusion.len() != cells))
    {
        return Err(Error::mismatch(format!(
            "the confusion matrix of worker {:?} does not fit {} classes",
            row.worker,
            classes.len()
        )));
    }
    let with_scores = rows.iter().any(|row| row.score.is_some());
    let with_model = rows.iter().any(|row| row.confusion.is_some());
    let cells = if with_model { cells } else { 0 };
    let columns = [
        ("worker", Text),
        ("labels", Count),
        ("accuracy", Number),
        ("low", Number),
        ("high", Number),
        ("agreement", Number),
    ];
    let mut columns: Vec<(String, ColumnKind)> = columns.map(|(name, kind)| (name.to_owned(), kind)).into();
    columns.extend(with_scores.then(|| ("score".to_owned(), Number)));
    columns.extend((0..cells).map(|cell| {
        let [answer, truth] = [cell / classes.len(), cell % classes.len()].map(|class| classes.get(class));
        (format!("{PROBABILITY_PREFIX}{answer}|{truth}"), Number)
    }));
    write_rows(target, columns, |each| {
        let mut line = Vec::new();
        rows.iter().try_for_each(|row| {
            line.clear();
            line.extend([Cell::Text(row.worker), Cell::Count(row.labels)]);
            let interval = row.accuracy.and_then(|accuracy| accuracy.interval);
            let accuracy = row.accuracy.map(|accuracy| accuracy.value);
            let (low, high) = interval.unzip();
            line.extend([accuracy, low, high, row.agreement].map(Cell::from));
            line.extend(with_scores.then(|| Cell::from(row.score)));
            match row.confusion {
                Some(confusion) => line.extend(confusion.iter().map(|&p| Cell::from(p))),
                None => line.resize(line.len() + cells, Cell::Missing),
            }
            each(&line)
        })
    })
}
