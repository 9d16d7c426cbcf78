//! Expectation-maximisation of the Dawid-Skene likelihood.
//!
//! ```text
//! E: q_n(k) ~ prior(k) prod A_m(x_mn, k)      M: A_m(a, k) = C_m(a, k) / sum_a C_m(a, k),  prior(k) = mean q_n(k)
//! ```
//!
//! Each iteration is one pass over the labels: the E-step of a task and its contribution to the M-step's
//! counts are made together. The log-likelihood (with smoothing: plus the log-prior of the matrices) does not
//! fall. The context's priors enter every M-step as pseudo-counts, known truths every E-step.
//!
//! Hard EM puts all mass of a task on its best class before it counts, and stops when no label changes.
//! Accelerated EM ([`squarem`](super::squarem)) takes the same passes and jumps between them.

use std::sync::Arc;

use rayon::prelude::*;

use super::first::find_first;
use super::fit::{BlockFit, Fit, RuleSource, fit_in_memory};
use super::log_product::LogProduct;
use super::posterior::Sweep;
use super::sweep_pass::SweepPass;
use super::{AnswerCounts, DawidSkene, Priors};
use crate::blocks::{Passes, Stage};
use crate::{Annotations, Context, Result};

/// Settings of EM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Em {
    /// Largest number of rounds; a round is an M-step and the E-step after it.
    pub max_iter: usize,
    /// Stops when the mean change of a posterior (total variation) falls below this; hard EM when no label
    /// changes.
    pub tol: f64,
    /// Pseudo-count added to every cell of every confusion matrix.
    pub smoothing: f64,
    /// Keeps the prior uniform instead of estimating it.
    pub flat_prior: bool,
    /// Counts every task for its best class alone.
    pub hard: bool,
    /// Jumps along the rounds (SQUAREM) once it is settled which optimum they approach; soft EM from the
    /// votes only.
    pub accelerated: bool,
}

impl Default for Em {
    fn default() -> Self {
        Self {
            max_iter: 1000,
            tol: 1e-6,
            smoothing: 0.0,
            flat_prior: false,
            hard: false,
            accelerated: false,
        }
    }
}

/// Where EM starts.
#[derive(Debug, Clone)]
pub enum EmStart {
    /// From the votes, weighed by how the workers did on known tasks where there are such: begins with an
    /// M-step.
    Votes,
    /// Like `Votes`, but every task is counted for the winner of its vote.
    Winners,
    /// From expected answers, counted elsewhere: begins with an M-step.
    Counts(AnswerCounts),
    /// From a model: begins with an E-step.
    Model(DawidSkene),
}

impl Em {
    /// Runs EM on a table in memory.
    pub fn fit(&self, annotations: &Annotations, start: EmStart, context: &mut Context) -> Result<Fit> {
        fit_in_memory(annotations, |passes| self.run(passes, start, context))
    }

    /// Runs EM on labels in blocks. The passes know the posteriors afterwards.
    pub fn run(&self, passes: &mut Passes<'_>, start: EmStart, context: &mut Context) -> Result<BlockFit> {
        self.run_with(passes, start, context, &|counts| counts.to_model(self.smoothing))
    }

    /// Runs EM with an M-step of the caller's: for models with fewer parameters than a full confusion matrix.
    pub(crate) fn run_with(
        &self,
        passes: &mut Passes<'_>,
        start: EmStart,
        context: &mut Context,
        estimate: Estimate<'_>,
    ) -> Result<BlockFit> {
        let (rounds, counts) = EmRounds::start(self, passes, start, estimate, context)?;
        match counts {
            Some(counts) if self.accelerated && rounds.can_jump(context) => rounds.climb(counts, context),
            counts => rounds.run(counts, context),
        }
    }

