//! JSON: one object on each line (JSONL), or an array of objects; their keys are the columns.
//!
//! Which of the two it is shows in the first character, whatever the name of the file. An array is read
//! object by object, too. The keys of the first object are the columns of the table. Values may be text,
//! numbers (kept as they are written: `3` stays `3`), true and false, and null, which is the empty value.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Write};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::decimal::push_decimal;
use super::json_texts::JsonTexts;
use super::row_sink::{Row, names_of};
use super::text::write_pieces;
use super::{Cell, RowSink, RowSource};
use crate::error::{Error, ErrorKind, Result};

/// Reads objects into the sink.
pub(crate) fn read(input: impl Read, sink: &mut impl RowSink) -> Result<()> {
    let mut objects = JsonTexts::new(input)?;
    let mut object: Option<JsonObject> = None;
    while objects.advance()? {
        let position = objects.position();
        let place = |error: Error| error.at(position);
        let text = objects.text()?;
        if object.is_none() {
            let names = keys_of(text).map_err(place)?;
            let chosen = sink.select(&names).map_err(|error| place(error.about_keys()))?;
            object = Some(JsonObject::new(names_of(&names, &chosen), sink.takes_lists()));
        }
        if let Some(object) = &mut object {
            object.fill(text).map_err(place)?;
            let row = Row {
                names: &object.names,
                position,
                value: &|slot| Ok(&object.values[slot]),
            };
            sink.row(&row).map_err(place)?;
        }
    }
    match object {
        Some(_) => Ok(()),
        None => Err(Error::empty(NO_OBJECTS)),
    }
}

/// What an input without any object lacks.
pub(crate) const NO_OBJECTS: &str = "one JSON object on each line, or an array of objects";

/// The chosen values of one object; buffers are used again for the next.
struct JsonObject {
    names: Vec<String>,
    values: Vec<String>,
    seen: Vec<bool>,
    takes_lists: bool,
}

impl JsonObject {
    fn new(names: Vec<String>, takes_lists: bool) -> Self {
        Self {
            takes_lists,
            values: vec![String::new(); names.len()],
            seen: vec![false; names.len()],
            names,
        }
    }

    fn fill(&mut self, text: &str) -> Result<()> {
        self.seen.fill(false);
        let mut problem = None;
        for_each_member(text, |key, value| {
            if let Err(error) = self.set(&key, value) {
                problem.get_or_insert(error);
            }
        })?;
        if let Some(problem) = problem {
            return Err(problem);
        }
        if let Some(slot) = self.seen.iter().position(|&seen| !seen) {
            return Err(ErrorKind::Missing {
                keys: true,
                names: vec![self.names[slot].clone()],
                found: keys_of(text)?,
                hint: "every object needs this key; null stands for no answer".into(),
                remedy: None,
            }
            .into());
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &RawValue) -> Result<()> {
        for slot in 0..self.names.len() {
            if self.names[slot] != key {
                continue;
            }
            if std::mem::replace(&mut self.seen[slot], true) {
                return Err(Error::new(ErrorKind::RepeatedColumn).in_column(key));
            }
            self.values[slot].clear();
            let raw = value.get();
            let refused = |found: &str| {
                let kind = ErrorKind::ColumnType(found.to_owned(), "text, a number, true, false or null");
                Error::new(kind).in_column(key)
            };
            match raw.as_bytes().first() {
                Some(b'"') if !raw.contains('\\') => self.values[slot].push_str(&raw[1..raw.len() - 1]),
                Some(b'"') => self.values[slot] = serde_json::from_str(raw).map_err(syntax)?,
                Some(b'{') => return Err(refused("object")),
                Some(b'[') if !self.takes_lists => return Err(refused("array")),
                Some(b'n') => {}
                _ => self.values[slot].push_str(raw),
            }
        }
        Ok(())
    }
}

/// The keys of an object, in order.
fn keys_of(text: &str) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for_each_member(text, |key, _| keys.push(key.into_owned()))?;
    Ok(keys)
}

fn for_each_member<'t>(text: &'t str, each: impl FnMut(Cow<'t, str>, &'t RawValue)) -> Result<()> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let read = parser.deserialize_map(EachMember(each));
    read.and_then(|()| parser.end()).map_err(syntax)
}

fn syntax(error: serde_json::Error) -> Error {
    let problem = problem_of(&error);
    Error::syntax(format!(
        "{problem} at character {}; expected one JSON object on each line",
        error.column()
    ))
}

/// What a parser found wrong, without the place that it names behind it.
pub(crate) fn problem_of(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    words.strip_suffix(&place).unwrap_or(&words).to_owned()
}

/// Hands over the members of an object, in order; values as they are written.
pub(crate) struct EachMember<F>(pub F);

impl<'de, F: FnMut(Cow<'de, str>, &'de RawValue)> Visitor<'de> for EachMember<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> std::result::Result<(), A::Error> {
        #[derive(Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        while let Some((Key(key), value)) = map.next_entry()? {
            self.0(key, value);
        }
        Ok(())
    }
}

/// Writes a table, one object for each row.
pub(crate) fn write(output: &mut dyn Write, table: &dyn RowSource) -> Result<()> {
    let keys: Vec<String> = table
        .columns()
        .iter()
        .map(|(name, _)| format!("{}:", serde_json::Value::from(name.as_str())))
        .collect();
    write_pieces(output, table, |output, rows| write_rows(output, &keys, rows))
}

/// Writes a table as an array of objects.
pub(crate) fn write_array(output: &mut dyn Write, table: &dyn RowSource) -> Result<()> {
    output.write_all(b"[")?;
    let mut separated = CommaBetweenLines {
        output,
        at_start: true,
    };
    write(&mut separated, table)?;
    Ok(separated.output.write_all(b"\n]\n")?)
}

/// Turns lines into the elements of an array: what ends a line separates it from the next.
struct CommaBetweenLines<'a> {
    output: &'a mut dyn Write,
    /// Whether no line was written yet.
    at_start: bool,
}

impl Write for CommaBetweenLines<'_> {
    /// Takes whole lines: JSON has line feeds nowhere else, and rows are written whole.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            let separator: &[u8] = if self.at_start { b"\n" } else { b",\n" };
            self.at_start = false;
            self.output.write_all(separator)?;
            self.output.write_all(line.strip_suffix(b"\n").unwrap_or(line))?;
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

fn write_rows(output: &mut dyn Write, keys: &[String], table: &dyn RowSource) -> Result<()> {
    let mut line = Vec::new();
    let mut number = String::new();
    table.for_each_row(&mut |cells| {
        line.clear();
        for (column, (key, cell)) in keys.iter().zip(cells).enumerate() {
            line.push(if column == 0 { b'{' } else { b',' });
            line.extend_from_slice(key.as_bytes());
            number.clear();
            match *cell {
                Cell::Text(text) => {
                    serde_json::to_writer(&mut line, text)
                        .map_err(|error| Error::syntax(error.to_string()))?;
                }
                Cell::Number(value) => push_decimal(&mut number, value),
                Cell::Count(count) => number.push_str(&count.to_string()),
                Cell::Missing => number.push_str("null"),
            }
            line.extend_from_slice(number.as_bytes());
        }
        line.extend_from_slice(b"}\n");
        Ok(output.write_all(&line)?)
    })
}
