//! What a source holds, told by its content: a table, a wide table, or the export of a tool.

use std::io::{Cursor, Read};
use std::path::Path;

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::judges::MAPS;
use super::{Tool, appen, archive, argilla, files, label_studio_min, mturk, toloka, triples};
use crate::error::Result;
use crate::formats::delimiter::Delimiter;
use crate::formats::json_texts::{JsonTexts, Shape};
use crate::formats::records::Records;
use crate::formats::{Compression, FileFormat, Format};
use crate::source::Source;
use crate::tables::annotations::{Columns, ReadOptions};
use crate::tables::column_roles::{Role, has_role};
use crate::tables::label_cells::TableLayout;

/// Bytes of a table that are looked at.
const SAMPLE: usize = 1 << 16;

/// Most bytes that are looked at where the first line is longer.
const LONGEST_SAMPLE: u64 = 1 << 22;

/// Most classes of a table that is taken for a wide one without being told so.
const MAX_CLASSES: usize = 20;

/// Fewest rows that tell a wide table or one without a header.
const FEWEST_ROWS: usize = 3;

/// What a source holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// A table with a row for each label, as far as is known.
    Table,
    /// A table with a column for each worker.
    Wide,
    /// The export of a tool.
    Export(Tool),
}

/// What a source holds, and its bytes where they can be had only once.
pub(crate) struct Recognised {
    pub content: Content,
    /// The bytes of standard input, a pipe or a device.
    pub input: Option<Box<dyn Read>>,
    /// The text format, where nobody said it and no name tells it.
    pub format: Option<FileFormat>,
}

impl Recognised {
    /// Whether it is a table in a file, which may be read in parallel.
    pub(crate) fn is_plain_table(&self) -> bool {
        self.content == Content::Table && self.input.is_none()
    }

    fn table() -> Self {
        Self::of(Content::Table)
    }

    fn of(content: Content) -> Self {
        Self {
            content,
            input: None,
            format: None,
        }
    }
}

/// Looks at a source. Where the caller says what it is, or how to read it as a table, that counts.
pub(crate) fn recognise(source: &Source, options: &ReadOptions) -> Result<Recognised> {
    if let Some(tool) = options.tool {
        return Ok(Recognised::of(Content::Export(tool)));
    }
    let told = options.format.is_some() || options.delimiter.is_some() || options.wide;
    if told || options.columns != Columns::default() {
        return Ok(Recognised::table());
    }
    match source {
        Source::Path(path) if source.is_stream() => {
            of_stream(source, Compression::of_path(path), FileFormat::of_path(path).ok())
        }
        Source::Path(path) => Ok(Recognised::of(of_path(path))),
        Source::Stdin => of_stream(source, Compression::None, None),
        #[cfg(feature = "columnar")]
        Source::Memory(_) => Ok(Recognised::table()),
    }
}

fn of_stream(source: &Source, compression: Compression, told: Option<FileFormat>) -> Result<Recognised> {
    if told.is_some_and(|format| !format.format.is_text()) {
        return Ok(Recognised::table());
    }
    let mut input = source.open_owned(compression)?;
    let mut start = Vec::new();
    // As much as a table needs: the first object of an export on standard input has to be within it.
    input.by_ref().take(LONGEST_SAMPLE / 4).read_to_end(&mut start)?;
    let format = told.map_or(Format::Csv, |format| format.format);
    let content = of_text(&start, || Ok(Box::new(start.as_slice())), Some(format));
    let json = matches!(start.trim_ascii_start().first(), Some(b'{' | b'['));
    let format = if json && told.is_none() {
        Format::Jsonl
    } else {
        format
    };
    Ok(Recognised {
        content,
        input: Some(Box::new(Cursor::new(start).chain(input))),
        format: Some(format.into()),
    })
}

