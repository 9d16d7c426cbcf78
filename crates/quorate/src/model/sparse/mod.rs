//! Dawid-Skene for many classes: memory follows the labels, not `M K^2`.
//!
//! ```text
//! A_m(a, k) = (C_m(a, k) + s b_m(a, k)) / (N_m(k) + s)          b_m(a, k) = p_m if a = k, else (1 - p_m) / (K - 1)
//! q_n(k)    ~ prior(k) prod A_m(x_mn, k)                         k named on task n
//! q_n(rest) ~ (sum over other k of prior(k)) prod b_m(x_mn, k)   all other classes, as one
//! ```
//!
//! With 1000 classes almost every cell of a confusion matrix is empty. So a cell is kept only where a label can touch it: an
//! answer of the worker against a class that somebody named on the same task. Behind the cells stands a background, the
//! worker's one-coin matrix, worth `s` labels a column: what was not seen is as likely as the worker's errors in general.
//! A truth that nobody named on a task is judged by the backgrounds alone; such truths share one weight in proportion
//! to the prior.
//!
//! Without cells (`strength` none) this is the one-coin model itself, and exact: there all classes that nobody named on
//! a task are equally likely but for the prior. With cells the log-likelihood may fall a little between rounds, as the
//! backgrounds move.
//!
//! With cells the confidence is far too high where workers gave few labels a class: a cell seen once, on this very task,
//! already speaks for itself. The labels are better than votes; `one-coin` is the safer choice there.
//!
//! A round is one pass over the (label, candidate) pairs and one over the cells; memory is about 42 bytes a pair, and
//! `N K` numbers for the consensus that is returned.

mod candidates;
mod cells;
mod tally;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::posterior::{LOG_FLOOR, softmax_in_place};
use super::{ClassPrior, Consensus};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::parallel::{balanced_ranges, map_slices};
use candidates::Candidates;
use cells::{BYTES_A_TOUCH, Cells, ColumnCounts, touches};
use tally::{Sums, Tally, outside_share, rest_scale};

/// Most candidates of a task where cells are kept: a class that few of very many workers named has no chance.
const MOST_CANDIDATES: usize = 64;

/// Pseudo-labels that draw the accuracy in a worker's background to that of the crowd.
const ACCURACY_STRENGTH: f64 = 1.0;

/// With known truths: what the votes say of a worker counts as this many labels on known tasks, at the start.
const VOTES_WORTH: f64 = 2.0;

/// Accuracies are kept this far from 0 and 1.
const MARGIN: f64 = 1e-10;

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
    /// Pseudo-labels a column that the background is worth; none: workers are their backgrounds.
    pub strength: Option<f64>,
    /// Keeps the prior uniform instead of estimating it.
    pub flat_prior: bool,
}

/// What the sparse form found.
#[derive(Debug)]
pub(crate) struct SparseFit {
    pub consensus: Consensus,
    /// How often each worker is right.
    pub accuracy: Vec<f64>,
    /// Log-likelihood at each E-step.
    pub trace: Vec<f64>,
    pub iterations: usize,
    pub converged: bool,
}

/// Parameters of the model.
struct Weights {
    prior: Vec<f64>,
    accuracy: Vec<f64>,
    /// Log-probability of each seen cell; empty without cells.
    cells: Vec<f64>,
}

/// The table as the sparse form sees it.
struct Problem<'a> {
    settings: SparseEm,
    annotations: &'a Annotations,
    candidates: Candidates,
    cells: Option<Cells>,
    labels: Vec<f64>,
    class_prior: Option<ClassPrior>,
}

