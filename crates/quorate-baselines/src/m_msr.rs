//! M-MSR: skills from the agreement of pairs of workers, by rank-one completion that ignores extremes.
//!
//! ```text
//! C_mj = K/(K-1) (share of common tasks with the same answer) - 1/(K-1),      E[C_mj] = s_m s_j,   m != j
//! s_m = (K p_m - 1) / (K - 1),   p_m the accuracy of worker m
//! ```
//!
//! Symbols: `C` is `Agreements`, `|s| = u = v` up to scale, `F` is `trim`, `Nb(m)` the workers that share a
//! task with `m`.
//!
//! 1. Count `C` over the pairs that share tasks. `F = floor(min_m |Nb(m)| / 2) - 1`, at least 0, over workers
//!    with neighbours.
//! 2. Start `u = v` even. Repeat: `v_j` = mean of the ratios `|C_ij| / u_i` over `i` in `Nb(j)` without
//!    extremes, then `u_i` likewise from `v`. Extremes: of the ratios below the present value the `F`
//!    smallest, of those above the `F` largest. Until `u v'` moves by less than `tol`, or `max-iter` sweeps.
//! 3. `|s_m| = u_m / sqrt(|u| / |v|)`.
//! 4. Signs: in the graph with an edge for each `C_mj < 0` and a path of two edges for each `C_mj > 0`, the
//!    eigenvector of the smallest eigenvalue of the normalised adjacency matrix tells the two camps apart;
//!    the larger sum is good.
//! 5. `s` is kept `1/sqrt(N)` inside its bounds; `p = (s (K-1) + 1) / K`; labels are those of the one-coin
//!    model with flat prior, that is votes weighted by `ln((K-1) p / (1-p))`.
//!
//! `O(sum_n d_n^2)` to count, `O(|E| log |E|)` a sweep for `|E|` pairs, `O(|E|)` memory (Lanczos keeps some
//! vectors of that length). Withstands colluding minorities; needs workers that share tasks with many others,
//! and fails where workers lean towards a class. Trimmed means can have several fixed points, among which the
//! start decides.
//!
//! Differs from the paper: an even start for a random one (the result does not depend on names); pairs
//! without common tasks are left out; workers that agree with nobody to speak of (their row of `C` sums to 0)
//! get `s = 0`; signs are found for each connected crowd on its own, since nothing relates one crowd to
//! another. Without any pair: majority vote.
//!
//! Q. Ma, A. Olshevsky, "Adversarial crowdsourcing through robust rank-one matrix completion", NeurIPS 2020.

use quorate::internal::linalg::lanczos::largest_eigenpairs;
use quorate::internal::linalg::small::{dot, norm_squared};
use quorate::internal::model::reserve_confusions;
use quorate::internal::parallel::{balanced_ranges, map_ranges, map_rows};
use quorate::methods::{Aggregate, Fit, vote_fractions};
use quorate::model::{DawidSkene, posterior};
use quorate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// Robust rank-one completion of pairwise agreement.
    pub struct MMsr {
        /// largest number of sweeps
        max_iter: usize in 1..=1_000_000 = 10000,
        /// stops when the rank-one matrix moves by less than this (Frobenius norm)
        tol: f64 in 0..=1 = 1e-10,
    }
    name: "m-msr",
    aliases: ["mmsr"],
    summary: "Skills from pairwise agreement, by robust rank-one completion",
    description: "How often two workers agree is the product of their skills; the skills are recovered from \
                  all pairs with the extreme ratios left out, so that a minority of adversaries cannot \
                  spoil them. Needs workers that share tasks with many others; one skill a worker, so it \
                  fails where workers lean towards a class.",
    citation: "Q. Ma, A. Olshevsky: Adversarial crowdsourcing through robust rank-one matrix completion. \
               NeurIPS 2020",
    facts: [returns_model, canonical_order],
}

/// Skill of every worker at the start.
const START: f64 = 0.5;

/// Divisors are at least this.
const FLOOR: f64 = 1e-12;

