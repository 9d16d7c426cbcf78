//! Annotation tables: read once, used by every function.

use std::sync::Arc;

use pyo3::prelude::*;
use quorate::Annotations;
use quorate::annotations::{
    ClassOrder, Duplicates, Likeness, Names, SimilarClasses, find_similar, looks_missing,
};
use quorate_cli::export_words;
use quorate_io::{Columns, ExportParts, ExportRead, FileFormat, ReadOptions, Tool, read_annotations_with};

use crate::data::Data;
use crate::errors::{Failure, raise};
use crate::job;
use crate::kinds::Kinds;
use crate::table::ArrowTable;

/// Names that are shown in a message.
const NAMED: usize = 4;

/// Fewest classes that can look like free text.
const MANY_CLASSES: usize = 20;

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
    /// What is worth knowing about the reading.
    #[pyo3(get)]
    pub notes: Vec<String>,
    /// What to beware of.
    #[pyo3(get)]
    pub warnings: Vec<String>,
}

/// How repeated rows count, by name.
pub fn duplicates_of(name: &str) -> Result<Duplicates, Failure> {
    Ok(match name {
        "last" => Duplicates::Last,
        "first" => Duplicates::First,
        "keep" => Duplicates::Keep,
        "error" => Duplicates::Error,
        other => {
            return Err(Failure::Parameter(format!(
                "duplicates: found {other:?}, expected \"last\", \"first\", \"keep\" or \"error\""
            )));
        }
    })
}

/// The format of a table, or the tool of an export, by name.
fn format_of(name: Option<&str>) -> Result<(Option<FileFormat>, Option<Tool>), Failure> {
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
    let tables = ["csv", "tsv", "jsonl", "json", "parquet", "arrow"];
    tables.into_iter().chain(Tool::ALL.map(Tool::name)).collect()
}

