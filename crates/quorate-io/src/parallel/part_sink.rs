//! Files that are read in parts, in parallel, and where the parts go.

use super::delimited_blocks::BlockFile;
use super::{AnnotationsInParts, Irregular, PartRead, Stop, Vocabulary};
#[cfg(feature = "columnar")]
use crate::formats::Format;
use crate::formats::delimiter::Delimiter;
use crate::formats::{Compression, FileFormat};
use crate::memory;
use crate::source::{Progress, Source};
use crate::tables::TableLayout;
use crate::tables::annotations::ReadOptions;

/// Takes the parts of an input, round by round.
pub(crate) trait PartSink {
    /// Why it stops.
    type Error: From<Irregular>;

    /// The workers and classes so far.
    fn vocabulary(&self) -> &Vocabulary;

    /// Takes a round of parts, in the order of the input; gives them back, empty.
    fn append(&mut self, parts: Vec<PartRead>) -> Result<Vec<PartRead>, Self::Error>;

    /// Is told that `done` of `total` were read.
    fn expect(&mut self, _done: u64, _total: u64) {}
}

impl PartSink for AnnotationsInParts {
    type Error = Stop;

    fn vocabulary(&self) -> &Vocabulary {
        self.vocabulary()
    }

    fn append(&mut self, parts: Vec<PartRead>) -> Result<Vec<PartRead>, Stop> {
        memory::check(self.bytes_to_come(&parts)).map_err(Stop::Refused)?;
        Ok(self.append(parts)?)
    }

    fn expect(&mut self, done: u64, total: u64) {
        self.expect(done, total);
    }
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
) -> Option<Result<S, S::Error>> {
    let sink = || {
        let classes = options.classes.as_deref();
        open(Vocabulary::new(classes, options.class_order, &options.missing)?)
    };
    #[cfg(feature = "columnar")]
    if let Source::Memory(table) = source {
        if options.wide {
            return None;
        }
        let select = |names: &[String]| layout.find_long(&options.columns, names).ok();
        return Some(super::memory_batches::read(table, sink()?, select, progress));
    }
    let Source::Path(path) = source else {
        return None;
    };
    let FileFormat { format, compression } = options.format_of(source).ok()?;
    if options.wide || compression != Compression::None || !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    if let Some(delimiter) = Delimiter::of_format(format) {
        let file = BlockFile::open(path, delimiter, block);
        return Some(match file {
            Ok(file) => {
                layout.delimiter = delimiter.unusual(file.delimiter);
                let select = |names: &[String]| layout.find_long(&options.columns, names).ok();
                file.read(sink()?, select, progress)
            }
            Err(irregular) => Err(irregular.into()),
        });
    }
    match format {
        #[cfg(feature = "columnar")]
        Format::Parquet => {
            let select = |names: &[String]| layout.find_long(&options.columns, names).ok();
            Some(super::row_groups::read(path, sink()?, select, progress))
        }
        _ => None,
    }
}
