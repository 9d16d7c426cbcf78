//! The rounds of Laplace EM: M-step, E-step, sizes of the effects.

use rayon::prelude::*;

use super::TaskEffects;
use super::difficulty::find_difficulty;
use super::parameters::{Parameters, Variances};
use super::passes::{Expectation, MAX_CHUNKS, Tasks};
use super::problem::Problem;
use super::sums::{EffectSums, WorkerSums};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use crate::model::{AnswerCounts, Priors, count_rows};
use crate::parallel::{balanced_ranges, map_ranges, private_chunks};

/// The last round in which the M-step is done twice and nothing is called converged.
pub(super) const EARLY: usize = 10;

/// Rounds before the variances of the workers are learnt, and before the size of the effects is.
const FIRST_VARIANCES: usize = 3;
const FIRST_EFFECT: usize = 5;

/// M-steps before the first E-step where something is known of the workers besides the votes: they must not
/// start alike.
const STEPS_WITH_KNOWLEDGE: usize = 12;

/// Newton rounds on a task end when no step is longer: what is left of the way then changes a log-likelihood
/// by about the square. Where the parameters are nearly settled from the start, the next round goes the rest
/// of the way.
const SMALL_STEP: f64 = 1e-3;
const SMALL_STEP_RESUMED: f64 = 2e-2;

/// Newton rounds on effects that start from nothing.
const NEWTON_ROUNDS_COLD: usize = 4;

/// Smallest size of the effects.
pub(super) const SMALLEST_EFFECT: f64 = 0.02;

/// Exponent of the step of `s^2`, which speeds up its convergence.
const EFFECT_STEP: f64 = 1.5;

/// Pseudo-tasks of each class in the prior.
const PRIOR_COUNT: f64 = 1.0;

/// Refuses what would not fit.
pub(super) fn reserve(annotations: &Annotations, context: &Context) -> Result<()> {
    const WORKER_TABLES: u64 = 8;
    let classes = annotations.class_count() as u64;
    let rows = annotations.task_count() as u64 * classes * (classes + 4);
    let tables = annotations.worker_count() as u64 * classes * classes * WORKER_TABLES;
    context.reserve(
        format!("effects of {classes} x {classes} numbers for every task and worker"),
        8 * (rows + tables),
        "merge rare classes, or use dawid-skene or majority-vote",
    )
}

/// Where the rounds have come to.
pub(super) struct EffectRounds<'p> {
    problem: &'p Problem<'p>,
    history: Option<&'p AnswerCounts>,
    knowledge: bool,
    parameters: Parameters,
    /// Posteriors.
    rows: Vec<f64>,
    /// `tau`.
    effects: Vec<f64>,
    /// `s^2` and the largest value of `s`.
    variance: f64,
    largest_effect: f64,
    prior: Vec<f64>,
    /// Pseudo-counts of the classes; none where the shares are held fixed.
    anchor: Option<Vec<f64>>,
    /// Number of tasks with labels.
    tasks: f64,
    sums: EffectSums,
    tables: Vec<WorkerSums>,
    small_step: f64,
}

/// What tasks say about others.
#[derive(Debug)]
pub(crate) struct Learnt {
    pub(super) parameters: Parameters,
    /// `s^2`.
    pub(super) variance: f64,
    pub(super) prior: Vec<f64>,
}

/// Where the rounds came to, for a look at the labels of the problem.
pub(super) struct Fitted {
    pub(super) rows: Vec<f64>,
    pub(super) confusions: Vec<f64>,
}

/// What the rounds found.
pub(super) struct Found {
    pub(super) rows: Vec<f64>,
    pub(super) prior: Vec<f64>,
    pub(super) confusions: Vec<f64>,
    pub(super) difficulty: Vec<f64>,
    pub(super) effect: f64,
    pub(super) variances: Variances,
}

