//! The blocks on disk, and passes over them.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::sync::mpsc::sync_channel;

use quorate::annotations::{ClassOrder, Names, RowCounts};
use quorate::error::SourceError;
use quorate::internal::annotations::{Fingerprint, NO_GOLD, SimilarClasses, join_codes};
use quorate::internal::blocks::{Block, Blocks, TaskBlock};
use quorate::internal::run::{LabelFacts, LabelTable, Truths};
use rustc_hash::FxHashMap;

use super::folder::Folder;
use super::partitions::Partition;
use super::runs::{RowsRead, damaged, read_start};
use crate::binary::{read_numbers, read_text, read_u32, write_numbers};
use crate::error::Result;
use crate::tables::TableLayout;
use crate::tables::annotations::ReadOptions;
use crate::tables::name_filter::{LeftOut, NameFilter};

/// Labels on disk. The files are removed with the value.
#[derive(Debug)]
pub struct SpilledLabels {
    pub(super) folder: Folder,
    pub(super) workers: Names,
    pub(super) classes: Names,
    pub(super) tasks: u64,
    pub(super) labels: u64,
    pub(super) partitions: usize,
    rows: RowCounts,
    left_out: LeftOut,
    layout: TableLayout,
    bytes: u64,
    unlabelled_tasks: u64,
    /// Labels of each class.
    class_counts: Vec<u64>,
    hasher: Fingerprint,
    /// Sum of the hashes of all tasks.
    task_hashes: u64,
    /// New codes of the classes on disk, where classes were added.
    class_codes: Option<Vec<u16>>,
    has_gold: bool,
}

impl SpilledLabels {
    pub(super) fn new(
        folder: Folder,
        workers: Names,
        classes: Names,
        read: &RowsRead,
        options: &ReadOptions,
        layout: TableLayout,
    ) -> Self {
        let filter = NameFilter::of_workers(options);
        let (left_out, listed) = filter.count(&read.workers);
        Self {
            hasher: Fingerprint::new(&workers, &classes),
            task_hashes: 0,
            class_codes: None,
            has_gold: false,
            unlabelled_tasks: 0,
            class_counts: vec![0; classes.len()],
            left_out: LeftOut {
                workers: left_out,
                absent_workers: filter.listed() - listed,
                tasks: 0,
                // Those that are found are taken off.
                absent_tasks: NameFilter::of_tasks(options).listed() as u64,
            },
            layout,
            folder,
            workers,
            classes,
            tasks: 0,
            labels: 0,
            partitions: 0,
            rows: RowCounts {
                rows: read.rows,
                abstentions: read.abstentions,
                repeated: read.repeated,
                duplicates: options.duplicates,
            },
            bytes: 0,
        }
    }

    /// Takes in what was written of the next partition.
    pub(super) fn add(&mut self, written: WrittenPartition) {
        self.partitions += 1;
        self.tasks += written.tasks;
        self.labels += written.labels;
        self.rows.repeated += written.repeated;
        self.bytes += written.bytes;
        self.task_hashes = self.task_hashes.wrapping_add(written.fingerprint);
        self.unlabelled_tasks += written.unlabelled_tasks;
        for (sum, count) in self.class_counts.iter_mut().zip(written.class_counts) {
            *sum += count;
        }
        self.left_out.tasks += written.left_out.0 as u64;
        self.left_out.absent_tasks -= written.left_out.1 as u64;
    }

    /// Replaces the classes; `codes` are the new codes of the present ones.
    fn recode_classes(&mut self, classes: Names, codes: &[u16]) {
        let on_disk = match self.class_codes.take() {
            Some(earlier) => earlier.iter().map(|&code| codes[usize::from(code)]).collect(),
            None => codes.to_vec(),
        };
        let mut counts = vec![0; classes.len()];
        for (&code, count) in codes.iter().zip(&self.class_counts) {
            counts[usize::from(code)] += count;
        }
        self.class_counts = counts;
        self.class_codes = Some(on_disk);
        self.classes = classes;
    }

