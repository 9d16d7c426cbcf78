//! Options of every command that reads annotations, and the reading itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use quorate::annotations::{ClassOrder, Duplicates};
use quorate::methods::Method;
use quorate::{Annotations, TaskFeatures, TaskProbabilities};
use quorate_io::{
    Columns, ExportRead, FileFormat, Progress, ReadOptions, Source, read_annotations_with, read_features,
    read_ids, read_probabilities,
};
use rustc_hash::FxHashSet;

use crate::choices::{DUPLICATES, one_of};
use crate::column_words::parse_columns;
use crate::files::Files;
use crate::input_format::{self, InputFormat};
use crate::printer::Printer;
use crate::progress::Bar;
use crate::reading::settle;
use crate::side_data::fitting;
use crate::text_table::plural;

/// What to read and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading")]
pub struct InputArgs {
    /// Labels: the export of an annotation tool, or a table with columns task, worker, label. `-` is standard
    /// input
    ///
    /// Exports are recognised by their content: Label Studio, Prodigy, Argilla, doccano (a folder or a zip
    /// file), Mechanical Turk, Toloka, Appen, SageMaker Ground Truth, Labelbox, judgements of language
    /// models, and lines of item, worker, label without a header. A table is .csv .tsv .jsonl .json .parquet
    /// .arrow, and .gz or .zst of the text ones. Its columns are found in any case and under common names
    /// (item, unit, question; annotator, rater, judge, user; answer, rating, response), where only one column
    /// fits. Other columns are ignored.
    #[arg(value_name = "LABELS")]
    pub labels: PathBuf,
    /// Names of the columns, where they are not found by themselves
    #[arg(long, value_name = "task=NAME,worker=NAME,label=NAME", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// The table has a row for each task and a column for each worker; empty cells are no answer
    ///
    /// The column of the task is found by its name, else it is the first one. --missing says which other
    /// cells are no answer.
    #[arg(long)]
    pub wide: bool,
    /// The character between the fields of a text file, where the first line does not tell it: `;`, `tab`, ..
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<char>,
    /// The only classes allowed, in order; a label outside them is an error
    ///
    /// Without it every label is a class, numbers in order of value and words in order of spelling.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub classes: Option<Vec<String>>,
    /// What counts when a worker labelled a task more than once
    #[arg(long, value_parser = one_of(DUPLICATES), default_value = "last")]
    pub duplicates: Duplicates,
    /// Labels that mean "no answer", besides the empty one
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', default_value = "NaN,nan")]
    pub missing: Vec<String>,
    /// Join classes that differ only in case and white space (`Yes`, ` yes `); the same number written in
    /// different ways (1 and 1.0) is one class anyway
    #[arg(long, conflicts_with = "classes")]
    pub normalize: bool,
    /// Use only these workers: names with commas between them, or a file (a table with a column `worker`, or
    /// a .txt file with a name on each line)
    #[arg(long, value_name = "A,B,..|FILE")]
    pub keep_workers: Option<PathBuf>,
    /// Leave these workers out; names or a file
    #[arg(long, value_name = "A,B,..|FILE")]
    pub drop_workers: Option<PathBuf>,
    /// Use only these tasks; names or a file
    #[arg(long, value_name = "A,B,..|FILE")]
    pub keep_tasks: Option<PathBuf>,
    /// Leave these tasks out; names or a file
    #[arg(long, value_name = "A,B,..|FILE")]
    pub drop_tasks: Option<PathBuf>,
    /// Class probabilities from a classifier, for methods that use them (columns task and p:CLASS)
    #[arg(long, value_name = "FILE")]
    pub probabilities_in: Option<PathBuf>,
    /// Features of the tasks, for methods that learn from them: a table (task, then numbers) or a NumPy array
    /// (.npy)
    ///
    /// Row i of an array, counted from 0, belongs to the task with the id i, or to the i-th task of
    /// --feature-tasks.
    #[arg(long, value_name = "FILE")]
    pub features: Option<PathBuf>,
    /// The tasks of a .npy file's rows, in their order (a table with a column `task`)
    #[arg(long, value_name = "FILE", requires = "features")]
    pub feature_tasks: Option<PathBuf>,
    /// What the file is, where its content and name do not tell: the export of a tool, or a table as it
    /// stands
    ///
    /// Tables: csv, tsv, jsonl, json, parquet, arrow. Exports: label-studio, label-studio-min (JSON-MIN,
    /// CSV), prodigy, argilla, doccano, mturk, toloka, appen, ground-truth, judges, labelbox, triples,
    /// answers-json.
    #[arg(long, value_name = "FORMAT", value_parser = input_format::parser(), hide_possible_values = true)]
    pub format: Option<InputFormat>,
    /// The question of an export, where it has several; without it they are listed
    #[arg(long, value_name = "NAME")]
    pub question: Option<String>,
    /// Use the truths that are marked in an export: these tasks are fixed, and workers are learnt from them
    ///
    /// Label Studio: annotations with ground_truth. Toloka: columns GOLDEN:NAME. Appen: columns NAME_gold.
    #[arg(long)]
    pub use_gold: bool,
}

impl InputArgs {
    /// Reads the table and says what was skipped or settled on the way.
    pub fn read(&self, printer: &mut Printer) -> Result<Arc<Annotations>> {
        Ok(self.read_with_export(printer)?.0)
    }

    /// Like `read`, with what else was found in the export of a tool.
    pub fn read_with_export(&self, printer: &mut Printer) -> Result<(Arc<Annotations>, Option<ExportRead>)> {
        let (source, options) = (Source::from(self.labels.clone()), self.options()?);
        let read = with_bar(&source, printer, |progress| {
            read_annotations_with(&source, &options, progress)
        })?;
        let table = Arc::new(read.annotations);
        let table = settle(
            table,
            &read.layout,
            &read.left_out,
            (&options, self.normalize),
            printer,
        )?;
        Ok((table, read.layout.export))
    }

