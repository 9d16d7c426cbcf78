//! Arrow IPC files (also called Feather version 2): the file form and the stream form are read, the file
//! form is written.

use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};

use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;

use super::arrow_sizes::{check_file, check_stream};
use super::columnar::{Projection, for_each_batch, guarded, schema_of};
use super::{RowSink, RowSource};
use crate::error::{Error, Result};
use crate::source::Progress;

pub(super) const NAME: &str = "Arrow";

/// What the file form starts with.
const MAGIC: &[u8] = b"ARROW1";

/// Reads an Arrow file or stream into the sink.
pub(crate) fn read(mut file: File, sink: &mut impl RowSink, progress: Progress<'_>) -> Result<()> {
    let bytes = file.metadata()?.len();
    if bytes == 0 {
        return Err(Error::empty("an Arrow file"));
    }
    let mut start = Vec::new();
    (&mut file).take(MAGIC.len() as u64).read_to_end(&mut start)?;
    file.rewind()?;
    let mut rows = 0;
    if start == MAGIC {
        guarded(NAME, || Ok::<_, Error>(check_file(&file, bytes)))??;
        let open = |columns| guarded(NAME, || FileReader::try_new(BufReader::new(&file), columns));
        let projection = Projection::choose(&open(None)?.schema(), sink)?;
        let mut reader = open(Some(projection.columns.clone()))?;
        let (batches, mut done) = (reader.num_batches() as u64, 0);
        while let Some(batch) = guarded(NAME, || reader.next().transpose())? {
            projection.deliver(&batch, &mut rows, sink)?;
            done += 1;
            progress(bytes / batches * done, Some(bytes));
        }
    } else {
        guarded(NAME, || Ok::<_, Error>(check_stream(&file, bytes)))??;
        let open = |columns| guarded(NAME, || StreamReader::try_new(BufReader::new(&file), columns));
        let projection = Projection::choose(&open(None)?.schema(), sink)?;
        (&file).rewind()?;
        let mut reader = open(Some(projection.columns.clone()))?;
        while let Some(batch) = guarded(NAME, || reader.next().transpose())? {
            projection.deliver(&batch, &mut rows, sink)?;
        }
    }
    progress(bytes, Some(bytes));
    Ok(())
}

/// Writes a table as an Arrow file.
pub(crate) fn write(output: &mut (dyn Write + Send), table: &dyn RowSource) -> Result<()> {
    let schema = schema_of(table);
    let mut writer = FileWriter::try_new(output, &schema).map_err(write_error)?;
    for_each_batch(table, &schema, |batch| writer.write(batch).map_err(write_error))?;
    writer.finish().map_err(write_error)
}

fn write_error(error: ArrowError) -> Error {
    Error::syntax(error.to_string())
}
