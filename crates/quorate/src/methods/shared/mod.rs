//! What several methods share: where they start, workers who copy.

pub(super) mod copying;
pub(crate) mod start;
