//! The one path from results to files: a source names its columns and hands over rows, a format writes them.

use std::io::Write;

use super::{Compression, FileFormat, Format, delimited, jsonl};
use crate::error::Result;
use crate::target::{Target, write_whole};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text, in every row.
    Text,
    /// Text, or no value.
    OptionalText,
    /// Numbers, probabilities mostly: six decimals or digits in text formats, full precision in Parquet and
    /// Arrow.
    Number,
    /// Whole numbers.
    Count,
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Text.
    Text(&'a str),
    /// A finite number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// No value: an empty field, or null.
    Missing,
}

impl From<Option<f64>> for Cell<'_> {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Missing, Self::from)
    }
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Missing, Self::Text)
    }
}

impl From<f64> for Cell<'_> {
    /// Numbers that are not finite have no value.
    fn from(value: f64) -> Self {
        if value.is_finite() {
            Self::Number(value)
        } else {
            Self::Missing
        }
    }
}

/// Anything with named columns and rows.
pub trait RowSource {
    /// Names and kinds of the columns.
    fn columns(&self) -> Vec<(String, ColumnKind)>;

    /// Calls `each` with the cells of every row, in order; stops at the first error.
    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()>;

    /// The same rows in pieces, in order, which several threads can turn into text at a time; none where rows
    /// are few or come one after the other.
    fn pieces(&self) -> Vec<Box<dyn RowSource + Send + '_>> {
        Vec::new()
    }
}

/// Rows that a function hands over.
struct TableOf<F> {
    columns: Vec<(String, ColumnKind)>,
    rows: F,
}

impl<F: Fn(&mut Each<'_>) -> Result<()>> RowSource for TableOf<F> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        self.columns.clone()
    }

    fn for_each_row(&self, each: &mut Each<'_>) -> Result<()> {
        (self.rows)(each)
    }
}

/// What takes the rows of a table.
pub type Each<'e> = dyn FnMut(&[Cell<'_>]) -> Result<()> + 'e;

/// A table of these columns; `rows` hands its rows over.
pub(crate) fn table<N: Into<String>>(
    columns: impl IntoIterator<Item = (N, ColumnKind)>,
    rows: impl Fn(&mut Each<'_>) -> Result<()>,
) -> impl RowSource {
    let columns = columns.into_iter().map(|(name, kind)| (name.into(), kind));
    TableOf {
        columns: columns.collect(),
        rows,
    }
}

/// Writes a table of these columns, whole or not at all; `rows` hands its rows over.
pub fn write_rows<N: Into<String>>(
    target: &Target,
    columns: impl IntoIterator<Item = (N, ColumnKind)>,
    rows: impl Fn(&mut Each<'_>) -> Result<()>,
) -> Result<()> {
    write_rows_as(target, None, columns, rows)
}

/// Like [`write_rows`], in the format that is given, if one is.
pub(crate) fn write_rows_as<N: Into<String>>(
    target: &Target,
    format: Option<FileFormat>,
    columns: impl IntoIterator<Item = (N, ColumnKind)>,
    rows: impl Fn(&mut Each<'_>) -> Result<()>,
) -> Result<()> {
    write_table(target, format, &table(columns, rows))
}

/// Writes a table, whole or not at all. The format is the one given, else told by the extension, else CSV.
pub fn write_table(target: &Target, format: Option<FileFormat>, table: &dyn RowSource) -> Result<()> {
    #[cfg(feature = "columnar")]
    if let Target::Memory(sink) = target {
        return sink.write(table);
    }
    let FileFormat { format, compression } = target
        .format(format)
        .map_err(|error| error.in_file(target.name()))?;
    write_packed(target, compression, |output| write_format(output, format, table))
}

/// Lets `write` fill a file that appears whole or not at all, packed in this way.
pub(crate) fn write_packed(
    target: &Target,
    compression: Compression,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
) -> Result<()> {
    write_whole(target, |output| match compression {
        Compression::None => write(output),
        Compression::Gzip => {
            let mut packed = flate2::write::GzEncoder::new(output, flate2::Compression::default());
            write(&mut packed)?;
            packed.finish()?;
            Ok(())
        }
        Compression::Zstd => {
            let mut packed = zstd::Encoder::new(output, 3)?;
            packed.include_checksum(true)?;
            write(&mut packed)?;
            packed.finish()?;
            Ok(())
        }
    })
}

fn write_format(output: &mut (dyn Write + Send), format: Format, table: &dyn RowSource) -> Result<()> {
    match format {
        Format::Csv => delimited::write(output, b',', table),
        Format::Tsv => delimited::write(output, b'\t', table),
        Format::Delimited(delimiter) => delimited::write(output, delimiter, table),
        Format::Jsonl => jsonl::write(output, table),
        Format::Json => jsonl::write_array(output, table),
        #[cfg(feature = "columnar")]
        Format::Parquet => super::parquet::write(output, table),
        #[cfg(feature = "columnar")]
        Format::Arrow => super::arrow::write(output, table),
        #[cfg(not(feature = "columnar"))]
        Format::Parquet | Format::Arrow => Err(crate::ErrorKind::NotBuilt(format.name()).into()),
    }
}
