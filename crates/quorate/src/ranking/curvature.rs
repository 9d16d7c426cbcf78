//! The curvature of the model: how sure its parameters are, and where Newton's method goes.
//!
//! ```text
//! H = [ L + 1/vs   B ]      S = L + 1/vs - sum_w B_w D_w^-1 B_w'         L Laplacian of the pairs, weighted by a_w^2 I
//!     [ B'         D ]      H (x, y) = (g, h):  S x = g - B D^-1 h,  y = D^-1 (h - B' x)
//! ```
//!
//! `D_w` is the 3 x 3 block of a judge's parameters, `B_w` what couples it with the items. The discriminations of all
//! judges have the mean 1, which fixes the unit of the scores: with `e` the direction of their sum, `u = D^-1 e` and
//! `t = e' u`, the inverse of `D` under this constraint is `D^-1 - u u' / t`, and `S` gets `(B u)(B u)' / t` more.
//! `S^-1` is the covariance of the scores. Up to [`MAX_DENSE`] items `S` is kept and factored; beyond that it is applied row by row, by conjugate
//! gradients, and variances come from draws `H^-1 z` with `cov z = H`.

use std::collections::BTreeMap;

use chacha20::ChaCha8Rng;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rand::RngExt;
use rayon::prelude::*;

use super::components::Components;
use super::davidson::{Parameters, Prior, Problem, Sizes};
use crate::context::seeded;
use crate::error::{Error, Result};

/// Largest number of items whose matrix is kept.
pub(super) const MAX_DENSE: usize = 500;

/// Rounds of conjugate gradients.
const MAX_ROUNDS: usize = 500;

/// Where the streams of random numbers of the draws start.
const STREAM: u64 = 1 << 40;

const UNSOLVABLE: &str =
    "the scores cannot be told from these comparisons: weights differ by too many orders of magnitude";

/// A symmetric 3 x 3 matrix: 00, 01, 02, 11, 12, 22.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Symmetric3([f64; 6]);

impl Symmetric3 {
    pub fn diagonal([a, b, c]: [f64; 3]) -> Self {
        Self([a, 0.0, 0.0, b, 0.0, c])
    }

    pub fn add(&mut self, other: [f64; 6]) {
        self.0
            .iter_mut()
            .zip(other)
            .for_each(|(cell, value)| *cell += value);
    }

    pub fn get(&self, row: usize, column: usize) -> f64 {
        const PLACE: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
        self.0[PLACE[row][column]]
    }

    pub fn times(&self, v: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|row| (0..3).map(|column| self.get(row, column) * v[column]).sum())
    }

    /// The inverse of a positive definite matrix, by cofactors.
    pub fn inverse(&self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let cofactors = [
            d * f - e * e,
            c * e - b * f,
            b * e - c * d,
            a * f - c * c,
            b * c - a * e,
            a * d - b * b,
        ];
        let determinant = a * cofactors[0] + b * cofactors[1] + c * cofactors[2];
        Self(cofactors.map(|cofactor| cofactor / determinant))
    }
}

/// The off-diagonal part of `S`; its rows sum to the prior, so the diagonal follows.
#[derive(Debug, Clone)]
pub(super) struct Schur {
    items: usize,
    /// `S_ij` for `i < j`.
    upper: Vec<f64>,
    /// `B_w` of the judge at hand.
    coupling: Vec<[f64; 3]>,
    is_touched: Vec<bool>,
    touched: Vec<usize>,
}

impl Schur {
    pub fn new(items: usize) -> Self {
        Self {
            items,
            upper: vec![0.0; items * items],
            coupling: vec![[0.0; 3]; items],
            is_touched: vec![false; items],
            touched: Vec::new(),
        }
    }

    /// Adds a row of the judge at hand.
    #[inline]
    pub fn add(&mut self, left: usize, right: usize, pull: f64, couple: [f64; 3]) {
        self.upper[left.min(right) * self.items + left.max(right)] -= pull;
        for (item, sign) in [(left, 1.0), (right, -1.0)] {
            if !self.is_touched[item] {
                self.is_touched[item] = true;
                self.touched.push(item);
            }
            let cell = &mut self.coupling[item];
            (0..3).for_each(|part| cell[part] += sign * couple[part]);
        }
    }

