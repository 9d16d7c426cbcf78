//! CSV and TSV: a header line, then a line for each row; fields with delimiters, quotes or line breaks are
//! quoted.
//!
//! Two things that the parser below lets pass are errors here, and both are seen from a mark (a NUL byte on a
//! line of its own) that is put behind the input: a quote that is never closed swallows the mark, and a NUL
//! byte anywhere else is no text. A row that grows beyond a limit stops the reader, so that no input takes
//! unbounded memory.

use std::io::{self, Read, Write};

use ::csv::{ByteRecord, Reader, ReaderBuilder};

use super::decimal::push_decimal;
use super::delimiter::Delimiter;
use super::quotes::QuoteCheck;
use super::row_sink::{MAX_ROW, Row, names_of};
use super::text::write_pieces;
use super::{Cell, RowSink, RowSource};
use crate::error::{Error, ErrorKind, Position, Result};
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
    let header = Position::Line(records.line());
    let names = records
        .record
        .iter()
        .map(|name| {
            Ok(std::str::from_utf8(name)
                .map_err(|_| ErrorKind::NotUtf8)?
                .trim()
                .to_owned())
        })
        .collect::<Result<Vec<String>>>()
        .map_err(|error| error.at(header))?;
    let chosen = sink.select(&names).map_err(|error| error.at(header))?;
    let chosen_names = names_of(&names, &chosen);
    while records.advance(&names)? {
        let (position, fields) = (Position::Line(records.line()), records.record.len());
        if fields != names.len() {
            return Err(Error::new(ErrorKind::Ragged(fields, names.len())).at(position));
        }
        let value = |slot: usize| {
            std::str::from_utf8(&records.record[chosen[slot]]).map_err(|_| ErrorKind::NotUtf8.into())
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

/// The records of a text, one by one.
pub(crate) struct Records<R> {
    reader: Reader<Marked<R>>,
    /// The record at hand.
    pub(crate) record: ByteRecord,
    /// Line on which the parser stands after the record.
    after: u64,
}

impl<R: Read> Records<R> {
    pub(crate) fn new(input: R, delimiter: u8) -> Self {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(1 << 17)
            .from_reader(Marked::new(input, delimiter));
        Self {
            reader,
            record: ByteRecord::new(),
            after: 1,
        }
    }

    /// Moves to the next record; false at the end.
    pub(crate) fn advance(&mut self, names: &[String]) -> Result<bool> {
        self.reader.get_mut().row_bytes = 0;
        let found = self.reader.read_byte_record(&mut self.record);
        if !found.map_err(|error| self.explain(error))? {
            return Ok(false);
        }
        self.after = self.reader.position().line();
        let last_line = self.line() + self.breaks();
        if let Some(line) = self.reader.get_ref().quotes.up_to(last_line) {
            return Err(Error::new(ErrorKind::TextAfterQuote).at(Position::Line(line)));
        }
        if !self.record.as_slice().contains(&0) {
            return Ok(true);
        }
        // The mark, a quote that swallowed the mark, or a NUL byte of the file: the first two come last.
        let last = self.record.len() - 1;
        let swallowed = self.reader.get_ref().ended() && self.record[last].ends_with(b"\n\0\n");
        let marked = last == 0 && self.record[0] == [0];
        let line = self.line();
        let unclosed_line = self.after - self.breaks();
        let at_end = (marked || swallowed)
            && self
                .reader
                .read_byte_record(&mut self.record)
                .is_ok_and(|more| !more);
        match (at_end, marked) {
            (true, true) => Ok(false),
            (true, false) => {
                let error = Error::new(ErrorKind::UnclosedQuote).at(Position::Line(unclosed_line));
                Err(match names.get(last) {
                    Some(name) => error.in_column(name),
                    None => error,
                })
            }
            (false, _) => Err(Error::new(ErrorKind::Binary("")).at(Position::Line(line))),
        }
    }

    /// Line breaks inside the record's fields.
    fn breaks(&self) -> u64 {
        self.record
            .as_slice()
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count() as u64
    }

    /// The line on which the record starts. The parser counts line feeds that it has passed: those in the
    /// record and the one that ends it, unless lines end in CR LF, where the LF is left for the next record.
    fn line(&self) -> u64 {
        let ending = u64::from(!self.reader.get_ref().crlf);
        (self.after - self.breaks()).saturating_sub(ending).max(1)
    }

    fn explain(&self, error: ::csv::Error) -> Error {
        if self.reader.get_ref().overrun {
            let first = self.after + u64::from(self.reader.get_ref().crlf && self.after > 1);
            return Error::too_long("a row", MAX_ROW).at(Position::Line(first));
        }
        match error.into_kind() {
            ::csv::ErrorKind::Io(error) => error.into(),
            other => Error::syntax(format!("{other:?}")),
        }
    }
}

/// The input followed by the mark; stops at a row that is too long.
struct Marked<R> {
    input: R,
    quotes: QuoteCheck,
    /// What is left of the mark, once the input has ended.
    mark: Option<&'static [u8]>,
    /// Whether lines end in CR LF; told by the first line.
    crlf: bool,
    line_seen: bool,
    last_byte: u8,
    row_bytes: usize,
    overrun: bool,
}

impl<R> Marked<R> {
    fn new(input: R, delimiter: u8) -> Self {
        Self {
            input,
            quotes: QuoteCheck::new(delimiter),
            mark: None,
            crlf: false,
            line_seen: false,
            last_byte: 0,
            row_bytes: 0,
            overrun: false,
        }
    }

    fn ended(&self) -> bool {
        self.mark.is_some()
    }

    fn find_line_end(&mut self, bytes: &[u8]) {
        if let Some(offset) = bytes.iter().position(|&byte| byte == b'\n') {
            let before = if offset == 0 {
                self.last_byte
            } else {
                bytes[offset - 1]
            };
            self.crlf = before == b'\r';
            self.line_seen = true;
        }
        if let Some(&byte) = bytes.last() {
            self.last_byte = byte;
        }
    }
}

impl<R: Read> Read for Marked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.row_bytes > MAX_ROW {
            self.overrun = true;
            return Err(io::Error::other("row too long"));
        }
        if self.mark.is_none() {
            let count = self.input.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                self.row_bytes += count;
                self.quotes.look(&buffer[..count]);
                if !self.line_seen {
                    self.find_line_end(&buffer[..count]);
                }
                return Ok(count);
            }
            self.mark = Some(if self.crlf { b"\r\n\0\n" } else { b"\n\0\n" });
        }
        self.mark.as_mut().map_or(Ok(0), |mark| mark.read(buffer))
    }
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
