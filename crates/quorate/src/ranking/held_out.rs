//! How well methods foretell answers that they have not seen: what people without a known order can compare by.
//!
//! ```text
//! log loss = -mean [ y ln p + (1 - y) ln(1 - p) ],   y = 1, 0, 1/2 for left, right, tie,   p = P(left) + P(tie) / 2
//! ```
//!
//! Rows are dealt into folds; each fold is foretold from the others. The judge of a row is known to the method.

use rand::seq::SliceRandom;

use super::comparisons::Comparisons;
use super::fit::Rank;
use crate::context::{Context, seeded};
use crate::error::{Error, Result};

/// How well a method foretells left-out rows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HeldOut {
    /// Mean log loss.
    pub log_loss: f64,
    /// Share of the rows with a winner where the winner was the likelier one; an even chance counts half.
    pub accuracy: f64,
    /// Rows that were foretold, all runs together.
    pub rows: usize,
}

/// Fits the method to all folds but one, in turn, `runs` times with other folds.
pub fn held_out(
    method: &dyn Rank,
    comparisons: &Comparisons,
    folds: usize,
    runs: usize,
    context: &mut Context,
) -> Result<HeldOut> {
    if folds < 2 || comparisons.len() < folds {
        return Err(Error::Parameter {
            name: "folds".into(),
            problem: format!(
                "found {folds} folds for {} comparisons, expected 2 or more, and a row in each",
                comparisons.len()
            ),
        });
    }
    let (mut loss, mut weight, mut right, mut decided, mut rows) = (0.0, 0.0, 0.0, 0.0, 0);
    for run in 0..runs {
        let mut fold_of: Vec<u32> = (0..comparisons.len()).map(|row| (row % folds) as u32).collect();
        fold_of.shuffle(&mut seeded(context.seed(), STREAM + run as u64));
        for fold in 0..folds as u32 {
            let known = comparisons.filtered(|row| fold_of[row] != fold);
            let fit = method.fit(&known, context)?;
            for row in (0..comparisons.len()).filter(|&row| fold_of[row] == fold) {
                let found = comparisons.get(row);
                let judge = (!comparisons.judges().is_empty()).then_some(found.judge as usize);
                let [left, _, tie] = fit.predict(found.left as usize, found.right as usize, judge);
                let chance = (left + tie / 2.0).clamp(1e-12, 1.0 - 1e-12);
                let share = found.outcome.left_share();
                loss -= found.weight * (share * chance.ln() + (1.0 - share) * (1.0 - chance).ln());
                weight += found.weight;
                if share != 0.5 {
                    decided += found.weight;
                    let likelier = if chance == 0.5 {
                        0.5
                    } else {
                        f64::from(u8::from((chance > 0.5) == (share > 0.5)))
                    };
                    right += found.weight * likelier;
                }
                rows += 1;
            }
        }
    }
    Ok(HeldOut {
        log_loss: loss / weight,
        accuracy: if decided > 0.0 { right / decided } else { 0.5 },
        rows,
    })
}

/// Where the streams of random numbers of the folds start.
const STREAM: u64 = 1 << 43;
