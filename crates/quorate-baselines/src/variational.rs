//! Mean-field Bayesian classifier combination: Dirichlet priors on everything, classes made of subtypes.
//!
//! ```text
//! tau ~ Dir(alpha),  pi_k ~ Dir(a_pi/G, .., a_pi/G),  v_mkg ~ Dir(beta_k),  beta_k(l) = right if l = k else wrong
//! truth z_n ~ tau,  subtype s_n ~ pi_{z_n},  answer x_mn ~ v_{m z_n s_n}
//! ```
//!
//! Symbols: `G` is `subtypes`, `rho_n(k, g)` the row of task `n`, a component is the pair `c = k G + g`.
//! Repeat until no class posterior `q_n(k) = sum_g rho_n(k, g)` moves:
//!
//! ```text
//! eta(k, g) = a_pi/G + sum_n rho_n(k, g),   nu(k) = alpha(k) + sum_n q_n(k),   mu_m(l, c) = beta_k(l) + C_m(l, c)
//! rho_n(k, g) ~ exp( E ln tau(k) + E ln pi_k(g) + sum over labels (m, x) of E ln v_mkg(x) )
//! bound = sum_n ln sum_kg exp(..) - KL(tau) - sum_k KL(pi_k) - sum_mkg KL(v_mkg)        (does not fall)
//! ```
//!
//! It is the sweep of EM with expected logarithms for logarithms: `O(L K G)` a round and `O(M K^2 G)`
//! digammas; memory `O(M K^2 G + N K G)`. Subtypes that empty themselves (mass below 1e-12) are no longer
//! carried. With one subtype this is iBCC, with several EBCC.

use std::sync::Arc;

use quorate::internal::blocks::Passes;
use quorate::internal::linalg::small::{add, normalise};
use quorate::internal::model::{BlockFit, Sweep, SweepPass, find_first, sum_subtypes};
use quorate::internal::parallel::{even_ranges, map_rows};
use quorate::internal::{expect_dirichlet_logs, ln_gamma_and_digamma};
use quorate::methods::Fit;
use quorate::model::{AnswerCounts, Consensus, DawidSkene, Priors, count_answers};
use quorate::{Annotations, Context, Result};

/// A subtype with less mass than this over all tasks is empty.
const EMPTY: f64 = 1e-12;

/// Priors and stopping rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Variational {
    /// Largest number of rounds.
    pub max_iter: usize,
    /// Stops when no class posterior changed by more than this.
    pub tol: f64,
    /// `alpha(k)`: pseudo-count of each class.
    pub class_counts: Vec<f64>,
    /// Subtypes of each class, G.
    pub subtypes: usize,
    /// `a_pi`: pseudo-count of each class, shared by its subtypes.
    pub subtype_count: f64,
    /// `beta_k(k)`: pseudo-count of right answers.
    pub right: f64,
    /// `beta_k(l)`, `l != k`: pseudo-count of each wrong answer.
    pub wrong: f64,
}

impl Variational {
    /// Refuses what would not fit in memory.
    pub fn reserve(&self, passes: &Passes<'_>, context: &Context) -> Result<()> {
        let classes = passes.class_count() as u64;
        let components = classes * self.subtypes as u64;
        let cells = passes.worker_count() as u64 * classes * components;
        let rows = passes.cached_numbers((components + 2 * classes) as usize);
        let what = format!(
            "a {classes} x {components} table for each of {} workers",
            passes.worker_count()
        );
        let hint = "merge rare classes, use fewer subtypes, use majority-vote, or raise the limit";
        context.reserve(what, 8 * (4 * cells + rows), hint)
    }

    /// Iterates from the votes, with one subtype of each class.
    pub fn run_from_votes(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        self.reserve(passes, context)?;
        let counts = find_first(false, passes, context)?;
        self.run(passes, counts, context)
    }

