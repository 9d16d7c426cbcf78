//! The passes of a round over the tasks of one block, in parallel, with sums that do not depend on the number
//! of threads.

use quorate_machine::dispatch;

use super::chances::Chances;
use super::parameters::Parameters;
use super::sums::{EffectSums, WorkerSums};
use super::visit::{CrowdSlopes, Expect, VisitedTasks, WorkerSlopes};
use crate::blocks::Block;
use crate::linalg::width::with_width;
use crate::parallel::{balanced_ranges, map_ranges, map_rows_with, split_rows};

/// Most chunks of tasks, and the least number of labels of one.
pub(super) const MAX_CHUNKS: usize = 64;
const LABELS_A_CHUNK: usize = 1 << 10;

/// Tasks with their labels, and the parameters that they are seen with.
#[derive(Clone, Copy)]
pub(super) struct Tasks<'b> {
    pub(super) labels: Block<'b>,
    /// How often each task counts; once if there is nothing.
    pub(super) weights: Option<&'b [f64]>,
    pub(super) parameters: &'b Parameters,
}

/// What an E-step needs besides.
#[derive(Clone, Copy)]
pub(super) struct Expectation<'b> {
    pub(super) newton_rounds: usize,
    pub(super) small_step: f64,
    /// `s^2`.
    pub(super) variance: f64,
    pub(super) prior: &'b [f64],
}

impl<'b> Tasks<'b> {
    fn visited<W: Chances>(&self, width: W) -> VisitedTasks<'b, W> {
        VisitedTasks {
            width,
            labels: self.labels,
            weights: self.weights,
            answers: &self.parameters.answers,
        }
    }

    /// Chunks of tasks for passes without tables of their own.
    fn chunks(&self) -> usize {
        (self.labels.label.len() / LABELS_A_CHUNK).clamp(1, MAX_CHUNKS)
    }

    fn add_up(&self, parts: &[EffectSums]) -> EffectSums {
        let mut sums = EffectSums::zero(self.parameters.classes);
        parts.iter().for_each(|part| sums.merge(part));
        sums
    }

    /// Slopes for the crowd's matrix.
    pub(super) fn crowd_slopes(&self, rows: &[f64], effects: &[f64]) -> EffectSums {
        let ranges = balanced_ranges(self.labels.starts, self.chunks());
        let parts = with_width!(self.parameters.classes, width => map_ranges(ranges, |tasks| {
            dispatch::run(CrowdSlopes {
                block: self.visited(width),
                tasks,
                rows,
                effects,
            })
        }));
        self.add_up(&parts)
    }

    /// Adds the slopes of every worker to the tables, one for each chunk of tasks.
    pub(super) fn add_worker_slopes(&self, rows: &[f64], effects: &[f64], tables: &mut [WorkerSums]) {
        let ranges = balanced_ranges(self.labels.starts, tables.len());
        let mut none = [0u8; 0];
        with_width!(self.parameters.classes, width => {
            map_rows_with(ranges, &mut none, 0, tables.iter_mut(), |tasks, _, table| {
                dispatch::run(WorkerSlopes {
                    block: self.visited(width),
                    tasks,
                    rows,
                    effects,
                    sums: table.values_mut(),
                });
            })
        });
    }

    /// E-step: improves the effects and replaces the posteriors.
    pub(super) fn expect(&self, with: Expectation<'_>, rows: &mut [f64], effects: &mut [f64]) -> EffectSums {
        let classes = self.parameters.classes;
        let ranges = balanced_ranges(self.labels.starts, self.chunks());
        let log_prior: Vec<f64> = with.prior.iter().map(|share| share.ln()).collect();
        let own = split_rows(ranges.clone(), effects, |range| range.len() * classes * classes);
        let own = own.into_iter().map(|(_, effects)| effects);
        let parts = with_width!(classes, width => map_rows_with(ranges, rows, classes, own, |tasks, rows, effects| {
            dispatch::run(Expect {
                block: self.visited(width),
                tasks,
                rows,
                effects,
                rounds: with.newton_rounds,
                small_step: with.small_step,
                variance: with.variance,
                prior: with.prior,
                log_prior: &log_prior,
            })
        }));
        self.add_up(&parts)
    }
}