/// What a file or folder holds. What cannot be opened is left to the reader of tables, which says why.
fn of_path(path: &Path) -> Content {
    let told = FileFormat::of_path(path).ok();
    if told.is_some_and(|format| !format.format.is_text()) {
        return Content::Table;
    }
    if path.is_dir() {
        let first = files::in_folder(path)
            .ok()
            .and_then(|files| files.into_iter().next());
        return match first.map(|file| of_path(&file)) {
            Some(Content::Export(tool)) => Content::Export(tool),
            _ => Content::Table,
        };
    }
    if archive::is_zip(path) {
        return match files::in_archive(path) {
            Ok((_, entries)) if !entries.is_empty() => Content::Export(Tool::Doccano),
            _ => Content::Table,
        };
    }
    let source = Source::from(path);
    let open = || source.open_owned(Compression::of_path(path));
    let mut start = Vec::new();
    let read = open().and_then(|mut input| Ok(read_sample(&mut input, &mut start)?));
    match read {
        Ok(()) => of_text(&start, open, told.map(|format| format.format)),
        Err(_) => Content::Table,
    }
}

/// Reads the start of a text, at least one line of it where that is not too long.
fn read_sample(input: &mut dyn Read, start: &mut Vec<u8>) -> std::io::Result<()> {
    input.take(SAMPLE as u64).read_to_end(start)?;
    if !start.contains(&b'\n') && start.len() == SAMPLE {
        input.take(LONGEST_SAMPLE).read_to_end(start)?;
    }
    Ok(())
}

/// What a text holds; `open` gives it from its start, as often as it takes.
fn of_text<'a>(
    start: &[u8],
    open: impl Fn() -> Result<Box<dyn Read + 'a>>,
    format: Option<Format>,
) -> Content {
    let found = match start.trim_ascii_start().first() {
        Some(b'[') => of_first(open(), Some(Shape::Array)).and_then(|value| of_object(&value)),
        Some(b'{') => of_first(open(), Some(Shape::Lines))
            .and_then(|value| of_object(&value))
            .or_else(|| of_members(open())),
        _ => return of_table(start, format),
    };
    found.map_or(Content::Table, Content::Export)
}

/// The first value of a text.
fn of_first(input: Result<Box<dyn Read + '_>>, shape: Option<Shape>) -> Option<Value> {
    let mut texts = JsonTexts::of_shape(input.ok()?, shape).ok()?;
    texts.advance().ok()?.then_some(())?;
    serde_json::from_str(texts.text().ok()?).ok()
}

/// The tool of an object.
fn of_object(object: &Value) -> Option<Tool> {
    let keys = object.as_object()?;
    let has = |key: &str| keys.contains_key(key);
    let list = |key: &str| keys.get(key).and_then(Value::as_array);
    let first_has = |key: &str, inner: &str| {
        list(key)
            .and_then(|list| list.first())
            .is_some_and(|first| first.get(inner).is_some())
    };
    let map = |key: &str| keys.get(key).is_some_and(Value::is_object);
    if has("datasetObjectId") && has("annotations") || first_has("answers", "answerContent") {
        return Some(Tool::GroundTruth);
    }
    if has("data_row") && has("projects") {
        return Some(Tool::Labelbox);
    }
    if label_studio_min::is_header(&keys.keys().cloned().collect::<Vec<_>>()) {
        return Some(Tool::LabelStudioMin);
    }
    let unlabelled = keys.get("annotations").is_some_and(Value::is_null);
    if (list("annotations").is_some() || unlabelled)
        && (map("data") || first_has("annotations", "completed_by"))
    {
        return Some(Tool::LabelStudio);
    }
    if (has("_input_hash") || has("_task_hash")) && has("answer") {
        return Some(Tool::Prodigy);
    }
    let flat = keys.keys().any(|key| key.ends_with(argilla::RESPONSES));
    if flat || map("responses") && (map("fields") || has("suggestions")) {
        return Some(Tool::Argilla);
    }
    if MAPS.iter().any(|key| map(key)) {
        return Some(Tool::Judges);
    }
    let nobody = !keys.keys().any(|key| has_role(key, Role::Worker));
    let labels = list("label").or_else(|| list("labels")).is_some();
    if first_has("annotations", "user") || has("id") && labels && nobody {
        return Some(Tool::Doccano);
    }
    None
}

/// The tool of one large object.
fn of_members(input: Result<Box<dyn Read + '_>>) -> Option<Tool> {
    let mut members = JsonTexts::of_shape(input.ok()?, Some(Shape::Members)).ok()?;
    for _ in 0..FEWEST_ROWS {
        if !members.advance().ok()? {
            break;
        }
        let key = members.key().ok()?;
        let value: Value = serde_json::from_str(members.text().ok()?).ok()?;
        let first = value.as_array().and_then(|list| list.first());
        if key == "answers" && first.is_some_and(|first| first.get("answerContent").is_some()) {
            return Some(Tool::GroundTruth);
        }
        let workers = value.as_object()?;
        if workers
            .values()
            .any(|value| value.is_array() || value.is_object())
        {
            return None;
        }
    }
    Some(Tool::AnswersJson)
}

