//! PG-TAC: low-rank completion of the answers together with a layer of truths. **A reconstruction**:
//! objective, weights and stopping rule of the original were not available; see below.
//!
//! ```text
//! min_X  1/2 ||Omega o (X - T)||^2 + theta sum_d (1/3) ||X_(d)||_*       T: (task, class, worker or layer)
//! ```
//!
//! T holds the answers as fibres of +1 and -1, with one more slice, the layer of truths `2 g_n - 1`
//! ([`tensor_completion`](crate::tensor_completion)).
//!
//! 1. `g` = majority vote: one-hot (`layer=hard`), or the vote shares (`layer=soft`).
//! 2. Proximal gradient: observed cells of X are set to T, then X becomes the mean over the three unfoldings
//!    of `SVT_theta(X)`; `inner` steps at most, or until X moves by less than 1e-4 of its size.
//! 3. New labels `argmax_k X[n, k, layer]`; the layer is refreshed (hard: one-hot; soft: X cut to [-1, 1])
//!    until no label changes, `outer` times at most.
//! 4. The row of a task is its layer, `(x + 1) / 2`, cut to [0, 1] and scaled to sum 1.
//!
//! A hard layer counts as observed, so it hardly ever leaves majority vote: the default gives majority vote's
//! labels, as the errors published for this method do. A task whose votes are tied stays tied in the hard
//! layer. The soft layer is the one to use in earnest. Dense: `N K (M + 1)` numbers in a few copies, an
//! eigenproblem of side `min(N, K (M + 1))` a step.
//!
//! What is known of the original: a tensor of labels augmented by a ground-truth layer, completed at low
//! rank. Objective, coding, weights and the hard layer are choices made here, the last because it repeats the
//! published errors, so that agreement with them confirms nothing.
//!
//! Y. Zhou, J. He, "Crowdsourcing via tensor augmentation and completion", IJCAI 2016.

use rayon::prelude::*;

use crate::tensor_completion::{Shape, distance, norm};
use quorate::internal::linalg::small::{largest, normalise};
use quorate::internal::model::TIE;
use quorate::methods::{Aggregate, Fit, vote_fractions};
use quorate::model::Consensus;
use quorate::{Annotations, Context, Result, declare_method, declare_words};

declare_method! {
    /// PG-TAC (reconstruction).
    pub struct PgTac {
        /// truths as one-hot labels that count as observed, or as shares that follow the completion
        layer: TruthLayer = Hard,
        /// weight of the rank, as a share of the largest singular value of the unfolding by task
        theta: f64 in 0..=10 = 0.06,
        /// largest number of steps for one layer
        inner: usize in 1..=1_000_000 = 15,
        /// largest number of layers
        outer: usize in 1..=1_000_000 = 5,
    }
    name: "pg-tac",
    aliases: ["pgtac"],
    summary: "Tensor completion with a layer of truths (a reconstruction)",
    description: "Writes the answers as a tensor of tasks, classes and workers, adds a layer for the truth \
                  that starts at majority vote, and completes the whole at low rank. A reconstruction: the \
                  published algorithm was not available. With the default hard layer it repeats majority \
                  vote, as the errors published for it do; layer=soft lets the completion speak. Dense, for \
                  moderate sizes.",
    citation: "Y. Zhou, J. He: Crowdsourcing via tensor augmentation and completion. IJCAI 2016 \
               (reconstruction)",
    facts: [returns_model],
}

declare_words! {
    /// What the layer of truths holds.
    pub enum TruthLayer {
        /// One-hot labels that count as observed.
        Hard = "hard",
        /// Shares that follow the completion.
        Soft = "soft",
    }
}

/// Relative change of X below which the inner steps stop.
const INNER_TOL: f64 = 1e-4;

impl Aggregate for PgTac {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        let votes = vote_fractions(annotations);
        if classes == 1 {
            return Ok(Fit::counted(annotations, votes));
        }
        let shape = Shape::of(annotations, 1, 5, context)?;
        let soft = self.layer == TruthLayer::Soft;
        let mut layer = if soft {
            votes.clone().into_vec()
        } else {
            one_hot(&votes)
        };
        let mut x = vec![0.0; shape.len()];
        impose(&shape, annotations, &layer, &mut x);
        context.step("completion", 0, None)?;
        let theta = self.theta * context.run(|| shape.spectral_norm(&x));
        let mut labels = votes.labels();
        let (mut iterations, mut converged) = (0, false);
        for outer in 0..self.outer {
            for _ in 0..self.inner {
                context.step("completion", outer, Some(self.outer))?;
                let next = context.run(|| proximal_step(&shape, annotations, &layer, &x, theta));
                iterations += 1;
                let moved = distance(&x, &next);
                x = next;
                if moved < INNER_TOL * norm(&x) {
                    break;
                }
            }
            let completed = Consensus::new(classes, read_layer(&shape, &x));
            if self.layer == TruthLayer::Soft {
                layer = completed.as_slice().to_vec();
            } else {
                refresh_hard(&votes, &completed, &mut layer);
            }
            let new_labels = Consensus::new(classes, layer.clone()).labels();
            converged = new_labels == labels;
            labels = new_labels;
            if converged {
                break;
            }
        }
        let mut rows = read_layer(&shape, &x);
        if self.layer == TruthLayer::Hard {
            // A tie of the votes is held: the row says so.
            for task in (0..shape.tasks).filter(|&task| votes.tied(task) > 1) {
                rows[task * classes..][..classes].copy_from_slice(&layer[task * classes..][..classes]);
            }
        }
        let consensus = Consensus::new(classes, rows);
        let fit = context.run(|| Fit::counted(annotations, consensus));
        Ok(Fit {
            iterations,
            converged,
            ..fit
        })
    }
}