impl<'p> EffectRounds<'p> {
    /// From these posteriors of the table's tasks.
    pub(super) fn new(
        method: &TaskEffects,
        problem: &'p Problem<'p>,
        start: &[f64],
        priors: &'p Priors,
        context: &Context,
    ) -> Self {
        let labels = problem.labels();
        let classes = labels.class_count;
        let rows = problem.select_rows(start, classes);
        let has_labels = |task: &usize| !labels.task(*task).0.is_empty();
        let weight = |task: usize| problem.weights.as_ref().map_or(1.0, |weights| weights[task]);
        let tasks: f64 = (0..labels.task_count()).filter(has_labels).map(weight).sum();
        let (counts, mass) = context.run(|| count_start(problem, &rows, priors.workers.as_ref()));
        // Votes of a crowd that gold turns round say little about the classes; the start, which knows gold,
        // does.
        let shares = match labels.gold {
            Some(_) => mass.clone(),
            None => vote_shares(problem),
        };
        let anchor = priors.fixed_shares().is_none().then(|| {
            let mut shares = shares;
            let mut total: f64 = shares.iter().sum();
            shares
                .iter_mut()
                .for_each(|share| *share *= tasks / total.max(1.0));
            total = tasks;
            if let Some(classes) = &priors.classes {
                let worth = classes.weight().unwrap_or(0.0);
                total += worth;
                shares
                    .iter_mut()
                    .zip(classes.shares())
                    .for_each(|(sum, share)| *sum += worth * share);
            }
            let count = |share: &f64| PRIOR_COUNT + method.anchor * tasks * share / total.max(1.0);
            shares.iter().map(count).collect()
        });
        let mut rounds = Self {
            problem,
            history: priors.workers.as_ref(),
            knowledge: labels.gold.is_some() || priors.workers.is_some(),
            parameters: Parameters::from_counts(&counts, labels.worker_count),
            effects: vec![0.0; labels.task_count() * classes * classes],
            rows,
            variance: method.largest_effect * method.largest_effect,
            largest_effect: method.largest_effect,
            prior: priors.fixed_shares().unwrap_or_default().to_vec(),
            anchor,
            tasks,
            sums: EffectSums::zero(classes),
            tables: Vec::new(),
            small_step: SMALL_STEP,
        };
        rounds.update_prior(&mass);
        rounds
    }

    /// Goes on from what was learnt from other tasks of the same workers, with an E-step.
    pub(super) fn resume(&mut self, learnt: Learnt) {
        (self.parameters, self.variance) = (learnt.parameters, learnt.variance);
        self.small_step = SMALL_STEP_RESUMED;
        self.sums = self.expect(NEWTON_ROUNDS_COLD);
        let mass = std::mem::take(&mut self.sums.mass);
        self.update_prior(&mass);
    }

    /// Starts from the first posteriors.
    pub(super) fn start(&mut self) {
        self.sums = self.crowd_slopes();
    }

    /// Posteriors and matrices as they are.
    pub(super) fn into_fitted(self) -> Fitted {
        Fitted {
            confusions: self.parameters.confusions(),
            rows: self.rows,
        }
    }

    /// What was learnt of workers and effects.
    pub(super) fn into_learnt(self) -> Learnt {
        Learnt {
            parameters: self.parameters,
            variance: self.variance,
            prior: self.prior,
        }
    }

    /// Mean change of a posterior (total variation) in the last round.
    pub(super) fn mean_change(&self) -> f64 {
        self.sums.change / (2.0 * self.tasks.max(1.0))
    }

    /// Largest change of a posterior in the last round.
    pub(super) fn largest_change(&self) -> f64 {
        self.sums.largest_change
    }

    /// One round; returns the approximate log-likelihood.
    pub(super) fn round(&mut self, round: usize) -> f64 {
        let steps = match round {
            0 if self.knowledge => STEPS_WITH_KNOWLEDGE,
            round if round < EARLY => 2,
            _ => 1,
        };
        for step in 0..steps {
            // The E-step has added up the slopes for the first step.
            if step > 0 {
                self.sums = self.crowd_slopes();
            }
            self.parameters.improve_crowd(&self.sums, self.history);
            self.find_worker_slopes();
            let learn = round >= FIRST_VARIANCES && step + 1 == steps;
            self.parameters
                .improve_workers(&self.tables[0], self.history, learn);
        }
        self.sums = self.expect(if round < FIRST_VARIANCES { 3 } else { 2 });
        let mass = std::mem::take(&mut self.sums.mass);
        self.update_prior(&mass);
        if round >= FIRST_EFFECT && self.tasks > 0.0 {
            let mean = self.sums.moment / (self.tasks * self.parameters.classes as f64);
            let variance = self.variance * (mean / self.variance).powf(EFFECT_STEP);
            let (least, most) = (SMALLEST_EFFECT.powi(2), self.largest_effect.powi(2));
            self.variance = variance.clamp(least.min(most), most);
        }
        self.sums.log_likelihood
    }