impl SparseEm {
    /// Runs EM from the votes; with gold from the votes weighed by how the workers did on the known tasks.
    pub(crate) fn run(&self, annotations: &Annotations, context: &mut Context) -> Result<SparseFit> {
        let problem = Problem::new(*self, annotations, context)?;
        let mut rows = problem.votes();
        let mut sums = problem.count(&rows, &problem.even_prior(), |_| true);
        if annotations.has_gold() {
            let weights = context.run(|| problem.start_from_gold(&rows, &sums));
            sums = context.run(|| problem.sweep(&weights, &mut rows));
        }
        let mut weights = context.run(|| problem.maximise(&rows, sums));
        let (mut trace, mut converged, mut iterations) = (Vec::new(), false, 1);
        for round in 1..self.max_iter {
            context.step("EM", round, Some(self.max_iter))?;
            sums = context.run(|| problem.sweep(&weights, &mut rows));
            trace.push(sums.log_likelihood);
            converged = sums.change / ((2 * annotations.task_count()) as f64) < self.tol;
            if converged {
                break;
            }
            weights = context.run(|| problem.maximise(&rows, sums));
            iterations = round + 1;
        }
        // One more E-step, so that the posterior is that of the accuracies that are returned.
        trace.push(context.run(|| problem.sweep(&weights, &mut rows)).log_likelihood);
        Ok(SparseFit {
            consensus: problem.spread(&rows, &weights.prior),
            accuracy: weights.accuracy,
            trace,
            iterations,
            converged,
        })
    }
}

impl<'a> Problem<'a> {
    fn new(settings: SparseEm, annotations: &'a Annotations, context: &Context) -> Result<Self> {
        let priors = context.priors();
        priors.check(annotations.worker_count(), annotations.class_count())?;
        let limit = settings.strength.map_or(usize::MAX, |_| MOST_CANDIDATES);
        let candidates = Candidates::of(annotations, limit);
        let touched = settings.strength.map_or(0, |_| touches(annotations, &candidates));
        let (tasks, classes) = (annotations.task_count() as u64, annotations.class_count() as u64);
        context.reserve(
            format!("the probabilities of {classes} classes for each of {tasks} tasks, and the answers seen"),
            8 * tasks * classes + touched * BYTES_A_TOUCH,
            "split the tasks into several files, merge rare classes, or raise the limit (--memory)",
        )?;
        // Places and touches are numbered with 32 bits.
        if touched.max(candidates.len() as u64) > u64::from(u32::MAX) {
            return Err(Error::TooLarge {
                what: format!("{touched} pairs of a label and a class that it may stand for"),
                needed: touched * BYTES_A_TOUCH,
                limit: u64::from(u32::MAX) * BYTES_A_TOUCH,
                hint: "split the tasks into several files, or use one-coin".into(),
            });
        }
        Ok(Self {
            cells: settings.strength.map(|_| Cells::new(annotations, &candidates)),
            labels: annotations
                .labels_per_worker()
                .into_iter()
                .map(f64::from)
                .collect(),
            class_prior: priors.classes.clone(),
            settings,
            annotations,
            candidates,
        })
    }

    fn row(&self, task: usize) -> Range<usize> {
        self.candidates.starts()[task]..self.candidates.starts()[task + 1]
    }

    fn even_prior(&self) -> Vec<f64> {
        let classes = self.annotations.class_count();
        vec![1.0 / classes as f64; classes]
    }

    /// Vote shares; nothing for classes that nobody named.
    fn votes(&self) -> Vec<f64> {
        let mut rows = vec![0.0; self.candidates.len()];
        for task in 0..self.annotations.task_count() {
            let row = &mut rows[self.row(task)];
            let named = self.candidates.of_task(task);
            if self.annotations.gold(task).is_some() {
                row[0] = 1.0;
                continue;
            }
            for (_, answer) in self.annotations.labels_of_task(task) {
                // A class beyond the candidates counts for the rest.
                let place = named.binary_search(&(answer as u16)).unwrap_or(named.len());
                row[place] += 1.0;
            }
            let total: f64 = row.iter().sum();
            match total > 0.0 {
                true => row.iter_mut().for_each(|share| *share /= total),
                false => row[named.len()] = 1.0,
            }
        }
        rows
    }

