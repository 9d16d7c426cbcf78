//! TensorADMM: least squares on the first three moments of the answers.
//!
//! ```text
//! min 1/2 sum_m ||mu_m - A_m p||^2 + 1/2 sum_{m<j} ||S_mj - A_m P A_j^T||^2 + 1/2 sum_{m<j<i} ||T_mji - [[p; A_m, A_j, A_i]]||^2
//! ```
//!
//! over confusion matrices `A_m` and prior p (`P = Diag(p)`), columns on the simplex; `mu`, S, T are the
//! frequencies of answers of single workers, pairs and triples, over observed ones only.
//!
//! 1. Start from the confusion matrices counted against vote shares.
//! 2. Worker after worker, others fixed, the problem in `A_m` has the normal equations `H = P [sum_j G_j +
//!    sum_{j<i} G_j o G_i] P + p p^T` (`G_j = A_j^T A_j`, `gram`) and the right side `B` with the same sums
//!    against the data; up to 10 steps of ADMM with `rho = ||H||_F / K`: solve, project columns on the
//!    simplex, add the difference to the dual (`duals`, kept between sweeps). A proximal weight `eta` keeps
//!    `A_m` near its old value while the objective is large.
//! 3. The prior by the same ADMM on a vector; the objective comes out of its normal equations.
//! 4. Until matrices and prior, or the objective, settle. Bayes' rule.
//!
//! Time a sweep: `O(K)` for each observed cell of each triple and `O(K^2)` a triple; memory proportional to
//! the cells. Only observed triples exist here: at most `max-triples` of them, beyond that a seeded sample
//! (and of a task with more than 40 labels 40); notes say how many were used. Workers go in the natural order
//! of their names. Workers who share no task with anybody keep the matrix of the start.
//!
//! All moments count alike, those of pairs and triples that share a single task too: sparse tables drag it to
//! their noise, and more sweeps do not help.
//!
//! Differs from the compared program: missing moments have no weight (it fits them to zero), and first
//! moments are those of the data (it passes zeros); exact simplex projection; start from votes instead of
//! random matrices; one permutation for all workers.
//!
//! P. A. Traganitis, A. Pages-Zamora, G. B. Giannakis, "Blind multiclass ensemble classification", IEEE
//! Transactions on Signal Processing 66 (2018).

use crate::linalg::simplex::project_simplex;
use crate::triples::{MAX_ON_A_TASK, Triples, count_triples};
use quorate::internal::linalg::small::{
    add, add_gram, add_scaled, dot, inverse, multiply, norm_squared, normalise,
};
use quorate::internal::model::align_classes;
use quorate::internal::statistics::PairBlocks;
use quorate::methods::{Aggregate, Fit, vote_fractions};
use quorate::model::{DawidSkene, count_answers, posterior};
use quorate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// TensorADMM.
    pub struct TensorAdmm {
        /// triples of workers to use; beyond that a seeded sample of at least about half as many
        max_triples: usize in 0..=1_000_000_000 = 200000,
        /// largest number of sweeps over the workers
        sweeps: usize in 1..=1_000_000 = 500,
        /// stops when matrices and prior, or the objective, change by less than this share in a sweep
        tol: f64 in 0..=1 = 1e-6,
    }
    name: "tensor-admm",
    aliases: ["tensoradmm"],
    summary: "Least squares on answer frequencies of workers, pairs and triples",
    description: "Fits confusion matrices and prior to the frequencies of answers of single workers, pairs \
                  and triples, by alternating least squares with ADMM. Third moments identify the model \
                  without specialists, but need triples of workers with many tasks in common. Uses only \
                  observed triples, a seeded sample of them beyond max-triples.",
    citation: "P. A. Traganitis, A. Pages-Zamora, G. B. Giannakis: Blind multiclass ensemble \
               classification. IEEE Transactions on Signal Processing 66 (2018)",
    facts: [returns_model, canonical_order],
}

