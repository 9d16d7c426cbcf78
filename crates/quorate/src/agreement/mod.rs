//! How far workers agree with each other, beyond chance.
//!
//! | coefficient | question | file |
//! |---|---|---|
//! | observed agreement | how often do two labels of a task agree? | `fleiss` |
//! | Fleiss' kappa | .. above what class shares alone would give | `fleiss` |
//! | Krippendorff's alpha | the same, each label with the same weight; also for ordered and numeric classes | `krippendorff` |
//! | Gwet's AC1 | .. with a chance that does not explode for rare classes | `gwet` |
//! | Cohen's kappa | two workers at a time, each with class shares of its own | `cohen`, `pairwise` |
//!
//! Agreement is not truth: workers who copy each other agree, and workers who see different halves of the
//! truth do not. Where a coefficient is 0/0 the result says so ([`Undefined`]). Tasks with one label cannot
//! disagree: they are not pairable, and count in no observed agreement.
//!
//! All coefficients over tasks are functions of the labels of each class on each task (`AnswerPatterns`);
//! time is linear in labels, and in replicates times distinct patterns for the intervals (`bootstrap`).

mod answer_patterns;
mod bootstrap;
mod cohen;
mod fleiss;
mod gwet;
mod krippendorff;
mod pairwise;
mod undefined;

pub(crate) use answer_patterns::{AnswerPatterns, CountPatterns};
pub(crate) use cohen::above_chance;
pub use cohen::cohen_kappa;
pub use pairwise::{PairAgreement, Pairwise};
pub use undefined::Undefined;

use crate::annotations::{Annotations, Names};
use crate::{Context, Error, Result};
use fleiss::Shares;

/// First random stream of the intervals over tasks.
const STREAM: u64 = 0xa9ee << 40;
/// With more classes than this no intervals are made for single classes.
const MAX_CLASS_INTERVALS: usize = 256;

/// How to measure agreement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgreementSettings {
    /// Bootstrap replicates; 0 for no intervals.
    pub replicates: usize,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Least number of shared tasks of a pair of workers.
    pub min_shared: usize,
    /// Largest number of pairs that are listed one by one.
    pub max_pairs: usize,
}

impl Default for AgreementSettings {
    fn default() -> Self {
        Self {
            replicates: 1000,
            confidence: 0.95,
            min_shared: 10,
            max_pairs: 100,
        }
    }
}

/// A coefficient with its bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// The value, or why there is none.
    pub value: std::result::Result<f64, Undefined>,
    /// Percentile interval over resampled tasks, if it was asked for and is defined.
    pub interval: Option<(f64, f64)>,
}

/// Agreement on one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassAgreement {
    /// Mean share of the class in the labels of a task.
    pub share: f64,
    /// Fleiss' kappa of this class against all others.
    pub kappa: Coefficient,
    /// Probability that another label of the task is this class, given that one is.
    pub specific: Coefficient,
}

/// How far workers agree.
#[derive(Debug, Clone, PartialEq)]
pub struct AgreementReport {
    /// Tasks with at least two labels.
    pub pairable_tasks: u64,
    /// Probability that two labels of a task agree.
    pub observed: Coefficient,
    /// Fleiss' kappa.
    pub fleiss: Coefficient,
    /// Krippendorff's alpha, classes without order.
    pub alpha_nominal: Coefficient,
    /// Krippendorff's alpha, classes in their order.
    pub alpha_ordinal: Coefficient,
    /// Krippendorff's alpha, classes as numbers (their names).
    pub alpha_interval: Coefficient,
    /// Gwet's AC1.
    pub ac1: Coefficient,
    /// Each class against all others.
    pub classes: Vec<ClassAgreement>,
    /// Two workers at a time.
    pub pairwise: Pairwise,
}

/// Most bootstrap replicates: an interval does not change beyond that, and memory would.
const MAX_REPLICATES: usize = 1_000_000;

/// Number of coefficients over all classes, ahead of the two for each class.
const OVERALL: usize = 6;

