//! Tables in memory by slices of their batches, as many at a time as there are threads: each becomes a part.

use arrow_array::RecordBatch;

use super::batch_rows::read_batches;
use super::buffer_pool::BufferPool;
use super::part_sink::{Select, read_rounds};
use super::{Irregular, PartSink, Stop, Vocabulary};
use crate::formats::MemoryTable;
use crate::formats::columnar::Projection;
use crate::source::Progress;

/// Rows of a part: enough to be worth a thread, few enough that the copy of their names stays small.
const ROWS: usize = 1 << 18;

/// Rows whose text is made at a time: the text of numbers stays in the cache.
const SLICE: usize = 1 << 14;

/// Reads the table.
pub(crate) fn read<S: PartSink>(
    table: &MemoryTable,
    sink: S,
    select: Select<'_>,
    progress: Progress<'_>,
) -> Result<S, Stop> {
    let names = table.column_names();
    let chosen = select(&names).ok_or(Irregular)?;
    let projection = Projection::new(&names, &chosen);
    let mut slices = Vec::new();
    for batch in table.batches() {
        let batch = batch.project(&projection.columns).map_err(|_| Irregular)?;
        slices.extend(in_slices(&batch, ROWS));
    }
    let threads = rayon::current_num_threads();
    let part = |batch: &RecordBatch, vocabulary: &Vocabulary, pool: &BufferPool| {
        let texts = in_slices(batch, SLICE).map(Ok);
        read_batches(batch.num_rows(), texts, &projection, vocabulary, pool)
    };
    let total = slices.len() as u64;
    read_rounds(
        sink,
        &slices,
        (threads, threads),
        total,
        |_| Ok(()),
        part,
        progress,
    )
}

/// A batch in slices of so many rows.
fn in_slices(batch: &RecordBatch, rows: usize) -> impl Iterator<Item = RecordBatch> {
    let all = batch.num_rows();
    (0..all)
        .step_by(rows)
        .map(move |start| batch.slice(start, rows.min(all - start)))
}
