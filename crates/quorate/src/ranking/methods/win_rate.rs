//! `win-rate`: the share of its comparisons that an item wins, ties half.
//!
//! ```text
//! r_i = (wins_i + ties_i / 2) / comparisons_i
//! ```
//!
//! The plain answer: it takes no account of whom an item met. Intervals are Wilson's, by the logarithm of the odds.
//! `O(rows)`.

use crate::context::Context;
use crate::declare_method;
use crate::error::Result;
use crate::ranking::components::Components;
use crate::ranking::fit::{Rank, RankFit, Uncertainty};
use crate::ranking::judges::count_judges;
use crate::ranking::observations::Observations;
use crate::ranking::{Comparisons, draw_count};
use rand::RngExt;

declare_method! {
    /// Shares of comparisons won.
    pub struct WinRate {}
    name: "win-rate",
    aliases: ["winrate"],
    summary: "The share of its comparisons that each item wins, ties half",
    description: "The plain answer, with no account of whom an item met and who judged.",
    citation: "",
    facts: [],
    build: Pairs,
}

impl Rank for WinRate {
    fn estimate(&self, comparisons: &Comparisons, context: &mut Context) -> Result<RankFit> {
        context.step("counting", 0, None)?;
        let rows = Observations::of(comparisons);
        let components = Components::of(&rows);
        let (mut won, mut met) = (vec![0.0; rows.items], vec![0.0; rows.items]);
        for row in rows.iter() {
            let share = row.outcome.left_share();
            for (item, share) in [(row.left, share), (row.right, 1.0 - share)] {
                won[item] += row.weight * share;
                met[item] += row.weight;
            }
        }
        let scores: Vec<f64> = won
            .iter()
            .zip(&met)
            .map(|(won, met)| if *met > 0.0 { won / met } else { 0.5 })
            .collect();
        // Half a win and half a loss more keep the odds finite.
        let odds = |(won, met): (&f64, &f64)| ((won + 0.5) / (met - won + 0.5)).ln();
        let strengths: Vec<f64> = won.iter().zip(&met).map(odds).collect();
        let variance = |(won, met): (&f64, &f64)| 1.0 / (won + 0.5) + 1.0 / (met - won + 0.5);
        let deviations: Vec<f64> = won.iter().zip(&met).map(|pair| variance(pair).sqrt()).collect();
        let mut rng = context.rng(0);
        let draws = (0..draw_count(&rows) * rows.items).map(|place| {
            let normal: f64 = rng.sample(rand_distr::StandardNormal);
            (normal * deviations[place % rows.items]) as f32
        });
        let uncertainty = Uncertainty {
            covariance: None,
            draws: draws.collect(),
            deviations,
        };
        Ok(RankFit {
            uncertainty: Some(uncertainty),
            judges: count_judges(&rows, !comparisons.judges().is_empty(), &strengths),
            ..RankFit::of_scores("win-rate", scores, strengths, &components)
        })
    }
}
