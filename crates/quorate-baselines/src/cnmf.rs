//! CNMF: coupled factorisation of all pairwise co-occurrences under the Kullback-Leibler loss.
//!
//! ```text
//! minimise  F = sum_{m<j observed} w_mj sum_{a,b} R_mj(a, b) ln( R_mj(a, b) / S_mj(a, b) ),      S_mj = A_m D A_j^T
//! ```
//!
//! over confusion matrices `A_m` and the prior (`D = Diag(prior)`). With `w_mj` the number of shared tasks,
//! `-F` is the pairwise composite log-likelihood up to a constant.
//!
//! 1. Start from MultiSPA; workers it cannot estimate start from vote shares; flat prior. Every entry at
//!    least 1e-6: a multiplicative update never leaves a zero.
//! 2. `multiplicative` (default): `G_m = sum_j A_m o ((w R_mj / S_mj) A_j) D` for all workers at once, then
//!    `A_m(., k) = G_m(., k) / sum`, `prior(k) ~ sum of G_m(., k)`. This is EM for "a truth drawn anew for
//!    each pair": F does not rise, and nothing depends on an order.
//! 3. `mirror` (published): worker after worker, up to 3 steps `A o exp(-s G)`, columns scaled to 1, with `G
//!    = -sum_j w (R_mj / S_mj) A_j D` and a step found by backtracking from 0.1; then one such step for the
//!    prior. Uses blocks of rank above 1. Workers go in the natural order of their names.
//! 4. `sweeps` sweeps, Bayes' rule.
//!
//! The number of sweeps is a regulariser: at convergence F is lower and the error higher, so 10 is the
//! default. Time `O(K^3)` an observed pair and sweep (`mirror`: some thirty times that), memory `K^2` numbers
//! a pair.
//!
//! `F = 0` does not prove that the truth was found: that needs specialists for all classes on both sides.
//! Pairs count once each, so tasks with many labels count more than under the full likelihood.
//!
//! Differs from the paper: the multiplicative update and the weights by default, because they gave lower or
//! equal errors without a step size. `update=mirror weights=equal min-blocks=8 prior=flat` is what the
//! published figures were made with: the compared program tests the step for the prior against a cost of
//! another scale, so that with more than 1000 pairs the prior never moves.
//!
//! S. Ibrahim, X. Fu, N. Kargas, K. Huang, "Crowdsourcing via pairwise co-occurrences: identifiability and
//! algorithms", NeurIPS 2019.

use rayon::prelude::*;

use super::multi_spa::{blocks_above_rank, estimate_workers, min_blocks};
use quorate::internal::linalg::small::{
    add, add_scaled, column_sums, multiply_transposed, normalise, normalise_columns,
};
use quorate::internal::statistics::PairBlocks;
use quorate::methods::{Aggregate, Fit, PriorUse, vote_fractions};
use quorate::model::{DawidSkene, count_answers, posterior};
use quorate::{Annotations, Context, Result, declare_method, declare_words};

declare_method! {
    /// CNMF.
    pub struct Cnmf {
        /// all blocks at once by a multiplicative update, or worker by worker by mirror descent (published)
        update: CnmfUpdate = Multiplicative,
        /// weight of a pair: the number of tasks it shares, or the same for all (published)
        weights: PairWeights = Shared,
        /// whether the prior is estimated or stays flat (as it did in the compared runs with over 1000 pairs)
        prior: PriorUse = Estimated,
        ..min_blocks,
        /// largest number of sweeps; many sweeps fit noise
        sweeps: usize in 1..=1_000_000 = 10,
        /// stops when a sweep lowers the loss by less than this share
        tol: f64 in 0..=1 = 1e-6,
    }
    name: "cnmf",
    aliases: ["multi-spa-kl"],
    summary: "Coupled factorisation of pairwise co-occurrences, Kullback-Leibler loss",
    description: "Fits confusion matrices and prior to the co-occurrences of all pairs of workers, starting \
                  from multi-spa. Uses pairs where EM uses whole tasks, which makes it less sure of itself \
                  and robust on sparse data. Ten sweeps: more lower the loss and raise the error. \
                  update=mirror weights=equal min-blocks=8 prior=flat is the published form.",
    citation: "S. Ibrahim, X. Fu, N. Kargas, K. Huang: Crowdsourcing via pairwise co-occurrences: \
               identifiability and algorithms. NeurIPS 2019",
    facts: [returns_model, canonical_order],
}

