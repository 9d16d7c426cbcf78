//! Parquet files by row groups, as many at a time as there are threads.
//!
//! A row group becomes a part of the table: its values one after another in a text, read as the fields of a
//! delimited file are. Whatever does not fit (a damaged file, an empty id, row groups of very many rows)
//! makes the reading fall back to the row by row reader, which has the words for what is wrong.

use std::fs::File;
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use super::batch_rows::read_batches;
use super::buffer_pool::BufferPool;
use super::part_sink::{Select, read_rounds};
use super::parts::PartRead;
use super::{Irregular, PartSink, Stop, Vocabulary};
use crate::formats::columnar::{Projection, guarded};
use crate::formats::parquet::{BATCH, NAME, check_columns};
use crate::formats::parquet_pages::check_pages;
use crate::memory;
use crate::source::Progress;

/// Most rows in a row group: a part is in memory as a whole.
const MAX_ROWS: i64 = 1 << 23;

/// Reads the file.
pub(crate) fn read<S: PartSink>(
    path: &Path,
    sink: S,
    select: Select<'_>,
    progress: Progress<'_>,
) -> Result<S, Stop> {
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
    let mut sizes = stated.row_groups().iter().map(|group| group.num_rows());
    if sizes.any(|rows| rows > MAX_ROWS) {
        return Err(Irregular.into());
    }
    let (all, threads) = (
        Vec::from_iter(0..stated.num_row_groups()),
        rayon::current_num_threads(),
    );
    // Unpacked, as values, and as text. Row by row only a page is at hand.
    let check =
        |wave: &[usize]| memory::check(groups.bytes_of(wave).saturating_mul(3)).map_err(|_| Irregular);
    let part =
        |&group: &usize, vocabulary: &Vocabulary, pool: &BufferPool| groups.part(group, vocabulary, pool);
    read_rounds(sink, &all, (threads, threads), bytes, check, part, progress)
}

struct RowGroups<'a> {
    path: &'a Path,
    projection: Projection,
    metadata: ArrowReaderMetadata,
}

impl RowGroups<'_> {
    /// Unpacked bytes of the columns in use of some groups.
    fn bytes_of(&self, groups: &[usize]) -> u64 {
        let metadata = self.metadata.metadata();
        let leaves = metadata.file_metadata().schema_descr();
        let groups = groups.iter();
        let columns = groups.flat_map(|&group| metadata.row_group(group).columns().iter().enumerate());
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
        let rows = self.metadata.metadata().row_group(group).num_rows();
        let batches = std::iter::from_fn(|| {
            let batch = guarded(NAME, || reader.next().transpose());
            batch.map_err(|_| Irregular).transpose()
        });
        let rows = usize::try_from(rows).unwrap_or(0);
        read_batches(rows, batches, &self.projection, vocabulary, pool)
    }
}