    /// What the pseudo-counts add to the objective: `s sum ln A_m(a, k)`.
    fn log_prior(&self, model: &DawidSkene) -> f64 {
        if self.smoothing == 0.0 {
            return 0.0;
        }
        // A product and one logarithm: with 10^6 workers, a logarithm for each cell takes longer than the
        // pass.
        let sum_logs = |cells: &[f64]| {
            let mut product = LogProduct::default();
            for cells in cells.chunks(FACTORS) {
                let mut floored = [1.0; FACTORS];
                let pairs = floored.iter_mut().zip(cells);
                pairs.for_each(|(factor, cell)| *factor = cell.max(f64::EPSILON));
                product.multiply(&floored);
            }
            product.logarithm()
        };
        // Parts that depend on the model alone, added in order: the same sum for any number of threads.
        let parts: Vec<f64> = model.confusions().par_chunks(CELLS).map(sum_logs).collect();
        self.smoothing * parts.iter().sum::<f64>()
    }

    fn with_prior(&self, model: DawidSkene) -> DawidSkene {
        let classes = model.class_count();
        let flat = || vec![1.0 / classes as f64; classes];
        if self.flat_prior {
            model.with_prior(flat())
        } else {
            model
        }
    }
}

/// Cells of confusion matrices that a thread looks at together, and those that are multiplied at a time.
const CELLS: usize = 1 << 14;
const FACTORS: usize = 64;

/// Makes a model of counts.
pub(crate) type Estimate<'e> = &'e dyn Fn(&AnswerCounts) -> DawidSkene;

/// Rounds of EM on their way: the passes, what they climb, and where they have come to.
pub(super) struct EmRounds<'p, 'b, 'e> {
    pub(super) em: &'e Em,
    pub(super) passes: &'p mut Passes<'b>,
    estimate: Estimate<'e>,
    priors: Arc<Priors>,
    sweep: SweepPass,
    /// The model of the last pass.
    pub(super) model: DawidSkene,
    /// Objective at each pass.
    pub(super) trace: Vec<f64>,
}

/// What a pass found.
pub(super) struct Round {
    /// Counts of the posteriors.
    pub(super) counts: AnswerCounts,
    /// Objective of the model.
    pub(super) objective: f64,
    /// Mean change of a posterior (total variation) against the pass before.
    pub(super) change: f64,
}

impl<'p, 'b, 'e> EmRounds<'p, 'b, 'e> {
    /// Before the first round; with the counts to begin with where EM begins with an M-step.
    fn start(
        em: &'e Em,
        passes: &'p mut Passes<'b>,
        start: EmStart,
        estimate: Estimate<'e>,
        context: &mut Context,
    ) -> Result<(Self, Option<AnswerCounts>)> {
        reserve(passes, context)?;
        let priors = context.priors();
        priors.check(passes.worker_count(), passes.class_count())?;
        // Begins with an M-step, which makes the first model.
        let unset = || DawidSkene::new(vec![1.0], Vec::new());
        let (model, counts) = match start {
            EmStart::Model(model) => {
                passes.set_rule(Arc::new(Sweep::new(&model)), Stage::single("EM"), context)?;
                (model, None)
            }
            EmStart::Counts(counts) => {
                passes.forget_posteriors();
                (unset(), Some(counts))
            }
            EmStart::Votes => (unset(), Some(find_first(false, passes, context)?)),
            EmStart::Winners => (unset(), Some(find_first(true, passes, context)?)),
        };
        let rounds = Self {
            em,
            passes,
            estimate,
            priors,
            sweep: SweepPass::new(Sweep::default(), true, false),
            model,
            trace: Vec::new(),
        };
        Ok((rounds, counts))
    }

    /// Plain rounds, from counts or from the model.
    fn run(mut self, counts: Option<AnswerCounts>, context: &mut Context) -> Result<BlockFit> {
        let em = self.em;
        let mut iterations = 0;
        if let Some(counts) = counts {
            self.maximise(counts);
            iterations = usize::from(!em.hard);
        }
        let (mut converged, first) = (false, iterations);
        for number in first..em.max_iter {
            let round = self.pass(number, context)?;
            self.trace.push(round.objective);
            // From a model, the first pass only repeats the posteriors that the rounds start from.
            let settled = number > 0 && round.change < em.tol;
            converged = if em.hard { round.change == 0.0 } else { settled };
            iterations = if em.hard { number + 1 } else { iterations };
            if converged {
                break;
            }
            self.maximise(round.counts);
            iterations = number + 1;
        }
        self.finish(iterations, converged, context)
    }

