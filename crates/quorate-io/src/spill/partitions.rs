//! Rows on their way to disk: cut by a hash of the task, so that each partition holds whole tasks.
//!
//! Consecutive rows about one task are one run: `row u64, length u32, name, count u32, count x (worker u32, label u16)`,
//! little-endian. `row` is the number of the run's first row, which later puts the tasks in the order of the input.

use std::fs::File;
use std::hash::Hasher;
use std::io::{BufReader, BufWriter, Read, Write};

use quorate::annotations::{Duplicates, MAX_CLASSES, Names, TaskBlock};
use rustc_hash::FxHasher;

use super::folder::Folder;
use crate::annotations::{ReadOptions, place};
use crate::error::{Error, Result};
use crate::scan::{Row, RowSink, field};

/// Writes rows into partitions.
pub(super) struct PartitionSink<'a> {
    options: &'a ReadOptions,
    files: Vec<BufWriter<File>>,
    pub(super) workers: Names,
    pub(super) classes: Names,
    /// Whether each worker is to be kept, by code.
    kept: Vec<bool>,
    task: String,
    first_row: u64,
    labels: Vec<u8>,
    pub(super) rows: u64,
    pub(super) abstentions: u64,
    cancelled: &'a dyn Fn() -> bool,
}

impl<'a> PartitionSink<'a> {
    pub(super) fn new(
        folder: &Folder,
        partitions: usize,
        buffer: usize,
        options: &'a ReadOptions,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Result<Self> {
        let files = (0..partitions)
            .map(|partition| {
                let file = File::create(folder.file("rows", partition))?;
                Ok(BufWriter::with_capacity(buffer, file))
            })
            .collect::<Result<_>>()?;
        let mut classes = Names::default();
        for class in options.classes.iter().flatten() {
            if classes.find(class).is_some() {
                return Err(quorate::Error::RepeatedClass(class.clone()).into());
            }
            classes.intern(class);
        }
        Ok(Self {
            options,
            files,
            workers: Names::default(),
            classes,
            kept: Vec::new(),
            task: String::new(),
            first_row: 0,
            labels: Vec::new(),
            rows: 0,
            abstentions: 0,
            cancelled,
        })
    }

    fn push(&mut self, task: &str, worker: &str, label: &str) -> quorate::Result<()> {
        if task.is_empty() {
            return Err(quorate::Error::EmptyId("task"));
        }
        if worker.is_empty() {
            return Err(quorate::Error::EmptyId("worker"));
        }
        if self.rows.is_multiple_of(1 << 16) && (self.cancelled)() {
            return Err(quorate::Error::Cancelled);
        }
        let label = if label.is_empty() {
            None
        } else {
            Some(self.class(label)?)
        };
        let worker = self.workers.intern(worker);
        if worker as usize == self.kept.len() {
            let name = self.workers.get(worker as usize);
            let kept = self
                .options
                .keep_workers
                .as_ref()
                .is_none_or(|keep| keep.contains(name));
            self.kept.push(kept);
        }
        self.rows += 1;
        match label {
            None => self.abstentions += 1,
            Some(label) if self.kept[worker as usize] => {
                self.labels.extend_from_slice(&worker.to_le_bytes());
                self.labels.extend_from_slice(&label.to_le_bytes());
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn class(&mut self, label: &str) -> quorate::Result<u16> {
        if let Some(code) = self.classes.find(label) {
            return Ok(code as u16);
        }
        if self.options.classes.is_some() {
            return Err(quorate::Error::UnknownClass {
                label: label.to_owned(),
                classes: self.classes.iter().map(str::to_owned).collect(),
            });
        }
        if self.classes.len() == MAX_CLASSES {
            return Err(quorate::Error::TooMany {
                what: "labels",
                limit: MAX_CLASSES,
                hint: "labels must be classes; is the label column the right one?",
            });
        }
        Ok(self.classes.intern(label) as u16)
    }

    /// The rows that follow are about another task.
    fn start_run(&mut self, task: &str) -> std::io::Result<()> {
        self.flush_run()?;
        self.task.clear();
        self.task.push_str(task);
        self.first_row = self.rows;
        Ok(())
    }

    fn flush_run(&mut self) -> std::io::Result<()> {
        if self.task.is_empty() {
            return Ok(());
        }
        let mut hasher = FxHasher::default();
        hasher.write(self.task.as_bytes());
        let partition = (hasher.finish() >> 32) as usize % self.files.len();
        let file = &mut self.files[partition];
        file.write_all(&self.first_row.to_le_bytes())?;
        file.write_all(&(self.task.len() as u32).to_le_bytes())?;
        file.write_all(self.task.as_bytes())?;
        file.write_all(&((self.labels.len() / LABEL) as u32).to_le_bytes())?;
        file.write_all(&self.labels)?;
        self.labels.clear();
        Ok(())
    }

    /// Ends the rows: all of them are on disk.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.flush_run()?;
        self.task.clear();
        for file in std::mem::take(&mut self.files) {
            file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        }
        Ok(())
    }

    /// Whether each worker is kept, by code.
    pub(super) fn kept(&self) -> &[bool] {
        &self.kept
    }
}

/// Bytes of a label in a run.
const LABEL: usize = 6;

impl RowSink for PartitionSink<'_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        self.options.columns.find(names)
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let columns = &self.options.columns;
        let (n, m, x) = (
            field(row, 0, &columns.task)?,
            field(row, 1, &columns.worker)?,
            field(row, 2, &columns.label)?,
        );
        let x = if self.options.missing.iter().any(|missing| missing == x) {
            ""
        } else {
            x
        };
        if n != self.task {
            self.start_run(n)?;
        }
        self.push(n, m, x).map_err(|error| place(error, columns))
    }
}

