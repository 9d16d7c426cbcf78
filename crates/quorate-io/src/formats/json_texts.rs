//! The values of a JSON file as texts, one by one: lines (JSONL), the elements of an array, or the members of
//! an object.
//!
//! Whatever the file holds, no more than one value is in memory, and a value beyond a limit stops the reader.

use std::io::{self, BufRead, BufReader, Read};

use super::row_sink::MAX_ROW;
use crate::error::{Error, ErrorKind, Position, Result};

/// What a file of JSON is a sequence of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A value on each line.
    Lines,
    /// The elements of one array.
    Array,
    /// The members of one object.
    Members,
    /// One value that fills the file.
    Whole,
}

/// The values, one by one.
pub(crate) struct JsonTexts<R> {
    input: BufReader<R>,
    shape: Shape,
    /// The text at hand.
    text: Vec<u8>,
    /// The key of the member at hand, in its quotes.
    key: Vec<u8>,
    /// Lines that ended so far.
    line: u64,
    /// The line on which the text at hand starts.
    start: u64,
    /// Values so far.
    count: u64,
    /// Whether the array or object was closed.
    ended: bool,
}

impl<R: Read> JsonTexts<R> {
    /// The elements of an array if the file is one, else its lines.
    pub(crate) fn new(input: R) -> Result<Self> {
        Self::of_shape(input, None)
    }

    /// The values of a file of this shape; none: an array or lines, as the first character tells.
    pub(crate) fn of_shape(input: R, shape: Option<Shape>) -> Result<Self> {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let line = skip_blanks(&mut input)?;
        let is_array = input.fill_buf()?.first() == Some(&b'[');
        let shape = shape.unwrap_or(if is_array { Shape::Array } else { Shape::Lines });
        Ok(Self {
            input,
            shape,
            text: Vec::new(),
            key: Vec::new(),
            line,
            start: 1,
            count: 0,
            ended: false,
        })
    }

    /// Moves to the next value that is not blank; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        loop {
            self.text.clear();
            let found = match self.shape {
                Shape::Lines => self.next_line()?,
                Shape::Array | Shape::Members => self.next_part()?,
                Shape::Whole => self.whole()?,
            };
            if !found {
                return Ok(false);
            }
            if !self.text.trim_ascii().is_empty() {
                self.count += 1;
                return Ok(true);
            }
        }
    }

    /// The text at hand, without blanks around it.
    pub(crate) fn text(&self) -> Result<&str> {
        let text = std::str::from_utf8(&self.text).map_err(|_| self.not_utf8())?;
        Ok(text.trim())
    }

    /// The key of the member at hand.
    pub(crate) fn key(&self) -> Result<String> {
        let key = std::str::from_utf8(&self.key).map_err(|_| self.not_utf8())?;
        serde_json::from_str(key).map_err(|_| {
            let found: String = key.trim().chars().take(40).collect();
            let problem = format!("found {found:?}, expected a key in quotes");
            Error::syntax(problem).at(self.position())
        })
    }

    /// Where the text at hand starts.
    pub(crate) fn position(&self) -> Position {
        match self.shape {
            Shape::Lines | Shape::Whole => Position::Line(self.start),
            Shape::Array | Shape::Members => Position::Element {
                line: self.start,
                element: self.count,
            },
        }
    }

    fn not_utf8(&self) -> Error {
        Error::new(ErrorKind::NotUtf8).at(self.position())
    }

    fn next_line(&mut self) -> Result<bool> {
        let count = (&mut self.input)
            .take(MAX_ROW as u64 + 1)
            .read_until(b'\n', &mut self.text)?;
        self.line += 1;
        self.start = self.line;
        if count > MAX_ROW {
            return Err(self.too_long("a line"));
        }
        Ok(count > 0)
    }

    fn whole(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        self.start = self.line + 1;
        self.ended = true;
        let count = (&mut self.input)
            .take(MAX_ROW as u64 + 1)
            .read_to_end(&mut self.text)?;
        if count > MAX_ROW {
            return Err(self.too_long("a file"));
        }
        Ok(true)
    }

    /// Moves to the next element of the array or member of the object, of whatever kind it is.
    fn next_part(&mut self) -> Result<bool> {
        let (open, close) = match self.shape {
            Shape::Members => (b'{', b'}'),
            _ => (b'[', b']'),
        };
        self.skip_blanks()?;
        match self.next_byte()? {
            // What opens the whole, or a comma behind a part.
            Some(found) if !self.ended && (found == open || found == b',') => {}
            Some(found) if !self.ended && found == close => return self.end(),
            found => return Err(self.unexpected(found)),
        }
        self.skip_blanks()?;
        if self.input.fill_buf()?.first() == Some(&close) {
            self.next_byte()?;
            return self.end();
        }
        if self.shape == Shape::Members {
            self.copy_until(b":")?;
            self.key.clear();
            std::mem::swap(&mut self.key, &mut self.text);
            self.next_byte()?;
            self.skip_blanks()?;
        }
        self.copy_until(&[b',', close])?;
        Ok(true)
    }

    /// Copies a value up to one of these behind it.
    fn copy_until(&mut self, ends: &[u8]) -> Result<()> {
        let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Err(self.unexpected(None));
            }
            let mut used = 0;
            let mut done = false;
            while used < buffer.len() {
                if std::mem::take(&mut escaped) {
                    used += 1;
                    continue;
                }
                let rest = &buffer[used..];
                if quoted {
                    // Most of a file lies between quotes.
                    let skipped = rest.iter().position(|&byte| byte == b'"' || byte == b'\\');
                    used += skipped.unwrap_or(rest.len());
                    let Some(skipped) = skipped else { break };
                    match rest[skipped] {
                        b'"' => quoted = false,
                        _ => escaped = true,
                    }
                    used += 1;
                    continue;
                }
                let table = if depth == 0 { &AT_TOP } else { &INSIDE };
                let Some(skipped) = rest.iter().position(|&byte| table[usize::from(byte)]) else {
                    used = buffer.len();
                    break;
                };
                used += skipped;
                let byte = rest[skipped];
                if depth == 0 && ends.contains(&byte) {
                    done = true;
                    break;
                }
                match byte {
                    b'"' => quoted = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                used += 1;
            }
            self.line += count_lines(&buffer[..used]);
            self.text.extend_from_slice(&buffer[..used]);
            self.input.consume(used);
            if self.text.len() > MAX_ROW {
                return Err(self.too_long("an object"));
            }
            if done {
                return Ok(());
            }
        }
    }

    fn skip_blanks(&mut self) -> Result<()> {
        self.line += skip_blanks(&mut self.input)?;
        self.start = self.line + 1;
        Ok(())
    }

    fn next_byte(&mut self) -> Result<Option<u8>> {
        let byte = self.input.fill_buf()?.first().copied();
        self.input.consume(usize::from(byte.is_some()));
        Ok(byte)
    }

    /// Nothing but blanks may follow the array or object.
    fn end(&mut self) -> Result<bool> {
        self.ended = true;
        self.skip_blanks()?;
        match self.next_byte()? {
            None => Ok(false),
            found => Err(self.unexpected(found)),
        }
    }

    fn unexpected(&self, found: Option<u8>) -> Error {
        let found = match found {
            Some(byte) => format!("{:?}", char::from(byte)),
            None => "the end of the file".into(),
        };
        let expected = match (self.ended, self.shape) {
            (true, Shape::Members) => "nothing behind the object",
            (true, _) => "nothing behind the array",
            (false, Shape::Members) => "members separated by commas, then \"}\"",
            (false, _) => "objects separated by commas, then \"]\"",
        };
        Error::syntax(format!("found {found}, expected {expected}")).at(Position::Line(self.line + 1))
    }

    fn too_long(&self, what: &'static str) -> Error {
        Error::too_long(what, MAX_ROW).at(Position::Line(self.start))
    }
}