    /// Takes the judge's parameters out of the system.
    pub fn eliminate(&mut self, block: &Symmetric3) {
        let inverse = block.inverse();
        self.touched.sort_unstable();
        for (place, &i) in self.touched.iter().enumerate() {
            let along = inverse.times(self.coupling[i]);
            let row = &mut self.upper[i * self.items..(i + 1) * self.items];
            for &j in &self.touched[place + 1..] {
                let other = self.coupling[j];
                row[j] -= along[0] * other[0] + along[1] * other[1] + along[2] * other[2];
            }
        }
        for item in self.touched.drain(..) {
            self.coupling[item] = [0.0; 3];
            self.is_touched[item] = false;
        }
    }

    pub fn merge(&mut self, other: &Self) {
        crate::parallel::add(&mut self.upper, &other.upper);
    }

    /// `S`, and without a prior a constant inside of each component, so that it can be inverted: what it adds is
    /// gone where scores are centred.
    fn matrix(&self, precision: f64, components: &Components) -> DMatrix<f64> {
        let items = self.items;
        let mut matrix = DMatrix::zeros(items, items);
        for i in 0..items {
            for j in i + 1..items {
                let value = self.upper[i * items + j];
                matrix[(i, j)] = value;
                matrix[(j, i)] = value;
                matrix[(i, i)] -= value;
                matrix[(j, j)] -= value;
            }
        }
        for i in 0..items {
            matrix[(i, i)] += precision;
        }
        if precision == 0.0 {
            let scale = (matrix.trace() / items as f64).max(1e-12);
            for i in 0..items {
                for j in 0..items {
                    let component = components.of_item[i];
                    if component == components.of_item[j] {
                        matrix[(i, j)] += scale / components.sizes[component as usize] as f64;
                    }
                }
            }
        }
        matrix
    }
}

/// The curvature at a point.
#[derive(Clone)]
pub(super) struct Curvature<'a> {
    problem: Problem<'a>,
    parameters: Parameters,
    judge_precision: [f64; 3],
    /// Information of each row by `eta`, and by `eta` and `nu`.
    information: Vec<[f32; 2]>,
    inverses: Vec<Symmetric3>,
    /// `t` of the constraint and `B u`; none where discrimination is no part of the model.
    constraint: Option<(f64, Vec<f64>)>,
    precision: f64,
    solver: Solver,
}

#[derive(Clone)]
enum Solver {
    Dense(Cholesky<f64, Dyn>),
    /// The diagonal of `L + 1/vs`.
    Rows(Vec<f64>),
}

impl<'a> Curvature<'a> {
    pub fn new(
        problem: &Problem<'a>,
        parameters: &Parameters,
        information: Vec<[f32; 2]>,
        judges: &[([f64; 3], Symmetric3)],
        schur: Option<Schur>,
        sizes: &Sizes,
    ) -> Result<Self> {
        let precision = problem.score_precision(sizes);
        let mut curvature = Self {
            problem: *problem,
            parameters: parameters.clone(),
            judge_precision: problem.judge_prior(sizes).0,
            information,
            inverses: judges.iter().map(|judge| judge.1.inverse()).collect(),
            constraint: None,
            precision,
            solver: Solver::Rows(Vec::new()),
        };
        if problem.parts.discrimination {
            let along: Vec<[f64; 3]> = curvature
                .inverses
                .iter()
                .map(|inverse| inverse.times([1.0, 0.0, 0.0]))
                .collect();
            let total = along.iter().map(|along| along[0]).sum();
            curvature.constraint = Some((total, curvature.uncouple(&along)));
        }
        curvature.solver = match schur {
            Some(schur) => {
                let mut matrix = schur.matrix(precision, problem.components);
                if let Some((total, along)) = &curvature.constraint {
                    let along = DVector::from_column_slice(along);
                    matrix.ger(1.0 / total, &along, &along, 1.0);
                }
                let factors = Cholesky::new(matrix);
                Solver::Dense(factors.ok_or_else(|| Error::Mismatch(UNSOLVABLE.into()))?)
            }
            None => {
                let mut diagonal = vec![precision.max(1e-12); problem.rows.items];
                curvature.for_rows(|_, left, right, pull, _| {
                    diagonal[left] += pull;
                    diagonal[right] += pull;
                });
                Solver::Rows(diagonal)
            }
        };
        Ok(curvature)
    }

    /// Calls `each` with judge, left, right, pull and coupling of every row.
    fn for_rows(&self, mut each: impl FnMut(usize, usize, usize, f64, [f64; 3])) {
        for judge in 0..self.problem.rows.judges() {
            self.for_rows_of(judge, |left, right, pull, couple| {
                each(judge, left, right, pull, couple)
            });
        }
    }

