//! Spectral Dawid-Skene: group confusion matrices from third-order moments, then EM.
//!
//! ```text
//! M2 = sum_k w_k mu_k mu_k^T,      M3 = sum_k w_k mu_k (x) mu_k (x) mu_k,      mu_k: column k of a group's confusion matrix
//! ```
//!
//! Three groups of workers are three independent views of the truth; their cross moments determine the
//! groups' matrices, a linear solve gives each worker's, and EM polishes.
//!
//! 1. Deal the workers, in their canonical order, to groups `(rank + 1) mod 3`. View of group g:
//!    `X_g(., n)`, the number of its answers of each class on task n (`views`).
//! 2. For each group c with the others a, b, and `E_uv = X_u X_v^T / N`: map both other views onto c's, `P_a
//!    = E_cb E_ab^-1`, `P_b = E_ca E_ba^-1`; `M2 = P_a E_ab P_b^T`, `M3 = T(P_a, P_b, I)` with T the raw
//!    third moment of (a, b, c). Whiten by `W = U S^(-1/2)` from `M2 = U S V^T` and decompose `M3(W, W, W)`
//!    by the tensor power method: each component gives `mu = alpha U S^(1/2) v` and `weight = alpha^-2`.
//!    Which component is which class: the assignment with the largest diagonal.
//! 3. For worker m of group c: `A_m = (Z_m X_ab^T / N) (diag(omega) B_ab^T)^-1` with `X_ab = X_a + X_b`,
//!    `B_ab = B_a + B_b`, `omega` the mean of the two groups' weights; entries at least 1e-6, columns scaled
//!    to sum 1.
//! 4. EM from these matrices with a flat prior, `rounds` rounds (the compared tables: 10 E-steps, 9 rounds).
//!
//! Moments take `O(L K)` and, a task, the product of the numbers of classes that occur in its three views;
//! power method `O(K^4)` times starts and steps at most; memory `O(K^3 + M K^2)`.
//!
//! Fails where a moment is singular (fewer than three workers, a group that never saw a class, spammers): the
//! start is then majority vote, and the result says so. A wrong placement in one group mixes classes up: it
//! shows in a mean diagonal below 1/K, which is said too. The groups, and so the answer, depend on the order
//! of the workers, which the labels decide.
//!
//! Differs from the paper, which groups at random and rotates nothing back; as in the authors' program M2 is
//! not made symmetric. Differs from that program: assignment instead of "the largest entry, else the first
//! free column", and probabilities of zero are floored in EM, not skipped.
//!
//! Y. Zhang, X. Chen, D. Zhou, M. I. Jordan, "Spectral methods meet EM: a provably optimal algorithm for
//! crowdsourcing", JMLR 17 (2016).

use crate::linalg::tensor_power::{tensor_components, transform_mode};
use quorate::internal::linalg::assignment;
use quorate::internal::linalg::small::{
    inverse, left_singular, multiply, multiply_transposed, normalise_columns, transpose,
};
use quorate::internal::model::{Em, EmStart};
use quorate::methods::{Aggregate, Fit};
use quorate::model::DawidSkene;
use quorate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// Spectral Dawid-Skene.
    pub struct SpectralDs {
        /// EM rounds after the spectral start, an M-step and an E-step each
        rounds: usize in 0..=1_000_000 = 9,
        /// random starts of the tensor power method
        starts: usize in 1..=1_000_000 = 100,
        /// largest number of steps from each start
        steps: usize in 1..=1_000_000 = 100,
    }
    name: "spectral-ds",
    aliases: ["spectral", "spectral-em"],
    summary: "Moments of three groups of workers, tensor decomposition, then EM",
    description: "Deals the workers into three groups, finds the groups' confusion matrices from \
                  third-order moments by a tensor power method, reads off each worker's matrix and polishes \
                  by EM. Needs no good start and many tasks; with few labels a class or many classes the \
                  moments are too noisy.",
    citation: "Y. Zhang, X. Chen, D. Zhou, M. I. Jordan: Spectral methods meet EM: a provably optimal \
               algorithm for crowdsourcing. JMLR 17 (2016)",
    facts: [returns_model, canonical_order],
}

