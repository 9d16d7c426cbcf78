//! Passes over a block of tasks, given all parameters: the E-step, and slopes for the M-step.
//!
//! A pass needs the labels of its block, the parameters, and what it keeps for each task (posterior and
//! effects) and no more, so blocks can come from anywhere.

use std::ops::Range;

use quorate_machine::dispatch::Kernel;
use quorate_machine::prefetch;

use super::chances::{AnswerSums, Chances, SMALL, TaskLabels};
use super::sums::EffectSums;
use crate::blocks::Block;
use crate::linalg::aligned::LINE;
use crate::linalg::exponential::exponential;
use crate::linalg::width::Width;

/// Longest Newton step of one effect.
const LONGEST_STEP: f64 = 1.5;

/// `den / n` is floored here before the logarithm.
const FLOOR: f64 = 1e-9;

/// Bytes of a table up to which it stays in a near cache, and tasks from prefetching to use.
const CACHED: usize = 1 << 18;
const AHEAD: usize = 3;

/// A block of tasks and the parameters that all passes share.
#[derive(Clone, Copy)]
pub(super) struct VisitedTasks<'b, W> {
    pub(super) width: W,
    pub(super) labels: Block<'b>,
    /// How often each task counts; once if there is nothing.
    pub(super) weights: Option<&'b [f64]>,
    /// `exp(W)`, `[worker][answer][truth]`, up to a factor for each worker and truth.
    pub(super) answers: &'b [f64],
}

impl<'b, W: Chances> VisitedTasks<'b, W> {
    #[inline(always)]
    fn weight(&self, task: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[task])
    }

    /// Prefetches the tables of the workers of a task, if there is one: they are needed soon.
    #[inline(always)]
    fn prefetch(&self, task: usize, end: usize) {
        let cells = self.width.get() * self.width.get();
        if task < end && size_of_val(self.answers) > CACHED {
            for &worker in self.labels.task(task).0 {
                for number in (0..cells).step_by(LINE) {
                    prefetch(self.answers, worker as usize * cells + number);
                }
            }
        }
    }

    /// The labels of a task whose effects have these exponentials.
    #[inline(always)]
    fn labels<'t>(&self, task: usize, tilts: &'t [f64]) -> TaskLabels<'t>
    where
        'b: 't,
    {
        let (workers, answers) = self.labels.task(task);
        TaskLabels {
            workers,
            answers,
            table: self.answers,
            tilts,
        }
    }
}

#[inline(always)]
fn exponentials(logs: &[f64], values: &mut [f64]) {
    for (value, &log) in values.iter_mut().zip(logs) {
        *value = exponential(log);
    }
}

/// E-step on some tasks of a block: effects, posteriors, and sums over them.
pub(super) struct Expect<'b, W> {
    pub(super) block: VisitedTasks<'b, W>,
    pub(super) tasks: Range<usize>,
    /// Posteriors of these tasks, to be replaced.
    pub(super) rows: &'b mut [f64],
    /// `tau` of these tasks, `[task][answer][truth]`, to be improved.
    pub(super) effects: &'b mut [f64],
    /// Newton rounds, and the longest step of one after which no other is needed.
    pub(super) rounds: usize,
    pub(super) small_step: f64,
    /// `s^2`.
    pub(super) variance: f64,
    /// `pi` and its logarithms.
    pub(super) prior: &'b [f64],
    pub(super) log_prior: &'b [f64],
}

impl<W: Chances> Kernel for Expect<'_, W> {
    type Output = EffectSums;

    #[inline(always)]
    fn run(mut self) -> EffectSums {
        let (width, classes) = (self.block.width, self.block.width.get());
        let mut sums = EffectSums::zero(classes);
        let mut scratch = Scratch::new(width);
        let rows = std::mem::take(&mut self.rows);
        let effects = std::mem::take(&mut self.effects);
        let states = rows
            .chunks_exact_mut(classes)
            .zip(effects.chunks_exact_mut(classes * classes));
        for (task, (row, tau)) in self.tasks.clone().zip(states) {
            self.block.prefetch(task + AHEAD, self.tasks.end);
            let (workers, answers) = self.block.labels.task(task);
            if workers.is_empty() {
                row.copy_from_slice(self.prior);
                if let Some(truth) = self.block.labels.gold(task) {
                    pin(row, truth);
                }
                continue;
            }
            let counts = scratch.counts.as_mut();
            counts.fill(0.0);
            answers.iter().for_each(|&answer| counts[answer as usize] += 1.0);
            for _ in 0..self.rounds {
                if self.improve(task, tau, &mut scratch) < self.small_step {
                    break;
                }
            }
            self.judge(task, tau, row, &mut scratch, &mut sums);
        }
        sums
    }
}

