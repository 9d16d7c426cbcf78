//! Results of labels on disk: posteriors partition by partition, merged into the order of the input.
//!
//! A record is `row u64, length u32, name, label u16, K x f64, changed u8`, and where that is 1 `majority
//! u16` and two texts, each behind its length u32: the votes and who tipped them. A partition's records stand
//! in order of `row`.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::PathBuf;

use quorate::annotations::Names;
use quorate::internal::blocks::TaskBlock;
use quorate::internal::model::{BlockFit, ConsensusSummary, VoteShares};
use quorate::model::Consensus;
use quorate::review::{Evidence, Review, ReviewTask};
use rayon::prelude::*;

use super::blocks::SpilledLabels;
use super::groups;
use super::runs::{damaged, read_start};
use crate::binary::{push_text, read_array, read_text};
use crate::error::Result;
use crate::formats::{Cell, ColumnKind, Each, FileFormat, RowSource, table, write_table};
use crate::tables::ChangeRow;
use crate::tables::changes::CHANGE_COLUMNS;
use crate::tables::consensus::consensus_columns;
use crate::target::Target;

/// What is to be made of the last pass besides labels and probabilities.
#[derive(Debug, Clone, Copy, Default)]
pub struct WantedResults {
    /// The expected answers of the workers.
    pub counts: bool,
    /// The tasks whose label is not that of majority vote, and who tipped them.
    pub changes: bool,
    /// The tasks to look at first.
    pub review: Option<Review>,
}

/// Posteriors on disk, to be written as a table.
#[derive(Debug)]
pub struct SpilledResults<'s> {
    spilled: &'s SpilledLabels,
    files: Vec<PathBuf>,
    /// What the pass told.
    pub summary: ConsensusSummary,
    /// The tasks to look at first, if they were asked for.
    pub review: Vec<ReviewTask>,
}

impl SpilledLabels {
    /// Makes the posteriors of a fit. `step` is called before each block and may stop the work.
    pub fn results(
        &mut self,
        fit: &BlockFit,
        wanted: WantedResults,
        step: &mut dyn FnMut() -> quorate::Result<()>,
    ) -> Result<SpilledResults<'_>> {
        // Only tasks without labels need to know how the votes are shared.
        let shares = match self.unlabelled_tasks() {
            0 => VoteShares::even(self.classes.len()),
            _ => VoteShares::of_blocks(self)?,
        };
        let mut summary = ConsensusSummary::default();
        let mut review = Vec::new();
        for group in groups(self.partitions) {
            step()?;
            let made: Vec<_> = group
                .into_par_iter()
                .map(|partition| self.result_of(partition, fit, &shares, wanted))
                .collect();
            for made in made {
                let (facts, tasks) = made.map_err(|error| self.folder.named(error))?;
                summary.merge(&facts);
                if let Some(wanted) = &wanted.review {
                    review = wanted.join([review, tasks]);
                }
            }
        }
        let files = (0..self.partitions).map(|partition| self.folder.file("results", partition));
        Ok(SpilledResults {
            files: files.collect(),
            spilled: self,
            summary,
            review,
        })
    }

    /// Writes the results of a partition, and removes the names of its tasks, which stand in them.
    fn result_of(
        &self,
        partition: usize,
        fit: &BlockFit,
        shares: &VoteShares,
        wanted: WantedResults,
    ) -> Result<(ConsensusSummary, Vec<ReviewTask>)> {
        let mut block = TaskBlock::default();
        self.read_block(partition, &mut block)?;
        let block = block.view(self.workers.len(), self.classes.len());
        let consensus = Consensus::new(self.classes.len(), fit.posteriors(block));
        let voted = wanted
            .changes
            .then(|| Consensus::new(self.classes.len(), shares.rows(block)));
        let summary = ConsensusSummary::of_block(block, consensus.as_slice(), shares, wanted.counts);
        let names = self.folder.file("names", partition);
        let mut from = BufReader::with_capacity(1 << 18, File::open(&names)?);
        let results = File::create(self.folder.file("results", partition))?;
        let mut to = BufWriter::with_capacity(1 << 18, results);
        let (mut record, mut name, mut tasks) = (Vec::new(), Vec::new(), Names::default());
        for task in 0..consensus.len() {
            let row = read_start(&mut from)?.ok_or_else(damaged)?;
            read_text(&mut from, &mut name)?;
            record.clear();
            record.extend_from_slice(&row.to_le_bytes());
            push_text(&mut record, &name);
            if wanted.review.is_some() {
                let code = tasks.intern(std::str::from_utf8(&name).map_err(|_| damaged())?);
                // Every task has a name of its own.
                if code as usize != task {
                    return Err(damaged());
                }
            }
            let label = consensus.label(task);
            record.extend_from_slice(&(label as u16).to_le_bytes());
            for probability in consensus.row(task) {
                record.extend_from_slice(&probability.to_le_bytes());
            }
            let majority = voted.as_ref().map(|voted| voted.label(task));
            let changed = majority.filter(|&majority| majority != label);
            record.push(u8::from(changed.is_some()));
            if let Some(majority) = changed {
                record.extend_from_slice(&(majority as u16).to_le_bytes());
                let labels = block.task(task);
                let votes = ChangeRow::describe_votes(labels.1, &self.classes);
                let model = fit.model.as_ref();
                let tipped_by = ChangeRow::name_tipping(labels, model, (label, majority), &self.workers);
                for text in [votes, tipped_by] {
                    push_text(&mut record, text.as_bytes());
                }
            }
            to.write_all(&record)?;
        }
        to.flush()?;
        std::fs::remove_file(&names)?;
        let review = wanted.review.map(|review| {
            review.of_evidence(&Evidence {
                labels: block,
                posteriors: consensus.as_slice(),
                model: fit.model.as_ref(),
                difficulty: None,
                tasks: &tasks,
                workers: &self.workers,
                classes: &self.classes,
            })
        });
        Ok((summary, review.unwrap_or_default()))
    }
}

