//! Cohen's kappa of two workers, from the table of their answers to shared tasks.
//!
//! ```text
//! kappa = (p_o - p_e) / (1 - p_e),   p_o = sum_a N(a,a) / S,   p_e = sum_a N(a,.) N(.,a) / S^2
//! ```
//!
//! Undefined (0/0) where both gave one and the same answer to every shared task.
//!
//! J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
//! (1960).

use super::Undefined;

/// Cohen's kappa of a K x K table of counts `[answer of the first][answer of the second]`.
pub fn cohen_kappa(table: &[u32], classes: usize) -> Result<f64, Undefined> {
    assert_eq!(table.len(), classes * classes, "the table must be K x K");
    let sum = |from: usize, step: usize, count: usize| -> u128 {
        let cells = table[from..].iter().step_by(step).take(count);
        cells.map(|&n| u128::from(n)).sum()
    };
    let shared = sum(0, 1, table.len());
    if shared == 0 {
        return Err(Undefined::TooFewShared);
    }
    // In whole numbers, so that 0/0 is seen exactly.
    let observed = shared * sum(0, classes + 1, classes);
    let product = |a: usize| sum(a * classes, 1, classes) * sum(a, classes, classes);
    let by_chance = (0..classes).map(product).sum();
    above_chance(observed, by_chance, shared * shared).ok_or(Undefined::NoVariation)
}

/// `(observed - by_chance) / (all - by_chance)`; none where chance agrees fully.
pub(crate) fn above_chance(observed: u128, by_chance: u128, all: u128) -> Option<f64> {
    let excess = observed as f64 - by_chance as f64;
    (by_chance < all).then(|| excess / (all - by_chance) as f64)
}