/// The bytes that matter inside of a value, and at its end.
const INSIDE: [bool; 256] = table_of(b"\"{}[]");
const AT_TOP: [bool; 256] = table_of(b"\"{}[],:");

const fn table_of(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut place = 0;
    while place < bytes.len() {
        table[bytes[place] as usize] = true;
        place += 1;
    }
    table
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Passes over blanks and line feeds; returns how many lines ended.
fn skip_blanks(input: &mut impl BufRead) -> io::Result<u64> {
    let mut lines = 0;
    loop {
        let buffer = input.fill_buf()?;
        let blanks = buffer
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        lines += count_lines(&buffer[..blanks]);
        let more = blanks > 0 && blanks == buffer.len();
        input.consume(blanks);
        if !more {
            return Ok(lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(input: &str, shape: Option<Shape>) -> Result<Vec<(String, String)>> {
        let mut texts = JsonTexts::of_shape(input.as_bytes(), shape)?;
        let mut found = Vec::new();
        while texts.advance()? {
            let key = match shape {
                Some(Shape::Members) => texts.key()?,
                _ => texts.position().to_string(),
            };
            found.push((key, texts.text()?.to_owned()));
        }
        Ok(found)
    }

    fn pair(key: &str, text: &str) -> (String, String) {
        (key.to_owned(), text.to_owned())
    }

    #[test]
    fn lines_elements_and_members_are_told_apart() {
        let lines = texts("\n{\"a\":1}\n\n{\"b\":2}", None).unwrap();
        assert_eq!(lines, [pair("line 2", "{\"a\":1}"), pair("line 4", "{\"b\":2}")]);
        let elements = texts(" [{\"a\":\"],\\\"\"} ,\n 3, [1,2] ]\n", None).unwrap();
        assert_eq!(
            elements,
            [
                pair("line 1, element 1", "{\"a\":\"],\\\"\"}"),
                pair("line 2, element 2", "3"),
                pair("line 2, element 3", "[1,2]")
            ]
        );
        let members = texts("{\"a:b\" : {\"x\":1},\"c\":2}", Some(Shape::Members)).unwrap();
        assert_eq!(members, [pair("a:b", "{\"x\":1}"), pair("c", "2")]);
        assert_eq!(texts("{}", Some(Shape::Members)).unwrap(), []);
    }

    #[test]
    fn what_is_cut_short_is_an_error_with_its_line() {
        for (input, shape) in [
            ("[{\"a\":1},\n{\"b\":", None),
            ("[1]\n2", None),
            ("{\"a\":1,\n\"b\"", Some(Shape::Members)),
        ] {
            let error = texts(input, shape).unwrap_err();
            assert_eq!(error.line(), Some(2), "{error}");
        }
        assert!(texts("{a:1}", Some(Shape::Members)).is_err());
    }
}
