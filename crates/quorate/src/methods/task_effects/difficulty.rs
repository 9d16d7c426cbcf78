//! How hard each task is.
//!
//! ```text
//! difficulty_j = 1 - sum_k q_jk softmax_l(B[k,l] + tau_jk[l])[k]
//! ```
//!
//! The chance that an average worker of this crowd gives a wrong answer to the task: the effects of the task
//! on top of the crowd's matrix, under each class that it could be of.

use crate::linalg::exponential::exponential;

/// Difficulty of tasks with these posteriors and effects (`[task][answer][truth]`).
pub(super) fn find_difficulty(crowd: &[f64], rows: &[f64], effects: &[f64]) -> Vec<f64> {
    let cells = crowd.len();
    let classes = cells.isqrt();
    let mut sums = vec![0.0; classes];
    let tasks = rows.chunks_exact(classes).zip(effects.chunks_exact(cells));
    tasks
        .map(|(row, tau)| {
            sums.fill(0.0);
            let mut right = 0.0;
            let chance = |cell: usize| exponential(crowd[cell] + tau[cell]);
            for cell in 0..cells {
                sums[cell % classes] += chance(cell);
            }
            for (k, (q, sum)) in row.iter().zip(&sums).enumerate() {
                right += q * chance(k * classes + k) / sum;
            }
            (1.0 - right).clamp(0.0, 1.0)
        })
        .collect()
}
