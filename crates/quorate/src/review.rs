//! What a person should look at first: tasks whose label may be wrong, with the reasons, workers whose
//! answers tell nothing, and one statement about the error of all labels.
//!
//! ```text
//! doubt of task n = 1 - confidence_n,      expected wrong labels among a set of tasks = sum of their doubts
//! ```
//!
//! Tasks come in the order of their doubt: to check a task finds a wrong label with that probability. Tasks
//! whose truth is known are not listed. Cost: one pass over the posteriors, then a look at the labels of the
//! tasks that are listed.

use std::cmp::Ordering;
use std::fmt;

pub use crate::calibrate::{CheckedLabels, ENOUGH_TRUTHS, ErrorBasis, ErrorEstimate, LEVEL, WorkerAccuracy};

use crate::annotations::{Annotations, Names};
use crate::blocks::Block;
use crate::methods::Fit;
use crate::model::{DawidSkene, explain, label_of};

/// A label below this confidence is doubtful: at least one such label in four is wrong, if the confidence is
/// right.
#[doc(hidden)]
pub const DOUBTFUL: f64 = 0.75;

/// Smallest factor by which a single answer tips a label.
const TIPPING: f64 = 2.0;

/// Doubts are compared in these steps, so that the order of tasks does not hang on the last digits of a sum.
const STEP: f64 = 1e-9;

/// Settings of the list of tasks to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Review {
    /// Most tasks that are listed.
    pub most: usize,
}

impl Default for Review {
    fn default() -> Self {
        Self { most: 100 }
    }
}

/// A task to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewTask {
    /// The task's name.
    pub task: String,
    /// Its label.
    pub label: String,
    /// Probability of the label.
    pub confidence: f64,
    /// The next probable class, if there is one that is possible.
    pub runner_up: Option<String>,
    /// Probability of the next probable class.
    pub runner_up_probability: f64,
    /// How many workers gave each answer, the most frequent first.
    pub votes: Vec<(String, usize)>,
    /// Why the label may be wrong, at least one reason.
    pub reasons: Vec<Reason>,
}

/// Why a label may be wrong.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// Nobody labelled the task: its label is only the most common class.
    NoLabels,
    /// One worker alone labelled the task.
    SingleLabel,
    /// The most frequent answer has at most two thirds of the votes.
    SplitVotes {
        /// Votes of the most frequent answer.
        first: usize,
        /// All votes.
        votes: usize,
    },
    /// The label is not that of majority vote.
    ChangedFromMajority {
        /// The label of majority vote.
        majority: String,
    },
    /// An average worker answers this task wrongly more often than not.
    MisleadingTask {
        /// The chance of a wrong answer.
        wrong: f64,
    },
    /// The probability of the label is below [`DOUBTFUL`].
    LowConfidence,
    /// Without this worker's answer the task would have another label.
    TippedBy {
        /// The worker.
        worker: String,
        /// The factor by which the answer multiplies the odds of the label.
        factor: f64,
    },
}

impl Reason {
    /// A short name, for tables and programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoLabels => "no-labels",
            Self::SingleLabel => "single-label",
            Self::SplitVotes { .. } => "split-votes",
            Self::ChangedFromMajority { .. } => "changed-from-majority",
            Self::MisleadingTask { .. } => "misleading-task",
            Self::LowConfidence => "low-confidence",
            Self::TippedBy { .. } => "tipped-by",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLabels => f.write_str("no labels"),
            Self::SingleLabel => f.write_str("only one label"),
            Self::SplitVotes { first, votes } => write!(f, "votes are split: {first} of {votes} agree"),
            Self::ChangedFromMajority { majority } => write!(f, "majority vote says {majority:?}"),
            Self::MisleadingTask { wrong } => {
                write!(f, "misleading: {:.0} % of the workers err on it", 100.0 * wrong)
            }
            Self::LowConfidence => f.write_str("low confidence"),
            Self::TippedBy { worker, .. } => write!(f, "decided by {worker:?}"),
        }
    }
}

/// What a list of tasks is made from: labels of some tasks, their posteriors, and what was learnt.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Evidence<'a> {
    /// The labels.
    pub labels: Block<'a>,
    /// Posterior rows of the tasks, one after another.
    pub posteriors: &'a [f64],
    /// The model, if there is one.
    pub model: Option<&'a DawidSkene>,
    /// For each task the chance that an average worker answers it wrongly, if that is known.
    pub difficulty: Option<&'a [f64]>,
    /// Names of the tasks.
    pub tasks: &'a Names,
    /// Names of the workers.
    pub workers: &'a Names,
    /// Names of the classes.
    pub classes: &'a Names,
}

