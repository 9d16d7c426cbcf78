//! Tables with one label for each task: truths, and predictions with their confidence.
//!
//! Columns `task, label`; a prediction may add `confidence` and, for every class, `p:<class>`.

use quorate::Annotations;
use quorate::annotations::Names;
use quorate::internal::run::Truths;

use super::annotations::{Columns, default_missing};
use super::column_roles::{Role, Wanted, find_columns};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::formats::{Cell, ColumnKind, Row, RowSink, find_column, scan, write_rows};
use crate::source::Source;
use crate::target::Target;

/// Column of the probability of the label.
pub const CONFIDENCE_COLUMN: &str = "confidence";

/// What the name of a class's probability column starts with.
pub const PROBABILITY_PREFIX: &str = "p:";

/// How far probabilities may be from summing to 1: files are often rounded to two decimals.
const SUM_TOLERANCE: f64 = 0.05;

/// How far a probability may lie outside 0 to 1.
const RANGE_TOLERANCE: f64 = 1e-6;

/// How to read a table of labels.
#[derive(Debug, Clone, Default)]
pub struct LabelOptions {
    /// Names of the columns; that of a worker is not looked for.
    pub columns: Columns,
    /// Names of the columns of the annotations that these labels are about: taken where they are here, too,
    /// and nothing else is said.
    pub like: Option<Columns>,
}

/// One label for each task, with probabilities where the file has them.
#[derive(Debug, Clone, Default)]
pub struct TaskLabels {
    /// The tasks, in order of first appearance.
    pub tasks: Names,
    /// The classes: those of the probability columns if there are any, else in order of first appearance.
    pub classes: Names,
    /// Class code of each task's label.
    pub labels: Vec<usize>,
    /// Probability of each task's label, if there is such a column.
    pub confidence: Option<Vec<f64>>,
    /// Probabilities `[task][class]`, as written, if there are such columns.
    pub probabilities: Option<Vec<f64>>,
    /// Names of the columns that were read; there is none of a worker.
    pub columns: Columns,
    /// Rows that repeat an earlier row's task and label: the earlier one counts.
    pub repeated: u64,
    /// Rows without a label: not used.
    pub unlabelled: u64,
}

impl TaskLabels {
    /// The labels as known truths.
    pub fn truths(&self) -> Truths<'_> {
        Truths {
            tasks: &self.tasks,
            classes: &self.classes,
            labels: &self.labels,
        }
    }

    /// The label of a task, if the file has one.
    pub fn label(&self, task: &str) -> Option<&str> {
        let task = self.tasks.find(task)? as usize;
        Some(self.classes.get(self.labels[task]))
    }

    /// The label of every task of a table as a code of its classes; a label that nobody ever answered there
    /// is one code more, so that it counts as an error.
    pub fn codes_in(&self, annotations: &Annotations) -> Vec<Option<usize>> {
        let foreign = annotations.class_count();
        let code = |class: &str| {
            annotations
                .classes()
                .find(class)
                .map_or(foreign, |code| code as usize)
        };
        annotations
            .tasks()
            .iter()
            .map(|task| self.label(task).map(code))
            .collect()
    }
}

/// Reads a table of labels. A task with two different labels is an error.
pub fn read_labels(source: &Source, options: &LabelOptions) -> Result<TaskLabels> {
    let mut sink = LabelSink {
        options,
        missing: default_missing(),
        found: TaskLabels::default(),
        positions: Vec::new(),
        row: Vec::new(),
    };
    scan(source, None, &mut sink, &mut |_, _| {})?;
    if sink.found.tasks.is_empty() {
        let words = match sink.found.unlabelled {
            0 => "the input has no rows; expected one row for each task with a task and a label".into(),
            count => format!("all {count} rows have an empty label"),
        };
        return Err(Error::from(quorate::Error::NoLabels(words)).in_file(source.name()));
    }
    Ok(sink.found)
}

/// Reads what is known of the tasks of a table, as [`TaskLabels::codes_in`] has it.
pub fn read_truth(source: &Source, annotations: &Annotations) -> Result<Vec<Option<usize>>> {
    Ok(read_labels(source, &LabelOptions::default())?.codes_in(annotations))
}

struct LabelSink<'a> {
    options: &'a LabelOptions,
    missing: Vec<String>,
    found: TaskLabels,
    positions: Vec<Position>,
    row: Vec<f64>,
}