    /// Right answers and masses under these posteriors, over the tasks that `counts` accepts.
    fn count(&self, rows: &[f64], prior: &[f64], counts: impl Fn(usize) -> bool) -> Sums {
        let mut tally = Tally::new(self.annotations);
        for task in (0..self.annotations.task_count()).filter(|&task| counts(task)) {
            tally.add(
                self.annotations,
                self.candidates.of_task(task),
                task,
                &rows[self.row(task)],
                prior,
            );
        }
        tally.finish(prior)
    }

    /// The first weights where truths are known: counted on the known tasks, with the votes behind them.
    fn start_from_gold(&self, rows: &[f64], votes: &Sums) -> Weights {
        let known = |task| self.annotations.gold(task).is_some();
        let by_votes = self.accuracies(&votes.right);
        let mut labels = vec![0.0; by_votes.len()];
        let mut masked = vec![0.0; rows.len()];
        for task in (0..self.annotations.task_count()).filter(|&task| known(task)) {
            masked[self.row(task)].copy_from_slice(&rows[self.row(task)]);
            for (worker, _) in self.annotations.labels_of_task(task) {
                labels[worker] += 1.0;
            }
        }
        let right = self.count(rows, &self.even_prior(), known).right;
        let drawn =
            |worker: usize| (right[worker] + VOTES_WORTH * by_votes[worker]) / (labels[worker] + VOTES_WORTH);
        let accuracy: Vec<f64> = (0..labels.len()).map(drawn).collect();
        Weights {
            cells: self.cell_logs(&masked, &accuracy),
            prior: self.prior(&votes.mass),
            accuracy,
        }
    }

    /// M-step.
    fn maximise(&self, rows: &[f64], sums: Sums) -> Weights {
        let accuracy = self.accuracies(&sums.right);
        Weights {
            cells: self.cell_logs(rows, &accuracy),
            prior: self.prior(&sums.mass),
            accuracy,
        }
    }

    /// Share of right answers of each worker, with cells drawn to that of the crowd.
    fn accuracies(&self, right: &[f64]) -> Vec<f64> {
        let total: f64 = self.labels.iter().sum();
        let pooled = match total > 0.0 {
            true => right.iter().sum::<f64>() / total,
            false => 1.0,
        };
        let drawn = self.settings.strength.map_or(0.0, |_| ACCURACY_STRENGTH);
        let share = |(right, labels): (&f64, &f64)| match labels + drawn > 0.0 {
            true => (right + drawn * pooled) / (labels + drawn),
            false => pooled,
        };
        let shares = right.iter().zip(&self.labels).map(share);
        shares.map(|share| share.clamp(MARGIN, 1.0 - MARGIN)).collect()
    }

    fn prior(&self, mass: &[f64]) -> Vec<f64> {
        let mut mass = mass.to_vec();
        if let Some(prior) = &self.class_prior {
            let Some(weight) = prior.weight() else {
                return prior.shares().to_vec();
            };
            for (mass, share) in mass.iter_mut().zip(prior.shares()) {
                *mass += weight * share;
            }
        }
        let total: f64 = mass.iter().sum();
        match total > 0.0 && !self.settings.flat_prior {
            true => mass.into_iter().map(|mass| mass / total).collect(),
            false => self.even_prior(),
        }
    }

    /// Probability of a particular wrong answer.
    fn wrong(&self, accuracy: f64) -> f64 {
        (1.0 - accuracy) / (self.annotations.class_count().max(2) - 1) as f64
    }

