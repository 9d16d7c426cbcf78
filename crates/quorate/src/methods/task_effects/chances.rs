//! The loops over the labels of one task.
//!
//! ```text
//! p_l = X_i[l,k] T_j[l,k] / sum_l' X_i[l',k] T_j[l',k]      X_i = exp(W_i), T_j = exp(tau_j)
//! ```
//!
//! `X_i` is computed once per worker and pass, `T_j` once per task and round, so a label costs K^2 products
//! and K divisions and no exponential. K x K tables are `[answer][truth]`, truth fastest: the truths run side
//! by side. Where the compiler knows K, sums stay in registers over all labels of the task.

use crate::linalg::width::{Fixed, Runtime, Width};

/// Products of probabilities below this are turned into logarithms; looked at after every [`FACTORS`]
/// factors.
pub(super) const SMALL: f64 = 1e-100;
const FACTORS: usize = 4;

/// Sums over the labels of a task; tables are `[answer][truth]`.
pub(super) struct AnswerSums<'s> {
    /// `sum_i p`.
    pub(super) shares: &'s mut [f64],
    /// `sum_i p^2`.
    pub(super) squares: &'s mut [f64],
    /// Product of the chances of the given answers under each truth, as far as it is not in `logs`.
    pub(super) product: &'s mut [f64],
    pub(super) logs: &'s mut [f64],
}

/// Labels of one task, and what the chances of answers are made of.
#[derive(Clone, Copy)]
pub(super) struct TaskLabels<'t> {
    pub(super) workers: &'t [u32],
    pub(super) answers: &'t [u16],
    /// `exp(W)`, `[worker][answer][truth]`.
    pub(super) table: &'t [f64],
    /// `exp(tau)`, `[answer][truth]`.
    pub(super) tilts: &'t [f64],
}

