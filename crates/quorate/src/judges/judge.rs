//! What each judge is like.
//!
//! - Recalls: the probability that the judge is right about an item of a class. With two classes these are
//!   the true positive and the true negative rate: how strict or lenient it is.
//! - Self-consistency: of two answers to the same item, how often they are the same,
//!   `mean over items of sum_a n_a (n_a - 1) / (n (n - 1))`, `n_a` of `n` answers being a.
//! - Agreement with the panel: the mean probability of the judge's answer given the answers of all other
//!   voices.
//! - Agreement with gold: the share of its answers that are the known truth, with Wilson's interval.

use super::answers::{NONE, Patterns};
use super::panel::Panel;
use super::posterior::VoiceFit;
use crate::evaluate::wilson_interval;
use crate::intervals::Interval;

/// Probability with which an interval holds the true value.
const LEVEL: f64 = 0.95;

/// A share of items that was counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountedShare {
    /// Items.
    pub items: usize,
    /// Share of them, with its 95 % interval.
    pub share: Interval,
}

/// Answers to the same item that are the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfConsistency {
    /// Items that the judge answered more than once.
    pub items: usize,
    /// How often two answers to the same item are the same.
    pub agreement: f64,
}

/// What a judge is like.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeReport {
    /// Worker code.
    pub judge: usize,
    /// Answers, repeated ones included.
    pub answers: usize,
    /// Failures.
    pub failures: usize,
    /// Items with an answer that counts.
    pub items: usize,
    /// Probability of the right answer for each class; none where the labels cannot tell.
    pub recalls: Option<Vec<Interval>>,
    /// Probability of the right answer to an item drawn from the class shares.
    pub accuracy: Option<Interval>,
    /// Of two answers to the same item.
    pub self_consistency: Option<SelfConsistency>,
    /// Mean probability of the judge's answers given the other voices; none if there is no other.
    pub agreement_with_panel: Option<f64>,
    /// Share of answers that are the known truth.
    pub agreement_with_gold: Option<CountedShare>,
}

/// All judges, in order of worker code.
pub(super) fn report_judges(panel: &Panel, patterns: &Patterns, fit: &VoiceFit) -> Vec<JudgeReport> {
    let given = panel.annotations().labels_per_worker();
    let mut failures = vec![0; patterns.judges];
    for &(_, judge) in panel.failures() {
        failures[judge as usize] += 1;
    }
    let consistency = self_consistency(panel);
    let learnt = fit.learnt.as_ref();
    let report = |judge: usize| {
        let code = patterns.codes[judge];
        let counted = |wanted: &dyn Fn(usize) -> bool| -> usize {
            let patterns_with = (0..patterns.len()).filter(|&pattern| wanted(pattern));
            patterns_with
                .map(|pattern| patterns.items[pattern] as usize)
                .sum()
        };
        let answer = |pattern: usize| patterns.row(pattern)[judge];
        let checked = |pattern: usize| answer(pattern) != NONE && patterns.truth(pattern).is_some();
        let right = |pattern: usize| patterns.truth(pattern) == Some(usize::from(answer(pattern)));
        JudgeReport {
            judge: code,
            answers: given[code] as usize,
            failures: failures[code],
            items: counted(&|pattern| answer(pattern) != NONE),
            recalls: learnt.map(|learnt| {
                let recalls = &learnt.recalls[judge * patterns.classes..][..patterns.classes];
                recalls.iter().map(|moments| moments.interval(LEVEL)).collect()
            }),
            accuracy: learnt.map(|learnt| learnt.accuracies[judge].interval(LEVEL)),
            self_consistency: consistency[code],
            agreement_with_panel: agreement_with_others(patterns, fit, judge),
            agreement_with_gold: count_share(counted(&right), counted(&checked)),
        }
    };
    let mut judges: Vec<JudgeReport> = (0..patterns.judges).map(report).collect();
    judges.sort_by_key(|report| report.judge);
    judges
}

/// A share with its interval; none of nothing.
pub(super) fn count_share(successes: usize, items: usize) -> Option<CountedShare> {
    let (low, high) = wilson_interval(successes as f64, items);
    let estimate = successes as f64 / items as f64;
    let share = Interval { estimate, low, high };
    (items > 0).then_some(CountedShare { items, share })
}

fn self_consistency(panel: &Panel) -> Vec<Option<SelfConsistency>> {
    let annotations = panel.annotations();
    let mut sums = vec![(0usize, 0.0); annotations.worker_count()];
    for item in 0..annotations.task_count() {
        let (workers, labels) = annotations.task_slices(item);
        let mut from = 0;
        for run in workers.chunk_by(|a, b| a == b) {
            let mut answers = labels[from..from + run.len()].to_vec();
            from += run.len();
            if run.len() < 2 {
                continue;
            }
            answers.sort_unstable();
            let pairs = |n: usize| (n * (n - 1)) as f64;
            let equal = answers.chunk_by(|a, b| a == b);
            let same: f64 = equal.map(|equal| pairs(equal.len())).sum();
            let (items, sum) = &mut sums[run[0] as usize];
            *items += 1;
            *sum += same / pairs(run.len());
        }
    }
    let share = |(items, sum): (usize, f64)| {
        let agreement = sum / items as f64;
        (items > 0).then_some(SelfConsistency { items, agreement })
    };
    sums.into_iter().map(share).collect()
}

fn agreement_with_others(patterns: &Patterns, fit: &VoiceFit, judge: usize) -> Option<f64> {
    let voices = fit.voices.len();
    let own = fit.voices.iter().position(|voice| voice.contains(&judge))?;
    let mut row = vec![0.0; patterns.classes];
    let (mut sum, mut items) = (0.0, 0.0);
    for pattern in 0..patterns.len() {
        let answer = patterns.row(pattern)[judge];
        let mut said = fit.spoken[pattern * voices..][..voices].to_vec();
        said[own] = NONE;
        if answer == NONE || said.iter().all(|&other| other == NONE) {
            continue;
        }
        fit.posterior(&said, &mut row);
        sum += patterns.items[pattern] as f64 * row[usize::from(answer)];
        items += patterns.items[pattern] as f64;
    }
    (items > 0.0).then(|| sum / items)
}
