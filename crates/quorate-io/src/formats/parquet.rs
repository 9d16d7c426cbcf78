//! Parquet files: read batch by batch, only the columns in use; written with Snappy compression.

use std::fs::File;
use std::io::Write;

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::arrow::{ArrowWriter, ProjectionMask};
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::properties::WriterProperties;

use super::columnar::{Projection, for_each_batch, guarded, schema_of};
use super::parquet_pages::check_pages;
use super::{MAX_FIELD, RowSink, RowSource};
use crate::error::{Error, Result};
use crate::source::Progress;

pub(crate) const NAME: &str = "Parquet";

/// Rows in a batch that is read.
pub(crate) const BATCH: usize = 1 << 13;

/// Reads a Parquet file into the sink.
pub(crate) fn read(file: File, sink: &mut impl RowSink, progress: Progress<'_>) -> Result<()> {
    let bytes = file.metadata()?.len();
    if bytes == 0 {
        return Err(Error::empty("a Parquet file"));
    }
    let pages = file.try_clone()?;
    let builder = guarded(NAME, || ParquetRecordBatchReaderBuilder::try_new(file))?;
    let projection = Projection::choose(builder.schema(), sink)?;
    let largest = check_columns(builder.metadata(), &projection.columns)?;
    check_pages(&pages, builder.metadata(), &projection.columns)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), projection.columns.iter().copied());
    let total = u64::try_from(builder.metadata().file_metadata().num_rows())
        .unwrap_or(0)
        .max(1);
    let mut reader = guarded(NAME, || {
        builder
            .with_projection(mask)
            .with_batch_size(batch_of(largest))
            .build()
    })?;
    let mut rows = 0;
    while let Some(batch) = guarded(NAME, || reader.next().transpose())? {
        projection.deliver(&batch, &mut rows, sink)?;
        let share = (rows as f64 / total as f64).min(1.0);
        progress((share * bytes as f64) as u64, Some(bytes));
    }
    Ok(())
}

/// Bytes of text that are decoded at a time, in columns of long values.
const BATCH_BYTES: u64 = 16 << 20;

/// Rows of a batch whose values have so many bytes.
fn batch_of(value: u64) -> usize {
    (BATCH_BYTES / value.max(1)).clamp(16, BATCH as u64) as usize
}

/// Refuses columns that cannot be read, or whose values are longer than any id, before any of them is
/// unpacked; returns the mean bytes of the longest values. Where the columns of the file are nested, nothing
/// is checked.
pub(crate) fn check_columns(metadata: &ParquetMetaData, columns: &[usize]) -> Result<u64> {
    let mut largest = 0;
    let leaves = metadata.file_metadata().schema_descr();
    for group in metadata.row_groups() {
        for leaf in
            (0..group.num_columns()).filter(|&leaf| columns.contains(&leaves.get_column_root_idx(leaf)))
        {
            let column = group.column(leaf);
            let name = || column.column_path().string();
            if let codec @ (Compression::BROTLI(_) | Compression::LZO) = column.compression() {
                let packing = if codec == Compression::LZO {
                    "LZO"
                } else {
                    "Brotli"
                };
                let unsupported = format!(
                    "found a column packed with {packing}, which is not supported; write the file again with Snappy, gzip, LZ4 or \
                     Zstandard, for example pandas.read_parquet(FILE).to_parquet(FILE, compression=\"zstd\")"
                );
                return Err(Error::syntax(unsupported).in_column(name()));
            }
            let (bytes, values) = (column.uncompressed_size(), column.num_values());
            let mean = u64::try_from(bytes).unwrap_or(0) / u64::try_from(values).unwrap_or(0).max(1);
            // Longer on the average than any of them may be.
            if mean > 2 * MAX_FIELD as u64 {
                return Err(Error::too_long("a value", MAX_FIELD).in_column(name()));
            }
            largest = largest.max(mean);
        }
    }
    Ok(largest)
}

/// Writes a table as a Parquet file.
pub(crate) fn write(output: &mut (dyn Write + Send), table: &dyn RowSource) -> Result<()> {
    let schema = schema_of(table);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let mut writer = ArrowWriter::try_new(output, schema.clone(), Some(properties)).map_err(write_error)?;
    for_each_batch(table, &schema, |batch| writer.write(batch).map_err(write_error))?;
    writer.close().map_err(write_error)?;
    Ok(())
}

fn write_error(error: ParquetError) -> Error {
    Error::syntax(error.to_string())
}
