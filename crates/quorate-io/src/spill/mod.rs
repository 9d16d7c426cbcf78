//! Labels beyond memory: kept on disk in whole tasks, gone through block by block.
//!
//! ```text
//! rows --hash of the task--> partitions (runs) --sort, a few at a time-->
//!     blocks (labels by task) + names of the tasks
//! blocks --pass, again and again--> model --last pass--> results by partition --merge by first row--> table
//! ```
//!
//! Memory holds the names of workers and classes, a few partitions while they are sorted, two blocks during a
//! pass.

mod blocks;
mod folder;
mod partitions;
mod parts;
mod repeated;
mod results;
mod rows;
mod runs;

use std::ops::Range;
use std::path::Path;

use quorate::annotations::{ClassOrder, Duplicates, Names};

pub use blocks::SpilledLabels;
use blocks::write_partition;
use folder::Folder;
use partitions::{LEFT_OUT, sort_partition};
use parts::PartitionParts;
use rayon::prelude::*;
pub use results::{SpilledResults, WantedResults};
use rows::RunWriter;
use runs::{RowsRead, RunFiles};

use crate::error::{Error, Result};
use crate::formats::Compression;
use crate::memory::Reading;
use crate::parallel::{BLOCK, Stop, read_parts};
use crate::source::{Progress, Source};
use crate::tables::TableLayout;
use crate::tables::annotations::{ReadOptions, read_into, recognised_options};
use crate::tables::name_filter::NameFilter;

/// How much memory a run may use, and where it may write.
#[derive(Debug, Clone)]
pub struct SpillOptions<'a> {
    /// The folder in which a folder of our own is made.
    pub place: &'a Path,
    /// Bytes of memory to stay below.
    pub memory: u64,
}

/// Most partitions: files that are open at a time.
const MAX_PARTITIONS: u64 = 512;

/// Most partitions that are sorted, or made into results, at a time.
const AT_A_TIME: usize = 4;

/// The text of a partition as a part of the memory: sorted, it takes some three times as much.
const MEMORY_PARTS: u64 = 32;

/// Reads an annotation table to disk. `cancelled` is asked now and then whether to stop.
pub fn spill_annotations(
    source: &Source,
    options: &ReadOptions,
    spill: &SpillOptions<'_>,
    cancelled: &dyn Fn() -> bool,
    progress: Progress<'_>,
) -> Result<SpilledLabels> {
    let in_place = |error: Error| error.in_file(spill.place.display().to_string());
    let _reading = Reading::of(source.name());
    let folder = Folder::new(spill.place).map_err(|error| in_place(error.into()))?;
    let (recognised, options) = recognised_options(source, options)?;
    let options = &*options;
    let partitions = partition_count(source, options, spill.memory);
    let buffer = (spill.memory / 16 / partitions as u64).clamp(1 << 12, 1 << 20) as usize;
    let files = || RunFiles::create(&folder, partitions, buffer).map_err(in_place);
    let in_parts = if recognised.is_plain_table() {
        read_in_parts(source, options, BLOCK, files()?, cancelled, progress, in_place)?
    } else {
        None
    };
    let (read, layout) = match in_parts {
        Some(read) => read,
        None => {
            let mut writer = RunWriter::new(files()?, options, cancelled)?;
            let take = |task: &str, worker: &str, label: &str| writer.take(task, worker, label);
            let layout = read_into(source, options, recognised, take, progress)?;
            (writer.finish().map_err(in_place)?, layout)
        }
    };
    let (classes, class_codes) = order_classes(&read.classes, options);
    let (workers, worker_codes) = keep_workers(&read.workers, options)?;
    let mut spilled = SpilledLabels::new(folder, workers, classes, &read, options, layout);
    let tasks = NameFilter::of_tasks(options);
    for group in groups(partitions) {
        if cancelled() {
            return Err(quorate::Error::Cancelled.into());
        }
        let (folder, workers, hasher) = (&spilled.folder, &spilled.workers, spilled.hasher());
        let sort = |partition| {
            let duplicates = options.duplicates;
            let codes = (&worker_codes[..], &class_codes[..]);
            let sorted = sort_partition(folder, partition, codes, tasks, duplicates).map_err(|error| {
                if error.is_out_of_memory() {
                    error.in_file(source.name())
                } else {
                    in_place(error)
                }
            })?;
            if duplicates == Duplicates::Error && sorted.repeated > 0 {
                return Err(repeated_label(&sorted, workers).in_file(source.name()));
            }
            write_partition(folder, partition, &sorted, hasher).map_err(in_place)
        };
        let written: Vec<_> = group.into_par_iter().map(sort).collect();
        for written in written {
            spilled.add(
                written.map_err(|error| repeated::with_row(error, source, options, cancelled, progress))?,
            );
        }
    }
    if spilled.labels == 0 {
        return Err(Error::from(quorate::Error::NoLabels(
            "the input has no rows with a label".into(),
        ))
        .in_file(source.name()));
    }
    Ok(spilled)
}

