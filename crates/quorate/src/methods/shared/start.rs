//! Where the iterative methods start: the votes, or, where some truths are known, votes weighed by how the workers did on
//! those.
//!
//! Votes alone can point the wrong way, and an iteration that starts there ends there, a few known truths or not. So
//! with gold a worker's first matrix is counted on the known tasks; the votes stand in for what these do not cover,
//! worth [`VOTES_WORTH`] labels a column. One E-step with these matrices is the start.

use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use crate::methods::vote_fractions;
use crate::model::{Consensus, VOTES_WORTH, count_answers, posterior, reserve_confusions};

/// The first posteriors.
pub(crate) fn starting_votes(annotations: &Annotations, context: &Context) -> Result<Consensus> {
    let votes = context.run(|| vote_fractions(annotations));
    if !annotations.has_gold() {
        return Ok(votes);
    }
    reserve_confusions(annotations, context)?;
    let classes = annotations.class_count();
    let mut known = votes.clone().into_vec();
    for (task, row) in known.chunks_exact_mut(classes).enumerate() {
        if annotations.gold(task).is_none() {
            row.fill(0.0);
        }
    }
    Ok(context.run(|| {
        let by_votes = count_answers(annotations, &votes).to_model(0.1);
        let mut counts = count_answers(annotations, &Consensus::new(classes, known));
        for (cell, probability) in counts.cells.iter_mut().zip(by_votes.confusions()) {
            *cell += VOTES_WORTH * probability;
        }
        counts.mass = by_votes.prior().to_vec();
        posterior(annotations, &counts.to_model(0.0)).0
    }))
}
