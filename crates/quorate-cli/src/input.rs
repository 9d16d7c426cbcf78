//! Options of every command that reads annotations, and the reading itself.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use quorate::annotations::{ClassOrder, Duplicates, Names, RowCounts, SimilarClasses};
use quorate::methods::Method;
use quorate::{Annotations, TaskFeatures, TaskProbabilities};
use quorate_io::{
    Columns, ExportRead, FileFormat, Format, LeftOut, ReadOptions, Source, TableLayout,
    read_annotations_with, read_features, read_ids, read_probabilities,
};
use rustc_hash::FxHashSet;

use crate::column_words::{parse_columns, tell_layout};
use crate::export_words::{what_was_read, what_was_settled};
use crate::files::Files;
use crate::input_format::{self, InputFormat};
use crate::label_hygiene::settle_classes;
use crate::labels::Labels;
use crate::printer::Printer;
use crate::progress::Bar;
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
    #[arg(long, value_enum, default_value_t = DuplicatesArg::Last)]
    pub duplicates: DuplicatesArg,
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

/// What to do with repeated rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DuplicatesArg {
    /// The last row
    Last,
    /// The first row
    First,
    /// Every row, each as a label of its own
    Keep,
    /// None: it is an error
    Error,
}

/// Formats by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum FormatArg {
    Csv,
    Tsv,
    Jsonl,
    Json,
    Parquet,
    Arrow,
}

impl From<FormatArg> for FileFormat {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Csv => Format::Csv,
            FormatArg::Tsv => Format::Tsv,
            FormatArg::Jsonl => Format::Jsonl,
            FormatArg::Json => Format::Json,
            FormatArg::Parquet => Format::Parquet,
            FormatArg::Arrow => Format::Arrow,
        }
        .into()
    }
}

impl InputArgs {
    /// Reads the table and says what was skipped or settled on the way.
    pub fn read(&self, printer: &mut Printer) -> Result<Annotations> {
        Ok(self.read_with_export(printer)?.0)
    }

    /// The same, with what else was found in the export of a tool.
    pub fn read_with_export(&self, printer: &mut Printer) -> Result<(Annotations, Option<ExportRead>)> {
        let source = Source::from(self.labels.clone());
        let mut bar = Bar::new(&source.name(), printer.quiet());
        let read = read_annotations_with(&source, &self.options()?, &mut |done, total| {
            if let Some(bar) = &mut bar {
                bar.show("reading", done, total);
            }
        })?;
        drop(bar);
        let (tasks, workers) = (
            read.annotations.task_count() as u64,
            read.annotations.worker_count(),
        );
        self.tell_reading(&read.layout, tasks, workers, printer)?;
        self.report(read.annotations.rows(), &read.left_out, printer);
        let mut annotations = read.annotations;
        let labels = annotations.label_count() as u64;
        let joined = self.settle_classes(annotations.classes(), labels, printer);
        if !joined.is_empty() {
            annotations = annotations.with_joined_classes(&joined);
        }
        let labels = self.use_marked_gold(Labels::Memory(Box::new(annotations)), &read.layout, printer)?;
        match labels {
            Labels::Memory(annotations) => Ok((*annotations, read.layout.export)),
            Labels::Disk(_) => unreachable!("labels do not move to disk"),
        }
    }

    /// Says how the file was read, where that was not said.
    pub fn tell_reading(
        &self,
        layout: &TableLayout,
        tasks: u64,
        workers: usize,
        printer: &mut Printer,
    ) -> Result<()> {
        let Some(export) = &layout.export else {
            if self.question.is_some() || self.use_gold {
                printer.warning(
                    "--question and --use-gold are for exports of annotation tools; this is a table",
                );
            }
            tell_layout("", &self.columns()?, layout, printer);
            return Ok(());
        };
        printer.note(what_was_read(export, tasks, workers));
        what_was_settled(export)
            .iter()
            .for_each(|line| printer.note(line));
        if !export.gold.is_empty() && !self.use_gold {
            printer.note(format!(
                "{} with the truth marked in the file: --use-gold fixes them",
                plural(export.gold.len(), "task")
            ));
        }
        Ok(())
    }

