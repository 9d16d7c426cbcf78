//! Draws confusion matrices that stand for few labels towards the crowd.
//!
//! ```text
//! A_m(., k) <- (n_mk A_m(., k) + w P(., k)) / (n_mk + w),     P = (pooled matrix + uniform) / 2
//! ```

use crate::model::{AnswerCounts, DawidSkene};

/// The matrix that a worker is drawn to: halfway between the pooled matrix of the crowd and the uniform one,
/// so that no answer is ever impossible.
pub fn crowd_matrix(counts: &AnswerCounts) -> Vec<f64> {
    let pooled = counts.pooled_matrix();
    let uniform = (pooled.len() as f64).sqrt().recip();
    let halfway = |probability: &f64| (probability + uniform) / 2.0;
    pooled.iter().map(halfway).collect()
}

/// Draws every column of every confusion matrix to the crowd's: `(n A + w P) / (n + w)` for a column that
/// stands for `n` labels (`evidence`, `[worker][truth]`). A matrix from few labels has zeros that are only
/// absences, and one impossible answer would outweigh everything else on a task.
pub fn shrink_to_crowd(model: &DawidSkene, evidence: &[f64], crowd: &[f64], weight: f64) -> DawidSkene {
    let classes = model.class_count();
    let mut confusion = model.confusions().to_vec();
    let blocks = confusion.chunks_exact_mut(classes * classes);
    for (block, evidence) in blocks.zip(evidence.chunks_exact(classes)) {
        for (row, crowd) in block.chunks_exact_mut(classes).zip(crowd.chunks_exact(classes)) {
            for ((cell, target), labels) in row.iter_mut().zip(crowd).zip(evidence) {
                if labels + weight > 0.0 {
                    *cell = (labels * *cell + weight * target) / (labels + weight);
                }
            }
        }
    }
    DawidSkene::new(model.prior().to_vec(), confusion)
}

/// How many labels each column of each matrix stands for, `[worker][truth]`.
pub fn expected_labels(model: &DawidSkene, labels_per_worker: &[u32]) -> Vec<f64> {
    let columns = |&count: &u32| model.prior().iter().map(move |prior| f64::from(count) * prior);
    labels_per_worker.iter().flat_map(columns).collect()
}
