//! `plackett-luce`: scores from whole rankings, each a chain of choices of the best that is left.
//!
//! ```text
//! P(i_1 > i_2 > .. > i_n) = prod_t exp(s_{i_t}) / sum_{u >= t} exp(s_{i_u});     s_i ~ N(0, v),    maximise over s
//! ```
//!
//! A comparison of two items is a ranking of two; a tie there is half a win each way. Items that tie inside of a
//! ranking are each chosen from all that are left (Breslow's form). Newton's method: with `Z_t` the sum at choice `t`,
//!
//! ```text
//! gradient_i = chosen_i - e^{s_i} sum_{t <= i} 1/Z_t,      H_ij = -e^{s_i + s_j} sum_{t <= min(i, j)} 1/Z_t^2
//! ```
//!
//! the gradient costs one pass over the places, the curvature the square of a ranking's length. `v` is learnt as in
//! `judge-bt`. Intervals come from `H^-1`, widened by the spread of the prompts, or else the judges.
//!
//! R. L. Plackett, Applied Statistics 24 (1975); R. D. Luce, Individual Choice Behavior (1959).

use nalgebra::{Cholesky, DMatrix, DVector};
use rand::RngExt;

use super::bradley_terry::fit_pooled;
use crate::context::{Context, seeded};
use crate::declare_method;
use crate::error::{Error, Result};
use crate::ranking::components::Components;
use crate::ranking::davidson::Prior;
use crate::ranking::fit::{Rank, RankFit, Uncertainty};
use crate::ranking::rankings::Rankings;
use crate::ranking::{Comparisons, DRAWS};

declare_method! {
    /// Plackett-Luce scores of rankings.
    pub struct PlackettLuce {
        /// largest number of Newton steps
        max_iter: usize in 1..=100000 = 200,
        /// steps end when the next one would raise the log likelihood by less than this
        tol: f64 in 0..=1 = 1e-9,
    }
    name: "plackett-luce",
    aliases: ["pl"],
    summary: "Scores from whole rankings: each place is a choice of the best that is left",
    description: "For files with several items in order per judge and prompt. Rankings are not broken into pairs, \
                  which would count one judgement many times.",
    citation: "R. L. Plackett: The analysis of permutations. Applied Statistics 24 (1975)",
    facts: [],
    build: Pairs,
}

/// Most items: their matrix is kept.
const MAX_ITEMS: usize = 5000;

impl Rank for PlackettLuce {
    fn estimate(&self, comparisons: &Comparisons, context: &mut Context) -> Result<RankFit> {
        // A pair is a ranking of two: Bradley-Terry with a learnt prior.
        let steps = (self.max_iter, self.tol);
        fit_pooled("plackett-luce", comparisons, |_, _| Prior::Learnt, steps, context)
    }