    pub(super) fn finish(self) -> Found {
        let classes = self.parameters.classes;
        let ranges = balanced_ranges(self.problem.labels().starts, MAX_CHUNKS);
        let difficulty = map_ranges(ranges, |tasks| {
            let rows = &self.rows[tasks.start * classes..tasks.end * classes];
            let effects = &self.effects[tasks.start * classes * classes..tasks.end * classes * classes];
            find_difficulty(&self.parameters.crowd, rows, effects)
        });
        Found {
            difficulty: difficulty.concat(),
            confusions: self.parameters.confusions(),
            rows: self.rows,
            prior: self.prior,
            effect: self.variance.sqrt(),
            variances: self.parameters.variances,
        }
    }

    fn update_prior(&mut self, mass: &[f64]) {
        if let Some(anchor) = &self.anchor {
            let sums = mass.iter().zip(anchor).map(|(mass, count)| mass + count);
            let total: f64 = sums.clone().sum();
            self.prior = sums.map(|sum| sum / total).collect();
        }
    }

    fn tasks(&self) -> Tasks<'_> {
        Tasks {
            labels: self.problem.labels(),
            weights: self.problem.weights.as_deref(),
            parameters: &self.parameters,
        }
    }

    fn crowd_slopes(&self) -> EffectSums {
        self.tasks().crowd_slopes(&self.rows, &self.effects)
    }

    /// Slopes of every worker, into the first of the tables.
    fn find_worker_slopes(&mut self) {
        let labels = self.problem.labels();
        let (workers, classes) = (labels.worker_count, self.parameters.classes);
        let chunks = private_chunks(labels.label.len(), 2 * workers * classes * classes);
        let mut tables = std::mem::take(&mut self.tables);
        tables.resize_with(chunks, WorkerSums::default);
        tables
            .par_iter_mut()
            .for_each(|table| table.clear(workers, classes));
        self.tasks()
            .add_worker_slopes(&self.rows, &self.effects, &mut tables);
        WorkerSums::add_up(&mut tables);
        self.tables = tables;
    }

    /// E-step.
    fn expect(&mut self, newton_rounds: usize) -> EffectSums {
        let mut rows = std::mem::take(&mut self.rows);
        let mut effects = std::mem::take(&mut self.effects);
        let with = Expectation {
            newton_rounds,
            small_step: self.small_step,
            variance: self.variance,
            prior: &self.prior,
        };
        let sums = self.tasks().expect(with, &mut rows, &mut effects);
        (self.rows, self.effects) = (rows, effects);
        sums
    }
}

/// Answers `[answer][truth]` of the whole crowd against the first posteriors, earlier answers included, and
/// the mass of each class.
fn count_start(problem: &Problem<'_>, rows: &[f64], history: Option<&AnswerCounts>) -> (Vec<f64>, Vec<f64>) {
    let labels = problem.labels();
    let classes = labels.class_count;
    let mut weighed = rows.to_vec();
    if let Some(weights) = &problem.weights {
        for (row, weight) in weighed.chunks_exact_mut(classes).zip(weights) {
            row.iter_mut().for_each(|cell| *cell *= weight);
        }
    }
    let mut counts = count_rows(labels, &weighed, classes);
    let mass = std::mem::take(&mut counts.mass);
    counts.mass = mass.clone();
    if let Some(history) = history {
        counts.merge(history);
    }
    (counts.pooled(), mass)
}

/// Number of labels of each class.
fn vote_shares(problem: &Problem<'_>) -> Vec<f64> {
    let labels = problem.labels();
    let mut votes = vec![0.0; labels.class_count];
    for task in 0..labels.task_count() {
        let weight = problem.weights.as_ref().map_or(1.0, |weights| weights[task]);
        labels
            .task(task)
            .1
            .iter()
            .for_each(|&answer| votes[answer as usize] += weight);
    }
    votes
}

#[cfg(test)]
impl EffectRounds<'_> {
    pub(super) fn parameters_for_tests(&self) -> &Parameters {
        &self.parameters
    }
}
