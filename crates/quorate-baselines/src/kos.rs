//! KOS message passing: workers and tasks tell each other what they make of the other's answers.
//!
//! ```text
//! x_{n->m} = sum_{m' on n, m' != m} a_nm' y_{m'->n},      y_{m->n} = sum_{n' of m, n' != n} a_n'm x_{n'->m}
//! ```
//!
//! `a_nm` is the sign of worker m's answer to task n ([`thresholds`](crate::thresholds) for more than
//! two classes), `x` (`belief`) what task n believes of its truth without worker m, `y` (`trust`) how far
//! worker m's other answers agree with the beliefs. The model behind it is one reliability a worker; on a
//! random regular graph with many labels this decides as well as any method can, up to a constant.
//!
//! 1. `y = 1` (or Normal(1, 1), the original).
//! 2. `rounds` times: `x` from `y`, `y` from `x`, each as a total minus the own term; `y` divided by `max
//!    |y|`.
//! 3. Decide by `s_n = sum_m a_nm y_{m->n}`; the row of a task is the share of the weight `|y|` on either
//!    side, a zero score is a tie. Worker scores: the mean message of each worker, in units of the largest.
//!
//! Time `O(L)` a round and threshold, memory one number a label. No orientation step: that messages start at
//! a positive mean does it, so a majority of adversaries flips everything. The messages follow the leading
//! singular direction of the graph; where few workers gave most labels (heavy tails) it speaks of who
//! labelled what, not of truth, and the error is near one half while majority vote does well. Grades of
//! similar activity suit it.
//!
//! Differs from the paper: starts from ones, so nothing is random by default; a zero score is reported as a
//! tie instead of being drawn.
//!
//! D. R. Karger, S. Oh, D. Shah, "Budget-optimal task allocation for reliable crowdsourcing systems",
//! Operations Research 62 (2014); "Efficient crowdsourcing for multi-class labeling", SIGMETRICS 2013.

use rand_distr::{Distribution, Normal};

use crate::thresholds::{Decisions, Signs, fit_thresholds, in_units_of_largest};
use quorate::methods::{Aggregate, Fit};
use quorate::{Annotations, Context, Result, declare_method, declare_words};

declare_method! {
    /// KOS message passing.
    pub struct Kos {
        /// rounds of messages
        rounds: usize in 1..=1_000_000 = 10,
        /// first messages of the workers: all ones, or drawn from Normal(1, 1) with the seed (the original)
        start: KosStart = Ones,
    }
    name: "kos",
    aliases: ["kos-message-passing"],
    summary: "Iterative message passing between tasks and workers",
    description: "Each label carries two messages: what the task believes without this worker, and how far \
                  to trust the worker without this task. Made for two classes and for crowds where all \
                  workers give about the same number of labels; with more classes it asks K - 1 ordered \
                  questions, which suits grades. Poor, even near chance, where a few workers gave most \
                  labels.",
    citation: "D. R. Karger, S. Oh, D. Shah: Budget-optimal task allocation for reliable crowdsourcing \
               systems. Operations Research 62 (2014)",
    facts: [uses_class_order, canonical_order],
}

declare_words! {
    /// First messages of the workers.
    pub enum KosStart {
        /// All ones.
        Ones = "ones",
        /// Drawn from Normal(1, 1) with the seed.
        Normal = "normal",
    }
}

impl Aggregate for Kos {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let labels = annotations.label_count();
        let mut fit = fit_thresholds(annotations, context, "thresholds", |signs, votes, context| {
            let mut trust = match self.start {
                KosStart::Ones => vec![1.0; labels],
                KosStart::Normal => {
                    let normal = Normal::new(1.0, 1.0).expect("a valid spread");
                    let draws = normal.sample_iter(context.rng(signs.threshold as u64));
                    draws.take(labels).collect()
                }
            };
            for round in 0..self.rounds {
                context.step("messages", round, Some(self.rounds))?;
                pass_messages(signs, &mut trust);
            }
            if trust.iter().all(|&message| message == 0.0) {
                let why = "no worker shares tasks with others, so there are no messages to pass";
                return Ok(signs.majority(votes, why));
            }
            let above = signs.shares(|label, _| trust[label], 0.0);
            let weights = in_units_of_largest(mean_trust(annotations, &trust));
            let warnings = Vec::new();
            Ok(Decisions {
                above,
                weights,
                warnings,
            })
        })?;
        fit.iterations = self.rounds;
        Ok(fit)
    }
}