    /// Iterates from component posteriors that are in memory, `[task][class][subtype]`.
    pub fn fit_components(
        &self,
        annotations: &Annotations,
        rows: Vec<f64>,
        context: &mut Context,
    ) -> Result<Fit> {
        let start = Consensus::new(annotations.class_count() * self.subtypes, rows);
        let counts = context.run(|| count_answers(annotations, &start));
        let mut blocks = annotations;
        let mut passes = Passes::over(&mut blocks);
        passes.set_rows(start.into_vec());
        let fit = self.run(&mut passes, counts, context)?;
        let rows = passes.into_rows();
        let mut posteriors = vec![0.0; annotations.task_count() * annotations.class_count()];
        sum_subtypes(&rows, rows.len() / posteriors.len().max(1), &mut posteriors);
        let consensus = Consensus::new(annotations.class_count(), posteriors);
        Ok(fit.map_consensus(|_| consensus))
    }

    /// Iterates from component posteriors that the passes know, and the answers against them.
    fn run(
        &self,
        passes: &mut Passes<'_>,
        mut counts: AnswerCounts,
        context: &mut Context,
    ) -> Result<BlockFit> {
        let (classes, components) = (passes.class_count(), passes.class_count() * self.subtypes);
        // Counts of classes and of earlier answers say nothing of subtypes.
        let priors = match self.subtypes {
            1 => context.priors(),
            _ => Default::default(),
        };
        priors.check(passes.worker_count(), classes)?;
        priors.add_to(&mut counts);
        let sweep = Sweep {
            prior: vec![0.0; components],
            cells: vec![0.0; counts.cells.len()],
            logarithms: true,
            hard: false,
        };
        let mut pass = SweepPass::new(sweep, true, true);
        pass.compared = true;
        let (mut trace, mut converged) = (Vec::new(), false);
        while trace.len() < self.max_iter && !converged {
            let sweep = Arc::make_mut(&mut pass.sweep);
            let divergence = context.run(|| self.expect_logs(&counts, &priors, sweep));
            let result = pass.run("variational", (trace.len(), self.max_iter), passes, context)?;
            trace.push(result.log_likelihood - divergence);
            counts = result.counts.expect("counts were asked for");
            priors.add_to(&mut counts);
            converged = result.largest_change <= self.tol;
            if let Some(live) = find_live(&counts.mass, classes) {
                passes.keep_columns(&live, counts.mass.len());
                counts = counts.select_truths(&live);
                let sweep = Arc::make_mut(&mut pass.sweep);
                sweep.prior.truncate(live.len());
                sweep.cells.truncate(counts.cells.len());
            }
        }
        Ok(Fit {
            model: Some(priors.fix(self.mean_model(&counts, classes))),
            iterations: trace.len(),
            trace,
            converged,
            ..Fit::direct(pass.sweep.into())
        })
    }

    /// Expected logarithms under the Dirichlet posteriors of these counts; returns their divergence from the
    /// priors.
    fn expect_logs(&self, counts: &AnswerCounts, priors: &Priors, sweep: &mut Sweep) -> f64 {
        let classes = self.class_counts.len();
        let live = counts.mass.len() / classes;
        let subtype_base = vec![self.subtype_count / self.subtypes as f64; self.subtypes];
        // Subtypes that were dropped stay at their prior.
        let (mut eta, mut log_pi) = (subtype_base.clone(), subtype_base.clone());
        let (nu, mut log_tau) = (self.class_parameters(counts), vec![0.0; classes]);
        let mut divergence = expect_dirichlet_logs(&nu, &self.class_counts, &mut log_tau);
        if let Some(shares) = priors.fixed_shares() {
            divergence = 0.0;
            log_tau = shares.iter().map(|share| share.ln()).collect();
        }
        // Pseudo-counts of the context belong to the priors that the divergence is from; what is left out is
        // a constant.
        divergence -= priors.expected_log(&log_tau, &[]);
        for (class, mass) in counts.mass.chunks_exact(live).enumerate() {
            for ((eta, mass), base) in eta.iter_mut().zip(mass).zip(&subtype_base) {
                *eta = mass + base;
            }
            divergence += expect_dirichlet_logs(&eta, &subtype_base, &mut log_pi);
            for (log, log_pi) in sweep.prior[class * live..][..live].iter_mut().zip(&log_pi) {
                *log = log_tau[class] + log_pi;
            }
        }
        let block = classes * counts.mass.len();
        let ranges = even_ranges(counts.worker_count(), 16);
        let parts = map_rows(ranges, &mut sweep.cells, block, |workers, logs| {
            let mut columns = DirichletColumns::new(self, classes, live);
            workers
                .zip(logs.chunks_exact_mut(block))
                .map(|(worker, logs)| columns.expect_logs(counts.worker(worker), logs))
                .sum::<f64>()
        });
        divergence + parts.into_iter().sum::<f64>() - priors.expected_log(&[], &sweep.cells)
    }

