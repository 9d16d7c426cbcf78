//! KOS in its spectral form: the leading singular pair of the centred matrix of signs.
//!
//! ```text
//! U[n, m] = a_nm (0 where m did not label n),    B = U - (1/N) 1 1^T U ~ sigma u v^T,    label of n ~ sign(u_n)
//! ```
//!
//! `u` has a sign for each task, `v` (`weights`) a weight for each worker. This is the algorithm behind the numbers that
//! the field's tables print under the name KOS; the message passing of the papers is the method `kos`. More than two
//! classes: [`thresholds`](super::thresholds).
//!
//! 1. `c = U^T 1 / N`: the mean of each worker's column over all tasks, missing zeros included.
//! 2. `v`: leading eigenvector of `B^T B` by Lanczos; `B x = U x - 1 (c.x)`, `B^T y = U^T y - c (1.y)`, B never formed.
//! 3. Orientation: the sign of `v` for which the positive entries hold at least half of its energy (most of the weight
//!    is assumed to be with workers better than chance).
//! 4. Decide by `s = B v`: `s_n = sum_m a_nm v_m - c.v`; the row of a task is the share of the weight on either side.
//!
//! Worker scores: `v`, in units of its largest magnitude. Time `O(L)` a product, memory `O(N + M)` and the Lanczos basis. Centring counts a missing label as minus the worker's
//! mean, so with sparse labels the leading direction speaks of who labelled what, and the error can be near one half.
//! Differs from the compared program in that a task without labels is a tie, not a decision.
//!
//! D. R. Karger, S. Oh, D. Shah, "Efficient crowdsourcing for multi-class labeling", SIGMETRICS 2013.

use super::thresholds::{
    Decisions, Signs, UNDETERMINED, fit_thresholds, in_units_of_largest, leading_singular_vector,
};
use super::{Aggregate, Fit};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::declare_method;
use crate::error::Result;
use crate::linalg::small::dot;
use crate::model::Consensus;

declare_method! {
    /// KOS in its spectral form.
    pub struct KosSvd {}
    name: "kos-svd",
    aliases: [],
    summary: "Leading singular vector of the centred answers (the tables' KOS)",
    description: "Codes answers as signs, removes each worker's mean and takes the leading singular vector: \
                  its signs are the labels. Good where every worker labelled every task, poor where labels \
                  are sparse, because the leading direction then says who labelled what. Asks K - 1 ordered \
                  questions where there are more than two classes.",
    citation: "D. R. Karger, S. Oh, D. Shah: Efficient crowdsourcing for multi-class labeling. SIGMETRICS \
               2013",
    facts: [uses_class_order],
}

impl Aggregate for KosSvd {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        fit_thresholds(annotations, context, "thresholds", |signs, votes, context| {
            Ok(context.run(|| decide(signs, votes)))
        })
    }
}

fn decide(signs: Signs<'_>, votes: &Consensus) -> Decisions {
    let means = column_means(signs);
    let Some((mut weights, _, undetermined)) = centred_singular_vector(signs, &means) else {
        return signs.majority(
            votes,
            "every worker always gives the same answer at some threshold",
        );
    };
    orient_by_energy(&mut weights);
    let above = signs.shares(|_, worker| weights[worker], -dot(&means, &weights));
    let warnings = if undetermined {
        vec![UNDETERMINED.to_owned()]
    } else {
        Vec::new()
    };
    Decisions {
        above,
        weights: in_units_of_largest(weights),
        warnings,
    }
}

/// `c = U^T 1 / N`.
fn column_means(signs: Signs<'_>) -> Vec<f64> {
    let tasks = signs.annotations.task_count();
    let mut means = vec![0.0; signs.annotations.worker_count()];
    signs.multiply_transposed(&vec![1.0; tasks], &mut means);
    means.iter_mut().for_each(|mean| *mean /= tasks as f64);
    means
}

/// Leading right singular vector of B and its singular value.
fn centred_singular_vector(signs: Signs<'_>, means: &[f64]) -> Option<(Vec<f64>, f64, bool)> {
    let annotations = signs.annotations;
    let mut product = vec![0.0; annotations.task_count()];
    leading_singular_vector(
        annotations.worker_count(),
        annotations.label_count() as f64,
        |x, out| {
            signs.multiply(x, &mut product);
            let shift = dot(means, x);
            product.iter_mut().for_each(|value| *value -= shift);
            signs.multiply_transposed(&product, out);
            let sum: f64 = product.iter().sum();
            out.iter_mut()
                .zip(means)
                .for_each(|(cell, mean)| *cell -= mean * sum);
        },
    )
}

/// Turns `v` so that its nonnegative entries hold at least half of its squared length.
fn orient_by_energy(v: &mut [f64]) {
    let energy =
        |keep: &dyn Fn(f64) -> bool| -> f64 { v.iter().filter(|value| keep(**value)).map(|x| x * x).sum() };
    if energy(&|x| x >= 0.0) < energy(&|x| x < 0.0) {
        v.iter_mut().for_each(|value| *value = -*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::tests::{assert_close, toy_b};

    #[test]
    fn toy_b_by_hand() {
        let annotations = toy_b();
        let signs = Signs {
            annotations: &annotations,
            threshold: 0,
        };
        let means = column_means(signs);
        assert_close(&means, &[0.0, -0.25, 0.125, 0.125, 0.125], 1e-12);
        let (mut v, sigma, undetermined) = centred_singular_vector(signs, &means).unwrap();
        orient_by_energy(&mut v);
        assert_close(&[sigma], &[4.026607], 1e-6);
        assert_close(&v, &[0.655806, 0.592179, 0.140304, 0.147022, -0.421832], 1e-6);
        assert!(!undetermined);
        let fit = KosSvd::default().fit(&annotations, &mut Context::new(0)).unwrap();
        assert_eq!(fit.consensus.labels(), [1, 1, 1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn equal_answers_are_majority_vote_and_said() {
        let labels = (0..12).map(|cell| (cell / 3, cell % 3, 1));
        let annotations = Annotations::from_codes(4, 3, 2, labels).unwrap();
        let fit = KosSvd::default().fit(&annotations, &mut Context::new(0)).unwrap();
        assert_eq!(fit.consensus.labels(), [1; 4]);
        assert!(fit.warnings[0].contains("majority vote"));
    }

    #[test]
    fn reversed_answers_reverse_every_share() {
        let annotations = toy_b();
        let reversed = annotations
            .iter()
            .map(|(n, m, x)| (n as u32, m as u32, 1 - x as u16));
        let reversed = Annotations::from_codes(8, 5, 2, reversed).unwrap();
        let fit = |table: &Annotations| {
            KosSvd::default()
                .fit(table, &mut Context::new(0))
                .unwrap()
                .consensus
        };
        let (a, b) = (fit(&annotations), fit(&reversed));
        for task in 0..8 {
            assert_close(&[a.row(task)[0]], &[b.row(task)[1]], 1e-9);
        }
    }
}