/// What a delimited text holds.
fn of_table(start: &[u8], format: Option<Format>) -> Content {
    let whole = start.len() < SAMPLE;
    let end = start.iter().rposition(|&byte| byte == b'\n');
    let text = match (whole, end) {
        (false, Some(end)) => &start[..end],
        _ => start,
    };
    let delimiter = format
        .and_then(Delimiter::of_format)
        .unwrap_or(Delimiter::Usual(b','));
    let Some((names, rows)) = read_rows(text, delimiter) else {
        return of_lines(text, format.is_none());
    };
    let tools = [
        (
            Tool::LabelStudioMin,
            label_studio_min::is_header as fn(&[String]) -> bool,
        ),
        (Tool::Mturk, mturk::is_header),
        (Tool::Toloka, toloka::is_header),
        (Tool::Appen, appen::is_header),
    ];
    if let Some((tool, _)) = tools.into_iter().find(|(_, is_header)| is_header(&names)) {
        return Content::Export(tool);
    }
    if TableLayout::default()
        .find_long(&Columns::default(), &names)
        .is_ok()
    {
        return Content::Table;
    }
    match of_lines(text, format.is_none()) {
        Content::Table if is_wide(&names, &rows) => Content::Wide,
        other => other,
    }
}

type TextRows = Vec<Vec<String>>;

fn read_rows(text: &[u8], delimiter: Delimiter) -> Option<(Vec<String>, TextRows)> {
    let (delimiter, input) = delimiter.of_input(text).ok()?;
    let mut records = Records::new(input, delimiter);
    let mut rows: TextRows = Vec::new();
    while records.advance(&[]).ok()? {
        let cells = records
            .fields()
            .map(|cell| String::from_utf8_lossy(cell).trim().to_owned());
        rows.push(cells.collect());
    }
    (!rows.is_empty()).then(|| (rows.remove(0), rows))
}

/// Lines of item, worker and label without a header, where there is no other way to read them: the label of
/// the first line is also the label of another, or the name of the file is not that of a table.
fn of_lines(text: &[u8], is_no_table: bool) -> Content {
    let Ok(text) = std::str::from_utf8(text) else {
        return Content::Table;
    };
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows: Vec<Vec<&str>> = lines.map(triples::fields).collect();
    let regular = rows
        .iter()
        .all(|row| row.len() == 3 && row.iter().all(|cell| !cell.is_empty()));
    let Some((first, others)) = rows
        .split_first()
        .filter(|_| regular && rows.len() >= FEWEST_ROWS)
    else {
        return Content::Table;
    };
    let named = [Role::Task, Role::Worker, Role::Label]
        .into_iter()
        .any(|role| first.iter().any(|name| has_role(name, role)));
    if !named && (is_no_table || others.iter().any(|row| row[2] == first[2])) {
        Content::Export(Tool::Triples)
    } else {
        Content::Table
    }
}

