//! Annotation tables: one row for each label, columns `task, worker, label`.

use std::borrow::Cow;

use quorate::annotations::{Annotations, AnnotationsBuilder, ClassOrder, Duplicates};
use rustc_hash::FxHashSet;

use super::label_cells::{LabelCells, TableLayout};
use super::name_filter::{LeftOut, NameFilter};
use crate::error::{Error, Result};
use crate::exports::{Content, Recognised, Tool, read_export, recognise};
use crate::formats::{Cell, ColumnKind, FileFormat, Format, scan, scan_text, table, write_table};
use crate::memory::{self, Reading};
use crate::parallel::{AnnotationsInParts, BLOCK, Stop, read_parts};
use crate::source::{Progress, Source};
use crate::target::Target;

/// Names of the columns that hold the three parts of a label. A name that is left as it is by default stands
/// for "find it": other spellings and synonyms (`Worker`, `annotator_id`, `item`, `answer`, ..) are taken
/// where exactly one column fits.
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
    /// The annotation tool that the file is an export of, if its content does not tell it. Nothing is
    /// recognised where a format, a delimiter, names of columns or the wide layout are given: then the file
    /// is a table.
    pub tool: Option<Tool>,
    /// The question of an export, if it has several.
    pub question: Option<String>,
    /// Whether truths that are marked in an export are to be used: an annotation that is one is then no
    /// answer of its worker.
    pub use_gold: bool,
    /// What separates the fields of a text file (an ASCII character), if the first line does not tell it.
    pub delimiter: Option<char>,
    /// Names of the columns.
    pub columns: Columns,
    /// Whether a row is a task and every column but the task's a worker; the names of worker and label in
    /// `columns` then mean nothing.
    pub wide: bool,
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
    /// Workers to leave out.
    pub drop_workers: FxHashSet<String>,
    /// The only tasks to keep; all of them if there is no list.
    pub keep_tasks: Option<FxHashSet<String>>,
    /// Tasks to leave out.
    pub drop_tasks: FxHashSet<String>,
}

impl ReadOptions {
    /// The format of a source, with the delimiter that is given.
    pub(crate) fn format_of(&self, source: &Source) -> Result<FileFormat> {
        let format = source.format(self.format);
        let Some(delimiter) = self.delimiter else {
            return format;
        };
        let refused = |problem: String| Err(Error::syntax(problem));
        if !delimiter.is_ascii() || matches!(delimiter, '"' | '\n' | '\r' | '\0') {
            return refused(format!(
                "the delimiter {delimiter:?} cannot separate fields: give one ASCII character"
            ));
        }
        match format {
            Ok(FileFormat { format, .. })
                if !matches!(format, Format::Csv | Format::Tsv | Format::Delimited(_)) =>
            {
                refused(format!("{} files have no delimiter", format.name()))
            }
            // A name that tells nothing: the delimiter does.
            Err(_) => Ok(Format::Delimited(delimiter as u8).into()),
            Ok(format) => Ok(FileFormat {
                format: Format::Delimited(delimiter as u8),
                ..format
            }),
        }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            tool: None,
            question: None,
            use_gold: false,
            delimiter: None,
            columns: Columns::default(),
            wide: false,
            classes: None,
            class_order: ClassOrder::default(),
            duplicates: Duplicates::default(),
            missing: default_missing(),
            keep_workers: None,
            drop_workers: FxHashSet::default(),
            keep_tasks: None,
            drop_tasks: FxHashSet::default(),
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
    /// What the lists of workers and tasks left out.
    pub left_out: LeftOut,
    /// Which columns were read, and how they are separated.
    pub layout: TableLayout,
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
    let _reading = Reading::of(source.name());
    let (recognised, options) = recognised_options(source, options)?;
    let in_parts = if recognised.is_plain_table() {
        read_blocks(source, &options, BLOCK, progress)
    } else {
        None
    };
    let (annotations, layout) = match in_parts {
        Some(read) => read,
        None => read_rows(source, &options, recognised, progress)?,
    };
    annotations
        .and_then(|annotations| finish(annotations, layout, &options))
        .map_err(|error| error.in_file(source.name()))
}

/// What a source holds, and the options to read it with: a table may be a wide one.
pub(crate) fn recognised_options<'o>(
    source: &Source,
    options: &'o ReadOptions,
) -> Result<(Recognised, Cow<'o, ReadOptions>)> {
    let recognised = recognise(source, options).map_err(|error| error.in_file(source.name()))?;
    let options = match recognised.content {
        Content::Wide => Cow::Owned(ReadOptions {
            wide: true,
            ..options.clone()
        }),
        _ => Cow::Borrowed(options),
    };
    Ok((recognised, options))
}