    #[inline]
    fn for_rows_of(&self, judge: usize, mut each: impl FnMut(usize, usize, f64, [f64; 3])) {
        let a = self.parameters.judge[judge][0];
        for row in self.problem.rows.rows(judge) {
            let found = self.problem.rows.get(row);
            let [h, to_tie] = self.information[row].map(f64::from);
            let difference = self.parameters.score[found.left] - self.parameters.score[found.right];
            let along = self.problem.along(difference);
            let couple = [a * h * along[0], a * h * along[1], a * to_tie];
            each(found.left, found.right, a * a * h, couple);
        }
    }

    /// `B_w' v` of each judge.
    fn couple(&self, v: &[f64]) -> Vec<[f64; 3]> {
        let of_judge = |judge: usize| {
            let mut sum = [0.0; 3];
            self.for_rows_of(judge, |left, right, _, couple| {
                let difference = v[left] - v[right];
                (0..3).for_each(|part| sum[part] += couple[part] * difference);
            });
            sum
        };
        (0..self.problem.rows.judges())
            .into_par_iter()
            .map(of_judge)
            .collect()
    }

    /// `sum_w B_w y_w`.
    fn uncouple(&self, y: &[[f64; 3]]) -> Vec<f64> {
        let mut sum = vec![0.0; self.problem.rows.items];
        self.for_rows(|judge, left, right, _, couple| {
            let value: f64 = (0..3).map(|part| couple[part] * y[judge][part]).sum();
            sum[left] += value;
            sum[right] -= value;
        });
        sum
    }

    /// The inverse of `D` under the constraint, times these vectors.
    fn solve_judges(&self, judges: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let mut solved: Vec<[f64; 3]> = judges
            .iter()
            .zip(&self.inverses)
            .map(|(g, inverse)| inverse.times(*g))
            .collect();
        if let Some((total, _)) = &self.constraint {
            let excess = solved.iter().map(|solved| solved[0]).sum::<f64>() / total;
            for (solved, inverse) in solved.iter_mut().zip(&self.inverses) {
                (0..3).for_each(|part| solved[part] -= excess * inverse.get(part, 0));
            }
        }
        solved
    }

    /// `S v`.
    fn apply(&self, v: &[f64]) -> Vec<f64> {
        let coupled = self.couple(v);
        let back = self.solve_judges(&coupled);
        let mut out: Vec<f64> = v.iter().map(|value| value * self.precision).collect();
        self.for_rows(|judge, left, right, pull, couple| {
            let back = &back[judge];
            let value = pull * (v[left] - v[right])
                - (couple[0] * back[0] + couple[1] * back[1] + couple[2] * back[2]);
            out[left] += value;
            out[right] -= value;
        });
        out
    }

    /// `S^-1 g`, centred in each component.
    pub fn solve_scores(&self, gradient: &[f64]) -> Vec<f64> {
        let mut solved = match &self.solver {
            Solver::Dense(factors) => factors
                .solve(&DVector::from_column_slice(gradient))
                .as_slice()
                .to_vec(),
            Solver::Rows(diagonal) => self.conjugate_gradients(gradient, diagonal),
        };
        if self.problem.parts.prior == Prior::None {
            self.problem.components.center(&mut solved);
        }
        solved
    }

    fn conjugate_gradients(&self, gradient: &[f64], diagonal: &[f64]) -> Vec<f64> {
        let mut solved = vec![0.0; gradient.len()];
        let mut residual = gradient.to_vec();
        let scaled =
            |residual: &[f64]| -> Vec<f64> { residual.iter().zip(diagonal).map(|(r, d)| r / d).collect() };
        let mut ahead = scaled(&residual);
        let mut direction = ahead.clone();
        let mut size = dot(&residual, &ahead);
        let enough = size * 1e-16;
        for _ in 0..MAX_ROUNDS {
            if size <= enough || size == 0.0 {
                break;
            }
            let applied = self.apply(&direction);
            let curvature = dot(&direction, &applied);
            if curvature <= 0.0 {
                break;
            }
            let length = size / curvature;
            for item in 0..solved.len() {
                solved[item] += length * direction[item];
                residual[item] -= length * applied[item];
            }
            ahead = scaled(&residual);
            let next = dot(&residual, &ahead);
            let keep = next / size;
            size = next;
            for (direction, ahead) in direction.iter_mut().zip(&ahead) {
                *direction = ahead + keep * *direction;
            }
        }
        solved
    }

