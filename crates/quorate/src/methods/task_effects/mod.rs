//! `task-effects`: workers differ, and tasks differ too.
//!
//! ```text
//! P(l_ij = l | z_j = k, tau_jk) = softmax_l( W_i[k,l] + tau_jk[l] )            z_j = k with probability pi_k
//! W_i[k,l] = B[k,l] + alpha_i [k = l] + beta_i[l] + eps_i[k,l]
//! alpha_i ~ N(0, va^2),  beta_i[l] ~ N(0, vb^2),  eps_i[k,l] ~ N(0, ve^2),  tau_jk ~ N(0, s^2 I)
//! ```
//!
//! Some tasks mislead everybody: ten workers who take a grebe for a duck are not ten independent witnesses.
//! So every task has an effect `tau` of its own on the answers that people give, one for each class that it
//! could be of. The effects are integrated out when classes are compared, and their size `s` is learnt. A
//! worker has an ability `alpha`, favourite labels `beta` and what remains of a confusion matrix, `eps`,
//! around the matrix `B` of the crowd; how much workers differ in each is learnt too. With `s = 0` this is
//! Dawid-Skene with workers drawn to the crowd.
//!
//! | symbol | name | |
//! |---|---|---|
//! | `B` | `crowd` | prior N(1.5 on the diagonal, centred; variance 4) for each entry |
//! | `alpha, beta, eps` | `workers` | |
//! | `va^2, vb^2, ve^2` | `variances` | start at 1, 0.25, 0.25 |
//! | `s^2` | `variance` | starts at its largest value, `largest-effect` squared |
//! | `tau` | `effects` | `[task][answer][truth]` |
//! | `q` | `rows` | posteriors, from the votes |
//! | `pi` | `prior` | drawn to the vote shares, which count `anchor` times as much as the tasks |
//!
//! Laplace EM, a round:
//!
//! 1. M-step: a pass gives slopes and curvatures, `B` moves; another pass with the new `B`, then all workers
//!    move (`parameters.rs`). Twice in the first ten rounds.
//! 2. From the fourth round on the variances by MacKay's rule.
//! 3. E-step: two or three Newton rounds on every `tau_jk`, with the curvature `diag(S) - S S'/n + I/s^2`,
//!    `S` the expected answers (`visit.rs`); then `q_jk ~ pi_k exp(ll_jk)`, with `ll_jk = sum_i log p -
//!    |tau|^2 / (2 s^2) - (sum_l log(s^2 d_l) + log(den / n)) / 2`.
//! 4. `pi` from the posteriors; from the sixth round on `s^2 <- s^2 (m / s^2)^1.5`, `m` the mean expected
//!    square of an effect.
//! 5. Stop when no posterior changes by more than `tol`, or after `max-iter` rounds. The objective (the
//!    trace) is an approximation and may fall.
//!
//! The E-step adds up the first pass of the next M-step on its way, so a round goes over the labels twice:
//! `O(L K^2)`. Memory `O(N K^2 + M K^2)`. Tasks with equal labels are visited once and counted. Tables of
//! some 10^6 labels and more go through the rounds with a sample of the tasks first; then a few rounds with
//! all tasks, until the mean change of a posterior is below twice `tol`. In very large crowds workers with
//! one or two labels share one set of parameters. With more than 32 classes or too little memory it steps
//! down to `dawid-skene` and says so.
//!
//! Labels in blocks (`streamed.rs`): the rounds run on a part of the tasks that is taken into memory, a few
//! passes over all blocks improve the workers, and the effects of a task are found anew in every pass.
//!
//! Limits of the effects and the anchor of `pi` are essential with more than two classes and few labels per
//! task: without them classes swap. Fails where *workers* depend on each other (copied answers): that looks
//! like agreement.
//!
//! A model of this project. Relatives: minimax conditional entropy (the same log-odds, task effects as point
//! estimates with fixed penalties), Dawid-Skene and IBCC (no task effects), GLAD (one number for a task).

mod chances;
mod difficulty;
mod parameters;
mod passes;
mod problem;
mod rounds;
mod streamed;
mod sums;
#[cfg(test)]
mod tests;
mod variation;
mod visit;
mod words;

use super::canonical::estimate_in_order;
use super::{Aggregate, BlockFit, DawidSkeneEm, Fit, starting_votes};
use crate::annotations::Annotations;
use crate::blocks::Passes;
use crate::context::Context;
use crate::declare_method;
use crate::error::Result;
use crate::model::{Consensus, DawidSkene, prefers_sparse, reserve_passes};
use problem::Problem;
use rounds::EffectRounds;
pub(crate) use rounds::Learnt;
pub(crate) use streamed::{AddWorkerSlopes, TakeSample};
pub(crate) use variation::see_variation;

declare_method! {
    /// Workers and tasks with effects of their own, by Laplace EM.
    pub struct TaskEffects {
        /// largest number of rounds
        max_iter: usize in 1..=1_000_000 = 40,
        /// stops when no posterior changes by more than this
        tol: f64 in 0..=1 = 1e-3,
        /// largest size (standard deviation) of the effects of tasks; learnt below that
        largest_effect: f64 in 0.02..=10 = 0.7,
        /// the class prior is drawn to the shares of the votes, which count this many times as much as the
        /// tasks
        anchor: f64 in 0..=1e6 = 5,
    }
    name: "task-effects",
    aliases: ["task-effect", "hierarchical"],
    summary: "Workers with confusion matrices, and tasks that mislead many of them at once",
    description: "Every worker has an ability, favourite labels and confusions, drawn to those of the crowd; every \
                  task can pull all its workers towards an answer. How large these effects are is learnt from the \
                  labels. The best single method where some tasks mislead many workers at once, and as good as the \
                  others elsewhere. Cannot see workers who copy from each other.",
    citation: "This project",
    facts: [returns_model, learns_from_gold, uses_priors, streams],
}

