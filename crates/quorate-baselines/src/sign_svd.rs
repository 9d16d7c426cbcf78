//! The leading singular vector of the matrix of signs: `ghosh-svd` of the matrix as it is, `kos-svd` of the
//! centred one.
//!
//! ```text
//! U[n, m] = a_nm (0 where m did not label n),    B = U - 1 c^T ~ sigma u v^T,    label of n ~ sign(u_n)
//! ghosh-svd: c = 0,    kos-svd: c = U^T 1 / N
//! ```
//!
//! Worker m is right with probability `p_m` whatever the truth. With all labels present the expectation of `U
//! U^T` is, off its diagonal, `kappa t t^T` with `t` the signs of the truth and `kappa = sum_m (2 p_m -
//! 1)^2`, so the leading left singular vector has the signs of the truth up to one global sign. `u` belongs
//! to tasks, `v` (`weights`) to workers, `c` (`means`) is the mean of each worker's column over all tasks,
//! missing zeros included. `kos-svd` is the algorithm behind the numbers that the field's tables print under
//! the name KOS; the message passing of the papers is the method `kos`.
//!
//! 1. `v`: leading eigenvector of `B^T B` by Lanczos; `B x = U x - 1 (c.x)`, `B^T y = U^T y - c (1.y)`, B
//!    never formed.
//! 2. Orientation. `ghosh-svd`: `sign(U v)` goes with the vote totals `U 1`. `kos-svd`: the positive entries
//!    of `v` hold at least half of its energy (most of the weight is assumed to be with workers better than
//!    chance).
//! 3. Decide by `s = B v`; the row of a task is the share of the weight on either side. In `ghosh-svd` a task
//!    with score 0 gets its votes. More than two classes: [`thresholds`](crate::thresholds).
//!
//! Worker scores: `v`, in units of its largest magnitude. Time `O(L)` a product, memory `O(N + M)` and the
//! Lanczos basis. The guarantee needs every worker to label every task. With sparse labels the leading
//! direction belongs to the few busiest workers (and, centred, speaks of who labelled what), and the error
//! can be near one half. Differs from the compared programs: ties get the votes, not the highest class; a
//! task without labels is a tie, not a decision. The paper of `ghosh-svd` has two classes only.
//!
//! A. Ghosh, S. Kale, P. McAfee, "Who moderates the moderators? Crowdsourcing abuse detection in
//! user-generated content", EC 2011; D. R. Karger, S. Oh, D. Shah, "Efficient crowdsourcing for multi-class
//! labeling", SIGMETRICS 2013.

use crate::thresholds::{
    Decisions, Signs, UNDETERMINED, fit_thresholds, give_ties_their_votes, in_units_of_largest,
    leading_singular_vector,
};
use quorate::internal::linalg::small::{add_scaled, dot};
use quorate::methods::{Aggregate, Fit};
use quorate::model::Consensus;
use quorate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// GhoshSVD.
    pub struct GhoshSvd {}
    name: "ghosh-svd",
    aliases: ["ghosh"],
    summary: "Leading singular vector of the answers as signs",
    description: "Codes answers as signs and takes the leading singular vector of the task by worker \
                  matrix: its signs are the labels, turned to agree with the votes. Sound for two classes \
                  where everybody labelled everything; a heuristic otherwise, and near chance where few \
                  workers gave most of the labels. Asks K - 1 ordered questions where there are more than \
                  two classes.",
    citation: "A. Ghosh, S. Kale, P. McAfee: Who moderates the moderators? Crowdsourcing abuse detection in \
               user-generated content. EC 2011",
    facts: [uses_class_order, canonical_order],
}

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
    facts: [uses_class_order, canonical_order],
}

impl Aggregate for GhoshSvd {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        fit_thresholds(annotations, context, "thresholds", |signs, votes, context| {
            let means = vec![0.0; annotations.worker_count()];
            let silent = "there is nothing to compare at some threshold";
            let mut decisions =
                context.run(|| decide(signs, votes, &means, |v| orient_by_votes(signs, v), silent));
            give_ties_their_votes(signs, votes, &mut decisions.above);
            Ok(decisions)
        })
    }
}

impl Aggregate for KosSvd {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        fit_thresholds(annotations, context, "thresholds", |signs, votes, context| {
            let silent = "every worker always gives the same answer at some threshold";
            Ok(context.run(|| decide(signs, votes, &column_means(signs), orient_by_energy, silent)))
        })
    }
}