    /// Newton's step for these gradients.
    pub fn solve(&self, scores: &[f64], judges: &[[f64; 3]]) -> (Vec<f64>, Vec<[f64; 3]>) {
        let back = self.uncouple(&self.solve_judges(judges));
        let reduced: Vec<f64> = scores.iter().zip(&back).map(|(g, back)| g - back).collect();
        let score_step = self.solve_scores(&reduced);
        let judge_step = self.judges_of(&score_step, judges);
        (score_step, judge_step)
    }

    /// The judges' part of a solution whose scores are known.
    fn judges_of(&self, scores: &[f64], judges: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let coupled = self.couple(scores);
        let rest = |(own, coupled): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|part| own[part] - coupled[part]);
        let rest: Vec<[f64; 3]> = judges.iter().zip(&coupled).map(rest).collect();
        self.solve_judges(&rest)
    }

    /// `H^-1 (u, 0)`.
    pub fn solve_for(&self, scores: &[f64]) -> (Vec<f64>, Vec<[f64; 3]>) {
        let nothing = vec![[0.0; 3]; self.problem.rows.judges()];
        let solved = self.solve_scores(scores);
        let judges = self.judges_of(&solved, &nothing);
        (solved, judges)
    }

    /// `D_w^-1` of each judge: how sure its parameters are where the scores are known.
    pub fn judge_inverses(&self) -> &[Symmetric3] {
        &self.inverses
    }

    /// Where the curvature was taken.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Variances of each judge's parameters: those of the inverse of `D`, and what the scores' own uncertainty adds,
    /// `r C r'` with `r` a row of that inverse times `B'`, where their covariance `C` is known.
    pub fn judge_variances(&self, covariance: Option<&[f64]>) -> Vec<[f64; 3]> {
        let items = self.problem.rows.items;
        let nothing = (f64::INFINITY, vec![0.0; items]);
        let (total, shared) = self.constraint.as_ref().unwrap_or(&nothing);
        let dot_row =
            |row: usize, v: &[f64]| covariance.map_or(0.0, |c| dot(&c[row * items..(row + 1) * items], v));
        let spread: Vec<f64> = (0..items).map(|item| dot_row(item, shared)).collect();
        let square = dot(shared, &spread);
        let of_judge = |judge: usize| {
            let inverse = &self.inverses[judge];
            let pulled = [0, 1, 2].map(|part| inverse.get(part, 0) / total);
            let mut variance =
                [0, 1, 2].map(|part| inverse.get(part, part) - pulled[part] * inverse.get(part, 0));
            let Some(covariance) = covariance else {
                return variance;
            };
            let mut coupling = BTreeMap::new();
            self.for_rows_of(judge, |left, right, _, couple| {
                for (item, sign) in [(left, 1.0), (right, -1.0)] {
                    let cell: &mut [f64; 3] = coupling.entry(item).or_default();
                    (0..3).for_each(|part| cell[part] += sign * couple[part]);
                }
            });
            let along: Vec<(usize, [f64; 3])> = coupling
                .into_iter()
                .map(|(item, b)| (item, inverse.times(b)))
                .collect();
            for part in 0..3 {
                let mut own = 0.0;
                let mut across = 0.0;
                for (i, a) in &along {
                    let row = &covariance[i * items..(i + 1) * items];
                    own += a[part] * along.iter().map(|(j, b)| row[*j] * b[part]).sum::<f64>();
                    across += a[part] * spread[*i];
                }
                variance[part] += own - 2.0 * pulled[part] * across + pulled[part] * pulled[part] * square;
            }
            variance
        };
        (0..self.problem.rows.judges())
            .into_par_iter()
            .map(of_judge)
            .collect()
    }

    /// Sum of the variances of the scores, uncentred; beyond [`MAX_DENSE`] items by Hutchinson's estimate,
    /// `E z' S^-1 z` over random signs `z`.
    pub fn total_variance(&self) -> f64 {
        match &self.solver {
            Solver::Dense(factors) => factors.inverse().trace(),
            Solver::Rows(_) => {
                const PROBES: usize = 4;
                let mut rng = seeded(0, STREAM);
                let mut total = 0.0;
                for _ in 0..PROBES {
                    let items = self.problem.rows.items;
                    let signs: Vec<f64> = (0..items)
                        .map(|_| if rng.random() { 1.0 } else { -1.0 })
                        .collect();
                    total += dot(&signs, &self.solve_scores(&signs));
                }
                total / PROBES as f64
            }
        }
    }

    /// For each judge the sum over its rows of `h V_ij`: information by `eta` times the variance of the difference.
    /// Beyond [`MAX_DENSE`] items the two scores are taken for independent.
    pub fn noise_of_judges(&self) -> Vec<f64> {
        let items = self.problem.rows.items;
        let covariance = match &self.solver {
            Solver::Dense(factors) => factors.inverse(),
            Solver::Rows(diagonal) => {
                DMatrix::from_iterator(items, 1, diagonal.iter().map(|diagonal| 1.0 / diagonal))
            }
        };
        let variance = |i: usize, j: usize| match &self.solver {
            Solver::Dense(_) => covariance[(i, i)] + covariance[(j, j)] - 2.0 * covariance[(i, j)],
            Solver::Rows(_) => covariance[i] + covariance[j],
        };
        let of_judge = |judge: usize| -> f64 {
            let of_row = |row: usize| {
                let found = self.problem.rows.get(row);
                f64::from(self.information[row][0]) * variance(found.left, found.right)
            };
            self.problem.rows.rows(judge).map(of_row).sum()
        };
        (0..self.problem.rows.judges())
            .into_par_iter()
            .map(of_judge)
            .collect()
    }

    /// Covariance of the scores, centred in each component; none beyond [`MAX_DENSE`] items.
    pub fn covariance(&self) -> Option<Vec<f64>> {
        let Solver::Dense(factors) = &self.solver else {
            return None;
        };
        let mut covariance = factors.inverse();
        let items = self.problem.rows.items;
        for mut column in covariance.column_iter_mut() {
            self.problem.components.center(column.as_mut_slice());
        }
        covariance.transpose_mut();
        for mut column in covariance.column_iter_mut() {
            self.problem.components.center(column.as_mut_slice());
        }
        debug_assert_eq!(covariance.len(), items * items);
        Some(covariance.as_slice().to_vec())
    }

    /// Draws of how far the scores may be off, centred in each component: `count` rows of one number for each item.
    pub fn draws(&self, count: usize, seed: u64) -> Vec<f32> {
        let items = self.problem.rows.items;
        let draw = |number: usize| -> Vec<f32> {
            let mut rng = seeded(seed, STREAM + number as u64);
            let mut drawn = match &self.solver {
                // S = C C': draws of S^-1 are C'^-1 z.
                Solver::Dense(factors) => {
                    let z = DVector::from_iterator(
                        items,
                        (0..items).map(|_| rng.sample(rand_distr::StandardNormal)),
                    );
                    let lower = factors.l_dirty();
                    lower
                        .tr_solve_lower_triangular(&z)
                        .expect("the factor is regular")
                        .as_slice()
                        .to_vec()
                }
                Solver::Rows(_) => {
                    let mut sum: Vec<f64> = (0..items)
                        .map(|_| self.precision.sqrt() * rng.sample::<f64, _>(rand_distr::StandardNormal))
                        .collect();
                    let mut judges = vec![[0.0; 3]; self.problem.rows.judges()];
                    self.draw_rows(&mut rng, &mut sum, &mut judges);
                    self.solve(&sum, &judges).0
                }
            };
            self.problem.components.center(&mut drawn);
            drawn.into_iter().map(|value| value as f32).collect()
        };
        (0..count).into_par_iter().map(draw).collect::<Vec<_>>().concat()
    }

    /// Adds a draw with the covariance of the gradient.
    fn draw_rows(&self, rng: &mut ChaCha8Rng, scores: &mut [f64], judges: &mut [[f64; 3]]) {
        let mut normal = || rng.sample::<f64, _>(rand_distr::StandardNormal);
        for (judge, sum) in judges.iter_mut().enumerate() {
            *sum = self.judge_precision.map(|precision| precision.sqrt() * normal());
            let a = self.parameters.judge[judge][0];
            for row in self.problem.rows.rows(judge) {
                let row = self.problem.rows.get(row);
                let (slopes, difference) = self.problem.slopes_at(&row, &self.parameters, judge);
                let first = slopes.eta_eta.sqrt();
                let across = if first > 0.0 { slopes.eta_nu / first } else { 0.0 };
                let second = (slopes.nu_nu - across * across).max(0.0).sqrt();
                let (x, y) = (normal(), normal());
                let (eta, nu) = (first * x, across * x + second * y);
                scores[row.left] += a * eta;
                scores[row.right] -= a * eta;
                let along = self.problem.along(difference);
                sum[0] += along[0] * eta;
                sum[1] += along[1] * eta;
                sum[2] += nu;
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
