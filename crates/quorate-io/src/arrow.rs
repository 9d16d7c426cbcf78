//! Arrow IPC files (also called Feather version 2): the file form and the stream form are read, the file
//! form is written.

use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;

use crate::columnar::{Projection, for_each_batch, schema_of};
use crate::error::{Error, ErrorKind, Result};
use crate::scan::RowSink;
use crate::source::Progress;
use crate::table::Table;

/// What the file form starts with.
const MAGIC: &[u8] = b"ARROW1";

/// Reads an Arrow file or stream into the sink.
pub(crate) fn read(mut file: File, sink: &mut impl RowSink, progress: Progress<'_>) -> Result<()> {
    let bytes = file.metadata()?.len();
    if bytes == 0 {
        return Err(ErrorKind::Empty {
            expected: "an Arrow file".into(),
        }
        .into());
    }
    let mut start = Vec::new();
    (&mut file).take(MAGIC.len() as u64).read_to_end(&mut start)?;
    file.rewind()?;
    let mut rows = 0;
    if start == MAGIC {
        let schema = FileReader::try_new(BufReader::new(&file), None)
            .map_err(read_error)?
            .schema();
        let projection = Projection::choose(&schema, sink)?;
        let columns = Some(projection.columns.clone());
        let reader = FileReader::try_new(BufReader::new(&file), columns).map_err(read_error)?;
        let batches = reader.num_batches() as u64;
        for (done, batch) in reader.enumerate() {
            projection.deliver(&checked(batch)?, &mut rows, sink)?;
            progress(bytes / batches * (done as u64 + 1), Some(bytes));
        }
    } else {
        let schema = StreamReader::try_new(BufReader::new(&file), None)
            .map_err(read_error)?
            .schema();
        let projection = Projection::choose(&schema, sink)?;
        file.rewind()?;
        let columns = Some(projection.columns.clone());
        let mut reader = StreamReader::try_new(BufReader::new(&file), columns).map_err(read_error)?;
        for batch in &mut reader {
            projection.deliver(&checked(batch)?, &mut rows, sink)?;
        }
    }
    progress(bytes, Some(bytes));
    Ok(())
}

fn checked(batch: std::result::Result<RecordBatch, ArrowError>) -> Result<RecordBatch> {
    batch.map_err(read_error)
}

fn read_error(error: ArrowError) -> Error {
    ErrorKind::Syntax(format!(
        "not a whole Arrow file ({error}); get the file anew, or give its format if it is another"
    ))
    .into()
}

/// Writes a table as an Arrow file.
pub(crate) fn write(output: &mut (dyn Write + Send), table: &dyn Table) -> Result<()> {
    let schema = schema_of(table);
    let mut writer = FileWriter::try_new(output, &schema).map_err(write_error)?;
    for_each_batch(table, &schema, |batch| writer.write(batch).map_err(write_error))?;
    writer.finish().map_err(write_error)
}

fn write_error(error: ArrowError) -> Error {
    ErrorKind::Syntax(error.to_string()).into()
}
