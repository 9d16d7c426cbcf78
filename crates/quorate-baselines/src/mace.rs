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
//! 4. Repeat 2 and 3 until a round changes the likelihood by less than `tol` of its size, at most `max-iter`
//!    times; from `restarts` starts keep the one with the largest likelihood.
//!
//! Step 2 is the sweep of EM under the model `A_m(a, k) = guess_m xi_m(a) + know_m [a = k]`: the numbers of
//! known answers follow from its counts `C_m(a, a)` (`c_m1 = sum_a C_m(a, a) know_m / A_m(a, a)`). `O(L K)` a
//! round; memory `O(M K^2 + N K)`. As in every sweep, probabilities are floored at 2^-52. The quantity
//! compared (the trace) is the log-likelihood of that model, of sub-normalised parameters for the variational
//! update; it does not fall with `update=em, smoothing=0`. Robust against spammers, who are recognised as
//! guessers; blind to workers who confuse two classes.
//!
//! Differs from the paper: the first start is the even one above instead of a random one; each further start
//! tempers the votes of each task by a random weight before the first M-step, where the paper perturbs `t`
//! and `xi`. Tasks draw in the canonical order of the table, so that no names matter.
//!
//! D. Hovy, T. Berg-Kirkpatrick, A. Vaswani, E. Hovy, "Learning whom to trust with MACE", NAACL 2013.

use quorate::internal::model::{Steps, reserve_confusions};
use quorate::internal::{digamma, starting_votes};
use quorate::methods::{Aggregate, Fit};
use quorate::model::{AnswerCounts, Consensus, DawidSkene, count_answers, posterior};
use quorate::{Annotations, Context, Result, declare_method, declare_words};
use rand::{Rng, RngExt};

use crate::restarts::beats;