/// Residual, against the largest eigenvalue, at which the signs are settled; and the most steps that may
/// take.
const SIGN_TOL: f64 = 1e-10;
const LANCZOS_STEPS: u64 = 240;

impl Aggregate for MMsr {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        reserve_pairs(annotations, context)?;
        reserve_confusions(annotations, context)?;
        let agreements = context.run(|| Agreements::count(annotations));
        if annotations.class_count() < 2 || agreements.value.is_empty() {
            let mut fit = context.run(|| Fit::counted(annotations, vote_fractions(annotations)));
            let warning = "no two workers can be compared: the labels are those of the majority vote";
            fit.warnings.push(warning.to_owned());
            return Ok(fit);
        }
        let tasks = annotations.task_count();
        let (mut skills, sweeps, converged) = self.complete(&agreements, tasks, context)?;
        context.reserve(
            "the eigenvector that tells good workers from adversaries",
            8 * LANCZOS_STEPS * (agreements.starts.len() + agreements.value.len() / 2) as u64,
            "use another method, or raise the limit",
        )?;
        let signs = context.run(|| agreements.find_signs());
        skills
            .iter_mut()
            .zip(signs)
            .for_each(|(skill, sign)| *skill *= sign);
        let accuracy = to_accuracies(&skills, annotations.class_count(), tasks);
        let classes = annotations.class_count();
        let model = DawidSkene::one_coin(vec![1.0 / classes as f64; classes], &accuracy);
        let consensus = context.run(|| posterior(annotations, &model).0);
        Ok(Fit {
            model: Some(model),
            worker_scores: Some(skills),
            iterations: sweeps,
            converged,
            ..Fit::direct(consensus)
        })
    }
}

impl MMsr {
    /// Steps 2 and 3: absolute skills, sweeps done, and whether they stand still.
    fn complete(
        &self,
        agreements: &Agreements,
        tasks: usize,
        context: &mut Context,
    ) -> Result<(Vec<f64>, usize, bool)> {
        let trim = agreements.trim();
        let mut u = vec![START; agreements.starts.len() - 1];
        let (mut v, mut old_u, mut old_v) = (u.clone(), u.clone(), u.clone());
        let (mut sweeps, mut converged) = (0, false);
        while sweeps < self.max_iter && !converged {
            context.step("robust completion", sweeps, Some(self.max_iter))?;
            sweeps += 1;
            old_u.copy_from_slice(&u);
            old_v.copy_from_slice(&v);
            context.run(|| {
                agreements.average_ratios(&u, &mut v, trim, tasks);
                agreements.average_ratios(&v, &mut u, trim, tasks);
            });
            converged = distance(&u, &v, &old_u, &old_v) < self.tol;
        }
        let balance = (norm_squared(&u) / norm_squared(&v)).powf(0.25);
        let known = balance.is_finite() && balance > 0.0;
        let balance = if known { balance } else { 1.0 };
        u.iter_mut().for_each(|skill| *skill /= balance);
        Ok((u, sweeps, converged))
    }
}

/// `C` for the pairs of workers that share tasks, compressed by worker; each pair stands twice.
#[derive(Debug, Clone, PartialEq)]
struct Agreements {
    starts: Vec<u32>,
    neighbour: Vec<u32>,
    value: Vec<f64>,
}

