//! MACE: a worker either knows the truth or guesses from a favourite distribution of its own.
//!
//! ```text
//! Pr(x_mn = a | y_n = k) = guess_m xi_m(a) + know_m [a = k],   (guess_m, know_m) ~ Beta(1/2, 1/2),  xi_m ~ Dir(10, .., 10)
//! ```
//!
//! Symbols: `t_m = (guess, know)`, `xi_m` the distribution of guesses, `q_n` the posterior with a flat class prior,
//! `c_m0, c_m1` the expected numbers of guessed and known answers, `e_m(a)` those of guessed answers `a`.
//!
//! 1. Start: `t_m = (1/2, 1/2)`, `xi_m` uniform.
//! 2. E: `q_n(k) ~ prod (guess_m xi_m(x) + know_m [x = k])`; an answer `x` was known with probability
//!    `q_n(x) know_m / (guess_m xi_m(x) + know_m)`.
//! 3. M, variational: `t_mi = exp(psi(c_mi + 1/2) - psi(c_m0 + c_m1 + 1))`,
//!    `xi_m(a) = exp(psi(e_m(a) + 10) - psi(sum e_m + 10 K))`, used without normalising. M, plain (`update=em`):
//!    shares with `smoothing / K` added to each count.
//! 4. Repeat 2 and 3 `max-iter` times, always all of them; from `restarts` starts keep the one with the largest
//!    likelihood.
//!
//! `O(L + N K)` a round; memory `O(M K + N K)`. The quantity compared (the trace) is the sum of the logarithms of
//! step 2, under sub-normalised parameters for the variational update; it does not fall with `update=em,
//! smoothing=0`. Robust against spammers, who are recognised as guessers; blind to workers who confuse two classes.
//!
//! Differs from the paper: the first start is the even one above instead of a random one; each further start tempers
//! the votes of each task by a random weight before the first M-step, where the paper perturbs `t` and `xi`. So the
//! answer does not depend on the names of workers and classes; tasks draw in the order of their names. The
//! product over labels is taken in the log domain, so that it cannot underflow.
//!
//! D. Hovy, T. Berg-Kirkpatrick, A. Vaswani, E. Hovy, "Learning whom to trust with MACE", NAACL 2013.

use rand::RngExt;

use super::{Aggregate, Fit, beats, starting_votes};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use crate::model::{Consensus, DawidSkene, reserve_confusions, softmax_in_place};
use crate::parallel::{balanced_ranges, map_rows};
use crate::special::digamma;
use crate::{declare_method, declare_words};

declare_method! {
    /// MACE by (variational) EM from several starts.
    pub struct Mace {
        /// number of starts, of which the one with the largest likelihood is kept
        restarts: usize in 1..=10_000 = 10,
        /// rounds of each start
        max_iter: usize in 1..=1_000_000 = 50,
        /// how parameters follow from counts: variational, with priors, or plain em
        update: MaceUpdate = Variational,
        /// plain em: pseudo-count of each worker, shared by the classes
        smoothing: f64 in 0..=1e9 = 0.01,
    }
    name: "mace",
    aliases: ["multi-annotator-competence-estimation"],
    summary: "Each worker knows the truth or guesses from its own distribution",
    description: "Every answer is either known to be true or a guess from the worker's favourite answers; \
                  the share of known answers is the worker's competence. Finds spammers well, also those \
                  who always answer the same. Cannot express that a worker confuses two particular classes.",
    citation: "D. Hovy, T. Berg-Kirkpatrick, A. Vaswani, E. Hovy: Learning whom to trust with MACE. NAACL \
               2013",
    facts: [returns_model, learns_from_gold],
}

declare_words! {
    /// How parameters follow from expected counts.
    pub enum MaceUpdate {
        /// Exponentials of expected logarithms under the priors.
        Variational = "variational",
        /// Shares, with a pseudo-count of each worker shared by the classes.
        Em = "em",
    }
}

