//! What stands between the fields of a text file: said by the caller, or told by the first line.

use std::io::{self, Cursor, Read};

use super::Format;
use super::row_sink::MAX_ROW;

/// How the character between fields is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// The caller says so.
    Given(u8),
    /// This one, unless the first line shows none of it but another one.
    Usual(u8),
}

/// Characters that separate fields in the files that programs write.
const KNOWN: [u8; 4] = [b',', b';', b'\t', b'|'];

impl Delimiter {
    /// That of a format; none for a format without fields.
    pub(crate) fn of_format(format: Format) -> Option<Self> {
        match format {
            Format::Csv => Some(Self::Usual(b',')),
            Format::Tsv => Some(Self::Usual(b'\t')),
            Format::Delimited(given) => Some(Self::Given(given)),
            Format::Jsonl | Format::Json | Format::Parquet | Format::Arrow => None,
        }
    }

    /// The delimiter, if it is another one than usual.
    pub(crate) fn unusual(self, found: u8) -> Option<char> {
        (self != Self::Usual(found) && self != Self::Given(found)).then_some(found.into())
    }

    /// The delimiter of a file with this first line.
    pub(crate) fn of_line(self, line: &[u8]) -> u8 {
        match self {
            Self::Given(given) => given,
            Self::Usual(usual) if count(line, usual) > 0 => usual,
            Self::Usual(usual) => {
                let best = KNOWN.into_iter().max_by_key(|&known| count(line, known));
                best.filter(|&best| count(line, best) > 0).unwrap_or(usual)
            }
        }
    }

    /// Reads so much of the input that its first line is there; returns the delimiter and the whole input.
    pub(crate) fn of_input<R: Read>(self, mut input: R) -> io::Result<(u8, impl Read)> {
        let (mut start, mut chunk) = (Vec::new(), vec![0; 1 << 12]);
        let mut blank = true;
        loop {
            let read = match input.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            // Only what is new is looked at: the first line may be as long as a row can be.
            let new = if blank {
                chunk[..read].trim_ascii_start()
            } else {
                &chunk[..read]
            };
            blank &= new.is_empty();
            let ended = first_line_end(new).is_some();
            start.extend_from_slice(&chunk[..read]);
            if read == 0 || ended || start.len() > MAX_ROW {
                break;
            }
        }
        // A second byte order mark is one, too.
        if start.starts_with("\u{feff}".as_bytes()) {
            start.drain(..3);
        }
        let delimiter = self.of_line(first_line(&start));
        Ok((delimiter, Cursor::new(start).chain(input)))
    }
}

/// The first line that is not blank.
fn first_line(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    &text[..first_line_end(text).unwrap_or(text.len())]
}

fn first_line_end(text: &[u8]) -> Option<usize> {
    text.iter().position(|&byte| byte == b'\n' || byte == b'\r')
}

/// How often a character stands outside of quotes.
fn count(line: &[u8], delimiter: u8) -> usize {
    let mut quoted = false;
    let outside = |byte: &&u8| {
        quoted ^= **byte == b'"';
        !quoted && **byte == delimiter
    };
    line.iter().filter(outside).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_one_wins_where_it_stands_and_quotes_do_not_count() {
        let told = |line: &str| Delimiter::Usual(b',').of_line(line.as_bytes());
        assert_eq!(told("task,worker;x,label"), b',');
        assert_eq!(told("task;worker;label"), b';');
        assert_eq!(told("task\tworker\tlabel"), b'\t');
        assert_eq!(told("\"a;b\""), b',');
        assert_eq!(told("worker"), b',');
        assert_eq!(Delimiter::Given(b'|').of_line(b"a,b"), b'|');
        assert_eq!(Delimiter::Usual(b'\t').of_line(b"a,b"), b',');
    }

    #[test]
    fn a_first_line_in_many_pieces_is_one_line() {
        let blank = " \n".repeat(5000);
        let text = format!("{blank}{};{}\n1,2\n", "a".repeat(9000), "b".repeat(9000));
        let (delimiter, mut input) = Delimiter::Usual(b',').of_input(text.as_bytes()).unwrap();
        let mut all = String::new();
        input.read_to_string(&mut all).unwrap();
        assert!(delimiter == b';' && all == text);
    }

    #[test]
    fn the_input_stays_whole() {
        let text = "\n\ntask;worker\n1;2\n";
        let (delimiter, mut input) = Delimiter::Usual(b',').of_input(text.as_bytes()).unwrap();
        let mut all = String::new();
        input.read_to_string(&mut all).unwrap();
        assert_eq!((delimiter, all.as_str()), (b';', text));
    }
}
