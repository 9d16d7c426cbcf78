//! Parquet files by row groups, as many at a time as there are threads.
//!
//! A row group becomes a part of the table: its values one after another in a text, read as the fields of a
//! delimited file are. Whatever does not fit (a damaged file, an empty id, row groups of very many rows)
//! makes the reading fall back to the row by row reader, which has the words for what is wrong.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use quorate_machine::delimiter_scan::PADDING;
use rayon::prelude::*;

use super::batch_rows::push_batch;
use super::buffer_pool::BufferPool;
use super::parts::PartRead;
use super::{Irregular, PartSink, Vocabulary};
use crate::formats::columnar::{Projection, guarded};
use crate::formats::parquet::{BATCH, NAME, check_columns};
use crate::formats::parquet_pages::check_pages;
use crate::memory;
use crate::source::Progress;

/// Most rows in a row group: a part is in memory as a whole.
const MAX_ROWS: i64 = 1 << 23;

/// Reads the file; `select` finds the columns of task, worker and label by name.
pub(crate) fn read<S: PartSink>(
    path: &Path,
    mut sink: S,
    select: impl FnOnce(&[String]) -> Option<[usize; 3]>,
    progress: Progress<'_>,
) -> Result<S, S::Error> {
    let file = File::open(path).map_err(|_| Irregular)?;
    let bytes = file.metadata().map_err(|_| Irregular)?.len();
    let metadata = guarded(NAME, || {
        ArrowReaderMetadata::load(&file, ArrowReaderOptions::default())
    })
    .map_err(|_| Irregular)?;
    let fields = metadata.schema().fields().iter();
    let names: Vec<String> = fields.map(|field| field.name().clone()).collect();
    let chosen = select(&names).ok_or(Irregular)?;
    let groups = RowGroups {
        path,
        projection: Projection::new(&names, &chosen),
        metadata,
    };
    let (stated, columns) = (groups.metadata.metadata(), &groups.projection.columns);
    check_columns(stated, columns).map_err(|_| Irregular)?;
    check_pages(&file, stated, columns).map_err(|_| Irregular)?;
    let count = groups.metadata.metadata().num_row_groups();
    if groups
        .metadata
        .metadata()
        .row_groups()
        .iter()
        .any(|group| group.num_rows() > MAX_ROWS)
    {
        return Err(Irregular.into());
    }
    let (mut done, pool) = (0, BufferPool::default());
    while done < count {
        let wave = done..(done + rayon::current_num_threads()).min(count);
        done = wave.end;
        // Unpacked, as values, and as text. Row by row only a page is at hand.
        if memory::check(groups.bytes_of(wave.clone()).saturating_mul(3)).is_err() {
            return Err(Irregular.into());
        }
        let vocabulary = sink.vocabulary();
        let parts = wave
            .into_par_iter()
            .map(|group| groups.part(group, vocabulary, &pool))
            .collect::<Result<Vec<_>, Irregular>>()?;
        pool.give_parts(sink.append(parts)?);
        sink.expect(done as u64, count as u64);
        progress(bytes * done as u64 / count as u64, Some(bytes));
    }
    Ok(sink)
}

struct RowGroups<'a> {
    path: &'a Path,
    projection: Projection,
    metadata: ArrowReaderMetadata,
}

impl RowGroups<'_> {
    /// Unpacked bytes of the columns in use of some groups.
    fn bytes_of(&self, groups: Range<usize>) -> u64 {
        let metadata = self.metadata.metadata();
        let leaves = metadata.file_metadata().schema_descr();
        let columns = groups.flat_map(|group| metadata.row_group(group).columns().iter().enumerate());
        let used = columns.filter(|(leaf, _)| {
            self.projection
                .columns
                .contains(&leaves.get_column_root_idx(*leaf))
        });
        used.map(|(_, column)| u64::try_from(column.uncompressed_size()).unwrap_or(0))
            .fold(0, u64::saturating_add)
    }

    fn part(&self, group: usize, vocabulary: &Vocabulary, pool: &BufferPool) -> Result<PartRead, Irregular> {
        let file = File::open(self.path).map_err(|_| Irregular)?;
        let columns = self.projection.columns.iter().copied();
        let mut reader = guarded(NAME, || {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
            let mask = ProjectionMask::roots(reader.parquet_schema(), columns);
            reader
                .with_row_groups(vec![group])
                .with_projection(mask)
                .with_batch_size(BATCH)
                .build()
        })
        .map_err(|_| Irregular)?;
        let (mut used, _) = pool.take();
        let mut text = used.take_text();
        text.clear();
        let (mut part, mut rows) = (vocabulary.part(used), Vec::new());
        let expected = self.metadata.metadata().row_group(group).num_rows();
        part.reserve(usize::try_from(expected).unwrap_or(0));
        while let Some(batch) = guarded(NAME, || reader.next().transpose()).map_err(|_| Irregular)? {
            let columns = self.projection.columns_of(&batch).map_err(|_| Irregular)?;
            push_batch(&mut part, &mut text, &columns, batch.num_rows(), &mut rows)?;
        }
        text.resize(text.len() + PADDING, 0);
        Ok(part.finish(text))
    }
}