impl Review {
    /// The tasks of a fit to look at, the most doubtful first; tasks of the same doubt by name.
    ///
    /// ```
    /// use quorate::{Annotations, review::Review};
    ///
    /// let rows = [("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "cat"), ("t2", "bob", "cat")];
    /// let annotations = Annotations::from_triples(rows)?;
    /// let fit = quorate::aggregate(&annotations)?;
    /// let list = Review::default().run(&annotations, &fit);
    /// assert_eq!(list[0].task, "t1");
    /// assert_eq!(list[0].reasons[0].to_string(), "votes are split: 1 of 2 agree");
    /// # Ok::<(), quorate::Error>(())
    /// ```
    pub fn run(&self, annotations: &Annotations, fit: &Fit) -> Vec<ReviewTask> {
        self.of_evidence(&Evidence {
            labels: annotations.as_block(),
            posteriors: fit.consensus.as_slice(),
            model: fit.model.as_ref(),
            difficulty: fit.task_difficulty.as_deref(),
            tasks: annotations.tasks(),
            workers: annotations.workers(),
            classes: annotations.classes(),
        })
    }

    /// The same for the tasks of one block; lists of several blocks are joined by [`join`](Self::join).
    #[doc(hidden)]
    pub fn of_evidence(&self, evidence: &Evidence<'_>) -> Vec<ReviewTask> {
        let order = |a: &(i64, usize), b: &(i64, usize)| {
            let names = || evidence.tasks.get(a.1).cmp(evidence.tasks.get(b.1));
            b.0.cmp(&a.0).then_with(names)
        };
        let mut doubts: Vec<(i64, usize)> = (0..evidence.labels.task_count())
            .filter(|&task| evidence.labels.gold(task).is_none())
            .map(|task| (in_steps(1.0 - evidence.confidence(task)), task))
            .collect();
        if self.most == 0 || doubts.is_empty() {
            return Vec::new();
        }
        if self.most < doubts.len() {
            doubts.select_nth_unstable_by(self.most - 1, order);
            doubts.truncate(self.most);
        }
        doubts.sort_unstable_by(order);
        let listed = doubts.iter().map(|&(_, task)| evidence.describe(task));
        listed.filter(|task| !task.reasons.is_empty()).collect()
    }

    /// Joins lists of different tasks into one.
    #[doc(hidden)]
    pub fn join(&self, lists: impl IntoIterator<Item = Vec<ReviewTask>>) -> Vec<ReviewTask> {
        let mut all: Vec<ReviewTask> = lists.into_iter().flatten().collect();
        all.sort_by(ReviewTask::compare);
        all.truncate(self.most);
        all
    }
}

impl ReviewTask {
    /// The most doubtful first, then by name.
    fn compare(&self, other: &Self) -> Ordering {
        let doubt = |task: &Self| in_steps(1.0 - task.confidence);
        doubt(other)
            .cmp(&doubt(self))
            .then_with(|| self.task.cmp(&other.task))
    }
}

fn in_steps(doubt: f64) -> i64 {
    (doubt / STEP).round() as i64
}

impl Evidence<'_> {
    fn row(&self, task: usize) -> &[f64] {
        let classes = self.labels.class_count();
        &self.posteriors[task * classes..][..classes]
    }

    fn confidence(&self, task: usize) -> f64 {
        let row = self.row(task);
        row[label_of(row)]
    }

    fn class(&self, class: usize) -> String {
        self.classes.get(class).to_owned()
    }

    fn describe(&self, task: usize) -> ReviewTask {
        let row = self.row(task);
        let label = label_of(row);
        let others = (0..row.len()).filter(|&class| class != label && row[class] > 0.0);
        let runner_up = others.reduce(|best, class| if row[class] > row[best] { class } else { best });
        let votes = count_votes(self.labels.task(task).1);
        ReviewTask {
            task: self.tasks.get(task).to_owned(),
            label: self.class(label),
            confidence: row[label],
            runner_up: runner_up.map(|class| self.class(class)),
            runner_up_probability: runner_up.map_or(0.0, |class| row[class]),
            reasons: self.reasons(task, label, runner_up, &votes),
            votes: votes
                .into_iter()
                .map(|(class, count)| (self.class(class), count))
                .collect(),
        }
    }

    fn reasons(
        &self,
        task: usize,
        label: usize,
        runner_up: Option<usize>,
        votes: &[(usize, usize)],
    ) -> Vec<Reason> {
        let given: usize = votes.iter().map(|vote| vote.1).sum();
        let Some(&(majority, first)) = votes.first() else {
            return vec![Reason::NoLabels];
        };
        let mut reasons = Vec::new();
        if given == 1 {
            reasons.push(Reason::SingleLabel);
        } else if 3 * first <= 2 * given {
            reasons.push(Reason::SplitVotes { first, votes: given });
        }
        if majority != label {
            reasons.push(Reason::ChangedFromMajority {
                majority: self.class(majority),
            });
        }
        let wrong = self.difficulty.map_or(0.0, |difficulty| difficulty[task]);
        if wrong > 0.5 {
            reasons.push(Reason::MisleadingTask { wrong });
        }
        if self.row(task)[label] < DOUBTFUL {
            reasons.push(Reason::LowConfidence);
        }
        let other = if majority != label {
            Some(majority)
        } else {
            runner_up
        };
        if given > 1
            && let Some(other) = other
        {
            reasons.extend(self.tipping(task, label, other));
        }
        reasons
    }

    /// The worker without whose answer the model would favour the other class.
    fn tipping(&self, task: usize, label: usize, other: usize) -> Option<Reason> {
        let model = self.model?;
        let told = explain(self.labels.task(task), model, label, other);
        let prior = model.prior();
        let odds: f64 = told.iter().map(|testimony| testimony.weight).sum::<f64>()
            + (prior[label].max(f64::MIN_POSITIVE) / prior[other].max(f64::MIN_POSITIVE)).ln();
        let first = told.first()?;
        let factor = first.weight.exp();
        (odds > 0.0 && odds < first.weight && factor >= TIPPING).then(|| Reason::TippedBy {
            worker: self.workers.get(first.worker).to_owned(),
            factor,
        })
    }
}

