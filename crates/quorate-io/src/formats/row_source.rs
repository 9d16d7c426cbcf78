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
