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
    let row = |a: usize| -> u128 {
        table[a * classes..][..classes]
            .iter()
            .map(|&n| u128::from(n))
            .sum()
    };
    let column = |a: usize| -> u128 { table[a..].iter().step_by(classes).map(|&n| u128::from(n)).sum() };
    let shared: u128 = table.iter().map(|&n| u128::from(n)).sum();
    if shared == 0 {
        return Err(Undefined::TooFewShared);
    }
    // In whole numbers, so that 0/0 is seen exactly.
    let observed = shared
        * (0..classes)
            .map(|a| u128::from(table[a * classes + a]))
            .sum::<u128>();
    let by_chance: u128 = (0..classes).map(|a| row(a) * column(a)).sum();
    if by_chance == shared * shared {
        return Err(Undefined::NoVariation);
    }
    Ok((observed as f64 - by_chance as f64) / (shared * shared - by_chance) as f64)
}