impl AgreementSettings {
    /// Measures the agreement of a table's workers. The same table, settings and seed give the same bits, for
    /// any number of threads and any order of the rows.
    ///
    /// ```
    /// use quorate::agreement::AgreementSettings;
    /// use quorate::{AnnotationsBuilder, Context};
    ///
    /// let mut builder = AnnotationsBuilder::default();
    /// for (task, labels) in [("t1", ["cat", "cat"]), ("t2", ["dog", "dog"]), ("t3", ["cat", "dog"])] {
    ///     builder.push(task, "ann", labels[0])?;
    ///     builder.push(task, "bob", labels[1])?;
    /// }
    /// let report = AgreementSettings::default().measure(&builder.build()?, &Context::new(0))?;
    /// assert_eq!(report.observed.value, Ok(2.0 / 3.0));
    /// # Ok::<(), quorate::Error>(())
    /// ```
    pub fn measure(&self, annotations: &Annotations, context: &Context) -> Result<AgreementReport> {
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            let problem = format!("{} found, expected a number between 0 and 1", self.confidence);
            return Err(Error::parameter("confidence", problem));
        }
        if self.replicates > MAX_REPLICATES {
            let problem = format!("{} found, expected at most {MAX_REPLICATES}", self.replicates);
            return Err(Error::parameter("replicates", problem));
        }
        let patterns = AnswerPatterns::of(annotations);
        let values = class_values(annotations.classes());
        let single = |tasks: &[u64], classes: bool| all(&patterns, tasks, values.as_deref(), classes);
        let point = single(patterns.tasks(), true);
        let class_intervals = annotations.class_count() <= MAX_CLASS_INTERVALS;
        let replicates = bootstrap::resample(patterns.tasks(), self.replicates, STREAM, context, |tasks| {
            let values = single(tasks, class_intervals);
            values.into_iter().map(std::result::Result::ok).collect()
        });
        let coefficient = |index: usize| Coefficient {
            value: point[index],
            interval: (point[index].is_ok() && (class_intervals || index < OVERALL))
                .then(|| bootstrap::percentiles(&replicates, index, self.confidence))
                .flatten(),
        };
        let shares = Shares::of(&patterns, patterns.tasks()).class;
        let class = |(k, &share): (usize, &f64)| ClassAgreement {
            share,
            kappa: coefficient(OVERALL + 2 * k),
            specific: coefficient(OVERALL + 2 * k + 1),
        };
        Ok(AgreementReport {
            pairable_tasks: patterns.pairable_tasks(),
            observed: coefficient(0),
            fleiss: coefficient(1),
            alpha_nominal: coefficient(2),
            alpha_ordinal: coefficient(3),
            alpha_interval: coefficient(4),
            ac1: coefficient(5),
            classes: shares.iter().enumerate().map(class).collect(),
            pairwise: pairwise::pairwise(annotations, self, context),
        })
    }
}

/// The coefficients over all classes, in the order of [`AgreementReport`]: observed agreement, Fleiss' kappa,
/// Krippendorff's alpha for nominal, ordinal and interval classes, Gwet's AC1.
pub(crate) fn overall(patterns: &AnswerPatterns, classes: &Names) -> Vec<Result<f64, Undefined>> {
    all(
        patterns,
        patterns.tasks(),
        class_values(classes).as_deref(),
        false,
    )
}

/// All coefficients for these numbers of tasks of each pattern: the overall ones, then two for each class.
fn all(
    patterns: &AnswerPatterns,
    tasks: &[u64],
    values: Option<&[f64]>,
    classes: bool,
) -> Vec<Result<f64, Undefined>> {
    let shares = Shares::of(patterns, tasks);
    let mut found = vec![shares.observed, shares.kappa()];
    found.extend(krippendorff::alphas(patterns, tasks, values));
    found.push(gwet::ac1(&shares));
    if classes {
        found.extend(fleiss::by_class(patterns, tasks, &shares).into_iter().flatten());
    }
    found
}

/// The classes as numbers, if all their names are.
fn class_values(classes: &Names) -> Option<Vec<f64>> {
    let number = |name: &str| name.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    classes.iter().map(number).collect()
}

#[cfg(test)]
mod tests;