declare_words! {
    /// How blocks are updated.
    pub enum CnmfUpdate {
        /// All at once, closed form.
        Multiplicative = "multiplicative",
        /// One after the other, mirror descent.
        Mirror = "mirror",
    }
}

declare_words! {
    /// Weight of a pair of workers.
    pub enum PairWeights {
        /// The number of tasks that it shares.
        Shared = "shared",
        /// The same for all (published).
        Equal = "equal",
    }
}

impl Aggregate for Cnmf {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        let votes = context.run(|| vote_fractions(annotations));
        let fill = context.run(|| count_answers(annotations, &votes)).to_model(0.0);
        let blocks = PairBlocks::observed(annotations, context)?;
        let estimate = context.run(|| estimate_workers(&blocks, &fill, self.min_blocks));
        let flat = vec![1.0 / classes as f64; classes];
        let mut model = floored(DawidSkene::new(flat, estimate.confusion));
        let problem = context.run(|| Problem::new(&blocks, self));
        let order = annotations.workers().natural_order();
        let mut trace = Vec::new();
        let (mut iterations, mut converged) = (0, false);
        while iterations < self.sweeps {
            context.step("sweeps", iterations, Some(self.sweeps))?;
            let before = match self.update {
                CnmfUpdate::Multiplicative => {
                    let (next, before) = context.run(|| multiplicative_sweep(&problem, &model));
                    let flat = self.prior == PriorUse::Flat;
                    let prior = if flat { model.prior() } else { next.prior() };
                    model = DawidSkene::new(prior.to_vec(), next.confusions().to_vec());
                    before
                }
                CnmfUpdate::Mirror => {
                    let before = context.run(|| problem.loss(&model));
                    mirror_sweep(&problem, &mut model, &order);
                    if self.prior == PriorUse::Estimated {
                        mirror_prior(&problem, &mut model);
                    }
                    before
                }
            };
            iterations += 1;
            let settled = |last: &f64| last - before <= self.tol * last.abs();
            converged = trace.last().is_some_and(settled);
            trace.push(before);
            if converged {
                break;
            }
        }
        trace.push(context.run(|| problem.loss(&model)));
        let (consensus, _) = context.run(|| posterior(annotations, &model));
        let mut fit = Fit {
            model: Some(model),
            trace,
            iterations,
            converged,
            ..Fit::direct(consensus)
        };
        estimate.summary.describe(&mut fit);
        if blocks.pair_count() == 0 {
            let warning =
                "no two workers share a task: the answer is one Dawid-Skene step from majority vote";
            fit.warnings.push(warning.into());
        }
        Ok(fit)
    }
}

/// Smallest entry of the start, and of S in mirror descent.
const FLOOR: f64 = 1e-6;

/// Smallest probability in a denominator.
const TINY: f64 = 1e-300;

/// The blocks and their weights.
struct Problem<'a> {
    blocks: &'a PairBlocks,
    /// Weight of each pair, mean 1; 0: not used.
    weights: Vec<f64>,
    /// S is floored at this before use.
    floor: f64,
}

impl<'a> Problem<'a> {
    fn new(blocks: &'a PairBlocks, settings: &Cnmf) -> Self {
        let pairs = blocks.pair_count();
        let equal = settings.weights == PairWeights::Equal;
        let weight = |pair| if equal { 1.0 } else { blocks.shared(pair) };
        let mut weights: Vec<f64> = (0..pairs).map(weight).collect();
        let mean = weights.iter().sum::<f64>() / pairs.max(1) as f64;
        weights.iter_mut().for_each(|weight| *weight /= mean);
        if settings.update == CnmfUpdate::Multiplicative {
            let floor = 0.0;
            return Self {
                blocks,
                weights,
                floor,
            };
        }
        for (weight, usable) in weights.iter_mut().zip(blocks_above_rank(blocks, 1)) {
            *weight = if usable { *weight } else { 0.0 };
        }
        let floor = FLOOR;
        Self {
            blocks,
            weights,
            floor,
        }
    }

