//! What would change with one judge less, and with one more.
//!
//! The expected share of wrong verdicts, by the probabilities `q` of the panel as it is:
//!
//! ```text
//! without judge j:      1 - mean_n q_n(label without j)
//! with one more judge:  1 - mean_n sum_a max_k q_n(k) A(a, k)
//! ```
//!
//! `A` is the mean matrix of the voices: one more judge is as good as those that are there, and independent
//! of them. Items that nobody answered, and those whose truth is known, are left out.

use super::answers::{Patterns, given};
use super::posterior::VoiceFit;
use crate::model::label_of;

/// What a panel without one of its judges would lose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WithoutJudge {
    /// Worker code of the judge.
    pub judge: usize,
    /// Expected share of wrong verdicts.
    pub error: f64,
    /// Share of verdicts that would be different.
    pub changed: f64,
}

/// Expected errors of a panel and of panels near it.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelChanges {
    /// Expected share of wrong verdicts of the panel as it is.
    pub error: f64,
    /// Of the panel without each of its judges, in order of worker code.
    pub without: Vec<WithoutJudge>,
    /// With one more judge, as good as the voices are on average, who errs independently.
    pub one_more: f64,
}

pub(super) fn foresee(patterns: &Patterns, fit: &VoiceFit, rows: &[f64]) -> PanelChanges {
    let classes = patterns.classes;
    let is_open = |pattern: &usize| {
        patterns.truth(*pattern).is_none() && given(patterns.row(*pattern)).next().is_some()
    };
    let open: Vec<usize> = (0..patterns.len()).filter(is_open).collect();
    let weight = |pattern: usize| patterns.items[pattern] as f64;
    let items = open.iter().map(|&pattern| weight(pattern)).sum::<f64>().max(1.0);
    let labels = |spoken: &[u16]| -> Vec<usize> {
        let (voices, mut row) = (fit.voices.len(), vec![0.0; classes]);
        let label = |&pattern: &usize| {
            fit.posterior(&spoken[pattern * voices..][..voices], &mut row);
            label_of(&row)
        };
        open.iter().map(label).collect()
    };
    let mean = |of: &dyn Fn(usize, usize) -> f64| {
        let terms = open.iter().enumerate();
        terms
            .map(|(place, &pattern)| weight(pattern) * of(place, pattern))
            .sum::<f64>()
            / items
    };
    let now = labels(&fit.spoken);
    let error = |labels: &[usize]| mean(&|place, pattern| 1.0 - rows[pattern * classes + labels[place]]);
    let without = |judge: usize| {
        let left = labels(&patterns.speak(&leave_out(&fit.voices, judge)));
        WithoutJudge {
            judge: patterns.codes[judge],
            error: error(&left),
            changed: mean(&|place, _| f64::from(u8::from(left[place] != now[place]))),
        }
    };
    let mut without: Vec<WithoutJudge> = (0..patterns.judges).map(without).collect();
    without.sort_by_key(|without| without.judge);
    let typical = mean_matrix(fit);
    let right = |pattern: usize| -> f64 {
        let row = &rows[pattern * classes..][..classes];
        let best = |cells: &[f64]| {
            row.iter()
                .zip(cells)
                .map(|(q, cell)| q * cell)
                .fold(0.0, f64::max)
        };
        typical.chunks_exact(classes).map(best).sum()
    };
    PanelChanges {
        error: error(&now),
        without,
        one_more: mean(&|_, pattern| 1.0 - right(pattern)),
    }
}

/// The voices without a judge; one that has nobody left stays silent.
fn leave_out(voices: &[Vec<usize>], judge: usize) -> Vec<Vec<usize>> {
    let others = |voice: &Vec<usize>| voice.iter().copied().filter(|&other| other != judge).collect();
    voices.iter().map(others).collect()
}

/// `[answer][truth]`.
fn mean_matrix(fit: &VoiceFit) -> Vec<f64> {
    let cells = fit.prior.len() * fit.prior.len();
    let mut mean = vec![0.0; cells];
    for matrix in fit.confusion.chunks_exact(cells) {
        let pairs = mean.iter_mut().zip(matrix);
        pairs.for_each(|(sum, cell)| *sum += cell / fit.voices.len() as f64);
    }
    mean
}
