//! Results of labels on disk: posteriors partition by partition, merged into the order of the input.
//!
//! A record is `row u64, length u32, name, label u16, K x f64`; a partition's records stand in order of
//! `row`.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use quorate::annotations::TaskBlock;
use quorate::methods::StreamedFit;
use quorate::model::{AnswerCounts, Consensus};
use rayon::prelude::*;

use super::blocks::{SpilledLabels, read_block};
use super::groups;
use super::runs::{damaged, read_start, read_u32};
use crate::error::Result;
use crate::formats::{Cell, ColumnKind, FileFormat, RowSource, write_table};
use crate::tables::consensus::consensus_columns;
use crate::target::Target;

/// Facts that come out of the last pass.
#[derive(Debug, Clone, Default)]
pub struct ResultSummary {
    /// Tasks without any label.
    pub unlabelled_tasks: u64,
    /// Tasks where several classes share the first place.
    pub tied_tasks: u64,
    /// Tasks whose label is not the one that majority vote gives.
    pub changed: u64,
    /// Labels of each worker.
    pub labels: Vec<u64>,
    /// Labels of each worker that equal the consensus.
    pub agreed: Vec<u64>,
    /// Sum of `1 - confidence` over the tasks.
    pub doubt: f64,
    /// Expected answers of the workers, if they were asked for.
    pub counts: Option<AnswerCounts>,
}

/// Posteriors on disk, to be written as a table.
#[derive(Debug)]
pub struct SpilledResults<'s> {
    spilled: &'s SpilledLabels,
    files: Vec<PathBuf>,
    /// What the pass told.
    pub summary: ResultSummary,
}

impl SpilledLabels {
    /// Makes the posteriors of a fit; `counts`: the expected answers with them. `step` is called before each
    /// block and may stop the work.
    pub fn results(
        &self,
        fit: &StreamedFit,
        counts: bool,
        step: &mut dyn FnMut() -> quorate::Result<()>,
    ) -> Result<SpilledResults<'_>> {
        let mut summary = ResultSummary::of(self.workers.len());
        summary.counts = counts.then(|| AnswerCounts::zero(self.workers.len(), self.classes.len()));
        for group in groups(self.partitions) {
            step()?;
            let made: Vec<_> = group
                .into_par_iter()
                .map(|partition| self.result_of(partition, fit, counts))
                .collect();
            for made in made {
                summary.add(&made?);
            }
        }
        let files = (0..self.partitions).map(|partition| self.folder.file("results", partition));
        Ok(SpilledResults {
            files: files.collect(),
            spilled: self,
            summary,
        })
    }

    /// Writes the results of a partition, and removes the names of its tasks, which stand in them.
    fn result_of(&self, partition: usize, fit: &StreamedFit, counts: bool) -> Result<ResultSummary> {
        let mut block = TaskBlock::default();
        read_block(&self.folder, partition, &mut block)?;
        let (mut rows, mut votes) = (Vec::new(), Vec::new());
        fit.posterior(&block, &mut rows);
        let mut summary = ResultSummary::of(self.workers.len());
        summary.counts = counts.then(|| fit.count(&block, &rows));
        fit.votes(&block, &mut votes);
        let (voted, consensus) = (
            Consensus::new(self.classes.len(), votes),
            Consensus::new(self.classes.len(), rows),
        );
        let names = self.folder.file("names", partition);
        let mut from = BufReader::with_capacity(1 << 18, File::open(&names)?);
        let results = File::create(self.folder.file("results", partition))?;
        let mut to = BufWriter::with_capacity(1 << 18, results);
        let mut record = Vec::new();
        for task in 0..consensus.len() {
            let row = read_start(&mut from)?.ok_or_else(damaged)?;
            let length = read_u32(&mut from)?;
            record.clear();
            record.extend_from_slice(&row.to_le_bytes());
            record.extend_from_slice(&length.to_le_bytes());
            (&mut from).take(u64::from(length)).read_to_end(&mut record)?;
            let label = consensus.label(task);
            record.extend_from_slice(&(label as u16).to_le_bytes());
            for probability in consensus.row(task) {
                record.extend_from_slice(&probability.to_le_bytes());
            }
            to.write_all(&record)?;
            summary.doubt += 1.0 - consensus.confidence(task);
            summary.tied_tasks += u64::from(consensus.tied(task) > 1);
            summary.changed += u64::from(voted.label(task) != label);
            let range = block.starts[task] as usize..block.starts[task + 1] as usize;
            summary.unlabelled_tasks += u64::from(range.is_empty());
            for (&worker, &answer) in block.worker[range.clone()].iter().zip(&block.label[range]) {
                summary.labels[worker as usize] += 1;
                summary.agreed[worker as usize] += u64::from(usize::from(answer) == label);
            }
        }
        to.flush()?;
        std::fs::remove_file(&names)?;
        Ok(summary)
    }
}