impl Aggregate for TensorAdmm {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let votes = context.run(|| vote_fractions(annotations));
        let start = context.run(|| count_answers(annotations, &votes)).to_model(0.0);
        let blocks = PairBlocks::observed(annotations, context)?;
        context.reserve(
            format!("the moments of {} triples of workers", self.max_triples),
            256 * self
                .max_triples
                .min(blocks.pair_count() * annotations.worker_count()) as u64,
            "lower max-triples",
        )?;
        context.step("triples", 0, None)?;
        let triples = count_triples(annotations, self.max_triples, context.seed());
        let notes = describe(&triples);
        let moments = TripleMoments::new(answer_frequencies(annotations), blocks, triples);
        let mut state = State::new(start);
        let order = annotations.workers().natural_order();
        let mut trace = vec![moments.prior_system(&state).objective];
        let (mut iterations, mut converged) = (0, false);
        while iterations < self.sweeps && !converged {
            context.step("sweeps", iterations, Some(self.sweeps))?;
            let (old, old_prior) = (state.confusion.clone(), state.prior.clone());
            state.set_proximal_weight(&moments, &trace);
            let met = |worker: &&usize| moments.blocks.neighbours(**worker).len() > 0;
            let met = order.iter().filter(met);
            met.for_each(|&worker| state.update_worker(&moments, worker));
            let system = moments.prior_system(&state);
            state.update_prior(&system);
            let objective = moments.prior_system(&state).objective;
            iterations += 1;
            let settled = relative_changes(&old, &state.confusion, state.block()) < self.tol
                && relative_changes(&old_prior, &state.prior, state.prior.len()) < self.tol;
            let last = trace[trace.len() - 1];
            converged = settled || (last - objective).abs() <= self.tol * last.abs().max(1e-12);
            trace.push(objective);
        }
        let alone = moments.blocks.pair_count() == 0;
        let model = DawidSkene::new(state.prior, state.confusion);
        let alignment = align_classes(&model, &annotations.labels_per_worker());
        let model = model.with_truth_order(&alignment.order);
        let (consensus, _) = context.run(|| posterior(annotations, &model));
        let mut fit = Fit {
            model: Some(model),
            trace,
            iterations,
            converged,
            notes,
            ..Fit::direct(consensus)
        };
        if alone {
            let warning = "no two workers share a task, so there are no joint frequencies: the matrices are those \
                           counted against majority vote";
            fit.warnings.push(warning.into());
        }
        Ok(fit)
    }
}

fn describe(triples: &Triples) -> Vec<String> {
    let mut notes = vec![match triples.sampling_bits {
        0 => format!("{} triples of workers, all that share a task", triples.len()),
        bits => format!(
            "{} triples of workers, a seeded sample of about 1 in {}",
            triples.len(),
            1u64 << bits.min(63)
        ),
    }];
    if triples.cut_tasks > 0 {
        notes.push(format!(
            "{} tasks have more than {MAX_ON_A_TASK} labels: triples among {MAX_ON_A_TASK} of them were used",
            triples.cut_tasks
        ));
    }
    notes
}

/// Share of each answer of each worker, `[worker][answer]`; zeros for a worker without labels.
fn answer_frequencies(annotations: &Annotations) -> Vec<f64> {
    let classes = annotations.class_count();
    let mut shares = vec![0.0; annotations.worker_count() * classes];
    for (_, worker, answer) in annotations.iter() {
        shares[worker * classes + answer] += 1.0;
    }
    for row in shares.chunks_exact_mut(classes) {
        if row.iter().sum::<f64>() > 0.0 {
            normalise(row);
        }
    }
    shares
}

/// Sum over blocks of `||new - old||_1 / ||new||_1`.
fn relative_changes(old: &[f64], new: &[f64], block: usize) -> f64 {
    let change = |(old, new): (&[f64], &[f64])| {
        let moved: f64 = old.iter().zip(new).map(|(a, b)| (a - b).abs()).sum();
        moved / new.iter().map(|x| x.abs()).sum::<f64>().max(1e-300)
    };
    old.chunks_exact(block)
        .zip(new.chunks_exact(block))
        .map(change)
        .sum()
}

