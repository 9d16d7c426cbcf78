//! The sweep as a pass: E-step of all tasks and, if asked for, the counts for the next M-step.

use std::sync::Arc;

use super::posterior::{Sweep, SweepResult};
use super::tally::Tallies;
use crate::blocks::{Block, Extent, Pass, Passes, PosteriorRule, Stage, State, wire_format};
use crate::linalg::width::with_width;
use crate::{Context, Result};

/// Writes the posteriors of a sweep.
#[derive(Default)]
pub struct SweepPass {
    /// What the pass multiplies, or adds up.
    pub sweep: Arc<Sweep>,
    /// Whether answers are counted.
    counted: bool,
    /// Whether the posteriors of the pass before are known, so that it can say how far they move.
    pub compared: bool,
    /// Whether the largest change of a class posterior is asked for, too.
    largest: bool,
    /// Tables that the next pass uses again.
    tallies: Tallies,
    /// Number of answers a worker can give.
    answers: usize,
    /// Class posteriors of a block before the pass.
    before: Vec<f64>,
}

wire_format!(27 SweepPass { sweep, counted, compared, largest } default { tallies, answers, before });

impl SweepPass {
    /// For posteriors and likelihood; answers are `counted`, and the `largest` change of a class posterior is
    /// found, where asked for.
    pub fn new(sweep: Sweep, counted: bool, largest: bool) -> Self {
        Self {
            sweep: Arc::new(sweep),
            counted,
            largest,
            ..Self::default()
        }
    }

    /// Runs the pass as one of at most so many rounds.
    pub fn run(
        &mut self,
        name: &'static str,
        (done, total): (usize, usize),
        passes: &mut Passes<'_>,
        context: &mut Context,
    ) -> Result<SweepResult> {
        passes.run(self, Stage::round(name, done, total), context)
    }
}

impl Pass for SweepPass {
    type State = SweepResult;

    fn width(&self, _: usize) -> usize {
        self.sweep.prior.len()
    }

    fn reads_posteriors(&self) -> bool {
        self.compared
    }

    fn start(&mut self, extent: Extent) -> SweepResult {
        let (cells, truths) = (&self.sweep.cells, self.sweep.prior.len());
        self.answers = extent.classes;
        if self.counted {
            // Counts, and the weights beside them.
            let tables = extent.tables(2 * cells.len());
            with_width!(truths, width => self.tallies.start(width, tables, cells));
        }
        SweepResult::default()
    }

    fn visit(&mut self, result: &mut SweepResult, block: Block<'_>, posteriors: &mut [f64]) {
        let subtypes = self.sweep.prior.len() / block.class_count();
        let largest = self.largest && self.compared;
        if largest {
            self.before.resize(block.task_count() * block.class_count(), 0.0);
            sum_subtypes(posteriors, subtypes, &mut self.before);
        }
        result.merge(if self.counted {
            self.sweep.run_block(&mut self.tallies, block, posteriors)
        } else {
            self.sweep.run(block, posteriors)
        });
        if largest {
            let change = sum_subtypes(posteriors, subtypes, &mut self.before);
            result.largest_change = result.largest_change.max(change);
        }
    }

    fn finish(&mut self, result: &mut SweepResult) {
        let (cells, truths) = (self.sweep.cells.len(), self.sweep.prior.len());
        let sum = || with_width!(truths, width => self.tallies.sum(width, self.answers, cells));
        result.counts = self.counted.then(sum);
    }

    fn rule(&self) -> Option<Box<dyn PosteriorRule>> {
        Some(Box::new(self.sweep.clone()))
    }
}

wire_format!(28 SweepResult { log_likelihood, change, largest_change, counts });

impl State for SweepResult {
    fn merge(&mut self, other: Self) {
        self.log_likelihood += other.log_likelihood;
        self.change += other.change;
        self.largest_change = self.largest_change.max(other.largest_change);
        self.counts.merge(other.counts);
    }
}

/// `q_n(k) = sum_g rho_n(k, g)`; returns the largest change of a `q_n(k)`.
pub fn sum_subtypes(rows: &[f64], subtypes: usize, posteriors: &mut [f64]) -> f64 {
    let mut change = 0.0f64;
    for (part, posterior) in rows.chunks_exact(subtypes).zip(posteriors) {
        let sum: f64 = part.iter().sum();
        change = change.max((sum - *posterior).abs());
        *posterior = sum;
    }
    change
}
