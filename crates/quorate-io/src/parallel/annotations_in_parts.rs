//! The table from an input that is read in parts, in parallel.
//!
//! [`PartSink::append`] takes a round of parts in the order of the input. The table is the one that
//! [`AnnotationsBuilder`](quorate::AnnotationsBuilder) makes of the same rows, bit for bit. What that builder
//! would refuse (an empty id, a class that is not allowed, too many names) is [`Irregular`] here.

use quorate::Annotations;
use quorate::annotations::{CodeColumns, Duplicates, MAX_LABELS, RowCounts};
use quorate::internal::blocks::TaskBlock;
use quorate_machine::memory::check_room;
use rayon::prelude::*;

use super::grouped::{Grouped, Runs};
use super::interner::{Interner, MAX_NAMES};
use super::vocabulary::mentions;
use super::{Irregular, PartRead, PartSink, Stop, Vocabulary};
use crate::memory;

/// Labels on their way into the table.
#[derive(Debug)]
enum LabelsSoFar {
    /// Grouped by task so far: in the order of the table.
    Grouped(Grouped),
    /// In any order, one chunk behind the other.
    Scattered(Vec<CodeColumns>),
}

impl LabelsSoFar {
    /// Bytes for what is still to come of an input; `more` estimates it.
    fn bytes_for(&self, more: impl Fn(usize) -> usize) -> u64 {
        match self {
            Self::Grouped(grouped) => grouped.bytes_for(more),
            Self::Scattered(_) => 0,
        }
    }

    /// Bytes for so many rows more, and for sorting all of them by task.
    fn bytes_to_come(&self, rows: usize, tasks: usize) -> u64 {
        /// A row with its task, and a row of the table.
        const ROW: usize = 10;
        const LABEL: usize = 6;
        let bytes = match self {
            Self::Grouped(grouped) => grouped.bytes_to_come(rows),
            Self::Scattered(chunks) => {
                let held: usize = chunks.iter().map(|chunk| chunk.label.len()).sum();
                rows * ROW + (held + rows) * LABEL + tasks * 8
            }
        };
        bytes as u64
    }
}

/// Collects parts and turns them into [`Annotations`].
#[derive(Debug)]
pub(crate) struct AnnotationsInParts {
    vocabulary: Vocabulary,
    tasks: Interner,
    labels: LabelsSoFar,
    duplicates: Duplicates,
}

impl AnnotationsInParts {
    /// A builder of the rows of this vocabulary. None where a repeated row is an error: that needs its place
    /// in the input.
    pub(crate) fn new(vocabulary: Vocabulary, duplicates: Duplicates) -> Option<Self> {
        (duplicates != Duplicates::Error).then(|| Self {
            vocabulary,
            tasks: Interner::for_sorted(),
            labels: LabelsSoFar::Grouped(Grouped::default()),
            duplicates,
        })
    }

    /// Adds the labels of parts, given the tasks of their runs.
    fn add(&mut self, parts: &mut [PartRead], tasks: &[Vec<u32>]) {
        if let LabelsSoFar::Grouped(grouped) = &mut self.labels {
            let runs: Vec<Runs<'_>> = parts
                .iter_mut()
                .zip(tasks)
                .map(|(part, tasks)| part.runs(tasks))
                .collect();
            if grouped.takes(&runs) {
                return grouped.append(runs);
            }
            self.labels = LabelsSoFar::Scattered(vec![std::mem::take(grouped).into_columns()]);
        }
        if let LabelsSoFar::Scattered(all) = &mut self.labels {
            let rows = parts.par_iter().zip(tasks);
            all.par_extend(rows.map(|(part, tasks)| part.columns(tasks)));
        }
    }

    /// Sorts the rows into the table.
    pub(crate) fn build(self) -> Result<quorate::Result<Annotations>, Irregular> {
        let class_order = self.vocabulary.class_order();
        let (rows, abstentions) = self.vocabulary.rows();
        let (Some(tasks), Some((workers, classes))) = (self.tasks.into_names(), self.vocabulary.into_names())
        else {
            return Err(Irregular);
        };
        let (block, repeated) = match self.labels {
            LabelsSoFar::Grouped(grouped) => {
                let (mut block, repeated) = grouped.into_block();
                block.drop_repeated(repeated, self.duplicates);
                (block, repeated)
            }
            LabelsSoFar::Scattered(chunks) => TaskBlock::sort(tasks.len(), chunks, self.duplicates),
        };
        let rows = RowCounts {
            rows,
            abstentions,
            repeated,
            duplicates: self.duplicates,
        };
        let annotations = Annotations::from_block(tasks, workers, classes, block, rows);
        Ok(annotations.map(|annotations| match class_order {
            Some(order) => annotations.with_class_order(order),
            None => annotations,
        }))
    }
}

impl PartSink for AnnotationsInParts {
    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn append(&mut self, mut parts: Vec<PartRead>) -> Result<Vec<PartRead>, Stop> {
        let rows: usize = parts.iter().map(PartRead::label_count).sum();
        memory::check(self.labels.bytes_to_come(rows, self.tasks.len())).map_err(Stop::Refused)?;
        let tasks = self.tasks.resolve(&mentions(&parts, |part| &part.tasks));
        self.vocabulary.learn(&mut parts)?;
        let (rows, abstentions) = self.vocabulary.rows();
        if self.tasks.len() > MAX_NAMES || rows - abstentions > MAX_LABELS as u64 {
            return Err(Stop::Irregular);
        }
        self.add(&mut parts, &tasks);
        parts.iter_mut().for_each(PartRead::clear);
        Ok(parts)
    }

    /// Makes room for the whole input: tables that grow step by step are moved each time, and lie on small
    /// pages.
    fn expect(&mut self, done: usize, total: usize) {
        let more = |count: usize| (count as u128 * total as u128 / done.max(1) as u128) as usize - count;
        if done >= total || check_room(self.tasks.bytes_for(more) + self.labels.bytes_for(more)).is_err() {
            return;
        }
        if let LabelsSoFar::Grouped(grouped) = &mut self.labels {
            grouped.expect(more);
        }
        self.tasks.expect(more);
    }
}
