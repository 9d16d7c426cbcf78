//! Truths, class shares and rates of the voices, drawn in turn from their posterior (Gibbs sampling).
//!
//! ```text
//! truth of an item ~ prior(k) prod_v A_v(x_v, k)        A_v(., k) ~ Dir(C_v(., k) + c(., k)),    prior ~ Dir(N + 1)
//! c(a, k) = 4 if a = k, else 1 / (K - 1)
//! ```
//!
//! `C` counts the answers of a voice against the drawn truths, `N` the truths. With few judges what is learnt
//! about each of them is uncertain: the probability of a verdict is a mean over the draws, so that this doubt
//! is part of it. Judges who share a voice are counted against the same truths, each for itself. The prior
//! expects a judge to be right four times of five and is worth five items of a class.
//!
//! Items with the same answers are drawn together (a multinomial), so that a draw costs as much as there are
//! patterns.
//!
//! Two voices cannot be told apart by labels: which of them is right where they differ is open, and so are
//! all rates. Then, unless truths are known ([`MIN_GOLD`]), both get the same accuracy, the one under which
//! they agree as often as they do.

use rand_distr::{Binomial, Distribution};

use super::answers::{NONE, Patterns, given};
use crate::intervals::{RunningMoments, draw_class, draw_log_shares};
use crate::linalg::small::{add, normalise};
use crate::model::softmax_in_place;
use crate::{Context, Result};

/// Known truths from which one or two voices can be judged.
pub(super) const MIN_GOLD: u64 = 10;
/// Pseudo-items of each class with a right answer, and with a wrong one.
const RIGHT: f64 = 4.0;
const WRONG: f64 = 1.0;
/// Draws that count, at most and at least; and steps (patterns times voices times classes) that they may
/// take.
const MAX_DRAWS: usize = 2000;
const MIN_DRAWS: usize = 300;
const MAX_STEPS: f64 = 4e8;
/// Accuracy of a voice about which nothing is known, and its bounds where agreement tells something.
const ASSUMED: f64 = 0.8;
const BOUNDS: (f64, f64) = (0.6, 0.95);

/// What the voices say.
#[derive(Debug, Clone)]
pub(super) struct VoiceFit {
    /// Groups of judges.
    pub voices: Vec<Vec<usize>>,
    /// Their answers, `[pattern][voice]`.
    pub spoken: Vec<u16>,
    /// Class shares, posterior mean.
    pub prior: Vec<f64>,
    /// `A`, `[voice][answer][truth]`, posterior mean.
    pub confusion: Vec<f64>,
    /// Probabilities of the classes, `[pattern][class]`, as if no truth were known.
    pub free: Vec<f64>,
    /// What only more than two voices or known truths tell.
    pub learnt: Option<Learnt>,
}

/// What the draws tell.
#[derive(Debug, Clone)]
pub(super) struct Learnt {
    /// Drawn class shares, `[draw][class]`.
    pub shares: Vec<f64>,
    /// Probability that a judge is right, `[judge][truth]`.
    pub recalls: Vec<RunningMoments>,
    /// Probability that a judge is right about an item drawn from the class shares.
    pub accuracies: Vec<RunningMoments>,
}

/// Fits voices to the answers. `stream` tells random numbers of different fits apart.
pub(super) fn fit_voices(
    patterns: &Patterns,
    voices: Vec<Vec<usize>>,
    stream: u64,
    context: &mut Context,
) -> Result<VoiceFit> {
    let spoken = patterns.speak(&voices);
    let few = voices.len() < 3 && patterns.gold_items() < MIN_GOLD;
    if few || patterns.classes == 1 {
        return Ok(assume(patterns, voices, spoken));
    }
    Gibbs::new(patterns, voices, spoken).run(stream, context)
}

impl VoiceFit {
    /// Probabilities of the classes given these answers of the voices; `spoken` has an answer for each voice.
    pub(super) fn posterior(&self, spoken: &[u16], row: &mut [f64]) {
        let classes = self.prior.len();
        for (log, share) in row.iter_mut().zip(&self.prior) {
            *log = share.max(f64::MIN_POSITIVE).ln();
        }
        for (voice, answer) in given(spoken) {
            let chances = &self.confusion[(voice * classes + answer) * classes..][..classes];
            for (log, chance) in row.iter_mut().zip(chances) {
                *log += chance.max(f64::MIN_POSITIVE).ln();
            }
        }
        softmax_in_place(row);
    }
}

/// Puts all mass on the known truth.
pub(super) fn pin(row: &mut [f64], truth: Option<usize>) {
    if let Some(truth) = truth {
        row.fill(0.0);
        row[truth] = 1.0;
    }
}

