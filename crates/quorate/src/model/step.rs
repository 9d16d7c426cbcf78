//! One pass over one block, for engines that run the passes themselves: what it returns for different blocks
//! adds up.
//!
//! ```text
//! (block, model) -> counts and log-likelihood      (block, model) -> posteriors      block -> votes and their counts
//! ```
//!
//! A cluster keeps the blocks, runs [`Step::of`] on each and sends the steps to the driver, which merges them
//! in a fixed order and makes the next model: `step.counts.to_model(smoothing)`. All values have a binary
//! form ([`Wire`](crate::blocks::Wire)).

use super::DawidSkene;
use super::counts::{AnswerCounts, count_rows};
use super::posterior::Sweep;
use super::tally::Tallies;
use super::votes::fill_votes;
use crate::blocks::{Block, wire_format};

/// What a pass over a block tells the next M-step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Expected answers of the workers.
    pub counts: AnswerCounts,
    /// Log-likelihood of the labels under the model.
    pub log_likelihood: f64,
}

wire_format!(4 Step { log_likelihood, counts });

impl Step {
    /// E-step of a model on a block, and the counts of its posteriors.
    pub fn of(block: Block<'_>, model: &DawidSkene) -> Self {
        Steps::default().take(block, model)
    }

    /// The first step: counts against the vote shares, under which labels have no likelihood.
    pub fn of_votes(block: Block<'_>) -> Self {
        let mut rows = vec![0.0; block.task_count() * block.class_count()];
        fill_votes(block, &mut rows);
        Self {
            counts: count_rows(block, &rows, block.class_count()),
            log_likelihood: 0.0,
        }
    }

    /// Adds the step of another block.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.log_likelihood += other.log_likelihood;
    }
}

/// Steps over a block, one after another: keeps the memory that they need.
#[derive(Default)]
pub struct Steps {
    rows: Vec<f64>,
    tallies: Tallies,
}

impl Steps {
    /// Like [`Step::of`].
    pub fn take(&mut self, block: Block<'_>, model: &DawidSkene) -> Step {
        self.rows.resize(block.task_count() * block.class_count(), 0.0);
        let swept = Sweep::new(model).run_in(&mut self.tallies, block, &mut self.rows);
        Step {
            counts: swept.counts.expect("counts were asked for"),
            log_likelihood: swept.log_likelihood,
        }
    }
}

/// Posterior rows of a block's tasks under a model, one after another.
pub fn block_posteriors(block: Block<'_>, model: &DawidSkene) -> Vec<f64> {
    let mut rows = vec![0.0; block.task_count() * block.class_count()];
    Sweep::new(model).run(block, &mut rows);
    rows
}
