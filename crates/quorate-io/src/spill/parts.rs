//! Rows on their way to disk in parts of the input, many at a time.

use std::io::Write;

use rayon::prelude::*;

use super::runs::{RowsRead, RunFiles, push_run};
use crate::error::Result;
use crate::memory;
use crate::parallel::{Irregular, PartRead, PartSink, Stop, Vocabulary};

/// Writes parts into partitions.
pub(super) struct PartitionParts<'a> {
    vocabulary: Vocabulary,
    files: RunFiles,
    /// Runs so far: their order is that of the rows.
    runs: u64,
    /// Buffers of the last round.
    pool: Vec<ByPartition>,
    cancelled: &'a dyn Fn() -> bool,
}

fn on_disk(error: std::io::Error) -> Stop {
    Stop::Disk(error.into())
}

impl<'a> PartitionParts<'a> {
    pub(super) fn new(files: RunFiles, vocabulary: Vocabulary, cancelled: &'a dyn Fn() -> bool) -> Self {
        Self {
            vocabulary,
            files,
            runs: 0,
            pool: Vec::new(),
            cancelled,
        }
    }

    /// Ends the rows: all of them are on disk.
    pub(super) fn finish(self) -> Result<RowsRead, Stop> {
        self.files.finish().map_err(Stop::Disk)?;
        let (rows, abstentions) = self.vocabulary.rows();
        let (workers, classes) = self.vocabulary.into_names().ok_or(Stop::Irregular)?;
        Ok(RowsRead {
            workers,
            classes,
            rows,
            abstentions,
            repeated: 0,
        })
    }
}

impl PartSink for PartitionParts<'_> {
    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn append(&mut self, mut parts: Vec<PartRead>) -> Result<Vec<PartRead>, Stop> {
        if (self.cancelled)() {
            return Err(Stop::Refused(quorate::Error::Cancelled.into()));
        }
        memory::check(0).map_err(Stop::Refused)?;
        self.vocabulary.learn(&mut parts)?;
        let mut firsts = Vec::with_capacity(parts.len());
        for part in &parts {
            firsts.push(self.runs);
            self.runs += part.run_count() as u64;
        }
        self.pool.resize_with(parts.len(), ByPartition::default);
        let files = &self.files;
        let spread = self.pool.par_iter_mut().zip(&parts).zip(firsts);
        spread.try_for_each(|((to, part), first)| to.fill(part, first, files))?;
        let spread = &self.pool;
        let files = self.files.all().par_iter_mut().enumerate();
        files.try_for_each(|(partition, file)| {
            spread
                .iter()
                .try_for_each(|part| file.write_all(part.of(partition)))
                .map_err(on_disk)
        })?;
        parts.iter_mut().for_each(PartRead::clear);
        Ok(parts)
    }
}

/// The runs of a part, those of one partition together.
#[derive(Default)]
struct ByPartition {
    bytes: Vec<u8>,
    /// Where the runs of each partition end.
    ends: Vec<usize>,
    partitions: Vec<u32>,
    order: Vec<u32>,
}

impl ByPartition {
    /// Writes the runs of a part, the first of which is `first` in order.
    fn fill(&mut self, part: &PartRead, first: u64, files: &RunFiles) -> Result<(), Irregular> {
        let runs = 0..part.run_count();
        self.partitions.clear();
        for run in runs.clone() {
            let task = part.named_run(run).task;
            std::str::from_utf8(task).map_err(|_| Irregular)?;
            self.partitions.push(files.partition_of(task) as u32);
        }
        self.order.clear();
        self.order.extend(runs.map(|run| run as u32));
        let partitions = &self.partitions;
        self.order.sort_by_key(|&run| partitions[run as usize]);
        self.bytes.clear();
        self.ends.clear();
        for &run in &self.order {
            let partition = partitions[run as usize] as usize;
            self.ends.resize(partition.max(self.ends.len()), self.bytes.len());
            let found = part.named_run(run as usize);
            let labels = found.workers.iter().copied().zip(found.labels.iter().copied());
            push_run(&mut self.bytes, first + u64::from(run), found.task, labels);
        }
        Ok(())
    }

    /// The runs of one partition.
    fn of(&self, partition: usize) -> &[u8] {
        let end = |partition: usize| self.ends.get(partition).copied().unwrap_or(self.bytes.len());
        let start = match partition {
            0 => 0,
            _ => end(partition - 1),
        };
        &self.bytes[start..end(partition)]
    }
}