/// Decides by the leading singular vector of the centred signs; by majority vote where there is none, which
/// `silent` explains.
fn decide(
    signs: Signs<'_>,
    votes: &Consensus,
    means: &[f64],
    orient: impl FnOnce(&mut [f64]),
    silent: &str,
) -> Decisions {
    let Some((mut weights, _, undetermined)) = singular_vector(signs, means) else {
        return signs.majority(votes, silent);
    };
    orient(&mut weights);
    let above = signs.shares(|_, worker| weights[worker], -dot(means, &weights));
    let warnings = undetermined
        .then(|| UNDETERMINED.to_owned())
        .into_iter()
        .collect();
    let weights = in_units_of_largest(weights);
    Decisions {
        above,
        weights,
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
fn singular_vector(signs: Signs<'_>, means: &[f64]) -> Option<(Vec<f64>, f64, bool)> {
    let annotations = signs.annotations;
    let mut product = vec![0.0; annotations.task_count()];
    let (workers, scale) = (annotations.worker_count(), annotations.label_count() as f64);
    leading_singular_vector(workers, scale, |x, out| {
        signs.multiply(x, &mut product);
        let shift = dot(means, x);
        product.iter_mut().for_each(|value| *value -= shift);
        signs.multiply_transposed(&product, out);
        add_scaled(out, -product.iter().sum::<f64>(), means);
    })
}

/// Turns `v` so that the signs of `U v` go with the vote totals.
fn orient_by_votes(signs: Signs<'_>, v: &mut [f64]) {
    let mut scores = vec![0.0; signs.annotations.task_count()];
    signs.multiply(v, &mut scores);
    let votes = scores.iter().zip(signs.vote_totals());
    let agreement = votes.map(|(score, total)| sign(*score) * total);
    if agreement.sum::<f64>() < 0.0 {
        v.iter_mut().for_each(|weight| *weight = -*weight);
    }
}

/// -1, 0 or 1.
fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
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
    use quorate_testkit::toys::{assert_close, toy_b};

    #[test]
    fn toy_b_by_hand_plain() {
        let annotations = toy_b();
        let signs = Signs {
            annotations: &annotations,
            threshold: 0,
        };
        let (_, sigma, undetermined) = singular_vector(signs, &[0.0; 5]).unwrap();
        assert_close(&[sigma], &[4.054965], 1e-6);
        assert!(!undetermined);
        let fit = GhoshSvd::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        assert_eq!(fit.consensus.labels(), [1, 1, 1, 1, 0, 0, 0, 0]);
        let v = [0.643372, 0.608031, 0.121270, 0.133942, -0.428630];
        assert_close(&fit.worker_scores.unwrap(), &v.map(|weight| weight / v[0]), 2e-6);
        let (mut u, weights) = ([0.0; 8], v);
        signs.multiply(&weights, &mut u);
        let expected = [
            0.417440, 0.199780, 0.444222, 0.071654, -0.417440, -0.411190, -0.199780, -0.447347,
        ];
        assert_close(&u.map(|score| score / sigma), &expected, 2e-6);
    }

    #[test]
    fn a_worker_who_lies_gets_the_opposite_weight() {
        let annotations = toy_b();
        let flipped = annotations.iter().map(|(n, m, x)| {
            let x = if m == 3 { 1 - x } else { x };
            (n as u32, m as u32, x as u16)
        });
        let flipped = Annotations::from_codes(8, 5, 2, flipped).unwrap();
        let fit = |table: &Annotations| GhoshSvd::default().fit(table, &mut Context::new(0)).unwrap();
        let (a, b) = (fit(&annotations), fit(&flipped));
        assert_eq!(a.consensus.labels(), b.consensus.labels());
        let mut scores = b.worker_scores.unwrap();
        scores[3] = -scores[3];
        assert_close(&a.worker_scores.unwrap(), &scores, 1e-8);
    }

    #[test]
    fn a_task_without_labels_gets_the_votes_of_all() {
        let annotations = Annotations::from_codes(3, 2, 2, [(0, 0, 1), (0, 1, 1), (1, 0, 0)]).unwrap();
        let fit = GhoshSvd::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        assert_eq!(fit.consensus.row(2), [0.5, 0.5]);
        assert_eq!(fit.consensus.labels()[..2], [1, 0]);
    }

    #[test]
    fn toy_b_by_hand_centred() {
        let annotations = toy_b();
        let signs = Signs {
            annotations: &annotations,
            threshold: 0,
        };
        let means = column_means(signs);
        assert_close(&means, &[0.0, -0.25, 0.125, 0.125, 0.125], 1e-12);
        let (mut v, sigma, undetermined) = singular_vector(signs, &means).unwrap();
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