impl<W: Chances> Expect<'_, W> {
    /// One Newton round on the effects of a task under every truth; returns the largest step.
    #[inline(always)]
    fn improve(&self, task: usize, tau: &mut [f64], scratch: &mut Scratch<W>) -> f64 {
        let (width, classes) = (self.block.width, self.block.width.get());
        let (tilts, weighed, shares) = (
            scratch.tilts.as_mut(),
            scratch.weighed.as_mut(),
            scratch.shares.as_mut(),
        );
        exponentials(tau, tilts);
        width.share(self.block.labels(task, tilts), shares);
        let precision = self.variance.recip();
        let (mut den, mut along) = (width.row(), width.row());
        let (den, along) = (den.as_mut(), along.as_mut());
        // `weighed` keeps u, `shares` becomes g / d.
        let counts = scratch.counts.as_ref();
        let cells = shares
            .chunks_exact_mut(classes)
            .zip(weighed.chunks_exact_mut(classes));
        for (((shares, u), tau), count) in cells.zip(tau.chunks_exact(classes)).zip(counts) {
            for k in 0..classes {
                let inverse = (shares[k] + precision).recip();
                let slope = count - shares[k] - tau[k] * precision;
                u[k] = shares[k] * inverse;
                // n - sum S u = sum S (1 - u) = sum u / s^2, without cancellation.
                den[k] += u[k] * precision;
                along[k] += u[k] * slope;
                shares[k] = slope * inverse;
            }
        }
        for k in 0..classes {
            along[k] /= den[k];
        }
        let cells = shares.chunks_exact(classes).zip(weighed.chunks_exact(classes));
        den.fill(0.0);
        for ((steps, u), tau) in cells.zip(tau.chunks_exact_mut(classes)) {
            for k in 0..classes {
                let step = (steps[k] + u[k] * along[k]).clamp(-LONGEST_STEP, LONGEST_STEP);
                tau[k] += step;
                den[k] = step.abs().max(den[k]);
            }
        }
        den.iter().copied().fold(0.0, f64::max)
    }

    /// Posterior of a task with its effects integrated out (Laplace), and what it adds to the sums.
    #[inline(always)]
    fn judge(
        &self,
        task: usize,
        tau: &[f64],
        row: &mut [f64],
        scratch: &mut Scratch<W>,
        sums: &mut EffectSums,
    ) {
        let (width, classes) = (self.block.width, self.block.width.get());
        let mut logs = width.row();
        let logs = logs.as_mut();
        scratch.sum_up(self.block, task, tau, logs);
        let (shares, squares) = (scratch.shares.as_ref(), scratch.squares.as_ref());
        let (precision, variance) = (self.variance.recip(), self.variance);
        let (mut den, mut size, mut ratio, mut inverses, mut squared) =
            (width.row(), width.row(), width.row(), width.row(), width.row());
        let (den, size, ratio) = (den.as_mut(), size.as_mut(), ratio.as_mut());
        let (inverses, squared) = (inverses.as_mut(), squared.as_mut());
        ratio.fill(1.0);
        for (shares, tau) in shares.chunks_exact(classes).zip(tau.chunks_exact(classes)) {
            for k in 0..classes {
                let d = shares[k] + precision;
                let inverse = d.recip();
                let u = shares[k] * inverse;
                den[k] += u * precision;
                size[k] += tau[k] * tau[k];
                inverses[k] += inverse;
                squared[k] += u * u;
                ratio[k] *= variance * d;
            }
            // A product of many large factors goes over to logarithms before it overflows.
            if ratio.iter().any(|&ratio| ratio > SMALL.recip()) {
                for k in 0..classes {
                    logs[k] -= 0.5 * ratio[k].ln();
                    ratio[k] = 1.0;
                }
            }
        }
        let labels = self.block.labels.task(task).0.len() as f64;
        let mut new = width.row();
        let new = new.as_mut();
        for k in 0..classes {
            let left = (den[k] / labels).max(FLOOR);
            // One logarithm for the product of the labels' chances and the root of the determinant.
            let evidence = scratch.product.as_ref()[k] / (ratio[k] * left).sqrt();
            new[k] = logs[k] + evidence.ln() - size[k] * 0.5 * precision + self.log_prior[k];
        }
        let weight = self.block.weight(task);
        match self.block.labels.gold(task) {
            Some(truth) => {
                sums.log_likelihood += weight * new[truth];
                pin(new, truth);
            }
            None => sums.log_likelihood += weight * normalise(new),
        }
        for k in 0..classes {
            let change = (new[k] - row[k]).abs();
            sums.largest_change = sums.largest_change.max(change);
            sums.change += weight * change;
            sums.moment += weight * new[k] * (size[k] + inverses[k] + squared[k] / den[k]);
            row[k] = new[k];
        }
        let (counts, row) = (scratch.counts.as_ref(), &*row);
        add_crowd(width, (counts, shares, squares), row, weight, sums);
    }
}

/// Turns log-weights into probabilities; returns the logarithm of their sum.
#[inline(always)]
fn normalise(row: &mut [f64]) -> f64 {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut()
        .for_each(|value| *value = exponential(*value - top));
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
    top + sum.ln()
}

/// All mass on the known truth.
#[inline(always)]
fn pin(row: &mut [f64], truth: usize) {
    row.fill(0.0);
    row[truth] = 1.0;
}