    /// (neighbour, pair) of a worker over the pairs that are used.
    fn neighbours(&self, worker: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let neighbours = self.blocks.neighbours(worker);
        neighbours.filter(|&(_, pair)| self.weights[pair] > 0.0)
    }

    /// S = A Q^T, floored and scaled to sum 1 if there is a floor.
    fn expected(&self, a: &[f64], q: &[f64], s: &mut [f64]) {
        multiply_transposed(a, q, self.blocks.class_count(), s);
        if self.floor > 0.0 {
            s.iter_mut().for_each(|value| *value = value.max(self.floor));
            normalise(s);
        }
    }

    /// Loss of the pairs of one worker with matrix `a`; `q[j] = A_j D`.
    fn worker_loss(&self, worker: usize, a: &[f64], q: &[f64], others: impl Fn(usize) -> bool) -> f64 {
        let classes = self.blocks.class_count();
        let block = classes * classes;
        let mut s = vec![0.0; block];
        let mut loss = 0.0;
        for (other, pair) in self.neighbours(worker).filter(|&(other, _)| others(other)) {
            self.expected(a, &q[other * block..][..block], &mut s);
            for (cell, expected) in s.iter().enumerate() {
                let observed = self
                    .blocks
                    .cell((worker, other), pair, (cell / classes, cell % classes));
                if observed > 0.0 {
                    loss += self.weights[pair] * observed * (observed / expected.max(TINY)).ln();
                }
            }
        }
        loss
    }

    /// F.
    fn loss(&self, model: &DawidSkene) -> f64 {
        let q = scaled(model);
        let loss = |worker| self.worker_loss(worker, model.confusion(worker), &q, |other| other > worker);
        let parts: Vec<f64> = (0..model.worker_count()).into_par_iter().map(loss).collect();
        parts.iter().sum()
    }

    /// `sum_j (w R_mj / S_mj) Q_j` for one worker: minus the gradient of F.
    fn pull(&self, worker: usize, a: &[f64], q: &[f64]) -> Vec<f64> {
        let classes = self.blocks.class_count();
        let block = classes * classes;
        let (mut s, mut pull) = (vec![0.0; block], vec![0.0; block]);
        for (other, pair) in self.neighbours(worker) {
            let q = &q[other * block..][..block];
            self.expected(a, q, &mut s);
            for (cell, expected) in s.iter().enumerate() {
                let (answer, other_answer) = (cell / classes, cell % classes);
                let observed = self.blocks.cell((worker, other), pair, (answer, other_answer));
                if observed > 0.0 {
                    let ratio = self.weights[pair] * observed / expected.max(TINY);
                    let row = &q[other_answer * classes..][..classes];
                    add_scaled(&mut pull[answer * classes..], ratio, row);
                }
            }
        }
        pull
    }
}

/// `Q_j = A_j D` for all workers.
fn scaled(model: &DawidSkene) -> Vec<f64> {
    let cells = model.confusions().iter().zip(model.prior().iter().cycle());
    cells.map(|(a, p)| a * p).collect()
}

/// Every entry at least [`FLOOR`], columns scaled to sum 1.
fn floored(model: DawidSkene) -> DawidSkene {
    let classes = model.class_count();
    let mut confusion: Vec<f64> = model.confusions().iter().map(|value| value.max(FLOOR)).collect();
    let blocks = confusion.chunks_exact_mut(classes * classes);
    blocks.for_each(|block| normalise_columns(block, classes));
    DawidSkene::new(model.prior().to_vec(), confusion)
}

