//! CRIA_V: completes and corrects everybody's answers by a low-rank tensor, then votes. **A reconstruction**:
//! the paper's algorithm section was not available; see below.
//!
//! ```text
//! min_X  1/2 ||Omega o (X - T)||^2 + theta sum_d (1/3) ||X_(d)||_*       label of n = argmax_k sum_m X[n, k, m]
//! ```
//!
//! T holds the answers as fibres of +1 and -1 over (task, class, worker), Omega marks the observed ones,
//! `X_(d)` is the unfolding by task, class or worker and `||.||_*` the sum of singular values
//! ([`tensor_completion`](crate::tensor_completion)).
//!
//! 1. `X = T`, multipliers `Y_d = 0`; `theta` is a share of the largest singular value of the unfolding by
//!    task.
//! 2. `Z_d = SVT_{theta / (3 rho)}(X - Y_d / rho)` in each unfolding.
//! 3. `X = (Omega o T + sum_d (rho Z_d + Y_d)) / (Omega + 3 rho)`, `Y_d += rho (Z_d - X)`.
//! 4. Until X moves by less than `tol` of `||T||`, or `steps` steps. Scores `sum_m X[n, k, m]` over all
//!    workers; the row of a task is `softmax(score / number of its labels)`: an order of confidence, not
//!    calibrated.
//!
//! Dense: `N K M` numbers in five copies, and an eigenproblem of side `min(N, K M)` a step. On complete
//! tables there is nothing to predict and the answer is close to majority vote. A large `theta` leaves rank
//! one and makes all tasks alike: that is said.
//!
//! What is known of the original: the tensor of (item, label, annotator), a completion that also changes
//! observed answers, voting after it, several ways of voting. Chosen here, with an eye on published errors,
//! so that agreement with them confirms nothing: coding, loss, solver, `theta`, `rho`, and reading V as plain
//! voting.
//!
//! S.-Y. Li, Y. Jiang, "Multi-label crowdsourcing learning with incomplete annotations", PRICAI 2018.

use rayon::prelude::*;

use crate::tensor_completion::{Mode, Shape, distance, norm};
use quorate::internal::model::softmax_in_place;
use quorate::methods::{Aggregate, Fit, vote_fractions};
use quorate::model::Consensus;
use quorate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// CRIA_V (reconstruction).
    pub struct CriaV {
        /// weight of the rank, as a share of the largest singular value of the unfolding by task
        theta: f64 in 0..=10 = 0.2,
        /// penalty of ADMM
        rho: f64 in 1e-6..=1e6 = 0.1,
        /// largest number of steps
        steps: usize in 1..=1_000_000 = 40,
        /// stops when a step moves the tensor by less than this share of its size
        tol: f64 in 0..=1 = 1e-4,
    }
    name: "cria-v",
    aliases: ["criav"],
    summary: "Voting after low-rank tensor completion (a reconstruction)",
    description: "Writes the answers as a tensor of tasks, classes and workers, completes and corrects it \
                  by a low-rank fit, and lets the completed workers vote. A reconstruction: the published \
                  algorithm was not available, and the settings were chosen with the published errors in \
                  view. Dense, for moderate sizes.",
    citation: "S.-Y. Li, Y. Jiang: Multi-label crowdsourcing learning with incomplete annotations. PRICAI \
               2018 (reconstruction)",
    facts: [returns_model],
}

impl Aggregate for CriaV {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        if classes == 1 {
            return Ok(Fit::counted(annotations, vote_fractions(annotations)));
        }
        let shape = Shape::of(annotations, 0, 6, context)?;
        let mut x = vec![0.0; shape.len()];
        shape.visit_labels(annotations, |cell, value| x[cell] = value);
        let size = norm(&x);
        context.step("completion", 0, Some(self.steps))?;
        let theta = self.theta * context.run(|| shape.spectral_norm(&x));
        let mut completion = Completion::new(shape, x, theta, self.rho);
        let (mut iterations, mut converged) = (0, false);
        while iterations < self.steps && !converged {
            context.step("completion", iterations, Some(self.steps))?;
            let moved = context.run(|| completion.step(annotations));
            iterations += 1;
            converged = moved < self.tol * size;
        }
        let consensus = vote(&shape, &completion.x, annotations);
        let mut fit = context.run(|| Fit::counted(annotations, consensus));
        let note = format!("the completed tensor has rank {} by task", completion.rank);
        if completion.rank <= 1 {
            fit.warnings
                .push(format!("{note}: all tasks look alike, lower theta"));
        }
        fit.notes.push(note);
        Ok(Fit {
            iterations,
            converged,
            ..fit
        })
    }
}

