//! How sure one can be of the numbers: intervals for worker accuracies, confusion matrices, class shares and
//! the error of the labels.
//!
//! Truths and parameters are drawn in turn from their posterior given the labels (Gibbs sampling):
//!
//! ```text
//! truth z_n ~ prior(k) prod A_m(x_mn, k)       A_m(., k) ~ Dir(C_m(., k) + s_k P(., k)),   prior ~ Dir(mass + 1)
//! ```
//!
//! `C_m` counts the answers against the drawn truths, `P` is the matrix of the whole crowd and `s_k`, how
//! alike workers are, is learnt along the way: a worker with few labels gets a wide interval around the
//! crowd, not a point. A drawn truth carries its own doubt into every count, which counting against the
//! labels alone would leave out.
//!
//! Two things keep the draws honest where workers are weak or few. A model with its classes renamed explains
//! the labels as well, so the truths of every draw are named so that most labels are right, unless gold or
//! priors tell the classes apart. And draws that follow each other are alike, the more the weaker the
//! workers: on a small table up to ten sweeps lie between two draws.
//!
//! Given the truths the posterior of a number has a known mean and variance; over the draws these give the
//! whole mean and variance,
//!
//! ```text
//! mean = mean_s mu_s,     variance = mean_s v_s + variance_s mu_s
//! ```
//!
//! and the interval is that of the Beta distribution with them. No draws are kept: memory `O(M K^2)`, time
//! one pass over the labels and the cells a sweep. Above a million of them draws are fewer, down to a
//! quarter: what is known of each draw's mean and variance in closed form makes up most of an interval, so
//! that its width is uncertain by a few percent then. Assumes what Dawid-Skene assumes: workers who err
//! independently. Where they do not, the error of the labels is larger than its interval says
//! (`calibrate/`).

mod hierarchy;
mod moments;
mod sampler;

pub use moments::Interval;
pub(crate) use moments::RunningMoments;
pub(crate) use sampler::{draw_class, draw_log_shares};

use rayon::prelude::*;
use sampler::Sampler;

use crate::annotations::Annotations;
use crate::blocks::{Blocks, Passes, Stage};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::model::{BlockFit, Consensus, DawidSkene, label_of, reserve_passes};

/// Sweeps over the labels from one draw to the next: most of them, and how many labels they may visit
/// together.
const MAX_SWEEPS: u64 = 10;
const SMALL_TABLE: u64 = 50_000;

/// Labels and cells of a table that gets all draws, and the share of them that the largest table keeps.
const ALL_DRAWS: u64 = 1_000_000;
const MIN_DRAWS: f64 = 0.25;

/// Settings of the intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals {
    /// Probability with which an interval holds the true value.
    pub level: f64,
    /// Draws that count, at most: tables with more than a million labels and cells get fewer.
    pub draws: usize,
    /// Draws before those, to forget the start; likewise.
    pub burn_in: usize,
}

impl Default for Intervals {
    fn default() -> Self {
        Self {
            level: 0.95,
            draws: 300,
            burn_in: 100,
        }
    }
}

/// Intervals of everything that a model says.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelIntervals {
    /// Share of each class among the tasks' source.
    pub prevalence: Vec<Interval>,
    /// Probability that each worker is right about a task drawn from the class shares.
    pub accuracy: Vec<Interval>,
    /// Cells of the confusion matrices, `[worker][answer][truth]`.
    pub confusion: Vec<Interval>,
    /// Share of the labels that are wrong.
    pub error: Interval,
}

impl Intervals {
    /// Intervals around a fit. Draws start at `model`; `consensus` holds the labels whose error is asked for.
    pub fn run(
        &self,
        annotations: &Annotations,
        model: &DawidSkene,
        consensus: &Consensus,
        context: &mut Context,
    ) -> Result<ModelIntervals> {
        let labels: Vec<u16> = (0..consensus.len())
            .map(|task| consensus.label(task) as u16)
            .collect();
        let mut blocks = annotations;
        self.draw(&mut Passes::over(&mut blocks), model, &labels, context)
    }