/// The data: moments of order one to three.
struct TripleMoments {
    first: Vec<f64>,
    blocks: PairBlocks,
    triples: Triples,
    /// (triple, place of the worker in it) of each worker.
    of_worker: Vec<Vec<(u32, u8)>>,
    /// Sum of squares of all frequencies.
    size: f64,
}

/// Normal equations of the prior, and the objective at the current prior.
struct PriorSystem {
    h: Vec<f64>,
    b: Vec<f64>,
    objective: f64,
}

impl TripleMoments {
    fn new(first: Vec<f64>, blocks: PairBlocks, triples: Triples) -> Self {
        let mut of_worker = vec![Vec::new(); blocks.worker_count()];
        let pairs = (0..blocks.pair_count()).map(|pair| norm_squared(blocks.block(pair)));
        let mut size = norm_squared(&first) + pairs.sum::<f64>();
        for triple in 0..triples.len() {
            for (place, worker) in triples.members(triple).into_iter().enumerate() {
                of_worker[worker].push((triple as u32, place as u8));
            }
            let cells = triples.cells(triple).iter();
            size += cells.map(|cell| cell.1 * cell.1).sum::<f64>();
        }
        Self {
            first,
            blocks,
            triples,
            of_worker,
            size,
        }
    }

    /// `H` and `B^T` (`[answer][truth]`) of one worker without the proximal term.
    fn worker_system(&self, state: &State, worker: usize) -> (Vec<f64>, Vec<f64>) {
        let n = state.classes;
        let (mut h, mut b) = (vec![0.0; n * n], vec![0.0; n * n]);
        for (other, pair) in self.blocks.neighbours(worker) {
            add(&mut h, state.gram(other));
            let matrix = state.matrix(other);
            for (own, theirs) in (0..n * n).map(|cell| (cell / n, cell % n)) {
                let share = self.blocks.cell((worker, other), pair, (own, theirs));
                if share != 0.0 {
                    add_scaled(&mut b[own * n..], share, &matrix[theirs * n..][..n]);
                }
            }
        }
        for &(triple, place) in &self.of_worker[worker] {
            let members = self.triples.members(triple as usize);
            let (second, third) = [(1, 2), (0, 2), (0, 1)][place as usize];
            let (j, i) = (members[second], members[third]);
            let grams = state.gram(j).iter().zip(state.gram(i));
            h.iter_mut().zip(grams).for_each(|(cell, (x, y))| *cell += x * y);
            let (from_j, from_i) = (state.matrix(j), state.matrix(i));
            for (answers, share) in self.triples.cells(triple as usize) {
                let row_j = &from_j[answers[second] as usize * n..][..n];
                let row_i = &from_i[answers[third] as usize * n..][..n];
                let out = &mut b[answers[place as usize] as usize * n..][..n];
                for ((cell, x), y) in out.iter_mut().zip(row_j).zip(row_i) {
                    *cell += share * x * y;
                }
            }
        }
        let (p, first) = (&state.prior, &self.first[worker * n..][..n]);
        for (cell, value) in h.iter_mut().enumerate() {
            let (k, other) = (cell / n, cell % n);
            *value = p[k] * *value * p[other] + p[k] * p[other];
        }
        for (cell, value) in b.iter_mut().enumerate() {
            *value = p[cell % n] * (*value + first[cell / n]);
        }
        (h, b)
    }