impl Aggregate for SpectralDs {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let (workers, classes) = (
            annotations.worker_count() as u64,
            annotations.class_count() as u64,
        );
        context.reserve(
            format!("third-order moments of {classes} classes and matrices of {workers} workers"),
            8 * (8 * classes.pow(3) + 4 * workers * classes * classes),
            "merge rare classes, or use dawid-skene",
        )?;
        let em = Em {
            max_iter: self.rounds,
            tol: 0.0,
            flat_prior: true,
            ..Em::default()
        };
        let Some(model) = self.spectral_model(annotations, context)? else {
            let max_iter = self.rounds.max(1);
            let mut fit = Em { max_iter, ..em }.fit(annotations, EmStart::Votes, context)?;
            let warning = "the moments of the three groups of workers are singular (too few workers, or a group that \
                           never saw a class): EM starts from majority vote instead";
            fit.warnings.push(warning.into());
            return Ok(fit);
        };
        let weakest = weakest_class(&model);
        let mut fit = em.fit(annotations, EmStart::Model(model), context)?;
        fit.iterations = fit.iterations.max(1);
        if weakest * classes as f64 <= 1.0 && classes > 1 {
            fit.warnings.push(format!(
                "for some class the mean probability of a right answer is only {weakest:.2} in the spectral start: the \
                 classes may be mixed up"
            ));
        }
        Ok(fit)
    }
}

impl SpectralDs {
    /// Steps 1 to 3; `None` if a moment is singular.
    fn spectral_model(&self, annotations: &Annotations, context: &mut Context) -> Result<Option<DawidSkene>> {
        context.step("moments", 0, None)?;
        let group = deal_groups(annotations);
        let moments = GroupMoments::count(annotations, &group);
        let mut groups = Vec::with_capacity(3);
        for c in 0..3 {
            context.step("tensor decomposition", c, Some(3))?;
            let mut rng = context.rng(c as u64);
            let found = context.run(|| moments.decompose(c, self.starts, self.steps, &mut rng));
            let Some(found) = found else { return Ok(None) };
            groups.push(found);
        }
        Ok(solve_workers(annotations, &group, &groups))
    }
}

/// The group of each worker, by its place in the canonical order: the busiest three go to different groups.
fn deal_groups(annotations: &Annotations) -> Vec<usize> {
    (0..annotations.worker_count())
        .map(|rank| (rank + 1) % 3)
        .collect()
}

/// Cross moments of the three views, as sums over tasks divided by their number.
struct GroupMoments {
    classes: usize,
    /// `E_uv[l, l']` at `[u][v]`, u != v.
    second: [[Vec<f64>; 3]; 3],
    /// `T[i, j, k]` of groups 0, 1, 2.
    third: Vec<f64>,
}

/// A group's matrix (columns mu, row-major) and weights.
struct Group {
    columns: Vec<f64>,
    weights: Vec<f64>,
}

/// How often each class was answered by each group on one task: `views[group * K + class]`.
fn count_views(annotations: &Annotations, group: &[usize], task: usize, views: &mut [f64]) {
    let classes = annotations.class_count();
    views.fill(0.0);
    for (worker, answer) in annotations.labels_of_task(task) {
        views[group[worker] * classes + answer] += 1.0;
    }
}

impl GroupMoments {
    fn count(annotations: &Annotations, group: &[usize]) -> Self {
        let classes = annotations.class_count();
        let unit = 1.0 / annotations.task_count() as f64;
        let mut second: [[Vec<f64>; 3]; 3] =
            std::array::from_fn(|_| std::array::from_fn(|_| vec![0.0; classes * classes]));
        let mut third = vec![0.0; classes * classes * classes];
        let mut views = vec![0.0; 3 * classes];
        for task in 0..annotations.task_count() {
            count_views(annotations, group, task, &mut views);
            let present: [Vec<(usize, f64)>; 3] = std::array::from_fn(|g| {
                let view = views[g * classes..][..classes].iter().copied().enumerate();
                view.filter(|(_, count)| *count > 0.0).collect()
            });
            for u in 0..3 {
                for v in (0..3).filter(|&v| v != u) {
                    for &(l, x) in &present[u] {
                        for &(other, y) in &present[v] {
                            second[u][v][l * classes + other] += unit * x * y;
                        }
                    }
                }
            }
            for &(i, x) in &present[0] {
                for &(j, y) in &present[1] {
                    for &(k, z) in &present[2] {
                        third[(i * classes + j) * classes + k] += unit * x * y * z;
                    }
                }
            }
        }
        Self {
            classes,
            second,
            third,
        }
    }

    /// The raw third moment with modes in the order of groups a, b, c.
    fn third_in_order(&self, [a, b, c]: [usize; 3]) -> Vec<f64> {
        let n = self.classes;
        let stride = [n * n, n, 1];
        let cell =
            |at: usize| self.third[at / (n * n) * stride[a] + at / n % n * stride[b] + at % n * stride[c]];
        (0..n * n * n).map(cell).collect()
    }

