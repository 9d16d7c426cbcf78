//! What can go wrong with a file: what was found, where, what was expected and what to do.

use std::fmt;
use std::io;

use quorate::Remedy;

/// Result of reading or writing a file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Line of a text file, from 1.
    Line(u64),
    /// Row of a Parquet or Arrow file, from 1.
    Row(u64),
    /// Element of a JSON array, or member of a JSON object, from 1, and the line on which it starts: many
    /// exports are one long line.
    Element {
        /// Its line.
        line: u64,
        /// Which one it is.
        element: u64,
    },
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
            Self::Element { line, element } => write!(f, "line {line}, element {element}"),
        }
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system or a decompressor said no.
    #[error("{0}")]
    Io(io::Error),
    /// Neither the name nor the caller says what format this is.
    #[error(
        "found {found}, expected one of {}; rename the file or give its format",
        crate::formats::KNOWN
    )]
    UnknownFormat {
        /// The extension that was found, in words.
        found: String,
    },
    /// The build lacks the feature that handles this format.
    #[error(
        "this build cannot handle {0} files; build with the feature `columnar`, or convert the file to CSV"
    )]
    NotBuilt(&'static str),
    /// There is nothing in the file.
    #[error("the file is empty; expected {expected}")]
    Empty {
        /// What should have been there.
        expected: String,
    },
    /// Columns are not there.
    #[error(
        "found the columns {}, expected {}; {hint}",
        quoted(found),
        if let [name] = &names[..] { format!("one named {name:?}") } else { format!("ones named {}", listed(names)) }
    )]
    MissingColumn {
        /// The columns that were looked for.
        names: Vec<String>,
        /// The columns of the file.
        found: Vec<String>,
        /// What to do.
        hint: String,
        /// What else would help.
        remedy: Option<Remedy>,
    },
    /// A key is not in a JSON object.
    #[error("found the keys {}, expected {}; {hint}", quoted(found), listed(names))]
    MissingKey {
        /// The keys that were looked for.
        names: Vec<String>,
        /// The keys of the object.
        found: Vec<String>,
        /// What to do.
        hint: String,
        /// What else would help.
        remedy: Option<Remedy>,
    },
    /// One column is to hold two things.
    #[error("column {name:?} cannot hold both the {} and the {}: name two columns", roles[0], roles[1])]
    SharedColumn {
        /// The column.
        name: String,
        /// What it was named for.
        roles: [&'static str; 2],
    },
    /// A task has a second row in a table that has one for each.
    #[error("found task {0:?} again, expected one row for each task")]
    RepeatedTask(String),
    /// A column name occurs twice, so which one is meant is not clear.
    #[error("found two columns of this name, expected one; rename one of them")]
    RepeatedColumn,
    /// A row has more or fewer fields than the header.
    #[error(
        "found {found} fields, expected {expected} as in the header; a value that holds the delimiter needs \
         quotes around it"
    )]
    Ragged {
        /// Fields in this row.
        found: usize,
        /// Fields in the header.
        expected: usize,
    },
    /// Text that is not UTF-8.
    #[error("found bytes that are not UTF-8 text; save the file as UTF-8")]
    NotUtf8,
    /// A NUL byte in what should be text.
    #[error("found a NUL byte, expected text; this looks like a binary file{0}")]
    Binary(&'static str),
    /// A quoted field that never ends.
    #[error("found a quote that is never closed; close it, or double it if it belongs to the value")]
    UnclosedQuote,
    /// Text behind the quote that closes a field.
    #[error(
        "found text behind a closing quote, expected the delimiter or the end of the line; double a quote that belongs to the \
         value, and put quotes around all of it"
    )]
    TextAfterQuote,
    /// A value or row beyond the limit.
    #[error(
        "found {what} longer than {limit} bytes; ids and labels are short: is this the right file and column?"
    )]
    TooLong {
        /// "a value" or "a row".
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// More memory than the process may have.
    #[error(
        "reading it would need more than {} of memory in all, and the limit is {}",
        quorate::internal::format_bytes(*needed), quorate::internal::format_bytes(*limit)
    )]
    TooLarge {
        /// Bytes that would be allocated in all.
        needed: u64,
        /// Bytes that may be.
        limit: u64,
    },
    /// Something that does not follow the format (JSON, Parquet, Arrow).
    #[error("{0}")]
    Syntax(String),
    /// An export of an annotation tool that is not as it should be.
    #[error("{problem}; expected {expected}")]
    Export {
        /// What was found.
        problem: String,
        /// What such a file holds.
        expected: String,
    },
    /// Answers of another kind than the command takes.
    #[error("the columns hold {found}, expected {expected}")]
    OtherKind {
        /// What the file holds.
        found: &'static str,
        /// What is taken here.
        expected: &'static str,
        /// What takes it.
        remedy: Remedy,
    },
    /// It is not clear which question of an export is meant.
    #[error(
        "read as {what}: {}",
        match wanted {
            Some(wanted) if found.is_empty() => format!("there is no question {wanted:?}: the questions have no names"),
            Some(wanted) => format!("there is no question {wanted:?}; found {}", quoted(found)),
            None => format!("found several questions, expected one: {}", quoted(found)),
        }
    )]
    Questions {
        /// What the file was read as.
        what: &'static str,
        /// The question that was asked for.
        wanted: Option<String>,
        /// The questions in the file.
        found: Vec<String>,
    },
    /// A column of a type that cannot be an id or a label.
    #[error("found values of type {found}, expected {expected}")]
    ColumnType {
        /// The type that was found.
        found: String,
        /// The types that are accepted.
        expected: &'static str,
    },
    /// Something that should be a number of some kind.
    #[error("found {found:?}, expected {expected}")]
    Number {
        /// The text that was found.
        found: String,
        /// What it should have been.
        expected: &'static str,
    },
    /// Two rows contradict each other.
    #[error(
        "task {task:?} has label {second:?} here but {first:?} at {at}; expected one label for each task; \
         remove one of the rows"
    )]
    Conflict {
        /// The task.
        task: String,
        /// Its earlier label.
        first: String,
        /// Its label here.
        second: String,
        /// Where the earlier row is.
        at: Position,
    },
    /// A model file that does not hold together.
    #[error("{0}")]
    Model(String),
    /// The labels that a model rests on are missing, damaged or others.
    #[error("{0}")]
    KeptLabels(String),
    /// A method whose models cannot be brought up to date.
    #[error(
        "a model can be brought up to date by {method} only, not by {0:?}",
        method = quorate::internal::run::UPDATABLE
    )]
    NotUpdatable(String),
    /// An array of features whose rows are not those of the tasks.
    #[error("{0}")]
    FeatureRows(String),
    /// The rows are readable but not a table of annotations.
    #[error("{0}")]
    Data(quorate::Error),
    /// A worker labelled a task again, in an input that cannot be read a second time to find the row.
    #[error("{0}; which row it is cannot be said of labels on disk that come from a pipe")]
    RepeatedInStream(quorate::Error),
}