    /// The labels with the truths that are marked in the file, if these are to be used.
    pub fn use_marked_gold(
        &self,
        mut labels: Labels,
        layout: &TableLayout,
        printer: &mut Printer,
    ) -> Result<Labels> {
        let Some(export) = layout.export.as_ref().filter(|_| self.use_gold) else {
            return Ok(labels);
        };
        if export.gold.is_empty() {
            printer.warning("--use-gold: no truths are marked in the file");
            return Ok(labels);
        }
        let gold = export.gold_labels();
        let further = gold
            .classes
            .iter()
            .filter(|class| labels.classes().find(class).is_none());
        let further: Vec<&str> = further.collect();
        if let Some(class) = further.first() {
            if self.classes.is_some() {
                bail!("class {class:?} of the truths in the file is not among --classes: add it there");
            }
            labels = labels.with_classes(further)?;
        }
        let (labels, known) = labels.with_gold(&gold)?;
        printer.note(format!(
            "{} of {} known from the file (--use-gold)",
            plural(known, "task"),
            labels.task_count()
        ));
        Ok(labels)
    }

    /// The classes that are to be joined; none where the user listed the classes.
    pub fn settle_classes(&self, classes: &Names, labels: u64, printer: &mut Printer) -> Vec<SimilarClasses> {
        match self.classes {
            Some(_) => Vec::new(),
            None => settle_classes(classes, labels, self.normalize, printer),
        }
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
        let read = read_probabilities(&Source::from(path.clone()), None, annotations)?;
        if read.foreign > 0 {
            printer.warning(format!(
                "{} of --probabilities-in about tasks that the labels do not have: not used",
                plural(read.foreign as usize, "row")
            ));
        }
        let missing = annotations.task_count() - read.probabilities.known_count();
        if missing > 0 {
            printer.warning(format!(
                "{} without a row in --probabilities-in: judged by the labels alone",
                plural(missing, "task")
            ));
        }
        Ok(Some(read.probabilities))
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
            Some(path) => Some(read_ids(&Source::from(path.clone()), None, "task")?),
            None => None,
        };
        let read = read_features(&Source::from(path.clone()), None, annotations, order.as_ref())?;
        if read.foreign > 0 {
            printer.warning(format!(
                "{} of --features about tasks that the labels do not have: not used",
                plural(read.foreign as usize, "row")
            ));
        }
        Ok(Some(read.features))
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
            duplicates: match self.duplicates {
                DuplicatesArg::Last => Duplicates::Last,
                DuplicatesArg::First => Duplicates::First,
                DuplicatesArg::Keep => Duplicates::Keep,
                DuplicatesArg::Error => Duplicates::Error,
            },
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

    /// Says what was skipped or settled: of the rows, and of the workers and tasks left out and not found.
    pub fn report(&self, rows: &RowCounts, left_out: &LeftOut, printer: &mut Printer) {
        if rows.abstentions > 0 {
            printer.note(format!(
                "{} without a label: counted as abstentions, not used",
                plural(rows.abstentions as usize, "row")
            ));
        }
        if rows.repeated > 0 {
            let kept = match rows.duplicates {
                Duplicates::Last => "the last row of each counts",
                Duplicates::First => "the first row of each counts",
                Duplicates::Keep | Duplicates::Error => "every row counts",
            };
            printer.note(format!(
                "{} with the task and worker of an earlier row: {kept} (--duplicates)",
                plural(rows.repeated as usize, "row")
            ));
        }
        let lists = [
            (
                "worker",
                &self.keep_workers,
                &self.drop_workers,
                left_out.workers,
                left_out.absent_workers,
            ),
            (
                "task",
                &self.keep_tasks,
                &self.drop_tasks,
                left_out.tasks as usize,
                left_out.absent_tasks as usize,
            ),
        ];
        for (what, keep, drop, dropped, absent) in lists {
            let options = match (keep, drop) {
                (None, None) => continue,
                (Some(_), None) => format!("--keep-{what}s"),
                (None, Some(_)) => format!("--drop-{what}s"),
                (Some(_), Some(_)) => format!("--keep-{what}s and --drop-{what}s"),
            };
            printer.note(format!("{} left out by {options}", plural(dropped, what)));
            if absent > 0 {
                printer.warning(format!(
                    "{} listed in {options} not found in the labels",
                    plural(absent, what)
                ));
            }
        }
    }
}

/// A list of names: a file of them, or the names themselves with commas between them.
fn read_names(option: &str, given: Option<&Path>, column: &str) -> Result<Option<FxHashSet<String>>> {
    let Some(given) = given else {
        return Ok(None);
    };
    if given.is_file() {
        let ids = read_ids(&Source::from(given), None, column)?;
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

/// `name=value` pairs of `--param`.
pub fn parse_parameters(given: &[String]) -> Result<Vec<(String, String)>> {
    given
        .iter()
        .map(|pair| {
            let (name, value) = pair.split_once('=').with_context(|| {
                format!("--param {pair:?}: expected name=value, for example --param max-iter=50")
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
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
