//! `task-effects` over labels in blocks.
//!
//! 1. Every so many tasks are taken into memory, and the rounds run on them as on any table: the matrix of
//!    the crowd, the sizes of all effects, the prior.
//! 2. Where these are not all tasks, a few passes over all blocks improve the workers: effects and posteriors
//!    of a block are made anew from the parameters so far, and the slopes of the workers add up over the
//!    blocks.
//! 3. Posteriors follow block by block, effects of the tasks from nothing each time.
//!
//! Memory for the sample, a block and `M K^2` numbers.

use std::sync::Arc;

use super::parameters::Parameters;
use super::passes::{Expectation, Tasks};
use super::problem::Problem;
use super::rounds::{EffectRounds, Learnt};
use super::sums::WorkerSums;
use super::{Run, SAMPLE_LABELS, SAMPLE_PARTS, TaskEffects, words};
use crate::annotations::{Annotations, Names, RowCounts};
use crate::blocks::{Block, Extent, Pass, Passes, PosteriorRule, Stage, State, TaskBlock, Wire, wire_format};
use crate::context::Context;
use crate::error::Result;
use crate::methods::starting_votes;
use crate::model::{BlockFit, DawidSkene, Fit, RuleSource};
use crate::parallel::add;

/// Passes that improve the workers, and how much these differ. Half as many leave two points of error more on
/// a simulated crowd of 1.5 million labels.
const WORKER_PASSES: usize = 12;

/// Newton rounds on effects from nothing, and the step that ends them.
const NEWTON_ROUNDS: usize = 12;
const SMALL_STEP: f64 = 1e-4;

/// Most labels of the sample, whatever their number: it is in memory.
const MAX_SAMPLED: u64 = 1 << 27;

/// Fits labels in blocks.
pub(super) fn learn(
    method: &TaskEffects,
    passes: &mut Passes<'_>,
    context: &mut Context,
) -> Result<BlockFit> {
    learn_from_sample(method, sample_parts(passes.label_count()), passes, context)
}

/// The same with one task in `parts` taken into memory.
pub(super) fn learn_from_sample(
    method: &TaskEffects,
    parts: u64,
    passes: &mut Passes<'_>,
    context: &mut Context,
) -> Result<BlockFit> {
    let priors = context.priors();
    let sample = take_sample(passes, parts, context)?;
    let start = starting_votes(&sample, context)?;
    let problem = context.run(|| Problem::new(&sample, false));
    let mut run = Run::of(method);
    let mut rounds = EffectRounds::new(method, &problem, start.as_slice(), &priors, context);
    context.run(|| rounds.start());
    run.all_rounds(&mut rounds, context)?;
    let mut learnt = rounds.into_learnt();
    if parts > 1 {
        for pass in 0..WORKER_PASSES {
            improve_workers(&mut learnt, pass, passes, context)?;
        }
    }
    let model = DawidSkene::new(learnt.prior.clone(), learnt.parameters.confusions());
    let mut notes = vec![words::describe_effects(
        learnt.variance.sqrt(),
        learnt.parameters.variances,
    )];
    notes.push(words::describe_sample(parts));
    let learnt = Arc::new(learnt);
    passes.set_rule(learnt.clone(), Stage::single("posteriors"), context)?;
    Ok(Fit {
        model: Some(model),
        trace: run.trace,
        iterations: run.iterations,
        converged: run.converged,
        notes,
        ..Fit::direct(RuleSource::Rule(learnt).into())
    })
}

/// One task in so many is taken into memory.
pub(super) fn sample_parts(labels: u64) -> u64 {
    let sample = (SAMPLE_LABELS as u64).max((labels / SAMPLE_PARTS as u64).min(MAX_SAMPLED));
    (labels / sample.max(1)).max(1)
}

/// Every so many tasks as a table of the same workers and classes.
pub(super) fn take_sample(passes: &mut Passes<'_>, parts: u64, context: &mut Context) -> Result<Annotations> {
    let mut pass = TakeSample { parts, seen: 0 };
    let sample = passes.run(&mut pass, Stage::single("sample"), context)?;
    let tasks = Names::numbered("t", sample.starts.len() - 1);
    let classes = Names::numbered("", passes.class_count());
    Annotations::from_block(
        tasks,
        passes.workers().clone(),
        classes,
        sample,
        RowCounts::default(),
    )
}