declare_method! {
    /// MACE by (variational) EM from several starts.
    pub struct Mace {
        /// number of starts, of which the one with the largest likelihood is kept
        restarts: usize in 1..=10_000 = 10,
        /// largest number of rounds of each start
        max_iter: usize in 1..=1_000_000 = 50,
        /// a start stops when a round changes the likelihood by less than this share
        tol: f64 in 0..=1 = 1e-7,
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

/// Pseudo-counts of knowing and guessing, and of each guess, in the variational update.
const KNOW_COUNT: f64 = 0.5;
const GUESS_COUNT: f64 = 10.0;

impl Aggregate for Mace {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        reserve_confusions(annotations, context)?;
        let votes = starting_votes(annotations, context)?;
        let mut best: Option<Run> = None;
        let mut steps = Steps::default();
        for number in 0..self.restarts {
            let mut rng = context.rng(number as u64);
            let start = context.run(|| draw_start(number, annotations, &votes, &mut rng, self));
            let run = self.run(number, start, annotations, &mut steps, context)?;
            if best.as_ref().is_none_or(|best| beats(&run.trace, &best.trace)) {
                best = Some(run);
            }
        }
        let Run { workers, trace } = best.expect("there is at least one start");
        let (consensus, _) = context.run(|| posterior(annotations, &workers.to_model()));
        let workers = workers.normalised();
        Ok(Fit {
            model: Some(workers.to_model()),
            iterations: trace.len(),
            converged: self.has_settled(&trace),
            worker_scores: Some(workers.competence()),
            trace,
            ..Fit::direct(consensus)
        })
    }
}

impl Mace {
    /// All rounds of one start; there is no M-step after the last E-step.
    fn run(
        &self,
        number: usize,
        mut workers: Guessers,
        annotations: &Annotations,
        steps: &mut Steps,
        context: &mut Context,
    ) -> Result<Run> {
        let mut trace = Vec::new();
        for round in 0..self.max_iter {
            let done = number * self.max_iter + round;
            context.step("MACE", done, Some(self.restarts * self.max_iter))?;
            context.run(|| {
                let step = steps.take(annotations.as_block(), &workers.to_model());
                trace.push(step.log_likelihood);
                if round + 1 < self.max_iter && !self.has_settled(&trace) {
                    workers.maximise(&step.counts, self);
                }
            });
            if self.has_settled(&trace) {
                break;
            }
        }
        Ok(Run { workers, trace })
    }

    /// Whether the last round changed the likelihood by less than `tol` of its size.
    fn has_settled(&self, trace: &[f64]) -> bool {
        let last = trace.windows(2).last();
        last.is_some_and(|pair| (pair[1] - pair[0]).abs() <= self.tol * pair[0].abs())
    }

    /// Replaces expected counts by parameters.
    fn share(&self, counts: &mut [f64], pseudo: f64, classes: usize) {
        let (cells, sum) = (counts.len() as f64, counts.iter().sum::<f64>());
        match self.update {
            MaceUpdate::Variational => {
                let total = digamma(sum + pseudo * cells);
                let share = |count: &mut f64| *count = (digamma(*count + pseudo) - total).exp();
                counts.iter_mut().for_each(share);
            }
            MaceUpdate::Em => {
                let pseudo = self.smoothing / classes as f64;
                let total = sum + pseudo * cells;
                let share = |count: f64| {
                    if total > 0.0 {
                        (count + pseudo) / total
                    } else {
                        1.0 / cells
                    }
                };
                counts.iter_mut().for_each(|count| *count = share(*count));
            }
        }
    }
}

/// The even start, or one from votes that count less by a weight for each task, drawn in the order of the
/// tasks' names, a stream for each start. With gold the first start of all counts the votes as they are.
fn draw_start(
    number: usize,
    annotations: &Annotations,
    votes: &Consensus,
    rng: &mut impl Rng,
    method: &Mace,
) -> Guessers {
    let classes = votes.class_count();
    let mut workers = Guessers::even(annotations.worker_count(), classes);
    if number == 0 && !annotations.has_gold() {
        return workers;
    }
    let mut tempered = votes.as_slice().to_vec();
    if number > 0 {
        for task in annotations.tasks().natural_order() {
            let weight: f64 = rng.random();
            for vote in &mut tempered[task * classes..][..classes] {
                *vote = weight * *vote + (1.0 - weight) / classes as f64;
            }
        }
    }
    let counts = count_answers(annotations, &Consensus::new(classes, tempered));
    workers.maximise(&counts, method);
    workers
}

/// Where a start came to, and the log-likelihood of each round.
struct Run {
    workers: Guessers,
    trace: Vec<f64>,
}

/// Parameters of all workers.
#[derive(Debug, Clone)]
struct Guessers {
    classes: usize,
    /// `[worker][guess, know, xi..]`.
    parameters: Vec<f64>,
}

impl Guessers {
    /// Every worker knows half of the answers and guesses evenly.
    fn even(workers: usize, classes: usize) -> Self {
        let mut worker = vec![0.5, 0.5];
        worker.resize(2 + classes, 1.0 / classes as f64);
        Self {
            classes,
            parameters: worker.repeat(workers),
        }
    }

    /// M-step: the expected numbers of known answers, and of guessed ones, and what they are worth.
    fn maximise(&mut self, counts: &AnswerCounts, method: &Mace) {
        let classes = self.classes;
        for (worker, parameters) in self.parameters.chunks_exact_mut(2 + classes).enumerate() {
            let (own, guesses) = parameters.split_at_mut(2);
            let (mut guessed, mut known) = (0.0, 0.0);
            let answers = counts.worker(worker).chunks_exact(classes);
            for (answer, (truths, guess)) in answers.zip(&mut *guesses).enumerate() {
                let right = own[1] / (own[0] * *guess + own[1]).max(f64::MIN_POSITIVE);
                let known_here = truths[answer] * right;
                *guess = (truths.iter().sum::<f64>() - known_here).max(0.0);
                guessed += *guess;
                known += known_here;
            }
            own.copy_from_slice(&[guessed, known]);
            method.share(own, KNOW_COUNT, classes);
            method.share(guesses, GUESS_COUNT, classes);
        }
    }

    /// The same shares, adding up to one.
    fn normalised(mut self) -> Self {
        for parameters in self.parameters.chunks_exact_mut(2 + self.classes) {
            let (own, guesses) = parameters.split_at_mut(2);
            for shares in [own, guesses] {
                let sum = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
                shares.iter_mut().for_each(|share| *share /= sum);
            }
        }
        self
    }

    /// Probability of each worker to know an answer.
    fn competence(&self) -> Vec<f64> {
        let workers = self.parameters.chunks_exact(2 + self.classes);
        workers.map(|parameters| parameters[1]).collect()
    }

    /// `A_m(a, k) = guess_m xi_m(a) + know_m [a = k]`, flat prior.
    fn to_model(&self) -> DawidSkene {
        let classes = self.classes;
        let mut confusion = Vec::with_capacity(self.parameters.len() * classes);
        for parameters in self.parameters.chunks_exact(2 + classes) {
            let (own, guesses) = parameters.split_at(2);
            for (answer, guess) in guesses.iter().enumerate() {
                let known = |k| if k == answer { own[1] } else { 0.0 };
                confusion.extend((0..classes).map(|k| own[0] * guess + known(k)));
            }
        }
        DawidSkene::new(vec![1.0 / classes as f64; classes], confusion)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use quorate_testkit::toys::{assert_close, assert_rising, toy_b};

    #[test]
    fn toy_b_by_hand() {
        // Worked example from t = xi = 1/2: posteriors of class 1, likelihood, known answers, variational
        // M-step.
        let annotations = toy_b();
        let mut workers = Guessers::even(5, 2);
        let (consensus, likelihood) = posterior(&annotations, &workers.to_model());
        let second: Vec<f64> = consensus.as_slice().iter().skip(1).step_by(2).copied().collect();
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
                    .map(|(task, answer)| consensus.row(task)[answer] / 1.5)
                    .sum()
            })
            .collect();
        assert_close(&known, &[4.585714, 4.052381, 3.319048, 2.414286, 1.919048], 1e-6);
        let step = Steps::default().take(annotations.as_block(), &workers.to_model());
        assert_close(&[step.log_likelihood], &[likelihood], 1e-9);
        workers.maximise(&step.counts, &Mace::default());
        let column = |at: usize| workers.parameters.iter().skip(at).step_by(4);
        let guess: Vec<f64> = column(0).copied().collect();
        assert_close(&guess, &[0.402866, 0.465388, 0.491923, 0.612179, 0.678046], 1e-6);
        assert_close(
            &workers.competence(),
            &[0.540246, 0.477674, 0.443863, 0.323911, 0.258470],
            1e-6,
        );
        assert_close(&workers.parameters[2..4], &[0.491394, 0.487032], 1e-6);
        assert_close(&workers.parameters[6..8], &[0.520009, 0.458904], 1e-6);
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

    /// A tie says nothing against the label, whichever code it has.
    #[test]
    fn a_tie_on_a_unanimous_task_is_a_tie_under_any_codes() {
        let confidence = |label: u16| {
            let table = Annotations::from_codes(2, 2, 3, [(0, 0, label), (1, 1, label)]).unwrap();
            let fit = Mace::default().fit(&table, &mut Context::new(0)).unwrap();
            assert_eq!(fit.consensus.labels(), [usize::from(label); 2]);
            fit.consensus.confidence(0)
        };
        let (first, last) = (confidence(0), confidence(2));
        assert!((first - last).abs() < 1e-6, "{first} and {last}");
    }
}