impl SpilledResults<'_> {
    /// The labels that these are the results of.
    pub fn labels(&self) -> &SpilledLabels {
        self.spilled
    }

    /// Writes the labels as [`write_consensus`](crate::write_consensus) does, whole or not at all.
    pub fn write(&self, target: &Target, format: Option<FileFormat>, probabilities: bool) -> Result<()> {
        let classes = &self.spilled.classes;
        let columns = consensus_columns(classes, probabilities);
        let table = self.merged(columns, |found, task, each| {
            let (label, row) = (usize::from(found.label), &found.probabilities);
            let mut cells = vec![
                Cell::Text(task),
                Cell::Text(classes.get(label)),
                row[label].into(),
            ];
            if probabilities {
                cells.extend(row.iter().map(|&p| Cell::from(p)));
            }
            each(&cells)
        })?;
        write_table(target, format, &table)
    }

    /// Writes the tasks whose label is not that of majority vote, if they were asked for.
    pub fn write_changes(&self, target: &Target) -> Result<()> {
        let class = |code: u16| self.spilled.classes.get(usize::from(code));
        let table = self.merged(CHANGE_COLUMNS, |found, task, each| {
            let Some((majority, votes, tipped_by)) = &found.changed else {
                return Ok(());
            };
            each(&[
                Cell::Text(task),
                Cell::Text(class(*majority)),
                Cell::Text(votes),
                Cell::Text(class(found.label)),
                found.probabilities[usize::from(found.label)].into(),
                Cell::Text(tipped_by),
            ])
        })?;
        write_table(target, None, &table)
    }

    /// Writes a table of all results, in the order in which the tasks appear in the input. `row` hands over
    /// what a task has in it.
    fn merged<N: Into<String>>(
        &self,
        columns: impl IntoIterator<Item = (N, ColumnKind)>,
        row: impl Fn(&ResultReader, &str, &mut Each<'_>) -> Result<()>,
    ) -> Result<impl RowSource> {
        let classes = self.spilled.classes.len();
        let sources = self.files.iter().map(|path| ResultReader::open(path, classes));
        let sources = RefCell::new(sources.collect::<Result<Vec<_>>>()?);
        Ok(table(columns, move |each| {
            let mut sources = sources.borrow_mut();
            let mut next = BinaryHeap::new();
            for (place, source) in sources.iter_mut().enumerate() {
                next.extend(source.advance()?.map(|row| Reverse((row, place))));
            }
            while let Some(Reverse((_, place))) = next.pop() {
                let source = &mut sources[place];
                let task = std::str::from_utf8(&source.name).map_err(|_| damaged())?;
                row(source, task, each)?;
                next.extend(source.advance()?.map(|row| Reverse((row, place))));
            }
            Ok(())
        }))
    }
}

/// One partition's results, one record at a time.
struct ResultReader {
    input: BufReader<File>,
    name: Vec<u8>,
    label: u16,
    probabilities: Vec<f64>,
    /// Where the label is not that of majority vote: that one, the votes, and who tipped the balance.
    changed: Option<(u16, String, String)>,
}

impl ResultReader {
    fn open(path: &std::path::Path, classes: usize) -> Result<Self> {
        Ok(Self {
            input: BufReader::with_capacity(1 << 16, File::open(path)?),
            name: Vec::new(),
            label: 0,
            probabilities: vec![0.0; classes],
            changed: None,
        })
    }

    /// Moves to the next record; returns its row, none at the end.
    fn advance(&mut self) -> Result<Option<u64>> {
        let Some(row) = read_start(&mut self.input)? else {
            return Ok(None);
        };
        read_text(&mut self.input, &mut self.name)?;
        self.label = self.read_class()?;
        for probability in &mut self.probabilities {
            *probability = f64::from_le_bytes(read_array(&mut self.input)?);
        }
        self.changed = match read_array(&mut self.input)? {
            [0] => None,
            _ => Some((self.read_class()?, self.read_words()?, self.read_words()?)),
        };
        Ok(Some(row))
    }

    fn read_class(&mut self) -> Result<u16> {
        let class = u16::from_le_bytes(read_array(&mut self.input)?);
        if usize::from(class) < self.probabilities.len() {
            Ok(class)
        } else {
            Err(damaged())
        }
    }

    fn read_words(&mut self) -> Result<String> {
        let mut text = Vec::new();
        read_text(&mut self.input, &mut text)?;
        String::from_utf8(text).map_err(|_| damaged())
    }
}
