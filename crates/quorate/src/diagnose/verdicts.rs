//! A verdict on every worker, the worst first.
//!
//! | kind | when |
//! |---|---|
//! | adversary | wrong more often than a guess would be |
//! | spammer | answers say nothing about the truth |
//! | copy | makes the same errors as someone else, or is right with few others where most err |
//! | one-sided | nearly always the same answer, whatever the others say |
//! | careless | answers say something, but much less than those of the typical worker |
//! | reliable | nothing of the above |
//! | too few labels | fewer than ten labels on tasks that others labelled too, or one class only |
//!
//! The first kind that holds is the verdict. The tests behind them are those of `worker_kinds` and
//! `copy_groups`, with their false discovery rate. The accuracy of a worker
//! is that of [`WorkerAccuracy`](crate::review::WorkerAccuracy): by the labels of a fit, the same as everywhere.

use super::answer_tables::AnswerTable;
use super::worker_kinds::{MIN_TASKS, WorkerCheck};
use crate::annotations::Annotations;
use crate::methods::Fit;

/// What a worker is like, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerVerdictKind {
    /// Wrong more often than a guess would be.
    Adversary,
    /// Answers say nothing about the truth.
    Spammer,
    /// Makes the same errors as someone else.
    Copy,
    /// Nearly always the same answer.
    OneSided,
    /// Answers say much less than those of the typical worker.
    Careless,
    /// None of the above.
    Reliable,
    /// Not enough labels beside those of others.
    TooFewLabels,
}

impl WorkerVerdictKind {
    /// All kinds, the worst first.
    pub const ALL: [Self; 7] = [
        Self::Adversary,
        Self::Spammer,
        Self::Copy,
        Self::OneSided,
        Self::Careless,
        Self::Reliable,
        Self::TooFewLabels,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adversary => "adversary",
            Self::Spammer => "spammer",
            Self::Copy => "copy",
            Self::OneSided => "one-sided",
            Self::Careless => "careless",
            Self::Reliable => "reliable",
            Self::TooFewLabels => "too few labels",
        }
    }

    /// What to do about such a worker, if it is `certain` that the worker is of no use.
    fn advice(self, certain: bool) -> &'static str {
        match self {
            Self::Adversary => "read some answers: the question may be misread or two classes swapped",
            Self::Spammer if certain => "read some answers; do not pay for more",
            Self::Spammer => "give some tasks whose truth is known before you decide",
            Self::Copy => {
                "a copy, or one of the only ones who are right: check some answers against known truths"
            }
            Self::OneSided => "trust the rare other answers only; ask why",
            Self::Careless => "give fewer tasks, or train",
            Self::Reliable => "keep",
            Self::TooFewLabels => "give more tasks that others label too",
        }
    }
}

/// What there is to say about one worker.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerVerdict {
    /// Place in the list, from 1, the worst first.
    pub rank: usize,
    /// The worker's code.
    pub worker: usize,
    /// Labels it gave.
    pub labels: usize,
    /// Labels on tasks that others labelled too: what the verdict rests on.
    pub compared: usize,
    /// Estimated share of right answers, by the labels of a fit; None without labels.
    pub accuracy: Option<f64>,
    /// Its interval: that of [`WorkerAccuracy`](crate::review::WorkerAccuracy).
    pub interval: Option<(f64, f64)>,
    /// Estimated share of answers that follow the truth instead of habits; None where not tested.
    pub informativeness: Option<f64>,
    /// The verdict.
    pub kind: WorkerVerdictKind,
    /// Whether the labels are enough, and the interval far enough from the accuracy of a useful worker, to act on
    /// the verdict.
    pub certain: bool,
    /// The others of its group, where it is a copy.
    pub same_errors_as: Vec<usize>,
}

impl WorkerVerdict {
    /// What to do about the worker.
    pub fn advice(&self) -> &'static str {
        self.kind.advice(self.certain)
    }
}

/// Labels below which no verdict is certain.
const ENOUGH_LABELS: usize = 30;

/// Accuracy of a worker who is just useful: that of one who follows the truth with probability `lambda`, and else
/// is right by chance.
fn useful_accuracy(lambda: f64, chance: f64) -> f64 {
    lambda + (1.0 - lambda) * chance
}

