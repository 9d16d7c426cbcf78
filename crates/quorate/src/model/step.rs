//! Sweeps over one block, one after another, for methods with an M-step of their own.

use super::DawidSkene;
use super::counts::AnswerCounts;
use super::posterior::Sweep;
use super::tally::Tallies;
use crate::blocks::Block;

/// What a sweep over a block tells the next M-step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Expected answers of the workers.
    pub counts: AnswerCounts,
    /// Log-likelihood of the labels under the model.
    pub log_likelihood: f64,
}

/// Steps over a block, one after another: keeps the memory that they need.
#[derive(Default)]
pub struct Steps {
    rows: Vec<f64>,
    tallies: Tallies,
}

impl Steps {
    /// E-step of a model on a block, and the counts of its posteriors.
    pub fn take(&mut self, block: Block<'_>, model: &DawidSkene) -> Step {
        self.rows.resize(block.task_count() * block.class_count(), 0.0);
        let swept = Sweep::new(model).run_in(&mut self.tallies, block, &mut self.rows);
        Step {
            counts: swept.counts.expect("counts were asked for"),
            log_likelihood: swept.log_likelihood,
        }
    }
}