impl Agreements {
    fn count(annotations: &Annotations) -> Self {
        let (workers, classes) = (annotations.worker_count(), annotations.class_count() as f64);
        let by_worker = annotations.by_worker();
        let parts = map_ranges(balanced_ranges(by_worker.starts(), 64), |range| {
            let mut counts = vec![(0u32, 0u32); workers];
            let mut rows = Vec::with_capacity(range.len());
            for worker in range {
                let mut neighbours = Vec::new();
                for (task, answer) in by_worker.labels(worker) {
                    for (other, other_answer) in annotations.labels_of_task(task) {
                        let (common, same) = &mut counts[other];
                        if *common == 0 {
                            neighbours.push(other);
                        }
                        *common += 1;
                        *same += u32::from(answer == other_answer);
                    }
                }
                neighbours.sort_unstable();
                let mut row = Vec::with_capacity(neighbours.len());
                for other in neighbours {
                    let (common, same) = std::mem::take(&mut counts[other]);
                    if other != worker {
                        let share = f64::from(same) / f64::from(common);
                        row.push((other as u32, (classes * share - 1.0) / (classes - 1.0).max(1.0)));
                    }
                }
                rows.push(row);
            }
            rows
        });
        let (starts, neighbour, value) = (vec![0], Vec::new(), Vec::new());
        let mut agreements = Self {
            starts,
            neighbour,
            value,
        };
        for row in parts.into_iter().flatten() {
            agreements.neighbour.extend(row.iter().map(|(other, _)| other));
            agreements.value.extend(row.iter().map(|(_, value)| value));
            agreements.starts.push(agreements.value.len() as u32);
        }
        agreements
    }

    fn row(&self, worker: usize) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let range = self.starts[worker] as usize..self.starts[worker + 1] as usize;
        let pairs = self.neighbour[range.clone()].iter().zip(&self.value[range]);
        pairs.map(|(&other, &value)| (other as usize, value))
    }

    /// `F`: extremes left out on each side.
    fn trim(&self) -> usize {
        let degrees = self.starts.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        let least = degrees.filter(|&degree| degree > 0).min().unwrap_or(0);
        (least / 2).saturating_sub(1)
    }

    /// One half of a sweep: `target_j` = mean of `|C_ij| / source_i` without extremes.
    fn average_ratios(&self, source: &[f64], target: &mut [f64], trim: usize, tasks: usize) {
        map_rows(balanced_ranges(&self.starts, 64), target, 1, |workers, part| {
            let mut ratios = Vec::new();
            for (worker, target) in workers.zip(part) {
                ratios.clear();
                let ratio = |(other, value): (usize, f64)| value.abs() / source[other].max(FLOOR);
                ratios.extend(self.row(worker).map(ratio));
                match trim_extremes(&mut ratios, trim, *target) {
                    [] => {}
                    // A lone 0 would stay 0 for ever.
                    [0.0] => *target = 1.0 / (tasks as f64).sqrt(),
                    kept => *target = kept.iter().sum::<f64>() / kept.len() as f64,
                }
            }
        });
    }

    /// Step 4: +1 or -1 for each worker, 0 for those whose row of `C` sums to 0.
    fn find_signs(&self) -> Vec<f64> {
        let workers = self.starts.len() - 1;
        let sum = |worker| self.row(worker).map(|(_, value)| value).sum::<f64>();
        let valid: Vec<bool> = (0..workers).map(|worker| sum(worker).abs() > FLOOR).collect();
        let is_edge = |&(other, value): &(usize, f64)| valid[other] && value.abs() > FLOOR;
        let edges = |worker: usize| self.row(worker).filter(is_edge);
        let mut signs = vec![0.0; workers];
        let mut place = vec![usize::MAX; workers];
        for first in (0..workers).filter(|&worker| valid[worker]) {
            if place[first] != usize::MAX {
                continue;
            }
            // The connected crowd of `first`, and its edges with workers by their place in it.
            let mut crowd = vec![first];
            place[first] = 0;
            let mut next = 0;
            while next < crowd.len() {
                for (other, _) in edges(crowd[next]) {
                    if place[other] == usize::MAX {
                        place[other] = crowd.len();
                        crowd.push(other);
                    }
                }
                next += 1;
            }
            let pairs = crowd.iter().flat_map(|&worker| {
                let ordered = edges(worker).filter(move |&(other, _)| other > worker);
                ordered.map(move |(other, value)| (worker, other, value > 0.0))
            });
            let pairs: Vec<_> = pairs.map(|(m, j, agree)| (place[m], place[j], agree)).collect();
            for (&worker, sign) in crowd.iter().zip(split_camps(crowd.len(), &pairs)) {
                signs[worker] = sign;
            }
        }
        signs
    }
}

