//! What a method for comparisons returns, and how it is asked for.

use super::components::Components;
use super::davidson::{Sizes, chances};
use super::judges::JudgeFit;
use super::{Comparisons, Rankings};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::methods::Declared;
use crate::special::distributions::normal_tail;

/// A method with its parameters set: turns comparisons into scores.
pub trait Rank: Declared {
    /// The method's steps, on parameters that were checked.
    #[doc(hidden)]
    fn estimate(&self, comparisons: &Comparisons, context: &mut Context) -> Result<RankFit>;

    /// The steps of a method that takes whole rankings.
    #[doc(hidden)]
    fn estimate_rankings(&self, _rankings: &Rankings, _context: &mut Context) -> Result<RankFit> {
        Err(Error::NotApplicable {
            method: self.method().name,
            reason: "these are rankings of several items, and it takes comparisons of two: plackett-luce takes rankings".into(),
        })
    }

    /// Fits the method.
    fn fit(&self, comparisons: &Comparisons, context: &mut Context) -> Result<RankFit> {
        self.check()?;
        with_messages(context, |context| self.estimate(comparisons, context))
    }

    /// Fits the method to rankings.
    fn fit_rankings(&self, rankings: &Rankings, context: &mut Context) -> Result<RankFit> {
        self.check()?;
        with_messages(context, |context| self.estimate_rankings(rankings, context))
    }

    /// Checks every parameter against its declared range.
    #[doc(hidden)]
    fn check(&self) -> Result<()> {
        let parameters = self.method().parameters.iter();
        parameters
            .zip(self.values())
            .try_for_each(|(parameter, value)| parameter.check(&value))
    }
}

fn with_messages(
    context: &mut Context,
    run: impl FnOnce(&mut Context) -> Result<RankFit>,
) -> Result<RankFit> {
    let (fit, messages) = context.messages_of(run);
    let mut fit = fit?;
    fit.warnings.extend(messages.warnings);
    fit.notes.extend(messages.notes);
    Ok(fit)
}

/// Scores of items, and how sure they are.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankFit {
    /// The method's name.
    pub method: &'static str,
    /// The score of each item, on the method's own scale.
    pub scores: Vec<f64>,
    /// The scores as log odds: the difference of two is the log odds of a win.
    pub strengths: Vec<f64>,
    /// The group of each item: items of different groups were never compared, not even through others. Numbered
    /// by size, the largest first.
    pub groups: Vec<u32>,
    /// How sure the scores are; none for methods that do not say.
    pub uncertainty: Option<Uncertainty>,
    /// What is known of each judge; empty where nobody is named.
    pub judges: Vec<JudgeFit>,
    /// The learnt sizes of the effects, for `judge-bt`.
    pub sizes: Option<Sizes>,
    /// By how much clusters of answers on one prompt widen the variances.
    pub design_effect: f64,
    /// The objective after each step with the final sizes.
    pub trace: Vec<f64>,
    /// Steps.
    pub iterations: usize,
    /// Whether the steps came to an end by themselves.
    pub converged: bool,
    /// What to beware of.
    pub warnings: Vec<String>,
    /// Facts about the run.
    pub notes: Vec<String>,
}

/// How far scores may be off, on the scale of [`RankFit::strengths`].
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertainty {
    /// Covariance, a square by rows; none where there are more items than it pays for.
    pub(super) covariance: Option<Vec<f64>>,
    /// Draws of how far the scores are off, a row of all items for each.
    pub(super) draws: Vec<f32>,
    /// Standard deviation of each item's strength.
    pub deviations: Vec<f64>,
}