/// One multiplicative update of everything; also returns F before it.
fn multiplicative_sweep(problem: &Problem<'_>, model: &DawidSkene) -> (DawidSkene, f64) {
    let classes = model.class_count();
    let q = scaled(model);
    let update = |worker| {
        let a = model.confusion(worker);
        let loss = problem.worker_loss(worker, a, &q, |other| other > worker);
        let mut next = problem.pull(worker, a, &q);
        next.iter_mut().zip(a).for_each(|(cell, value)| *cell *= value);
        let mass = column_sums(&next, classes);
        for (cell, value) in next.iter_mut().enumerate() {
            let mass = mass[cell % classes];
            // A column without mass says nothing: keep the old one.
            *value = if mass > TINY { *value / mass } else { a[cell] };
        }
        (next, mass, loss)
    };
    let parts: Vec<_> = (0..model.worker_count()).into_par_iter().map(update).collect();
    let mut prior = vec![0.0; classes];
    let (mut confusion, mut loss) = (Vec::with_capacity(model.confusions().len()), 0.0);
    for (next, mass, part) in parts {
        confusion.extend(next);
        add(&mut prior, &mass);
        loss += part;
    }
    if prior.iter().sum::<f64>() > 0.0 {
        normalise(&mut prior);
    } else {
        prior = model.prior().to_vec();
    }
    (DawidSkene::new(prior, confusion), loss)
}

/// Steps of mirror descent on one worker in a sweep.
const MIRROR_STEPS: usize = 3;

/// One sweep of mirror descent: every worker with the newest others.
fn mirror_sweep(problem: &Problem<'_>, model: &mut DawidSkene, order: &[usize]) {
    let classes = model.class_count();
    let block = classes * classes;
    let mut confusion = model.confusions().to_vec();
    let mut q = scaled(model);
    for &worker in order {
        let mut a = confusion[worker * block..][..block].to_vec();
        for _ in 0..MIRROR_STEPS {
            let gradient: Vec<f64> = problem.pull(worker, &a, &q).iter().map(|value| -value).collect();
            let loss = |a: &[f64]| problem.worker_loss(worker, a, &q, |_| true);
            let Some(next) = mirror_step(&a, &gradient, classes, loss) else {
                break;
            };
            let (mut moved, mut size) = (0.0, 0.0);
            for (old, new) in a.iter().zip(&next) {
                moved += (old - new).powi(2);
                size += old * old;
            }
            a = next;
            if moved <= 1e-12 * size {
                break;
            }
        }
        confusion[worker * block..][..block].copy_from_slice(&a);
        for (cell, value) in q[worker * block..][..block].iter_mut().enumerate() {
            *value = a[cell] * model.prior()[cell % classes];
        }
    }
    *model = DawidSkene::new(model.prior().to_vec(), confusion);
}

/// One step of mirror descent on the prior.
fn mirror_prior(problem: &Problem<'_>, model: &mut DawidSkene) {
    let classes = model.class_count();
    let q = scaled(model);
    let mut gradient = vec![0.0; classes];
    for worker in 0..model.worker_count() {
        // sum_l A_m(l, k) pull(l, k) is prior(k) times minus the derivative, each pair twice.
        let pull = problem.pull(worker, model.confusion(worker), &q);
        for (cell, (value, a)) in pull.iter().zip(model.confusion(worker)).enumerate() {
            let k = cell % classes;
            gradient[k] -= 0.5 * value * a / model.prior()[k].max(TINY);
        }
    }
    let loss = |prior: &[f64]| problem.loss(&DawidSkene::new(prior.to_vec(), model.confusions().to_vec()));
    // The prior is a single column.
    if let Some(prior) = mirror_step(model.prior(), &gradient, 1, loss) {
        *model = DawidSkene::new(prior, model.confusions().to_vec());
    }
}

