//! Whether each class has a worker who is a reliable sign of it.
//!
//! ```text
//! purity_m(k) = Pr(truth k | m answers k) = mean over the tasks that m answered with k of q_n^{-m}(k)
//! ```
//!
//! with the posterior q^{-m} of the others. The factorisation identifies the model if the rows of the
//! workers' matrices are *sufficiently scattered*; it is enough that every class k has a worker who answers k
//! only where k is true (purity 1). The condition itself cannot be tested at reasonable cost; this is the
//! surrogate: the best purity of each class, with its Wilson bound at a level shared out over the candidates
//! (workers with at least [`MIN_ANSWERS`] answers k), so that the best of many is not believed for its
//! luck.
//!
//! Limits: near-specialists are a sufficient condition, not a necessary one; the others' errors lower every
//! purity, so "none found" is a warning and no proof; the prior plays a part (a common class is pure more
//! easily).

use super::answer_tables::AnswerTable;
use super::distributions::normal_quantile;

/// Answers of a class that a worker needs to be a candidate.
pub const MIN_ANSWERS: f64 = 5.0;
/// Purity from which a worker counts as a specialist.
pub const PURE: f64 = 0.8;

/// The best sign of one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Specialist {
    /// The worker with the highest lower bound, as a code; None if nobody answered the class often enough.
    pub worker: Option<usize>,
    /// Its purity.
    pub purity: f64,
    /// Lower bound of the purity, corrected for the number of candidates.
    pub bound: f64,
    /// How often it gave this answer.
    pub answers: usize,
}

/// The best worker of every class.
pub(super) fn specialists(tables: &[AnswerTable], classes: usize) -> Vec<Specialist> {
    let best = |class: usize| {
        let purity = |table: &AnswerTable| table.purity[class];
        let candidates = tables
            .iter()
            .filter(|table| purity(table).0 >= MIN_ANSWERS)
            .count();
        let z = normal_quantile(0.05 / candidates.max(1) as f64);
        let mut best = Specialist {
            worker: None,
            purity: 0.0,
            bound: 0.0,
            answers: 0,
        };
        for (worker, table) in tables.iter().enumerate() {
            let (answers, right) = purity(table);
            let bound = lower_bound(right, answers, z);
            if answers >= MIN_ANSWERS && (best.worker.is_none() || bound > best.bound) {
                best = Specialist {
                    worker: Some(worker),
                    purity: right / answers,
                    bound,
                    answers: answers as usize,
                };
            }
        }
        best
    };
    (0..classes).map(best).collect()
}

/// Wilson's lower bound of a proportion at z standard deviations.
fn lower_bound(successes: f64, n: f64, z: f64) -> f64 {
    let p = successes / n;
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    ((centre - half) / (1.0 + z * z / n)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_many_needs_more_evidence() {
        let table = |answers: f64, right: f64| AnswerTable {
            counts: vec![0.0; 4],
            tasks: answers,
            purity: vec![(answers, right), (0.0, 0.0)],
            error: 0.0,
            evidence: Vec::new(),
        };
        let alone = specialists(&[table(100.0, 95.0)], 2);
        let among_many = specialists(&[vec![table(100.0, 95.0)], vec![table(6.0, 6.0); 99]].concat(), 2);
        assert_eq!(
            (alone[0].worker, among_many[0].worker, alone[1].worker),
            (Some(0), Some(0), None)
        );
        assert!(among_many[0].bound < alone[0].bound && alone[0].bound < 0.95);
    }
}