/// One or two voices of the same accuracy.
fn assume(patterns: &Patterns, voices: Vec<Vec<usize>>, spoken: Vec<u16>) -> VoiceFit {
    let classes = patterns.classes;
    let mut shares = vec![1.0; classes];
    let (mut both, mut same) = (0.0, 0.0);
    for (row, &items) in spoken.chunks_exact(voices.len()).zip(&patterns.items) {
        given(row).for_each(|(_, answer)| shares[answer] += items as f64);
        if let [a, b] = row
            && *a != NONE
            && *b != NONE
        {
            both += items as f64;
            same += if a == b { items as f64 } else { 0.0 };
        }
    }
    normalise(&mut shares);
    let chance = (classes as f64).recip();
    // The chance that both are right or both give the same wrong answer, solved for the accuracy.
    let excess = ((same / both - chance) / (1.0 - chance).max(1e-9)).max(0.0);
    let solved = (chance + (1.0 - chance) * excess.sqrt()).clamp(BOUNDS.0, BOUNDS.1);
    let accuracy = if both > 0.0 { solved } else { ASSUMED };
    let wrong = (1.0 - accuracy) / (classes as f64 - 1.0).max(1.0);
    let is_right = |cell: usize| cell / classes % classes == cell % classes;
    let cell = |cell: usize| if is_right(cell) { accuracy } else { wrong };
    let mut free = vec![0.0; patterns.len() * classes];
    let mut fit = VoiceFit {
        prior: shares,
        confusion: (0..voices.len() * classes * classes).map(cell).collect(),
        free: Vec::new(),
        voices,
        spoken,
        learnt: None,
    };
    let said = fit.spoken.chunks_exact(fit.voices.len());
    let rows = free.chunks_exact_mut(classes).zip(said);
    rows.for_each(|(row, said)| fit.posterior(said, row));
    fit.free = free;
    fit
}

/// The state of the draws.
struct Gibbs<'p> {
    patterns: &'p Patterns,
    voices: Vec<Vec<usize>>,
    spoken: Vec<u16>,
    /// Items of each pattern with each truth, as drawn.
    drawn: Vec<f64>,
    /// Given the parameters, not pinned.
    rows: Vec<f64>,
    /// Drawn truths, and answers of the voices against them.
    mass: Vec<f64>,
    cells: Vec<f64>,
    log_prior: Vec<f64>,
    log_confusion: Vec<f64>,
    /// Pseudo-items of a wrong answer.
    wrong: f64,
}

impl<'p> Gibbs<'p> {
    /// Draws start from votes.
    fn new(patterns: &'p Patterns, voices: Vec<Vec<usize>>, spoken: Vec<u16>) -> Self {
        let classes = patterns.classes;
        let mut rows = vec![0.1; patterns.len() * classes];
        let said = spoken.chunks_exact(voices.len());
        for (row, said) in rows.chunks_exact_mut(classes).zip(said) {
            given(said).for_each(|(_, answer)| row[answer] += 1.0);
            normalise(row);
        }
        Self {
            drawn: vec![0.0; rows.len()],
            rows,
            mass: vec![0.0; classes],
            cells: vec![0.0; voices.len() * classes * classes],
            log_prior: vec![0.0; classes],
            log_confusion: vec![0.0; voices.len() * classes * classes],
            wrong: WRONG / (classes as f64 - 1.0).max(1.0),
            patterns,
            voices,
            spoken,
        }
    }

    fn run(mut self, stream: u64, context: &mut Context) -> Result<VoiceFit> {
        let (classes, judges) = (self.patterns.classes, self.patterns.judges);
        let steps = (self.patterns.len() * (self.voices.len() + judges) * classes).max(1) as f64;
        let draws = ((MAX_STEPS / steps) as usize).clamp(MIN_DRAWS, MAX_DRAWS);
        let total = draws + draws / 4;
        let mut rng = context.rng(stream);
        let (mut prior, mut confusion) = (vec![0.0; classes], vec![0.0; self.cells.len()]);
        let mut free = vec![0.0; self.rows.len()];
        let mut learnt = Learnt {
            shares: Vec::with_capacity(draws * classes),
            recalls: vec![RunningMoments::default(); judges * classes],
            accuracies: vec![RunningMoments::default(); judges],
        };
        for draw in 0..total {
            if draw % 64 == 0 {
                context.step("verdicts", draw, Some(total))?;
            }
            self.draw_truths(&mut rng);
            self.draw_parameters(&mut rng);
            self.weigh();
            if draw >= total - draws {
                self.add_means(&mut prior, &mut confusion);
                learnt.shares.extend(self.log_prior.iter().map(|log| log.exp()));
                self.observe(&mut learnt);
                add(&mut free, &self.rows);
            }
        }
        let sums = [&mut prior, &mut confusion, &mut free].into_iter().flatten();
        sums.for_each(|value| *value /= draws as f64);
        Ok(VoiceFit {
            voices: self.voices,
            spoken: self.spoken,
            prior,
            confusion,
            free,
            learnt: Some(learnt),
        })
    }