    /// Normal equations of the prior over all moments.
    fn prior_system(&self, state: &State) -> PriorSystem {
        let n = state.classes;
        let (mut h, mut b) = (vec![0.0; n * n], vec![0.0; n]);
        for worker in 0..self.blocks.worker_count() {
            let first = &self.first[worker * n..][..n];
            // A worker without labels has no first moment.
            if first.iter().all(|share| *share == 0.0) {
                continue;
            }
            add(&mut h, state.gram(worker));
            let rows = state.matrix(worker).chunks_exact(n).zip(first);
            rows.for_each(|(row, share)| add_scaled(&mut b, *share, row));
        }
        let mut product = vec![0.0; n * n];
        for pair in 0..self.blocks.pair_count() {
            let (m, j) = self.blocks.pair(pair);
            let grams = state.gram(m).iter().zip(state.gram(j));
            h.iter_mut().zip(grams).for_each(|(cell, (x, y))| *cell += x * y);
            multiply(self.blocks.block(pair), state.matrix(j), n, &mut product);
            for (cell, (x, y)) in product.iter().zip(state.matrix(m)).enumerate() {
                b[cell % n] += x * y;
            }
        }
        for triple in 0..self.triples.len() {
            let members = self.triples.members(triple);
            let [x, y, z] = members.map(|worker| state.gram(worker));
            let cells = h.iter_mut().enumerate();
            cells.for_each(|(cell, value)| *value += x[cell] * y[cell] * z[cell]);
            for (answers, share) in self.triples.cells(triple) {
                let row = |place: usize| &state.matrix(members[place])[answers[place] as usize * n..][..n];
                let (x, y, z) = (row(0), row(1), row(2));
                let classes = b.iter_mut().enumerate();
                classes.for_each(|(k, value)| *value += share * x[k] * y[k] * z[k]);
            }
        }
        let rows = h.chunks_exact(n).zip(&state.prior);
        let fitted: f64 = rows.map(|(row, p)| p * dot(row, &state.prior)).sum();
        let objective = 0.5 * self.size - dot(&state.prior, &b) + 0.5 * fitted;
        PriorSystem { h, b, objective }
    }
}

/// Matrices, prior and duals.
struct State {
    classes: usize,
    /// `[worker][answer][truth]`.
    confusion: Vec<f64>,
    prior: Vec<f64>,
    /// `A_m^T A_m` of each worker.
    grams: Vec<f64>,
    duals: Vec<f64>,
    prior_dual: Vec<f64>,
    /// Proximal weight.
    eta: f64,
}

/// Steps of ADMM on one block.
const ADMM_STEPS: usize = 10;
/// Squared relative residuals at which ADMM stops.
const ADMM_TOL: f64 = 1e-3;

impl State {
    fn new(start: DawidSkene) -> Self {
        let n = start.class_count();
        let mut state = Self {
            classes: n,
            confusion: start.confusions().to_vec(),
            prior: vec![1.0 / n as f64; n],
            grams: vec![0.0; start.confusions().len()],
            duals: vec![0.0; start.confusions().len()],
            prior_dual: vec![0.0; n],
            eta: f64::INFINITY,
        };
        for worker in 0..start.worker_count() {
            state.refresh_gram(worker);
        }
        state
    }

    fn block(&self) -> usize {
        self.classes * self.classes
    }

    fn matrix(&self, worker: usize) -> &[f64] {
        &self.confusion[worker * self.block()..][..self.block()]
    }

    fn gram(&self, worker: usize) -> &[f64] {
        &self.grams[worker * self.block()..][..self.block()]
    }

    fn refresh_gram(&mut self, worker: usize) {
        let (n, block) = (self.classes, self.block());
        let gram = &mut self.grams[worker * block..][..block];
        gram.fill(0.0);
        let matrix = &self.confusion[worker * block..][..block];
        add_gram(matrix, matrix, n, 1.0, gram);
    }

    /// Lowers the proximal weight with the objective.
    fn set_proximal_weight(&mut self, moments: &TripleMoments, trace: &[f64]) {
        let objective = trace[trace.len() - 1];
        let fell = trace.len() < 2 || objective < trace[trace.len() - 2];
        if fell {
            self.eta = 1e-7 + 1e-2 * objective.max(0.0) / moments.size.max(1e-300);
        }
    }

