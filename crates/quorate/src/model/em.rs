//! Expectation-maximisation of the Dawid-Skene likelihood.
//!
//! ```text
//! E: q_n(k) ~ prior(k) prod A_m(x_mn, k)      M: A_m(a, k) = C_m(a, k) / sum_a C_m(a, k),  prior(k) = mean q_n(k)
//! ```
//!
//! Each iteration is one pass over the labels: the E-step of a task and its contribution to the M-step's counts
//! are made together. The log-likelihood (with smoothing: plus the log-prior of the matrices) does not fall. The context's
//! priors enter every M-step as pseudo-counts, known truths every E-step.

use super::posterior::{LOG_FLOOR, Sweep};
use super::tally::Tallies;
use super::{AnswerCounts, Consensus, DawidSkene, count_answers, posterior};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;

/// Settings of EM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Em {
    /// Largest number of rounds; a round is an M-step and the E-step after it.
    pub max_iter: usize,
    /// Stops when the mean change of a posterior (total variation) falls below this.
    pub tol: f64,
    /// Pseudo-count added to every cell of every confusion matrix.
    pub smoothing: f64,
    /// Keeps the prior uniform instead of estimating it.
    pub flat_prior: bool,
}

/// Where EM starts.
#[derive(Debug, Clone)]
pub enum EmStart {
    /// From a posterior: begins with an M-step.
    Consensus(Consensus),
    /// From a model: begins with an E-step.
    Model(DawidSkene),
}

/// What EM found.
#[derive(Debug, Clone)]
pub struct EmFit {
    /// Posterior under `model`.
    pub consensus: Consensus,
    /// The last model.
    pub model: DawidSkene,
    /// Objective at each E-step: the log-likelihood, with smoothing plus `s sum ln A`.
    pub trace: Vec<f64>,
    /// Rounds done.
    pub iterations: usize,
    /// Whether the posteriors stopped moving.
    pub converged: bool,
}

impl Em {
    /// Runs EM from `start`.
    pub fn run(&self, annotations: &Annotations, start: EmStart, context: &mut Context) -> Result<EmFit> {
        self.run_with(annotations, start, context, |counts| {
            counts.to_model(self.smoothing)
        })
    }

    /// Runs EM from `start` with an M-step of the caller's: for models with fewer parameters than a full
    /// confusion matrix.
    pub(crate) fn run_with(
        &self,
        annotations: &Annotations,
        start: EmStart,
        context: &mut Context,
        estimate: impl Fn(&AnswerCounts) -> DawidSkene,
    ) -> Result<EmFit> {
        let classes = annotations.class_count();
        reserve(annotations, context)?;
        let priors = context.priors();
        priors.check(annotations.worker_count(), classes)?;
        let maximise = |mut counts: AnswerCounts| {
            priors.add_to(&mut counts);
            priors.fix(self.with_prior(estimate(&counts)))
        };
        let log_prior = |model: &DawidSkene| self.log_prior(model) + priors.log_prior(model);
        let (mut model, mut rows, first_round) = match start {
            EmStart::Consensus(consensus) => {
                let counts = context.run(|| count_answers(annotations, &consensus));
                (maximise(counts), consensus.into_vec(), 1)
            }
            EmStart::Model(model) => {
                let (consensus, _) = context.run(|| posterior(annotations, &model));
                (model, consensus.into_vec(), 0)
            }
        };
        let (mut trace, mut tallies) = (Vec::new(), Tallies::default());
        let mut converged = false;
        let mut iterations = first_round;
        context.step("EM", 0, Some(self.max_iter))?;
        for round in first_round..self.max_iter {
            context.step("EM", round, Some(self.max_iter))?;
            let sweep = context.run(|| Sweep::new(&model).run_in(&mut tallies, annotations, &mut rows));
            trace.push(sweep.log_likelihood + log_prior(&model));
            let mean_change = sweep.change / (2 * annotations.task_count()) as f64;
            converged = round > 0 && mean_change < self.tol;
            if converged {
                break;
            }
            model = maximise(sweep.counts.expect("counts were asked for"));
            iterations = round + 1;
        }
        // One more E-step, so that the posterior is that of the model that is returned.
        let last = context.run(|| Sweep::new(&model).run(annotations, &mut rows, false));
        trace.push(last.log_likelihood + log_prior(&model));
        Ok(EmFit {
            consensus: Consensus::new(classes, rows),
            model,
            trace,
            iterations,
            converged,
        })
    }

    /// What the pseudo-counts add to the objective: `s sum ln A_m(a, k)`.
    pub(crate) fn log_prior(&self, model: &DawidSkene) -> f64 {
        if self.smoothing == 0.0 {
            return 0.0;
        }
        let logs = model
            .confusions()
            .iter()
            .map(|probability| probability.ln().max(LOG_FLOOR));
        self.smoothing * logs.sum::<f64>()
    }

    pub(crate) fn with_prior(&self, model: DawidSkene) -> DawidSkene {
        if !self.flat_prior {
            return model;
        }
        let classes = model.class_count();
        DawidSkene {
            prior: vec![1.0 / classes as f64; classes],
            ..model
        }
    }
}

/// Refuses what would not fit: confusion matrices and posteriors are dense.
pub(crate) fn reserve(annotations: &Annotations, context: &Context) -> Result<()> {
    let (workers, classes) = (annotations.worker_count(), annotations.class_count());
    reserve_dense(
        workers,
        classes,
        annotations.task_count() as u64 * classes as u64,
        context,
    )
}

/// The same for labels that are gone through in blocks: posteriors are not kept.
pub(crate) fn reserve_model(workers: usize, classes: usize, context: &Context) -> Result<()> {
    reserve_dense(workers, classes, 0, context)
}

/// M K^2 numbers each time confusion matrices are held.
fn reserve_dense(workers: usize, classes: usize, rows: u64, context: &Context) -> Result<()> {
    let cells = workers as u64 * (classes * classes) as u64;
    context.reserve(
        format!("a {classes} x {classes} confusion matrix for each of {workers} workers"),
        8 * (4 * cells + rows),
        "merge rare classes, use majority-vote, or raise the limit (--memory)",
    )
}