    /// M2 and M3 as seen by group c.
    fn whole(&self, c: usize) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = self.classes;
        let (a, b) = ((c + 1) % 3, (c + 2) % 3);
        let map = |from: usize, other: usize| {
            let mut product = vec![0.0; n * n];
            let inverted = inverse(&self.second[from][other], n)?;
            multiply(&self.second[c][other], &inverted, n, &mut product);
            Some(product)
        };
        let (p_a, p_b) = (map(a, b)?, map(b, a)?);
        let (mut half, mut m2) = (vec![0.0; n * n], vec![0.0; n * n]);
        multiply(&p_a, &self.second[a][b], n, &mut half);
        multiply_transposed(&half, &p_b, n, &mut m2);
        let m3 = transform_mode(&self.third_in_order([a, b, c]), n, 0, &p_a);
        let m3 = transform_mode(&m3, n, 1, &p_b);
        let finite = m2.iter().chain(&m3).all(|value| value.is_finite());
        finite.then_some((m2, m3))
    }

    /// The matrix and weights of group c.
    fn decompose(&self, c: usize, starts: usize, steps: usize, rng: &mut impl rand::Rng) -> Option<Group> {
        let n = self.classes;
        let (m2, m3) = self.whole(c)?;
        let (u, s) = left_singular(&m2, n);
        if s[n - 1] <= 1e-12 * s[0] || s[0] <= 0.0 {
            return None;
        }
        // W^T, so that mode p of the whitened tensor is sum_i W[i, p] of mode i.
        let whiten = |(cell, x): (usize, &f64)| x / s[cell / n].sqrt();
        let whitener: Vec<f64> = transpose(&u, n).iter().enumerate().map(whiten).collect();
        let whitened = (0..3).fold(m3, |tensor, mode| transform_mode(&tensor, n, mode, &whitener));
        let mut columns = vec![0.0; n * n];
        let mut weights = vec![0.0; n];
        let components = tensor_components(whitened, n, starts, steps, rng);
        for (k, component) in components.iter().enumerate() {
            if component.alpha.is_nan() || component.alpha <= 1e-9 {
                return None;
            }
            weights[k] = component.alpha.powi(-2);
            for i in 0..n {
                let term = |p: usize| u[i * n + p] * s[p].sqrt() * component.vector[p];
                columns[i * n + k] = component.alpha * (0..n).map(term).sum::<f64>();
            }
        }
        let order = place_columns(&columns, n);
        let ordered = |row: &[f64]| -> Vec<f64> { order.iter().map(|&k| row[k]).collect() };
        Some(Group {
            columns: columns.chunks_exact(n).flat_map(ordered).collect(),
            weights: ordered(&weights),
        })
    }
}

/// Class k is column `order[k]`: the largest sum of diagonal entries of columns scaled to unit sum.
fn place_columns(columns: &[f64], n: usize) -> Vec<usize> {
    let sum = |k: usize| columns[k..].iter().step_by(n).map(|x| x.abs()).sum::<f64>();
    let sums: Vec<f64> = (0..n).map(sum).collect();
    let gain = columns
        .iter()
        .zip(sums.iter().cycle())
        .map(|(x, sum)| x / sum.max(1e-300));
    let gain: Vec<f64> = gain.collect();
    assignment::maximise(&gain, n)
}

/// Step 3: each worker's matrix from the two groups it is not in.
fn solve_workers(annotations: &Annotations, group: &[usize], groups: &[Group]) -> Option<DawidSkene> {
    const SMALLEST: f64 = 1e-6;
    let (tasks, n) = (annotations.task_count(), annotations.class_count());
    let mut products = vec![0.0; annotations.worker_count() * n * n];
    let mut views = vec![0.0; 3 * n];
    for task in 0..tasks {
        count_views(annotations, group, task, &mut views);
        for (worker, answer) in annotations.labels_of_task(task) {
            let (a, b) = ((group[worker] + 1) % 3, (group[worker] + 2) % 3);
            let row = &mut products[(worker * n + answer) * n..][..n];
            for (k, cell) in row.iter_mut().enumerate() {
                *cell += (views[a * n + k] + views[b * n + k]) / tasks as f64;
            }
        }
    }
    let mut solvers = Vec::with_capacity(3);
    for c in 0..3 {
        let (a, b) = (&groups[(c + 1) % 3], &groups[(c + 2) % 3]);
        // diag(omega) B_ab^T.
        let cell = |cell: usize| {
            let (k, l) = (cell / n, cell % n);
            (a.weights[k] + b.weights[k]) / 2.0 * (a.columns[l * n + k] + b.columns[l * n + k])
        };
        let system: Vec<f64> = (0..n * n).map(cell).collect();
        solvers.push(inverse(&system, n)?);
    }
    let mut confusion = Vec::with_capacity(products.len());
    let mut matrix = vec![0.0; n * n];
    for (worker, product) in products.chunks_exact(n * n).enumerate() {
        multiply(product, &solvers[group[worker]], n, &mut matrix);
        let floor = |value: f64| if value > SMALLEST { value } else { SMALLEST };
        matrix.iter_mut().for_each(|value| *value = floor(*value));
        normalise_columns(&mut matrix, n);
        confusion.extend_from_slice(&matrix);
    }
    let finite = confusion.iter().all(|value| value.is_finite());
    finite.then(|| DawidSkene::new(vec![1.0 / n as f64; n], confusion))
}