    fn update_worker(&mut self, moments: &TripleMoments, worker: usize) {
        let (n, block) = (self.classes, self.block());
        let (h, b) = moments.worker_system(self, worker);
        let range = worker * block..(worker + 1) * block;
        let (matrix, dual) = (&mut self.confusion[range.clone()], &mut self.duals[range]);
        improve(&h, &b, self.eta, n, matrix, dual);
        self.refresh_gram(worker);
    }

    fn update_prior(&mut self, system: &PriorSystem) {
        let (prior, dual) = (&mut self.prior, &mut self.prior_dual);
        improve(&system.h, &system.b, self.eta, self.classes, prior, dual);
    }
}

/// ADMM from `x`; a few steps need not reach the minimum, so the result is taken only if the objective does
/// not rise.
fn improve(h: &[f64], b: &[f64], eta: f64, n: usize, x: &mut [f64], dual: &mut [f64]) {
    let objective = |x: &[f64]| -> f64 {
        let rows = x.chunks_exact(n).zip(b.chunks_exact(n));
        rows.map(|(x, b)| {
            let lines = h.chunks_exact(n).zip(x);
            let curved: f64 = lines.map(|(line, value)| value * dot(line, x)).sum();
            0.5 * curved - dot(b, x)
        })
        .sum()
    };
    let pulled: Vec<f64> = b.iter().zip(x.iter()).map(|(b, old)| b + eta * old).collect();
    let mut next = x.to_vec();
    admm(h, &pulled, eta, n, &mut next, dual);
    if objective(&next) <= objective(x) {
        x.copy_from_slice(&next);
    }
}

