//! Proper scores of the probabilities.
//!
//! ```text
//! log loss = -mean ln max(p_n(y_n), floor),        Brier = mean sum_k (p_n(k) - [k = y_n])^2
//! ```

use super::predictions::Predictions;

/// Probabilities below this count as this in the log loss: one sure mistake costs `-ln 1e-15`, about 34.5
/// nats, not infinity.
pub const LOG_LOSS_FLOOR: f64 = 1e-15;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scores {
    pub(super) log_loss: f64,
    pub(super) brier: f64,
}

/// Mean scores over the (task, truth) pairs; None without pairs or without probabilities.
pub(super) fn scores(
    predictions: &Predictions<'_>,
    scored: impl Iterator<Item = (usize, usize)>,
) -> Option<Scores> {
    let (mut log_loss, mut brier, mut count) = (0.0, 0.0, 0usize);
    for (task, truth) in scored {
        let row = predictions.row(task)?;
        // A class that the predictions do not know has probability 0.
        let of_truth = row.get(truth).copied().unwrap_or(0.0);
        log_loss -= of_truth.clamp(LOG_LOSS_FLOOR, 1.0).ln();
        let others = row.iter().enumerate().filter(|&(class, _)| class != truth);
        brier += (1.0 - of_truth).powi(2) + others.map(|(_, p)| p * p).sum::<f64>();
        count += 1;
    }
    let (log_loss, brier) = (log_loss / count as f64, brier / count as f64);
    (count > 0).then_some(Scores { log_loss, brier })
}
