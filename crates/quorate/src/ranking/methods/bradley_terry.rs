//! `bradley-terry`: one score for each item, judges and places left aside.
//!
//! ```text
//! P(i beats j) = 1 / (1 + exp(s_j - s_i)),    a tie is half a win each way;    maximise  sum_e w_e ln P(e),   sum of s = 0
//! ```
//!
//! Newton's method on the counts of pairs, `O(rows)` once and `O(items^3)` a step (conjugate gradients over the pairs
//! beyond some hundred items). Where wins do not lead from every item to every other, maximum likelihood is infinite:
//! then scores get a normal prior with a standard deviation of 2, and a warning says so. Intervals allow for answers
//! of one judge, or on one prompt, that hang together.
//!
//! R. A. Bradley, M. E. Terry, Biometrika 39 (1952).

use crate::context::Context;
use crate::declare_method;
use crate::error::Result;
use crate::ranking::clusters::design_effect;
use crate::ranking::components::{Components, everybody_lost_to_somebody};
use crate::ranking::davidson::{Parts, Prior, Problem};
use crate::ranking::fit::{Rank, RankFit, Uncertainty};
use crate::ranking::judges::count_judges;
use crate::ranking::observations::Observations;
use crate::ranking::{Comparisons, draw_count};

declare_method! {
    /// Bradley-Terry scores by maximum likelihood.
    pub struct BradleyTerry {
        /// largest number of Newton steps
        max_iter: usize in 1..=100000 = 200,
        /// steps end when the next one would raise the log likelihood by less than this
        tol: f64 in 0..=1 = 1e-12,
        /// standard deviation of a normal prior of the scores; 0 is maximum likelihood where it is finite
        prior: f64 in 0..=1000 = 0,
    }
    name: "bradley-terry",
    aliases: ["bt"],
    summary: "One score for each item by maximum likelihood; ties are half a win each way",
    description: "The log odds that one item beats another are the difference of their scores. All judges count alike \
                  and the side makes no difference.",
    citation: "R. A. Bradley, M. E. Terry: Rank analysis of incomplete block designs. Biometrika 39 (1952)",
    facts: [],
    build: Pairs,
}

/// Standard deviation of the scores where maximum likelihood is infinite.
const FALLBACK: f64 = 2.0;

impl Rank for BradleyTerry {
    fn estimate(&self, comparisons: &Comparisons, context: &mut Context) -> Result<RankFit> {
        let mut deviation = self.prior;
        let mut unbounded = false;
        let prior = |pooled: &Observations, components: &Components| {
            unbounded = deviation == 0.0 && !everybody_lost_to_somebody(pooled, components);
            if unbounded {
                deviation = FALLBACK;
            }
            if deviation > 0.0 {
                Prior::Fixed(deviation * deviation)
            } else {
                Prior::None
            }
        };
        let fit = fit_pooled(
            "bradley-terry",
            comparisons,
            prior,
            (self.max_iter, self.tol),
            context,
        )?;
        if unbounded {
            context.warn(format!(
                "some items won, or lost, against all others they met: their scores would be infinite, so a normal \
                 prior with a standard deviation of {FALLBACK} is used"
            ));
        }
        Ok(fit)
    }
}

/// One score for each item, all judges alike.
pub(super) fn fit_pooled(
    name: &'static str,
    comparisons: &Comparisons,
    prior: impl FnOnce(&Observations, &Components) -> Prior,
    (max_iter, tol): (usize, f64),
    context: &mut Context,
) -> Result<RankFit> {
    let rows = Observations::of(comparisons);
    let pooled = rows.pooled();
    let components = Components::of(&pooled);
    let parts = Parts {
        discrimination: false,
        position: false,
        ties: false,
        prior: prior(&pooled, &components),
    };
    let problem = Problem {
        rows: &pooled,
        components: &components,
        parts,
    };
    let solution = problem.solve(max_iter, tol, context)?;
    let inflation = design_effect(&problem, &solution.curvature, &rows);
    let covariance = solution.curvature.covariance();
    let draws = solution.curvature.draws(draw_count(&pooled), context.seed());
    let mut scores = solution.parameters.score;
    components.center(&mut scores);
    Ok(RankFit {
        uncertainty: Some(Uncertainty::new(covariance, draws, rows.items, inflation)),
        judges: count_judges(&rows, !comparisons.judges().is_empty(), &scores),
        design_effect: inflation,
        trace: solution.trace,
        iterations: solution.iterations,
        converged: solution.converged,
        ..RankFit::of_scores(name, scores.clone(), scores, &components)
    })
}
