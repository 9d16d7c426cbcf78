//! Confidence that means something.
//!
//! Posteriors of models in which workers err independently are too sure of themselves: on real tasks errors
//! come together, because some tasks mislead many workers at once. Labels alone cannot tell such a task from
//! one that is what it seems (both are explained by some truth), so how common they are has to be assumed or
//! learnt from known truths:
//!
//! - without gold a share of [`TYPICAL_SHARE`] is assumed, near the best one on every public data set that we
//!   have the truth of (`docs/calibration.md`);
//! - with gold the share that makes the known truths most likely is taken, drawn to the typical one where
//!   they are few.
//!
//! Labels do not change: only the confidence is lowered to what the misled-task model ([`MisledTasks`]) gives
//! the label, never raised.

mod accuracy;
mod caution;
mod error;
mod misled;
mod share;

pub use accuracy::WorkerAccuracy;
pub(crate) use caution::{TaskVariation, TryPowers, expected_doubt, sharpen_rows};
pub use error::{CheckedLabels, ENOUGH_TRUTHS, ErrorBasis, ErrorEstimate, LEVEL};
use misled::MisledTasks;
pub(crate) use share::TryShares;
pub use share::{TYPICAL_SHARE, estimate_share};

use crate::annotations::Annotations;
use crate::blocks::{Block, Blocks, Extent, Pass, Passes, Stage, wire_format};
use crate::context::Context;
use crate::error::Result;
use crate::model::{AnswerCounts, BlockFit, Consensus, DawidSkene, count_rows, label_of};
use crate::parallel::{balanced_ranges, map_rows};

/// Lowers the confidence of every label to what it is worth if a `share` of the tasks mislead workers
/// together. Labels and known truths stay as they are.
pub fn calibrate(
    annotations: &Annotations,
    model: &DawidSkene,
    consensus: Consensus,
    share: f64,
) -> Consensus {
    let classes = consensus.class_count();
    let mut rows = consensus.into_vec();
    calibrate_rows(annotations.into(), model, &mut rows, share);
    Consensus::new(classes, rows)
}

/// [`calibrate`] for labels in blocks, the share learnt from gold where there is some and else the typical
/// one: two or three passes. Returns the share, too; a fit without a model stays as it is.
pub fn calibrate_fit(
    fit: BlockFit,
    blocks: &mut dyn Blocks,
    context: &mut Context,
) -> Result<(BlockFit, f64)> {
    let Some(model) = &fit.model else {
        return Ok((fit, 0.0));
    };
    let mut share = TYPICAL_SHARE;
    if blocks.has_gold() {
        let mut passes = Passes::over(blocks);
        passes.set_rule(fit.clone(), Stage::single("posteriors"), context)?;
        let evidence = count_consensus(&mut passes, context)?.labels_per_truth();
        share = learn_share(model, &evidence, TYPICAL_SHARE, &mut passes, context)?;
    }
    Ok((fit.calibrated(share), share))
}

/// Expected answers against the posteriors of the last pass.
pub(crate) fn count_consensus(passes: &mut Passes<'_>, context: &mut Context) -> Result<AnswerCounts> {
    passes.run(&mut CountConsensus {}, Stage::single("counting"), context)
}

/// Counts the answers against the posteriors.
pub(crate) struct CountConsensus {}
wire_format!(35 CountConsensus {});

impl Pass for CountConsensus {
    type State = AnswerCounts;

    fn width(&self, classes: usize) -> usize {
        classes
    }

    fn reads_posteriors(&self) -> bool {
        true
    }

    fn start(&mut self, extent: Extent) -> AnswerCounts {
        AnswerCounts::zero(extent.workers, extent.classes)
    }

    fn visit(&mut self, counts: &mut AnswerCounts, block: Block<'_>, posteriors: &mut [f64]) {
        counts.merge(&count_rows(block, posteriors, block.class_count()));
    }
}