/// Partitions in groups that are worked on at a time.
fn groups(partitions: usize) -> impl Iterator<Item = Range<usize>> {
    let size = rayon::current_num_threads().min(AT_A_TIME);
    (0..partitions)
        .step_by(size)
        .map(move |first| first..(first + size).min(partitions))
}

/// Reads the rows in parts, many at a time; none if only the row by row reader can settle what is in the
/// file.
fn read_in_parts(
    source: &Source,
    options: &ReadOptions,
    block: u64,
    files: RunFiles,
    cancelled: &dyn Fn() -> bool,
    progress: Progress<'_>,
    in_place: impl Fn(Error) -> Error,
) -> Result<Option<(RowsRead, TableLayout)>> {
    // A row group of a Parquet file is in memory as a whole, however large it is; text comes in small parts.
    let format = options.format_of(source);
    if !format.is_ok_and(|format| format.format.is_text()) {
        return Ok(None);
    }
    let open = |vocabulary| Some(PartitionParts::new(files, vocabulary, cancelled));
    let mut layout = TableLayout::default();
    let read = read_parts(source, options, block, open, &mut layout, progress);
    match read.map(|read| read.and_then(PartitionParts::finish)) {
        None | Some(Err(Stop::Irregular)) => Ok(None),
        Some(Err(Stop::Refused(error))) if error.is_out_of_memory() => Err(error.in_file(source.name())),
        Some(Err(Stop::Refused(error))) => Err(error),
        Some(Err(Stop::Disk(error))) => Err(in_place(error)),
        Some(Ok(read)) => Ok(Some((read, layout))),
    }
}

/// So many partitions that one of them, with what it is sorted into, is a small part of the memory.
fn partition_count(source: &Source, options: &ReadOptions, memory: u64) -> usize {
    let Source::Path(path) = source else {
        return MAX_PARTITIONS as usize / 2;
    };
    let packed = options
        .format_of(source)
        .is_ok_and(|format| format.compression != Compression::None || !format.format.is_text());
    let bytes = std::fs::metadata(path).map_or(0, |file| file.len()) * if packed { 8 } else { 1 };
    bytes
        .div_ceil((memory / MEMORY_PARTS).max(1))
        .clamp(1, MAX_PARTITIONS) as usize
}

/// The classes in order, and the new code of each old one.
fn order_classes(classes: &Names, options: &ReadOptions) -> (Names, Vec<u16>) {
    match options.classes {
        Some(_) => ClassOrder::Appearance.arrange(classes),
        None => options.class_order.arrange(classes),
    }
}

/// The workers that are kept, and the new code of each old one.
fn keep_workers(workers: &Names, options: &ReadOptions) -> Result<(Names, Vec<u32>)> {
    let filter = NameFilter::of_workers(options);
    let mut names = Names::default();
    let code = |name: &str| {
        if filter.allows(name) {
            names.intern(name)
        } else {
            LEFT_OUT
        }
    };
    let codes = workers.iter().map(code).collect();
    if names.is_empty() && !workers.is_empty() {
        return Err(quorate::Error::NoLabels("none of the workers to keep labelled anything".into()).into());
    }
    Ok((names, codes))
}

