//! The one road to the terminal: data to standard output, everything else to standard error.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;

use crate::remedies;

/// Prints data, notes, warnings and errors.
pub struct Printer {
    quiet: bool,
    verbose: bool,
}

impl Printer {
    /// With `quiet`, notes and warnings are kept back; with `verbose`, details are shown.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        Self { quiet, verbose }
    }

    /// Whether notes and warnings are kept back.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// Data: standard output.
    pub fn data(&mut self, text: &str) -> Result<()> {
        let mut output = io::stdout().lock();
        output.write_all(harmless(text).as_bytes())?;
        output.flush()?;
        Ok(())
    }

    /// Data for programs: one JSON document on standard output.
    pub fn json(&mut self, value: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        self.data(&harmless_json(text))
    }

    /// Something worth knowing.
    pub fn note(&mut self, text: impl AsRef<str>) {
        self.write_line("", text.as_ref());
    }

    /// Something that is rarely worth knowing.
    pub fn detail(&mut self, text: impl AsRef<str>) {
        if self.verbose {
            self.write_line("", text.as_ref());
        }
    }

    /// Something to beware of.
    pub fn warning(&mut self, text: impl AsRef<str>) {
        self.write_line("warning: ", text.as_ref());
    }

    /// What went wrong, with its causes and what to do.
    pub fn error(&mut self, error: &anyhow::Error) {
        let mut text = format!("error: {error}");
        for cause in error.chain().skip(1) {
            let cause = cause.to_string();
            // Wrapped errors often repeat the words of what they wrap.
            if !text.contains(&cause) {
                text.push_str(&format!(": {cause}"));
            }
        }
        let text = remedies::with_remedy(text, remedies::of_error(error));
        let _ = writeln!(io::stderr(), "{}", harmless(&text));
    }

    fn write_line(&mut self, prefix: &str, text: &str) {
        if !self.quiet {
            // Nothing can be done where standard error is closed.
            let _ = writeln!(io::stderr(), "{prefix}{}", harmless(text));
        }
    }
}

/// Help, or what is wrong with the arguments. These may be names of files of others (`quorate aggregate *`),
/// which the words repeat.
pub fn usage(told: &clap::Error, arguments: &[OsString]) {
    let is_harmful = |argument: &OsString| matches!(harmless(&argument.to_string_lossy()), Cow::Owned(_));
    // Nothing can be done where the terminal is gone.
    if arguments.iter().any(is_harmful) {
        let _ = write!(io::stderr(), "{}", harmless(&told.render().to_string()));
    } else {
        let _ = told.print();
    }
}

/// A text with its control characters spelt out, but for line feeds and tabs: ids come from files of others,
/// and must not move the cursor, colour the screen or ring the bell.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if !text.contains(is_harmful) {
        return text.into();
    }
    let spelt = text.chars().map(|letter| {
        if is_harmful(letter) {
            letter.escape_default().to_string()
        } else {
            letter.to_string()
        }
    });
    spelt.collect::<String>().into()
}

/// A JSON document with the control characters that JSON allows in strings (DEL and those above ASCII) as its
/// escapes: the document says the same, and a terminal is left alone.
fn harmless_json(text: String) -> String {
    let is_harmful = |letter: char| letter.is_control() && letter != '\n';
    if !text.contains(is_harmful) {
        return text;
    }
    let spelt = text.chars().map(|letter| {
        if is_harmful(letter) {
            format!("\\u{:04x}", letter as u32)
        } else {
            letter.to_string()
        }
    });
    spelt.collect()
}

/// Whether the reader of our standard output went away.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let by_io = cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        let by_file = cause.downcast_ref::<quorate_io::Error>();
        by_io
            || by_file.is_some_and(|error| error.is_broken_pipe() && error.file() == Some("standard output"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(harmless("a\tb\n"), "a\tb\n");
        assert_eq!(harmless("\u{1b}[31m\u{7}é"), "\\u{1b}[31m\\u{7}é");
        assert_eq!(harmless("a\rb\u{9b}"), "a\\rb\\u{9b}");
        let document = serde_json::to_string("\u{1b}\u{7f}\u{9b}é").unwrap();
        let harmless = harmless_json(document);
        assert_eq!(harmless, r#""\u001b\u007f\u009bé""#);
        assert_eq!(
            serde_json::from_str::<String>(&harmless).unwrap(),
            "\u{1b}\u{7f}\u{9b}é"
        );
    }
}
