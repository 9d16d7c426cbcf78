//! How far two labelings agree.
//!
//! ```text
//! kappa = (p_o - p_e) / (1 - p_e),      p_o = share of equal labels,      p_e = sum_k p_first(k) p_second(k)
//! ```
//!
//! Cohen's kappa (1960): 1 for full agreement, 0 for as much as two labelings with these class shares have by
//! chance.

use super::predictions::check_code;
use crate::agreement::above_chance;
use crate::error::{Error, Result};

/// Agreement of two labelings.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// Tasks that both label.
    pub compared: usize,
    /// Those with the same label.
    pub equal: usize,
    /// `equal / compared`.
    pub share: f64,
    /// Cohen's kappa; None if both give one and the same class to all tasks: then there is no chance to agree
    /// by.
    pub kappa: Option<f64>,
}

/// Compares two labelings over the tasks that both label. Fails if there are none.
pub fn agreement(first: &[Option<usize>], second: &[Option<usize>]) -> Result<Agreement> {
    if first.len() != second.len() {
        return Err(Error::Mismatch(format!(
            "labelings of {} and {} tasks: expected one entry for each task in both",
            first.len(),
            second.len()
        )));
    }
    let both = || first.iter().zip(second).filter_map(|(a, b)| (*a).zip(*b));
    let compared = both().count();
    if compared == 0 {
        return Err(Error::Mismatch(
            "there is no task that both labelings label".into(),
        ));
    }
    let equal = both().filter(|(a, b)| a == b).count();
    let highest = both().map(|(a, b)| a.max(b)).max().unwrap_or(0);
    check_code("class code", highest)?;
    let mut counts = vec![(0u64, 0u64); highest + 1];
    for (a, b) in both() {
        counts[a].0 += 1;
        counts[b].1 += 1;
    }
    // In whole numbers, so that "no chance" is seen exactly: n^2 p_o and n^2 p_e.
    let n = compared as u128;
    let by_chance: u128 = counts.iter().map(|&(a, b)| u128::from(a) * u128::from(b)).sum();
    Ok(Agreement {
        compared,
        equal,
        share: equal as f64 / compared as f64,
        kappa: above_chance(equal as u128 * n, by_chance, n * n),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(codes: &[usize]) -> Vec<Option<usize>> {
        codes.iter().copied().map(Some).collect()
    }

    #[test]
    fn worked_example() {
        // Table 20, 5, 10, 15 of 50: p_o = 0.7, p_e = 0.5 x 0.6 + 0.5 x 0.4 = 0.5.
        let cells = [(0, 0, 20), (0, 1, 5), (1, 0, 10), (1, 1, 15)];
        let pairs = || {
            cells
                .iter()
                .flat_map(|&(a, b, count)| std::iter::repeat_n((a, b), count))
        };
        let mut first: Vec<_> = pairs().map(|pair| Some(pair.0)).collect();
        let mut second: Vec<_> = pairs().map(|pair| Some(pair.1)).collect();
        first.extend([None, Some(1)]);
        second.extend([Some(0), None]);
        let found = agreement(&first, &second).unwrap();
        assert_eq!((found.compared, found.equal, found.share), (50, 35, 0.7));
        assert!((found.kappa.unwrap() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn edges() {
        assert_eq!(agreement(&labels(&[2, 2]), &labels(&[2, 2])).unwrap().kappa, None);
        assert_eq!(
            agreement(&labels(&[0, 1]), &labels(&[0, 1])).unwrap().kappa,
            Some(1.0)
        );
        assert_eq!(
            agreement(&labels(&[0, 1]), &labels(&[1, 0])).unwrap().kappa,
            Some(-1.0)
        );
        assert_eq!(
            agreement(&labels(&[0, 0]), &labels(&[1, 1])).unwrap().kappa,
            Some(0.0)
        );
        assert!(agreement(&[Some(0), None], &[None, Some(0)]).is_err());
        assert!(agreement(&[], &[]).is_err());
        assert!(agreement(&labels(&[usize::MAX]), &labels(&[0])).is_err());
        assert!(agreement(&labels(&[0]), &[]).is_err());
    }

    proptest! {
        #[test]
        fn symmetric_and_as_over_all_pairs(pairs in proptest::collection::vec((0usize..4, 0usize..4), 1..40)) {
            let first = labels(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
            let second = labels(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
            let found = agreement(&first, &second).unwrap();
            prop_assert_eq!(&found, &agreement(&second, &first).unwrap());
            // By chance: the label of one task in the first against that of every task in the second.
            let n = pairs.len() as f64;
            let hits = pairs.iter().flat_map(|a| pairs.iter().map(move |b| a.0 == b.1)).filter(|&hit| hit);
            let by_chance = hits.count() as f64 / (n * n);
            match found.kappa {
                Some(kappa) => prop_assert!((kappa * (1.0 - by_chance) - (found.share - by_chance)).abs() < 1e-12),
                None => prop_assert_eq!(by_chance, 1.0),
            }
        }
    }
}