/// Gives the labels of any file to a function, one by one (the empty label is no answer): a table row by row,
/// an export answer by answer. Returns how the file was read.
pub(crate) fn read_into(
    source: &Source,
    options: &ReadOptions,
    recognised: Recognised,
    mut take: impl FnMut(&str, &str, &str) -> Result<()>,
    progress: Progress<'_>,
) -> Result<TableLayout> {
    let place = |error: Error| error.in_file(source.name());
    if let Content::Export(tool) = recognised.content {
        let read =
            read_export(tool, source, recognised.input, options, &mut take, progress).map_err(place)?;
        return Ok(TableLayout {
            export: Some(read),
            ..TableLayout::default()
        });
    }
    let mut cells = LabelCells::new(options, take);
    cells.layout.found_wide = recognised.content == Content::Wide;
    cells.layout.delimiter = match (recognised.input, recognised.format) {
        (Some(input), Some(format)) => scan_text(input, format.format, &mut cells).map_err(place)?,
        _ => {
            let format = options.format_of(source).map_err(place)?;
            scan(source, Some(format), &mut cells, progress)?
        }
    };
    Ok(cells.layout)
}

/// Reads any file row by row; the outer error is that of a row.
fn read_rows(
    source: &Source,
    options: &ReadOptions,
    recognised: Recognised,
    progress: Progress<'_>,
) -> Result<(Result<Annotations>, TableLayout)> {
    let mut builder = AnnotationsBuilder::new(options.duplicates).with_class_order(options.class_order);
    if let Some(classes) = &options.classes {
        builder = builder.with_classes(classes)?;
    }
    let (tasks, workers) = (NameFilter::of_tasks(options), NameFilter::of_workers(options));
    let mut unchecked = 0;
    let take = |task: &str, worker: &str, label: &str| {
        match builder.push(task, worker, label) {
            // Who is left out may repeat himself even where that is an error.
            Err(quorate::Error::RepeatedLabel { .. }) if !(tasks.allows(task) && workers.allows(worker)) => {}
            pushed => pushed?,
        }
        unchecked += 1;
        if unchecked < memory::ROWS {
            return Ok(());
        }
        unchecked = 0;
        match memory::check(builder.bytes_to_come(2 * memory::ROWS)) {
            // Rows that repeat others make room: a small packed file can hold very many of them.
            Err(_) if builder.drop_repeated() => Ok(()),
            checked => checked,
        }
    };
    let layout = read_into(source, options, recognised, take, progress)?;
    Ok((builder.build().map_err(Error::from), layout))
}

/// Reads a plain delimited file or a Parquet file in parallel; none if it is something else, or has anything
/// in it that only the row by row reader can settle.
fn read_blocks(
    source: &Source,
    options: &ReadOptions,
    block: u64,
    progress: Progress<'_>,
) -> Option<(Result<Annotations>, TableLayout)> {
    let open = |vocabulary| AnnotationsInParts::new(vocabulary, options.duplicates);
    let mut layout = TableLayout::default();
    let read = read_parts(source, options, block, open, &mut layout, progress)?;
    let built = match read.and_then(|parts| Ok(parts.build()?)) {
        Ok(built) => built.map_err(Error::from),
        Err(Stop::Irregular) => return None,
        Err(Stop::Refused(error) | Stop::Disk(error)) => Err(error),
    };
    Some((built, layout))
}

/// Leaves out what is to be left out.
fn finish(
    mut annotations: Annotations,
    layout: TableLayout,
    options: &ReadOptions,
) -> Result<AnnotationsRead> {
    let (workers, tasks) = (NameFilter::of_workers(options), NameFilter::of_tasks(options));
    let left_out = LeftOut::of(options, annotations.tasks(), annotations.workers());
    if left_out.workers > 0 {
        annotations = annotations.keep_workers(|worker| workers.allows(worker))?;
    }
    if left_out.tasks > 0 {
        annotations = annotations.keep_tasks(|task| tasks.allows(task))?;
    }
    Ok(AnnotationsRead {
        annotations,
        left_out,
        layout,
    })
}