/// All mass on the class with most votes, shared equally where votes are tied.
fn one_hot(votes: &Consensus) -> Vec<f64> {
    let mut rows = votes.as_slice().to_vec();
    for row in rows.chunks_exact_mut(votes.class_count()) {
        let top = largest(row);
        row.iter_mut()
            .for_each(|share| *share = f64::from(u8::from(*share >= top - TIE)));
        normalise(row);
    }
    rows
}

/// The hard layer follows the labels of the completion, except where the votes are tied.
fn refresh_hard(votes: &Consensus, completed: &Consensus, layer: &mut [f64]) {
    for (task, row) in layer.chunks_exact_mut(votes.class_count()).enumerate() {
        if votes.tied(task) == 1 {
            row.fill(0.0);
            row[completed.label(task)] = 1.0;
        }
    }
}

/// Sets the observed cells: the fibres of the labels, and the layer of every task that has labels.
fn impose(shape: &Shape, annotations: &Annotations, layer: &[f64], x: &mut [f64]) {
    shape.visit_labels(annotations, |cell, value| x[cell] = value);
    let mut fibre = vec![0.0; shape.width];
    let labelled = |task: &usize| !annotations.task_slices(*task).0.is_empty();
    for task in (0..shape.tasks).filter(labelled) {
        let truths = layer[task * shape.classes..][..shape.classes].iter();
        let values: Vec<f64> = truths.map(|g| 2.0 * g - 1.0).collect();
        shape.code(&values, &mut fibre);
        for (k, value) in fibre.iter().enumerate() {
            x[shape.cell(task, k, shape.slices - 1)] = *value;
        }
    }
}

/// One step: observed cells from T, then the mean of the shrunk unfoldings.
fn proximal_step(shape: &Shape, annotations: &Annotations, layer: &[f64], x: &[f64], theta: f64) -> Vec<f64> {
    let mut y = x.to_vec();
    impose(shape, annotations, layer, &mut y);
    let mut next = vec![0.0; y.len()];
    for (mode, weight) in shape.modes() {
        let mut shrunk = y.clone();
        shape.shrink(&mut shrunk, mode, theta);
        let cells = next.par_iter_mut().zip(&shrunk);
        cells.for_each(|(cell, value)| *cell += weight / 3.0 * value);
    }
    next
}

/// The layer as probabilities.
fn read_layer(shape: &Shape, x: &[f64]) -> Vec<f64> {
    let mut rows = vec![0.0; shape.tasks * shape.classes];
    for (task, row) in rows.chunks_exact_mut(shape.classes).enumerate() {
        shape.decode(|k| x[shape.cell(task, k, shape.slices - 1)], row);
        let share = |value: f64| ((value + 1.0) / 2.0).clamp(0.0, 1.0);
        row.iter_mut().for_each(|value| *value = share(*value));
        if row.iter().sum::<f64>() > 1e-12 {
            normalise(row);
        } else {
            row.fill(1.0 / shape.classes as f64);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_a, toy_b};

    #[test]
    fn without_a_penalty_observed_cells_stay() {
        let annotations = toy_a();
        let shape = Shape::of(&annotations, 1, 1, &Context::new(0)).unwrap();
        let layer = one_hot(&vote_fractions(&annotations));
        let mut x = vec![0.0; shape.len()];
        impose(&shape, &annotations, &layer, &mut x);
        assert_close(&proximal_step(&shape, &annotations, &layer, &x, 0.0), &x, 1e-9);
    }

    #[test]
    fn the_hard_layer_is_majority_vote_and_ties_stay() {
        for annotations in [toy_a(), toy_b()] {
            let fit = PgTac::default().fit(&annotations, &mut Context::new(0)).unwrap();
            let votes = vote_fractions(&annotations);
            assert_eq!(fit.consensus.labels(), votes.labels());
            assert!((0..votes.len()).all(|task| (votes.tied(task) > 1) == (fit.consensus.tied(task) > 1)));
            assert!(fit.converged);
        }
    }

    #[test]
    fn unanimous_answers_stay_in_the_soft_layer() {
        let labels = (0..24).map(|cell| (cell / 4, cell % 4, (cell / 4 % 3) as u16));
        let annotations = Annotations::from_codes(6, 4, 3, labels).unwrap();
        let method = PgTac {
            layer: TruthLayer::Soft,
            ..PgTac::default()
        };
        assert_eq!(
            method
                .fit(&annotations, &mut Context::new(0))
                .unwrap()
                .consensus
                .labels(),
            [0, 1, 2, 0, 1, 2]
        );
    }
}
