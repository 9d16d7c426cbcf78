//! Label Studio, JSON-MIN, CSV and TSV: an object or a row for each annotation, its questions beside the data
//! of the task.
//!
//! task = `id`; worker = `annotator`; question = a column that is neither about the annotation nor data of
//! the task. In JSON-MIN the questions stand between `id` and `annotator`; in a table they are those columns
//! in which the annotations of one task differ.

use std::io::{Read, Write};

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answers::{Answers, split_choices};
use super::json::{Answer, each, parse, scalar_of};
use super::labelled::{JsonList, Labelled, id_value};
use super::members::Members;
use crate::error::{Error, Result};
use crate::formats::delimiter::Delimiter;
use crate::formats::{Row, RowSink, RowSource, delimited};

/// What a file holds, in words for errors.
const EXPECTED: &str = "objects with `id`, `annotator`, `annotation_id` and a key for each question";

/// Columns that are about the annotation itself.
const ABOUT: [&str; 6] = [
    "id",
    "annotator",
    "annotation_id",
    "created_at",
    "updated_at",
    "lead_time",
];

/// Letters in the longest choice: a column with more in a cell is text, and is not kept.
const LONGEST_CHOICE: usize = 200;

/// Whether a table with these columns is one of these.
pub(super) fn is_header(names: &[String]) -> bool {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    has("annotation_id") && has("annotator") && has("id")
}

/// Reads JSON-MIN.
pub(super) fn read_json(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    each(input, None, |text| {
        let members: Members<'_> = parse(text, EXPECTED)?;
        let value = |key: &str| -> Result<String> {
            let found = members
                .get(key)
                .map_or(Ok(Value::Null), |raw| parse(raw.get(), EXPECTED))?;
            match scalar_of(&found) {
                Some(text) if !text.is_empty() => Ok(text),
                _ => Err(Error::export(
                    format!("found an object without `{key}`"),
                    EXPECTED,
                )),
            }
        };
        let (task, worker) = (value("id")?, value("annotator")?);
        let place = |key: &str| members.0.iter().position(|(name, _)| name.as_ref() == key);
        let questions = match (place("id"), place("annotator")) {
            (Some(id), Some(annotator)) if id < annotator => &members.0[id + 1..annotator],
            _ => &members.0[..],
        };
        for (question, raw) in questions {
            if !ABOUT.contains(&question.as_ref()) {
                take_json(question, raw, &task, &worker, answers)?;
            }
        }
        Ok(())
    })
}

fn take_json(
    question: &str,
    raw: &RawValue,
    task: &str,
    worker: &str,
    answers: &mut Answers<'_>,
) -> Result<()> {
    // Several choices, or a taxonomy, stand in an object of their own.
    let mut value: Value = parse(raw.get(), EXPECTED)?;
    if let Some(inner) = value.get_mut("choices").map(Value::take) {
        value = inner;
    }
    let answer = match Answer::of_value(&value) {
        // A single choice stands alone.
        Answer::One(choice) if !choice.0.is_empty() => Answer::Several(vec![choice]),
        other => other,
    };
    answers.take(question, task, worker, &answer)
}

/// Reads the table.
pub(super) fn read_table(input: impl Read, delimiter: Delimiter, answers: &mut Answers<'_>) -> Result<()> {
    let mut rows = KeptRows {
        wanted: answers.wanted_question().map(str::to_owned),
        names: Vec::new(),
        first: FxHashMap::default(),
        differs: Vec::new(),
        is_text: Vec::new(),
        kept: Vec::new(),
    };
    delimited::read(input, delimiter, &mut rows)?;
    rows.give(answers)
}

/// The rows; which columns are questions shows only when all of them were seen.
struct KeptRows {
    wanted: Option<String>,
    /// Names of the columns that may be questions.
    names: Vec<String>,
    /// The first row of each task.
    first: FxHashMap<String, usize>,
    /// Whether annotations of a task differ in a column.
    differs: Vec<bool>,
    is_text: Vec<bool>,
    kept: Vec<(String, String, Vec<String>)>,
}