    /// `nu(k) = alpha(k) + sum_n q_n(k)`.
    fn class_parameters(&self, counts: &AnswerCounts) -> Vec<f64> {
        let masses = counts
            .mass
            .chunks_exact(counts.mass.len() / self.class_counts.len());
        let parameter = |(mass, alpha): (&[f64], &f64)| alpha + mass.iter().sum::<f64>();
        masses.zip(&self.class_counts).map(parameter).collect()
    }

    /// `prior = nu / sum nu`, `A_m(l, k) = sum_g E pi_k(g) mu_m(l, kg) / sum_l mu_m(l, kg)`.
    fn mean_model(&self, counts: &AnswerCounts, classes: usize) -> DawidSkene {
        let (components, live) = (counts.mass.len(), counts.mass.len() / classes);
        let mut prior = self.class_parameters(counts);
        normalise(&mut prior);
        let base = self.subtype_count / self.subtypes as f64;
        let (mut weights, mut dropped) = (Vec::with_capacity(components), Vec::with_capacity(classes));
        for mass in counts.mass.chunks_exact(live) {
            let total: f64 = mass.iter().sum::<f64>() + self.subtype_count;
            weights.extend(mass.iter().map(|mass| (mass + base) / total));
            dropped.push((self.subtypes - live) as f64 * base / total);
        }
        let base_sum = self.right + (classes - 1) as f64 * self.wrong;
        let mut confusion = vec![0.0; counts.worker_count() * classes * classes];
        for (worker, cells) in confusion.chunks_exact_mut(classes * classes).enumerate() {
            let counts = counts.worker(worker);
            let base = |answer, truth| if answer == truth { self.right } else { self.wrong };
            for (cell, value) in cells.iter_mut().enumerate() {
                let truth = cell % classes;
                *value = dropped[truth] * base(cell / classes, truth) / base_sum;
            }
            for (component, weight) in weights.iter().enumerate() {
                let truth = component / live;
                let column = counts.iter().skip(component).step_by(components);
                let scale = weight / (base_sum + column.clone().sum::<f64>());
                for (answer, count) in column.enumerate() {
                    cells[answer * classes + truth] += scale * (base(answer, truth) + count);
                }
            }
        }
        DawidSkene::new(prior, confusion)
    }
}

/// Expected logarithms of one worker's columns `v_mkg`, with the functions of the prior's own values at hand:
/// most cells of a sparse table never leave the prior.
struct DirichletColumns<'a> {
    settings: &'a Variational,
    classes: usize,
    /// Log-gamma and digamma of `right` and of `wrong`.
    right: (f64, f64),
    wrong: (f64, f64),
    /// `- ln B(beta_k)`, the same for every class.
    base: f64,
    /// Column sums and their digammas.
    sums: Vec<f64>,
}

impl<'a> DirichletColumns<'a> {
    fn new(settings: &'a Variational, classes: usize, live: usize) -> Self {
        let right = ln_gamma_and_digamma(settings.right);
        let wrong = ln_gamma_and_digamma(settings.wrong);
        let others = (classes - 1) as f64;
        let sum = ln_gamma_and_digamma(settings.right + others * settings.wrong).0;
        Self {
            settings,
            classes,
            right,
            wrong,
            base: sum - right.0 - others * wrong.0,
            sums: vec![0.0; classes * live],
        }
    }

