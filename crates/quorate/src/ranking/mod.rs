//! Which is better: pairwise comparisons, and the judges who make them, to a leaderboard.
//!
//! ```text
//! Comparisons --fold--> Observations --Newton--> scores, judges, curvature --> RankFit --> leaderboard, judges, next pairs
//! ```
//!
//! The model of the default method, `judge-bt`, stands in `davidson.rs`; items, judges and their intervals are what a
//! reader gets. Items that were never compared, not even through others, are in groups of their own, and no prior
//! links them.
//!
//! ```
//! use quorate::ranking::{Comparisons, JudgeBt, Outcome, Rank};
//!
//! let rows = [("a", "b", Outcome::Left), ("b", "c", Outcome::Left), ("c", "a", Outcome::Right), ("a", "b", Outcome::Tie)];
//! let table = Comparisons::from_rows(rows)?;
//! let fit = JudgeBt::default().fit(&table, &mut quorate::Context::new(0))?;
//! assert!(fit.scores[0] > fit.scores[1] && fit.scores[1] > fit.scores[2]);
//! # Ok::<(), quorate::Error>(())
//! ```

mod clusters;
mod comparisons;
mod components;
mod curvature;
mod davidson;
mod evaluate;
mod fit;
mod held_out;
mod judges;
mod leaderboard;
mod methods;
mod next_pairs;
mod observations;
mod rankings;
mod simulate;
mod table;

pub use comparisons::{
    BothBad, Comparison, Comparisons, ComparisonsBuilder, Outcome, RankColumns, RankNames, SetAside,
    ShownOrder,
};
pub use davidson::Sizes;
pub use evaluate::{RankEvaluation, ScoredItem, evaluate_scores};
pub use fit::{Rank, RankFit, Uncertainty};
pub use held_out::{HeldOut, held_out};
pub use judges::{JudgeFit, JudgeModel, JudgeVerdict};
pub use leaderboard::Standing;
pub use methods::{BradleyTerry, DEFAULT_METHOD, Elo, JudgeBt, METHODS, PlackettLuce, WinRate};
pub use next_pairs::NextPair;
pub use observations::Swaps;
pub use rankings::{Rankings, RankingsBuilder};
pub use simulate::{PairSimulation, SimulatedPairs};
pub use table::{ComparisonTable, Ranked};

use observations::Observations;

/// Draws of the scores, for ranges of ranks.
const DRAWS: usize = 2000;

/// How many draws a table gets: a draw of many items costs passes over the rows.
fn draw_count(rows: &Observations) -> usize {
    if rows.items <= curvature::MAX_DENSE {
        return DRAWS;
    }
    (1_000_000_000 / (rows.len() + rows.items) / 40).clamp(20, 200)
}