    fn cell_logs(&self, rows: &[f64], accuracy: &[f64]) -> Vec<f64> {
        let (Some(cells), Some(strength)) = (&self.cells, self.settings.strength) else {
            return Vec::new();
        };
        cells.count(rows, |column: ColumnCounts<'_>| {
            let right = accuracy[column.worker];
            let wrong = self.wrong(right);
            let total = column.counts.iter().sum::<f64>() + strength;
            for (value, &answer) in column.counts.iter_mut().zip(column.answers) {
                let background = if answer == column.truth { right } else { wrong };
                *value = log((*value + strength * background) / total);
            }
        })
    }

    /// E-step: writes the posteriors and sums what the next M-step needs.
    fn sweep(&self, weights: &Weights, rows: &mut [f64]) -> Sums {
        let logs = |value: &dyn Fn(f64) -> f64| -> Vec<f64> {
            weights
                .accuracy
                .iter()
                .map(|&accuracy| log(value(accuracy)))
                .collect()
        };
        let (log_right, log_wrong) = (logs(&|right| right), logs(&|right| self.wrong(right)));
        // Each chunk has sums of its own for workers and classes: few enough to stay below the labels.
        let sizes = self.annotations.worker_count() + 2 * self.annotations.class_count();
        let chunks = (self.annotations.label_count() / (4 * sizes)).clamp(1, 16);
        let ranges = balanced_ranges(self.annotations.task_starts(), chunks);
        let starts = self.candidates.starts();
        let length = |tasks: &Range<usize>| starts[tasks.end] - starts[tasks.start];
        let parts = map_slices(ranges, rows, length, |tasks, rows| {
            let mut tally = Tally::new(self.annotations);
            let mut scratch = Vec::new();
            let first = starts[tasks.start];
            for task in tasks {
                let row = &mut rows[starts[task] - first..starts[task + 1] - first];
                scratch.clear();
                self.log_weights(weights, &log_right, &log_wrong, task, &mut scratch);
                let sum = softmax_in_place(&mut scratch);
                if !self.annotations.task_slices(task).0.is_empty() {
                    tally.sums.log_likelihood += sum;
                }
                for (old, &new) in row.iter_mut().zip(&scratch) {
                    tally.sums.change += (*old - new).abs();
                    *old = new;
                }
                tally.add(
                    self.annotations,
                    self.candidates.of_task(task),
                    task,
                    row,
                    &weights.prior,
                );
            }
            tally
        });
        let mut parts = parts.into_iter();
        let mut total = parts.next().expect("there is at least one chunk");
        parts.for_each(|part| total.merge(&part));
        total.finish(&weights.prior)
    }

    /// Log-weight of each candidate of a task and, last, of all other classes together.
    fn log_weights(&self, weights: &Weights, right: &[f64], wrong: &[f64], task: usize, row: &mut Vec<f64>) {
        let named = self.candidates.of_task(task);
        row.extend(named.iter().map(|&class| log(weights.prior[class as usize])));
        let mut rest = match self.annotations.gold(task) {
            Some(_) => f64::NEG_INFINITY,
            None => outside_share(named, &weights.prior).ln(),
        };
        let (workers, answers) = self.annotations.task_slices(task);
        let own_cells = self.cells.as_ref().map(|cells| cells.of_task(task));
        for (label, (&worker, &answer)) in workers.iter().zip(answers).enumerate() {
            let worker = worker as usize;
            rest += wrong[worker];
            match own_cells {
                Some(cells) => {
                    let touched = &cells[label * named.len()..][..named.len()];
                    for (log, &cell) in row.iter_mut().zip(touched) {
                        *log += weights.cells[cell as usize];
                    }
                }
                None => {
                    for (log, &class) in row.iter_mut().zip(named) {
                        *log += if class == answer {
                            right[worker]
                        } else {
                            wrong[worker]
                        };
                    }
                }
            }
        }
        row.push(rest);
    }

    /// The posteriors over all classes.
    fn spread(&self, rows: &[f64], prior: &[f64]) -> Consensus {
        let classes = self.annotations.class_count();
        let mut dense = vec![0.0; self.annotations.task_count() * classes];
        for (task, full) in dense.chunks_exact_mut(classes).enumerate() {
            let named = self.candidates.of_task(task);
            let row = &rows[self.row(task)];
            let scale = rest_scale(named, row, prior);
            if scale > 0.0 {
                full.iter_mut()
                    .zip(prior)
                    .for_each(|(cell, share)| *cell = scale * share);
            }
            for (&class, &q) in named.iter().zip(row) {
                full[class as usize] = q;
            }
        }
        Consensus::new(classes, dense)
    }
}

fn log(probability: f64) -> f64 {
    probability.ln().max(LOG_FLOOR)
}