/// The camps of a connected crowd, from its agreeing and disagreeing pairs: +1 for the camp with the larger
/// sum.
fn split_camps(workers: usize, pairs: &[(usize, usize, bool)]) -> Vec<f64> {
    let mut degree = vec![0.0f64; workers];
    for &(m, j, _) in pairs {
        degree[m] += 1.0;
        degree[j] += 1.0;
    }
    let scale: Vec<f64> = degree.iter().map(|degree| 1.0 / degree.max(1.0).sqrt()).collect();
    // Nodes: the workers, then the middle of each agreeing pair, whose degree is 2.
    let nodes = workers + pairs.iter().filter(|(_, _, agree)| *agree).count();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let negated_adjacency = |x: &[f64], out: &mut [f64]| {
        out.fill(0.0);
        let mut middle = workers;
        for &(m, j, agree) in pairs {
            if agree {
                out[m] -= half * scale[m] * x[middle];
                out[j] -= half * scale[j] * x[middle];
                out[middle] = -half * (scale[m] * x[m] + scale[j] * x[j]);
                middle += 1;
            } else {
                out[m] -= scale[m] * scale[j] * x[j];
                out[j] -= scale[m] * scale[j] * x[m];
            }
        }
    };
    let eigen = largest_eigenpairs(nodes, 1, SIGN_TOL, negated_adjacency);
    let entries = eigen.vectors[0].iter().zip(&scale).map(|(x, scale)| x * scale);
    let against = entries.clone().sum::<f64>() < 0.0;
    let good = if against { -1.0 } else { 1.0 };
    entries
        .map(|entry| if entry * good < 0.0 { -1.0 } else { 1.0 })
        .collect()
}

/// Leaves out up to `trim` values below `reference` (the smallest) and up to `trim` above it (the largest).
fn trim_extremes(values: &mut [f64], trim: usize, reference: f64) -> &[f64] {
    if trim == 0 {
        return values;
    }
    values.sort_unstable_by(f64::total_cmp);
    let below = values.partition_point(|&value| value < reference).min(trim);
    let above = values.len() - values.partition_point(|&value| value <= reference);
    &values[below..values.len() - above.min(trim).min(values.len() - below)]
}

/// Frobenius norm of `u v' - old_u old_v'`, from the differences alone so that it does not drown in rounding.
fn distance(u: &[f64], v: &[f64], old_u: &[f64], old_v: &[f64]) -> f64 {
    let minus = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
    let (du, dv) = (minus(u, old_u), minus(v, old_v));
    // u v' - u0 v0' = du v' + u0 dv'.
    let square = norm_squared(&du) * norm_squared(v)
        + norm_squared(old_u) * norm_squared(&dv)
        + 2.0 * dot(&du, old_u) * dot(v, &dv);
    square.max(0.0).sqrt()
}

/// Step 5: accuracies of skills kept inside their bounds.
fn to_accuracies(skills: &[f64], classes: usize, tasks: usize) -> Vec<f64> {
    let (wrong, margin) = ((classes - 1) as f64, 1.0 / (tasks as f64).sqrt());
    let high = (1.0 - margin).max(0.0);
    let low = (margin - 1.0 / wrong).min(0.0);
    let accuracy = |skill: &f64| (skill.clamp(low, high) * wrong + 1.0) / classes as f64;
    skills.iter().map(accuracy).collect()
}

