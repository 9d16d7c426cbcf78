//! CSV and TSV: a header line, then a line for each row; fields with delimiters, quotes or line breaks are
//! quoted.

use std::io::{Read, Write};

use super::decimal::push_decimal;
use super::delimiter::Delimiter;
use super::records::Records;
use super::row_sink::{Row, names_of};
use super::text::write_pieces;
use super::{Cell, RowSink, RowSource};
use crate::error::{Error, ErrorKind, Result};
use crate::target::neutralises_formulas;

/// Reads a table of text into the sink; gives the delimiter where it is not the usual one of the format.
pub(crate) fn read(input: impl Read, delimiter: Delimiter, sink: &mut impl RowSink) -> Result<Option<char>> {
    let (found, input) = delimiter.of_input(input)?;
    let mut records = Records::new(input, found);
    if !records.advance(&[])? {
        return Err(Error::empty(
            "a header line with the names of the columns, then one line for each row",
        ));
    }
    let header = records.position();
    let name = |field| match std::str::from_utf8(field) {
        Ok(name) => Ok(name.trim().to_owned()),
        Err(_) => Err(Error::new(ErrorKind::NotUtf8).at(header)),
    };
    let names: Vec<String> = records.fields().map(name).collect::<Result<_>>()?;
    let chosen = sink.select(&names).map_err(|error| error.at(header))?;
    let chosen_names = names_of(&names, &chosen);
    while records.advance(&names)? {
        let (position, fields) = (records.position(), records.len());
        if fields != names.len() {
            return Err(Error::new(ErrorKind::Ragged(fields, names.len())).at(position));
        }
        let value = |slot: usize| {
            std::str::from_utf8(records.field(chosen[slot])).map_err(|_| ErrorKind::NotUtf8.into())
        };
        let row = Row {
            names: &chosen_names,
            position,
            value: &value,
        };
        sink.row(&row).map_err(|error| error.at(position))?;
    }
    Ok(delimiter.unusual(found))
}

/// Writes a table as text.
pub(crate) fn write(output: &mut dyn Write, delimiter: u8, table: &dyn RowSource) -> Result<()> {
    // Asked here: rows may be written by other threads.
    let style = Style::new(delimiter);
    let columns = table.columns();
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    write_line(output, style, &names)?;
    write_pieces(output, table, |output, rows| write_rows(output, style, rows))
}

/// Writes one line of text fields.
pub(crate) fn write_line(output: &mut dyn Write, style: Style, fields: &[&str]) -> Result<()> {
    let mut line = Vec::new();
    for field in fields {
        push_field(&mut line, field, style);
    }
    end_line(&mut line, fields.len());
    Ok(output.write_all(&line)?)
}

/// How fields are written.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    delimiter: u8,
    /// Whether text that looks like a formula gets an apostrophe before it.
    neutral: bool,
}

impl Style {
    /// As this run wants it.
    pub(crate) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            neutral: neutralises_formulas(),
        }
    }
}

fn write_rows(output: &mut dyn Write, style: Style, table: &dyn RowSource) -> Result<()> {
    const FULL: usize = 1 << 16;
    let mut lines = Vec::with_capacity(FULL + (1 << 10));
    let mut number = String::new();
    table.for_each_row(&mut |cells| {
        for cell in cells {
            number.clear();
            match *cell {
                Cell::Text(text) if text.contains('\0') => {
                    return Err(ErrorKind::Binary("; write JSONL, Parquet or Arrow to keep the byte").into());
                }
                Cell::Text(text) => {
                    push_field(&mut lines, text, style);
                    continue;
                }
                Cell::Number(value) => push_decimal(&mut number, value),
                Cell::Count(count) => number.push_str(&count.to_string()),
                Cell::Missing => {}
            }
            // Nothing in a number has to be quoted.
            lines.extend_from_slice(number.as_bytes());
            lines.push(style.delimiter);
        }
        end_line(&mut lines, cells.len());
        if lines.len() >= FULL {
            output.write_all(&lines)?;
            lines.clear();
        }
        Ok(())
    })?;
    Ok(output.write_all(&lines)?)
}

/// Appends a field and the delimiter behind it; quoted if anything in it would be taken for the end of the
/// field.
fn push_field(line: &mut Vec<u8>, text: &str, Style { delimiter, neutral }: Style) {
    let special = |byte: u8| (byte == delimiter) | (byte == b'"') | (byte == b'\n') | (byte == b'\r');
    let apostrophe = neutral && text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if text.bytes().any(special) {
        line.push(b'"');
        line.extend(apostrophe.then_some(b'\''));
        line.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        line.push(b'"');
    } else {
        line.extend(apostrophe.then_some(b'\''));
        line.extend_from_slice(text.as_bytes());
    }
    line.push(delimiter);
}

/// Ends a line of so many fields: a line feed takes the place of the last delimiter.
fn end_line(lines: &mut Vec<u8>, fields: usize) {
    lines.pop();
    // A line with nothing on it would be no row.
    if fields == 1 && matches!(lines.last(), None | Some(b'\n')) {
        lines.extend_from_slice(b"\"\"");
    }
    lines.push(b'\n');
}