/// Pseudo-counts of knowing and guessing, and of each guess, in the variational update.
const KNOW_COUNT: f64 = 0.5;
const GUESS_COUNT: f64 = 10.0;

/// A start has settled if its last round changed the likelihood by less than this share. It does not stop for that:
/// starts are compared after the same number of rounds.
const SETTLED: f64 = 1e-6;

/// Probabilities are floored here before the logarithm.
const FLOOR: f64 = 1e-300;

impl Aggregate for Mace {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        reserve_confusions(annotations, context)?;
        let votes = starting_votes(annotations, context)?;
        let order = annotations.tasks().natural_order();
        let mut best: Option<(Guessers, Vec<f64>, Vec<f64>)> = None;
        for restart in 0..self.restarts {
            let mut workers = Guessers::even(annotations);
            if restart > 0 || annotations.has_gold() {
                let start = match restart {
                    0 => votes.as_slice().to_vec(),
                    _ => temper_votes(&votes, &order, &mut context.rng(restart as u64)),
                };
                let counts = context.run(|| count_known(annotations, &workers, &start));
                workers = self.maximise(&counts);
            }
            let mut rows = vec![0.0; annotations.task_count() * annotations.class_count()];
            let mut trace = Vec::with_capacity(self.max_iter);
            for round in 0..self.max_iter {
                context.step(
                    "MACE",
                    restart * self.max_iter + round,
                    Some(self.restarts * self.max_iter),
                )?;
                if round > 0 {
                    let counts = context.run(|| count_known(annotations, &workers, &rows));
                    workers = self.maximise(&counts);
                }
                trace.push(context.run(|| find_posteriors(annotations, &workers, &mut rows)));
            }
            if best.as_ref().is_none_or(|(_, _, best)| beats(&trace, best)) {
                best = Some((workers, rows, trace));
            }
        }
        let (workers, rows, trace) = best.expect("there is at least one start");
        Ok(Fit {
            model: Some(workers.to_model()),
            worker_scores: Some(
                (0..annotations.worker_count())
                    .map(|m| workers.competence(m))
                    .collect(),
            ),
            iterations: trace.len(),
            converged: trace
                .windows(2)
                .last()
                .is_some_and(|pair| (pair[1] - pair[0]).abs() <= SETTLED * pair[0].abs()),
            trace,
            ..Fit::direct(Consensus::new(annotations.class_count(), rows))
        })
    }
}

/// Parameters of all workers, or the expected counts that they follow from.
#[derive(Debug, Clone, PartialEq)]
struct Guessers {
    classes: usize,
    guess: Vec<f64>,
    know: Vec<f64>,
    /// `xi`, `[worker][answer]`.
    guesses: Vec<f64>,
}

impl Guessers {
    fn filled(workers: usize, classes: usize, known: f64, guesses: f64) -> Self {
        Self {
            classes,
            guess: vec![known; workers],
            know: vec![known; workers],
            guesses: vec![guesses; workers * classes],
        }
    }

    /// Knows half of the time, guesses evenly.
    fn even(annotations: &Annotations) -> Self {
        let classes = annotations.class_count();
        Self::filled(annotations.worker_count(), classes, 0.5, 1.0 / classes as f64)
    }

    /// Probability that the worker knows, normalised.
    fn competence(&self, worker: usize) -> f64 {
        self.know[worker] / (self.know[worker] + self.guess[worker]).max(FLOOR)
    }

    /// `A_m(a, k) = guess_m xi_m(a) + know_m [a = k]` with normalised parameters, flat prior.
    fn to_model(&self) -> DawidSkene {
        let classes = self.classes;
        let mut confusion = Vec::with_capacity(self.guesses.len() * classes);
        for (worker, guesses) in self.guesses.chunks_exact(classes).enumerate() {
            let (know, total) = (self.competence(worker), guesses.iter().sum::<f64>());
            for (answer, guess) in guesses.iter().enumerate() {
                let guessed = (1.0 - know) * guess / total;
                confusion.extend((0..classes).map(|k| guessed + if k == answer { know } else { 0.0 }));
            }
        }
        DawidSkene::new(vec![1.0 / classes as f64; classes], confusion)
    }
}