/// With more classes than this K x K tables for each task and label are too slow.
const MAX_CLASSES: usize = 32;

/// Where there are several times as many labels, the rounds run on a sample of the tasks first, with so many
/// labels or this part of all; then a few rounds on all tasks.
const SAMPLE_LABELS: usize = 250_000;
const SAMPLE_PARTS: usize = 20;

/// The rounds on all tasks end when the mean change of a posterior is below so many times the tolerance.
const MEAN_CHANGE: f64 = 2.0;

impl Aggregate for TaskEffects {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        context
            .priors()
            .check(passes.worker_count(), passes.class_count())?;
        if passes.class_count() > MAX_CLASSES {
            let mut fit = independent().learn(passes, context)?;
            fit.warnings.push(words::describe_step_down(passes.class_count()));
            return Ok(fit);
        }
        reserve_passes(passes, context)?;
        streamed::learn(self, passes, context)
    }

    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let priors = context.priors();
        priors.check(annotations.worker_count(), annotations.class_count())?;
        if annotations.class_count() > MAX_CLASSES
            || prefers_sparse(annotations, context)
            || rounds::reserve(annotations, context).is_err()
        {
            return self.step_down(annotations, context);
        }
        let start = starting_votes(annotations, context)?;
        let classes = annotations.class_count();
        // Earlier answers are by worker of the table: no pooling.
        let problem = context.run(|| Problem::new(annotations, priors.workers.is_none()));
        let mut run = Run::of(self);
        let sample = SAMPLE_LABELS.max(annotations.label_count() / SAMPLE_PARTS);
        let learnt = match context.run(|| problem.sample(sample)) {
            Some(sample) => {
                let mut rounds = EffectRounds::new(self, &sample, start.as_slice(), &priors, context);
                context.run(|| rounds.start());
                run.all_rounds(&mut rounds, context)?;
                Some(rounds.into_learnt())
            }
            None => None,
        };
        let mut rounds = EffectRounds::new(self, &problem, start.as_slice(), &priors, context);
        drop(start);
        match learnt {
            Some(learnt) => {
                context.run(|| rounds.resume(learnt));
                run.last_rounds(&mut rounds, context)?;
            }
            None => {
                context.run(|| rounds.start());
                run.all_rounds(&mut rounds, context)?;
            }
        }
        let found = context.run(|| rounds.finish());
        let mut notes = vec![words::describe_effects(found.effect, found.variances)];
        if problem.pooled_workers() > 0 {
            notes.push(words::describe_pooling(problem.pooled_workers()));
        }
        let confusions = problem.expand_workers(found.confusions, classes * classes);
        Ok(Fit {
            model: Some(DawidSkene::new(found.prior, confusions)),
            task_difficulty: Some(problem.expand_tasks(found.difficulty, 1)),
            trace: run.trace,
            iterations: run.iterations,
            converged: run.converged,
            notes,
            ..Fit::direct(Consensus::new(classes, problem.expand_tasks(found.rows, classes)))
        })
    }
}

/// Rounds done so far.
struct Run<'m> {
    method: &'m TaskEffects,
    trace: Vec<f64>,
    iterations: usize,
    converged: bool,
}

impl<'m> Run<'m> {
    fn of(method: &'m TaskEffects) -> Self {
        Self {
            method,
            trace: Vec::new(),
            iterations: 0,
            converged: false,
        }
    }

    /// Rounds from the votes to the end.
    fn all_rounds(&mut self, rounds: &mut EffectRounds<'_>, context: &mut Context) -> Result<()> {
        for round in 0..self.method.max_iter {
            self.round(rounds, round, context)?;
            self.converged = round > rounds::EARLY && rounds.largest_change() < self.method.tol;
            if self.converged {
                break;
            }
        }
        Ok(())
    }

    /// Rounds on all tasks after those on a sample. Among very many tasks there is always one on the edge
    /// between two classes, so it is the mean change that counts.
    fn last_rounds(&mut self, rounds: &mut EffectRounds<'_>, context: &mut Context) -> Result<()> {
        self.trace.clear();
        for round in 0..self.method.max_iter {
            self.round(rounds, rounds::EARLY + round, context)?;
            self.converged = rounds.mean_change() < MEAN_CHANGE * self.method.tol;
            if self.converged {
                break;
            }
        }
        Ok(())
    }

    fn round(&mut self, rounds: &mut EffectRounds<'_>, round: usize, context: &mut Context) -> Result<()> {
        context.step("task effects", self.iterations, None)?;
        self.trace.push(context.run(|| rounds.round(round)));
        self.iterations += 1;
        Ok(())
    }
}

/// The model without task effects.
fn independent() -> DawidSkeneEm {
    DawidSkeneEm {
        smoothing: 0.1,
        ..DawidSkeneEm::default()
    }
}

impl TaskEffects {
    /// The fit without task effects, for many classes or little memory.
    fn step_down(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let mut fit = estimate_in_order(&independent(), annotations, context)?;
        fit.warnings
            .push(words::describe_step_down(annotations.class_count()));
        Ok(fit)
    }
}
