//! Labels beyond memory: kept on disk in whole tasks, gone through block by block.
//!
//! ```text
//! rows --hash of the task--> partitions (runs) --sort, one at a time--> blocks (labels by task) + names of the tasks
//! blocks --pass, again and again--> model --last pass--> results by partition --merge by first row--> table
//! ```
//!
//! Memory holds the names of workers and classes, one partition while it is sorted, two blocks during a pass.

mod blocks;
mod folder;
mod partitions;
mod results;

use std::path::Path;

use quorate::annotations::{ClassOrder, Duplicates, Names};

pub use blocks::SpilledLabels;
use folder::Folder;
use partitions::{PartitionSink, sort_partition};
pub use results::{ResultSummary, SpilledResults};

use crate::annotations::ReadOptions;
use crate::error::{Error, Result};
use crate::format::Compression;
use crate::scan::scan;
use crate::source::{Progress, Source};

/// How much memory a run may use, and where it may write.
#[derive(Debug, Clone)]
pub struct SpillOptions<'a> {
    /// The folder in which a folder of our own is made.
    pub place: &'a Path,
    /// Bytes of memory to stay below.
    pub memory: u64,
}

/// Most partitions: files that are open at a time.
const MOST_PARTITIONS: u64 = 512;

/// Reads an annotation table to disk. `cancelled` is asked now and then whether to stop.
pub fn spill_annotations(
    source: &Source,
    options: &ReadOptions,
    spill: &SpillOptions<'_>,
    cancelled: &dyn Fn() -> bool,
    progress: Progress<'_>,
) -> Result<SpilledLabels> {
    let in_place = |error: Error| error.in_file(spill.place.display().to_string());
    let folder = Folder::new(spill.place).map_err(|error| in_place(error.into()))?;
    let partitions = partition_count(source, options, spill.memory);
    let buffer = (spill.memory / 16 / partitions as u64).clamp(1 << 12, 1 << 20) as usize;
    let mut sink = PartitionSink::new(&folder, partitions, buffer, options, cancelled).map_err(in_place)?;
    scan(source, options.format, &mut sink, progress)?;
    sink.finish().map_err(in_place)?;
    let class_codes = order_classes(&mut sink.classes, options);
    let (workers, worker_codes) = keep_workers(&sink, options)?;
    let mut spilled = SpilledLabels::new(folder, workers, sink.classes.clone(), &sink, options);
    for partition in 0..partitions {
        if cancelled() {
            return Err(quorate::Error::Cancelled.into());
        }
        let sorted = sort_partition(
            &spilled.folder,
            partition,
            &worker_codes,
            &class_codes,
            options.duplicates,
        )?;
        if options.duplicates == Duplicates::Error && sorted.repeated > 0 {
            return Err(repeated_label(&sorted, &spilled.workers).in_file(source.name()));
        }
        spilled.add(partition, &sorted).map_err(in_place)?;
    }
    if spilled.labels == 0 {
        return Err(Error::from(quorate::Error::NoLabels(
            "the input has no rows with a label".into(),
        ))
        .in_file(source.name()));
    }
    Ok(spilled)
}

/// So many partitions that one of them, with what it is sorted into, is a small part of the memory.
fn partition_count(source: &Source, options: &ReadOptions, memory: u64) -> usize {
    let Source::Path(path) = source else {
        return MOST_PARTITIONS as usize / 2;
    };
    let packed = source
        .format(options.format)
        .is_ok_and(|format| format.compression != Compression::None || !format.format.is_text());
    let bytes = std::fs::metadata(path).map_or(0, |file| file.len()) * if packed { 8 } else { 1 };
    bytes.div_ceil((memory / 16).max(1)).clamp(1, MOST_PARTITIONS) as usize
}

/// Puts the classes in order; returns the new code of each old one.
fn order_classes(classes: &mut Names, options: &ReadOptions) -> Vec<u16> {
    if options.classes.is_some() || options.class_order == ClassOrder::Appearance {
        return (0..classes.len() as u32).map(|code| code as u16).collect();
    }
    let order = classes.natural_order();
    let mut codes = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        codes[old] = new as u16;
    }
    *classes = order.iter().map(|&old| classes.get(old)).collect();
    codes
}

/// The workers that are kept, and the new code of each old one.
fn keep_workers(sink: &PartitionSink<'_>, options: &ReadOptions) -> Result<(Names, Vec<u32>)> {
    if options.keep_workers.is_none() {
        return Ok((sink.workers.clone(), (0..sink.workers.len() as u32).collect()));
    }
    let mut names = Names::default();
    let codes = sink
        .workers
        .iter()
        .zip(sink.kept())
        .map(|(name, &kept)| if kept { names.intern(name) } else { u32::MAX })
        .collect();
    if names.is_empty() {
        return Err(quorate::Error::NoLabels("none of the workers to keep labelled anything".into()).into());
    }
    Ok((names, codes))
}

fn repeated_label(partition: &partitions::Partition, workers: &Names) -> Error {
    let block = &partition.block;
    let twice = |task: &usize| {
        let range = block.starts[*task] as usize..block.starts[*task + 1] as usize;
        let pairs = block.worker[range].windows(2);
        pairs.filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).next()
    };
    let found = (0..partition.tasks.len()).find_map(|task| Some((task, twice(&task)?)));
    let (task, worker) = found.unwrap_or_default();
    quorate::Error::RepeatedLabel {
        task: partition.tasks.get(task).to_owned(),
        worker: workers.get(worker as usize).to_owned(),
    }
    .into()
}