impl Mace {
    /// M-step: parameters from expected counts.
    fn maximise(&self, counts: &Guessers) -> Guessers {
        let mut workers = counts.clone();
        let classes = counts.classes;
        let share = |count: f64, total: f64, pseudo: f64, cells: usize| match self.update {
            MaceUpdate::Variational => {
                (digamma(count + pseudo) - digamma(total + pseudo * cells as f64)).exp()
            }
            MaceUpdate::Em => {
                let pseudo = self.smoothing / classes as f64;
                match total + pseudo * cells as f64 {
                    sum if sum > 0.0 => (count + pseudo) / sum,
                    _ => 1.0 / cells as f64,
                }
            }
        };
        for (worker, guesses) in workers.guesses.chunks_exact_mut(classes).enumerate() {
            let (guess, know) = (counts.guess[worker], counts.know[worker]);
            workers.guess[worker] = share(guess, guess + know, KNOW_COUNT, 2);
            workers.know[worker] = share(know, guess + know, KNOW_COUNT, 2);
            let total = guesses.iter().sum();
            guesses
                .iter_mut()
                .for_each(|count| *count = share(*count, total, GUESS_COUNT, classes));
        }
        workers
    }
}

/// E-step: posteriors into `rows`; returns the log-likelihood.
fn find_posteriors(annotations: &Annotations, workers: &Guessers, rows: &mut [f64]) -> f64 {
    let classes = annotations.class_count();
    // Logarithms once a worker and answer, not once a label: of a guess, and what it gains if the answer is true.
    let logs: Vec<(f64, f64)> = workers
        .guesses
        .iter()
        .enumerate()
        .map(|(cell, xi)| {
            let guess = (workers.guess[cell / classes] * xi).max(FLOOR);
            let right = guess + workers.know[cell / classes];
            (guess.ln(), right.ln() - guess.ln())
        })
        .collect();
    let flat = -(classes as f64).ln();
    let ranges = balanced_ranges(annotations.task_starts(), 64);
    let parts = map_rows(ranges, rows, classes, |tasks, rows| {
        let mut log_likelihood = 0.0;
        for (task, row) in tasks.zip(rows.chunks_exact_mut(classes)) {
            row.fill(0.0);
            let (mut base, mut labelled) = (flat, false);
            for (worker, answer) in annotations.labels_of_task(task) {
                let (guess, gain) = logs[worker * classes + answer];
                base += guess;
                row[answer] += gain;
                labelled = true;
            }
            annotations.pin_logs(task, row);
            let sum = softmax_in_place(row);
            log_likelihood += if labelled { base + sum } else { 0.0 };
        }
        log_likelihood
    });
    parts.into_iter().sum()
}

/// Expected numbers of known and guessed answers, given parameters and posteriors.
fn count_known(annotations: &Annotations, workers: &Guessers, rows: &[f64]) -> Guessers {
    let classes = annotations.class_count();
    let by_worker = annotations.by_worker();
    let mut counts = Guessers::filled(annotations.worker_count(), classes, 0.0, 0.0);
    let ranges = balanced_ranges(by_worker.starts(), 64);
    let parts = map_rows(ranges, &mut counts.guesses, classes, |range, guesses| {
        let mut sums = Vec::with_capacity(range.len());
        for (worker, guesses) in range.zip(guesses.chunks_exact_mut(classes)) {
            let (know, guess) = (workers.know[worker], workers.guess[worker]);
            let (mut known, mut guessed) = (0.0, 0.0);
            for (task, answer) in by_worker.labels(worker) {
                let right = know / (guess * workers.guesses[worker * classes + answer] + know).max(FLOOR);
                let expected = rows[task * classes + answer] * right;
                known += expected;
                guessed += 1.0 - expected;
                guesses[answer] += 1.0 - expected;
            }
            sums.push((guessed, known));
        }
        sums
    });
    (counts.guess, counts.know) = parts.into_iter().flatten().unzip();
    counts
}