    fn estimate_rankings(&self, rankings: &Rankings, context: &mut Context) -> Result<RankFit> {
        let items = rankings.items().len();
        if items > MAX_ITEMS {
            return Err(Error::TooMany {
                what: "items in rankings",
                limit: MAX_ITEMS,
                hint: "rank those that matter, or compare them in pairs",
            });
        }
        let table = Table::of(rankings);
        let components = table.components();
        let mut scores = vec![0.0; items];
        let mut variance: f64 = 1.0;
        let mut trace = Vec::new();
        let mut learning = true;
        let mut iterations = 0;
        let mut factors;
        let converged = loop {
            context.step("steps", iterations, Some(self.max_iter))?;
            let (value, mut gradient, mut hessian) = table.derivatives(&scores);
            let squares: f64 = scores.iter().map(|score| score * score).sum();
            let objective = value - squares / (2.0 * variance);
            for item in 0..items {
                gradient[item] -= scores[item] / variance;
                hessian[(item, item)] += 1.0 / variance;
            }
            factors = Cholesky::new(hessian).expect("a Laplacian and a prior are positive definite");
            if !learning {
                trace.push(objective);
            }
            let step = factors.solve(&DVector::from_column_slice(&gradient));
            let gain: f64 = gradient.iter().zip(step.iter()).map(|(g, step)| g * step).sum();
            if (!learning && gain <= self.tol) || iterations >= self.max_iter {
                break !learning && gain <= self.tol;
            }
            iterations += 1;
            let mut length = 1.0;
            let before = scores.clone();
            loop {
                scores = before
                    .iter()
                    .zip(step.iter())
                    .map(|(old, step)| old + length * step)
                    .collect();
                let squares: f64 = scores.iter().map(|score| score * score).sum();
                if table.log_likelihood(&scores) - squares / (2.0 * variance)
                    >= objective - 1e-13 * objective.abs()
                    || length < 1e-9
                {
                    break;
                }
                length /= 2.0;
            }
            if learning {
                let squares: f64 = scores.iter().map(|score| score * score).sum();
                let decided = (items as f64 - factors.inverse().trace() / variance).max(0.0);
                let next = ((squares + 1.0) / (decided + 1.0)).clamp(1e-6, 1e4);
                learning = (next - variance).abs() > 0.01 * variance && iterations < 30;
                variance = next;
            }
        };
        let inflation = table.design_effect(rankings, &scores, &factors);
        components.center(&mut scores);
        let mut covariance = factors.inverse();
        for _ in 0..2 {
            for mut column in covariance.column_iter_mut() {
                components.center(column.as_mut_slice());
            }
            covariance.transpose_mut();
        }
        let mut rng = context.rng(0);
        let mut draws = Vec::with_capacity(DRAWS * items);
        for _ in 0..DRAWS {
            let z = DVector::from_iterator(
                items,
                (0..items).map(|_| rng.sample::<f64, _>(rand_distr::StandardNormal)),
            );
            let mut drawn = factors
                .l_dirty()
                .tr_solve_lower_triangular(&z)
                .expect("the factor is regular");
            components.center(drawn.as_mut_slice());
            draws.extend(drawn.iter().map(|&value| value as f32));
        }
        Ok(RankFit {
            uncertainty: Some(Uncertainty::new(
                Some(covariance.as_slice().to_vec()),
                draws,
                items,
                inflation,
            )),
            design_effect: inflation,
            trace,
            iterations,
            converged,
            ..RankFit::of_scores("plackett-luce", scores.clone(), scores, &components)
        })
    }
}

/// Rankings as groups of equals.
struct Table {
    items: usize,
    rankings: Vec<Vec<Vec<usize>>>,
}

impl Table {
    fn of(rankings: &Rankings) -> Self {
        Self {
            items: rankings.items().len(),
            rankings: (0..rankings.len())
                .map(|ranking| rankings.groups(ranking).collect())
                .collect(),
        }
    }

    fn components(&self) -> Components {
        let chains = self.rankings.iter().flat_map(|groups| {
            let items: Vec<usize> = groups.concat();
            (1..items.len())
                .map(move |place| (items[place - 1], items[place]))
                .collect::<Vec<_>>()
        });
        Components::of_pairs(self.items, chains)
    }

    fn log_likelihood(&self, scores: &[f64]) -> f64 {
        self.rankings
            .iter()
            .map(|groups| Chain::of(groups, scores).value)
            .sum()
    }

    /// Log likelihood, gradient and curvature.
    fn derivatives(&self, scores: &[f64]) -> (f64, Vec<f64>, DMatrix<f64>) {
        let mut gradient = vec![0.0; self.items];
        let mut hessian = DMatrix::zeros(self.items, self.items);
        let mut value = 0.0;
        for groups in &self.rankings {
            let chain = Chain::of(groups, scores);
            value += chain.value;
            for (place, here) in chain.places.iter().enumerate() {
                gradient[here.item] += here.slope();
                hessian[(here.item, here.item)] += here.weight * (here.first - here.weight * here.second);
                for before in &chain.places[..place] {
                    // Both are left at the choices up to the earlier place.
                    let shared = here.weight * before.weight * before.second;
                    hessian[(here.item, before.item)] -= shared;
                    hessian[(before.item, here.item)] -= shared;
                }
            }
        }
        (value, gradient, hessian)
    }

