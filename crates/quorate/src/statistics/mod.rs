//! What is counted before anything is estimated: pairwise co-occurrences of workers' answers, and which workers
//! are connected by shared tasks.

mod components;
mod cooccurrence;
mod pair_blocks;

pub use components::{Components, worker_components};
pub use cooccurrence::{CoOccurrence, PairCost, count_cooccurrences, pair_cost};
pub use pair_blocks::PairBlocks;
