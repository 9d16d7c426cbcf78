//! The labels in the rows of a table: one for each row, or one for each worker's column.

use rustc_hash::FxHashSet;

use super::annotations::{Columns, ReadOptions};
use super::column_roles::{Role, Wanted, find_columns};
use super::comparisons::{are_comparisons, hold_comparisons};
use crate::error::{Error, ErrorKind, Result};
use crate::exports::ExportRead;
use crate::formats::{Row, RowSink, field};

/// How a table was read, where that was not said: for a word to the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableLayout {
    /// Names of the columns that were read. In a wide table only the task's is one.
    pub columns: Columns,
    /// The workers of a wide table, in the order of its columns; none for a table with a row for each label.
    pub workers: Option<Vec<String>>,
    /// The delimiter, where the first line shows another one than the format's own.
    pub delimiter: Option<char>,
    /// What was found in the export of an annotation tool; none for a table.
    pub export: Option<ExportRead>,
    /// Whether the table was taken for a wide one without being told so.
    pub found_wide: bool,
}

impl TableLayout {
    /// Finds the columns of a table with a row for each label: task, worker, label.
    pub(crate) fn find_long(&mut self, wanted: &Columns, names: &[String]) -> Result<[usize; 3]> {
        if *wanted == Columns::default() && hold_comparisons(names) {
            return Err(are_comparisons());
        }
        let Columns { task, worker, label } = wanted;
        let roles = [(Role::Task, task), (Role::Worker, worker), (Role::Label, label)];
        let found = find_columns(names, &roles.map(|(role, name)| Wanted { role, name }))?;
        let [task, worker, label] = [found[0], found[1], found[2]];
        self.columns = Columns {
            task: names[task].clone(),
            worker: names[worker].clone(),
            label: names[label].clone(),
        };
        Ok([task, worker, label])
    }

    /// Finds the columns of a table with a row for each task and a column for each worker: the task's, which
    /// is the first one unless another is named so, then the workers'.
    fn find_wide(&mut self, wanted: &Columns, names: &[String]) -> Result<Vec<usize>> {
        let role = Role::Task;
        let named = find_columns(
            names,
            &[Wanted {
                role,
                name: &wanted.task,
            }],
        );
        let task = match named {
            Ok(found) => found[0],
            Err(_) if wanted.task == role.name() && !names.is_empty() => 0,
            Err(error) => return Err(error),
        };
        let workers: Vec<usize> = (0..names.len()).filter(|&column| column != task).collect();
        let mut seen = FxHashSet::default();
        for &column in &workers {
            if names[column].is_empty() {
                let nameless = format!("column {} has no name; expected the id of a worker", column + 1);
                return Err(Error::syntax(nameless));
            }
            if !seen.insert(names[column].as_str()) {
                return Err(Error::new(ErrorKind::RepeatedColumn).in_column(&names[column]));
            }
        }
        if workers.is_empty() {
            let alone = "found one column, expected one for the task and one for each worker";
            return Err(Error::syntax(alone));
        }
        self.columns.task = names[task].clone();
        self.workers = Some(workers.iter().map(|&column| names[column].clone()).collect());
        Ok([task].into_iter().chain(workers).collect())
    }
}

/// Takes the labels out of rows, and gives each of them to a function, as task, worker and label; no answer is
/// the empty label. A cell of a wide table without an answer is no label at all, but a task without any keeps
/// its place.
pub(crate) struct LabelCells<'a, F> {
    options: &'a ReadOptions,
    pub(crate) layout: TableLayout,
    take: F,
}

impl<F: FnMut(&str, &str, &str) -> Result<()>> RowSink for LabelCells<'_, F> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        if self.options.wide {
            self.layout.find_wide(&self.options.columns, names)
        } else {
            Ok(self.layout.find_long(&self.options.columns, names)?.into())
        }
    }

    fn note_delimiter(&mut self, delimiter: char) {
        self.layout.delimiter = Some(delimiter);
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let Self {
            options,
            layout,
            take,
        } = self;
        let answer = |text| {
            if options.missing.iter().any(|missing| missing == text) {
                ""
            } else {
                text
            }
        };
        let Columns { task, worker, label } = &layout.columns;
        let n = field(row, 0, task)?;
        let Some(workers) = &layout.workers else {
            let (m, x) = (field(row, 1, worker)?, field(row, 2, label)?);
            return take(n, m, answer(x)).map_err(|error| name_column(error, &layout.columns, label));
        };
        let mut answered = false;
        for (slot, m) in workers.iter().enumerate() {
            let x = answer(field(row, slot + 1, m)?);
            if !x.is_empty() {
                answered = true;
                take(n, m, x).map_err(|error| name_column(error, &layout.columns, m))?;
            }
        }
        if answered {
            Ok(())
        } else {
            take(n, &workers[0], "").map_err(|error| name_column(error, &layout.columns, label))
        }
    }
}

impl<'a, F> LabelCells<'a, F> {
    pub(crate) fn new(options: &'a ReadOptions, take: F) -> Self {
        let layout = TableLayout::default();
        Self {
            options,
            layout,
            take,
        }
    }
}
/// Names the column that an error of the table is about.
fn name_column(error: Error, columns: &Columns, label: &str) -> Error {
    let column = match error.kind() {
        ErrorKind::Data(quorate::Error::EmptyId("task")) => Some(columns.task.as_str()),
        ErrorKind::Data(quorate::Error::EmptyId("worker")) => Some(columns.worker.as_str()),
        ErrorKind::Data(
            quorate::Error::UnknownClass { .. } | quorate::Error::TooMany { what: "labels", .. },
        ) => Some(label),
        _ => None,
    };
    match column {
        Some(column) => error.in_column(column),
        None => error,
    }
}
