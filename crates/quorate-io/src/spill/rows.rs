//! Rows on their way to disk one by one: any format, and the words for what is wrong with a row.

use std::io::Write;

use quorate::annotations::{Duplicates, MAX_CLASSES};

use super::runs::{RowsRead, RunFiles, push_run};
use crate::error::Result;
use crate::memory;
use crate::tables::annotations::ReadOptions;

/// Most labels of a run: it is in memory as a whole.
const LONGEST_RUN: usize = 1 << 16;

/// Writes labels into partitions, those of a task that follow each other as one run.
pub(super) struct RunWriter<'a> {
    options: &'a ReadOptions,
    files: RunFiles,
    read: RowsRead,
    /// The run at hand.
    task: String,
    order: u64,
    labels: Vec<(u32, u16)>,
    run: Vec<u8>,
    cancelled: &'a dyn Fn() -> bool,
}

impl<'a> RunWriter<'a> {
    pub(super) fn new(
        files: RunFiles,
        options: &'a ReadOptions,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Result<Self> {
        let mut read = RowsRead::default();
        for class in options.classes.iter().flatten() {
            if read.classes.find(class).is_some() {
                return Err(quorate::Error::RepeatedClass(class.clone()).into());
            }
            read.classes.intern(class);
        }
        Ok(Self {
            options,
            files,
            read,
            task: String::new(),
            order: 0,
            labels: Vec::new(),
            run: Vec::new(),
            cancelled,
        })
    }

    /// Ends the rows: all of them are on disk.
    pub(super) fn finish(mut self) -> Result<RowsRead> {
        self.flush_run()?;
        self.files.finish()?;
        Ok(self.read)
    }

    /// Takes one label.
    pub(super) fn take(&mut self, task: &str, worker: &str, label: &str) -> Result<()> {
        if task != self.task {
            self.start_run(task)?;
        } else if self.labels.len() >= LONGEST_RUN {
            self.shorten_run()?;
        }
        if self.read.rows.is_multiple_of(memory::ROWS as u64) {
            memory::check(0)?;
        }
        Ok(self.push(task, worker, label)?)
    }

    /// Makes room in a run that has become long: by the rows that others of it replace, or by going on in
    /// another run.
    fn shorten_run(&mut self) -> std::io::Result<()> {
        let (before, duplicates) = (self.labels.len(), self.options.duplicates);
        if matches!(duplicates, Duplicates::Last | Duplicates::First) {
            // Stable: the labels of a worker keep their order.
            self.labels.sort_by_key(|&(worker, _)| worker);
            if duplicates == Duplicates::Last {
                self.labels.reverse();
            }
            self.labels.dedup_by_key(|&mut (worker, _)| worker);
            self.read.repeated += (before - self.labels.len()) as u64;
        }
        if 2 * self.labels.len() > before {
            self.flush_run()?;
            self.order = self.read.rows;
        }
        Ok(())
    }

    fn push(&mut self, task: &str, worker: &str, label: &str) -> quorate::Result<()> {
        if task.is_empty() {
            return Err(quorate::Error::EmptyId("task"));
        }
        if worker.is_empty() {
            return Err(quorate::Error::EmptyId("worker"));
        }
        if self.read.rows.is_multiple_of(1 << 16) && (self.cancelled)() {
            return Err(quorate::Error::Cancelled);
        }
        let class = if label.is_empty() {
            None
        } else {
            Some(self.class(label)?)
        };
        let worker = self.read.workers.intern(worker);
        self.read.rows += 1;
        self.read.abstentions += u64::from(class.is_none());
        self.labels.extend(class.map(|class| (worker, class)));
        Ok(())
    }

    fn class(&mut self, label: &str) -> quorate::Result<u16> {
        let classes = &mut self.read.classes;
        if let Some(code) = classes.find(label) {
            return Ok(code as u16);
        }
        if self.options.classes.is_some() {
            return Err(quorate::Error::UnknownClass {
                label: label.to_owned(),
                classes: classes.iter().map(str::to_owned).collect(),
            });
        }
        if classes.len() == MAX_CLASSES {
            return Err(quorate::Error::TooMany {
                what: "labels",
                limit: MAX_CLASSES,
                hint: "labels must be classes; is the label column the right one?",
            });
        }
        Ok(classes.intern(label) as u16)
    }

    /// The rows that follow are about another task.
    fn start_run(&mut self, task: &str) -> std::io::Result<()> {
        self.flush_run()?;
        self.task.clear();
        self.task.push_str(task);
        self.order = self.read.rows;
        Ok(())
    }

    fn flush_run(&mut self) -> std::io::Result<()> {
        if self.task.is_empty() {
            return Ok(());
        }
        let task = self.task.as_bytes();
        self.run.clear();
        push_run(&mut self.run, self.order, task, self.labels.drain(..));
        let partition = self.files.partition_of(task);
        self.files.all()[partition].write_all(&self.run)
    }
}
