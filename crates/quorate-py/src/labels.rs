//! Annotation tables: read once, used by every function.

use std::sync::Arc;

use pyo3::prelude::*;
use quorate::Annotations;
use quorate::annotations::{ClassOrder, Duplicates};
use quorate_cli::choices::{DUPLICATES, TABLES};
use quorate_cli::reading::settle;
use quorate_io::{Columns, ExportParts, ExportRead, FileFormat, ReadOptions, Tool, read_annotations_with};

use crate::arguments::{MessageLog, Running, arguments, choice};
use crate::data::Data;
use crate::errors::{Failure, raise};
use crate::kinds::Kinds;
use crate::table::ArrowTable;

/// The labels of a table.
#[pyclass(frozen, module = "quorate._quorate")]
pub struct Labels {
    /// The labels.
    pub annotations: Arc<Annotations>,
    /// What ids and labels were.
    pub kinds: Kinds,
    /// Whether the caller listed the classes.
    pub closed: bool,
    /// What repeated rows counted for.
    pub duplicates: Duplicates,
    /// What else was found in the export of an annotation tool.
    pub export: Option<ExportRead>,
    /// What was said of the reading.
    pub messages: MessageLog,
}

/// How repeated rows count, by name.
pub fn duplicates_of(name: &str) -> Result<Duplicates, Failure> {
    choice(DUPLICATES, "duplicates", name)
}

/// The format of a table, or the tool of an export, by name.
pub fn format_of(name: Option<&str>) -> Result<(Option<FileFormat>, Option<Tool>), Failure> {
    let Some(name) = name else {
        return Ok((None, None));
    };
    match (name.parse::<Tool>(), name.parse::<FileFormat>()) {
        (Ok(tool), _) => Ok((None, Some(tool))),
        (_, Ok(format)) => Ok((Some(format), None)),
        _ => Err(Failure::Parameter(format!(
            "format: found {name:?}, expected one of quorate.FORMATS"
        ))),
    }
}

/// Names of the formats: file formats of tables, then the layouts of annotation tools.
#[pyfunction]
pub fn formats() -> Vec<&'static str> {
    let tables = TABLES.iter().map(|table| table.0);
    tables.chain(Tool::ALL.map(Tool::name)).collect()
}

arguments! {
    /// How labels are read.
    pub struct Reading {
        /// Names of the columns of task, worker and label.
        pub columns: (String, String, String),
        /// The only classes allowed.
        pub classes: Option<Vec<String>>,
        /// What counts of repeated rows.
        pub duplicates: String,
        /// Labels that mean no answer.
        pub missing: Vec<String>,
        /// Whether words that differ in case and white space are one class.
        pub normalize: bool,
        /// The only workers to use.
        pub keep_workers: Option<Vec<String>>,
        /// Whether there is a column for each worker.
        pub wide: bool,
        /// What a file is.
        pub format: Option<String>,
        /// The question of an export.
        pub question: Option<String>,
        /// Whether the truths that are marked in an export are used.
        pub use_gold: bool,
    }
}

impl Reading {
    /// The same in the words of the readers.
    pub fn options(self) -> Result<ReadOptions, Failure> {
        let (task, worker, label) = self.columns;
        let (format, tool) = format_of(self.format.as_deref())?;
        Ok(ReadOptions {
            format,
            tool,
            question: self.question,
            use_gold: self.use_gold,
            wide: self.wide,
            columns: Columns { task, worker, label },
            classes: self.classes,
            class_order: ClassOrder::Natural,
            duplicates: duplicates_of(&self.duplicates)?,
            missing: self.missing,
            keep_workers: self.keep_workers.map(|workers| workers.into_iter().collect()),
            ..ReadOptions::default()
        })
    }
}

/// Reads a table of labels.
#[pyfunction]
pub fn read(py: Python<'_>, data: &Data, reading: Reading, running: Running) -> PyResult<Labels> {
    let normalize = reading.normalize;
    let options = reading.options().map_err(|failure| raise(py, failure))?;
    let source = data.source.clone();
    let (labels, columns) = running.run(py, move |job| {
        let mut messages = MessageLog::default();
        let read = read_annotations_with(&source, &options, &mut |done, total| {
            job.tell("reading", done, total);
        })?;
        let (table, layout) = (Arc::new(read.annotations), read.layout);
        let annotations = settle(
            table,
            &layout,
            &read.left_out,
            (&options, normalize),
            &mut messages,
        )?;
        let labels = Labels {
            annotations,
            kinds: Kinds::TEXT,
            closed: options.classes.is_some(),
            duplicates: options.duplicates,
            export: layout.export,
            messages,
        };
        Ok((labels, layout.columns))
    })?;
    // Columns may have been found under other names than those asked for.
    Ok(Labels {
        kinds: data.kinds(&columns),
        ..labels
    })
}

impl Labels {
    /// Labels that are all text, of a table that was made here.
    pub fn of(annotations: Annotations) -> Self {
        Self {
            annotations: Arc::new(annotations),
            kinds: Kinds::TEXT,
            closed: false,
            duplicates: Duplicates::Last,
            export: None,
            messages: MessageLog::default(),
        }
    }
}

#[pymethods]
impl Labels {
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.messages.notes.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.messages.warnings.clone()
    }

    #[getter]
    fn task_count(&self) -> usize {
        self.annotations.task_count()
    }

    #[getter]
    fn worker_count(&self) -> usize {
        self.annotations.worker_count()
    }

    #[getter]
    fn label_count(&self) -> usize {
        self.annotations.label_count()
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        self.annotations.classes().iter().map(str::to_owned).collect()
    }

    /// The labels as a table.
    fn table(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        ArrowTable::written(self.kinds, |target| {
            quorate_io::write_annotations(target, None, &self.annotations)
        })
        .map_err(|failure| raise(py, failure))
    }

    /// Writes the labels to a file: a table, a wide table, or the layout of a tool.
    #[pyo3(signature = (path, to))]
    fn write(&self, py: Python<'_>, path: std::path::PathBuf, to: Option<&str>) -> PyResult<()> {
        let target = path.into();
        let write = || -> Result<(), Failure> {
            if to == Some("wide") {
                return Ok(quorate_io::write_wide(&target, &self.annotations)?);
            }
            match format_of(to)? {
                (format, None) => quorate_io::write_annotations(&target, format, &self.annotations)?,
                (_, Some(tool)) => {
                    let export = self.export.as_ref();
                    let parts = ExportParts {
                        question: export.and_then(|export| export.question.as_deref()),
                        gold: export.map_or(&[], |export| &export.gold),
                    };
                    quorate_io::write_export(&target, tool, &self.annotations, parts)?;
                }
            }
            Ok(())
        };
        write().map_err(|failure| raise(py, failure))
    }
}