/// Loops over the labels of a task.
pub(super) trait Chances: Width {
    /// Writes `sum_i p`.
    fn share(self, labels: TaskLabels<'_>, shares: &mut [f64]);

    /// Writes all sums.
    fn sum_up(self, labels: TaskLabels<'_>, sums: AnswerSums<'_>);

    /// Adds the slopes and curvatures of each label to those of its worker, `[worker][slope,
    /// curvature][answer][truth]`, for a task with this mass in each class.
    fn add_slopes(self, labels: TaskLabels<'_>, mass: &[f64], slopes: &mut [f64]);
}

/// `p` of one label.
#[inline(always)]
fn chances<const K: usize>(answers: &[[f64; K]; K], tilts: &[[f64; K]; K]) -> [[f64; K]; K] {
    let (mut chances, mut scale) = ([[0.0; K]; K], [0.0; K]);
    for l in 0..K {
        for k in 0..K {
            chances[l][k] = answers[l][k] * tilts[l][k];
            scale[k] += chances[l][k];
        }
    }
    for sum in &mut scale {
        *sum = sum.recip();
    }
    for row in &mut chances {
        for k in 0..K {
            row[k] *= scale[k];
        }
    }
    chances
}

/// A slice as a square table.
#[inline(always)]
fn square<const K: usize>(cells: &[f64]) -> [[f64; K]; K] {
    let mut table = [[0.0; K]; K];
    for (row, cells) in table.iter_mut().zip(cells.as_chunks::<K>().0) {
        *row = *cells;
    }
    table
}

/// The square table of one worker.
#[inline(always)]
fn of_worker<const K: usize>(table: &[[f64; K]], worker: u32) -> &[[f64; K]; K] {
    let rows = &table[worker as usize * K..][..K];
    rows.try_into().expect("there are K rows")
}

impl<const K: usize> Chances for Fixed<K> {
    #[inline(always)]
    fn share(self, labels: TaskLabels<'_>, shares: &mut [f64]) {
        let (table, tilts) = (labels.table.as_chunks::<K>().0, square::<K>(labels.tilts));
        let mut sums = [[0.0; K]; K];
        for &worker in labels.workers {
            let p = chances(of_worker(table, worker), &tilts);
            for l in 0..K {
                for k in 0..K {
                    sums[l][k] += p[l][k];
                }
            }
        }
        shares.copy_from_slice(sums.as_flattened());
    }

    #[inline(always)]
    fn sum_up(self, labels: TaskLabels<'_>, sums: AnswerSums<'_>) {
        let (table, tilts) = (labels.table.as_chunks::<K>().0, square::<K>(labels.tilts));
        let (mut shares, mut squares, mut product) = ([[0.0; K]; K], [[0.0; K]; K], [1.0; K]);
        for (place, (&worker, &answer)) in labels.workers.iter().zip(labels.answers).enumerate() {
            let p = chances(of_worker(table, worker), &tilts);
            let given = p[answer as usize];
            for k in 0..K {
                product[k] *= given[k];
            }
            for l in 0..K {
                for k in 0..K {
                    shares[l][k] += p[l][k];
                    squares[l][k] += p[l][k] * p[l][k];
                }
            }
            if place % FACTORS == FACTORS - 1 {
                keep_in_range(&mut product, sums.logs);
            }
        }
        sums.shares.copy_from_slice(shares.as_flattened());
        sums.squares.copy_from_slice(squares.as_flattened());
        sums.product.copy_from_slice(&product);
    }

    #[inline(always)]
    fn add_slopes(self, labels: TaskLabels<'_>, mass: &[f64], slopes: &mut [f64]) {
        let (table, tilts) = (labels.table.as_chunks::<K>().0, square::<K>(labels.tilts));
        let slopes = slopes.as_chunks_mut::<K>().0;
        let Some(&mass) = mass.first_chunk::<K>() else {
            return;
        };
        for (&worker, &answer) in labels.workers.iter().zip(labels.answers) {
            let p = chances(of_worker(table, worker), &tilts);
            let (slope, curvature) = slopes[worker as usize * 2 * K..][..2 * K].split_at_mut(K);
            for l in 0..K {
                for k in 0..K {
                    let expected = mass[k] * p[l][k];
                    slope[l][k] -= expected;
                    curvature[l][k] += expected - expected * p[l][k];
                }
            }
            for k in 0..K {
                slope[answer as usize][k] += mass[k];
            }
        }
    }
}

/// Turns a product into logarithms if it is getting too small.
#[inline(always)]
fn keep_in_range(product: &mut [f64], logs: &mut [f64]) {
    if product.iter().any(|&product| product < SMALL) {
        for (product, log) in product.iter_mut().zip(logs) {
            *log += product.ln();
            *product = 1.0;
        }
    }
}

impl Runtime {
    /// `p` of one label, into a table of K x K; `scale` is scratch.
    #[inline(always)]
    fn chances(self, labels: TaskLabels<'_>, worker: u32, p: &mut [f64], scale: &mut [f64]) {
        let cells = self.0 * self.0;
        let answers = &labels.table[worker as usize * cells..][..cells];
        scale.fill(0.0);
        let rows = answers
            .chunks_exact(self.0)
            .zip(labels.tilts.chunks_exact(self.0));
        for ((answers, tilts), p) in rows.zip(p.chunks_exact_mut(self.0)) {
            for ((p, sum), (answer, tilt)) in p.iter_mut().zip(&mut *scale).zip(answers.iter().zip(tilts)) {
                *p = answer * tilt;
                *sum += *p;
            }
        }
        scale.iter_mut().for_each(|sum| *sum = sum.recip());
        for p in p.chunks_exact_mut(self.0) {
            p.iter_mut().zip(&*scale).for_each(|(p, scale)| *p *= scale);
        }
    }
}

impl Chances for Runtime {
    #[inline(always)]
    fn share(self, labels: TaskLabels<'_>, shares: &mut [f64]) {
        let (mut p, mut scale) = (self.block(), self.row());
        shares.fill(0.0);
        for &worker in labels.workers {
            self.chances(labels, worker, &mut p, &mut scale);
            shares.iter_mut().zip(&p).for_each(|(sum, p)| *sum += p);
        }
    }

    #[inline(always)]
    fn sum_up(self, labels: TaskLabels<'_>, sums: AnswerSums<'_>) {
        let (mut p, mut scale) = (self.block(), self.row());
        sums.shares.fill(0.0);
        sums.squares.fill(0.0);
        sums.product.fill(1.0);
        for (place, (&worker, &answer)) in labels.workers.iter().zip(labels.answers).enumerate() {
            self.chances(labels, worker, &mut p, &mut scale);
            let given = &p[answer as usize * self.0..][..self.0];
            sums.product
                .iter_mut()
                .zip(given)
                .for_each(|(product, p)| *product *= p);
            for ((share, square), p) in sums.shares.iter_mut().zip(&mut *sums.squares).zip(&p) {
                *share += p;
                *square += p * p;
            }
            if place % FACTORS == FACTORS - 1 {
                keep_in_range(sums.product, sums.logs);
            }
        }
    }

    #[inline(always)]
    fn add_slopes(self, labels: TaskLabels<'_>, mass: &[f64], slopes: &mut [f64]) {
        let cells = self.0 * self.0;
        let (mut p, mut scale) = (self.block(), self.row());
        for (&worker, &answer) in labels.workers.iter().zip(labels.answers) {
            self.chances(labels, worker, &mut p, &mut scale);
            let (slope, curvature) = slopes[worker as usize * 2 * cells..][..2 * cells].split_at_mut(cells);
            let rows = slope
                .chunks_exact_mut(self.0)
                .zip(curvature.chunks_exact_mut(self.0));
            for ((slope, curvature), p) in rows.zip(p.chunks_exact(self.0)) {
                for (((slope, curvature), p), mass) in slope.iter_mut().zip(curvature).zip(p).zip(mass) {
                    let expected = mass * p;
                    *slope -= expected;
                    *curvature += expected - expected * p;
                }
            }
            let given = &mut slope[answer as usize * self.0..][..self.0];
            given
                .iter_mut()
                .zip(mass)
                .for_each(|(slope, mass)| *slope += mass);
        }
    }
}
