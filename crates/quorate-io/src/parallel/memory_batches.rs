//! Tables in memory by slices of their batches, as many at a time as there are threads: each becomes a part.

use arrow_array::RecordBatch;
use quorate_machine::delimiter_scan::PADDING;
use rayon::prelude::*;

use super::batch_rows::push_batch;
use super::buffer_pool::BufferPool;
use super::parts::PartRead;
use super::{Irregular, PartSink, Vocabulary};
use crate::formats::MemoryTable;
use crate::formats::columnar::Projection;
use crate::source::Progress;

/// Rows of a part: enough to be worth a thread, few enough that the copy of their names stays small.
const ROWS: usize = 1 << 18;

/// Rows whose text is made at a time: the text of numbers stays in the cache.
const SLICE: usize = 1 << 14;

/// Reads the table; `select` finds the columns of task, worker and label by name.
pub(crate) fn read<S: PartSink>(
    table: &MemoryTable,
    mut sink: S,
    select: impl FnOnce(&[String]) -> Option<[usize; 3]>,
    progress: Progress<'_>,
) -> Result<S, S::Error> {
    let names = table.column_names();
    let chosen = select(&names).ok_or(Irregular)?;
    let projection = Projection::new(&names, &chosen);
    let mut slices = Vec::new();
    for batch in table.batches() {
        let batch = batch.project(&projection.columns).map_err(|_| Irregular)?;
        let rows = batch.num_rows();
        slices.extend(
            (0..rows)
                .step_by(ROWS)
                .map(|start| batch.slice(start, ROWS.min(rows - start))),
        );
    }
    let pool = BufferPool::default();
    let total = slices.len() as u64;
    let mut done = 0;
    for wave in slices.chunks(rayon::current_num_threads()) {
        let vocabulary = sink.vocabulary();
        let parts = wave
            .par_iter()
            .map(|batch| part(batch, &projection, vocabulary, &pool))
            .collect::<Result<Vec<_>, Irregular>>()?;
        pool.give_parts(sink.append(parts)?);
        done += wave.len() as u64;
        sink.expect(done, total);
        progress(done, Some(total));
    }
    Ok(sink)
}

fn part(
    batch: &RecordBatch,
    projection: &Projection,
    vocabulary: &Vocabulary,
    pool: &BufferPool,
) -> Result<PartRead, Irregular> {
    let (mut used, _) = pool.take();
    let mut text = used.take_text();
    text.clear();
    let (mut part, mut fields) = (vocabulary.part(used), Vec::new());
    part.reserve(batch.num_rows());
    for start in (0..batch.num_rows()).step_by(SLICE) {
        let slice = batch.slice(start, SLICE.min(batch.num_rows() - start));
        let columns = projection.columns_of(&slice).map_err(|_| Irregular)?;
        push_batch(&mut part, &mut text, &columns, slice.num_rows(), &mut fields)?;
    }
    text.resize(text.len() + PADDING, 0);
    Ok(part.finish(text))
}
