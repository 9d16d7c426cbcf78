//! The one path from any format to rows: a reader finds columns and hands over rows, a sink takes them.

use std::io::Read;

use super::delimiter::Delimiter;
use super::{FileFormat, Format, delimited, jsonl};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::memory::Reading;
use crate::source::{Progress, Source};

/// Longest id, label or number, in bytes.
pub const MAX_FIELD: usize = crate::parallel::LONGEST_NAME;

/// Longest row of a text file, in bytes: columns that are not used may be long, but not without bound.
pub(crate) const MAX_ROW: usize = 16 << 20;

/// One row of a table, reduced to the columns that the sink chose.
pub(crate) trait Row {
    /// The value in the chosen column `slot`; null is the empty string.
    fn text(&self, slot: usize) -> Result<&str>;

    /// Where the row is.
    fn position(&self) -> Position;
}

/// Takes the rows of a table.
pub(crate) trait RowSink {
    /// Chooses columns (indexes into the names); they become the slots 0, 1, .. of the rows.
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>>;

    /// Is told the delimiter of a text file, where it is not the usual one of its format.
    fn note_delimiter(&mut self, _delimiter: char) {}

    /// Takes one row.
    fn row(&mut self, row: &impl Row) -> Result<()>;
}

/// A row and the names of its columns, for sinks that are made of functions.
pub(crate) struct NamedRow<'r> {
    row: &'r dyn Row,
    /// The names of the chosen columns, in the order in which they were chosen.
    pub names: &'r [String],
}

impl<'r> NamedRow<'r> {
    /// The value of a slot, of any length; errors name the column.
    pub(crate) fn text(&self, slot: usize) -> Result<&'r str> {
        let text = self.row.text(slot);
        text.map_err(|error| error.in_column(&self.names[slot]))
    }

    /// The value of a slot, not too long.
    pub(crate) fn field(&self, slot: usize) -> Result<&'r str> {
        limited(self.text(slot)?, &self.names[slot])
    }

    /// The value of the column of this name; empty where there is none.
    pub(crate) fn named(&self, name: &str) -> Result<&'r str> {
        let slot = self.names.iter().position(|column| column == name);
        slot.map_or(Ok(""), |slot| self.field(slot))
    }

    /// The value of a slot, which is an id and not empty.
    pub(crate) fn id(&self, slot: usize, what: &'static str) -> Result<&'r str> {
        match self.field(slot)? {
            "" => Err(Error::from(quorate::Error::EmptyId(what)).in_column(what)),
            id => Ok(id),
        }
    }
}

/// A sink of two functions, which share a state.
pub(crate) struct Sink<S, C, T> {
    pub state: S,
    names: Vec<String>,
    choose: C,
    take: T,
}

/// A sink of two functions: one chooses the columns, the other takes the rows.
pub(crate) fn sink<S, C, T>(state: S, choose: C, take: T) -> Sink<S, C, T>
where
    C: Fn(&mut S, &[String]) -> Result<Vec<usize>>,
    T: Fn(&mut S, &NamedRow<'_>) -> Result<()>,
{
    let names = Vec::new();
    Sink {
        state,
        names,
        choose,
        take,
    }
}

impl<S, C, T> RowSink for Sink<S, C, T>
where
    C: Fn(&mut S, &[String]) -> Result<Vec<usize>>,
    T: Fn(&mut S, &NamedRow<'_>) -> Result<()>,
{
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        let chosen = (self.choose)(&mut self.state, names)?;
        self.names = chosen.iter().map(|&column| names[column].clone()).collect();
        Ok(chosen)
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let names = &self.names;
        (self.take)(&mut self.state, &NamedRow { row, names })
    }
}

/// Reads all rows of a source into the sink. Errors carry the file's name.
pub(crate) fn scan(
    source: &Source,
    format: Option<FileFormat>,
    sink: &mut impl RowSink,
    progress: Progress<'_>,
) -> Result<()> {
    let _reading = Reading::of(source.name());
    let mut read = || {
        #[cfg(feature = "columnar")]
        if let Source::Memory(table) = source {
            return table.read(sink, progress);
        }
        let FileFormat { format, compression } = source.format(format)?;
        if format.is_text() {
            return scan_text(source.open_text(compression, progress)?, format, sink);
        }
        match format {
            #[cfg(feature = "columnar")]
            Format::Parquet => super::parquet::read(source.open_file()?, sink, progress),
            #[cfg(feature = "columnar")]
            Format::Arrow => super::arrow::read(source.open_file()?, sink, progress),
            other => Err(ErrorKind::NotBuilt(other.name()).into()),
        }
    };
    read().map_err(|error| error.in_file(source.name()))
}

/// Reads all rows of a text into the sink.
pub(crate) fn scan_text(input: impl Read, format: Format, sink: &mut impl RowSink) -> Result<()> {
    match Delimiter::of_format(format) {
        Some(delimiter) => delimited::read(input, delimiter, sink),
        None => jsonl::read(input, sink),
    }
}

/// The value of a slot, not too long; errors name the column.
pub(crate) fn field<'r>(row: &'r impl Row, slot: usize, column: &str) -> Result<&'r str> {
    limited(row.text(slot).map_err(|error| error.in_column(column))?, column)
}

fn limited<'t>(text: &'t str, column: &str) -> Result<&'t str> {
    if text.len() > MAX_FIELD {
        let (what, limit) = ("a value", MAX_FIELD);
        return Err(Error::new(ErrorKind::TooLong { what, limit }).in_column(column));
    }
    Ok(text)
}

/// Where the columns stand whose names are used.
pub(crate) fn columns_where(names: &[String], used: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..names.len()).filter(|&column| used(&names[column])).collect()
}

/// Where the columns of these names stand, each of which holds what it is called.
pub(crate) fn find_columns_named(names: &[String], wanted: &[&str]) -> Result<Vec<usize>> {
    let places = wanted.iter().map(|name| find_column(names, name, name));
    places.collect()
}

/// Where the column of exactly this name, which holds the `role` of a row, stands among the names of a table.
pub(crate) fn find_column(names: &[String], name: &str, role: &str) -> Result<usize> {
    let mut found = (0..names.len()).filter(|&column| names[column] == name);
    match (found.next(), found.next()) {
        (Some(column), None) => Ok(column),
        (Some(_), Some(_)) => Err(Error::new(ErrorKind::RepeatedColumn).in_column(name)),
        (None, _) => Err(ErrorKind::MissingColumn {
            names: vec![name.to_owned()],
            found: names.to_vec(),
            hint: format!("is this the file with the {role}?"),
            remedy: None,
        }
        .into()),
    }
}