fn repeated_label(partition: &partitions::Partition, workers: &Names) -> Error {
    let (task, worker) = partition.block.first_repeated().unwrap_or_default();
    quorate::Error::RepeatedLabel {
        task: partition.tasks.get(task).to_owned(),
        worker: workers.get(worker as usize).to_owned(),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formats::scan;
    use crate::tables::label_cells::LabelCells;

    const PARTITIONS: usize = 3;

    /// Everything that the partitions and the names of a file come to, tasks in the order of the input.
    type Content = (Vec<String>, Vec<String>, u64, u64, Vec<(String, Vec<(u32, u16)>)>);

    fn content(folder: &Folder, read: &RowsRead) -> Content {
        let codes: Vec<u32> = (0..read.workers.len() as u32).collect();
        let classes: Vec<u16> = (0..read.classes.len() as u16).collect();
        let mut tasks = Vec::new();
        for partition in 0..PARTITIONS {
            let options = ReadOptions::default();
            let all = NameFilter::of_tasks(&options);
            let codes = (&codes[..], &classes[..]);
            let sorted = sort_partition(folder, partition, codes, all, Duplicates::Keep).unwrap();
            for (task, name) in sorted.tasks.iter().enumerate() {
                let range = sorted.block.starts[task] as usize..sorted.block.starts[task + 1] as usize;
                let workers = sorted.block.worker[range.clone()].iter().copied();
                let labels = workers.zip(sorted.block.label[range].iter().copied());
                tasks.push((sorted.first_rows[task], name.to_owned(), labels.collect()));
            }
        }
        tasks.sort();
        let tasks = tasks.into_iter().map(|(_, name, labels)| (name, labels));
        let names = |names: &Names| names.iter().map(str::to_owned).collect();
        (
            names(&read.workers),
            names(&read.classes),
            read.rows,
            read.abstentions,
            tasks.collect(),
        )
    }

    /// Parts against rows; returns whether parts could read the file.
    fn agree(text: &str, block: u64) -> bool {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("labels.csv");
        std::fs::write(&path, text).unwrap();
        let (source, options) = (Source::from(path.as_path()), ReadOptions::default());
        let folder = Folder::new(place.path()).unwrap();
        let files = || RunFiles::create(&folder, PARTITIONS, 1 << 12).unwrap();
        let read = read_in_parts(
            &source,
            &options,
            block,
            files(),
            &|| false,
            &mut |_, _| {},
            |e| e,
        );
        let in_parts = read.unwrap().map(|(read, _)| content(&folder, &read));
        let mut writer = RunWriter::new(files(), &options, &|| false).unwrap();
        let take = |task: &str, worker: &str, label: &str| writer.take(task, worker, label);
        let mut rows = LabelCells::new(&options, take);
        if let Err(error) = scan(&source, None, &mut rows, &mut |_, _| {}) {
            assert!(in_parts.is_none(), "{error}");
            return false;
        }
        let by_row = content(&folder, &writer.finish().unwrap());
        if let Some(in_parts) = &in_parts {
            assert_eq!(in_parts, &by_row);
        }
        in_parts.is_some()
    }

    proptest! {
        #[test]
        fn parts_and_rows_come_to_the_same_partitions(
            rows in proptest::collection::vec(("[a-c]{1,2}", "[u-z]{0,20}", "(1|2|NaN|)"), 1..60),
            block in prop_oneof![Just(16u64), Just(100), Just(BLOCK)],
        ) {
            let mut text = String::from("task,worker,label\n");
            for (task, worker, label) in &rows {
                text.push_str(&format!("{task},w{worker},{label}\n"));
            }
            prop_assert!(agree(&text, block));
            // A quoted value that holds a line feed, and rows that only the row by row reader can put into
            // words.
            agree(&format!("{text}\"a\nb\",w,1\n"), block);
            let refused = agree(&format!("{text}a,,1\n"), block);
            prop_assert!(!refused);
        }
    }
}