    /// The fit, after an E-step with the last model if the rows are not its posteriors already.
    fn finish(mut self, iterations: usize, converged: bool, context: &mut Context) -> Result<BlockFit> {
        let last = self.trace.last().copied();
        match last.filter(|_| converged && !self.em.hard) {
            Some(objective) => self.trace.push(objective),
            // Labels of a task on disk are made from the model when they are written; only the objective is
            // missing.
            None => {
                let stage = Stage::round("EM", iterations, self.em.max_iter);
                let mut sweep = SweepPass::new(Sweep::new(&self.model), false, false);
                let swept = self.passes.run(&mut sweep, stage, context)?;
                if !self.em.hard {
                    let objective = self.objective(swept.log_likelihood, context);
                    self.trace.push(objective);
                }
            }
        }
        Ok(self.into_fit(iterations, converged))
    }

    pub(super) fn into_fit(self, iterations: usize, converged: bool) -> BlockFit {
        Fit {
            model: Some(self.model),
            trace: self.trace,
            iterations,
            converged,
            ..Fit::direct(RuleSource::Model.into())
        }
    }

    /// M-step.
    pub(super) fn maximise(&mut self, mut counts: AnswerCounts) {
        self.priors.add_to(&mut counts);
        self.model = self.priors.fix(self.em.with_prior((self.estimate)(&counts)));
    }

    /// E-step, and counts of the posteriors.
    pub(super) fn pass(&mut self, number: usize, context: &mut Context) -> Result<Round> {
        let (em, hard) = (self.em, self.em.hard);
        let sweep = Sweep::new(&self.model);
        self.sweep.sweep = Arc::new(Sweep { hard, ..sweep });
        // Without a tolerance nobody asks how far the posteriors moved.
        self.sweep.compared = self.passes.knows_posteriors() && (em.tol > 0.0 || hard || em.accelerated);
        let stage = Stage::round(if hard { "hard EM" } else { "EM" }, number, em.max_iter);
        let swept = self.passes.run(&mut self.sweep, stage, context)?;
        let change = swept.change / (2 * self.passes.task_count()) as f64;
        Ok(Round {
            objective: self.objective(swept.log_likelihood, context),
            counts: swept.counts.expect("counts were asked for"),
            change: if self.sweep.compared {
                change
            } else {
                f64::INFINITY
            },
        })
    }

    /// The objective of the model, under which the labels have this log-likelihood.
    fn objective(&self, log_likelihood: f64, context: &Context) -> f64 {
        let (em, priors, model) = (self.em, &*self.priors, &self.model);
        log_likelihood + context.run(|| em.log_prior(model) + priors.log_prior(model))
    }
}

/// Tables of M K^2 numbers that rounds of EM hold at a time.
const TABLES: u64 = 4;

/// Refuses what would not fit: confusion matrices are dense, and so are posteriors that are cached.
pub(crate) fn reserve(passes: &Passes<'_>, context: &Context) -> Result<()> {
    reserve_tables(passes, TABLES, context)
}

/// Like [`reserve`], but for another number of tables as large as the confusion matrices.
pub(crate) fn reserve_tables(passes: &Passes<'_>, tables: u64, context: &Context) -> Result<()> {
    let (workers, classes) = (passes.worker_count(), passes.class_count());
    let cells = workers as u64 * (classes * classes) as u64;
    context.reserve(
        format!("a {classes} x {classes} confusion matrix for each of {workers} workers"),
        8 * (tables * cells + passes.cached_numbers(classes)),
        "merge rare classes or use majority-vote",
    )
}

/// Like `reserve`, but for a table in memory.
pub fn reserve_confusions(annotations: &Annotations, context: &Context) -> Result<()> {
    reserve(&Passes::over(&mut { annotations }), context)
}
