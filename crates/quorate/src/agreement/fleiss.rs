//! Observed agreement and Fleiss' kappa, for any number of labels a task, overall and for each class.
//!
//! ```text
//! p_o     = mean over tasks with r_i >= 2 of  sum_k n_ik (n_ik - 1) / (r_i (r_i - 1))
//! p(k)    = mean over labelled tasks of  n_ik / r_i
//! kappa   = (p_o - p_e) / (1 - p_e),      p_e = sum_k p(k)^2
//! ```
//!
//! Every task counts the same, however many labels it has. With the same number on each this is Fleiss
//! (1971); the generalisation, in which a task with one label counts in the class shares but not in the
//! agreement, is that of Gwet (Handbook of Inter-Rater Reliability, 2014).
//!
//! For one class k all others are taken together:
//!
//! ```text
//! kappa(k)    = 1 - mean 2 n_ik (r_i - n_ik) / (r_i (r_i - 1)) / (2 p(k) (1 - p(k)))
//! specific(k) = sum_i n_ik (n_ik - 1) / (r_i - 1)  /  sum_i n_ik        over tasks with r_i >= 2
//! ```
//!
//! The specific agreement is the probability that another label of the task is k, given that one is.
//!
//! Undefined where no task has two labels, and, the kappas, where the class shares leave nothing to chance.

use super::Undefined;
use super::answer_patterns::AnswerPatterns;

/// Shares of the classes and observed agreement: what Fleiss' kappa and AC1 are made of.
#[derive(Debug, Clone)]
pub(super) struct Shares {
    /// p(k).
    pub class: Vec<f64>,
    /// p_o.
    pub observed: Result<f64, Undefined>,
}

impl Shares {
    pub(super) fn of(patterns: &AnswerPatterns, tasks: &[u64]) -> Self {
        let mut class = vec![0.0; patterns.class_count()];
        let (mut agree, mut pairable, mut labelled) = (0.0, 0.0, 0.0);
        for (pattern, weight) in patterns.weighted(tasks) {
            let r = pattern.labels;
            labelled += weight;
            let mut equal = 0.0;
            for &(k, count) in pattern.counts {
                let n = f64::from(count);
                class[k as usize] += weight * n / r;
                equal += n * (n - 1.0);
            }
            if r >= 2.0 {
                pairable += weight;
                agree += weight * equal / (r * (r - 1.0));
            }
        }
        class.iter_mut().for_each(|share| *share /= labelled);
        let observed = ratio(agree, pairable, Undefined::NoPairs);
        Self { class, observed }
    }

    /// Fleiss' kappa.
    pub(super) fn kappa(&self) -> Result<f64, Undefined> {
        let by_chance: f64 = self.class.iter().map(|share| share * share).sum();
        above_chance(self.observed?, by_chance)
    }
}

/// A part of a whole; undefined where there is none.
fn ratio(part: f64, whole: f64, reason: Undefined) -> Result<f64, Undefined> {
    if whole > 0.0 {
        Ok(part / whole)
    } else {
        Err(reason)
    }
}

/// `(p_o - p_e) / (1 - p_e)`; undefined where chance agrees fully.
pub(super) fn above_chance(observed: f64, by_chance: f64) -> Result<f64, Undefined> {
    // Shares are sums of fractions: 1 - p_e is 0 up to rounding where one class has all labels.
    if 1.0 - by_chance < 1e-12 {
        return Err(Undefined::NoVariation);
    }
    Ok((observed - by_chance) / (1.0 - by_chance))
}

/// Fleiss' kappa and the specific agreement of every class.
pub(super) fn by_class(
    patterns: &AnswerPatterns,
    tasks: &[u64],
    shares: &Shares,
) -> Vec<[Result<f64, Undefined>; 2]> {
    let classes = patterns.class_count();
    // For each class: disagreement, matching labels, labels on pairable tasks.
    let mut sums = vec![[0.0; 3]; classes];
    let mut pairable = 0.0;
    for (pattern, weight) in patterns.weighted(tasks) {
        let r = pattern.labels;
        if r < 2.0 {
            continue;
        }
        pairable += weight;
        for &(k, count) in pattern.counts {
            let n = f64::from(count);
            let sums = &mut sums[k as usize];
            sums[0] += weight * 2.0 * n * (r - n) / (r * (r - 1.0));
            sums[1] += weight * n * (n - 1.0) / (r - 1.0);
            sums[2] += weight * n;
        }
    }
    let one = |(&[disagree, matching, labels], &share): (&[f64; 3], &f64)| {
        if pairable == 0.0 {
            return [Err(Undefined::NoPairs); 2];
        }
        let chance = 2.0 * share * (1.0 - share);
        let kappa = 1.0 - disagree / pairable / chance;
        let kappa = if chance > 1e-12 {
            Ok(kappa)
        } else {
            Err(Undefined::NoVariation)
        };
        [kappa, ratio(matching, labels, Undefined::NoPairs)]
    };
    sums.iter().zip(&shares.class).map(one).collect()
}
