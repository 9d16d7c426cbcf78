//! What several methods share: where they start, votes with weights, workers who copy.

pub(super) mod copying;
pub(crate) mod start;
pub(crate) mod weighted_vote;