/// Writes the labels as a table `task, worker, label`, by task and then by worker. Abstentions are not in
/// the table, so a task or worker with nothing else does not appear.
pub fn write_annotations(
    target: &Target,
    format: Option<FileFormat>,
    annotations: &Annotations,
) -> Result<()> {
    let (tasks, workers, classes) = (annotations.tasks(), annotations.workers(), annotations.classes());
    let columns = ["task", "worker", "label"].map(|name| (name, ColumnKind::Text));
    let rows = table(columns, |each| {
        annotations
            .iter()
            .try_for_each(|(n, m, x)| each(&[tasks.get(n), workers.get(m), classes.get(x)].map(Cell::Text)))
    });
    write_table(target, format, &rows)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    /// Everything that tells two tables apart.
    fn content(annotations: &Annotations) -> impl PartialEq + std::fmt::Debug {
        let names = |names: &quorate::annotations::Names| -> Vec<String> {
            names.iter().map(str::to_owned).collect()
        };
        (
            [annotations.tasks(), annotations.workers(), annotations.classes()].map(names),
            annotations.iter().collect::<Vec<_>>(),
            annotations.rows().clone(),
            annotations.task_starts().to_vec(),
        )
    }

    fn row_by_row(path: &Path, options: &ReadOptions) -> Result<Annotations> {
        let source = Source::from(path);
        let recognised = recognise(&source, options)?;
        read_rows(&source, options, recognised, &mut |_, _| {})?.0
    }

    /// Blocks against row by row; returns whether blocks could read the file.
    fn agree(text: &[u8], options: &ReadOptions, block: u64, threads: usize) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.csv");
        std::fs::write(&path, text).unwrap();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let source = Source::from(path.as_path());
        let blocks = pool.install(|| read_blocks(&source, options, block, &mut |_, _| {}));
        let blocks = blocks.map(|(annotations, _)| annotations);
        let rows = row_by_row(&path, options);
        match (blocks, rows) {
            (Some(Ok(blocks)), Ok(rows)) => assert_eq!(content(&blocks), content(&rows)),
            (Some(Err(blocks)), Err(rows)) => assert_eq!(blocks.to_string(), rows.to_string()),
            (Some(blocks), rows) => panic!("{blocks:?} and {rows:?} of {:?}", String::from_utf8_lossy(text)),
            (None, _) => return false,
        }
        true
    }

    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => "[a-c]",
            4 => "t[0-9]{1,2}",
            2 => "a-name-longer-than-a-key-[0-3]",
            1 => Just(String::new()),
            1 => Just("nan".to_owned()),
            1 => Just("\u{e9}t\u{e9}".to_owned()),
            1 => Just("\"quoted, with \"\"both\"\"\"".to_owned()),
            1 => Just("\"a\nbreak\"".to_owned()),
            1 => Just("\"q\"".to_owned()),
            1 => Just("x\"y".to_owned()),
        ]
    }

    fn plain_value() -> impl Strategy<Value = String> {
        prop_oneof![8 => "[a-c]", 4 => "t[0-9]{1,2}", 2 => "a-name-longer-than-a-key-[0-3]"]
    }

    proptest! {
        #[test]
        fn blocks_read_what_the_row_by_row_reader_reads(
            rows in proptest::collection::vec((value(), value(), value(), 0u8..40), 0..60),
            crlf in any::<bool>(),
            mark in any::<bool>(),
            last_line_ends in any::<bool>(),
            order in any::<bool>(),
            given in any::<bool>(),
            duplicates in prop_oneof![Just(Duplicates::Last), Just(Duplicates::First), Just(Duplicates::Keep), Just(Duplicates::Error)],
            block in 8u64..400,
            threads in 1usize..4,
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let mut text = if mark { "\u{feff}".to_owned() } else { String::new() };
            text.push_str("task,extra,worker,label");
            for (task, worker, label, odd) in &rows {
                text.push_str(end);
                match odd {
                    0 => text.push_str(&format!("{task},{worker}")),
                    1 => text.push_str(&format!("{end}{task},,{worker},{label}")),
                    2 => text.push_str(&format!("{task},\r,{worker},{label}")),
                    3 => text.push_str(&format!("{task},\0,{worker},{label}")),
                    _ => text.push_str(&format!("{task},x y,{worker},{label}")),
                }
            }
            if last_line_ends {
                text.push_str(end);
            }
            let options = ReadOptions {
                duplicates,
                class_order: if order { ClassOrder::Natural } else { ClassOrder::Appearance },
                classes: given.then(|| ["c", "a", "b", "t1"].map(str::to_owned).into()),
                ..ReadOptions::default()
            };
            agree(text.as_bytes(), &options, block, threads);
        }

        #[test]
        fn blocks_read_plain_files_themselves(
            mut rows in proptest::collection::vec((plain_value(), plain_value(), plain_value()), 1..200),
            // Tasks in order up to some row: names are told apart without a table until then.
            sorted in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0],
            crlf in any::<bool>(),
            quoted in any::<bool>(),
            block in 8u64..400,
        ) {
            let sorted = (rows.len() as f64 * sorted) as usize;
            rows[..sorted].sort();
            let (quote, end) = (if quoted { "\"" } else { "" }, if crlf { "\r\n" } else { "\n" });
            let mut text = format!("label,task,worker{end}");
            for (task, worker, label) in &rows {
                text.push_str(&format!("{quote}{label}{quote},{task},{worker}{end}"));
            }
            prop_assert!(agree(text.as_bytes(), &ReadOptions::default(), block, 2));
        }
    }

    #[cfg(feature = "columnar")]
    #[test]
    fn row_groups_read_what_the_row_by_row_reader_reads() {
        use std::sync::Arc;

        use ::parquet::arrow::ArrowWriter;
        use ::parquet::file::properties::WriterProperties;
        use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.parquet");
        // Tasks that run over the ends of row groups, numbers, abstentions, repeated rows; at last an empty
        // id.
        for empty in [false, true] {
            let rows = 0..1000usize;
            let tasks: Int64Array = rows.clone().map(|row| Some((row * 7 / 30) as i64)).collect();
            let worker = |row: usize| match (empty && row == 900, row % 3) {
                (true, _) => String::new(),
                (_, 0) => format!("a worker with a long name {}", row % 11),
                _ => format!("w{}", row % 17),
            };
            let labels = rows.clone().map(|row| {
                ["x", "y", "a class with a long name", "nan", ""]
                    .get(row * row % 6)
                    .copied()
            });
            let columns: Vec<(&str, ArrayRef)> = vec![
                (
                    "worker",
                    Arc::new(rows.clone().map(|row| Some(worker(row))).collect::<StringArray>()),
                ),
                ("label", Arc::new(labels.collect::<StringArray>())),
                ("task", Arc::new(tasks)),
            ];
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let properties = WriterProperties::builder()
                .set_max_row_group_row_count(Some(64))
                .build();
            let file = std::fs::File::create(&path).unwrap();
            let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                let (source, options) = (Source::from(path.as_path()), ReadOptions::default());
                let parts = pool.install(|| read_blocks(&source, &options, BLOCK, &mut |_, _| {}));
                if empty {
                    assert!(parts.is_none());
                    continue;
                }
                let (parts, rows) = (parts.unwrap().0.unwrap(), row_by_row(&path, &options).unwrap());
                assert_eq!(content(&parts), content(&rows));
            }
        }
    }

    #[test]
    fn blocks_leave_what_they_cannot_settle_to_the_row_by_row_reader() {
        let options = ReadOptions::default();
        for text in [
            &b"task,worker,label\na,b,\"c\nd\"\ne,f,g\n"[..],
            b"task,worker,label\na,b\n",
            b"task,worker,label\na,,c\n",
            b"task,worker,label\na,b,\xff\n",
            b"task,worker\na,b\n",
            b"\xff\xfet,w,l\n",
            b"",
        ] {
            assert!(!agree(text, &options, 4, 2), "{text:?}");
        }
        assert!(agree(b"task,worker,label\na,b,\n", &options, 8, 2));
    }
}