/// `x o exp(-s g)` with columns scaled to sum 1, at the first step `s = 0.1, 0.09, ..` that lowers the loss
/// enough.
fn mirror_step(
    x: &[f64],
    gradient: &[f64],
    columns: usize,
    loss: impl Fn(&[f64]) -> f64,
) -> Option<Vec<f64>> {
    let before = loss(x);
    let mut step = 0.1;
    while step >= 1e-5 {
        let mut next = x.to_vec();
        for k in 0..columns {
            let column = gradient[k..].iter().step_by(columns).copied();
            let steepest = column.fold(f64::INFINITY, f64::min);
            for at in (k..x.len()).step_by(columns) {
                next[at] *= (-step * (gradient[at] - steepest)).exp();
            }
        }
        normalise_columns(&mut next, columns);
        let moves = gradient.iter().zip(x.iter().zip(&next));
        let promised: f64 = moves.map(|(g, (old, new))| g * (old - new)).sum();
        if before - loss(&next) >= 1e-3 * promised {
            return Some(next);
        }
        step *= 0.9;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::multi_spa::tests::{A1, A2, A3, exact_blocks};
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_a};

    fn equal_weights() -> Cnmf {
        Cnmf {
            weights: PairWeights::Equal,
            ..Cnmf::default()
        }
    }

    fn start() -> DawidSkene {
        let matrix = [0.7, 0.15, 0.15, 0.15, 0.7, 0.15, 0.15, 0.15, 0.7];
        DawidSkene::new(vec![1.0 / 3.0; 3], [matrix; 3].concat())
    }

    #[test]
    fn multiplicative_sweeps_by_hand() {
        let blocks = exact_blocks([A1, A2, A3]);
        let problem = Problem::new(&blocks, &equal_weights());
        let mut model = start();
        let mut losses = Vec::new();
        for sweep in 0..4 {
            let (next, before) = multiplicative_sweep(&problem, &model);
            losses.push(before);
            model = next;
            if sweep == 0 {
                assert_close(model.prior(), &[0.433739, 0.325030, 0.241231], 1e-6);
                let first = [
                    0.864527, 0.195980, 0.223440, 0.079023, 0.718993, 0.167910, 0.056450, 0.085026, 0.608649,
                ];
                assert_close(model.confusion(0), &first, 1e-6);
            }
        }
        assert_close(&losses, &[0.362808, 0.084346, 0.052253, 0.032426], 1e-6);
    }

    #[test]
    fn the_truth_is_a_fixed_point() {
        let blocks = exact_blocks([A1, A2, A3]);
        let problem = Problem::new(&blocks, &equal_weights());
        let truth = DawidSkene::new(vec![0.5, 0.3, 0.2], [A1, A2, A3].concat());
        let (next, loss) = multiplicative_sweep(&problem, &truth);
        assert!(loss.abs() < 1e-14);
        assert_close(next.confusions(), truth.confusions(), 1e-12);
        assert_close(next.prior(), truth.prior(), 1e-12);
    }

    #[test]
    fn the_pull_is_minus_the_gradient() {
        let blocks = exact_blocks([A1, A2, A3]);
        let problem = Problem::new(&blocks, &equal_weights());
        let model = start();
        let q = scaled(&model);
        let pull = problem.pull(1, model.confusion(1), &q);
        for (cell, value) in pull.iter().enumerate() {
            let shifted = |by: f64| {
                let mut a = model.confusion(1).to_vec();
                a[cell] += by;
                problem.worker_loss(1, &a, &q, |_| true)
            };
            let slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
            assert!(
                (slope + value).abs() < 1e-6 * value.abs().max(1.0),
                "{slope} {value}"
            );
        }
    }

    #[test]
    fn the_loss_does_not_rise() {
        for update in [CnmfUpdate::Multiplicative, CnmfUpdate::Mirror] {
            let method = Cnmf {
                update,
                sweeps: 30,
                tol: 0.0,
                ..Cnmf::default()
            };
            let fit = method.fit(&toy_a(), &mut Context::new(0)).unwrap();
            for pair in fit.trace.windows(2) {
                assert!(
                    pair[1] <= pair[0] + 1e-9 * pair[0].abs().max(1.0),
                    "{update:?} {:?}",
                    fit.trace
                );
            }
            assert_eq!(fit.consensus.labels()[..5], [0, 0, 1, 1, 2]);
        }
    }
}