/// ADMM for the completion.
struct Completion {
    shape: Shape,
    x: Vec<f64>,
    /// A mode, how often it counts, its multipliers.
    modes: Vec<(Mode, f64, Vec<f64>)>,
    theta: f64,
    rho: f64,
    /// Singular values left in the unfolding by task.
    rank: usize,
}

impl Completion {
    fn new(shape: Shape, x: Vec<f64>, theta: f64, rho: f64) -> Self {
        let modes = shape.modes().into_iter();
        let modes = modes
            .map(|(mode, weight)| (mode, weight, vec![0.0; x.len()]))
            .collect();
        Self {
            shape,
            x,
            modes,
            theta,
            rho,
            rank: 0,
        }
    }

    /// One step; returns how far X moved.
    fn step(&mut self, annotations: &Annotations) -> f64 {
        let (rho, threshold) = (self.rho, self.theta / (3.0 * self.rho));
        let mut next = vec![0.0; self.x.len()];
        let mut shrunk = Vec::with_capacity(self.modes.len());
        for (mode, weight, multipliers) in &self.modes {
            let cells = self.x.par_iter().zip(multipliers);
            let mut z: Vec<f64> = cells.map(|(x, y)| x - y / rho).collect();
            let rank = self.shape.shrink(&mut z, *mode, threshold);
            if *mode == Mode::Tasks {
                self.rank = rank;
            }
            let cells = next.par_iter_mut().zip(z.par_iter().zip(multipliers));
            cells.for_each(|(cell, (z, y))| *cell += weight * (z / 3.0 + y / (3.0 * rho)));
            shrunk.push(z);
        }
        // Observed cells are drawn to the answer.
        self.shape.visit_labels(annotations, |cell, value| {
            next[cell] = (value + 3.0 * rho * next[cell]) / (1.0 + 3.0 * rho);
        });
        for ((_, _, multipliers), z) in self.modes.iter_mut().zip(&shrunk) {
            let cells = multipliers.par_iter_mut().zip(z.par_iter().zip(&next));
            cells.for_each(|(y, (z, x))| *y += rho * (z - x));
        }
        let moved = distance(&self.x, &next);
        self.x = next;
        moved
    }
}

/// Every worker votes on every task with its completed answer.
fn vote(shape: &Shape, x: &[f64], annotations: &Annotations) -> Consensus {
    let mut rows = vec![0.0; shape.tasks * shape.classes];
    for (task, row) in rows.chunks_exact_mut(shape.classes).enumerate() {
        let labels = annotations.labels_of_task(task).len().max(1) as f64;
        let total = |k: usize| x[shape.cell(task, k, 0)..][..shape.slices].iter().sum::<f64>();
        shape.decode(total, row);
        row.iter_mut().for_each(|score| *score /= labels);
        softmax_in_place(row);
    }
    Consensus::new(shape.classes, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_a};

    #[test]
    fn without_a_penalty_observed_answers_stay() {
        let annotations = toy_a();
        let shape = Shape::of(&annotations, 0, 1, &Context::new(0)).unwrap();
        let mut x = vec![0.0; shape.len()];
        shape.visit_labels(&annotations, |cell, value| x[cell] = value);
        let before = x.clone();
        let mut completion = Completion::new(shape, x, 0.0, 0.1);
        for _ in 0..5 {
            completion.step(&annotations);
        }
        assert_close(&completion.x, &before, 1e-9);
    }

    #[test]
    fn unanimous_answers_stay() {
        let labels = (0..24).map(|cell| (cell / 4, cell % 4, (cell / 4 % 3) as u16));
        let annotations = Annotations::from_codes(6, 4, 3, labels).unwrap();
        let fit = CriaV::default().fit(&annotations, &mut Context::new(0)).unwrap();
        assert_eq!(fit.consensus.labels(), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_large_theta_is_said_to_collapse() {
        let fit = CriaV {
            theta: 5.0,
            ..CriaV::default()
        }
        .fit(&toy_a(), &mut Context::new(0))
        .unwrap();
        assert!(
            fit.warnings[0].contains("all tasks look alike"),
            "{:?}",
            fit.warnings
        );
    }
}