/// One round: beliefs from trust, trust from beliefs, scaled to a largest magnitude of 1. `trust` holds y in
/// the order of the labels by task; the beliefs take its place in between.
fn pass_messages(signs: Signs<'_>, trust: &mut [f64]) {
    let annotations = signs.annotations;
    let starts = annotations.task_starts();
    let mut totals = vec![0.0; annotations.worker_count()];
    for task in 0..annotations.task_count() {
        let messages = &mut trust[starts[task] as usize..starts[task + 1] as usize];
        let labels = annotations.labels_of_task(task);
        let signed = labels.clone().zip(messages.iter());
        let total: f64 = signed.map(|((_, answer), y)| signs.sign(answer) * y).sum();
        for ((worker, answer), message) in labels.zip(messages) {
            let sign = signs.sign(answer);
            *message = total - sign * *message;
            totals[worker] += sign * *message;
        }
    }
    let mut largest = 0.0f64;
    for task in 0..annotations.task_count() {
        let messages = &mut trust[starts[task] as usize..starts[task + 1] as usize];
        for ((worker, answer), message) in annotations.labels_of_task(task).zip(messages) {
            *message = totals[worker] - signs.sign(answer) * *message;
            largest = largest.max(message.abs());
        }
    }
    if largest > 0.0 {
        trust.iter_mut().for_each(|message| *message /= largest);
    }
}

/// Mean message of each worker.
fn mean_trust(annotations: &Annotations, trust: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; annotations.worker_count()];
    for ((_, worker, _), message) in annotations.iter().zip(trust) {
        sums[worker] += message;
    }
    let workers = sums.iter().zip(annotations.labels_per_worker());
    workers
        .map(|(sum, count)| sum / f64::from(count.max(1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_b};

    #[test]
    fn toy_b_after_one_round() {
        let annotations = toy_b();
        let signs = Signs {
            annotations: &annotations,
            threshold: 0,
        };
        let mut trust = vec![1.0; annotations.label_count()];
        pass_messages(signs, &mut trust);
        let starts = annotations.task_starts();
        let score = |task: usize| -> f64 {
            let messages = &trust[starts[task] as usize..starts[task + 1] as usize];
            annotations
                .labels_of_task(task)
                .zip(messages)
                .map(|((_, x), y)| signs.sign(x) * y)
                .sum()
        };
        // Worked example, before scaling: the largest message is 10.
        let scores: Vec<f64> = (0..8).map(score).collect();
        let unit = scores[2] / 14.0;
        assert_close(
            &scores,
            &[4.0, 0.0, 14.0, -8.0, -4.0, -24.0, 0.0, -4.0].map(|s| s * unit),
            1e-12,
        );
        let fit = Kos {
            rounds: 1,
            ..Kos::default()
        }
        .fit(&annotations, &mut Context::new(0))
        .unwrap();
        assert_eq!(
            (
                fit.consensus.tied(1),
                fit.consensus.tied(6),
                fit.consensus.tied(0)
            ),
            (2, 2, 1)
        );
    }

    #[test]
    fn messages_equal_the_definition() {
        let annotations = toy_b();
        let signs = Signs {
            annotations: &annotations,
            threshold: 0,
        };
        let labels: Vec<_> = annotations.iter().collect();
        let mut fast: Vec<f64> = (0..labels.len()).map(|label| 1.0 + 0.1 * label as f64).collect();
        let sum = |values: &[f64], keep: &dyn Fn(&(usize, usize, usize)) -> bool| -> f64 {
            let kept = labels.iter().zip(values).filter(|(label, _)| keep(label));
            kept.map(|(&(_, _, x), value)| signs.sign(x) * value).sum()
        };
        let x: Vec<f64> = labels
            .iter()
            .map(|&(n, m, _)| sum(&fast, &|l| l.0 == n && l.1 != m))
            .collect();
        let y: Vec<f64> = labels
            .iter()
            .map(|&(n, m, _)| sum(&x, &|l| l.1 == m && l.0 != n))
            .collect();
        let largest = y.iter().fold(0.0f64, |top, value| top.max(value.abs()));
        pass_messages(signs, &mut fast);
        assert_close(
            &fast,
            &y.iter().map(|value| value / largest).collect::<Vec<_>>(),
            1e-12,
        );
    }

    #[test]
    fn answers_without_overlap_are_majority_vote_and_said() {
        let annotations = Annotations::from_codes(2, 2, 2, [(0, 0, 1), (1, 1, 0)]).unwrap();
        let fit = Kos::default().fit(&annotations, &mut Context::new(0)).unwrap();
        assert_eq!(fit.consensus.labels(), [1, 0]);
        assert!(fit.warnings[0].contains("majority vote"));
    }
}