    /// Writes `E ln v` for counts `[answer][component]`; returns the divergence of all columns from their
    /// priors.
    fn expect_logs(&mut self, counts: &[f64], logs: &mut [f64]) -> f64 {
        let (components, live) = (self.sums.len(), self.sums.len() / self.classes);
        let base_sum = self.settings.right + (self.classes - 1) as f64 * self.settings.wrong;
        self.sums.fill(base_sum);
        counts
            .chunks_exact(components)
            .for_each(|row| add(&mut self.sums, row));
        let mut divergence = 0.0;
        for sum in &mut self.sums {
            let (ln_gamma, digamma) = ln_gamma_and_digamma(*sum);
            divergence += ln_gamma - self.base;
            *sum = digamma;
        }
        let rows = counts
            .chunks_exact(components)
            .zip(logs.chunks_exact_mut(components));
        for (answer, (row, logs)) in rows.enumerate() {
            for component in 0..components {
                let (base, known) = if component / live == answer {
                    (self.settings.right, self.right)
                } else {
                    (self.settings.wrong, self.wrong)
                };
                let parameter = base + row[component];
                let moved = parameter != base;
                let (ln_gamma, digamma) = if moved {
                    ln_gamma_and_digamma(parameter)
                } else {
                    known
                };
                logs[component] = digamma - self.sums[component];
                divergence += row[component] * logs[component] - ln_gamma;
            }
        }
        divergence
    }
}

/// The components to keep, once every class has subtypes that no task belongs to: as many for each class as
/// the class with most of them needs. An empty subtype has only its prior to say and would cost as much as a
/// full one.
fn find_live(mass: &[f64], classes: usize) -> Option<Vec<usize>> {
    let present = mass.len() / classes;
    let filled = |mass: &[f64]| mass.iter().filter(|&&mass| mass > EMPTY).count();
    let needed = mass.chunks_exact(present).map(filled);
    let live = needed.max().unwrap_or(present).max(1);
    (live < present).then(|| {
        let mut kept = Vec::with_capacity(classes * live);
        for class in 0..classes {
            let mut subtypes: Vec<usize> = (class * present..(class + 1) * present).collect();
            subtypes.sort_by(|&a, &b| mass[b].total_cmp(&mass[a]));
            subtypes.truncate(live);
            subtypes.sort_unstable();
            kept.extend(subtypes);
        }
        kept
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_subtypes_are_dropped_from_every_class_alike() {
        let mass = [0.0, 3.0, 1e-13, 2.0, 1.0, 0.0, 0.0, 0.0];
        assert_eq!(find_live(&mass, 2), Some(vec![1, 3, 4, 5]));
        assert_eq!(find_live(&[1.0, 2.0, 1.0, 0.0], 2), None);
    }

    #[test]
    fn columns_agree_with_one_dirichlet_at_a_time() {
        let settings = Variational {
            max_iter: 1,
            tol: 0.0,
            class_counts: vec![1.0; 2],
            subtypes: 2,
            subtype_count: 0.1,
            right: 4.0,
            wrong: 1.0,
        };
        let counts = [0.5, 0.0, 2.0, 3.0, 1.5, 0.0, 0.25, 0.0];
        let mut logs = [0.0; 8];
        let divergence = DirichletColumns::new(&settings, 2, 2).expect_logs(&counts, &mut logs);
        let mut expected = 0.0;
        for component in 0..4 {
            let base = if component < 2 { [4.0, 1.0] } else { [1.0, 4.0] };
            let parameters = [base[0] + counts[component], base[1] + counts[4 + component]];
            let mut column = [0.0; 2];
            expected += expect_dirichlet_logs(&parameters, &base, &mut column);
            assert!((column[0] - logs[component]).abs() < 1e-12);
            assert!((column[1] - logs[4 + component]).abs() < 1e-12);
        }
        assert!((divergence - expected).abs() < 1e-12);
    }
}
