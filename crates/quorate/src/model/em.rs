//! Expectation-maximisation of the Dawid-Skene likelihood.
//!
//! ```text
//! E: q_n(k) ~ prior(k) prod A_m(x_mn, k)      M: A_m(a, k) = C_m(a, k) / sum_a C_m(a, k),  prior(k) = mean q_n(k)
//! ```
//!
//! Each iteration is one pass over the labels: the E-step of a task and its contribution to the M-step's counts
//! are made together. The log-likelihood (with smoothing: plus the log-prior of the matrices) does not fall. The context's
//! priors enter every M-step as pseudo-counts, known truths every E-step.

use std::sync::Arc;

use super::posterior::{LOG_FLOOR, Sweep};
use super::tally::Tallies;
use super::{AnswerCounts, Consensus, DawidSkene, Priors, count_answers, posterior};
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
        let target = Target::new(self, annotations, context)?;
        let maximise = |counts: AnswerCounts| target.maximise(counts, &estimate);
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
            trace.push(target.objective(&model, sweep.log_likelihood));
            let mean_change = sweep.change / (2 * annotations.task_count()) as f64;
            converged = round > 0 && mean_change < self.tol;
            if converged {
                break;
            }
            model = maximise(sweep.counts.expect("counts were asked for"));
            iterations = round + 1;
        }
        // One more E-step, so that the posterior is that of the model that is returned.
        let last = context.run(|| Sweep::new(&model).run(annotations, &mut rows));
        trace.push(target.objective(&model, last.log_likelihood));
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

/// What the rounds of a fit climb: the M-step with the context's priors, and the objective it raises.
pub(super) struct Target<'e> {
    em: &'e Em,
    priors: Arc<Priors>,
}

impl<'e> Target<'e> {
    /// Fails if matrices of these annotations do not fit into memory or the priors are of others.
    pub(super) fn new(em: &'e Em, annotations: &Annotations, context: &Context) -> Result<Self> {
        reserve(annotations, context)?;
        let priors = context.priors();
        priors.check(annotations.worker_count(), annotations.class_count())?;
        Ok(Self { em, priors })
    }

    /// M-step; `estimate` makes a model of counts.
    pub(super) fn maximise(
        &self,
        mut counts: AnswerCounts,
        estimate: impl Fn(&AnswerCounts) -> DawidSkene,
    ) -> DawidSkene {
        self.priors.add_to(&mut counts);
        self.priors.fix(self.em.with_prior(estimate(&counts)))
    }

    /// The objective of a model under which the labels have this log-likelihood.
    pub(super) fn objective(&self, model: &DawidSkene, log_likelihood: f64) -> f64 {
        log_likelihood + (self.em.log_prior(model) + self.priors.log_prior(model))
    }
}

/// Tables of M K^2 numbers that rounds of EM hold at a time.
const TABLES: u64 = 4;

/// Refuses what would not fit: confusion matrices and posteriors are dense.
pub(crate) fn reserve(annotations: &Annotations, context: &Context) -> Result<()> {
    reserve_tables(annotations, TABLES, context)
}

/// The same for another number of tables as large as the confusion matrices.
pub(super) fn reserve_tables(annotations: &Annotations, tables: u64, context: &Context) -> Result<()> {
    let (workers, classes) = (annotations.worker_count(), annotations.class_count());
    let rows = annotations.task_count() as u64 * classes as u64;
    reserve_dense(workers, classes, tables, rows, context)
}

/// The same for labels that are gone through in blocks: posteriors are not kept.
pub(crate) fn reserve_model(workers: usize, classes: usize, context: &Context) -> Result<()> {
    reserve_dense(workers, classes, TABLES, 0, context)
}

fn reserve_dense(workers: usize, classes: usize, tables: u64, rows: u64, context: &Context) -> Result<()> {
    let cells = workers as u64 * (classes * classes) as u64;
    context.reserve(
        format!("a {classes} x {classes} confusion matrix for each of {workers} workers"),
        8 * (tables * cells + rows),
        "merge rare classes or use majority-vote",
    )
}
