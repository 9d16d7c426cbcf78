//! A method to copy: one reliability for each worker, by EM.
//!
//! ```text
//! q_n(k) ~ prod over labels (m, x) of task n of   s_m if x = k, else (1 - s_m) / (K - 1)
//! s_m    = (a + sum over m's labels of q_n(x)) / (2 a + number of m's labels)
//! ```
//!
//! `q` is the posterior, `s` the reliability (`reliability`), `a` the pseudo-count (`smoothing`).
//!
//! 1. Start: `q` is the share of the votes.
//! 2. Reliabilities from the posteriors.
//! 3. Posteriors from the reliabilities; the objective is the log-likelihood plus the log of the pseudo-counts.
//! 4. Again from 2 until no posterior changes by more than `tol`.
//!
//! `O(L + N K)` a round. Fails where workers lean to a class: they have no confusion matrix. Reference: the
//! publication, and where this differs from it.
//!
//! `cargo run --release -p quorate --example new_method` compares it with others. CONTRIBUTING.md says how it
//! becomes a method of the library.

use quorate::methods::{Aggregate, Fit, vote_fractions};
use quorate::{Annotations, Consensus, Context, DawidSkene, Result, declare_method};

declare_method! {
    /// One reliability for each worker.
    pub struct NewMethod {
        /// largest number of rounds
        max_iter: usize in 1..=1_000_000 = 1000,
        /// stops when no posterior changes by more than this
        tol: f64 in 0..=1 = 1e-9,
        /// pseudo-count of right and of wrong answers of every worker
        smoothing: f64 in 1e-3..=1e9 = 1,
    }
    name: "new-method",
    aliases: [],
    summary: "One reliability for each worker, by EM",
    description: "What the model is, when to use it, when it fails: a paragraph for `quorate methods NAME`.",
    citation: "Authors: title. Venue year",
    facts: [returns_model],
}

impl Aggregate for NewMethod {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        let mut posterior = vote_fractions(annotations).into_vec();
        let mut reliability = self.reliability(annotations, &posterior);
        let (mut trace, mut converged) = (Vec::new(), false);
        while !converged && trace.len() < self.max_iter {
            context.step("new-method", trace.len(), Some(self.max_iter))?;
            let before = posterior.clone();
            trace.push(self.update_posterior(annotations, &reliability, &mut posterior));
            reliability = self.reliability(annotations, &posterior);
            let change = posterior.iter().zip(&before).map(|(a, b)| (a - b).abs());
            converged = change.fold(0.0, f64::max) <= self.tol;
        }
        let model = DawidSkene::one_coin(vec![1.0 / classes as f64; classes], &reliability);
        Ok(Fit {
            model: Some(model),
            worker_scores: Some(reliability),
            iterations: trace.len(),
            converged,
            trace,
            ..Fit::direct(Consensus::new(classes, posterior))
        })
    }
}

impl NewMethod {
    fn reliability(&self, annotations: &Annotations, posterior: &[f64]) -> Vec<f64> {
        let mut right = vec![self.smoothing; annotations.worker_count()];
        for (task, worker, label) in annotations.iter() {
            right[worker] += posterior[task * annotations.class_count() + label];
        }
        let labels = annotations.labels_per_worker();
        let all = labels
            .iter()
            .map(|&labels| f64::from(labels) + 2.0 * self.smoothing);
        right.iter().zip(all).map(|(right, all)| right / all).collect()
    }

    /// Returns the objective.
    fn update_posterior(&self, annotations: &Annotations, reliability: &[f64], posterior: &mut [f64]) -> f64 {
        let classes = annotations.class_count();
        let others = classes.max(2) as f64 - 1.0;
        let expected = |s: &f64| self.smoothing * (s * (1.0 - s)).ln();
        let mut objective: f64 = reliability.iter().map(expected).sum();
        for (task, row) in posterior.chunks_exact_mut(classes).enumerate() {
            // Logarithms: a product of thousands of probabilities is 0.
            row.fill(0.0);
            for (worker, label) in annotations.labels_of_task(task) {
                let (right, wrong) = (reliability[worker], (1.0 - reliability[worker]) / others);
                for (class, log) in row.iter_mut().enumerate() {
                    *log += if class == label { right.ln() } else { wrong.ln() };
                }
            }
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|log| *log = (*log - largest).exp());
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|weight| *weight /= total);
            objective += largest + (total / classes as f64).ln();
        }
        objective
    }
}

#[allow(dead_code)] // not part of a method's file
pub(crate) fn main() -> Result<()> {
    use quorate::methods::find;
    use quorate::simulate::Simulation;

    let crowd = Simulation::default().run(1)?;
    for method in [&NewMethod::METHOD, find("majority-vote")?, find("dawid-skene")?] {
        let fit = method
            .with_defaults()?
            .fit(&crowd.annotations, &mut Context::new(0))?;
        let labels = fit.consensus.labels();
        let wrong = labels.iter().zip(&crowd.truth).filter(|(a, b)| a != b).count();
        println!(
            "{:<15} {wrong:>4} of {} labels are wrong",
            method.name,
            labels.len()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two who agree and one who does not, on two tasks; worked by hand.
    #[test]
    fn one_round_by_hand() {
        let labels = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 1), (1, 1, 1), (1, 2, 0)];
        let annotations = Annotations::from_codes(2, 3, 2, labels).unwrap();
        let method = NewMethod::default().max_iter(1);
        let fit = method.fit(&annotations, &mut Context::new(0)).unwrap();
        // Votes of 2/3 and 1/3: reliabilities (1 + 4/3) / 4 = 7/12 twice, and (1 + 2/3) / 4 = 5/12.
        let odds: f64 = (7.0 / 5.0) * (7.0 / 5.0) * (7.0 / 5.0);
        assert!((fit.consensus.row(0)[0] - odds / (1.0 + odds)).abs() < 1e-12);
        assert!(!fit.converged);
    }

    #[test]
    fn the_objective_never_falls() {
        let crowd = quorate::simulate::Simulation::default().run(3).unwrap();
        let fit = NewMethod::default()
            .fit(&crowd.annotations, &mut Context::new(0))
            .unwrap();
        assert!(fit.converged);
        for pair in fit.trace.windows(2) {
            assert!(pair[1] >= pair[0] - 1e-9 * pair[0].abs(), "{:?}", fit.trace);
        }
    }
}
