//! GhoshSVD: the leading singular vector of the matrix of signs.
//!
//! ```text
//! U[n, m] = a_nm (0 where m did not label n),      U ~ sigma u v^T,      label of n ~ sign(u_n)
//! ```
//!
//! Worker m is right with probability `p_m` whatever the truth. With all labels present the expectation of `U U^T` is, off
//! its diagonal, `kappa t t^T` with `t` the signs of the truth and `kappa = sum_m (2 p_m - 1)^2`, so the leading left
//! singular vector has the signs of the truth up to one global sign. `u` belongs to tasks, `v` (`weights`) to workers.
//!
//! 1. `v`: leading eigenvector of `U^T U` by Lanczos, matrix-free.
//! 2. `s = U v` (that is `sigma u`); turned so that `sign(s)` goes with the vote totals `r = U 1`.
//! 3. Label by the sign of `s_n`; the row of a task is the share of the weight `|v|` on either side; a task with score 0
//!    gets its votes. More than two classes: [`thresholds`](super::thresholds).
//!
//! Worker scores: `v`, in units of its largest magnitude. Time `O(L)` a product, memory `O(N + M)` and the Lanczos basis. The guarantee needs every worker to label every task.
//! With sparse labels the leading direction belongs to the few busiest workers, and the error can be near one half.
//! Differs from the compared program: ties get the votes, not the highest class. The paper has two classes only.
//!
//! A. Ghosh, S. Kale, P. McAfee, "Who moderates the moderators? Crowdsourcing abuse detection in user-generated content",
//! EC 2011.

use super::thresholds::{
    Decisions, Signs, UNDETERMINED, fit_thresholds, in_units_of_largest, leading_singular_vector,
};
use super::{Aggregate, Fit};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::declare_method;
use crate::error::Result;
use crate::model::Consensus;

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
    facts: [uses_class_order],
}

impl Aggregate for GhoshSvd {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        fit_thresholds(annotations, context, "thresholds", |signs, votes, context| {
            Ok(context.run(|| decide(signs, votes)))
        })
    }
}

fn decide(signs: Signs<'_>, votes: &Consensus) -> Decisions {
    let Some((mut weights, _, undetermined)) = singular_vector(signs) else {
        return signs.majority(votes, "there is nothing to compare at some threshold");
    };
    let mut scores = vec![0.0; signs.annotations.task_count()];
    signs.multiply(&weights, &mut scores);
    let agreement = scores
        .iter()
        .zip(signs.vote_totals())
        .map(|(score, total)| sign(*score) * total);
    if agreement.sum::<f64>() < 0.0 {
        weights.iter_mut().for_each(|weight| *weight = -*weight);
    }
    let mut above = signs.shares(|_, worker| weights[worker], 0.0);
    give_ties_their_votes(signs, votes, &mut above);
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

/// Leading right singular vector of U and its singular value.
fn singular_vector(signs: Signs<'_>) -> Option<(Vec<f64>, f64, bool)> {
    let annotations = signs.annotations;
    let mut product = vec![0.0; annotations.task_count()];
    leading_singular_vector(
        annotations.worker_count(),
        annotations.label_count() as f64,
        |x, out| {
            signs.multiply(x, &mut product);
            signs.multiply_transposed(&product, out);
        },
    )
}

/// -1, 0 or 1.
fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

/// Where the weights say nothing, majority vote does.
pub(super) fn give_ties_their_votes(signs: Signs<'_>, votes: &Consensus, above: &mut [f64]) {
    for (share, vote) in above.iter_mut().zip(signs.vote_shares(votes)) {
        if *share == 0.5 {
            *share = vote;
        }
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
        let (_, sigma, undetermined) = singular_vector(signs).unwrap();
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
}