/// [`estimate_share`] for labels in blocks.
pub(crate) fn learn_share(
    model: &DawidSkene,
    evidence: &[f64],
    expected: f64,
    passes: &mut Passes<'_>,
    context: &mut Context,
) -> Result<f64> {
    let mut pass = TryShares::new(model.clone(), evidence.to_vec());
    Ok(passes
        .run(&mut pass, Stage::single("gold"), context)?
        .best(expected))
}

/// [`calibrate`] for posteriors that stand in a slice, one row after another.
pub(crate) fn calibrate_rows(labels: Block<'_>, model: &DawidSkene, rows: &mut [f64], share: f64) {
    let classes = model.class_count();
    if share <= 0.0 || classes < 2 {
        return;
    }
    let ranges = balanced_ranges(labels.starts, 64);
    map_rows(ranges, rows, classes, |tasks, rows| {
        let mut misled = MisledTasks::new(model);
        let mut cautious = vec![0.0; classes];
        for (task, row) in tasks.zip(rows.chunks_exact_mut(classes)) {
            if labels.gold(task).is_some() || labels.task(task).0.is_empty() {
                continue;
            }
            misled.weigh(labels.task(task));
            misled.posterior(share, &mut cautious);
            lower_confidence(row, &cautious);
        }
    });
}

/// A label whose confidence was lowered stays ahead of the next class by about twice this: by more than
/// rounding in a file.
const AHEAD: f64 = 1e-3;

/// Gives the row's label the smaller of its two probabilities and the other classes the rest, in the
/// proportions of `cautious`; the label stays ahead by more than a tie.
fn lower_confidence(row: &mut [f64], cautious: &[f64]) {
    let label = label_of(row);
    let others: f64 = 1.0 - cautious[label];
    if others <= 0.0 {
        return;
    }
    let rival = (0..row.len())
        .filter(|&k| k != label)
        .map(|k| cautious[k] / others)
        .fold(0.0, f64::max);
    // The label keeps the first place if t >= (1 - t) rival.
    let least = rival / (1.0 + rival) + AHEAD;
    let confidence = cautious[label].max(least);
    if confidence >= row[label] {
        return;
    }
    for (k, (cell, share)) in row.iter_mut().zip(cautious).enumerate() {
        *cell = if k == label {
            confidence
        } else {
            (1.0 - confidence) * share / others
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_falls_and_labels_stay() {
        let mut row = [0.99, 0.01];
        lower_confidence(&mut row, &[0.8, 0.2]);
        assert!((row[0] - 0.8).abs() < 1e-12 && (row[1] - 0.2).abs() < 1e-12);
        // Never raised.
        let mut row = [0.7, 0.3];
        lower_confidence(&mut row, &[0.8, 0.2]);
        assert_eq!(row, [0.7, 0.3]);
        // The cautious view prefers another class: the label stays, barely.
        let mut row = [0.6, 0.4, 0.0];
        lower_confidence(&mut row, &[0.2, 0.7, 0.1]);
        assert_eq!(label_of(&row), 0);
        assert!(
            row[0] < 0.48 && (row.iter().sum::<f64>() - 1.0).abs() < 1e-12,
            "{row:?}"
        );
    }

    #[test]
    fn more_labels_are_worth_more_but_never_certainty() {
        let model = DawidSkene::one_coin(vec![0.5, 0.5], &[0.8; 12]);
        let confidence = |labels: u32, share: f64| {
            let rows = (0..labels).map(|worker| (0, worker, 0));
            let annotations = Annotations::from_codes(1, 12, 2, rows).unwrap();
            let consensus = crate::model::posterior(&annotations, &model).0;
            calibrate(&annotations, &model, consensus, share).confidence(0)
        };
        let growing: Vec<f64> = (1..=12).map(|labels| confidence(labels, 0.3)).collect();
        assert!(growing.windows(2).all(|pair| pair[1] > pair[0]), "{growing:?}");
        assert!(growing[11] < 0.99 && confidence(12, 0.0) > 0.9999, "{growing:?}");
        assert!(confidence(12, 0.5) < confidence(12, 0.1));
    }
}