/// An error with the place where it happened.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    file: Option<String>,
    position: Option<Position>,
    column: Option<String>,
}

impl Error {
    /// An error without a place.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            file: None,
            position: None,
            column: None,
        }))
    }

    /// Something that does not follow the format.
    pub(crate) fn syntax(words: impl Into<String>) -> Self {
        Self::new(ErrorKind::Syntax(words.into()))
    }

    /// An export of an annotation tool that is not as it should be.
    pub(crate) fn export(problem: impl Into<String>, expected: impl Into<String>) -> Self {
        let (problem, expected) = (problem.into(), expected.into());
        Self::new(ErrorKind::Export { problem, expected })
    }

    /// A file with nothing in it.
    pub(crate) fn empty(expected: impl Into<String>) -> Self {
        let expected = expected.into();
        Self::new(ErrorKind::Empty { expected })
    }

    /// The same error, in this file (kept if one is known already).
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.0.file.get_or_insert_with(|| file.into());
        self
    }

    /// The same error, at this place (kept if one is known already).
    pub fn at(mut self, position: Position) -> Self {
        self.0.position.get_or_insert(position);
        self
    }

    /// The same error, in this column (kept if one is known already).
    pub fn in_column(mut self, column: impl Into<String>) -> Self {
        self.0.column.get_or_insert_with(|| column.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Name of the file as the user gave it; `standard input` or `standard output` for `-`.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// Line or row.
    pub fn position(&self) -> Option<Position> {
        self.0.position
    }

    /// Line of a text file, or row of a Parquet or Arrow file, from 1.
    pub fn line(&self) -> Option<u64> {
        self.0.position.map(|position| match position {
            Position::Line(number) | Position::Row(number) | Position::Element { line: number, .. } => number,
        })
    }

    /// Name of the column.
    pub fn column(&self) -> Option<&str> {
        self.0.column.as_deref()
    }

    /// The kind of the underlying input or output error, if it is one.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match &self.0.kind {
            ErrorKind::Io(error) => Some(error.kind()),
            _ => None,
        }
    }

    /// What the caller can do about it, where something can be done.
    pub fn remedy(&self) -> Option<Remedy> {
        match &self.0.kind {
            ErrorKind::MissingColumn { remedy, .. } | ErrorKind::MissingKey { remedy, .. } => *remedy,
            ErrorKind::TooLarge { .. } => Some(Remedy::RaiseMemoryLimit),
            ErrorKind::KeptLabels(_) => Some(Remedy::KeepLabels),
            ErrorKind::NotUpdatable(_) => Some(Remedy::FitAnew),
            ErrorKind::Export { .. } => Some(Remedy::NameFormat),
            ErrorKind::Questions { .. } => Some(Remedy::NameQuestion),
            ErrorKind::FeatureRows(_) => Some(Remedy::NameFeatureTasks),
            ErrorKind::OtherKind { remedy, .. } => Some(*remedy),
            ErrorKind::Data(error) => error.remedy(),
            _ => None,
        }
    }

    /// Whether there was not enough memory for what was to be read.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self.0.kind, ErrorKind::TooLarge { .. })
    }

    /// The same error about an object's keys instead of a table's header.
    pub(crate) fn about_keys(mut self) -> Self {
        if let ErrorKind::MissingColumn {
            names, found, remedy, ..
        } = &mut self.0.kind
        {
            self.0.kind = ErrorKind::MissingKey {
                hint: "every object needs these keys; say which keys hold them if they have other names"
                    .into(),
                names: std::mem::take(names),
                found: std::mem::take(found),
                remedy: *remedy,
            };
        }
        self
    }

    /// Whether the reader of our output went away, which is no failure of ours.
    pub fn is_broken_pipe(&self) -> bool {
        self.io_kind() == Some(io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            file,
            position,
            column,
        } = &*self.0;
        let place = [
            file.clone(),
            position.map(|position| position.to_string()),
            column.as_ref().map(|column| format!("column {column:?}")),
        ];
        let place: Vec<String> = place.into_iter().flatten().collect();
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        write!(f, "{kind}")
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} [{:?}]", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(error) => Some(error),
            ErrorKind::Data(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::new(ErrorKind::Io(error))
    }
}

impl From<quorate::Error> for Error {
    fn from(error: quorate::Error) -> Self {
        Self::new(ErrorKind::Data(error))
    }
}

/// Names in quotes, the first dozen of them.
fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("{name:?}"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    if names.is_empty() {
        text.push_str("(none)");
    }
    text
}

/// Names in quotes, the last one behind "and".
fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last:?}", quoted(first)),
        names => quoted(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_comes_first_and_is_reachable() {
        let kind = ErrorKind::Number {
            found: "abc".into(),
            expected: "a number from 0 to 1",
        };
        let error = Error::new(kind)
            .in_column("confidence")
            .at(Position::Line(7))
            .in_file("labels.csv");
        assert_eq!(
            error.to_string(),
            r#"labels.csv, line 7, column "confidence": found "abc", expected a number from 0 to 1"#
        );
        assert_eq!(
            (error.file(), error.line(), error.column()),
            (Some("labels.csv"), Some(7), Some("confidence"))
        );
    }

    #[test]
    fn broken_pipe_is_recognised() {
        let error = Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).in_file("standard output");
        assert!(error.is_broken_pipe());
        assert!(!Error::from(ErrorKind::UnclosedQuote).is_broken_pipe());
    }

    #[test]
    fn errors_are_small() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
