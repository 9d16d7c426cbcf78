//! The workers as a table: `worker, labels, accuracy, agreement`, for methods that have one `score`, and,
//! with a model, a column `p:<answer>|<truth>` for every cell of the confusion matrix.

use quorate::Fit;
use quorate::annotations::Names;
use quorate::model::ConsensusSummary;

use super::labels::PROBABILITY_PREFIX;
use crate::error::Result;
use crate::formats::{Cell, ColumnKind, FileFormat, RowSource, write_table};
use crate::target::Target;

/// What there is to say about one worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkerRow<'a> {
    /// The worker's id.
    pub worker: &'a str,
    /// Number of labels the worker gave.
    pub labels: u64,
    /// Probability that the worker is right, by the model.
    pub accuracy: Option<f64>,
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
        let row = |(worker, id)| {
            let given = summary.worker_labels[worker];
            Self {
                worker: id,
                labels: given,
                accuracy: fit.model.as_ref().map(|model| model.accuracy(worker)),
                agreement: (given > 0).then(|| summary.worker_agreed[worker] as f64 / given as f64),
                score: fit.worker_scores.as_ref().map(|scores| scores[worker]),
                confusion: fit.model.as_ref().map(|model| model.confusion(worker)),
            }
        };
        workers.iter().enumerate().map(row).collect()
    }
}

/// Writes one row for each worker. The cells of the confusion matrices are written if any row has one.
pub fn write_workers(
    target: &Target,
    format: Option<FileFormat>,
    classes: &Names,
    rows: &[WorkerRow<'_>],
) -> Result<()> {
    let cells = classes.len() * classes.len();
    if let Some(row) = rows
        .iter()
        .find(|row| row.confusion.is_some_and(|confusion| confusion.len() != cells))
    {
        return Err(quorate::Error::Mismatch(format!(
            "the confusion matrix of worker {:?} does not fit {} classes",
            row.worker,
            classes.len()
        ))
        .into());
    }
    let with_model = rows.iter().any(|row| row.confusion.is_some());
    let table = WorkerRows {
        classes,
        rows,
        scores: rows.iter().any(|row| row.score.is_some()),
        cells: if with_model { cells } else { 0 },
    };
    write_table(target, format, &table)
}

struct WorkerRows<'t> {
    classes: &'t Names,
    rows: &'t [WorkerRow<'t>],
    /// Whether there is a column of scores.
    scores: bool,
    /// Confusion cells to write: K * K or none.
    cells: usize,
}

impl RowSource for WorkerRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        let mut columns = vec![
            ("worker".to_owned(), ColumnKind::Text),
            ("labels".to_owned(), ColumnKind::Count),
            ("accuracy".to_owned(), ColumnKind::Number),
            ("agreement".to_owned(), ColumnKind::Number),
        ];
        if self.scores {
            columns.push(("score".to_owned(), ColumnKind::Number));
        }
        columns.extend((0..self.cells).map(|cell| {
            let (answer, truth) = (cell / self.classes.len(), cell % self.classes.len());
            let (answer, truth) = (self.classes.get(answer), self.classes.get(truth));
            (
                format!("{PROBABILITY_PREFIX}{answer}|{truth}"),
                ColumnKind::Number,
            )
        }));
        columns
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::from);
        let mut cells = Vec::new();
        for row in self.rows {
            cells.clear();
            cells.push(Cell::Text(row.worker));
            cells.push(Cell::Count(row.labels));
            cells.push(number(row.accuracy));
            cells.push(number(row.agreement));
            if self.scores {
                cells.push(number(row.score));
            }
            match row.confusion {
                Some(confusion) => cells.extend(confusion.iter().map(|&p| Cell::from(p))),
                None => cells.resize(cells.len() + self.cells, Cell::Missing),
            }
            each(&cells)?;
        }
        Ok(())
    }
}
