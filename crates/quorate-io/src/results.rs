//! What a fit says of every task, wherever it is kept: one way to write it.

use quorate::Annotations;
use quorate::internal::model::ConsensusSummary;
use quorate::internal::run::{LabelFacts, LabelTable};
use quorate::model::{Consensus, DawidSkene};
use quorate::review::{Evidence, Review, ReviewTask};

use crate::error::Result;
use crate::spill::SpilledResults;
use crate::tables::{ChangeRow, ConsensusParts, write_changes, write_consensus};
use crate::target::Target;

/// The consensus on all tasks, in memory or on disk.
#[derive(Debug)]
pub enum TaskResults<'l> {
    /// In memory.
    Memory(&'l Annotations, Consensus),
    /// On disk.
    Disk(Box<SpilledResults<'l>>),
}

impl TaskResults<'_> {
    /// What there is to say of the labels.
    pub fn facts(&self) -> LabelFacts<'_> {
        match self {
            Self::Memory(annotations, _) => LabelFacts::from(*annotations),
            Self::Disk(results) => results.labels().facts(),
        }
    }

    /// Tells whether two inputs are the same data.
    pub fn fingerprint(&self) -> u64 {
        match self {
            Self::Memory(annotations, _) => annotations.fingerprint(),
            Self::Disk(results) => results.labels().fingerprint(),
        }
    }

    /// The table of the labels, if they are in memory.
    pub fn annotations(&self) -> Option<&Annotations> {
        match self {
            Self::Memory(annotations, _) => Some(annotations),
            Self::Disk(_) => None,
        }
    }

    /// Bytes of labels on disk, if they are there.
    pub fn spilled_bytes(&self) -> Option<u64> {
        match self {
            Self::Memory(..) => None,
            Self::Disk(results) => Some(results.labels().bytes()),
        }
    }

    /// Facts about the tasks; `counts`: the expected answers of the workers with them.
    pub fn summary(&self, counts: bool) -> ConsensusSummary {
        match self {
            Self::Memory(annotations, consensus) => ConsensusSummary::of(annotations, consensus, counts),
            Self::Disk(results) => results.summary.clone(),
        }
    }

    /// The tasks to look at first. Results on disk must have been made with them, and do not know how
    /// difficult a task is.
    pub fn review(
        &self,
        review: Review,
        model: Option<&DawidSkene>,
        difficulty: Option<&[f64]>,
    ) -> Vec<ReviewTask> {
        match self {
            Self::Memory(annotations, consensus) => review.of_evidence(&Evidence {
                labels: annotations.as_block(),
                posteriors: consensus.as_slice(),
                model,
                difficulty,
                tasks: annotations.tasks(),
                workers: annotations.workers(),
                classes: annotations.classes(),
            }),
            Self::Disk(results) => review.join([results.review.clone()]),
        }
    }

    /// Writes the label and the confidence of every task, with the votes and the margin, the probabilities of
    /// all classes and the difficulty, as asked for; votes and difficulty only where the labels are in
    /// memory.
    pub fn write(&self, target: &Target, parts: ConsensusParts<'_>) -> Result<()> {
        match self {
            Self::Memory(annotations, consensus) => write_consensus(
                target,
                annotations.tasks(),
                annotations.classes(),
                consensus,
                parts,
            ),
            Self::Disk(results) => results.write(target, parts.format, parts.probabilities),
        }
    }

    /// Writes the tasks whose label is not that of majority vote. Results on disk must have been made with
    /// them.
    pub fn write_changes(&self, target: &Target, model: Option<&DawidSkene>) -> Result<()> {
        match self {
            Self::Memory(annotations, consensus) => {
                let rows = ChangeRow::of_fit(annotations, consensus, model);
                write_changes(target, &rows)
            }
            Self::Disk(results) => results.write_changes(target),
        }
    }
}
