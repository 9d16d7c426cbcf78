//! Where the iterative methods start: the votes, or, where some truths are known, votes weighed by how the
//! workers did on those.
//!
//! Votes alone can point the wrong way, and an iteration that starts there ends there, a few known truths or
//! not. So with gold a worker's first matrix is counted on the known tasks; the votes stand in for what these
//! do not cover, worth [`VOTES_WORTH`] labels a column. One E-step with these matrices is the start.

use std::sync::Arc;

use super::counts::{AnswerCounts, count_rows};
use super::em::reserve;
use super::posterior::Sweep;
use super::votes::{VoteShares, fill_votes};
use super::{VOTES_WORTH, harden};
use crate::blocks::{Block, Extent, Pass, Passes, PosteriorRule, Stage, Wire, wire_format};
use crate::linalg::small::{add, add_scaled};
use crate::{Context, Result};

/// How the first posteriors of a block follow.
#[derive(Debug, Clone)]
pub(crate) enum FirstRule {
    Votes(VoteShares),
    /// All mass of a task on the best class of another rule.
    Winners(Box<FirstRule>),
    Weighed(Arc<Sweep>),
}

wire_format!(26 enum FirstRule { 0 => Votes { 0: shares }, 1 => Winners { 0: rule }, 2 => Weighed { 0: sweep } });

impl PosteriorRule for FirstRule {
    fn fill(&self, block: Block<'_>, rows: &mut [f64]) {
        match self {
            Self::Votes(shares) => shares.fill(block, rows),
            Self::Winners(rule) => {
                rule.fill(block, rows);
                harden(rows, block.class_count());
            }
            Self::Weighed(sweep) => sweep.fill(block, rows),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }
}

/// Finds the first posteriors, which the passes then know, and the expected answers against them. One pass
/// over the labels, three where truths are known, one more for the `winners`: all mass of a task on its best
/// class.
pub fn find_first(winners: bool, passes: &mut Passes<'_>, context: &mut Context) -> Result<AnswerCounts> {
    reserve(passes, context)?;
    let (workers, classes) = (passes.worker_count(), passes.class_count());
    let (shares, counts) = share_votes_over(passes, true, context)?;
    let mut counts = counts.unwrap_or_else(|| AnswerCounts::zero(workers, classes));
    let mut rule = FirstRule::Votes(shares);
    if passes.has_gold() {
        let mut known = passes.run(&mut CountKnown {}, Stage::single("gold"), context)?;
        let sweep = context.run(|| {
            let by_votes = counts.to_model(0.1);
            add_scaled(&mut known.cells, VOTES_WORTH, by_votes.confusions());
            known.mass = by_votes.prior().to_vec();
            Sweep::new(&known.to_model(0.0))
        });
        rule = FirstRule::Weighed(Arc::new(sweep));
        counts = passes.run(&mut CountFirst(rule.clone()), Stage::single("votes"), context)?;
    }
    if winners {
        let rule = FirstRule::Winners(Box::new(rule));
        counts = passes.run(&mut CountFirst(rule), Stage::single("votes"), context)?;
    }
    Ok(counts)
}

/// The vote shares of all tasks, which are then the posteriors, and the answers against them if they are
/// `counted`: one pass.
pub(crate) fn share_votes_over(
    passes: &mut Passes<'_>,
    counted: bool,
    context: &mut Context,
) -> Result<(VoteShares, Option<AnswerCounts>)> {
    let (classes, stage) = (passes.class_count(), Stage::single("votes"));
    let (sum, counts) = passes.run(&mut CountVotes { counted }, stage, context)?;
    let shares = VoteShares::new(sum);
    let rule = FirstRule::Votes(shares.clone());
    let fill = |_: &FirstRule, block: Block<'_>, rows: &mut [f64]| shares.fill_silent(block, rows);
    passes.complete(classes, rule, stage, context, fill)?;
    Ok((shares, counts))
}

/// Sums the vote shares of the labelled tasks and, if asked for, counts the answers against them.
pub(crate) struct CountVotes {
    counted: bool,
}
wire_format!(22 CountVotes { counted });

impl Pass for CountVotes {
    /// Vote shares of some tasks, summed, and counts.
    type State = (Vec<f64>, Option<AnswerCounts>);

    fn width(&self, classes: usize) -> usize {
        classes
    }

    fn start(&mut self, extent: Extent) -> Self::State {
        let counts = || AnswerCounts::zero(extent.workers, extent.classes);
        (vec![0.0; extent.classes], self.counted.then(counts))
    }

    fn visit(&mut self, (sum, counts): &mut Self::State, block: Block<'_>, rows: &mut [f64]) {
        add(sum, &fill_votes(block, rows));
        if let Some(counts) = counts {
            counts.merge(&count_rows(block, rows, block.class_count()));
        }
    }
}

/// Counts the answers to the tasks whose truth is known.
pub(crate) struct CountKnown {}
wire_format!(24 CountKnown {});

impl Pass for CountKnown {
    type State = AnswerCounts;

    fn start(&mut self, extent: Extent) -> AnswerCounts {
        AnswerCounts::zero(extent.workers, extent.classes)
    }

    fn visit(&mut self, counts: &mut AnswerCounts, block: Block<'_>, _: &mut [f64]) {
        let classes = block.class_count();
        let mut known = vec![0.0; block.task_count() * classes];
        for (task, row) in known.chunks_exact_mut(classes).enumerate() {
            if let Some(truth) = block.gold(task) {
                row[truth] = 1.0;
            }
        }
        counts.merge(&count_rows(block, &known, classes));
    }
}

/// Writes the first posteriors, and counts the answers against them.
pub(crate) struct CountFirst(FirstRule);
wire_format!(25 CountFirst { 0 });

impl Pass for CountFirst {
    type State = AnswerCounts;

    fn width(&self, classes: usize) -> usize {
        classes
    }

    fn start(&mut self, extent: Extent) -> AnswerCounts {
        AnswerCounts::zero(extent.workers, extent.classes)
    }

    fn visit(&mut self, counts: &mut AnswerCounts, block: Block<'_>, rows: &mut [f64]) {
        self.0.fill(block, rows);
        counts.merge(&count_rows(block, rows, block.class_count()));
    }

    fn rule(&self) -> Option<Box<dyn PosteriorRule>> {
        Some(Box::new(self.0.clone()))
    }
}
