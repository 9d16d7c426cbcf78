//! What several methods share: where they start, votes with weights, signs at thresholds, completion of
//! tensors, workers who copy.

pub(super) mod copying;
pub(super) mod start;
pub(super) mod tensor_completion;
pub(super) mod thresholds;
pub(super) mod weighted_vote;