    /// [`run`](Self::run) for labels in blocks; none if the fit has no model. The label of every task is kept
    /// in memory, 2 bytes each.
    #[doc(hidden)]
    pub fn run_blocks(
        &self,
        blocks: &mut dyn Blocks,
        fit: &BlockFit,
        context: &mut Context,
    ) -> Result<Option<ModelIntervals>> {
        let Some(model) = &fit.model else {
            return Ok(None);
        };
        let mut passes = Passes::over(blocks);
        let classes = passes.class_count();
        let mut labels = Vec::with_capacity(passes.task_count() as usize);
        passes.each_block(Stage::single("posteriors"), context, &mut |block, context| {
            let rows = context.run(|| fit.posteriors(block));
            labels.extend(rows.chunks_exact(classes).map(|row| label_of(row) as u16));
        })?;
        self.draw(&mut passes, model, &labels, context).map(Some)
    }

    fn draw(
        &self,
        passes: &mut Passes<'_>,
        model: &DawidSkene,
        labels: &[u16],
        context: &mut Context,
    ) -> Result<ModelIntervals> {
        if !(self.level > 0.0 && self.level < 1.0) || self.draws < 2 {
            return Err(Error::Parameter {
                name: "intervals".into(),
                problem: format!(
                    "found level {} and {} draws, expected a level between 0 and 1 and at least 2 draws",
                    self.level, self.draws
                ),
            });
        }
        reserve_passes(passes, context)?;
        let classes = passes.class_count();
        let priors = context.priors();
        priors.check(passes.worker_count(), classes)?;
        let mut sampler = Sampler::new(model, labels, &priors);
        let mut prevalence = vec![RunningMoments::default(); classes];
        let mut accuracy = vec![RunningMoments::default(); passes.worker_count()];
        let mut confusion = vec![RunningMoments::default(); model.confusions().len()];
        let mut error = RunningMoments::default();
        let size = passes.label_count() + confusion.len() as u64;
        let burn_in = fewer_draws(self.burn_in, size);
        let (total, seed) = (burn_in + fewer_draws(self.draws, size), context.seed());
        let sweeps = (SMALL_TABLE / passes.label_count().max(1)).clamp(1, MAX_SWEEPS);
        for draw in 0..total {
            let stage = Stage::round("intervals", draw, total);
            for sweep in draw as u64 * sweeps..(draw as u64 + 1) * sweeps {
                let doubt = sampler.draw_truths(seed, sweep, passes, stage, context)?;
                if draw >= burn_in && sweep % sweeps == sweeps - 1 {
                    error.add(doubt.mean, doubt.variance);
                    context.run(|| sampler.observe(&mut prevalence, &mut accuracy, &mut confusion));
                }
                context.run(|| sampler.draw_parameters(seed, sweep));
            }
        }
        let close = |moments: Vec<RunningMoments>| -> Vec<Interval> {
            let interval = |moments: &RunningMoments| moments.interval(self.level);
            context.run(|| moments.par_iter().map(interval).collect())
        };
        Ok(ModelIntervals {
            prevalence: close(prevalence),
            accuracy: close(accuracy),
            confusion: close(confusion),
            error: whole_tasks(error.interval(self.level), passes.task_count()),
        })
    }
}

/// How many of the draws a table of so many labels and cells gets.
fn fewer_draws(draws: usize, size: u64) -> usize {
    let share = (ALL_DRAWS as f64 / size.max(1) as f64).clamp(MIN_DRAWS, 1.0);
    // A spread needs two.
    ((draws as f64 * share).ceil() as usize).max(draws.min(2))
}

/// The borders of a share of tasks, moved outward to whole tasks: no other share can come true.
fn whole_tasks(interval: Interval, tasks: u64) -> Interval {
    let tasks = tasks.max(1) as f64;
    Interval {
        low: (interval.low * tasks).floor() / tasks,
        high: (interval.high * tasks).ceil() / tasks,
        ..interval
    }
}
