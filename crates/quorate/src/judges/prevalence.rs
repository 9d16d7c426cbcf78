//! The share of a class, corrected for the errors of the verdicts.
//!
//! The share of verdicts `p` is biased: a panel that is right about 90 % of good items and 80 % of bad ones
//! passes 55 % where 50 % are good. With the sensitivity `Se` (verdicts right on items of the class) and the
//! specificity `Sp` (right on the others), measured on items whose truth is known,
//!
//! ```text
//! share = (p + Sp - 1) / (Se + Sp - 1)                                              (Rogan and Gladen)
//! ```
//!
//! Interval of Lang and Reiczigel: with `n' = n + z^2`, `p' = (n p + z^2 / 2) / n'`, and one success and one
//! failure added to the counts behind `Se` and `Sp`, which makes `Se'`, `Sp'` and the numbers of items `a'`
//! and `b'`,
//!
//! ```text
//! s = (p' + Sp' - 1) / (Se' + Sp' - 1),     d = 2 z^2 (s Se' (1 - Se') / a' - (1 - s) Sp' (1 - Sp') / b')
//! s + d +- z / (Se' + Sp' - 1) sqrt(p' (1 - p') / n' + s^2 Se' (1 - Se') / a' + (1 - s)^2 Sp' (1 - Sp') / b')
//! ```
//!
//! `p` comes from the items whose truth is not known, so that it does not depend on those behind `Se` and
//! `Sp`. An unscored item is no verdict for the class, in `p` as in `Se` and `Sp`: failures are corrected
//! for, too. Holds for items of gold that were drawn at random.
//!
//! The model's own estimate needs no gold: the class shares of the draws ([`posterior`](super::posterior)),
//! with the borders that 2.5 % of them lie below and above.
//!
//! W. J. Rogan and B. Gladen, "Estimating prevalence from the results of a screening test", American Journal
//! of Epidemiology 107 (1978). Z. Lang and J. Reiczigel, "Confidence limits for prevalence of disease
//! adjusted for estimated sensitivity and specificity", Preventive Veterinary Medicine 113 (2014).

use super::readings::Readings;
use crate::intervals::Interval;

/// Known items of a class, and of the others, from which rates are measured.
pub const MIN_OF_EACH: usize = 5;
/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The share of one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prevalence {
    /// Verdicts for the class.
    pub verdicts: usize,
    /// Their share; the denominator follows [`Unscored`](super::Unscored).
    pub observed: f64,
    /// The model's estimate; none where the labels cannot tell.
    pub model: Option<Interval>,
    /// Corrected by rates that were measured on gold; none if there is too little of it, or if the verdicts
    /// tell nothing.
    pub rogan_gladen: Option<Interval>,
}

/// Verdicts on items whose truth is known: (for the class, all), on items of the class and on others.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rates {
    pub hits: f64,
    pub positives: f64,
    pub false_alarms: f64,
    pub negatives: f64,
}

/// The estimate of Rogan and Gladen from `called` verdicts of `items`, with the interval of Lang and
/// Reiczigel.
pub(super) fn rogan_gladen(called: f64, items: f64, rates: Rates) -> Option<Interval> {
    let least = MIN_OF_EACH as f64;
    if items < 1.0 || rates.positives < least || rates.negatives < least {
        return None;
    }
    let (p, se) = (called / items, rates.hits / rates.positives);
    let sp = 1.0 - rates.false_alarms / rates.negatives;
    if se + sp - 1.0 <= 0.0 {
        return None;
    }
    let z2 = Z * Z;
    let (n, a, b) = (items + z2, rates.positives + 2.0, rates.negatives + 2.0);
    let shrunk = (called + z2 / 2.0) / n;
    let (se_1, sp_1) = (
        (rates.hits + 1.0) / a,
        (rates.negatives - rates.false_alarms + 1.0) / b,
    );
    let scale = se_1 + sp_1 - 1.0;
    if scale <= 0.0 {
        return None;
    }
    let share = (shrunk + sp_1 - 1.0) / scale;
    let (of_se, of_sp) = (se_1 * (1.0 - se_1) / a, sp_1 * (1.0 - sp_1) / b);
    let shift = 2.0 * z2 * (share * of_se - (1.0 - share) * of_sp);
    let variance = shrunk * (1.0 - shrunk) / n + share * share * of_se + (1.0 - share).powi(2) * of_sp;
    let half = Z * variance.sqrt() / scale;
    let inside = |value: f64| value.clamp(0.0, 1.0);
    Some(Interval {
        estimate: inside((p + sp - 1.0) / (se + sp - 1.0)),
        low: inside(share + shift - half),
        high: inside(share + shift + half),
    })
}

/// The model's share of a class over all readings; none where one of them cannot tell.
pub(super) fn model_share(readings: &Readings, class: usize) -> Option<Interval> {
    let mut draws: Vec<(f64, f64)> = Vec::new();
    for (weight, fit) in &readings.fits {
        let (classes, shares) = (fit.prior.len(), &fit.learnt.as_ref()?.shares);
        let each = weight * classes as f64 / shares.len() as f64;
        let drawn = shares.iter().skip(class).step_by(classes);
        draws.extend(drawn.map(|&share| (share, each)));
    }
    draws.sort_by(|a, b| a.0.total_cmp(&b.0));
    let quantile = |wanted: f64| {
        let mut below = 0.0;
        let found = draws.iter().find(|(_, weight)| {
            below += weight;
            below >= wanted
        });
        found.or(draws.last()).map(|&(share, _)| share)
    };
    Some(Interval {
        estimate: draws.iter().map(|(share, weight)| share * weight).sum(),
        low: quantile(0.025)?,
        high: quantile(0.975)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_undoes_what_errors_do_to_a_share() {
        // 30 % of 1000 items are of the class: 0.9 * 300 + 0.2 * 700 = 410 verdicts.
        let rates = Rates {
            hits: 90.0,
            positives: 100.0,
            false_alarms: 20.0,
            negatives: 100.0,
        };
        let found = rogan_gladen(410.0, 1000.0, rates).unwrap();
        assert!((found.estimate - 0.3).abs() < 1e-12, "{found:?}");
        assert!(
            found.low < 0.3 && 0.3 < found.high && found.high - found.low < 0.25,
            "{found:?}"
        );
        // Perfect rates known on very many items leave a plain proportion.
        let perfect = Rates {
            hits: 1e9,
            positives: 1e9,
            false_alarms: 0.0,
            negatives: 1e9,
        };
        let found = rogan_gladen(410.0, 1000.0, perfect).unwrap();
        let (low, high) = crate::evaluate::wilson_interval(410.0, 1000);
        assert!(
            (found.low - low).abs() < 1e-3 && (found.high - high).abs() < 1e-3,
            "{found:?}"
        );
    }

    #[test]
    fn nothing_is_said_from_nothing() {
        let few = Rates {
            hits: 4.0,
            positives: 4.0,
            false_alarms: 0.0,
            negatives: 50.0,
        };
        assert_eq!(rogan_gladen(10.0, 100.0, few), None);
        let blind = Rates {
            hits: 50.0,
            positives: 100.0,
            false_alarms: 50.0,
            negatives: 100.0,
        };
        assert_eq!(rogan_gladen(10.0, 100.0, blind), None);
    }
}