/// Refuses pairs that would not fit in memory.
fn reserve_pairs(annotations: &Annotations, context: &Context) -> Result<()> {
    let workers = annotations.worker_count() as u64;
    let sizes = annotations.task_starts().windows(2);
    let shared: u64 = sizes.map(|ends| u64::from(ends[1] - ends[0]).pow(2)).sum();
    context.reserve(
        format!("the agreement of pairs among {workers} workers"),
        28 * shared.min(workers * workers),
        "use a method that does not compare workers in pairs, or raise the limit",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_a, toy_b};

    fn accuracies(annotations: &Annotations) -> (Vec<f64>, Fit) {
        let fit = MMsr::default().fit(annotations, &mut Context::new(0)).unwrap();
        let model = fit.model.as_ref().unwrap();
        let workers = 0..annotations.worker_count();
        (
            workers.map(|worker| model.probability(worker, 0, 0)).collect(),
            fit,
        )
    }

    #[test]
    fn toy_a_by_hand() {
        let annotations = toy_a();
        let agreements = Agreements::count(&annotations);
        let rows = [
            0.75, 0.5, 0.25, 0.75, 0.25, -0.125, 0.5, 0.25, 0.25, 0.25, -0.125, 0.25,
        ];
        assert_close(&agreements.value, &rows, 1e-12);
        assert_eq!(agreements.trim(), 0);
        let (accuracy, fit) = accuracies(&annotations);
        assert_close(&accuracy, &[0.727834, 0.679318, 0.727834, 0.533088], 1e-6);
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
        assert!(fit.converged);
    }

    #[test]
    fn toy_b_by_hand() {
        let annotations = toy_b();
        let agreements = Agreements::count(&annotations);
        assert_close(
            &agreements.value[..4],
            &[0.75, 0.428571, 0.142857, -0.428571],
            1e-6,
        );
        assert_eq!(agreements.trim(), 1);
        let (accuracy, fit) = accuracies(&annotations);
        // Printed from a random start. With trimming the limit depends on the start: five of six random ones
        // gave this, one 0.677 for worker 1, the even start 0.69026.
        assert_close(
            &accuracy,
            &[0.823223, 0.690302, 0.756365, 0.218492, 0.176777],
            1e-4,
        );
        assert_eq!(fit.consensus.labels(), [1, 1, 1, 1, 0, 0, 0, 0]);
    }

    /// `C = s s'` off the diagonal, all pairs observed.
    fn rank_one(skills: &[f64]) -> Agreements {
        let mut agreements = Agreements {
            starts: vec![0],
            neighbour: Vec::new(),
            value: Vec::new(),
        };
        for (m, a) in skills.iter().enumerate() {
            for (j, b) in skills.iter().enumerate().filter(|&(j, _)| j != m) {
                agreements.neighbour.push(j as u32);
                agreements.value.push(a * b);
            }
            agreements.starts.push(agreements.value.len() as u32);
        }
        agreements
    }

    const SKILLS: [f64; 9] = [0.9, 0.8, -0.7, 0.6, 0.5, 0.4, 0.3, -0.2, 0.85];

    fn complete(agreements: &Agreements) -> Vec<f64> {
        MMsr::default()
            .complete(agreements, 100, &mut Context::new(0))
            .unwrap()
            .0
    }

    #[test]
    fn exact_rank_one_is_recovered_with_its_signs() {
        let agreements = rank_one(&SKILLS);
        let found: Vec<f64> = complete(&agreements)
            .iter()
            .zip(agreements.find_signs())
            .map(|(skill, sign)| skill * sign)
            .collect();
        assert_close(&found, &SKILLS, 1e-8);
    }

    #[test]
    fn corrupted_pairs_are_ignored() {
        let mut agreements = rank_one(&SKILLS);
        for (m, j) in [(0, 1), (2, 3), (4, 5)] {
            for (row, column) in [(m, j), (j, m)] {
                let cell = row * 8 + column - usize::from(column > row);
                agreements.value[cell] = 0.95 - agreements.value[cell].abs();
            }
        }
        assert_eq!(agreements.trim(), 3);
        assert_close(&complete(&agreements), &SKILLS.map(f64::abs), 1e-8);
    }

    #[test]
    fn extremes_on_both_sides_of_the_reference_are_left_out() {
        let mut values = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(trim_extremes(&mut values, 1, 3.0), [2.0, 3.0, 4.0]);
        assert_eq!(trim_extremes(&mut values, 2, 1.5), [2.0, 3.0]);
        assert_eq!(trim_extremes(&mut values, 9, 0.0), [0.0; 0]);
    }
}
