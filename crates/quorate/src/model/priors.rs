//! What is known before any label is seen: how common the classes are, and how the workers erred before.
//!
//! ```text
//! C_m(a, k) <- C_m(a, k) + H_m(a, k)        H_m: answers of worker m to tasks of class k in earlier data
//! S(k)      <- S(k) + w p(k)                p: expected shares of the classes, worth w tasks; or held fixed
//! ```
//!
//! Both are pseudo-counts that every M-step adds, so they weigh as much as the labels they stand for and fade
//! as new labels come in.

use super::posterior::LOG_FLOOR;
use super::{AnswerCounts, DawidSkene};
use crate::linalg::small::{add, add_scaled, dot};
use crate::{Error, Result};

/// How common each class is expected to be.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassPrior {
    shares: Vec<f64>,
    weight: Option<f64>,
}

impl ClassPrior {
    /// Shares that are held fixed.
    pub fn fixed(shares: Vec<f64>) -> Result<Self> {
        Self::checked(shares, None)
    }

    /// Shares that count as much as this many tasks of known truth.
    pub fn worth_tasks(shares: Vec<f64>, tasks: f64) -> Result<Self> {
        if !(tasks.is_finite() && tasks >= 0.0) {
            return Err(Error::parameter(
                "prior",
                format!("{tasks} is not a number of tasks"),
            ));
        }
        Self::checked(shares, Some(tasks))
    }

    fn checked(shares: Vec<f64>, weight: Option<f64>) -> Result<Self> {
        let problem = |problem: String| Err(Error::parameter("prior", problem));
        if let Some(share) = shares.iter().find(|share| !(**share > 0.0 && **share <= 1.0)) {
            return problem(format!(
                "found a share of {share}, expected more than 0 and at most 1 for every class"
            ));
        }
        let sum: f64 = shares.iter().sum();
        if (sum - 1.0).abs() > 1e-6 {
            return problem(format!("the shares sum to {sum}, expected 1"));
        }
        let shares = shares.iter().map(|share| share / sum).collect();
        Ok(Self { shares, weight })
    }

    /// The expected shares.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Number of tasks that the shares count for; none: they are held fixed.
    pub fn weight(&self) -> Option<f64> {
        self.weight
    }
}

/// Expectations about classes and workers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Priors {
    /// How common the classes are.
    pub classes: Option<ClassPrior>,
    /// Earlier answers of the workers, as counts against the truth; workers and classes as in the
    /// annotations.
    pub workers: Option<AnswerCounts>,
}

/// Most labels that a cell of a history stands for: sums of them stay exact enough.
const MAX_LABELS: f64 = 1e12;

impl Priors {
    /// The same for a table with one worker more, of whom nothing is known.
    pub(crate) fn with_new_worker(&self) -> Self {
        let mut priors = self.clone();
        if let Some(history) = &mut priors.workers {
            let block = history.mass.len() * history.mass.len();
            history.cells.resize(history.cells.len() + block, 0.0);
        }
        priors
    }

    /// Whether nothing is expected.
    pub fn is_empty(&self) -> bool {
        self.classes.is_none() && self.workers.is_none()
    }

    /// Fails if classes or workers are not as many as in the annotations.
    #[doc(hidden)]
    pub fn check(&self, workers: usize, classes: usize) -> Result<()> {
        let shares = self.classes.as_ref().map_or(classes, |prior| prior.shares.len());
        if shares != classes {
            let problem = format!("a prior of {shares} classes does not fit {classes} classes");
            return Err(Error::Mismatch(problem));
        }
        let Some(history) = &self.workers else {
            return Ok(());
        };
        let (known, of_classes) = (history.worker_count(), history.mass.len());
        if (known, of_classes) != (workers, classes) {
            return Err(Error::Mismatch(format!(
                "a history of {known} workers and {of_classes} classes does not fit {workers} workers and {classes} classes"
            )));
        }
        let mut counts = history.cells.iter();
        if let Some(count) = counts.find(|count| !(0.0..=MAX_LABELS).contains(*count)) {
            let problem = format!("found {count} labels in a cell, expected a number from 0 to {MAX_LABELS}");
            return Err(Error::parameter("worker prior", problem));
        }
        Ok(())
    }

    /// Adds the pseudo-counts.
    #[doc(hidden)]
    pub fn add_to(&self, counts: &mut AnswerCounts) {
        if let Some(history) = &self.workers {
            add(&mut counts.cells, &history.cells);
        }
        if let Some((shares, weight)) = self.expected_shares() {
            add_scaled(&mut counts.mass, weight, shares);
        }
    }