impl RowSink for LabelSink<'_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        let [task, label] = self.wanted(names);
        let roles = [(Role::Task, &task), (Role::KnownLabel, &label)];
        let mut chosen = find_columns(names, &roles.map(|(role, name)| Wanted { role, name }))?;
        self.found.columns.task = names[chosen[0]].clone();
        self.found.columns.label = names[chosen[1]].clone();
        if names.iter().any(|name| name == CONFIDENCE_COLUMN) {
            chosen.push(find_column(names, CONFIDENCE_COLUMN, "confidence")?);
            self.found.confidence = Some(Vec::new());
        }
        for (column, name) in names.iter().enumerate() {
            if let Some(class) = name.strip_prefix(PROBABILITY_PREFIX) {
                let before = self.found.classes.len();
                self.found.classes.intern(class);
                if self.found.classes.len() == before {
                    return Err(Error::new(ErrorKind::RepeatedColumn).in_column(name));
                }
                chosen.push(column);
                self.found.probabilities.get_or_insert_default();
            }
        }
        Ok(chosen)
    }

    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        let (n, x) = (row.field(0)?, row.field(1)?);
        if n.is_empty() {
            return Err(Error::from(quorate::Error::EmptyId("task")).in_column(&row.names[0]));
        }
        if x.is_empty() || self.missing.iter().any(|missing| missing == x) {
            self.found.unlabelled += 1;
            return Ok(());
        }
        if let Some(earlier) = self.found.tasks.find(n) {
            return self.repeat(earlier as usize, x, &row.names[1]);
        }
        let code = match self.found.classes.find(x) {
            Some(code) => code,
            None if self.found.probabilities.is_none() => self.found.classes.intern(x),
            None => return Err(Error::unknown_class(x, &self.found.classes).in_column(&row.names[1])),
        };
        self.found.tasks.intern(n);
        self.found.labels.push(code as usize);
        self.positions.push(row.position);
        let mut first = 2;
        if let Some(confidence) = &mut self.found.confidence {
            confidence.push(probability(row, first)?);
            first += 1;
        }
        if let Some(probabilities) = &mut self.found.probabilities {
            self.row.clear();
            for slot in first..row.names.len() {
                self.row.push(probability(row, slot)?);
            }
            let sum: f64 = self.row.iter().sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                let found = format!("probabilities that sum to {sum}");
                return Err(Error::number(&found, "a sum of 1 over the columns p:<class>"));
            }
            probabilities.extend_from_slice(&self.row);
        }
        Ok(())
    }
}

impl LabelSink<'_> {
    /// The names to look for: those given, else those of the annotations where they are here.
    fn wanted(&self, names: &[String]) -> [String; 2] {
        let usual = Columns::default();
        let choose = |given: &String, usual: &String, like: Option<&String>| {
            let like = like.filter(|like| given == usual && names.contains(like));
            like.unwrap_or(given).clone()
        };
        let (given, like) = (&self.options.columns, self.options.like.as_ref());
        [
            choose(&given.task, &usual.task, like.map(|like| &like.task)),
            choose(&given.label, &usual.label, like.map(|like| &like.label)),
        ]
    }

    fn repeat(&mut self, earlier: usize, label: &str, column: &str) -> Result<()> {
        let first = self.found.classes.get(self.found.labels[earlier]);
        if first != label {
            let conflict = ErrorKind::Conflict {
                task: self.found.tasks.get(earlier).to_owned(),
                first: first.to_owned(),
                second: label.to_owned(),
                at: self.positions[earlier],
            };
            return Err(Error::new(conflict).in_column(column));
        }
        self.found.repeated += 1;
        Ok(())
    }
}

/// The value of a slot, which is a probability.
pub(crate) fn probability(row: &Row<'_>, slot: usize) -> Result<f64> {
    row.number(slot, "a number from 0 to 1", |value| {
        (-RANGE_TOLERANCE..=1.0 + RANGE_TOLERANCE).contains(value)
    })
}

/// Writes one known label for each task: columns `task, label`; `labels` holds a class code for each task.
pub fn write_truth(target: &Target, tasks: &Names, classes: &Names, labels: &[usize]) -> Result<()> {
    let outside = labels.iter().any(|&label| label >= classes.len());
    if tasks.len() != labels.len() || outside {
        return Err(Error::mismatch(format!(
            "{} labels of {} classes do not fit {} tasks",
            labels.len(),
            classes.len(),
            tasks.len()
        )));
    }
    let columns = [("task", ColumnKind::Text), ("label", ColumnKind::Text)];
    write_rows(target, columns, |each| {
        let mut rows = tasks.iter().zip(labels);
        rows.try_for_each(|(task, &label)| each(&[Cell::Text(task), Cell::Text(classes.get(label))]))
    })
}