/// The answers to a task and how often each was given, the most frequent first and of these the lowest class.
#[doc(hidden)]
pub fn count_votes(answers: &[u16]) -> Vec<(usize, usize)> {
    let mut sorted = answers.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    let mut votes: Vec<(usize, usize)> = runs.map(|run| (usize::from(run[0]), run.len())).collect();
    votes.sort_by_key(|&(class, count)| (std::cmp::Reverse(count), class));
    votes
}

/// Workers whose answers hardly depend on the truth, the least informative first: agreement with the truth
/// that is at most a tenth of the way from chance to perfect (Cohen's kappa with the model's truth), and an
/// accuracy that is below that of the other workers by more than chance explains.
///
/// `labels`: labels of each worker. A quick look at a model, for a summary;
/// [`diagnose`](crate::diagnose) tests workers with a bound on false alarms.
#[doc(hidden)]
pub fn uninformative_workers(model: &DawidSkene, labels: &[u64]) -> Vec<usize> {
    /// Largest kappa of a worker who tells nothing.
    const KAPPA: f64 = 0.1;
    /// Standard deviations by which the accuracy is below that of the others.
    const DEVIATIONS: f64 = 3.0;
    let kappas: Vec<f64> = (0..labels.len())
        .map(|worker| {
            let chance = chance_agreement(model, worker);
            (model.accuracy(worker) - chance) / (1.0 - chance).max(f64::MIN_POSITIVE)
        })
        .collect();
    // Mean accuracy of the labels of those who do tell something.
    let (mut right, mut given) = (0.0, 0.0);
    for worker in (0..labels.len()).filter(|&worker| kappas[worker] >= KAPPA) {
        right += labels[worker] as f64 * model.accuracy(worker);
        given += labels[worker] as f64;
    }
    if given == 0.0 {
        return Vec::new();
    }
    let others = right / given;
    let mut found: Vec<(f64, usize)> = (0..labels.len())
        .filter(|&worker| labels[worker] > 0 && kappas[worker] < KAPPA)
        .filter(|&worker| {
            let deviation = (others * (1.0 - others) / labels[worker] as f64).sqrt();
            others - model.accuracy(worker) > DEVIATIONS * deviation
        })
        .map(|worker| (kappas[worker], worker))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, worker)| worker).collect()
}

