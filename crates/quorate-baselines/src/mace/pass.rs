//! A round of several starts at once: E-step and counts in one pass over the labels.
//!
//! ```text
//! l_n(k) = sum over labels x = k of task n of gain_m(x),      gain_m(x) = ln(guess_m xi_m(x) + know_m) - ln(guess_m xi_m(x))
//! q_n = softmax(l_n),      C_m(x) = sum over the tasks that m answered with x of q_n(x)
//! ```
//!
//! An answer `x` was known with probability `q_n(x) right_m(x)`, where
//! `right_m(x) = know_m / (guess_m xi_m(x) + know_m)`
//! depends on worker and answer alone: all counts of the M-step follow from `C`. What all labels
//! share of the likelihood, `sum ln(guess xi)`, is a sum over workers and answers. So a label is one addition
//! to a task and one to a worker, for each start; the starts lie side by side and share the reading of the
//! labels.

use std::ops::Range;

use quorate_machine::dispatch::Kernel;

use quorate::blocks::Block;
use quorate::internal::linalg::exponential::exponential;

/// Numbers of several starts, side by side.
pub(super) type Lanes<const S: usize> = [f64; S];

/// Products of sums above this are turned into logarithms.
const LARGE: f64 = 1e200;

/// What the tasks start from.
pub(super) struct Tempered<'p, const S: usize> {
    /// Vote shares, `[task][class]`.
    pub(super) votes: &'p [f64],
    /// For each task, how much its votes count in each start; the rest is uniform.
    pub(super) weights: &'p [Lanes<S>],
}

/// A pass over some tasks.
pub(super) struct Pass<'p, const S: usize> {
    pub(super) labels: Block<'p>,
    pub(super) tasks: Range<usize>,
    /// `gain`, `[worker][answer]`.
    pub(super) gains: &'p [Lanes<S>],
    /// Posteriors to count against instead of those of the E-step.
    pub(super) tempered: Option<Tempered<'p, S>>,
    /// `C`, `[worker][answer]`, to be added to.
    pub(super) counts: &'p mut [Lanes<S>],
}

impl<const S: usize> Kernel for Pass<'_, S> {
    /// The sum of the logarithms of the tasks' likelihoods, but for the part that is a sum over workers.
    type Output = Lanes<S>;

    #[inline(always)]
    fn run(self) -> Lanes<S> {
        let classes = self.labels.class_count();
        let mut rows = vec![[0.0; S]; classes];
        let (mut logs, mut product) = ([0.0; S], [1.0; S]);
        for task in self.tasks {
            let (workers, answers) = self.labels.task(task);
            if workers.is_empty() {
                continue;
            }
            match &self.tempered {
                Some(tempered) => temper(
                    &tempered.votes[task * classes..][..classes],
                    &tempered.weights[task],
                    &mut rows,
                ),
                None => {
                    rows.fill([0.0; S]);
                    for (&worker, &answer) in workers.iter().zip(answers) {
                        let gains = &self.gains[worker as usize * classes + answer as usize];
                        let row = &mut rows[answer as usize];
                        for s in 0..S {
                            row[s] += gains[s];
                        }
                    }
                    match self.labels.gold(task) {
                        Some(truth) => pin(&mut rows, truth, &mut logs),
                        None => normalise(&mut rows, &mut logs, &mut product),
                    }
                }
            }
            for (&worker, &answer) in workers.iter().zip(answers) {
                let counts = &mut self.counts[worker as usize * classes + answer as usize];
                let row = &rows[answer as usize];
                for s in 0..S {
                    counts[s] += row[s];
                }
            }
        }
        for s in 0..S {
            logs[s] += product[s].ln();
        }
        logs
    }
}

#[inline(always)]
fn temper<const S: usize>(votes: &[f64], weights: &Lanes<S>, rows: &mut [Lanes<S>]) {
    let even = 1.0 / votes.len() as f64;
    for (row, vote) in rows.iter_mut().zip(votes) {
        for s in 0..S {
            row[s] = weights[s] * vote + (1.0 - weights[s]) * even;
        }
    }
}

/// All mass on the known truth.
#[inline(always)]
fn pin<const S: usize>(rows: &mut [Lanes<S>], truth: usize, logs: &mut Lanes<S>) {
    for s in 0..S {
        logs[s] += rows[truth][s];
    }
    rows.fill([0.0; S]);
    rows[truth] = [1.0; S];
}

#[inline(always)]
fn normalise<const S: usize>(rows: &mut [Lanes<S>], logs: &mut Lanes<S>, product: &mut Lanes<S>) {
    // Gains are not negative, so neither is the largest sum.
    let (mut top, mut sum) = ([0.0f64; S], [0.0; S]);
    for row in &*rows {
        for s in 0..S {
            top[s] = top[s].max(row[s]);
        }
    }
    for row in &mut *rows {
        for s in 0..S {
            row[s] = exponential(row[s] - top[s]);
            sum[s] += row[s];
        }
    }
    let mut large = false;
    for s in 0..S {
        logs[s] += top[s];
        product[s] *= sum[s];
        large |= product[s] > LARGE;
        sum[s] = sum[s].recip();
    }
    for row in rows {
        for s in 0..S {
            row[s] *= sum[s];
        }
    }
    if large {
        for s in 0..S {
            logs[s] += product[s].ln();
            product[s] = 1.0;
        }
    }
}