/// Takes every so many tasks, of those that have labels: a task without says nothing.
pub(crate) struct TakeSample {
    parts: u64,
    /// Tasks with labels so far.
    seen: u64,
}
wire_format!(50 TakeSample { parts } default { seen });

impl Pass for TakeSample {
    type State = TaskBlock;

    fn start(&mut self, _: Extent) -> TaskBlock {
        self.seen = 0;
        TaskBlock::empty()
    }

    fn visit(&mut self, sample: &mut TaskBlock, block: Block<'_>, _: &mut [f64]) {
        for task in 0..block.task_count() {
            let labelled = !block.task(task).0.is_empty();
            self.seen += u64::from(labelled);
            if labelled && self.seen.is_multiple_of(self.parts.max(1)) {
                sample.push(block, task);
            }
        }
    }
}

/// One pass over all blocks, and a step of every worker.
fn improve_workers(
    learnt: &mut Learnt,
    pass: usize,
    passes: &mut Passes<'_>,
    context: &mut Context,
) -> Result<()> {
    let (classes, priors) = (learnt.prior.len(), context.priors());
    let mut slopes = AddWorkerSlopes {
        learnt: Learnt {
            parameters: Parameters::of_answers(classes, learnt.parameters.answers.clone()),
            variance: learnt.variance,
            prior: learnt.prior.clone(),
        },
    };
    let stage = Stage::round("task effects", pass, WORKER_PASSES);
    let sums = passes.run(&mut slopes, stage, context)?;
    learnt
        .parameters
        .improve_workers(&sums, priors.workers.as_ref(), true);
    Ok(())
}

/// Adds up the slopes of the workers.
pub(crate) struct AddWorkerSlopes {
    learnt: Learnt,
}
wire_format!(51 AddWorkerSlopes { learnt });

impl Pass for AddWorkerSlopes {
    type State = WorkerSums;

    fn width(&self, classes: usize) -> usize {
        classes
    }

    fn start(&mut self, extent: Extent) -> WorkerSums {
        let mut sums = WorkerSums::default();
        sums.clear(extent.workers, extent.classes);
        sums
    }

    fn visit(&mut self, sums: &mut WorkerSums, block: Block<'_>, rows: &mut [f64]) {
        rows.fill(0.0);
        let effects = self.learnt.expect(block, rows);
        let tables = std::slice::from_mut(sums);
        self.learnt.tasks(block).add_worker_slopes(rows, &effects, tables);
    }
}

impl State for WorkerSums {
    fn merge(&mut self, other: Self) {
        add(self.values_mut(), other.values());
    }
}

// What a pass needs of what was learnt.
wire_format!(55 Learnt { parameters, variance, prior } check Learnt::fits);
wire_format!(62 Parameters { classes, answers } default { crowd, expected_crowd, workers, variances });

impl Learnt {
    fn fits(&self) -> bool {
        let classes = self.prior.len();
        let size = classes.saturating_mul(classes);
        let answers = self.parameters.answers.len();
        size > 0 && self.parameters.classes == classes && answers.is_multiple_of(size)
    }

    fn tasks<'b>(&'b self, labels: Block<'b>) -> Tasks<'b> {
        Tasks {
            labels,
            weights: None,
            parameters: &self.parameters,
        }
    }

    /// Writes the posteriors of a block's tasks; returns the effects.
    fn expect(&self, block: Block<'_>, rows: &mut [f64]) -> Vec<f64> {
        let classes = block.class_count();
        let mut effects = vec![0.0; block.task_count() * classes * classes];
        let with = Expectation {
            newton_rounds: NEWTON_ROUNDS,
            small_step: SMALL_STEP,
            variance: self.variance,
            prior: &self.prior,
        };
        self.tasks(block).expect(with, rows, &mut effects);
        effects
    }
}

impl PosteriorRule for Learnt {
    fn fill(&self, block: Block<'_>, rows: &mut [f64]) {
        rows.fill(0.0);
        self.expect(block, rows);
    }

    fn bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }
}