/// `min 1/2 tr(X H X^T) - tr(X B^T)` plus the proximal term, over matrices `x` of `n` columns: on the simplex
/// the columns if there are n rows, the row if there is one (the prior).
fn admm(h: &[f64], b: &[f64], eta: f64, n: usize, x: &mut [f64], dual: &mut [f64]) {
    let rho = norm_squared(h).sqrt() / n as f64;
    if rho <= 0.0 {
        return;
    }
    let mut regularised = h.to_vec();
    let diagonal = regularised.iter_mut().step_by(n + 1);
    diagonal.for_each(|value| *value = *value + eta + rho);
    let Some(inverted) = inverse(&regularised, n) else {
        return;
    };
    let first = x.to_vec();
    let mut free = vec![0.0; x.len()];
    let mut right = vec![0.0; n];
    let (mut column, mut scratch) = (vec![0.0; n], vec![0.0; n]);
    for _ in 0..ADMM_STEPS {
        for row in 0..x.len() / n {
            for (k, cell) in right.iter_mut().enumerate() {
                let at = row * n + k;
                *cell = b[at] + rho * (x[at] + dual[at]);
            }
            // H is symmetric: a row of X times its inverse.
            let out = free[row * n..][..n].iter_mut().zip(inverted.chunks_exact(n));
            out.for_each(|(cell, line)| *cell = dot(line, &right));
        }
        let cells = x.iter_mut().zip(free.iter().zip(dual.iter()));
        cells.for_each(|(cell, (phi, dual))| *cell = phi - dual);
        if x.len() == n {
            project_simplex(x, &mut scratch);
        } else {
            for k in 0..n {
                let cells = column.iter_mut().zip(x[k..].iter().step_by(n));
                cells.for_each(|(cell, value)| *cell = *value);
                project_simplex(&mut column, &mut scratch);
                let cells = x[k..].iter_mut().step_by(n).zip(&column);
                cells.for_each(|(cell, value)| *cell = *value);
            }
        }
        let (mut primal, mut moved) = (0.0, 0.0);
        for (at, cell) in x.iter().enumerate() {
            dual[at] += cell - free[at];
            primal += (cell - free[at]).powi(2);
            moved += (cell - first[at]).powi(2);
        }
        if primal < ADMM_TOL * norm_squared(x) && moved < ADMM_TOL * norm_squared(dual) {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_a};

    /// Three workers, two classes, many tasks whose frequencies are those of the model.
    fn exact() -> (TripleMoments, State) {
        let matrices = [[0.8, 0.3, 0.2, 0.7], [0.7, 0.2, 0.3, 0.8], [0.9, 0.4, 0.1, 0.6]];
        // All combinations of truth and answers with probabilities in units of 1e-4.
        let mut labels = Vec::new();
        let mut task = 0;
        for at in 0..16usize {
            let (k, answers) = (at & 1, [at >> 1 & 1, at >> 2 & 1, at >> 3 & 1]);
            let chance: f64 = answers
                .iter()
                .zip(&matrices)
                .map(|(&l, matrix)| matrix[l * 2 + k])
                .product();
            for _ in 0..(chance * [0.6, 0.4][k] * 1e4).round() as usize {
                labels.extend(
                    answers
                        .iter()
                        .enumerate()
                        .map(|(m, &l)| (task, m as u32, l as u16)),
                );
                task += 1;
            }
        }
        let annotations = Annotations::from_codes(task as usize, 3, 2, labels).unwrap();
        let blocks = PairBlocks::observed(&annotations, &mut Context::new(0)).unwrap();
        let moments = TripleMoments::new(
            answer_frequencies(&annotations),
            blocks,
            count_triples(&annotations, 10, 0),
        );
        let mut state = State::new(DawidSkene::new(vec![0.6, 0.4], matrices.concat()));
        state.prior = vec![0.6, 0.4];
        state.eta = 1e-7;
        (moments, state)
    }

    #[test]
    fn the_truth_is_a_fixed_point_of_exact_moments() {
        let (moments, mut state) = exact();
        assert!(moments.prior_system(&state).objective.abs() < 1e-9);
        let before = state.confusion.clone();
        for worker in 0..3 {
            state.update_worker(&moments, worker);
        }
        let system = moments.prior_system(&state);
        state.update_prior(&system);
        assert_close(&state.confusion, &before, 1e-6);
        assert_close(&state.prior, &[0.6, 0.4], 1e-6);
    }

    #[test]
    fn normal_equations_equal_the_explicit_design() {
        let (moments, mut state) = exact();
        state.prior = vec![0.3, 0.7];
        let (a, b) = (state.matrix(1).to_vec(), state.matrix(2).to_vec());
        // Rows of the design for one answer of worker 0: first moment, two pairs, the triple.
        let mut design: Vec<[f64; 2]> = vec![[0.3, 0.7]];
        for other in [&a, &b] {
            design.extend((0..2).map(|l| [0.3 * other[l * 2], 0.7 * other[l * 2 + 1]]));
        }
        design
            .extend((0..4).map(|at| [0, 1].map(|k| state.prior[k] * a[at / 2 * 2 + k] * b[at % 2 * 2 + k])));
        let mut expected = [0.0; 4];
        add_gram(
            design.as_flattened(),
            design.as_flattened(),
            2,
            1.0,
            &mut expected,
        );
        assert_close(&moments.worker_system(&state, 0).0, &expected, 1e-12);
    }

    #[test]
    fn the_objective_does_not_rise() {
        let fit = TensorAdmm {
            sweeps: 40,
            ..TensorAdmm::default()
        }
        .fit(&toy_a(), &mut Context::new(0))
        .unwrap();
        assert!(
            fit.trace.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9),
            "{:?}",
            fit.trace
        );
        assert_eq!(fit.notes[0], "4 triples of workers, all that share a task");
    }

    #[test]
    fn workers_without_overlap_keep_their_start_and_it_is_said() {
        let annotations = Annotations::from_codes(2, 2, 2, [(0, 0, 1), (1, 1, 0)]).unwrap();
        let fit = TensorAdmm::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        assert_eq!(fit.consensus.labels(), [1, 0]);
        assert!(fit.warnings[0].contains("majority vote"));
    }
}