    fn write_gold(&mut self, truths: &FxHashMap<&str, u16>) -> Result<usize> {
        let mut found = 0;
        for partition in 0..self.partitions {
            let mut names =
                BufReader::with_capacity(1 << 16, File::open(self.folder.file("names", partition))?);
            let (mut gold, mut name) = (Vec::new(), Vec::new());
            while read_start(&mut names)?.is_some() {
                read_text(&mut names, &mut name)?;
                let text = std::str::from_utf8(&name).map_err(|_| damaged())?;
                let truth = truths.get(text);
                found += usize::from(truth.is_some());
                gold.push(truth.map_or(NO_GOLD, |&class| u32::from(class)));
            }
            let mut file = BufWriter::new(File::create(self.folder.file("gold", partition))?);
            write_numbers(&mut file, gold.iter().map(|number| number.to_le_bytes()))?;
            file.flush()?;
        }
        self.has_gold = found > 0;
        Ok(found)
    }

    /// Number of tasks without any label.
    pub fn unlabelled_tasks(&self) -> u64 {
        self.unlabelled_tasks
    }

    /// What the lists of workers and tasks left out.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Which columns were read, and how they are separated.
    pub fn layout(&self) -> &TableLayout {
        &self.layout
    }

    /// [`Annotations::fingerprint`](quorate::Annotations::fingerprint) of the same labels in memory.
    pub fn fingerprint(&self) -> u64 {
        let mut fingerprint = Fingerprint::new(&self.workers, &self.classes);
        fingerprint.add(self.task_hashes);
        fingerprint.finish()
    }

    /// What hashes the tasks of partitions while they are written.
    pub(super) fn hasher(&self) -> &Fingerprint {
        &self.hasher
    }

