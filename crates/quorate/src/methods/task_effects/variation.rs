//! What the labels show of the effects of tasks, by a model that has none.
//!
//! ```text
//! r_n(a) = sum_i ([x_i = a] - p_i(a)),     C_n = sum_i (diag p_i - p_i p_i')           given the truth of task n
//! s^2 = sum_n E (|r_n|^2 - tr C_n) / sum_n E |C_n|^2
//! ```
//!
//! Where workers err independently the answers to a task stray from the model by their variance `tr C`; what they
//! stray beyond it is the work of effects (the score of `s^2` at 0, over its slope). Rounds with effects cannot
//! tell: with few labels per task their `s` stays near its start. The model is `task-effects` with next to no
//! effects and a prior that follows the posteriors: its doubts are right where workers err independently.
//! Costs one more fit of at most [`SAMPLE_LABELS`](super::SAMPLE_LABELS) labels, or a part of more.

use super::problem::Problem;
use super::rounds::{self, EffectRounds, Fitted};
use super::streamed::{sample_parts, take_sample};
use super::{MAX_CLASSES, Run, SAMPLE_LABELS, SAMPLE_PARTS, TaskEffects};
use crate::annotations::Annotations;
use crate::blocks::Passes;
use crate::calibrate::TaskVariation;
use crate::context::Context;
use crate::error::Result;
use crate::methods::starting_votes;
use crate::parallel::{balanced_ranges, map_ranges};

/// Most rounds.
const ROUNDS: usize = 60;

/// Posteriors below this add nothing.
const NEGLIGIBLE: f64 = 1e-4;

/// Looks at labels wherever they are; none where there are too many classes or too little memory.
pub(crate) fn see_variation(passes: &mut Passes<'_>, context: &mut Context) -> Result<Option<TaskVariation>> {
    if passes.class_count() > MAX_CLASSES || passes.class_count() < 2 {
        return Ok(None);
    }
    let parameters = passes.worker_count() * passes.class_count() * (passes.class_count() - 1);
    let labels = passes.label_count() as f64;
    let determined = labels / (labels + parameters as f64);
    let seen = match passes.look_at_table(|table| see(table, context)) {
        Some(seen) => seen?,
        None => see(
            &take_sample(passes, sample_parts(passes.label_count()), context)?,
            context,
        )?,
    };
    Ok(seen.map(|seen| TaskVariation { determined, ..seen }))
}

fn see(annotations: &Annotations, context: &mut Context) -> Result<Option<TaskVariation>> {
    if rounds::reserve(annotations, context).is_err() {
        return Ok(None);
    }
    let method = TaskEffects {
        max_iter: ROUNDS,
        largest_effect: rounds::SMALLEST_EFFECT,
        anchor: 0.0,
        ..TaskEffects::default()
    };
    let priors = context.priors();
    let start = starting_votes(annotations, context)?;
    let all = context.run(|| Problem::new(annotations, priors.workers.is_none()));
    let sample = SAMPLE_LABELS.max(annotations.label_count() / SAMPLE_PARTS);
    let sampled = context.run(|| all.sample(sample));
    let problem = sampled.as_ref().unwrap_or(&all);
    let mut rounds = EffectRounds::new(&method, problem, start.as_slice(), &priors, context);
    drop(start);
    context.run(|| rounds.start());
    Run::of(&method).all_rounds(&mut rounds, context)?;
    let fitted = rounds.into_fitted();
    Ok(context.run(|| measure(problem, &fitted)))
}

/// Sums over tasks.
#[derive(Default, Clone, Copy)]
struct Sums {
    /// Doubts and number of the tasks whose truth is not known.
    doubt: f64,
    open: f64,
    /// `E (|r|^2 - tr C)` and `E |C|^2`.
    excess: f64,
    squares: f64,
}

fn measure(problem: &Problem<'_>, fitted: &Fitted) -> Option<TaskVariation> {
    let ranges = balanced_ranges(problem.labels().starts, 64);
    let parts = map_ranges(ranges, |tasks| {
        let mut sums = Sums::default();
        let mut scratch = Scratch::new(problem.labels().class_count);
        tasks.for_each(|task| add_task(problem, fitted, task, &mut scratch, &mut sums));
        sums
    });
    let total = parts.into_iter().fold(Sums::default(), |total, part| Sums {
        doubt: total.doubt + part.doubt,
        open: total.open + part.open,
        excess: total.excess + part.excess,
        squares: total.squares + part.squares,
    });
    (total.open > 0.0 && total.squares > 0.0).then(|| TaskVariation {
        own_doubt: total.doubt / total.open,
        variance: total.excess / total.squares,
        determined: 1.0,
    })
}

struct Scratch {
    residual: Vec<f64>,
    covariance: Vec<f64>,
}

impl Scratch {
    fn new(classes: usize) -> Self {
        Self {
            residual: vec![0.0; classes],
            covariance: vec![0.0; classes * classes],
        }
    }
}

fn add_task(problem: &Problem<'_>, fitted: &Fitted, task: usize, scratch: &mut Scratch, sums: &mut Sums) {
    let labels = problem.labels();
    let classes = labels.class_count;
    let (workers, answers) = labels.task(task);
    if workers.is_empty() {
        return;
    }
    let weight = problem.weights.as_ref().map_or(1.0, |weights| weights[task]);
    let row = &fitted.rows[task * classes..][..classes];
    if labels.gold(task).is_none() {
        sums.open += weight;
        sums.doubt += weight * (1.0 - row.iter().copied().fold(0.0, f64::max));
    }
    if workers.len() < 2 {
        return;
    }
    let Scratch { residual, covariance } = scratch;
    for truth in (0..classes).filter(|&truth| row[truth] >= NEGLIGIBLE) {
        residual.fill(0.0);
        covariance.fill(0.0);
        for (&worker, &answer) in workers.iter().zip(answers) {
            let matrix = &fitted.confusions[worker as usize * classes * classes..][..classes * classes];
            let chance = |answer: usize| matrix[answer * classes + truth];
            residual[usize::from(answer)] += 1.0;
            for a in 0..classes {
                residual[a] -= chance(a);
                covariance[a * classes + a] += chance(a);
                for b in 0..classes {
                    covariance[a * classes + b] -= chance(a) * chance(b);
                }
            }
        }
        let square: f64 = residual.iter().map(|r| r * r).sum();
        let trace: f64 = covariance.iter().step_by(classes + 1).sum();
        sums.excess += weight * row[truth] * (square - trace);
        sums.squares += weight * row[truth] * covariance.iter().map(|c| c * c).sum::<f64>();
    }
}