/// The verdicts on all workers, the worst first: by kind, then by accuracy, then by labels and name.
pub(super) fn judge(
    annotations: &Annotations,
    fit: &Fit,
    tables: &[AnswerTable],
    (checks, useful): (&[WorkerCheck], f64),
    groups: &[Vec<usize>],
) -> Vec<WorkerVerdict> {
    let mut verdicts = unjudged(annotations, fit);
    for (verdict, table) in verdicts.iter_mut().zip(tables) {
        verdict.compared = table.tasks as usize;
        if table.tasks >= MIN_TASKS {
            verdict.kind = WorkerVerdictKind::Reliable;
        }
    }
    for check in checks {
        let verdict = &mut verdicts[check.worker];
        verdict.informativeness = Some(check.informativeness);
        let most = verdict.interval.map_or(1.0, |(_, high)| high);
        verdict.certain = verdict.compared >= ENOUGH_LABELS && most < useful_accuracy(useful, check.chance);
        let kinds = [
            (check.adversary, WorkerVerdictKind::Adversary),
            (check.spammer, WorkerVerdictKind::Spammer),
            (check.one_sided, WorkerVerdictKind::OneSided),
            (check.careless, WorkerVerdictKind::Careless),
        ];
        if let Some(&(_, kind)) = kinds.iter().find(|(holds, _)| *holds) {
            verdict.kind = kind;
        }
    }
    for group in groups {
        for &worker in group {
            let verdict = &mut verdicts[worker];
            verdict.same_errors_as = group.iter().copied().filter(|&other| other != worker).collect();
            verdict.kind = match verdict.kind {
                WorkerVerdictKind::TooFewLabels => WorkerVerdictKind::Copy,
                kind => kind.min(WorkerVerdictKind::Copy),
            };
        }
    }
    rank(annotations, verdicts)
}

/// Every worker with its accuracy, and nothing else known.
fn unjudged(annotations: &Annotations, fit: &Fit) -> Vec<WorkerVerdict> {
    let labels = annotations.labels_per_worker();
    let accuracies = fit.worker_accuracies(annotations);
    let verdict = |(worker, &labels): (usize, &u32)| WorkerVerdict {
        rank: 0,
        worker,
        labels: labels as usize,
        compared: 0,
        accuracy: accuracies[worker].map(|accuracy| accuracy.value),
        interval: accuracies[worker].and_then(|accuracy| accuracy.interval),
        informativeness: None,
        certain: false,
        kind: WorkerVerdictKind::TooFewLabels,
        same_errors_as: Vec::new(),
    };
    labels.iter().enumerate().map(verdict).collect()
}

/// The verdicts where workers cannot be compared: too few labels to say of anyone.
pub(super) fn judge_nobody(annotations: &Annotations, fit: &Fit) -> Vec<WorkerVerdict> {
    rank(annotations, unjudged(annotations, fit))
}

fn rank(annotations: &Annotations, mut verdicts: Vec<WorkerVerdict>) -> Vec<WorkerVerdict> {
    let mut place = vec![0; annotations.worker_count()];
    for (at, worker) in annotations.workers().natural_order().into_iter().enumerate() {
        place[worker] = at;
    }
    let accuracy = |verdict: &WorkerVerdict| verdict.accuracy.unwrap_or(f64::INFINITY);
    verdicts.sort_by(|a, b| {
        let by_accuracy = accuracy(a).total_cmp(&accuracy(b));
        let by_labels = b.labels.cmp(&a.labels);
        let by_name = place[a.worker].cmp(&place[b.worker]);
        a.kind
            .cmp(&b.kind)
            .then(by_accuracy)
            .then(by_labels)
            .then(by_name)
    });
    for (at, verdict) in verdicts.iter_mut().enumerate() {
        verdict.rank = at + 1;
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_advised_to_stop_paying_before_it_is_certain() {
        assert!((useful_accuracy(0.4, 0.5) - 0.7).abs() < 1e-12);
        let advice = |certain| WorkerVerdictKind::Spammer.advice(certain);
        assert!(advice(true).contains("do not pay") && !advice(false).contains("do not pay"));
        // Three answers each to eight tasks: certain of nobody.
        let labels = (0..24).map(|label| (label / 3, label % 3, (label % 2) as u16));
        let annotations = Annotations::from_codes(8, 3, 2, labels).unwrap();
        let fit = crate::aggregate(&annotations).unwrap();
        assert!(
            judge_nobody(&annotations, &fit)
                .iter()
                .all(|verdict| !verdict.certain)
        );
    }
}