impl ResultSummary {
    fn of(workers: usize) -> Self {
        Self {
            labels: vec![0; workers],
            agreed: vec![0; workers],
            ..Self::default()
        }
    }

    /// Adds that of another partition.
    fn add(&mut self, other: &Self) {
        self.unlabelled_tasks += other.unlabelled_tasks;
        self.tied_tasks += other.tied_tasks;
        self.changed += other.changed;
        self.doubt += other.doubt;
        let add =
            |sums: &mut [u64], parts: &[u64]| sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        add(&mut self.labels, &other.labels);
        add(&mut self.agreed, &other.agreed);
        if let (Some(counts), Some(part)) = (&mut self.counts, &other.counts) {
            counts.merge(part);
        }
    }
}

impl SpilledResults<'_> {
    /// The labels that these are the results of.
    pub fn labels(&self) -> &SpilledLabels {
        self.spilled
    }

    /// Writes the labels as [`write_consensus`](crate::write_consensus) does, whole or not at all.
    pub fn write(&self, target: &Target, format: Option<FileFormat>, probabilities: bool) -> Result<()> {
        let classes = self.spilled.classes.len();
        let sources = self.files.iter().map(|path| ResultReader::open(path, classes));
        let table = MergedResults {
            spilled: self.spilled,
            probabilities,
            sources: RefCell::new(sources.collect::<Result<_>>()?),
        };
        write_table(target, format, &table)
    }
}

/// One partition's results, one record at a time.
struct ResultReader {
    input: BufReader<File>,
    name: Vec<u8>,
    label: u16,
    probabilities: Vec<f64>,
}

impl ResultReader {
    fn open(path: &std::path::Path, classes: usize) -> Result<Self> {
        Ok(Self {
            input: BufReader::with_capacity(1 << 16, File::open(path)?),
            name: Vec::new(),
            label: 0,
            probabilities: vec![0.0; classes],
        })
    }

    /// Moves to the next record; returns its row, none at the end.
    fn advance(&mut self) -> Result<Option<u64>> {
        let Some(row) = read_start(&mut self.input)? else {
            return Ok(None);
        };
        self.name.resize(read_u32(&mut self.input)? as usize, 0);
        self.input.read_exact(&mut self.name)?;
        let mut bytes = [0; 2];
        self.input.read_exact(&mut bytes)?;
        self.label = u16::from_le_bytes(bytes);
        for probability in &mut self.probabilities {
            let mut bytes = [0; 8];
            self.input.read_exact(&mut bytes)?;
            *probability = f64::from_le_bytes(bytes);
        }
        Ok(Some(row))
    }
}

/// All results in the order in which the tasks appear in the input.
struct MergedResults<'s> {
    spilled: &'s SpilledLabels,
    probabilities: bool,
    sources: RefCell<Vec<ResultReader>>,
}

impl RowSource for MergedResults<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        consensus_columns(self.spilled.classes(), self.probabilities)
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let mut sources = self.sources.borrow_mut();
        let mut next = BinaryHeap::new();
        for (place, source) in sources.iter_mut().enumerate() {
            if let Some(row) = source.advance()? {
                next.push(Reverse((row, place)));
            }
        }
        while let Some(Reverse((_, place))) = next.pop() {
            let source = &mut sources[place];
            let label = usize::from(source.label);
            let mut cells = vec![
                Cell::Text(std::str::from_utf8(&source.name).map_err(|_| damaged())?),
                Cell::Text(self.spilled.classes.get(label)),
                source.probabilities[label].into(),
            ];
            if self.probabilities {
                cells.extend(source.probabilities.iter().map(|&p| Cell::from(p)));
            }
            each(&cells)?;
            drop(cells);
            if let Some(row) = source.advance()? {
                next.push(Reverse((row, place)));
            }
        }
        Ok(())
    }
}