    /// Reads the class probabilities, if there are any.
    pub fn read_probabilities(
        &self,
        annotations: &Annotations,
        printer: &mut Printer,
    ) -> Result<Option<TaskProbabilities>> {
        let Some(path) = &self.probabilities_in else {
            return Ok(None);
        };
        let read = read_probabilities(&Source::from(path.clone()), annotations)?;
        let probabilities = fitting(read, "probabilities-in", "tasks", printer);
        let missing = annotations.task_count() - probabilities.known_count();
        if missing > 0 {
            printer.warning(format!(
                "{} without a row in --probabilities-in: judged by the labels alone",
                plural(missing, "task")
            ));
        }
        Ok(Some(probabilities))
    }

    /// Reads the features of the tasks, if there are any.
    pub fn read_features(
        &self,
        annotations: &Annotations,
        printer: &mut Printer,
    ) -> Result<Option<TaskFeatures>> {
        let Some(path) = &self.features else {
            return Ok(None);
        };
        let order = match &self.feature_tasks {
            Some(path) => Some(read_ids(&Source::from(path.clone()), "task")?),
            None => None,
        };
        let read = read_features(&Source::from(path.clone()), annotations, order.as_ref())?;
        Ok(Some(fitting(read, "features", "tasks", printer)))
    }

    /// Whether the side data are given that a method needs.
    pub fn has_side_data(&self, method: &Method) -> bool {
        (!method.needs_probabilities || self.probabilities_in.is_some())
            && (!method.needs_features || self.features.is_some())
    }

    /// How to read the table.
    pub fn options(&self) -> Result<ReadOptions> {
        if self.classes.iter().flatten().any(String::is_empty) {
            bail!("--classes names an empty class: is there a comma too many?");
        }
        Ok(ReadOptions {
            format: self.format.and_then(InputFormat::table),
            tool: self.format.and_then(InputFormat::tool),
            question: self.question.clone(),
            use_gold: self.use_gold,
            delimiter: self.delimiter,
            columns: self.columns()?,
            wide: self.wide,
            classes: self.classes.clone(),
            class_order: ClassOrder::Natural,
            duplicates: self.duplicates,
            missing: self.missing.clone(),
            keep_workers: read_names("--keep-workers", self.keep_workers.as_deref(), "worker")?,
            drop_workers: read_names("--drop-workers", self.drop_workers.as_deref(), "worker")?
                .unwrap_or_default(),
            keep_tasks: read_names("--keep-tasks", self.keep_tasks.as_deref(), "task")?,
            drop_tasks: read_names("--drop-tasks", self.drop_tasks.as_deref(), "task")?.unwrap_or_default(),
        })
    }

    /// The names of the columns, as given.
    pub fn columns(&self) -> Result<Columns> {
        parse_columns("--columns", &self.columns)
    }

    /// Notes the files that are read.
    pub fn files<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        let listed = |path: &'a Option<PathBuf>| path.as_ref().filter(|path| path.is_file());
        files
            .reads("the labels", Some(&self.labels))
            .reads("--keep-workers", listed(&self.keep_workers))
            .reads("--drop-workers", listed(&self.drop_workers))
            .reads("--keep-tasks", listed(&self.keep_tasks))
            .reads("--drop-tasks", listed(&self.drop_tasks))
            .reads("--probabilities-in", self.probabilities_in.as_ref())
            .reads("--features", self.features.as_ref())
            .reads("--feature-tasks", self.feature_tasks.as_ref())
    }
}

/// Reads with a progress bar that is gone when anything is said.
pub fn with_bar<R>(source: &Source, printer: &Printer, read: impl FnOnce(Progress<'_>) -> R) -> R {
    let mut bar = Bar::new(&source.name(), printer.quiet());
    read(&mut |done, total| {
        if let Some(bar) = &mut bar {
            bar.show("reading", done, total);
        }
    })
}

/// A list of names: a file of them, or the names themselves with commas between them.
fn read_names(option: &str, given: Option<&Path>, column: &str) -> Result<Option<FxHashSet<String>>> {
    let Some(given) = given else {
        return Ok(None);
    };
    if given.is_file() {
        let ids = read_ids(&Source::from(given), column)?;
        return Ok(Some(ids.iter().map(str::to_owned).collect()));
    }
    let text = given.to_string_lossy();
    let is_path = text.contains('/') || FileFormat::of_path(given).is_ok() || text.ends_with(".txt");
    if is_path && !text.contains(',') {
        bail!("{option} {text}: there is no such file; give a file, or names with commas between them");
    }
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(Some(names.map(str::to_owned).collect()))
}

/// One ASCII character, or a word for one.
fn delimiter(text: &str) -> Result<char, String> {
    let named = match text.to_lowercase().as_str() {
        "tab" | "\\t" => Some('\t'),
        "comma" => Some(','),
        "semicolon" => Some(';'),
        "pipe" => Some('|'),
        "space" => Some(' '),
        _ => None,
    };
    let mut letters = text.chars();
    match (named, letters.next(), letters.next()) {
        (Some(named), ..) => Ok(named),
        (None, Some(only), None) if only == '\t' || only.is_ascii_graphic() && only != '"' => Ok(only),
        _ => Err("expected one character, for example ';', or the word tab".into()),
    }
}

/// The size of a table in one line.
pub fn size_line(annotations: &Annotations) -> String {
    format!(
        "{}, {}, {}, {}",
        plural(annotations.task_count(), "task"),
        plural(annotations.worker_count(), "worker"),
        plural(annotations.class_count(), "class"),
        plural(annotations.label_count(), "label")
    )
}
