//! Dawid-Skene for many classes: memory follows the labels, not `M K^2`.
//!
//! ```text
//! p(x_mn | k) = (C_m(x, k) + s b_m(x, k)) / (N_m(k) + s)                 counts without task n
//! b_m(a, k)   = p_m if a = k, else (1 - p_m) e(a, k)                     p_m: accuracy without task n
//! e(a, k)     = (E(a, k) + t / (K - 1)) / (E(k) + t)                     wrong answers of the crowd without task n
//! q_n(k)    ~ prior(k) prod p(x_mn | k)                                  k named on task n
//! q_n(rest) ~ (sum over other k of prior(k)) prod (1 - p_m) / (K - 1)    all other classes, as one
//! ```
//!
//! With 1000 classes almost every cell of a confusion matrix is empty. So a cell is kept only where a label
//! can touch it: an answer of the worker against a class that somebody named on the same task. Behind a
//! worker's cells stand its accuracy and the crowd's wrong answers, worth `s` labels a column; behind the
//! crowd's wrong answers stand even ones, worth `t`. A truth that nobody named on a task is judged by the
//! accuracies alone; such truths share one weight in proportion to the prior.
//!
//! **Counts without the task itself.** A worker has few labels of a class, so a label would otherwise be
//! judged by a cell that it fills alone: it speaks for itself, and all confidence ends near 1. Leaving out
//! what the task put into the counts is the collapsed variational form of the model to zeroth order. `s` and
//! `t` are those that foretell the left out labels best, tried over a grid in the first rounds: where a
//! worker's own matrix or the crowd's errors say nothing, they count for nothing.
//!
//! Without cells this is the one-coin model by plain EM, and exact: there all classes that nobody named on a
//! task are equally likely but for the prior. With cells the trace is the log-probability of each task given
//! the others; it may fall.
//!
//! A round is one pass over the (label, candidate) pairs and one over the cells; memory is at most 70 bytes a
//! pair, and `N K` numbers for the consensus that is returned.
//!
//! A. Asuncion, M. Welling, P. Smyth, Y. W. Teh, "On smoothing and inference for topic models", UAI 2009 (the
//! form by left out counts).

mod candidates;
mod cells;
mod problem;
mod strengths;
mod sweep;
mod tally;
#[cfg(test)]
mod tests;
mod touches;

use super::Fit;
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use problem::SparseProblem;
pub(crate) use strengths::CellSettings;

/// Dense matrices of fewer cells than this are never too many.
const SMALL: u64 = 1 << 24;

/// Dense matrices are wasted on a table with fewer labels than one for this many cells.
const CELLS_A_LABEL: u64 = 16;

/// Whether EM should take the sparse form: dense matrices do not fit, or would be nearly empty.
pub(crate) fn prefers_sparse(annotations: &Annotations, context: &Context) -> bool {
    let classes = annotations.class_count() as u64;
    let cells = annotations.worker_count() as u64 * classes * classes;
    let wasted = cells >= SMALL && cells / CELLS_A_LABEL > annotations.label_count() as u64;
    // A history of the workers is dense itself.
    context.priors().workers.is_none() && (wasted || super::reserve_confusions(annotations, context).is_err())
}

/// Settings of EM in the sparse form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SparseEm {
    /// Largest number of rounds.
    pub max_iter: usize,
    /// Stops when the mean change of a posterior falls below this.
    pub tol: f64,
    /// How workers differ besides by their accuracies; none: not at all.
    pub cells: Option<CellSettings>,
    /// Keeps the prior uniform instead of estimating it.
    pub flat_prior: bool,
}

impl SparseEm {
    /// Runs EM from the votes; with gold from the votes weighed by how the workers did on the known tasks.
    pub(crate) fn run(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let problem = SparseProblem::new(*self, annotations, context)?;
        let mut rows = problem.votes();
        let mut sums = problem.count(&rows, &problem.even_prior(), |_| true);
        let mut strengths = self.cells.map(|cells| cells.start()).unwrap_or_default();
        if annotations.has_gold() {
            let weights = context.run(|| problem.start_from_gold(&rows, &sums, strengths));
            sums = context.run(|| problem.sweep(&weights, &mut rows));
        }
        let mut weights = context.run(|| problem.maximise(&rows, sums, strengths));
        let (mut trace, mut converged, mut iterations) = (Vec::new(), false, 1);
        for round in 1..self.max_iter {
            context.step("EM", round, Some(self.max_iter))?;
            if self.cells.is_some_and(|cells| cells.learns_in(round)) {
                strengths = context.run(|| problem.learn_strengths(&weights, &rows));
                weights.strengths = strengths;
            }
            sums = context.run(|| problem.sweep(&weights, &mut rows));
            trace.push(sums.log_likelihood);
            converged = sums.change / ((2 * annotations.task_count()) as f64) < self.tol;
            if converged {
                // The posterior is that of these weights already: the objective stands twice.
                trace.push(sums.log_likelihood);
                break;
            }
            weights = context.run(|| problem.maximise(&rows, sums, strengths));
            iterations = round + 1;
        }
        if !converged {
            // One more E-step, so that the posterior is that of the accuracies that are returned.
            trace.push(context.run(|| problem.sweep(&weights, &mut rows)).log_likelihood);
        }
        Ok(Fit {
            worker_scores: Some(problem.accuracies(&weights)),
            trace,
            iterations,
            converged,
            ..Fit::direct(problem.spread(&rows, &weights.prior))
        })
    }
}
