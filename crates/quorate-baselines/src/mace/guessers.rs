//! The parameters of the workers, and how they follow from counts.

use super::{Mace, MaceUpdate};
use quorate::internal::digamma;
use quorate::model::DawidSkene;

/// Pseudo-counts of knowing and guessing, and of each guess, in the variational update.
const KNOW_COUNT: f64 = 0.5;
const GUESS_COUNT: f64 = 10.0;

/// Probabilities are floored here before a division.
const FLOOR: f64 = 1e-300;

/// Parameters of all workers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Guessers {
    classes: usize,
    pub(super) guess: Vec<f64>,
    pub(super) know: Vec<f64>,
    /// `xi`, `[worker][answer]`.
    pub(super) guesses: Vec<f64>,
}

impl Guessers {
    /// Nobody yet.
    pub(super) fn new(classes: usize) -> Self {
        Self {
            classes,
            guess: Vec::new(),
            know: Vec::new(),
            guesses: Vec::new(),
        }
    }

    /// Adds a worker.
    pub(super) fn push(&mut self, guess: f64, know: f64, guesses: &[f64]) {
        self.guess.push(guess);
        self.know.push(know);
        self.guesses.extend_from_slice(guesses);
    }

    /// Probability that the worker knows, normalised.
    pub(super) fn competence(&self, worker: usize) -> f64 {
        self.know[worker] / (self.know[worker] + self.guess[worker]).max(FLOOR)
    }

    /// `A_m(a, k) = guess_m xi_m(a) + know_m [a = k]` with normalised parameters, flat prior.
    pub(super) fn to_model(&self) -> DawidSkene {
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

/// How parameters follow from expected counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Update {
    kind: MaceUpdate,
    smoothing: f64,
}

impl From<&Mace> for Update {
    fn from(mace: &Mace) -> Self {
        Self {
            kind: mace.update,
            smoothing: mace.smoothing,
        }
    }
}

impl Update {
    /// M-step of one worker: from the expected numbers of guessed and known answers and of each guessed
    /// answer, which are replaced by their parameters.
    pub(super) fn maximise(
        self,
        guessed: f64,
        known: f64,
        guesses: &mut [f64],
        (guess, know): (&mut f64, &mut f64),
    ) {
        *guess = guessed;
        *know = known;
        self.share(&mut [guess, know], KNOW_COUNT, guesses.len());
        let classes = guesses.len();
        let mut guesses: Vec<&mut f64> = guesses.iter_mut().collect();
        self.share(&mut guesses, GUESS_COUNT, classes);
    }

    /// Replaces counts by what they are worth as shares.
    fn share(self, counts: &mut [&mut f64], pseudo: f64, classes: usize) {
        let cells = counts.len() as f64;
        let sum: f64 = counts.iter().map(|count| **count).sum();
        match self.kind {
            MaceUpdate::Variational => {
                let total = digamma(sum + pseudo * cells);
                counts
                    .iter_mut()
                    .for_each(|count| **count = (digamma(**count + pseudo) - total).exp());
            }
            MaceUpdate::Em => {
                let pseudo = self.smoothing / classes as f64;
                let total = sum + pseudo * cells;
                counts.iter_mut().for_each(|count| {
                    **count = if total > 0.0 {
                        (**count + pseudo) / total
                    } else {
                        1.0 / cells
                    }
                });
            }
        }
    }
}