/// The votes of each task, drawn towards the uniform distribution by a random weight, task by task in this order.
fn temper_votes(votes: &Consensus, order: &[usize], rng: &mut impl rand::Rng) -> Vec<f64> {
    let classes = votes.class_count();
    let mut rows = votes.as_slice().to_vec();
    for &task in order {
        let weight: f64 = rng.random();
        for share in &mut rows[task * classes..][..classes] {
            *share = weight * *share + (1.0 - weight) / classes as f64;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::tests::{assert_close, assert_rising, toy_b};

    #[test]
    fn toy_b_by_hand() {
        // Worked example from t = xi = 1/2: posteriors of class 1, likelihood, known answers, variational M-step.
        let annotations = toy_b();
        let workers = Guessers::even(&annotations);
        let mut rows = vec![0.0; 16];
        let likelihood = find_posteriors(&annotations, &workers, &mut rows);
        let second: Vec<f64> = rows.iter().skip(1).step_by(2).copied().collect();
        assert_close(
            &second,
            &[0.75, 0.964286, 0.9, 0.9, 0.25, 0.25, 0.035714, 0.1],
            1e-6,
        );
        assert_close(&[likelihood], &[-27.022286], 1e-6);
        let counts = count_known(&annotations, &workers, &rows);
        assert_close(
            &counts.know,
            &[4.585714, 4.052381, 3.319048, 2.414286, 1.919048],
            1e-6,
        );
        let labels: Vec<f64> = counts
            .know
            .iter()
            .zip(&counts.guess)
            .map(|(a, b)| a + b)
            .collect();
        assert_close(&labels, &[8.0, 8.0, 7.0, 7.0, 7.0], 1e-12);
        let updated = Mace::default().maximise(&counts);
        assert_close(
            &updated.guess,
            &[0.402866, 0.465388, 0.491923, 0.612179, 0.678046],
            1e-6,
        );
        assert_close(
            &updated.know,
            &[0.540246, 0.477674, 0.443863, 0.323911, 0.258470],
            1e-6,
        );
        assert_close(
            &updated.guesses[..4],
            &[0.491394, 0.487032, 0.520009, 0.458904],
            1e-6,
        );
    }

    #[test]
    fn the_likelihood_of_plain_em_does_not_fall() {
        let method = Mace::default().update(MaceUpdate::Em).smoothing(0.0);
        let fit = method.fit(&toy_b(), &mut Context::new(0)).unwrap();
        assert_rising(&fit.trace);
    }

    #[test]
    fn a_worker_who_always_answers_the_same_is_a_guesser() {
        // Five workers of accuracy 0.83 and one constant answerer, three classes, 300 tasks.
        let mut rng = crate::context::seeded(7, 0);
        let mut labels = Vec::new();
        for task in 0..300 {
            let truth: u16 = rng.random_range(0..3);
            for worker in 0..5 {
                let right = rng.random_bool(0.83);
                labels.push((
                    task,
                    worker,
                    if right {
                        truth
                    } else {
                        (truth + rng.random_range(1..3)) % 3
                    },
                ));
            }
            labels.push((task, 5, 0));
        }
        let annotations = Annotations::from_codes(300, 6, 3, labels).unwrap();
        let fit = Mace::default().fit(&annotations, &mut Context::new(1)).unwrap();
        let competence = fit.worker_scores.unwrap();
        assert!(competence[5] < 0.01, "{competence:?}");
        assert!(competence[..5].iter().all(|&c| c > 0.6), "{competence:?}");
    }
}
