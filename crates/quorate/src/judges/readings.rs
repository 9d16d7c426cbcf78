//! What the answers can mean, and what each reading says.
//!
//! Labels alone cannot tell judges who agree because they are right from judges who agree because they copy
//! ([`voices`](super::voices)). So there can be more than one reading of a panel, each a division of the
//! judges into voices with a fit of its own; a verdict's probability is their mean,
//!
//! ```text
//! q_n(k) = sum_r w_r q_nr(k),      w_r  proportional to  prior_r prod over gold q_nr(truth)
//! ```
//!
//! | what is found | readings | prior |
//! |---|---|---|
//! | independent judges | each a voice | 1 |
//! | a dependent group | the group is one voice | 0.9 |
//! | | the group is right, and what the others have in common is an error | 0.1 |
//! | all but one voice nearly identical | copies of one judge | 0.5 |
//! | | independent | 0.5 |
//!
//! Known truths decide: they are weighed with fits that have not seen them. Where errors are correlated
//! between voices (`rho`, measured on known truths) V voices are worth fewer, and the evidence of the labels
//! is tempered, `q(k)` proportional to `prior(k) (q(k) / prior(k))^t` with `t = 1 / (1 + (V - 1) rho)`.

use super::answers::Patterns;
use super::posterior::{VoiceFit, fit_voices, pin};
use super::voices::{find_voices, join, suspected};
use crate::linalg::small::{add_scaled, normalise};
use crate::{Context, Result};

/// Prior weight of the reading in which the more alike judges are the ones that copy.
const COPIES: f64 = 0.9;
/// Weight from which a reading counts as settled.
const SETTLED: f64 = 0.95;
/// A probability of a known truth counts as no less than this: fits are too sure where judges err together.
const FLOOR: f64 = 0.01;

/// The readings of a panel, the heaviest first, with weights that sum to 1.
pub(super) struct Readings {
    pub fits: Vec<(f64, VoiceFit)>,
    /// Voices of the first reading that may be copies, where labels cannot tell.
    pub undecided: Option<Vec<usize>>,
    /// Whether known truths had a say.
    pub weighed: bool,
}

pub(super) fn read_panel(patterns: &Patterns, context: &mut Context) -> Result<Readings> {
    let found = find_voices(patterns);
    let mut divisions = vec![(1.0, found.clone())];
    let mut alike = None;
    if let Some(set) = suspected(patterns, &found) {
        let members = set.iter().flat_map(|&voice| found[voice].clone());
        alike = Some(members.collect::<Vec<_>>());
        divisions = vec![(0.5, join(&found, &set)), (0.5, found)];
    } else if let Some(mirror) = mirrored(&found) {
        divisions = vec![(COPIES, found), (1.0 - COPIES, mirror)];
    }
    let weighed = patterns.gold_items() > 0 && divisions.len() > 1;
    if weighed {
        weigh(patterns, &mut divisions, context)?;
    }
    let heaviest = divisions[0].0;
    let undecided = alike.filter(|_| heaviest < SETTLED && 1.0 - heaviest < SETTLED);
    let mut fits = Vec::new();
    for (reading, (weight, voices)) in divisions.into_iter().enumerate() {
        fits.push((weight, fit_voices(patterns, voices, reading as u64, context)?));
    }
    // Stable: of equal weights the first.
    fits.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(Readings {
        fits,
        undecided,
        weighed,
    })
}

/// The members of the largest group as voices of their own, everybody else as one.
fn mirrored(voices: &[Vec<usize>]) -> Option<Vec<Vec<usize>>> {
    let largest = voices.iter().max_by_key(|voice| voice.len());
    let largest = largest.filter(|voice| voice.len() > 1)?;
    let others = voices.iter().filter(|voice| *voice != largest).flatten();
    let mut others: Vec<usize> = others.copied().collect();
    others.sort_unstable();
    let mut mirror: Vec<Vec<usize>> = largest.iter().map(|&judge| vec![judge]).collect();
    mirror.push(others);
    mirror.sort();
    Some(mirror)
}

/// Multiplies the weights by what each reading, fitted without gold, says of the known truths.
fn weigh(patterns: &Patterns, divisions: &mut [(f64, Vec<Vec<usize>>)], context: &mut Context) -> Result<()> {
    let blind = patterns.without_gold();
    let classes = patterns.classes;
    let mut logs = Vec::new();
    for (reading, (weight, voices)) in divisions.iter().enumerate() {
        let fit = fit_voices(&blind, voices.clone(), 100 + reading as u64, context)?;
        let mut log = weight.ln();
        for pattern in 0..patterns.len() {
            if let Some(truth) = patterns.truth(pattern) {
                let chance = fit.free[pattern * classes + truth].max(FLOOR);
                log += patterns.items[pattern] as f64 * chance.ln();
            }
        }
        logs.push(log);
    }
    crate::model::softmax_in_place(&mut logs);
    for ((weight, _), new) in divisions.iter_mut().zip(logs) {
        *weight = new;
    }
    Ok(())
}

impl Readings {
    /// The heaviest reading.
    pub(super) fn first(&self) -> &VoiceFit {
        &self.fits[0].1
    }

    /// The mean over the readings of their probabilities, as if no truth were known.
    pub(super) fn free(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.first().free.len()];
        self.fits
            .iter()
            .for_each(|(weight, fit)| add_scaled(&mut mean, *weight, &fit.free));
        mean
    }

    /// Tempers probabilities for voices with this correlation of errors.
    pub(super) fn temper(&self, rows: &mut [f64], correlation: f64) {
        let first = self.first();
        let power = (1.0 + (first.voices.len() as f64 - 1.0) * correlation).recip();
        for row in rows.chunks_exact_mut(first.prior.len()) {
            for (value, share) in row.iter_mut().zip(&first.prior) {
                let share = share.max(f64::MIN_POSITIVE);
                *value = share * (*value / share).powf(power);
            }
            normalise(row);
        }
    }
}

/// The rows with known truths fixed.
pub(super) fn pinned(patterns: &Patterns, free: &[f64]) -> Vec<f64> {
    let mut rows = free.to_vec();
    for (pattern, row) in rows.chunks_exact_mut(patterns.classes).enumerate() {
        pin(row, patterns.truth(pattern));
    }
    rows
}
