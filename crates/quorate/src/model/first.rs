//! Where the iterative methods start: the votes, or, where some truths are known, votes weighed by how the
//! workers did on those.
//!
//! Votes alone can point the wrong way, and an iteration that starts there ends there, a few known truths or
//! not. So with gold a worker's first matrix is counted on the known tasks; the votes stand in for what these
//! do not cover, worth [`VOTES_WORTH`] labels a column. One E-step with these matrices is the start.

use super::counts::{AnswerCounts, count_rows};
use super::em::reserve;
use super::posterior::Sweep;
use super::votes::{VoteShares, fill_votes};
use super::{VOTES_WORTH, harden};
use crate::blocks::{Block, Part, Pass, Passes, Reader, Stage, WireFormat, Writer, damaged};
use crate::context::Context;
use crate::error::Result;
use crate::parallel::add;

/// The first posteriors of an iteration.
pub(crate) struct First {
    pub(crate) rule: FirstRule,
    /// Expected answers against them.
    pub(crate) counts: AnswerCounts,
}

/// How the first posteriors of a block follow.
#[derive(Debug, Clone)]
pub(crate) enum FirstRule {
    Votes(VoteShares),
    /// The same with all mass of a task on its best class.
    Winners(Box<FirstRule>),
    Weighed(Sweep),
}

impl FirstRule {
    /// Writes the first posteriors of a block's tasks.
    pub(crate) fn fill(&self, block: Block<'_>, rows: &mut [f64]) {
        match self {
            Self::Votes(shares) => shares.fill(block, rows),
            Self::Winners(rule) => {
                rule.fill(block, rows);
                harden(rows, block.class_count());
            }
            Self::Weighed(sweep) => drop(sweep.run(block, rows)),
        }
    }
}

impl First {
    /// One pass over the labels, three where truths are known. Rows that are kept hold the first posteriors
    /// afterwards.
    pub(crate) fn of(passes: &mut Passes<'_>, context: &mut Context) -> Result<Self> {
        reserve(passes, context)?;
        let (workers, classes) = (passes.worker_count(), passes.class_count());
        let (shares, counts) = share_votes_over(passes, true, context)?;
        let counts = counts.unwrap_or_else(|| AnswerCounts::zero(workers, classes));
        if !passes.has_gold() {
            let rule = FirstRule::Votes(shares);
            return Ok(Self { rule, counts });
        }
        let known = passes.fold(&mut CountKnown, Stage::single("gold"), context)?;
        let mut known = known.unwrap_or_else(|| AnswerCounts::zero(workers, classes));
        let sweep = context.run(|| {
            let by_votes = counts.to_model(0.1);
            for (cell, probability) in known.cells.iter_mut().zip(by_votes.confusions()) {
                *cell += VOTES_WORTH * probability;
            }
            known.mass = by_votes.prior().to_vec();
            Sweep::new(&known.to_model(0.0))
        });
        Self::by(FirstRule::Weighed(sweep), passes, context)
    }

    /// The same with all mass of a task on its best class.
    pub(crate) fn into_winners(self, passes: &mut Passes<'_>, context: &mut Context) -> Result<Self> {
        Self::by(FirstRule::Winners(Box::new(self.rule)), passes, context)
    }

    /// One pass: the posteriors of a rule and the answers against them.
    fn by(rule: FirstRule, passes: &mut Passes<'_>, context: &mut Context) -> Result<Self> {
        let (classes, stage) = (passes.class_count(), Stage::single("votes"));
        let mut counts = None;
        if passes.are_remote() {
            counts = passes.run_remote(&CountFirst(rule.clone()), stage, context)?;
        } else {
            passes.each(classes, stage, context, &mut |block, rows, context| {
                context.run(|| {
                    rule.fill(block, rows);
                    join(&mut counts, count_rows(block, rows, classes));
                });
                Ok(())
            })?;
        }
        let counts = counts.unwrap_or_else(|| AnswerCounts::zero(passes.worker_count(), classes));
        Ok(Self { rule, counts })
    }
}

/// Adds the counts of another block.
fn join(total: &mut Option<AnswerCounts>, part: AnswerCounts) {
    match total {
        Some(total) => total.merge(&part),
        None => *total = Some(part),
    }
}