    /// The shares of the classes that count as so many tasks, if there are such.
    fn expected_shares(&self) -> Option<(&[f64], f64)> {
        let prior = self.classes.as_ref()?;
        Some((&prior.shares, prior.weight?))
    }

    /// The shares of the classes that hold whatever the labels say, if there are such.
    #[doc(hidden)]
    pub fn fixed_shares(&self) -> Option<&[f64]> {
        let prior = self.classes.as_ref()?;
        prior.weight.is_none().then_some(&prior.shares[..])
    }

    /// The model with the fixed shares of the classes, if there are such.
    #[doc(hidden)]
    pub fn fix(&self, model: DawidSkene) -> DawidSkene {
        match self.fixed_shares() {
            Some(shares) => model.with_prior(shares.to_vec()),
            None => model,
        }
    }

    /// Draws a model that was not fitted by counting to the priors: each column as if it stood for `evidence`
    /// labels (`[worker][truth]`) beside those of the history.
    pub(crate) fn draw(&self, model: DawidSkene, evidence: &[f64], tasks: usize) -> DawidSkene {
        let classes = model.class_count();
        let mut counts = AnswerCounts::zero(model.worker_count(), classes);
        counts.mass = model.prior.iter().map(|share| share * tasks as f64).collect();
        let matrices = evidence.chunks_exact(classes);
        let columns = matrices.flat_map(|row| std::iter::repeat_n(row, classes).flatten());
        for ((cell, probability), labels) in counts.cells.iter_mut().zip(&model.confusion).zip(columns) {
            *cell = labels * probability;
        }
        self.add_to(&mut counts);
        self.fix(counts.to_model(0.0))
    }

    /// What the pseudo-counts add to the log-likelihood, up to a constant.
    pub(crate) fn log_prior(&self, model: &DawidSkene) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|p| p.ln().max(LOG_FLOOR)).collect() };
        self.expected_log(&logs(model.prior()), &logs(model.confusions()))
    }

    /// Pseudo-counts times log-probabilities of classes and answers, summed; an empty slice leaves its part
    /// out.
    #[doc(hidden)]
    pub fn expected_log(&self, log_prior: &[f64], log_confusion: &[f64]) -> f64 {
        let mut sum = 0.0;
        if let Some(history) = &self.workers {
            sum += dot(&history.cells, log_confusion);
        }
        if let Some((shares, weight)) = self.expected_shares() {
            let classes = shares.iter().zip(log_prior);
            sum += classes.map(|(share, log)| weight * share * log).sum::<f64>();
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_must_be_a_distribution() {
        assert!(ClassPrior::fixed(vec![0.2, 0.8]).is_ok());
        assert!(ClassPrior::fixed(vec![0.2, 0.7]).is_err());
        assert!(ClassPrior::fixed(vec![0.0, 1.0]).is_err());
        assert!(ClassPrior::worth_tasks(vec![0.5, 0.5], f64::NAN).is_err());
    }

    #[test]
    fn pseudo_counts_add_up_and_fixed_shares_stay() {
        let mut history = AnswerCounts::zero(1, 2);
        history.cells = vec![3.0, 0.0, 1.0, 4.0];
        let mut priors = Priors {
            classes: Some(ClassPrior::worth_tasks(vec![0.25, 0.75], 8.0).unwrap()),
            workers: Some(history),
        };
        assert!(priors.check(1, 2).is_ok() && priors.check(2, 2).is_err());
        let mut counts = AnswerCounts::zero(1, 2);
        counts.mass = vec![1.0, 1.0];
        priors.add_to(&mut counts);
        assert_eq!(
            (&counts.cells[..], &counts.mass[..]),
            (&[3.0, 0.0, 1.0, 4.0][..], &[3.0, 7.0][..])
        );
        // A model worth 4 labels a column, drawn to the history: (4 * 0.5 + 3) / (4 + 4).
        let drawn = priors.draw(DawidSkene::new(vec![0.5; 2], vec![0.5; 4]), &[4.0, 4.0], 2);
        assert_eq!(drawn.confusion(0), [5.0 / 8.0, 2.0 / 8.0, 3.0 / 8.0, 6.0 / 8.0]);
        priors.classes = Some(ClassPrior::fixed(vec![0.1, 0.9]).unwrap());
        assert_eq!(priors.fix(drawn).prior(), [0.1, 0.9]);
    }
}
