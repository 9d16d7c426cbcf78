//! The Dawid-Skene model: a prior over the classes and a confusion matrix for every worker.
//!
//! ```text
//! truth y_n ~ prior,   Pr(worker m answers a | y_n = k) = A_m(a, k),   answers independent given y_n
//! ```

pub(crate) mod alignment;
mod batch;
pub(crate) mod consensus;
pub(crate) mod consensus_summary;
mod counts;
pub(crate) mod em;
mod explanation;
pub(crate) mod first;
pub(crate) mod fit;
mod log_product;
pub(crate) mod posterior;
mod priors;
mod sparse;
mod squarem;
pub(crate) mod step;
pub(crate) mod sweep_pass;
mod tally;
pub(crate) mod votes;

pub(crate) use alignment::{Alignment, align_classes};
pub use consensus::Consensus;
pub(crate) use consensus::{TIE, break_ties, harden, label_of, leaders};
pub(crate) use consensus_summary::{ConsensusSummary, Summarise};
pub use counts::{AnswerCounts, count_answers};
pub(crate) use counts::{count_rows, select_columns};
pub(crate) use em::{Em, EmStart, reserve as reserve_passes, reserve_confusions, reserve_tables};
pub use explanation::{AnswerEvidence, explain};
pub(crate) use first::{CountFirst, CountKnown, CountVotes, FirstRule, find_first, share_votes_over};
pub use fit::Fit;
pub(crate) use fit::{BlockFit, Rule, RuleSource, fit_in_memory, keep_unanimous};
pub use posterior::posterior;
pub(crate) use posterior::{LOG_FLOOR, Sweep, softmax_in_place};
pub use priors::{ClassPrior, Priors};
pub(crate) use sparse::{CellSettings, SparseEm, prefers_sparse};
pub(crate) use sweep_pass::SweepPass;
pub(crate) use votes::VoteShares;
pub use votes::{changed_from_votes, vote_fractions};

use crate::blocks::wire_format;

/// With known truths: what the votes say of a worker (of a column of its matrix) counts as this many labels
/// on known tasks, at the start.
pub(crate) const VOTES_WORTH: f64 = 2.0;

/// Accuracies are kept this far from 0 and 1, so that one wrong answer is never impossible.
pub(crate) const ACCURACY_MARGIN: f64 = 1e-10;

/// A prior over the K classes and a K x K confusion matrix for each of the M workers.
#[derive(Debug, Clone, PartialEq)]
pub struct DawidSkene {
    prior: Vec<f64>,
    /// `[worker][answer][truth]`, truth fastest: one label touches one contiguous row.
    confusion: Vec<f64>,
}

wire_format!(2 DawidSkene { prior, confusion } check DawidSkene::is_square);

impl DawidSkene {
    fn is_square(&self) -> bool {
        self.block() > 0 && self.confusion.len().is_multiple_of(self.block())
    }

    /// A model from a prior and the confusion matrices `[worker][answer][truth]`.
    ///
    /// # Panics
    /// If the lengths do not fit together.
    pub fn new(prior: Vec<f64>, confusion: Vec<f64>) -> Self {
        let model = Self { prior, confusion };
        assert!(model.is_square(), "confusion matrices must be K x K");
        model
    }

    /// A model in which a wrong answer is any other class alike: worker `m` is right with probability
    /// `accuracy[m]`, and gives each wrong class with probability `(1 - accuracy[m]) / (K - 1)`.
    pub fn one_coin(prior: Vec<f64>, accuracy: &[f64]) -> Self {
        let classes = prior.len();
        let matrix = |&accuracy: &f64| {
            let wrong = (1.0 - accuracy) / (classes.max(2) - 1) as f64;
            let right = if classes == 1 { 1.0 } else { accuracy };
            let cell = move |cell: usize| {
                if cell.is_multiple_of(classes + 1) {
                    right
                } else {
                    wrong
                }
            };
            (0..classes * classes).map(cell)
        };
        Self::new(prior, accuracy.iter().flat_map(matrix).collect())
    }

    /// Number of classes, K.
    pub fn class_count(&self) -> usize {
        self.prior.len()
    }

    /// Number of workers, M.
    pub fn worker_count(&self) -> usize {
        self.confusion.len() / self.block()
    }

    /// Probability of each class before any answer is seen.
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// One worker's confusion matrix, row-major: row = answer, column = truth, columns sum to 1.
    pub fn confusion(&self, worker: usize) -> &[f64] {
        &self.confusion[worker * self.block()..][..self.block()]
    }

    /// Numbers in a confusion matrix.
    fn block(&self) -> usize {
        self.prior.len() * self.prior.len()
    }

    /// All confusion matrices, `[worker][answer][truth]`.
    pub fn confusions(&self) -> &[f64] {
        &self.confusion
    }

    /// Probability that this worker answers `answer` when the truth is `truth`.
    pub fn probability(&self, worker: usize, answer: usize, truth: usize) -> f64 {
        self.confusion(worker)[answer * self.prior.len() + truth]
    }

    /// The joint distribution `A_m D A_j^T` of the answers of two workers, `[answer of m][answer of j]`.
    pub fn co_occurrence(&self, m: usize, j: usize) -> Vec<f64> {
        let classes = self.class_count();
        let cell = |cell: usize| {
            let (a, b) = (cell / classes, cell % classes);
            let joint = |k| self.prior[k] * self.probability(m, a, k) * self.probability(j, b, k);
            (0..classes).map(joint).sum()
        };
        (0..classes * classes).map(cell).collect()
    }

    /// Probability that this worker is right about a task drawn from the prior.
    pub fn accuracy(&self, worker: usize) -> f64 {
        let right = |k| self.prior[k] * self.probability(worker, k, k);
        (0..self.prior.len()).map(right).sum()
    }

    /// The same model of all workers but the last.
    pub(crate) fn without_last_worker(mut self) -> Self {
        let left = self.confusion.len().saturating_sub(self.block());
        self.confusion.truncate(left);
        self
    }

    /// The same matrices with another prior.
    pub(crate) fn with_prior(self, prior: Vec<f64>) -> Self {
        Self { prior, ..self }
    }

    /// The same model with class `k` taken from component `order[k]` (columns and prior, not answers).
    pub fn with_truth_order(&self, order: &[usize]) -> Self {
        let ordered = |table: &[f64]| select_columns(table, self.prior.len(), order);
        Self::new(ordered(&self.prior), ordered(&self.confusion))
    }
}