/// Reads a table of labels.
#[pyfunction]
#[pyo3(signature = (data, *, columns, classes, duplicates, missing, normalize, keep_workers, wide, format, question, use_gold, threads, progress))]
pub fn read(
    py: Python<'_>,
    data: &Data,
    columns: (String, String, String),
    classes: Option<Vec<String>>,
    duplicates: &str,
    missing: Vec<String>,
    normalize: bool,
    keep_workers: Option<Vec<String>>,
    wide: bool,
    format: Option<&str>,
    question: Option<String>,
    use_gold: bool,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Labels> {
    let (task, worker, label) = columns;
    let (format, tool) = format_of(format).map_err(|failure| raise(py, failure))?;
    let options = ReadOptions {
        format,
        tool,
        question,
        use_gold,
        wide,
        columns: Columns { task, worker, label },
        classes,
        class_order: ClassOrder::Natural,
        duplicates: duplicates_of(duplicates).map_err(|failure| raise(py, failure))?,
        missing,
        keep_workers: keep_workers.map(|workers| workers.into_iter().collect()),
        ..ReadOptions::default()
    };
    let source = data.source.clone();
    let (mut labels, columns) = job::run(py, threads, progress, move |job| {
        let read = read_annotations_with(&source, &options, &mut |done, total| {
            job.tell("reading", done, total);
        })?;
        let mut labels = Labels {
            annotations: Arc::new(read.annotations),
            kinds: Kinds::TEXT,
            closed: options.classes.is_some(),
            duplicates: options.duplicates,
            export: read.layout.export,
            notes: Vec::new(),
            warnings: Vec::new(),
        };
        labels.tell_export(options.use_gold);
        labels.tell_rows();
        if read.left_out.workers > 0 {
            labels.notes.push(format!(
                "{} workers left out by keep_workers",
                read.left_out.workers
            ));
        }
        if read.left_out.absent_workers > 0 {
            labels.warnings.push(format!(
                "{} workers of keep_workers are not in the labels",
                read.left_out.absent_workers
            ));
        }
        if !labels.closed {
            labels.settle_classes(normalize);
        }
        if options.use_gold {
            labels.use_marked_gold()?;
        }
        Ok((labels, read.layout.columns))
    })?;
    // Columns may have been found under other names than those asked for.
    labels.kinds = Kinds {
        task: data.kind(&columns.task),
        worker: data.kind(&columns.worker),
        label: data.kind(&columns.label),
    };
    Ok(labels)
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
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn tell_export(&mut self, use_gold: bool) {
        let Some(export) = &self.export else {
            return;
        };
        let (tasks, workers) = (
            self.annotations.task_count() as u64,
            self.annotations.worker_count(),
        );
        self.notes
            .push(export_words::what_was_read(export, tasks, workers));
        self.notes.extend(export_words::what_was_settled(export));
        if !export.gold.is_empty() && !use_gold {
            self.notes.push(format!(
                "{} tasks with the truth marked in the file: use_gold=True fixes them",
                export.gold.len()
            ));
        }
    }

    /// Fixes the tasks whose truth is marked in an export.
    fn use_marked_gold(&mut self) -> Result<(), Failure> {
        let Some(export) = self.export.as_ref().filter(|export| !export.gold.is_empty()) else {
            self.warnings
                .push("use_gold: no truths are marked in the file".into());
            return Ok(());
        };
        let gold = export.gold_labels();
        let annotations = self.annotations.as_ref().clone();
        let further: Vec<&str> = gold
            .classes
            .iter()
            .filter(|class| annotations.classes().find(class).is_none())
            .collect();
        if let Some(class) = further.first().filter(|_| self.closed) {
            return Err(Failure::Parameter(format!(
                "class {class:?} of the truths in the file is not among classes: add it there"
            )));
        }
        let annotations = annotations.with_classes(further)?;
        let truths = gold.truths_in(&annotations);
        self.annotations = Arc::new(annotations.with_gold(truths)?);
        Ok(())
    }

    fn tell_rows(&mut self) {
        let rows = self.annotations.rows();
        if rows.abstentions > 0 {
            self.notes.push(format!(
                "{} rows without a label: counted as abstentions, not used",
                rows.abstentions
            ));
        }
        if rows.repeated > 0 {
            let kept = match rows.duplicates {
                Duplicates::Last => "the last row of each counts",
                Duplicates::First => "the first row of each counts",
                Duplicates::Keep | Duplicates::Error => "every row counts",
            };
            self.notes.push(format!(
                "{} rows with the task and worker of an earlier row: {kept} (argument duplicates)",
                rows.repeated
            ));
        }
    }

    /// Joins classes that are the same number, or, if asked for, the same word; points out what looks odd.
    fn settle_classes(&mut self, normalize: bool) {
        let settled = SettledClasses::of(
            self.annotations.classes(),
            self.annotations.label_count() as u64,
            normalize,
        );
        self.notes.extend(settled.notes);
        self.warnings.extend(settled.warnings);
        if !settled.joined.is_empty() {
            self.annotations = Arc::new(
                self.annotations
                    .as_ref()
                    .clone()
                    .with_joined_classes(&settled.joined),
            );
        }
    }
}

/// What is to be done and said about classes as they were found.
pub struct SettledClasses {
    /// Groups of classes that are one.
    pub joined: Vec<SimilarClasses>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// What to beware of.
    pub warnings: Vec<String>,
}

impl SettledClasses {
    /// Classes that are the same number are one and, if asked for, those that are the same word.
    pub fn of(classes: &Names, labels: u64, normalize: bool) -> Self {
        let (mut notes, mut warnings) = (Vec::new(), Vec::new());
        let quoted = |codes: &[u16]| {
            let names = codes.iter().take(NAMED);
            let mut names: Vec<String> = names
                .map(|&code| format!("{:?}", classes.get(usize::from(code))))
                .collect();
            if codes.len() > NAMED {
                names.push("..".into());
            }
            names.join(", ")
        };
        let mut joined = Vec::new();
        for group in find_similar(classes) {
            let name = classes.get(usize::from(group.codes[0]));
            let alike = quoted(&group.codes);
            match group.similarity {
                Likeness::Number => {
                    notes.push(format!("classes {alike} are the same number: joined as {name:?}"));
                }
                Likeness::Spelling if normalize => {
                    notes.push(format!("classes {alike} are joined as {name:?}"));
                }
                Likeness::Spelling => {
                    warnings.push(format!(
                        "classes {alike} differ only in case or white space and are kept apart; \
                         normalize=True joins them"
                    ));
                    continue;
                }
            }
            joined.push(group);
        }
        let missing: Vec<u16> = (0..classes.len())
            .filter(|&code| looks_missing(classes.get(code)))
            .map(|code| code as u16)
            .collect();
        if !missing.is_empty() {
            warnings.push(format!(
                "{} looks like a missing answer and counts as a class; the argument missing leaves such rows out",
                quoted(&missing)
            ));
        }
        if classes.len() > MANY_CLASSES && 2 * classes.len() as u64 >= labels {
            warnings.push(format!(
                "{} classes for {labels} labels: this looks like free text, which cannot be aggregated as \
                 classes; is it the right label column?",
                classes.len()
            ));
        }
        Self {
            joined,
            notes,
            warnings,
        }
    }
}

#[pymethods]
impl Labels {
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
