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
use crate::blocks::{Block, Passes, Stage};
use crate::context::Context;
use crate::error::Result;

/// The first posteriors of an iteration.
pub(crate) struct First {
    pub(crate) rule: FirstRule,
    /// Expected answers against them.
    pub(crate) counts: AnswerCounts,
}

/// How the first posteriors of a block follow.
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
        let mut sum = vec![0.0; classes];
        let (mut counts, mut known) = (None, None);
        let has_gold = passes.has_gold();
        passes.each(
            classes,
            Stage::single("votes"),
            context,
            &mut |block, rows, context| {
                context.run(|| {
                    let shares = fill_votes(block, rows);
                    sum.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
                    join(&mut counts, count_rows(block, rows, classes));
                    if has_gold {
                        join(&mut known, count_known(block, rows));
                    }
                });
                Ok(())
            },
        )?;
        let shares = VoteShares::new(sum);
        let counts = counts.unwrap_or_else(|| AnswerCounts::zero(workers, classes));
        let Some(mut known) = known else {
            if passes.keeps_rows() {
                passes.each(classes, Stage::single("votes"), context, &mut |block, rows, _| {
                    shares.fill_silent(block, rows);
                    Ok(())
                })?;
            }
            let rule = FirstRule::Votes(shares);
            return Ok(Self { rule, counts });
        };
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
        let classes = passes.class_count();
        let mut counts = None;
        passes.each(
            classes,
            Stage::single("votes"),
            context,
            &mut |block, rows, context| {
                context.run(|| {
                    rule.fill(block, rows);
                    join(&mut counts, count_rows(block, rows, classes));
                });
                Ok(())
            },
        )?;
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

/// The answers to the tasks whose truth is known, of which `rows` are the posteriors.
fn count_known(block: Block<'_>, rows: &[f64]) -> AnswerCounts {
    let classes = block.class_count();
    let mut known = rows.to_vec();
    for (task, row) in known.chunks_exact_mut(classes).enumerate() {
        if block.gold(task).is_none() {
            row.fill(0.0);
        }
    }
    count_rows(block, &known, classes)
}
