//! Annotation tables: one row for each label, columns `task, worker, label`.

use quorate::annotations::{Annotations, AnnotationsBuilder, ClassOrder, Duplicates};
use rustc_hash::FxHashSet;

use crate::error::{Error, Result};
use crate::format::FileFormat;
use crate::scan::{Row, RowSink, field, find_column, scan};
use crate::source::{Progress, Source};
use crate::table::{Cell, ColumnKind, Table, write_table};
use crate::target::Target;

/// Names of the columns that hold the three parts of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// Column of the task's id.
    pub task: String,
    /// Column of the worker's id.
    pub worker: String,
    /// Column of the label.
    pub label: String,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            task: "task".into(),
            worker: "worker".into(),
            label: "label".into(),
        }
    }
}

/// How to read an annotation table.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The format, if the name does not tell it.
    pub format: Option<FileFormat>,
    /// Names of the columns.
    pub columns: Columns,
    /// The only classes allowed, in order; any label is a class if there is no list.
    pub classes: Option<Vec<String>>,
    /// Order of the classes when there is no list.
    pub class_order: ClassOrder,
    /// What to do with a second label of the same worker on the same task.
    pub duplicates: Duplicates,
    /// Labels that stand for "no answer", besides the empty one and null.
    pub missing: Vec<String>,
    /// The only workers to keep; all of them if there is no list.
    pub keep_workers: Option<FxHashSet<String>>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            columns: Columns::default(),
            classes: None,
            class_order: ClassOrder::default(),
            duplicates: Duplicates::default(),
            missing: default_missing(),
            keep_workers: None,
        }
    }
}

/// What statistics programs write for "no value".
pub(crate) fn default_missing() -> Vec<String> {
    vec!["NaN".into(), "nan".into()]
}

/// A table that was read, and what there is to say about it.
#[derive(Debug, Clone)]
pub struct AnnotationsRead {
    /// The table; its `rows()` tell how many rows were abstentions or repeated.
    pub annotations: Annotations,
    /// Workers asked for by `keep_workers` that are not in the file.
    pub absent_workers: usize,
    /// Workers in the file that `keep_workers` left out.
    pub dropped_workers: usize,
}

/// Reads an annotation table.
pub fn read_annotations(source: &Source, options: &ReadOptions) -> Result<AnnotationsRead> {
    read_annotations_with(source, options, &mut |_, _| {})
}

/// Reads an annotation table and tells how far it has come.
pub fn read_annotations_with(
    source: &Source,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<AnnotationsRead> {
    let mut builder = AnnotationsBuilder::new(options.duplicates).with_class_order(options.class_order);
    if let Some(classes) = &options.classes {
        builder = builder.with_classes(classes)?;
    }
    let mut sink = AnnotationSink { builder, options };
    scan(source, options.format, &mut sink, progress)?;
    finish(sink.builder, options).map_err(|error| error.in_file(source.name()))
}

fn finish(builder: AnnotationsBuilder, options: &ReadOptions) -> Result<AnnotationsRead> {
    let annotations = builder.build()?;
    let Some(keep) = &options.keep_workers else {
        return Ok(AnnotationsRead {
            annotations,
            absent_workers: 0,
            dropped_workers: 0,
        });
    };
    let found = annotations
        .workers()
        .iter()
        .filter(|worker| keep.contains(*worker))
        .count();
    Ok(AnnotationsRead {
        absent_workers: keep.len() - found,
        dropped_workers: annotations.worker_count() - found,
        annotations: annotations.keep_workers(|worker| keep.contains(worker))?,
    })
}

struct AnnotationSink<'a> {
    builder: AnnotationsBuilder,
    options: &'a ReadOptions,
}

impl RowSink for AnnotationSink<'_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        let Columns { task, worker, label } = &self.options.columns;
        [(task, "task"), (worker, "worker"), (label, "label")]
            .into_iter()
            .map(|(name, role)| find_column(names, name, role))
            .collect()
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let Columns { task, worker, label } = &self.options.columns;
        let (n, m, mut x) = (
            field(row, 0, task)?,
            field(row, 1, worker)?,
            field(row, 2, label)?,
        );
        if self.options.missing.iter().any(|missing| missing == x) {
            x = "";
        }
        self.builder
            .push(n, m, x)
            .map_err(|error| place(error, &self.options.columns))
    }
}

/// Names the column that an error of the table is about.
fn place(error: quorate::Error, columns: &Columns) -> Error {
    let column = match &error {
        quorate::Error::EmptyId("task") => Some(&columns.task),
        quorate::Error::EmptyId("worker") => Some(&columns.worker),
        quorate::Error::UnknownClass { .. } | quorate::Error::TooMany { what: "labels", .. } => {
            Some(&columns.label)
        }
        _ => None,
    };
    match column {
        Some(column) => Error::from(error).in_column(column),
        None => error.into(),
    }
}

/// Writes the labels as a table `task, worker, label`, by task and then by worker. Abstentions are not in
/// the table, so a task or worker with nothing else does not appear.
pub fn write_annotations(
    target: &Target,
    format: Option<FileFormat>,
    annotations: &Annotations,
) -> Result<()> {
    write_table(target, format, &LabelRows(annotations))
}

struct LabelRows<'t>(&'t Annotations);

impl Table for LabelRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        ["task", "worker", "label"]
            .map(|name| (name.to_owned(), ColumnKind::Text))
            .into()
    }

    fn for_each_row<'a>(&'a self, each: &mut dyn FnMut(&[Cell<'a>]) -> Result<()>) -> Result<()> {
        let (tasks, workers, classes) = (self.0.tasks(), self.0.workers(), self.0.classes());
        for (n, m, x) in self.0.iter() {
            each(&[
                Cell::Text(tasks.get(n)),
                Cell::Text(workers.get(m)),
                Cell::Text(classes.get(x)),
            ])?;
        }
        Ok(())
    }
}