impl Uncertainty {
    pub(super) fn new(
        covariance: Option<Vec<f64>>,
        mut draws: Vec<f32>,
        items: usize,
        inflation: f64,
    ) -> Self {
        let covariance = covariance.map(|covariance| {
            covariance
                .into_iter()
                .map(|value| value * inflation)
                .collect::<Vec<f64>>()
        });
        draws
            .iter_mut()
            .for_each(|value| *value *= inflation.sqrt() as f32);
        let deviations = match &covariance {
            Some(covariance) => (0..items)
                .map(|item| covariance[item * (items + 1)].max(0.0).sqrt())
                .collect(),
            None => {
                let mut squares = vec![0.0; items];
                for draw in draws.chunks_exact(items) {
                    squares
                        .iter_mut()
                        .zip(draw)
                        .for_each(|(sum, &value)| *sum += f64::from(value).powi(2));
                }
                let count = (draws.len() / items.max(1)).max(1) as f64;
                squares.into_iter().map(|sum: f64| (sum / count).sqrt()).collect()
            }
        };
        Self {
            covariance,
            draws,
            deviations,
        }
    }

    /// Standard deviation of the difference of two strengths.
    pub fn of_difference(&self, i: usize, j: usize) -> f64 {
        let items = self.deviations.len();
        match &self.covariance {
            Some(covariance) => {
                let at = |a: usize, b: usize| covariance[a * items + b];
                (at(i, i) + at(j, j) - 2.0 * at(i, j)).max(0.0).sqrt()
            }
            None => {
                let difference = |draw: &[f32]| f64::from(draw[i] - draw[j]).powi(2);
                let count = (self.draws.len() / items.max(1)).max(1) as f64;
                (self.draws.chunks_exact(items).map(difference).sum::<f64>() / count).sqrt()
            }
        }
    }
}

/// Chance that a normal variable with mean 0 and deviation 1 is below `z`.
pub(super) fn normal_below(z: f64) -> f64 {
    if z >= 0.0 {
        1.0 - normal_tail(z)
    } else {
        normal_tail(-z)
    }
}

impl RankFit {
    pub(super) fn of_scores(
        method: &'static str,
        scores: Vec<f64>,
        strengths: Vec<f64>,
        components: &Components,
    ) -> Self {
        Self {
            method,
            scores,
            strengths,
            groups: components.of_item.clone(),
            uncertainty: None,
            judges: Vec::new(),
            sizes: None,
            design_effect: 1.0,
            trace: Vec::new(),
            iterations: 0,
            converged: true,
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether two items can be compared.
    pub fn comparable(&self, i: usize, j: usize) -> bool {
        self.groups[i] == self.groups[j]
    }

    /// Chance that item `i` is better than item `j`; none where that is not known.
    pub fn better(&self, i: usize, j: usize) -> Option<f64> {
        if !self.comparable(i, j) {
            return None;
        }
        let deviation = self.uncertainty.as_ref()?.of_difference(i, j);
        let difference = self.strengths[i] - self.strengths[j];
        Some(if deviation > 0.0 {
            normal_below(difference / deviation)
        } else {
            0.5 + 0.5 * difference.signum()
        })
    }

    /// Share of the comparisons of two items that the first one would win, ties half, between judges of the usual
    /// discrimination who do not mind the side; none where the two cannot be compared.
    pub fn win_probability(&self, i: usize, j: usize) -> Option<f64> {
        let ties = self.sizes.map(|sizes| sizes.mean_ties);
        let [win, _, tie] = chances(self.strengths[i] - self.strengths[j], ties);
        self.comparable(i, j).then_some(win + tie / 2.0)
    }

    /// Chances of left, right and tie when this judge (or any, if none) compares two items.
    pub fn predict(&self, left: usize, right: usize, judge: Option<usize>) -> [f64; 3] {
        let difference = self.strengths[left] - self.strengths[right];
        let Some(sizes) = self.sizes else {
            return chances(difference, None);
        };
        match judge
            .and_then(|judge| self.judges.get(judge))
            .and_then(|judge| judge.model)
        {
            Some(model) => chances(model.discrimination * difference + model.position, model.ties),
            None => chances(difference + sizes.mean_position, Some(sizes.mean_ties)),
        }
    }
}
