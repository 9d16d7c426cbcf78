//! `elo`: ratings that move after each comparison.
//!
//! ```text
//! E = 1 / (1 + 10^((r_j - r_i) / 400)),    r_i += k w (y - E),    r_j -= k w (y - E),    y = 1, 0, 1/2
//! ```
//!
//! The order of the rows matters: the last comparisons weigh most, and another order gives other ratings. For players
//! whose strength changes; for items that stay the same, `bradley-terry` uses all comparisons alike. `O(rows)`.
//!
//! A. E. Elo, The Rating of Chessplayers, Past and Present (1978).

use crate::context::Context;
use crate::declare_method;
use crate::error::Result;
use crate::ranking::Comparisons;
use crate::ranking::components::Components;
use crate::ranking::fit::{Rank, RankFit};
use crate::ranking::judges::count_judges;
use crate::ranking::observations::Observations;

declare_method! {
    /// Elo ratings in the order of the rows.
    pub struct Elo {
        /// how far a rating moves after one comparison
        k: f64 in 0..=1000 = 4,
    }
    name: "elo",
    aliases: [],
    summary: "Ratings that move after each comparison; the order of the rows matters",
    description: "Starts every item at 1000 and moves two ratings after each comparison. Rows in another order give \
                  other ratings, and there are no intervals.",
    citation: "A. E. Elo: The Rating of Chessplayers, Past and Present (1978)",
    facts: [],
    build: Pairs,
}

/// The rating of average items, and the points of a factor of ten in the odds.
const ELO: (f64, f64) = (1000.0, 400.0);

impl Rank for Elo {
    fn estimate(&self, comparisons: &Comparisons, context: &mut Context) -> Result<RankFit> {
        context.step("rating", 0, None)?;
        context.note("elo follows the order of the rows: another order gives other ratings");
        let per_point = std::f64::consts::LN_10 / ELO.1;
        let mut ratings = vec![ELO.0; comparisons.items().len()];
        for row in comparisons.iter() {
            let (i, j) = (row.left as usize, row.right as usize);
            let expected = 1.0 / (1.0 + ((ratings[j] - ratings[i]) * per_point).exp());
            let change = self.k * row.weight * (row.outcome.left_share() - expected);
            ratings[i] += change;
            ratings[j] -= change;
        }
        let rows = Observations::of(comparisons);
        let components = Components::of(&rows);
        let strengths: Vec<f64> = ratings
            .iter()
            .map(|rating| (rating - ELO.0) * per_point)
            .collect();
        Ok(RankFit {
            judges: count_judges(&rows, !comparisons.judges().is_empty(), &strengths),
            ..RankFit::of_scores("elo", ratings, strengths, &components)
        })
    }
}
