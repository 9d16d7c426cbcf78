//! Krippendorff's alpha.
//!
//! ```text
//! alpha = 1 - D_o / D_e
//! D_o = 1/n  sum over tasks with r_i >= 2 of  1/(r_i - 1) sum_{c,k} n_ic n_ik d(c, k)
//! D_e = 1/(n (n - 1))  sum_{c,k} n_c n_k d(c, k),          n_c = sum_i n_ic,   n = sum_c n_c   over the same tasks
//! ```
//!
//! | scale | d(c, k) |
//! |---|---|
//! | nominal | 1 if c and k differ |
//! | ordinal | (n_c/2 + sum of n_g between c and k + n_k/2)^2 = (x_c - x_k)^2 with the mid-rank x_c = sum_{g<c} n_g + n_c/2 |
//! | interval | (x_c - x_k)^2 with the value x_c |
//!
//! Ordinal is interval on mid-ranks, and `sum_{c,k} n_c n_k (x_c - x_k)^2 = 2 n sum_c n_c (x_c - mean)^2`:
//! each scale costs one pass over the counts, no K x K table. Every label counts the same, so that a task
//! with more labels counts more (unlike in [Fleiss' kappa](super::fleiss)).
//!
//! Undefined (0/0) where all pairable labels are the same class: D_e = 0.
//!
//! K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).

use super::Undefined;
use super::answer_patterns::AnswerPatterns;

/// Nominal, ordinal (in the order of the classes) and interval alpha; the last with a value for each class.
pub(super) fn alphas(
    patterns: &AnswerPatterns,
    tasks: &[u64],
    values: Option<&[f64]>,
) -> [Result<f64, Undefined>; 3] {
    let mut labels_of = vec![0.0; patterns.class_count()];
    for (pattern, weight) in patterns.weighted(tasks).filter(|(p, _)| p.labels >= 2.0) {
        for &(k, count) in pattern.counts {
            labels_of[k as usize] += weight * f64::from(count);
        }
    }
    let n: f64 = labels_of.iter().sum();
    if n == 0.0 {
        return [Err(Undefined::NoPairs); 3];
    }
    let mut below = 0.0;
    let mut mid_rank = |&labels: &f64| {
        below += labels;
        below - labels / 2.0
    };
    let mid_ranks: Vec<f64> = labels_of.iter().map(&mut mid_rank).collect();
    let nominal = alpha(patterns, tasks, &labels_of, |counts| {
        let total: f64 = counts.clone().map(|(_, n)| n).sum();
        counts.map(|(_, n)| n * (total - n)).sum()
    });
    let distance = |values: &[f64]| {
        alpha(patterns, tasks, &labels_of, |counts| {
            let total: f64 = counts.clone().map(|(_, n)| n).sum();
            let mean = counts.clone().map(|(k, n)| n * values[k]).sum::<f64>() / total;
            2.0 * total * counts.map(|(k, n)| n * (values[k] - mean).powi(2)).sum::<f64>()
        })
    };
    [
        nominal,
        distance(&mid_ranks),
        values.map_or(Err(Undefined::NotNumbers), distance),
    ]
}

/// (class, number of labels), more than once over the same counts.
type Counts<'a> = std::iter::Map<std::slice::Iter<'a, (u16, f64)>, fn(&(u16, f64)) -> (usize, f64)>;

fn alpha(
    patterns: &AnswerPatterns,
    tasks: &[u64],
    labels_of: &[f64],
    disagreement: impl Fn(Counts<'_>) -> f64,
) -> Result<f64, Undefined> {
    let as_counts: fn(&(u16, f64)) -> (usize, f64) = |&(k, n)| (k as usize, n);
    let mut buffer: Vec<(u16, f64)> = Vec::new();
    let mut observed = 0.0;
    for (pattern, weight) in patterns.weighted(tasks).filter(|(p, _)| p.labels >= 2.0) {
        // One class only: no disagreement, and no rounding that could make one.
        if pattern.counts.len() > 1 {
            buffer.clear();
            buffer.extend(pattern.counts.iter().map(|&(k, count)| (k, f64::from(count))));
            observed += weight * disagreement(buffer.iter().map(as_counts)) / (pattern.labels - 1.0);
        }
    }
    buffer.clear();
    let used = labels_of.iter().enumerate().filter(|(_, labels)| **labels > 0.0);
    buffer.extend(used.map(|(k, &labels)| (k as u16, labels)));
    let n: f64 = labels_of.iter().sum();
    let expected = disagreement(buffer.iter().map(as_counts)) / (n - 1.0);
    if buffer.len() < 2 || expected == 0.0 {
        return Err(Undefined::NoVariation);
    }
    Ok(1.0 - observed / expected)
}