    /// As in `clusters`, by the spread of the slopes of whole rankings: of one prompt where prompts repeat, else of
    /// one judge where judges repeat.
    fn design_effect(
        &self,
        rankings: &Rankings,
        scores: &[f64],
        factors: &Cholesky<f64, nalgebra::Dyn>,
    ) -> f64 {
        let (judges, prompts) = (rankings.judges().len(), rankings.prompts().len());
        let clusters = judges.max(1) * usize::from(prompts < 2) + prompts * usize::from(prompts >= 2);
        if clusters < 5 {
            return 1.0;
        }
        let mut rng = seeded(0, STREAM);
        let mut total = 0.0;
        for _ in 0..DIRECTIONS {
            let signs = (0..self.items).map(|_| if rng.random() { 1.0 } else { -1.0 });
            let mut direction = DVector::from_iterator(self.items, signs);
            let mean = direction.mean();
            direction.add_scalar_mut(-mean);
            let along = factors.solve(&direction);
            let mut sums = vec![0.0; clusters];
            let mut expected = 0.0;
            for (ranking, groups) in self.rankings.iter().enumerate() {
                let (judge, prompt) = rankings.of(ranking);
                let chain = Chain::of(groups, scores);
                let slope: f64 = chain
                    .places
                    .iter()
                    .map(|here| here.slope() * along[here.item])
                    .sum();
                sums[if prompts >= 2 { prompt } else { judge }] += slope;
                expected += chain.curvature_along(|item| along[item]);
            }
            total += sums.iter().map(|sum| sum * sum).sum::<f64>() / expected.max(f64::MIN_POSITIVE);
        }
        let clusters = clusters as f64;
        (total / DIRECTIONS as f64 * clusters / (clusters - 1.0)).max(1.0)
    }
}

/// Where the stream of random numbers of the contrasts is, and how many there are.
const STREAM: u64 = 1 << 42;
const DIRECTIONS: usize = 32;

/// One ranking at given scores.
struct Chain {
    value: f64,
    places: Vec<Place>,
}

/// An item's place in a ranking.
struct Place {
    item: usize,
    /// `exp(s)`, relative to the largest of the ranking.
    weight: f64,
    /// Whether it was chosen from others.
    is_chosen: bool,
    /// Sums of `1/Z` and `1/Z^2` over the choices at which the item is left.
    first: f64,
    second: f64,
}

impl Place {
    fn slope(&self) -> f64 {
        f64::from(u8::from(self.is_chosen)) - self.weight * self.first
    }
}

impl Chain {
    fn of(groups: &[Vec<usize>], scores: &[f64]) -> Self {
        let largest = groups
            .iter()
            .flatten()
            .map(|&item| scores[item])
            .fold(f64::MIN, f64::max);
        let weight = |item: usize| (scores[item] - largest).exp();
        // What is left at each choice, from the end: differences would lose the small ones.
        let mut left: Vec<f64> = vec![0.0; groups.len() + 1];
        for (number, group) in groups.iter().enumerate().rev() {
            left[number] = left[number + 1] + group.iter().map(|&item| weight(item)).sum::<f64>();
        }
        let mut chain = Self {
            value: 0.0,
            places: Vec::new(),
        };
        let (mut first, mut second) = (0.0, 0.0);
        for (number, group) in groups.iter().enumerate() {
            // The last are chosen from themselves, which says nothing.
            let is_chosen = number + 1 < groups.len();
            let chosen = group.len() as f64;
            let left = left[number];
            if is_chosen {
                first += chosen / left;
                second += chosen / (left * left);
                chain.value -= chosen * left.ln();
            }
            for &item in group {
                let weight = weight(item);
                if is_chosen {
                    chain.value += scores[item] - largest;
                }
                chain.places.push(Place {
                    item,
                    weight,
                    is_chosen,
                    first,
                    second,
                });
            }
        }
        chain
    }

    /// `x' H x` of this ranking: the variance of `x` at each choice.
    fn curvature_along(&self, x: impl Fn(usize) -> f64) -> f64 {
        let (mut squares, mut sum) = (0.0, 0.0);
        for place in &self.places {
            squares += place.weight * place.first * x(place.item).powi(2);
        }
        let mut total = squares;
        for (number, place) in self.places.iter().enumerate().rev() {
            sum += place.weight * x(place.item);
            let starts = number == 0 || self.places[number - 1].second != place.second;
            if starts && place.is_chosen {
                let before = if number == 0 {
                    0.0
                } else {
                    self.places[number - 1].second
                };
                total -= (place.second - before) * sum * sum;
            }
        }
        total
    }
}
