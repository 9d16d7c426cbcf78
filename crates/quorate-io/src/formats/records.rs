//! The records of a text with delimiters: a line for each, and fields with delimiters, quotes or line breaks
//! in them stand in quotes.
//!
//! Empty lines are passed over. What would be read in two ways is an error: a quote that is never closed, and
//! text behind a closing quote. A record that grows beyond a limit is one, too, so that no input takes
//! unbounded memory.

use std::io::{BufRead, BufReader, Read};

use super::row_sink::MAX_ROW;
use crate::error::{Error, ErrorKind, Position, Result};

/// Reads records one by one.
pub(crate) struct Records<R> {
    input: BufReader<R>,
    delimiter: u8,
    /// The fields of the record at hand, one after another, and where each of them ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The line on which the record starts.
    line: u64,
    /// Line feeds so far.
    feeds: u64,
}

/// Where a byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a record.
    Record,
    /// At the start of a further field.
    Field,
    /// In a field without quotes.
    Plain,
    /// Inside quotes.
    Quoted,
    /// Behind a quote that was inside: it closes the field, or another one follows.
    Closed,
}

impl<R: Read> Records<R> {
    pub(crate) fn new(input: R, delimiter: u8) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 17, input),
            delimiter,
            bytes: Vec::new(),
            ends: Vec::new(),
            line: 1,
            feeds: 0,
        }
    }

    /// Number of fields of the record.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A field of the record.
    pub(crate) fn field(&self, field: usize) -> &[u8] {
        let start = field.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[field]]
    }

    /// All fields of the record.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|field| self.field(field))
    }

    /// Where the record starts.
    pub(crate) fn position(&self) -> Position {
        Position::Line(self.line)
    }

    /// Moves to the next record; false at the end. Errors name the column, if these are all.
    pub(crate) fn advance(&mut self, names: &[String]) -> Result<bool> {
        self.bytes.clear();
        self.ends.clear();
        let (mut state, mut size) = (State::Record, 0);
        loop {
            let buffer = self.input.fill_buf()?;
            let is_end = |byte: u8| byte == b'\n' || byte == b'\r';
            let (mut used, mut ended) = (0, buffer.is_empty() && state != State::Record);
            if buffer.is_empty() {
                match state {
                    State::Record => return Ok(false),
                    State::Quoted => return Err(self.unclosed(names)),
                    _ => {}
                }
            }
            while used < buffer.len() && !ended {
                let (rest, byte) = (&buffer[used..], buffer[used]);
                let mut taken = 1;
                if state == State::Record && !is_end(byte) {
                    self.line = self.feeds + 1;
                }
                state = match state {
                    State::Quoted => {
                        let quote = rest.iter().position(|&byte| byte == b'"');
                        let text = &rest[..quote.unwrap_or(rest.len())];
                        self.feeds += text.iter().filter(|&&byte| byte == b'\n').count() as u64;
                        self.bytes.extend_from_slice(text);
                        taken = text.len() + usize::from(quote.is_some());
                        quote.map_or(State::Quoted, |_| State::Closed)
                    }
                    _ if byte == self.delimiter => {
                        self.ends.push(self.bytes.len());
                        State::Field
                    }
                    _ if is_end(byte) => {
                        self.feeds += u64::from(byte == b'\n');
                        ended = state != State::Record;
                        state
                    }
                    State::Record | State::Field if byte == b'"' => State::Quoted,
                    State::Closed if byte == b'"' => {
                        self.bytes.push(byte);
                        State::Quoted
                    }
                    State::Closed => {
                        let line = Position::Line(self.feeds + 1);
                        return Err(Error::new(ErrorKind::TextAfterQuote).at(line));
                    }
                    _ => {
                        let end = rest
                            .iter()
                            .position(|&byte| byte == self.delimiter || is_end(byte));
                        taken = end.unwrap_or(rest.len());
                        self.bytes.extend_from_slice(&rest[..taken]);
                        State::Plain
                    }
                };
                used += taken;
            }
            self.input.consume(used);
            size += used;
            if ended {
                break;
            }
            if size > MAX_ROW {
                return Err(Error::too_long("a row", MAX_ROW).at(self.position()));
            }
        }
        self.ends.push(self.bytes.len());
        if self.bytes.contains(&0) {
            return Err(Error::new(ErrorKind::Binary("")).at(self.position()));
        }
        Ok(true)
    }

    fn unclosed(&self, names: &[String]) -> Error {
        let error = Error::new(ErrorKind::UnclosedQuote).at(self.position());
        match names.get(self.len()) {
            Some(name) => error.in_column(name),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The fields of all records, or the line of text behind a closing quote.
    fn read(input: impl Read) -> Result<Vec<Vec<Vec<u8>>>, Option<u64>> {
        let (mut records, mut all) = (Records::new(input, b','), Vec::new());
        while records.advance(&[]).map_err(|error| match error.kind() {
            ErrorKind::TextAfterQuote => error.line(),
            _ => None,
        })? {
            all.push(records.fields().map(<[u8]>::to_vec).collect());
        }
        Ok(all)
    }

    #[test]
    fn only_text_behind_a_closing_quote_is_found() {
        let found = |text: &str| read(text.as_bytes()).err().flatten();
        for fine in [
            "a,b\n",
            "\"a\",b\n",
            "\"a\"\"b\",c\r\n",
            "a\"b,c\n",
            "\"a\nb\"\n",
            "\"\",\"\"",
        ] {
            assert_eq!(found(fine), None, "{fine}");
        }
        assert_eq!(found("a,b\n\"t3\"x,c\n"), Some(2));
        assert_eq!(found("\"a\nb\" ,c\n"), Some(2));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[a\",\r\n]{0,30}", cut in 0usize..30) {
            let (first, second) = text.as_bytes().split_at(cut.min(text.len()));
            prop_assert_eq!(read(text.as_bytes()), read(first.chain(second)));
        }

        /// Where nothing is refused, another parser reads the same.
        #[test]
        fn fields_are_those_of_csv(text in "[ab\",\r\n]{0,40}") {
            if let Ok(records) = read(text.as_bytes()) {
                let mut reader = csv::ReaderBuilder::new();
                let mut reader = reader.has_headers(false).flexible(true).from_reader(text.as_bytes());
                let naive = reader.byte_records().map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect());
                prop_assert_eq!(records, naive.collect::<Vec<Vec<Vec<u8>>>>());
            }
        }
    }
}