/// One partition, sorted: the labels by task, the names of the tasks and the rows they first appear in.
pub(super) struct Partition {
    pub(super) block: TaskBlock,
    pub(super) tasks: Names,
    pub(super) first_rows: Vec<u64>,
    pub(super) repeated: u64,
}

/// Reads a partition's runs and sorts them. `worker_codes` and `class_codes` replace the codes of the rows.
pub(super) fn sort_partition(
    folder: &Folder,
    partition: usize,
    worker_codes: &[u32],
    class_codes: &[u16],
    duplicates: Duplicates,
) -> Result<Partition> {
    let path = folder.file("rows", partition);
    let mut runs = BufReader::with_capacity(1 << 20, File::open(&path)?);
    let (mut tasks, mut first_rows) = (Names::default(), Vec::new());
    let (mut task, mut worker, mut label) = (Vec::new(), Vec::new(), Vec::new());
    let (mut name, mut labels) = (Vec::new(), Vec::new());
    while let Some(row) = read_start(&mut runs)? {
        name.resize(read_u32(&mut runs)? as usize, 0);
        runs.read_exact(&mut name)?;
        let text = std::str::from_utf8(&name).map_err(|_| damaged())?;
        let code = tasks.intern(text);
        if code as usize == first_rows.len() {
            first_rows.push(row);
        }
        labels.resize(read_u32(&mut runs)? as usize * LABEL, 0);
        runs.read_exact(&mut labels)?;
        for bytes in labels.as_chunks::<LABEL>().0 {
            let [a, b, c, d, e, f] = *bytes;
            task.push(code);
            worker.push(worker_codes[u32::from_le_bytes([a, b, c, d]) as usize]);
            label.push(class_codes[u16::from_le_bytes([e, f]) as usize]);
        }
    }
    drop(runs);
    std::fs::remove_file(&path)?;
    let (block, repeated) = TaskBlock::sort(tasks.len(), task, worker, label, duplicates);
    Ok(Partition {
        block,
        tasks,
        first_rows,
        repeated,
    })
}

/// The number at the start of a record; none at the end of the file.
pub(super) fn read_start(input: &mut impl std::io::BufRead) -> Result<Option<u64>> {
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(Some(u64::from_le_bytes(bytes)))
}

pub(super) fn read_u32(input: &mut impl Read) -> Result<u32> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Somebody else wrote into our folder.
pub(super) fn damaged() -> Error {
    std::io::Error::other("the spilled labels are damaged; run again").into()
}
