//! Data on a terminal: ids come from files of others, and must not move the cursor, colour the screen or ring
//! the bell.

use std::io::{self, Write};

/// Writes what it gets, with control characters spelt out (`\\u{1b}`), but for line feeds and tabs.
pub(super) struct SpeltOut<W> {
    output: W,
    /// The first byte of a letter of two, behind which a control character above ASCII may stand.
    held: bool,
}

/// The byte before control characters above ASCII, U+0080 to U+009F, in UTF-8.
const ABOVE_ASCII: u8 = 0xc2;

impl<W> SpeltOut<W> {
    pub(super) fn new(output: W) -> Self {
        Self { output, held: false }
    }
}

impl<W: Write> Write for SpeltOut<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let mut text = Vec::with_capacity(buffer.len() + 1);
        for &byte in buffer {
            if std::mem::take(&mut self.held) {
                if (0x80..=0x9f).contains(&byte) {
                    write!(text, "\\u{{{byte:x}}}")?;
                    continue;
                }
                text.push(ABOVE_ASCII);
            }
            match byte {
                ABOVE_ASCII => self.held = true,
                b'\n' | b'\t' => text.push(byte),
                b'\r' => text.extend(b"\\r"),
                0..=0x1f | 0x7f => write!(text, "\\u{{{byte:x}}}")?,
                _ => text.push(byte),
            }
        }
        self.output.write_all(&text)?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelt_out_wherever_the_pieces_are_cut() {
        let text = "t\u{1b}[2J,\u{7},\u{9b}1m,\u{7f},é\u{a0}ß\tx\r\n".as_bytes();
        let expected = "t\\u{1b}[2J,\\u{7},\\u{9b}1m,\\u{7f},é\u{a0}ß\tx\\r\n";
        for cut in 0..=text.len() {
            let mut output = SpeltOut::new(Vec::new());
            output.write_all(&text[..cut]).unwrap();
            output.write_all(&text[cut..]).unwrap();
            assert_eq!(String::from_utf8(output.output).unwrap(), expected);
        }
    }
}
