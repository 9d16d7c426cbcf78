//! JSONL: one JSON object on each line, its keys the columns.
//!
//! The keys of the first object are the columns of the table. Values may be text, numbers (kept as they are
//! written: `3` stays `3`), true and false, and null, which is the empty value.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::decimal::push_decimal;
use super::row_sink::MAX_ROW;
use super::text::write_pieces;
use super::{Cell, Row, RowSink, RowSource};
use crate::error::{Error, ErrorKind, Position, Result};

/// Reads objects into the sink.
pub(crate) fn read(input: impl Read, sink: &mut impl RowSink) -> Result<()> {
    let mut lines = Lines {
        input: BufReader::with_capacity(1 << 16, input),
        line: Vec::new(),
        number: 0,
    };
    let mut row: Option<JsonRow> = None;
    while lines.advance()? {
        let position = Position::Line(lines.number);
        let place = |error: Error| error.at(position);
        let text = std::str::from_utf8(&lines.line).map_err(|_| place(ErrorKind::NotUtf8.into()))?;
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if row.is_none() {
            let names = parse(text, Keys).map_err(place)?;
            let chosen = sink.select(&names).map_err(place)?;
            row = Some(JsonRow::new(chosen.into_iter().map(|index| names[index].clone())));
        }
        if let Some(row) = &mut row {
            row.fill(text, lines.number).map_err(place)?;
            sink.row(row).map_err(place)?;
        }
    }
    if row.is_none() {
        return Err(ErrorKind::Empty {
            expected: "one JSON object on each line".into(),
        }
        .into());
    }
    Ok(())
}

struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
}

impl<R: Read> Lines<R> {
    fn advance(&mut self) -> Result<bool> {
        self.line.clear();
        let count = (&mut self.input)
            .take(MAX_ROW as u64 + 1)
            .read_until(b'\n', &mut self.line)?;
        self.number += 1;
        if count > MAX_ROW {
            let too_long = ErrorKind::TooLong {
                what: "a line",
                limit: MAX_ROW,
            };
            return Err(Error::new(too_long).at(Position::Line(self.number)));
        }
        Ok(count > 0)
    }
}

/// The chosen values of one object; buffers are used again for the next.
struct JsonRow {
    names: Vec<String>,
    values: Vec<String>,
    seen: Vec<bool>,
    line: u64,
}

impl JsonRow {
    fn new(names: impl Iterator<Item = String>) -> Self {
        let names: Vec<String> = names.collect();
        Self {
            values: vec![String::new(); names.len()],
            seen: vec![false; names.len()],
            names,
            line: 0,
        }
    }

    fn fill(&mut self, text: &str, line: u64) -> Result<()> {
        self.line = line;
        self.seen.fill(false);
        let mut problem = None;
        parse(
            text,
            Values {
                row: self,
                problem: &mut problem,
            },
        )?;
        if let Some(problem) = problem {
            return Err(problem);
        }
        if let Some(slot) = self.seen.iter().position(|&seen| !seen) {
            return Err(ErrorKind::MissingColumn {
                name: self.names[slot].clone(),
                found: parse(text, Keys)?,
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
                Error::new(ErrorKind::ColumnType {
                    found: found.to_owned(),
                    expected: "text, a number, true, false or null",
                })
                .in_column(key)
            };
            match raw.as_bytes().first() {
                Some(b'"') if !raw.contains('\\') => self.values[slot].push_str(&raw[1..raw.len() - 1]),
                Some(b'"') => self.values[slot] = serde_json::from_str(raw).map_err(syntax)?,
                Some(b'{') => return Err(refused("object")),
                Some(b'[') => return Err(refused("array")),
                Some(b'n') => {}
                _ => self.values[slot].push_str(raw),
            }
        }
        Ok(())
    }
}

impl Row for JsonRow {
    fn text(&self, slot: usize) -> Result<&str> {
        Ok(&self.values[slot])
    }

    fn position(&self) -> Position {
        Position::Line(self.line)
    }
}

fn parse<'de, S: DeserializeSeed<'de>>(text: &'de str, seed: S) -> Result<S::Value> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut parser).map_err(syntax)?;
    parser.end().map_err(syntax)?;
    Ok(value)
}

fn syntax(error: serde_json::Error) -> Error {
    let words = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let words = words.strip_suffix(&place).unwrap_or(&words);
    ErrorKind::Syntax(format!(
        "{words} at character {}; expected one JSON object on each line",
        error.column()
    ))
    .into()
}

/// Collects the keys of an object.
struct Keys;

impl<'de> DeserializeSeed<'de> for Keys {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<Vec<String>, D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Vec<String>, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, IgnoredAny)) = map.next_entry()? {
            keys.push(key);
        }
        Ok(keys)
    }
}

/// Puts the chosen values of an object into a row.
struct Values<'a> {
    row: &'a mut JsonRow,
    problem: &'a mut Option<Error>,
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<(), D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(Key)? {
            if !self.row.names.iter().any(|name| *name == key) {
                map.next_value::<IgnoredAny>()?;
            } else if let Err(problem) = self.row.set(&key, map.next_value()?) {
                self.problem.get_or_insert(problem);
            }
        }
        Ok(())
    }
}

/// A key, borrowed from the line where it has no escapes.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = std::borrow::Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<Self::Value, D::Error> {
        parser.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = std::borrow::Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> std::result::Result<Self::Value, E> {
        Ok(key.into())
    }

    fn visit_str<E>(self, key: &str) -> std::result::Result<Self::Value, E> {
        Ok(key.to_owned().into())
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
                        .map_err(|error| ErrorKind::Syntax(error.to_string()))?;
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
