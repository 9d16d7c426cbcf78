//! `judge-bt`, the default: scores of items together with the discrimination, position bias and ties of each judge.
//!
//! The model and its steps are in [`davidson`](super::super::davidson). What is not in the table is not in the model:
//! without judges (or with one) all discriminate alike, without ties nobody calls any, and where the places do not
//! tell who was shown first there is no position bias. With one judge it is Davidson's model with a common position
//! effect.
//!
//! Intervals come from the curvature with the judges' own uncertainty in it, widened where answers on one prompt hang
//! together (`clusters`). The prior of the scores keeps items finite that never lost; how wide it is, is learnt.

use crate::context::Context;
use crate::declare_method;
use crate::error::Result;
use crate::ranking::clusters::design_effect;
use crate::ranking::comparisons::{Outcome, ShownOrder};
use crate::ranking::components::Components;
use crate::ranking::davidson::{Parts, Prior, Problem};
use crate::ranking::fit::{Rank, RankFit, Uncertainty};
use crate::ranking::judges::{count_judges, model_judges};
use crate::ranking::observations::Observations;
use crate::ranking::{Comparisons, draw_count};

/// Fewest comparisons of a judge with parameters of its own. Judges with fewer are taken for one: the parameters of many
/// judges with one answer each would follow the answers, and the scores would grow with them.
const MIN_OWN: usize = 8;

declare_method! {
    /// Scores with judges who differ in discrimination, position bias and ties.
    pub struct JudgeBt {
        /// largest number of Newton steps
        max_iter: usize in 1..=100000 = 200,
        /// steps end when the next one would raise the log likelihood by less than this
        tol: f64 in 0..=1 = 1e-6,
    }
    name: "judge-bt",
    aliases: ["judge-bradley-terry"],
    summary: "Bradley-Terry with the discrimination, position bias and ties of every judge, learnt together",
    description: "Every item has a score and every judge a discrimination, a position bias and a readiness to call a \
                  tie; how much judges differ is learnt. Judges who answer at random lose their weight. The default \
                  for pairwise comparisons.",
    citation: "R. A. Bradley, M. E. Terry: Rank analysis of incomplete block designs. Biometrika 39 (1952); \
               R. R. Davidson: On extending the Bradley-Terry model to accommodate ties. JASA 65 (1970)",
    facts: [],
    build: Pairs,
}

impl Rank for JudgeBt {
    fn estimate(&self, comparisons: &Comparisons, context: &mut Context) -> Result<RankFit> {
        let rows = Observations::of(comparisons);
        let components = Components::of(&rows);
        let named = !comparisons.judges().is_empty();
        let (mut ties, mut left, mut right) = (false, false, false);
        for row in rows.iter() {
            match row.outcome {
                Outcome::Left => left = true,
                Outcome::Right => right = true,
                Outcome::Tie => ties = true,
            }
        }
        let known = comparisons.shown_order() == ShownOrder::Known;
        let one_sided = known && !(left && right) && (left || right) && rows.len() >= 10;
        if one_sided {
            context.note(
                "one side wins every time: its place is taken for a sign of the winner, not of what was shown first, \
                 so no position bias is estimated",
            );
        }
        let joined = rows.with_few_joined(MIN_OWN);
        let (modelled, places) = joined
            .as_ref()
            .map_or((&rows, None), |(rows, places)| (rows, Some(places)));
        if let Some(places) = places {
            context.note(format!(
                "{} of {} judges are taken for one: they made fewer than {MIN_OWN} comparisons each, or most comparisons are of \
                 such judges",
                places.iter().filter(|place| place.is_none()).count(),
                places.len()
            ));
        }
        let problem = Problem {
            rows: modelled,
            components: &components,
            parts: Parts {
                discrimination: modelled.judges() > 1,
                position: known && left && right,
                ties,
                prior: Prior::Learnt,
            },
        };
        let solution = problem.solve(self.max_iter, self.tol, context)?;
        let inflation = design_effect(&problem, &solution.curvature, modelled);
        let covariance = solution.curvature.covariance();
        let draws = solution.curvature.draws(draw_count(&rows), context.seed());
        let mut scores = solution.parameters.score.clone();
        components.center(&mut scores);
        let mut judges = count_judges(&rows, named, &scores);
        let curvature = &solution.curvature;
        let models = model_judges(
            &problem,
            &solution.parameters,
            &solution.sizes,
            curvature,
            covariance.as_deref(),
        );
        for (judge, found) in judges.iter_mut().enumerate() {
            let place = places.map_or(Some(judge), |places| places[judge]);
            found.model = place.map(|place| models[place]);
        }
        let mut sizes = solution.sizes;
        if !ties {
            sizes.mean_ties = f64::NEG_INFINITY;
        }
        if modelled.judges() == 1 {
            [_, sizes.mean_position, _] = solution.parameters.judge[0];
            sizes.mean_ties = if ties {
                solution.parameters.judge[0][2]
            } else {
                sizes.mean_ties
            };
        }
        Ok(RankFit {
            uncertainty: Some(Uncertainty::new(covariance, draws, rows.items, inflation)),
            judges,
            sizes: Some(sizes),
            design_effect: inflation,
            trace: solution.trace,
            iterations: solution.iterations,
            converged: solution.converged,
            ..RankFit::of_scores("judge-bt", scores.clone(), scores, &components)
        })
    }
}
