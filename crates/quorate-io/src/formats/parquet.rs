//! Parquet files: read batch by batch, only the columns in use; written with Snappy compression.

use std::fs::File;
use std::io::Write;

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::arrow::{ArrowWriter, ProjectionMask};
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;

use super::columnar::{Projection, for_each_batch, guarded, schema_of};
use super::{RowSink, RowSource};
use crate::error::{Error, ErrorKind, Result};
use crate::source::Progress;

pub(crate) const NAME: &str = "Parquet";

/// Rows in a batch that is read.
pub(crate) const BATCH: usize = 1 << 13;

/// Reads a Parquet file into the sink.
pub(crate) fn read(file: File, sink: &mut impl RowSink, progress: Progress<'_>) -> Result<()> {
    let bytes = file.metadata()?.len();
    if bytes == 0 {
        return Err(ErrorKind::Empty {
            expected: "a Parquet file".into(),
        }
        .into());
    }
    let builder = guarded(NAME, || ParquetRecordBatchReaderBuilder::try_new(file))?;
    let projection = Projection::choose(builder.schema(), sink)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), projection.columns.iter().copied());
    let total = u64::try_from(builder.metadata().file_metadata().num_rows())
        .unwrap_or(0)
        .max(1);
    let mut reader = guarded(NAME, || {
        builder.with_projection(mask).with_batch_size(BATCH).build()
    })?;
    let mut rows = 0;
    while let Some(batch) = guarded(NAME, || reader.next().transpose())? {
        projection.deliver(&batch, &mut rows, sink)?;
        let share = (rows as f64 / total as f64).min(1.0);
        progress((share * bytes as f64) as u64, Some(bytes));
    }
    Ok(())
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
    ErrorKind::Syntax(error.to_string()).into()
}