/// The vote shares of all tasks, in the rows where these are kept, and the answers against them if they are
/// `counted`: one pass.
pub(crate) fn share_votes_over(
    passes: &mut Passes<'_>,
    counted: bool,
    context: &mut Context,
) -> Result<(VoteShares, Option<AnswerCounts>)> {
    let (classes, stage) = (passes.class_count(), Stage::single("votes"));
    if passes.are_remote() {
        let sums = passes.run_remote(&CountVotes { counted }, stage, context)?;
        let sums = sums.unwrap_or_else(|| VoteSums {
            sum: vec![0.0; classes],
            counts: None,
        });
        return Ok((VoteShares::new(sums.sum), sums.counts));
    }
    let (mut sum, mut counts) = (vec![0.0; classes], None);
    passes.each(classes, stage, context, &mut |block, rows, context| {
        context.run(|| {
            add(&mut sum, &fill_votes(block, rows));
            if counted {
                join(&mut counts, count_rows(block, rows, classes));
            }
        });
        Ok(())
    })?;
    let shares = VoteShares::new(sum);
    if passes.caches_posteriors() {
        passes.each(classes, Stage::single("votes"), context, &mut |block, rows, _| {
            shares.fill_silent(block, rows);
            Ok(())
        })?;
    }
    Ok((shares, counts))
}

/// The answers to the tasks whose truth is known.
fn count_known(block: Block<'_>) -> AnswerCounts {
    let classes = block.class_count();
    let mut known = vec![0.0; block.task_count() * classes];
    for (task, row) in known.chunks_exact_mut(classes).enumerate() {
        if let Some(truth) = block.gold(task) {
            row[truth] = 1.0;
        }
    }
    count_rows(block, &known, classes)
}

impl WireFormat for FirstRule {
    const KIND: u8 = 26;

    fn write(&self, to: &mut Writer) {
        match self {
            Self::Votes(shares) => {
                to.number(0);
                shares.write(to);
            }
            Self::Winners(rule) => {
                to.number(1);
                rule.write(to);
            }
            Self::Weighed(sweep) => {
                to.number(2);
                sweep.write(to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match from.number()? {
            0 => Self::Votes(VoteShares::read(from)?),
            // The rule inside is one of the others: a chain of them would be no rule of ours.
            1 => match Self::read(from)? {
                Self::Winners(_) => return Err(damaged("with winners of winners")),
                rule => Self::Winners(Box::new(rule)),
            },
            2 => Self::Weighed(Sweep::read(from)?),
            _ => return Err(damaged("with a start that is not known here")),
        })
    }
}

/// Sums the vote shares of the labelled tasks and, if asked for, counts the answers against them.
pub(crate) struct CountVotes {
    counted: bool,
}

impl WireFormat for CountVotes {
    const KIND: u8 = 22;

    fn write(&self, to: &mut Writer) {
        to.number(u64::from(self.counted));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            counted: from.flag()?,
        })
    }
}

impl Pass for CountVotes {
    type Part = VoteSums;

    fn run(&mut self, block: Block<'_>) -> VoteSums {
        let classes = block.class_count();
        let mut rows = vec![0.0; block.task_count() * classes];
        VoteSums {
            sum: fill_votes(block, &mut rows),
            counts: self.counted.then(|| count_rows(block, &rows, classes)),
        }
    }
}

/// Vote shares of some tasks, summed.
pub(crate) struct VoteSums {
    sum: Vec<f64>,
    counts: Option<AnswerCounts>,
}

impl WireFormat for VoteSums {
    const KIND: u8 = 23;

    fn write(&self, to: &mut Writer) {
        to.write_f64(&self.sum);
        to.optional(self.counts.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            sum: from.read_f64()?,
            counts: from.optional()?,
        })
    }
}

impl Part for VoteSums {
    fn merge(&mut self, other: Self) {
        add(&mut self.sum, &other.sum);
        if let Some(counts) = other.counts {
            join(&mut self.counts, counts);
        }
    }
}

/// Counts the answers to the tasks whose truth is known.
pub(crate) struct CountKnown;

impl WireFormat for CountKnown {
    const KIND: u8 = 24;

    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Pass for CountKnown {
    type Part = AnswerCounts;

    fn run(&mut self, block: Block<'_>) -> AnswerCounts {
        count_known(block)
    }
}

/// Counts the answers against the first posteriors.
pub(crate) struct CountFirst(FirstRule);

impl WireFormat for CountFirst {
    const KIND: u8 = 25;

    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(FirstRule::read(from)?))
    }
}

impl Pass for CountFirst {
    type Part = AnswerCounts;

    fn run(&mut self, block: Block<'_>) -> AnswerCounts {
        let mut rows = vec![0.0; block.task_count() * block.class_count()];
        self.0.fill(block, &mut rows);
        count_rows(block, &rows, block.class_count())
    }
}