/// Whether a table can only be one with a column for each worker: the first column names the tasks, no column
/// is called a worker or a label, and the others hold a few classes that they share.
fn is_wide(names: &[String], rows: &[Vec<String>]) -> bool {
    let Some((task, workers)) = names.split_first().filter(|(_, workers)| workers.len() > 1) else {
        return false;
    };
    let task_named = task.is_empty() || has_role(task, Role::Task);
    let others = [Role::Task, Role::Worker, Role::Label];
    let other_roles = workers
        .iter()
        .any(|name| others.into_iter().any(|role| has_role(name, role)));
    let regular = rows.iter().all(|row| row.len() == names.len());
    if !task_named || other_roles || !regular || rows.len() < FEWEST_ROWS {
        return false;
    }
    let tasks: FxHashSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    let values = |column: usize| -> FxHashSet<&str> {
        rows.iter()
            .map(|row| row[column].as_str())
            .filter(|cell| !cell.is_empty())
            .collect()
    };
    let columns: Vec<FxHashSet<&str>> = (1..names.len()).map(values).collect();
    let classes: FxHashSet<&str> = columns.iter().flatten().copied().collect();
    let cells = rows
        .iter()
        .flat_map(|row| &row[1..])
        .filter(|cell| !cell.is_empty())
        .count();
    let shared = |column: usize| {
        let others = columns.iter().enumerate().filter(|(other, _)| *other != column);
        columns[column].is_empty()
            || others
                .into_iter()
                .any(|(_, other)| !columns[column].is_disjoint(other))
    };
    tasks.len() == rows.len()
        && classes.len() <= MAX_CLASSES
        && 2 * classes.len() <= cells
        && (0..columns.len()).all(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Content {
        let format = if text.contains('\t') {
            Format::Tsv
        } else {
            Format::Csv
        };
        of_text(text.as_bytes(), || Ok(Box::new(text.as_bytes())), Some(format))
    }

    #[test]
    fn exports_are_told_by_their_keys_and_columns() {
        for (text, tool) in [
            (r#"[{"id":1,"data":{},"annotations":[]}]"#, Tool::LabelStudio),
            (r#"[{"id":1,"data":{},"annotations":null}]"#, Tool::LabelStudio),
            (
                r#"[{"id":1,"q":"x","annotator":1,"annotation_id":2}]"#,
                Tool::LabelStudioMin,
            ),
            (r#"{"_input_hash":1,"answer":"accept"}"#, Tool::Prodigy),
            (r#"{"id":1,"q.responses":[]}"#, Tool::Argilla),
            (r#"[{"id":1,"fields":{},"responses":{}}]"#, Tool::Argilla),
            (r#"{"id":1,"text":"","label":["x"]}"#, Tool::Doccano),
            (r#"[{"datasetObjectId":"1","annotations":[]}]"#, Tool::GroundTruth),
            ("{\n \"answers\": [{\"answerContent\": {}}]\n}", Tool::GroundTruth),
            (r#"{"item":1,"judges":{"a":"x"}}"#, Tool::Judges),
            (r#"{"data_row":{},"projects":{}}"#, Tool::Labelbox),
            ("{\"0\": {\"1\": 2},\n \"1\": {\"1\": 0}}", Tool::AnswersJson),
            ("HITId,WorkerId,Answer.q\n", Tool::Mturk),
            ("INPUT:x\tOUTPUT:y\tASSIGNMENT:worker_id\n", Tool::Toloka),
            ("_unit_id,_worker_id,_trust,q\n", Tool::Appen),
            ("annotation_id,annotator,id,q\n", Tool::LabelStudioMin),
            ("i1 w1 3\ni1 w2 1\ni2 w1 3\n", Tool::Triples),
            ("1\t1\t0\n1\t2\t0\n2\t1\t1", Tool::Triples),
        ] {
            assert_eq!(told(text), Content::Export(tool), "{text}");
        }
    }

    #[test]
    fn tables_stay_tables() {
        for text in [
            "task,worker,label\na,b,c\na,c,c\nb,b,c\n",
            "HITId,WorkerId,choice\n",
            "_unit_id,_worker_id,value\n",
            r#"{"item":"q1","judge":"m","label":"pass"}"#,
            r#"[{"task":1,"worker":2,"label":["x"]}]"#,
            "a b c\n",
            "a,b,c\nx,y,z\nu,v,w\n",
            "name,age,city\nx,1,2\ny,2,3\nz,3,1\n",
            "{",
            "",
        ] {
            assert_eq!(told(text), Content::Table, "{text}");
        }
    }

    #[test]
    fn wide_tables_are_told_where_nothing_else_fits() {
        assert_eq!(told("item,ann,bob,cem\n1,x,y,\n2,x,,x\n3,y,y,x\n"), Content::Wide);
        // One row is not enough, tasks must differ, columns must share classes, and a label column is another
        // thing.
        assert_eq!(told("item,ann,bob\n1,x,y\n"), Content::Table);
        assert_eq!(told("item,ann,bob\n1,x,y\n1,x,x\n2,y,y\n"), Content::Table);
        assert_eq!(
            told("item,colour,size\n1,red,s\n2,red,m\n3,blue,s\n"),
            Content::Table
        );
        assert_eq!(told("item,ann,answer\n1,x,y\n2,x,x\n3,y,y\n"), Content::Table);
    }
}