impl RowSink for KeptRows {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        let place = |wanted: &str| names.iter().position(|name| name == wanted).unwrap_or_default();
        let questions: Vec<usize> = (0..names.len())
            .filter(|&column| !ABOUT.contains(&names[column].as_str()))
            .filter(|&column| self.wanted.as_ref().is_none_or(|wanted| *wanted == names[column]))
            .collect();
        self.names = questions.iter().map(|&column| names[column].clone()).collect();
        self.differs = vec![false; questions.len()];
        self.is_text = vec![false; questions.len()];
        Ok([place("id"), place("annotator")]
            .into_iter()
            .chain(questions)
            .collect())
    }

    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        let (task, worker) = (row.field(0)?, row.field(1)?);
        let mut cells = Vec::with_capacity(self.names.len());
        for (slot, name) in self.names.iter().enumerate() {
            let cell = row.text(slot + 2).map_err(|error| error.in_column(name))?;
            self.is_text[slot] |= cell.len() > LONGEST_CHOICE;
            let kept = !self.is_text[slot] || self.wanted.is_some();
            cells.push(if kept { cell.to_owned() } else { String::new() });
        }
        let first = *self.first.entry(task.to_owned()).or_insert(self.kept.len());
        if let Some((_, _, before)) = self.kept.get(first) {
            for (differs, (cell, before)) in self.differs.iter_mut().zip(cells.iter().zip(before)) {
                *differs |= cell != before;
            }
        }
        self.kept.push((task.to_owned(), worker.to_owned(), cells));
        Ok(())
    }
}

impl KeptRows {
    fn give(self, answers: &mut Answers<'_>) -> Result<()> {
        // Where nobody differs anywhere, everything short may be a question.
        let any = self.differs.contains(&true);
        let may_be = |slot: usize| !self.is_text[slot] && (self.differs[slot] || !any);
        for (task, worker, cells) in &self.kept {
            for (slot, (name, cell)) in self.names.iter().zip(cells).enumerate() {
                if self.wanted.is_some() || may_be(slot) {
                    let choices = parse::<Value>(cell, "").ok().filter(Value::is_object);
                    match choices.and_then(|value| value.get("choices").cloned()) {
                        Some(value) => take_json(name, &raw(&value)?, task, worker, answers)?,
                        None if cell.is_empty() => answers.answer(name, task, worker, "")?,
                        None => answers.choices(name, task, worker, &[cell])?,
                    }
                }
            }
        }
        Ok(())
    }
}

fn raw(value: &Value) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(value).map_err(|error| Error::syntax(error.to_string()))
}

/// Writes an object for each annotation.
pub(super) fn write_json(output: &mut dyn Write, labelled: &Labelled<'_>) -> Result<()> {
    let (mut list, mut number) = (JsonList::new(output, true)?, 0);
    labelled.each_task(|task, answers| {
        for given in answers {
            number += 1;
            let choices = split_choices(given.label);
            let label = match &choices[..] {
                [only] => json!(only),
                several => json!({"choices": several}),
            };
            // In this order: questions are what stands between the id and the annotator.
            let members = [
                ("id", id_value(task)),
                (labelled.question, label),
                ("annotator", id_value(given.worker)),
                ("annotation_id", json!(number)),
            ];
            let members = members.map(|(key, value)| format!("{}:{value}", json!(key)));
            list.push(format!("{{{}}}", members.join(",")).as_bytes())?;
        }
        Ok(())
    })?;
    list.end()
}

/// A row for each annotation.
pub(super) fn rows<'a>(labelled: &'a Labelled<'a>) -> impl RowSource + 'a {
    let columns = ["annotation_id", "annotator", "id", labelled.question].map(str::to_owned);
    labelled.rows(columns.into(), |task, given, number, row| {
        let cell = match &split_choices(given.label)[..] {
            [only] => only.to_string(),
            several => json!({"choices": several}).to_string(),
        };
        row(&[&number.to_string(), given.worker, task, &cell])
    })
}
