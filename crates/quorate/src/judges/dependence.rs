//! How much judges err together, and how many independent judges a panel is worth.
//!
//! Errors are compared given the truth: that two judges find the same items easy to fail is strictness, not
//! dependence. With `e_j = [x_j is wrong]`, `E_j(k)` the share of wrong answers of judge j on items of class
//! k, and `q` the probabilities of the classes,
//!
//! ```text
//! rho_ij = sum_n sum_k q_n(k) (e_i - E_i(k)) (e_j - E_j(k)) / (s_i s_j),     s_j^2 = sum_n sum_k q_n(k) (e_j - E_j(k))^2
//! ```
//!
//! over the items that both answered. The truths are those of gold where there are [`ENOUGH_GOLD`] of them.
//! Without, they are the panel's own verdicts: errors that all judges share then look like the truth, and
//! only dependence that some of the voices do not share is seen.
//!
//! The number of independent judges that a panel is worth:
//!
//! ```text
//! n_eff = 1' R^-1 1,    R_ij = mean rho within the voice of i and j, or mean rho between voices; negative means count as 0
//! ```
//!
//! the precision of the best weighted mean of M correlated votes in units of one vote. For M judges with the
//! same correlation it is `M / (1 + (M - 1) rho)` (Kish's design effect).
//!
//! L. Kish, "Survey Sampling" (1965).

use super::answers::Patterns;
use crate::annotations::ByWorker;
use crate::linalg::small::solve;
use crate::statistics::{PairSums, SharedTask};

/// Known truths from which dependence is measured on them alone.
pub const ENOUGH_GOLD: u64 = 30;
/// Largest correlation: with two equal rows there is no inverse.
const LARGEST: f64 = 0.999;

/// What the correlation of errors rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// This many items whose truth is known.
    Gold(u64),
    /// The panel's own verdicts.
    Verdicts,
}

/// How much the judges of a panel err together.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependence {
    /// Groups of two judges and more who count as one voice, as worker codes.
    pub groups: Vec<Vec<usize>>,
    /// Number of voices.
    pub voices: usize,
    /// Correlation of errors given the truth, `[judge][judge]` by worker code; none where there are too few
    /// errors.
    pub correlation: Vec<Option<f64>>,
    /// Mean correlation of judges in different voices, at least 0.
    pub between_voices: f64,
    /// Number of independent judges that the panel is worth.
    pub effective_judges: f64,
    /// What this rests on.
    pub basis: Basis,
}

/// Correlations of errors, with the number of items behind each.
struct Correlations {
    judges: usize,
    /// NaN where it is not defined.
    rho: Vec<f64>,
    items: Vec<f64>,
}

pub(super) fn measure_dependence(patterns: &Patterns, rows: &[f64], voices: &[Vec<usize>]) -> Dependence {
    let gold = patterns.gold_items();
    let enough = gold >= ENOUGH_GOLD;
    let basis = if enough {
        Basis::Gold(gold)
    } else {
        Basis::Verdicts
    };
    let found = correlate(patterns, rows, basis != Basis::Verdicts);
    let (structured, between) = structure(&found, voices);
    let judges = patterns.judges;
    let mut correlation = vec![None; judges * judges];
    for i in 0..judges {
        for j in 0..judges {
            let rho = found.rho[i * judges + j];
            correlation[patterns.codes[i] * judges + patterns.codes[j]] = rho.is_finite().then_some(rho);
        }
    }
    let coded = |voice: &Vec<usize>| voice.iter().map(|&judge| patterns.codes[judge]).collect();
    Dependence {
        groups: voices.iter().filter(|voice| voice.len() > 1).map(coded).collect(),
        voices: voices.len(),
        correlation,
        between_voices: between,
        effective_judges: effective(&structured, judges),
        basis,
    }
}