/// Adds a task to the sums over tasks.
#[inline(always)]
fn add_crowd<W: Width>(
    width: W,
    (counts, shares, squares): (&[f64], &[f64], &[f64]),
    row: &[f64],
    weight: f64,
    sums: &mut EffectSums,
) {
    let classes = width.get();
    let tables = sums
        .slope
        .chunks_exact_mut(classes)
        .zip(sums.curvature.chunks_exact_mut(classes));
    let found = shares.chunks_exact(classes).zip(squares.chunks_exact(classes));
    for (((slope, curvature), (shares, squares)), count) in tables.zip(found).zip(counts) {
        for k in 0..classes {
            slope[k] += weight * row[k] * (count - shares[k]);
            curvature[k] += weight * row[k] * (shares[k] - squares[k]);
        }
    }
    for (mass, q) in sums.mass.iter_mut().zip(row) {
        *mass += weight * q;
    }
}

/// Tables of one task.
pub(super) struct Scratch<W: Chances> {
    /// `n_jl`.
    counts: W::Row,
    /// `T_j`.
    tilts: W::Block,
    /// `u` in a Newton step.
    weighed: W::Block,
    /// `sum_i p`.
    shares: W::Block,
    /// `sum_i p^2`.
    squares: W::Block,
    /// Product of the chances of the given answers that is not in the logarithms yet.
    product: W::Row,
}

impl<W: Chances> Scratch<W> {
    #[inline(always)]
    fn new(width: W) -> Self {
        Self {
            counts: width.row(),
            tilts: width.block(),
            weighed: width.block(),
            shares: width.block(),
            squares: width.block(),
            product: width.row(),
        }
    }

    /// All sums over the labels of a task.
    #[inline(always)]
    fn sum_up(&mut self, block: VisitedTasks<'_, W>, task: usize, tau: &[f64], logs: &mut [f64]) {
        exponentials(tau, self.tilts.as_mut());
        let sums = AnswerSums {
            shares: self.shares.as_mut(),
            squares: self.squares.as_mut(),
            product: self.product.as_mut(),
            logs,
        };
        block.width.sum_up(block.labels(task, self.tilts.as_ref()), sums);
    }
}

/// Slopes for the crowd's matrix at given posteriors and effects.
pub(super) struct CrowdSlopes<'b, W> {
    pub(super) block: VisitedTasks<'b, W>,
    pub(super) tasks: Range<usize>,
    pub(super) rows: &'b [f64],
    pub(super) effects: &'b [f64],
}

impl<W: Chances> Kernel for CrowdSlopes<'_, W> {
    type Output = EffectSums;

    #[inline(always)]
    fn run(self) -> EffectSums {
        let (width, classes) = (self.block.width, self.block.width.get());
        let mut sums = EffectSums::zero(classes);
        let mut scratch = Scratch::new(width);
        let mut logs = width.row();
        for task in self.tasks.clone() {
            self.block.prefetch(task + AHEAD, self.tasks.end);
            let (workers, answers) = self.block.labels.task(task);
            if workers.is_empty() {
                continue;
            }
            let counts = scratch.counts.as_mut();
            counts.fill(0.0);
            answers.iter().for_each(|&answer| counts[answer as usize] += 1.0);
            let tau = &self.effects[task * classes * classes..][..classes * classes];
            scratch.sum_up(self.block, task, tau, logs.as_mut());
            let row = &self.rows[task * classes..][..classes];
            let found = (
                scratch.counts.as_ref(),
                scratch.shares.as_ref(),
                scratch.squares.as_ref(),
            );
            add_crowd(width, found, row, self.block.weight(task), &mut sums);
        }
        sums
    }
}

/// Slopes for each worker at given posteriors and effects.
pub(super) struct WorkerSlopes<'b, W> {
    pub(super) block: VisitedTasks<'b, W>,
    pub(super) tasks: Range<usize>,
    pub(super) rows: &'b [f64],
    pub(super) effects: &'b [f64],
    /// `[worker][slope, curvature][answer][truth]`, to be added to.
    pub(super) sums: &'b mut [f64],
}

impl<W: Chances> Kernel for WorkerSlopes<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (width, classes) = (self.block.width, self.block.width.get());
        let cells = classes * classes;
        let (mut tilts, mut mass) = (width.block(), width.row());
        let (tilts, mass) = (tilts.as_mut(), mass.as_mut());
        for task in self.tasks.clone() {
            self.block.prefetch(task + AHEAD, self.tasks.end);
            if task + AHEAD < self.tasks.end && size_of_val(self.sums) > CACHED {
                for &worker in self.block.labels.task(task + AHEAD).0 {
                    for number in (0..2 * cells).step_by(LINE) {
                        prefetch(self.sums, worker as usize * 2 * cells + number);
                    }
                }
            }
            if self.block.labels.task(task).0.is_empty() {
                continue;
            }
            let weight = self.block.weight(task);
            for (mass, q) in mass.iter_mut().zip(&self.rows[task * classes..][..classes]) {
                *mass = weight * q;
            }
            exponentials(&self.effects[task * cells..][..cells], tilts);
            width.add_slopes(self.block.labels(task, tilts), mass, self.sums);
        }
    }
}