/// Accuracy of somebody who answers as often with each class as the worker does, whatever is true.
fn chance_agreement(model: &DawidSkene, worker: usize) -> f64 {
    let prior = model.prior();
    (0..prior.len())
        .map(|answer| {
            let shares = prior.iter().enumerate();
            let given: f64 = shares
                .map(|(truth, share)| share * model.probability(worker, answer, truth))
                .sum();
            given * prior[answer]
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Consensus;

    fn evidence<'a>(
        annotations: &'a Annotations,
        consensus: &'a Consensus,
        model: Option<&'a DawidSkene>,
        difficulty: Option<&'a [f64]>,
    ) -> Evidence<'a> {
        Evidence {
            labels: annotations.as_block(),
            posteriors: consensus.as_slice(),
            model,
            difficulty,
            tasks: annotations.tasks(),
            workers: annotations.workers(),
            classes: annotations.classes(),
        }
    }

    /// Five tasks: unanimous, split, changed, single, nobody.
    fn table() -> (Annotations, Consensus) {
        let labels = [
            (0, 0, 0),
            (0, 1, 0),
            (1, 0, 0),
            (1, 1, 1),
            (2, 0, 0),
            (2, 1, 1),
            (2, 2, 1),
            (2, 3, 1),
            (3, 0, 1),
        ];
        let annotations = Annotations::from_codes(5, 4, 2, labels).unwrap();
        let rows = vec![1.0, 0.0, 0.6, 0.4, 0.8, 0.2, 0.1, 0.9, 0.7, 0.3];
        (annotations, Consensus::new(2, rows))
    }

    #[test]
    fn the_most_doubtful_task_comes_first_and_each_has_its_reasons() {
        let (annotations, consensus) = table();
        let difficulty = [0.1, 0.2, 0.7, 0.1, 0.1];
        let list =
            Review::default().of_evidence(&evidence(&annotations, &consensus, None, Some(&difficulty)));
        let names: Vec<&str> = list.iter().map(|task| task.task.as_str()).collect();
        assert_eq!(names, ["t1", "t4", "t2", "t3"]);
        let reasons: Vec<Vec<&str>> = list
            .iter()
            .map(|task| task.reasons.iter().map(Reason::name).collect())
            .collect();
        assert_eq!(reasons[0], ["split-votes", "low-confidence"]);
        assert_eq!(reasons[1], ["no-labels"]);
        assert_eq!(reasons[2], ["changed-from-majority", "misleading-task"]);
        assert_eq!(reasons[3], ["single-label"]);
        assert_eq!(list[2].votes, [("1".to_owned(), 3), ("0".to_owned(), 1)]);
        assert_eq!(list[2].runner_up.as_deref(), Some("1"));
    }

    #[test]
    fn the_worker_who_decides_is_named_and_only_then() {
        let (annotations, consensus) = table();
        // Worker 0 is nearly always right, the others are hardly better than chance.
        let model = DawidSkene::one_coin(vec![0.5, 0.5], &[0.95, 0.55, 0.55, 0.55]);
        let list = Review::default().of_evidence(&evidence(&annotations, &consensus, Some(&model), None));
        let tipped = |name: &str| {
            let task = list.iter().find(|task| task.task == name).unwrap();
            task.reasons.iter().find_map(|reason| match reason {
                Reason::TippedBy { worker, factor } => Some((worker.clone(), *factor)),
                _ => None,
            })
        };
        let (worker, factor) = tipped("t2").unwrap();
        assert_eq!(worker, "w0");
        assert!((factor - 19.0).abs() < 1e-9);
        assert_eq!(tipped("t3"), None);
        // Without a model nobody is named.
        let list = Review::default().of_evidence(&evidence(&annotations, &consensus, None, None));
        let all = list.iter().flat_map(|task| &task.reasons);
        assert!(!all.into_iter().any(|reason| reason.name() == "tipped-by"));
    }

    #[test]
    fn a_short_list_is_the_front_of_the_long_one_and_known_truths_are_not_in_it() {
        let (annotations, consensus) = table();
        let all = Review::default().of_evidence(&evidence(&annotations, &consensus, None, None));
        for most in 0..=4 {
            let short = Review { most }.of_evidence(&evidence(&annotations, &consensus, None, None));
            assert_eq!(short[..], all[..most.min(all.len())]);
        }
        let known = annotations.with_gold([(1, 0)]).unwrap();
        let list = Review::default().of_evidence(&evidence(&known, &consensus, None, None));
        assert!(list.iter().all(|task| task.task != "t1"));
    }

    #[test]
    fn lists_of_parts_join_to_the_list_of_the_whole() {
        let (annotations, consensus) = table();
        let all = Review { most: 3 }.of_evidence(&evidence(&annotations, &consensus, None, None));
        let parts = all.iter().rev().map(|task| vec![task.clone()]);
        assert_eq!(Review { most: 3 }.join(parts), all);
    }

    #[test]
    fn who_answers_by_chance_is_found_and_who_is_merely_weak_is_not() {
        let confusion = [
            [0.9, 0.1, 0.1, 0.9],
            [0.7, 0.3, 0.3, 0.7],
            [0.8, 0.8, 0.2, 0.2],
            [0.2, 0.8, 0.8, 0.2],
        ];
        let model = DawidSkene::new(vec![0.5, 0.5], confusion.concat());
        assert_eq!(uninformative_workers(&model, &[50, 50, 50, 50]), [3, 2]);
        // Two labels tell nothing about a worker.
        assert_eq!(uninformative_workers(&model, &[50, 50, 2, 50]), [3]);
    }
}
