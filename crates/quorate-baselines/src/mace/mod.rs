//! MACE: a worker either knows the truth or guesses from a favourite distribution of its own.
//!
//! ```text
//! Pr(x_mn = a | y_n = k) = guess_m xi_m(a) + know_m [a = k],   (guess_m, know_m) ~ Beta(1/2, 1/2),  xi_m ~ Dir(10, .., 10)
//! ```
//!
//! Symbols: `t_m = (guess, know)`, `xi_m` the distribution of guesses, `q_n` the posterior with a flat class
//! prior, `c_m0, c_m1` the expected numbers of guessed and known answers, `e_m(a)` those of guessed answers
//! `a`.
//!
//! 1. Start: `t_m = (1/2, 1/2)`, `xi_m` uniform.
//! 2. E: `q_n(k) ~ prod (guess_m xi_m(x) + know_m [x = k])`; an answer `x` was known with probability
//!    `q_n(x) know_m / (guess_m xi_m(x) + know_m)`.
//! 3. M, variational: `t_mi = exp(psi(c_mi + 1/2) - psi(c_m0 + c_m1 + 1))`, `xi_m(a) = exp(psi(e_m(a) + 10) -
//!    psi(sum e_m + 10 K))`, used without normalising. M, plain (`update=em`): shares with `smoothing / K`
//!    added to each count.
//! 4. Repeat 2 and 3 `max-iter` times, always all of them; from `restarts` starts keep the one with the
//!    largest likelihood.
//! 5. Of two starts that approach each other the later one is dropped (`race.rs`): by the last round they
//!    would differ by less than 1e-4 in every parameter, so that there is nothing to choose between them.
//!
//! `O(L + N K)` a round, E- and M-step in one pass over the labels, up to eight starts at a time side by side
//! (`pass.rs`); memory `O(M K + N)` for each of these, `O(M K)` for each of up to sixteen starts, and `O(N
//! K)`. The quantity compared (the trace) is the sum of the logarithms of step 2, under sub-normalised
//! parameters for the variational update; it does not fall with `update=em, smoothing=0`. Robust against
//! spammers, who are recognised as guessers; blind to workers who confuse two classes.
//!
//! Differs from the paper: the first start is the even one above instead of a random one; each further start
//! tempers the votes of each task by a random weight before the first M-step, where the paper perturbs `t`
//! and `xi`. Tasks draw in the canonical order of the table, so that no names matter. The product over labels
//! is taken in the log domain, so that it cannot underflow.
//!
//! D. Hovy, T. Berg-Kirkpatrick, A. Vaswani, E. Hovy, "Learning whom to trust with MACE", NAACL 2013.

mod guessers;
mod pass;
mod race;
mod starts;

use guessers::Guessers;
use quorate::internal::parallel::{balanced_ranges, map_rows};
use quorate::internal::{reserve_confusions, softmax_in_place, starting_votes};
use quorate::methods::{Aggregate, Fit};
use quorate::model::Consensus;
use quorate::{Annotations, Context, Result, declare_method, declare_words};
use race::Race;

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
    facts: [returns_model, learns_from_gold, canonical_order],
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

/// A start has settled if its last round changed the likelihood by less than this share. It does not stop for
/// that: starts are compared after the same number of rounds.
const SETTLED: f64 = 1e-6;

/// Probabilities are floored here before the logarithm.
const FLOOR: f64 = 1e-300;

impl Aggregate for Mace {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        reserve_confusions(annotations, context)?;
        let votes = starting_votes(annotations, context)?;
        let given = context.run(|| count_given(annotations));
        let best = Race::new(self, annotations, &votes, &given).run(context)?;
        drop(votes);
        let (workers, trace) = (best.guessers(annotations.class_count()), best.trace);
        let mut rows = vec![0.0; annotations.task_count() * annotations.class_count()];
        context.run(|| find_posteriors(annotations, &workers, &mut rows));
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

/// Number of labels of each worker and answer, `[worker][answer]`.
fn count_given(annotations: &Annotations) -> Vec<f64> {
    let classes = annotations.class_count();
    let mut given = vec![0.0; annotations.worker_count() * classes];
    for (_, worker, answer) in annotations.iter() {
        given[worker * classes + answer] += 1.0;
    }
    given
}

/// E-step: posteriors into `rows`; returns the log-likelihood.
fn find_posteriors(annotations: &Annotations, workers: &Guessers, rows: &mut [f64]) -> f64 {
    let classes = annotations.class_count();
    // Logarithms once a worker and answer, not once a label: of a guess, and what it gains if the answer is
    // true.
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

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::starts::Starts;
    use super::*;
    use quorate_testkit::toys::{assert_close, assert_rising, toy_b};

    #[test]
    fn toy_b_by_hand() {
        // Worked example from t = xi = 1/2: posteriors of class 1, likelihood, known answers, variational
        // M-step.
        let annotations = toy_b();
        let given = count_given(&annotations);
        let method = Mace::default();
        let mut parameters = [0.5; 20];
        let mut starts = Starts::<1>::new(&annotations, &given, (&method).into(), [&parameters]);
        let mut rows = vec![0.0; 16];
        let guessers = |parameters: &[f64]| {
            let mut found = Guessers::new(2);
            parameters
                .chunks_exact(4)
                .for_each(|worker| found.push(worker[0], worker[1], &worker[2..]));
            found
        };
        let likelihood = find_posteriors(&annotations, &guessers(&parameters), &mut rows);
        assert_close(&starts.expect(), &[likelihood], 1e-12);
        let second: Vec<f64> = rows.iter().skip(1).step_by(2).copied().collect();
        assert_close(
            &second,
            &[0.75, 0.964286, 0.9, 0.9, 0.25, 0.25, 0.035714, 0.1],
            1e-6,
        );
        assert_close(&[likelihood], &[-27.022286], 1e-6);
        // Known with probability q(x) / (1 + 1/2): half of the answers are known, a guess is right half of
        // the time.
        let labels = |worker: usize| annotations.by_worker().labels(worker);
        let known: Vec<f64> = (0..5)
            .map(|worker| {
                labels(worker)
                    .map(|(task, answer)| rows[2 * task + answer] / 1.5)
                    .sum()
            })
            .collect();
        assert_close(&known, &[4.585714, 4.052381, 3.319048, 2.414286, 1.919048], 1e-6);
        starts.maximise();
        starts.store(0, &mut parameters);
        let updated = guessers(&parameters);
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
        let mut rng = quorate::internal::seeded(7, 0);
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
