//! EM that starts from what an earlier fit rests on, for labels that came later.
//!
//! ```text
//! start: A_m(a, k) = (C_m(a, k) + P(a, k)) / (sum_a C_m(a, k) + 1)      C: the counts of the earlier fit, P: its crowd's matrix
//! ```
//!
//! The rounds are those of a fit from votes, over all labels, so both end in the same place where the likelihood has one
//! optimum near both starts (some smoothing helps). Counts are drawn to the crowd by one label a column: an answer that
//! was never given before must not be impossible, and a worker not seen before is one of the crowd. As in a start from votes, a
//! class that nobody named on a task has no share there at first; a task with an answer that the earlier fit never met starts
//! from its votes.

use super::pooled_ds::match_model;
use super::{DawidSkeneEm, Fit, vote_fractions};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use crate::model::{AnswerCounts, Consensus, EmStart, posterior, reserve_confusions};

/// Pseudo-labels a column that draw the first matrices to the crowd.
const STRENGTH: f64 = 1.0;

impl DawidSkeneEm {
    /// Fits all labels, old and new, starting from the expected answers that an earlier fit rests on; workers and classes of
    /// `earlier` are those of the annotations.
    pub fn refit(
        &self,
        annotations: &Annotations,
        earlier: &AnswerCounts,
        context: &mut Context,
    ) -> Result<Fit> {
        reserve_confusions(annotations, context)?;
        let classes = annotations.class_count();
        let pooled = earlier.pooled();
        let mut counts = earlier.clone();
        // Labels stand for tasks: near enough for a start.
        counts.mass = (0..classes)
            .map(|k| pooled[k..].iter().step_by(classes).sum())
            .collect();
        let met: Vec<bool> = pooled
            .chunks_exact(classes)
            .map(|answers| answers.iter().any(|&count| count > 0.0))
            .collect();
        let start = context.run(|| {
            let mut rows = posterior(annotations, &match_model(&counts, STRENGTH))
                .0
                .into_vec();
            let votes = vote_fractions(annotations);
            for (task, row) in rows.chunks_exact_mut(classes).enumerate() {
                let mut answers = annotations.labels_of_task(task).map(|(_, answer)| answer);
                if annotations.gold(task).is_none() && answers.len() > 0 {
                    keep_named(row, votes.row(task), answers.any(|answer| !met[answer]));
                }
            }
            Consensus::new(classes, rows)
        });
        Ok(self
            .em
            .run(annotations, EmStart::Consensus(start), context)?
            .into())
    }
}

/// Leaves the classes that somebody named, as a start from votes does; the votes themselves where they say more.
fn keep_named(row: &mut [f64], votes: &[f64], only_votes: bool) {
    for (q, &vote) in row.iter_mut().zip(votes) {
        *q = if vote > 0.0 { *q } else { 0.0 };
    }
    let named: f64 = row.iter().sum();
    match only_votes || named < f64::MIN_POSITIVE {
        true => row.copy_from_slice(votes),
        false => row.iter_mut().for_each(|q| *q /= named),
    }
}