/// The smallest mean, over workers, of a diagonal entry.
fn weakest_class(model: &DawidSkene) -> f64 {
    let workers = model.worker_count();
    let sum = |k| {
        (0..workers)
            .map(|worker| model.probability(worker, k, k))
            .sum::<f64>()
    };
    let mean = |k| sum(k) / workers as f64;
    (0..model.class_count()).map(mean).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_b};

    const GROUPS: [[f64; 4]; 3] = [[0.8, 0.3, 0.2, 0.7], [0.7, 0.2, 0.3, 0.8], [0.9, 0.4, 0.1, 0.6]];
    const PRIOR: [f64; 2] = [0.6, 0.4];

    /// The exact moments of three workers, one in each group.
    fn exact_moments() -> GroupMoments {
        let chance = |g: usize, l: usize, k: usize| GROUPS[g][l * 2 + k];
        let second = std::array::from_fn(|u| {
            std::array::from_fn(|v| {
                let cell = |at: usize| {
                    (0..2)
                        .map(|k| PRIOR[k] * chance(u, at / 2, k) * chance(v, at % 2, k))
                        .sum()
                };
                (0..4).map(cell).collect()
            })
        });
        let cell = |at: usize| {
            (0..2)
                .map(|k| PRIOR[k] * chance(0, at / 4, k) * chance(1, at / 2 % 2, k) * chance(2, at % 2, k))
                .sum()
        };
        GroupMoments {
            classes: 2,
            second,
            third: (0..8).map(cell).collect(),
        }
    }

    #[test]
    fn exact_moments_give_the_groups() {
        let moments = exact_moments();
        let (m2, _) = moments.whole(2).unwrap();
        assert_close(&m2, &[0.55, 0.15, 0.15, 0.15], 1e-10);
        assert_close(&left_singular(&m2, 2).1, &[0.6, 0.1], 1e-10);
        for (c, matrix) in GROUPS.iter().enumerate() {
            let found = moments
                .decompose(c, 20, 100, &mut quorate::internal::seeded(1, 0))
                .unwrap();
            assert_close(&found.columns, matrix, 1e-9);
            assert_close(&found.weights, &PRIOR, 1e-9);
        }
    }

    #[test]
    fn finds_a_simulated_crowd() {
        // Nine workers, three classes, diagonals from 0.5 to 0.9, labels kept with probability 0.6.
        use rand::RngExt;
        let mut rng = quorate::internal::seeded(3, 0);
        let accuracy = |worker: u32| 0.5 + 0.05 * f64::from(worker);
        let mut labels = Vec::new();
        for task in 0..20_000u32 {
            let truth: u16 = rng.random_range(0..3);
            for worker in 0..9u32 {
                let (keep, right, shift): (f64, f64, u16) =
                    (rng.random(), rng.random(), rng.random_range(1..3));
                if keep < 0.6 {
                    let answer = if right < accuracy(worker) {
                        truth
                    } else {
                        (truth + shift) % 3
                    };
                    labels.push((task, worker, answer));
                }
            }
        }
        let annotations = Annotations::from_codes(20_000, 9, 3, labels).unwrap();
        let model = SpectralDs::default()
            .spectral_model(&annotations, &mut Context::new(1))
            .unwrap()
            .unwrap();
        for worker in 0..9 {
            for cell in 0..9 {
                let right = accuracy(worker as u32);
                let wanted = if cell % 4 == 0 { right } else { (1.0 - right) / 2.0 };
                assert!(
                    (model.confusion(worker)[cell] - wanted).abs() < 0.06,
                    "{:?}",
                    model.confusion(worker)
                );
            }
        }
    }

    #[test]
    fn too_few_workers_start_from_votes_and_it_is_said() {
        let two = Annotations::from_codes(
            4,
            2,
            2,
            (0..8).map(|cell| (cell / 2, cell % 2, (cell / 4) as u16)),
        )
        .unwrap();
        let fit = SpectralDs::default().fit(&two, &mut Context::new(0)).unwrap();
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1]);
        assert!(fit.warnings[0].contains("majority vote"));
        // A tiny table is answered, one way or the other.
        assert_eq!(
            SpectralDs::default()
                .fit(&toy_b(), &mut Context::new(0))
                .unwrap()
                .consensus
                .len(),
            8
        );
    }
}
