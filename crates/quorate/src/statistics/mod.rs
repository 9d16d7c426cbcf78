//! What is counted before anything is estimated: pairwise co-occurrences of workers' answers, and which
//! workers are connected by shared tasks.

mod components;
mod cooccurrence;
mod crowd;
mod label_cap;
mod pair_blocks;
mod pair_sums;

pub use components::{Components, worker_components};
pub(crate) use components::{join, root};
pub(crate) use cooccurrence::distinct_pairs;
pub use cooccurrence::{CoOccurrence, PairCost, count_cooccurrences, has_at_most_pairs, pair_cost};
pub(crate) use crowd::{Crowd, JoinWorkers, OrderWorkers, worker_order};
pub(crate) use label_cap::pair_budget;
pub use label_cap::{CappedLabels, cap_labels};
pub use pair_blocks::PairBlocks;
pub(crate) use pair_blocks::{CountPairs, pair_bytes};
pub(crate) use pair_sums::{PairSums, SharedTask};