    /// Draws the truths of all items that somebody answered or whose truth is known, and counts the voices
    /// against them.
    fn draw_truths(&mut self, rng: &mut impl rand::Rng) {
        let classes = self.patterns.classes;
        self.mass.fill(0.0);
        self.cells.fill(0.0);
        let said = self.spoken.chunks_exact(self.voices.len());
        let rows = self.rows.chunks_exact(classes);
        let drawn = self.drawn.chunks_exact_mut(classes);
        for (pattern, ((said, row), drawn)) in said.zip(rows).zip(drawn).enumerate() {
            drawn.fill(0.0);
            let items = self.patterns.items[pattern];
            match self.patterns.truth(pattern) {
                Some(truth) => drawn[truth] = items as f64,
                None if said.iter().all(|&answer| answer == NONE) => continue,
                None if items == 1 => drawn[draw_class(row, rng)] = 1.0,
                None => share_out(items, row, drawn, rng),
            }
            add(&mut self.mass, drawn);
            for (voice, answer) in given(said) {
                add(&mut self.cells[(voice * classes + answer) * classes..], drawn);
            }
        }
    }

    /// Pseudo-items of an answer under a truth.
    fn prior_of(&self, answer: usize, truth: usize) -> f64 {
        if answer == truth { RIGHT } else { self.wrong }
    }

    fn draw_parameters(&mut self, rng: &mut impl rand::Rng) {
        let classes = self.patterns.classes;
        let mass: Vec<f64> = self.mass.iter().map(|mass| mass + 1.0).collect();
        draw_log_shares(&mass, &mut self.log_prior, rng);
        let (mut column, mut logs) = (vec![0.0; classes], vec![0.0; classes]);
        for voice in 0..self.voices.len() {
            for truth in 0..classes {
                let cell = |answer: usize| (voice * classes + answer) * classes + truth;
                for (answer, value) in column.iter_mut().enumerate() {
                    *value = self.cells[cell(answer)] + self.prior_of(answer, truth);
                }
                draw_log_shares(&column, &mut logs, rng);
                for (answer, &log) in logs.iter().enumerate() {
                    self.log_confusion[cell(answer)] = log;
                }
            }
        }
    }

    /// Probabilities of the classes given the parameters.
    fn weigh(&mut self) {
        let classes = self.patterns.classes;
        let said = self.spoken.chunks_exact(self.voices.len());
        for (row, said) in self.rows.chunks_exact_mut(classes).zip(said) {
            row.copy_from_slice(&self.log_prior);
            for (voice, answer) in given(said) {
                add(row, &self.log_confusion[(voice * classes + answer) * classes..]);
            }
            softmax_in_place(row);
        }
    }

    /// Adds the means of shares and matrices given the drawn truths.
    fn add_means(&self, prior: &mut [f64], confusion: &mut [f64]) {
        let classes = self.patterns.classes;
        let total: f64 = self.mass.iter().map(|mass| mass + 1.0).sum();
        let shares = prior.iter_mut().zip(&self.mass);
        shares.for_each(|(sum, mass)| *sum += (mass + 1.0) / total);
        for voice in 0..self.voices.len() {
            for truth in 0..classes {
                let cell = |answer: usize| (voice * classes + answer) * classes + truth;
                let count = |answer: usize| self.cells[cell(answer)] + self.prior_of(answer, truth);
                let total: f64 = (0..classes).map(count).sum();
                (0..classes).for_each(|answer| confusion[cell(answer)] += count(answer) / total);
            }
        }
    }

    /// Adds what the drawn truths say about every judge.
    fn observe(&self, learnt: &mut Learnt) {
        let (classes, judges) = (self.patterns.classes, self.patterns.judges);
        let (mut right, mut all) = (vec![0.0; judges * classes], vec![0.0; judges * classes]);
        for (pattern, drawn) in self.drawn.chunks_exact(classes).enumerate() {
            for (judge, answer) in given(self.patterns.row(pattern)) {
                add(&mut all[judge * classes..], drawn);
                right[judge * classes + answer] += drawn[answer];
            }
        }
        let shares: Vec<f64> = self.log_prior.iter().map(|log| log.exp()).collect();
        for judge in 0..judges {
            let (mut mean_right, mut variance_right) = (0.0, 0.0);
            for (truth, share) in shares.iter().enumerate() {
                let cell = judge * classes + truth;
                let total = all[cell] + RIGHT + WRONG;
                let mean = (right[cell] + RIGHT) / total;
                let variance = mean * (1.0 - mean) / (total + 1.0);
                learnt.recalls[cell].add(mean, variance);
                mean_right += share * mean;
                variance_right += share * share * variance;
            }
            learnt.accuracies[judge].add(mean_right, variance_right);
        }
    }
}

/// Draws how many of these items have each truth.
fn share_out(items: u64, row: &[f64], drawn: &mut [f64], rng: &mut impl rand::Rng) {
    let (mut left, mut rest) = (items, 1.0);
    for (class, (&share, slot)) in row.iter().zip(drawn).enumerate() {
        let chance = if rest > 0.0 {
            (share / rest).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let binomial = || Binomial::new(left, chance).expect("a share lies between 0 and 1");
        let last = class + 1 == row.len();
        let taken = if last { left } else { binomial().sample(rng) };
        *slot = taken as f64;
        left -= taken;
        rest -= share;
    }
}