    /// Reads the labels of a partition in place of what is in `block`. What is read is checked: the file may
    /// have been changed under us.
    pub(super) fn read_block(&self, partition: usize, block: &mut TaskBlock) -> Result<()> {
        let path = self.folder.file("labels", partition);
        let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
        let (starts, labels) = (read_u32(&mut file)? as usize, read_u32(&mut file)? as usize);
        let bytes = 8 + 4 * starts as u64 + 6 * labels as u64;
        if starts == 0 || file.get_ref().metadata()?.len() != bytes {
            return Err(damaged());
        }
        read_numbers(&mut file, starts, u32::from_le_bytes, &mut block.starts)?;
        read_numbers(&mut file, labels, u32::from_le_bytes, &mut block.worker)?;
        read_numbers(&mut file, labels, u16::from_le_bytes, &mut block.label)?;
        if let Some(codes) = &self.class_codes {
            for label in &mut block.label {
                *label = *codes.get(usize::from(*label)).ok_or_else(damaged)?;
            }
        }
        block.gold.clear();
        if self.has_gold {
            let mut file = BufReader::new(File::open(self.folder.file("gold", partition))?);
            read_numbers(&mut file, starts - 1, u32::from_le_bytes, &mut block.gold)?;
        }
        let checked = block.check(self.workers.len(), self.classes.len());
        checked.map_err(|_| damaged())
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// What there is to say about a partition on disk.
pub(super) struct WrittenPartition {
    tasks: u64,
    labels: u64,
    repeated: u64,
    bytes: u64,
    fingerprint: u64,
    unlabelled_tasks: u64,
    class_counts: Vec<u64>,
    left_out: (usize, usize),
}

/// Writes a sorted partition: its labels and, apart, the names of its tasks.
pub(super) fn write_partition(
    folder: &Folder,
    partition: usize,
    sorted: &Partition,
    hasher: &Fingerprint,
) -> Result<WrittenPartition> {
    let TaskBlock {
        starts,
        worker,
        label,
        ..
    } = &sorted.block;
    let mut file = BufWriter::with_capacity(1 << 20, File::create(folder.file("labels", partition))?);
    file.write_all(&(starts.len() as u32).to_le_bytes())?;
    file.write_all(&(worker.len() as u32).to_le_bytes())?;
    write_numbers(&mut file, starts.iter().map(|number| number.to_le_bytes()))?;
    write_numbers(&mut file, worker.iter().map(|number| number.to_le_bytes()))?;
    write_numbers(&mut file, label.iter().map(|number| number.to_le_bytes()))?;
    file.flush()?;
    let mut names = BufWriter::with_capacity(1 << 20, File::create(folder.file("names", partition))?);
    let mut fingerprint: u64 = 0;
    for (task, (name, row)) in sorted.tasks.iter().zip(&sorted.first_rows).enumerate() {
        names.write_all(&row.to_le_bytes())?;
        names.write_all(&(name.len() as u32).to_le_bytes())?;
        names.write_all(name.as_bytes())?;
        let range = starts[task] as usize..starts[task + 1] as usize;
        let hash = hasher.of_task(name, &worker[range.clone()], &label[range]);
        fingerprint = fingerprint.wrapping_add(hash);
    }
    names.flush()?;
    let classes = label.iter().max().map_or(0, |&class| usize::from(class) + 1);
    let mut class_counts = vec![0; classes];
    for &class in label {
        class_counts[usize::from(class)] += 1;
    }
    Ok(WrittenPartition {
        class_counts,
        tasks: sorted.tasks.len() as u64,
        labels: worker.len() as u64,
        repeated: sorted.repeated,
        bytes: file.get_ref().metadata()?.len() + names.get_ref().metadata()?.len(),
        fingerprint,
        left_out: sorted.left_out,
        unlabelled_tasks: starts.windows(2).filter(|task| task[0] == task[1]).count() as u64,
    })
}

impl LabelTable for SpilledLabels {
    fn class_counts(&self) -> Vec<u64> {
        self.class_counts.clone()
    }

    fn facts(&self) -> LabelFacts<'_> {
        LabelFacts {
            workers: &self.workers,
            classes: &self.classes,
            rows: &self.rows,
            tasks: self.tasks,
            labels: self.labels,
            has_gold: self.has_gold,
        }
    }

    fn with_joined_classes(mut self, groups: &[SimilarClasses]) -> Self {
        let (classes, codes) = join_codes(&self.classes, groups);
        self.recode_classes(classes, &codes);
        self
    }

    fn with_further_classes(mut self, further: &Names) -> quorate::Result<Self> {
        let all = self.classes.iter().chain(further.iter()).collect();
        let (classes, codes) = ClassOrder::Natural.arrange(&all);
        self.recode_classes(classes, &codes);
        Ok(self)
    }

    /// The truths are kept beside the labels.
    fn with_truths(mut self, truths: Truths<'_>) -> quorate::Result<(Self, usize)> {
        let code = |(task, class)| Some((task, self.classes.find(class)? as u16));
        let truths = truths.named().filter_map(code).collect();
        let found = self.write_gold(&truths);
        let named = |error| quorate::Error::Source(SourceError::new(self.folder.named(error)));
        let found = found.map_err(named)?;
        Ok((self, found))
    }
}

impl Blocks for SpilledLabels {
    fn workers(&self) -> &Names {
        &self.workers
    }

    fn class_count(&self) -> usize {
        self.classes.len()
    }

    fn task_count(&self) -> u64 {
        self.tasks
    }

    fn label_count(&self) -> u64 {
        self.labels
    }

    fn has_gold(&self) -> bool {
        self.has_gold
    }

    /// The next block is read while one is worked on, into the memory of the one before.
    fn for_each(&mut self, visit: &mut dyn FnMut(Block<'_>) -> quorate::Result<()>) -> quorate::Result<()> {
        let (labels, workers, classes) = (&*self, self.workers.len(), self.classes.len());
        std::thread::scope(|scope| {
            let (send, receive) = sync_channel(1);
            let (give_back, used) = sync_channel(2);
            scope.spawn(move || {
                for partition in 0..labels.partitions {
                    let mut block = used.try_recv().unwrap_or_default();
                    let read = labels.read_block(partition, &mut block).map(|()| block);
                    // The visitor may have stopped listening after an error.
                    if send.send(read).is_err() {
                        return;
                    }
                }
            });
            for block in receive {
                let named = |error| quorate::Error::Source(SourceError::new(labels.folder.named(error)));
                let block = block.map_err(named)?;
                visit(block.view(workers, classes))?;
                // The reader may be done.
                let _ = give_back.try_send(block);
            }
            Ok(())
        })
    }
}
