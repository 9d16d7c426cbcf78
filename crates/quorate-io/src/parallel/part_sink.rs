//! Files that are read in parts, in parallel, and where the parts go.

use rayon::prelude::*;

use super::buffer_pool::BufferPool;
use super::delimited_blocks::BlockFile;
use super::{Irregular, PartRead, Stop, Vocabulary};
#[cfg(feature = "columnar")]
use crate::formats::Format;
use crate::formats::delimiter::Delimiter;
use crate::formats::{Compression, FileFormat};
use crate::source::{Progress, Source};
use crate::tables::TableLayout;
use crate::tables::annotations::ReadOptions;

/// Takes the parts of an input, round by round.
pub(crate) trait PartSink {
    /// The workers and classes so far.
    fn vocabulary(&self) -> &Vocabulary;

    /// Takes a round of parts, in the order of the input; gives them back, empty.
    fn append(&mut self, parts: Vec<PartRead>) -> Result<Vec<PartRead>, Stop>;

    /// Is told that `done` of `total` were read.
    fn expect(&mut self, _done: usize, _total: usize) {}
}

/// Finds the columns of task, worker and label by their names.
pub(super) type Select<'s> = &'s mut dyn FnMut(&[String]) -> Option<[usize; 3]>;

/// Reads the pieces of an input of so many bytes (or whatever is counted) into the sink, a round at a time:
/// the first has `first` pieces, and later ones twice as many as before, up to `most`. `check` looks at each
/// round before it is read.
pub(super) fn read_rounds<S: PartSink, P: Sync>(
    mut sink: S,
    pieces: &[P],
    (first, most): (usize, usize),
    bytes: u64,
    check: impl Fn(&[P]) -> Result<(), Irregular>,
    read: impl Fn(&P, &Vocabulary, &BufferPool) -> Result<PartRead, Irregular> + Sync,
    progress: Progress<'_>,
) -> Result<S, Stop> {
    let (mut rest, mut round) = (pieces, first);
    let pool = BufferPool::default();
    while !rest.is_empty() {
        let (wave, later) = rest.split_at(round.min(rest.len()));
        check(wave)?;
        let vocabulary = sink.vocabulary();
        let parts = wave
            .par_iter()
            .map(|piece| read(piece, vocabulary, &pool))
            .collect::<Result<Vec<_>, Irregular>>()?;
        pool.give_parts(sink.append(parts)?);
        rest = later;
        round = (2 * round).min(most);
        let done = pieces.len() - rest.len();
        sink.expect(done, pieces.len());
        progress(bytes * done as u64 / pieces.len() as u64, Some(bytes));
    }
    Ok(sink)
}

/// Reads a plain delimited file, a Parquet file or a table in memory into the sink that `open` makes; none if
/// it is something else, or there is no sink for it. `block`: bytes of text that are read at a time; `layout`
/// is told which columns were read.
pub(crate) fn read_parts<S: PartSink>(
    source: &Source,
    options: &ReadOptions,
    block: u64,
    open: impl FnOnce(Vocabulary) -> Option<S>,
    layout: &mut TableLayout,
    progress: Progress<'_>,
) -> Option<Result<S, Stop>> {
    let sink = || {
        let classes = options.classes.as_deref();
        open(Vocabulary::new(classes, options.class_order, &options.missing)?)
    };
    if options.wide {
        return None;
    }
    #[cfg(feature = "columnar")]
    if let Source::Memory(table) = source {
        let mut select = |names: &[String]| layout.find_long(&options.columns, names).ok();
        return Some(super::memory_batches::read(table, sink()?, &mut select, progress));
    }
    let Source::Path(path) = source else {
        return None;
    };
    let FileFormat { format, compression } = options.format_of(source).ok()?;
    if compression != Compression::None || !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = Delimiter::of_format(format).map(|delimiter| BlockFile::open(path, delimiter, block));
    if let Some(Ok(file)) = &file {
        layout.delimiter = file.unusual;
    }
    let mut select = |names: &[String]| layout.find_long(&options.columns, names).ok();
    match (file, format) {
        (Some(Ok(file)), _) => Some(file.read(sink()?, &mut select, progress)),
        (Some(Err(irregular)), _) => Some(Err(irregular.into())),
        #[cfg(feature = "columnar")]
        (None, Format::Parquet) => Some(super::row_groups::read(path, sink()?, &mut select, progress)),
        _ => None,
    }
}
