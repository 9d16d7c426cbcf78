//! The one path from any format to rows: a reader finds columns and hands over rows, a sink takes them.

use std::io::Read;
use std::str::FromStr;

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
pub(crate) struct Row<'r> {
    /// The names of the chosen columns, in the order in which they were chosen.
    pub names: &'r [String],
    /// Where the row is.
    pub position: Position,
    /// The value of a slot; null is the empty string.
    pub value: &'r dyn Fn(usize) -> Result<&'r str>,
}

impl<'r> Row<'r> {
    /// The value of a slot, of any length; errors name the column.
    pub(crate) fn text(&self, slot: usize) -> Result<&'r str> {
        (self.value)(slot).map_err(|error| error.in_column(&self.names[slot]))
    }

    /// The value of a slot, not too long.
    pub(crate) fn field(&self, slot: usize) -> Result<&'r str> {
        let text = self.text(slot)?;
        if text.len() > MAX_FIELD {
            return Err(Error::too_long("a value", MAX_FIELD).in_column(&self.names[slot]));
        }
        Ok(text)
    }

    /// The value of a slot as a number that fits; `expected` says which do.
    pub(crate) fn number<T: FromStr>(
        &self,
        slot: usize,
        expected: &'static str,
        fits: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let text = self.field(slot)?;
        let found = text.trim().parse().ok().filter(fits);
        found.ok_or_else(|| Error::number(text, expected).in_column(&self.names[slot]))
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

/// Takes the rows of a table.
pub(crate) trait RowSink {
    /// Chooses columns (indexes into the names); they become the slots 0, 1, .. of the rows.
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>>;

    /// Takes one row.
    fn row(&mut self, row: &Row<'_>) -> Result<()>;

    /// Whether values may be lists, which come as JSON text.
    fn takes_lists(&self) -> bool {
        false
    }
}

/// A sink of a state and two functions: one chooses the columns, the other takes the rows.
struct Sink<S, C, T>(pub S, pub C, pub T);

impl<S, C, T> RowSink for Sink<S, C, T>
where
    C: Fn(&mut S, &[String]) -> Result<Vec<usize>>,
    T: Fn(&mut S, &Row<'_>) -> Result<()>,
{
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        (self.1)(&mut self.0, names)
    }

    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        (self.2)(&mut self.0, row)
    }
}

/// Reads a table that stands beside the labels into a state; the functions are those of a [`Sink`].
pub(crate) fn read_side<S>(
    source: &Source,
    state: S,
    choose: impl Fn(&mut S, &[String]) -> Result<Vec<usize>>,
    take: impl Fn(&mut S, &Row<'_>) -> Result<()>,
) -> Result<S> {
    let mut sink = Sink(state, choose, take);
    scan(source, None, &mut sink, &mut |_, _| {})?;
    Ok(sink.0)
}

/// Reads a text with delimiters into a state; the functions are those of a [`Sink`].
pub(crate) fn read_delimited<S>(
    input: impl Read,
    delimiter: u8,
    state: S,
    choose: impl Fn(&mut S, &[String]) -> Result<Vec<usize>>,
    take: impl Fn(&mut S, &Row<'_>) -> Result<()>,
) -> Result<S> {
    let mut sink = Sink(state, choose, take);
    delimited::read(input, Delimiter::Usual(delimiter), &mut sink)?;
    Ok(sink.0)
}

/// Reads all rows of a source into the sink; gives the delimiter of a text where it is not the usual one of
/// its format. Errors carry the file's name.
pub(crate) fn scan(
    source: &Source,
    format: Option<FileFormat>,
    sink: &mut impl RowSink,
    progress: Progress<'_>,
) -> Result<Option<char>> {
    let _reading = Reading::of(source.name());
    let mut read = || {
        #[cfg(feature = "columnar")]
        if let Source::Memory(table) = source {
            return table.read(sink, progress).map(|()| None);
        }
        let FileFormat { format, compression } = source.format(format)?;
        if format.is_text() {
            return scan_text(source.open_text(compression, progress)?, format, sink);
        }
        match format {
            #[cfg(feature = "columnar")]
            Format::Parquet => super::parquet::read(source.open_file()?, sink, progress).map(|()| None),
            #[cfg(feature = "columnar")]
            Format::Arrow => super::arrow::read(source.open_file()?, sink, progress).map(|()| None),
            other => Err(ErrorKind::NotBuilt(other.name()).into()),
        }
    };
    read().map_err(|error| error.in_file(source.name()))
}

/// Like [`scan`], but of a text.
pub(crate) fn scan_text(input: impl Read, format: Format, sink: &mut impl RowSink) -> Result<Option<char>> {
    match Delimiter::of_format(format) {
        Some(delimiter) => delimited::read(input, delimiter, sink),
        None => jsonl::read(input, sink).map(|()| None),
    }
}

/// Where the columns stand whose names are used.
pub(crate) fn columns_where(names: &[String], used: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..names.len()).filter(|&column| used(&names[column])).collect()
}

/// The names of the chosen columns.
pub(crate) fn names_of(names: &[String], chosen: &[usize]) -> Vec<String> {
    chosen.iter().map(|&column| names[column].clone()).collect()
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
        (None, _) => Err(ErrorKind::Missing {
            keys: false,
            names: vec![name.to_owned()],
            found: names.to_vec(),
            hint: format!("is this the file with the {role}?"),
            remedy: None,
        }
        .into()),
    }
}