fn correlate(patterns: &Patterns, rows: &[f64], gold_only: bool) -> Correlations {
    let (judges, classes) = (patterns.judges, patterns.classes);
    let mut found = Correlations {
        judges,
        rho: vec![f64::NAN; judges * judges],
        items: vec![0.0; judges * judges],
    };
    let labels = patterns.labels(&patterns.answers);
    let block = labels.view(judges, classes);
    let by_judge = ByWorker::of_block(block);
    let mut pairs = PairSums::of(block, &by_judge);
    let used = |pattern: usize| !gold_only || patterns.truth(pattern).is_some();
    // Mass of each class, and of the errors of the one, of the other and of both.
    type Sums = (Vec<f64>, Vec<[f64; 3]>);
    for i in 0..judges {
        let start = |_, _| Some((vec![0.0; classes], vec![[0.0; 3]; classes]));
        let add = |(all, wrong): &mut Sums, shared: SharedTask| {
            for k in 0..classes {
                let weight = patterns.items[shared.task] as f64 * rows[shared.task * classes + k];
                let (of_i, of_j) = (shared.answers.0 != k, shared.answers.1 != k);
                all[k] += weight;
                for (sum, is) in wrong[k].iter_mut().zip([of_i, of_j, of_i && of_j]) {
                    *sum += if is { weight } else { 0.0 };
                }
            }
        };
        for (j, (all, wrong)) in pairs.of_worker(i, used, start, add) {
            let (mut covariance, mut variances) = (0.0, [0.0; 2]);
            for (all, [of_i, of_j, both]) in all.iter().zip(&wrong).filter(|(all, _)| **all > 0.0) {
                covariance += both - of_i * of_j / all;
                variances[0] += of_i * (1.0 - of_i / all);
                variances[1] += of_j * (1.0 - of_j / all);
            }
            let items: f64 = all.iter().sum();
            let scale = (variances[0] * variances[1]).sqrt();
            // Less than half an error tells nothing.
            let rho = if scale > 0.5 { covariance / scale } else { f64::NAN };
            for cell in [i * judges + j, j * judges + i] {
                found.rho[cell] = rho;
                found.items[cell] = items;
            }
        }
    }
    (0..judges).for_each(|judge| found.rho[judge * judges + judge] = 1.0);
    found
}

/// R, and the mean correlation between voices.
fn structure(found: &Correlations, voices: &[Vec<usize>]) -> (Vec<f64>, f64) {
    let judges = found.judges;
    let mut voice_of = vec![0; judges];
    for (voice, members) in voices.iter().enumerate() {
        members.iter().for_each(|&judge| voice_of[judge] = voice);
    }
    let mean = |wanted: &dyn Fn(usize, usize) -> bool| {
        let (mut sum, mut items) = (0.0, 0.0);
        for i in 0..judges {
            for j in i + 1..judges {
                let cell = i * judges + j;
                if wanted(i, j) && found.rho[cell].is_finite() {
                    sum += found.items[cell] * found.rho[cell];
                    items += found.items[cell];
                }
            }
        }
        if items > 0.0 {
            (sum / items).clamp(0.0, LARGEST)
        } else {
            0.0
        }
    };
    let between = mean(&|i, j| voice_of[i] != voice_of[j]);
    let within: Vec<f64> = (0..voices.len())
        .map(|voice| mean(&|i, j| voice_of[i] == voice && voice_of[j] == voice).max(between))
        .collect();
    let cell = |cell: usize| match (cell / judges, cell % judges) {
        (i, j) if i == j => 1.0,
        (i, j) if voice_of[i] == voice_of[j] => within[voice_of[i]],
        _ => between,
    };
    ((0..judges * judges).map(cell).collect(), between)
}

/// `1' R^-1 1`.
fn effective(structured: &[f64], judges: usize) -> f64 {
    let ones = vec![1.0; judges];
    let weights = solve(structured, &ones, judges);
    weights.map_or(1.0, |weights| {
        weights.iter().sum::<f64>().clamp(1.0, judges as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(correlation: impl Fn(usize, usize) -> f64, judges: usize) -> Correlations {
        let rho = (0..judges * judges).map(|cell| match (cell / judges, cell % judges) {
            (i, j) if i == j => 1.0,
            (i, j) => correlation(i, j),
        });
        Correlations {
            judges,
            rho: rho.collect(),
            items: vec![100.0; judges * judges],
        }
    }

    #[test]
    fn equal_correlations_give_the_design_effect() {
        for (judges, rho) in [(3, 0.0), (5, 0.3), (9, 0.9)] {
            let singles: Vec<Vec<usize>> = (0..judges).map(|judge| vec![judge]).collect();
            let (structured, _) = structure(&with(|_, _| rho, judges), &singles);
            let expected = judges as f64 / (1.0 + (judges as f64 - 1.0) * rho);
            assert!((effective(&structured, judges) - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn a_group_adds_what_it_is_worth_to_the_others() {
        // Judges 0 and 1 are independent; 2, 3 and 4 have correlation 0.5: 2 + 3 / (1 + 2 * 0.5).
        let found = with(|i, j| if i.min(j) >= 2 { 0.5 } else { 0.0 }, 5);
        let (structured, between) = structure(&found, &[vec![0], vec![1], vec![2, 3, 4]]);
        assert_eq!(between, 0.0);
        assert!((effective(&structured, 5) - 3.5).abs() < 1e-9);
    }
}
