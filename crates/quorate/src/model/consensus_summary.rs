//! Plain facts about a consensus and the labels that it rests on. Those of different blocks add up.

use std::ops::Range;

use super::consensus::{label_of, leaders};
use super::first::share_votes_over;
use super::votes::{VoteShares, fill_votes};
use super::{AnswerCounts, BlockFit, Consensus, count_rows};
use crate::blocks::{Block, Blocks, Extent, Pass, Passes, Stage, State, wire_format};
use crate::linalg::small::{add, largest};
use crate::parallel::{balanced_ranges, map_ranges};
use crate::review::DOUBTFUL;
use crate::{Annotations, Context, Result};

/// Facts about the labels of some tasks and their consensus.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConsensusSummary {
    /// Tasks.
    pub tasks: u64,
    /// Labels.
    pub labels: u64,
    /// Tasks without any label.
    pub unlabelled_tasks: u64,
    /// Tasks whose truth is known.
    pub known_tasks: u64,
    /// Tasks where several classes share the first place.
    pub tied_tasks: u64,
    /// Tasks whose label is not the one that majority vote gives.
    pub changed_from_votes: u64,
    /// Sum of `1 - confidence` over the tasks.
    pub doubt: f64,
    /// Tasks whose confidence is below [`DOUBTFUL`](crate::review::DOUBTFUL).
    pub doubtful_tasks: u64,
    /// Sum of `1 - confidence` over the doubtful tasks.
    pub doubtful_errors: f64,
    /// Labels of each worker.
    pub worker_labels: Vec<u64>,
    /// Labels of each worker that equal the consensus.
    pub worker_agreed: Vec<u64>,
    /// Sum over the labels of each worker of the probability that the label is right.
    pub worker_right: Vec<f64>,
    /// Expected answers of the workers, if they were asked for.
    pub counts: Option<AnswerCounts>,
}

impl ConsensusSummary {
    /// Of a consensus on a table in memory; `counts`: the expected answers with it.
    pub fn of(annotations: &Annotations, consensus: &Consensus, counts: bool) -> Self {
        let (block, rows) = (annotations.as_block(), consensus.as_slice());
        let ranges = balanced_ranges(block.starts, 16);
        let parts = map_ranges(ranges, |tasks| Self::of_tasks(block, tasks, rows));
        let mut total = Self::default();
        parts.iter().for_each(|part| total.merge(part));
        total.changed_from_votes = VoteShares::where_needed(block).count_changed(block, rows) as u64;
        total.counts = counts.then(|| count_rows(block, rows, block.class_count()));
        total
    }

    /// Of a block and its posterior rows.
    pub fn of_block(block: Block<'_>, rows: &[f64], shares: &VoteShares, counts: bool) -> Self {
        Self {
            changed_from_votes: shares.count_changed(block, rows) as u64,
            counts: counts.then(|| count_rows(block, rows, block.class_count())),
            ..Self::of_tasks(block, 0..block.task_count(), rows)
        }
    }

    /// Of a fit to labels in blocks, wherever they are; `counts`: the expected answers with it. Two passes.
    pub fn of_fit(
        fit: &BlockFit,
        blocks: &mut dyn Blocks,
        counts: bool,
        context: &mut Context,
    ) -> Result<Self> {
        let mut passes = Passes::over(blocks);
        let (shares, _) = share_votes_over(&mut passes, false, context)?;
        let fit = fit.clone();
        let mut pass = Summarise { fit, shares, counts };
        passes.run(&mut pass, Stage::single("posteriors"), context)
    }

    /// What a look at each task tells.
    fn of_tasks(block: Block<'_>, tasks: Range<usize>, rows: &[f64]) -> Self {
        let classes = block.class_count();
        let mut facts = Self {
            tasks: tasks.len() as u64,
            worker_labels: vec![0; block.worker_count()],
            worker_agreed: vec![0; block.worker_count()],
            worker_right: vec![0.0; block.worker_count()],
            ..Self::default()
        };
        for task in tasks {
            let row = &rows[task * classes..][..classes];
            let (label, top) = (label_of(row), largest(row));
            facts.doubt += 1.0 - top;
            if top < DOUBTFUL {
                facts.doubtful_tasks += 1;
                facts.doubtful_errors += 1.0 - top;
            }
            facts.known_tasks += u64::from(block.gold(task).is_some());
            facts.tied_tasks += u64::from(leaders(row).nth(1).is_some());
            let (workers, answers) = block.task(task);
            facts.unlabelled_tasks += u64::from(workers.is_empty());
            facts.labels += workers.len() as u64;
            for (&worker, &answer) in workers.iter().zip(answers) {
                facts.worker_labels[worker as usize] += 1;
                facts.worker_right[worker as usize] += row[usize::from(answer)];
                facts.worker_agreed[worker as usize] += u64::from(usize::from(answer) == label);
            }
        }
        facts
    }

    /// Adds the facts about other tasks of the same workers.
    pub fn merge(&mut self, other: &Self) {
        self.tasks += other.tasks;
        self.labels += other.labels;
        self.unlabelled_tasks += other.unlabelled_tasks;
        self.known_tasks += other.known_tasks;
        self.tied_tasks += other.tied_tasks;
        self.changed_from_votes += other.changed_from_votes;
        self.doubt += other.doubt;
        self.doubtful_tasks += other.doubtful_tasks;
        self.doubtful_errors += other.doubtful_errors;
        self.worker_labels.resize(other.worker_labels.len(), 0);
        add(&mut self.worker_labels, &other.worker_labels);
        self.worker_agreed.resize(other.worker_agreed.len(), 0);
        add(&mut self.worker_agreed, &other.worker_agreed);
        self.worker_right.resize(other.worker_right.len(), 0.0);
        add(&mut self.worker_right, &other.worker_right);
        State::merge(&mut self.counts, other.counts.clone());
    }

    /// Share of the labels that are wrong if the confidence is right.
    pub fn expected_error(&self) -> f64 {
        self.doubt / self.tasks.max(1) as f64
    }
}

impl VoteShares {
    /// Of labels in blocks: one pass.
    pub fn of_blocks(blocks: &mut dyn Blocks) -> Result<Self> {
        let mut sum = vec![0.0; blocks.class_count()];
        let mut rows = Vec::new();
        blocks.for_each(&mut |block| {
            rows.resize(block.task_count() * block.class_count(), 0.0);
            add(&mut sum, &fill_votes(block, &mut rows));
            Ok(())
        })?;
        Ok(Self::new(sum))
    }
}

/// Makes the posteriors of a fit and looks at them.
pub(crate) struct Summarise {
    fit: BlockFit,
    shares: VoteShares,
    counts: bool,
}

wire_format!(32 Summarise { fit, shares, counts });

impl Pass for Summarise {
    type State = ConsensusSummary;

    fn start(&mut self, _: Extent) -> ConsensusSummary {
        ConsensusSummary::default()
    }

    fn visit(&mut self, summary: &mut ConsensusSummary, block: Block<'_>, _: &mut [f64]) {
        let posteriors = self.fit.posteriors(block);
        let facts = ConsensusSummary::of_block(block, &posteriors, &self.shares, self.counts);
        summary.merge(&facts);
    }
}

impl State for ConsensusSummary {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

wire_format!(33 ConsensusSummary {
    tasks, labels, unlabelled_tasks, known_tasks, tied_tasks, changed_from_votes, doubt, doubtful_tasks,
    doubtful_errors, worker_labels, worker_agreed, worker_right, counts
});
