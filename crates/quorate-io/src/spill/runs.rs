//! The files that rows go to: a run for consecutive rows about one task, cut by a hash of the task, so that
//! each partition holds whole tasks.
//!
//! A run is `order u64, length u32, name, count u32, count x (worker u32, label u16)`, little-endian. `order`
//! rises with the rows of the input; that of a task's first run later puts the tasks in the order of the
//! input.

use std::fs::File;
use std::hash::Hasher;
use std::io::{BufRead, BufWriter};

use quorate::annotations::Names;
use rustc_hash::FxHasher;

use super::folder::Folder;
use crate::binary::{push_text, read_u64};
use crate::error::{Error, Result};

/// Bytes of a label in a run.
pub(super) const LABEL: usize = 6;

/// A file of runs for each partition.
pub(super) struct RunFiles(Vec<BufWriter<File>>);

/// What reading the rows told, besides the runs.
#[derive(Default)]
pub(super) struct RowsRead {
    /// Workers and classes, in order of appearance.
    pub(super) workers: Names,
    pub(super) classes: Names,
    pub(super) rows: u64,
    pub(super) abstentions: u64,
    /// Rows that repeat an earlier one of the same run, and are not in it.
    pub(super) repeated: u64,
}

impl RunFiles {
    /// Empty files, each with a buffer of so many bytes.
    pub(super) fn create(folder: &Folder, partitions: usize, buffer: usize) -> Result<Self> {
        let create = |partition| {
            let file = File::create(folder.file("rows", partition))?;
            Ok(BufWriter::with_capacity(buffer, file))
        };
        (0..partitions).map(create).collect::<Result<_>>().map(Self)
    }

    /// The partition of a task.
    pub(super) fn partition_of(&self, task: &[u8]) -> usize {
        let mut hasher = FxHasher::default();
        hasher.write(task);
        (hasher.finish() >> 32) as usize % self.0.len()
    }

    /// All files, by partition.
    pub(super) fn all(&mut self) -> &mut [BufWriter<File>] {
        &mut self.0
    }

    /// Puts everything on disk.
    pub(super) fn finish(self) -> Result<()> {
        for file in self.0 {
            file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        }
        Ok(())
    }
}

/// Writes a run behind what is there.
pub(super) fn push_run(
    bytes: &mut Vec<u8>,
    order: u64,
    task: &[u8],
    labels: impl ExactSizeIterator<Item = (u32, u16)>,
) {
    bytes.extend_from_slice(&order.to_le_bytes());
    push_text(bytes, task);
    bytes.extend_from_slice(&(labels.len() as u32).to_le_bytes());
    for (worker, label) in labels {
        let ([a, b, c, d], [e, f]) = (worker.to_le_bytes(), label.to_le_bytes());
        bytes.extend_from_slice(&[a, b, c, d, e, f]);
    }
}

/// The number at the start of a record; none at the end of the file.
pub(super) fn read_start(input: &mut impl BufRead) -> Result<Option<u64>> {
    loop {
        match input.fill_buf() {
            // A signal came in between.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
            Ok([]) => return Ok(None),
            Ok(_) => break,
        }
    }
    Ok(Some(read_u64(input)?))
}

/// Somebody else wrote into our folder.
pub(super) fn damaged() -> Error {
    std::io::Error::other("the spilled labels are damaged; run again").into()
}
