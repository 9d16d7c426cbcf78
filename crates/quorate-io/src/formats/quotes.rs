//! Text behind a closing quote (`"a"b`), which the parser would take for a part of the value.
//!
//! The bytes are looked at on their way to the parser. Pieces without a quote only have to tell whether a
//! field starts behind them, so files without quotes cost a search for one byte.

/// Follows the quotes of a delimited text.
pub(super) struct QuoteCheck {
    delimiter: u8,
    state: State,
    /// Line feeds so far.
    lines: u64,
    /// Lines with text behind a closing quote that were not asked for yet.
    found: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a field.
    Start,
    /// In a field without quotes.
    Plain,
    /// Between quotes.
    Quoted,
    /// Behind a quote that closes the field, unless another follows.
    Closed,
}

impl QuoteCheck {
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            state: State::Start,
            lines: 0,
            found: Vec::new(),
        }
    }

    /// Looks at the next bytes.
    pub(super) fn look(&mut self, bytes: &[u8]) {
        if matches!(self.state, State::Start | State::Plain) && !bytes.contains(&b'"') {
            self.lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
            if let Some(&last) = bytes.last() {
                self.state = self.outside(last);
            }
            return;
        }
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (State::Start, b'"') | (State::Closed, b'"') => State::Quoted,
                (State::Quoted, b'"') => State::Closed,
                (State::Quoted, _) => State::Quoted,
                (State::Closed, byte) => {
                    let next = self.outside(byte);
                    if next == State::Plain && self.found.last() != Some(&(self.lines + 1)) {
                        self.found.push(self.lines + 1);
                    }
                    next
                }
                (_, byte) => self.outside(byte),
            };
            self.lines += u64::from(byte == b'\n');
        }
    }

    fn outside(&self, byte: u8) -> State {
        if byte == self.delimiter || byte == b'\n' || byte == b'\r' {
            State::Start
        } else {
            State::Plain
        }
    }

    /// The first line up to this one with text behind a closing quote.
    pub(super) fn up_to(&self, line: u64) -> Option<u64> {
        self.found.first().copied().filter(|&found| found <= line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_text_behind_a_closing_quote_is_found() {
        let found = |text: &str| {
            let mut check = QuoteCheck::new(b',');
            check.look(text.as_bytes());
            check.up_to(u64::MAX)
        };
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
        fn pieces_do_not_matter(text in "[a\",\n]{0,30}", cut in 0usize..30) {
            let (mut whole, mut pieces) = (QuoteCheck::new(b','), QuoteCheck::new(b','));
            whole.look(text.as_bytes());
            let (first, second) = text.as_bytes().split_at(cut.min(text.len()));
            pieces.look(first);
            pieces.look(second);
            prop_assert_eq!(whole.found, pieces.found);
        }
    }
}
