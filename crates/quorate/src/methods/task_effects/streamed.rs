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

use super::passes::{Expectation, Tasks};
use super::problem::Problem;
use super::remote::{AddWorkerSlopes, TakeSample};
use super::rounds::{Learnt, Rounds};
use super::sums::WorkerSums;
use super::{Run, SAMPLE_LABELS, SAMPLE_PARTS, TaskEffects, words};
use crate::annotations::{Annotations, Names, RowCounts};
use crate::blocks::{Block, Passes, Stage, TaskBlock, WireFormat, Writer};
use crate::context::Context;
use crate::error::Result;
use crate::methods::starting_votes;
use crate::model::{BlockFit, BlockRule, DawidSkene, Fit, RuleSource};

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
    let mut rounds = Rounds::new(method, &problem, start.as_slice(), &priors, context);
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
    if parts > 1 {
        notes.push(format!(
            "sizes of the effects are those of one task in {parts}; workers are learnt from all labels"
        ));
    }
    let rule: Arc<dyn BlockRule> = Arc::new(learnt);
    if passes.caches_posteriors() {
        let (stage, classes) = (Stage::single("posteriors"), passes.class_count());
        passes.each(classes, stage, context, &mut |block, rows, context| {
            context.run(|| rule.fill(block, rows));
            Ok(())
        })?;
    }
    Ok(Fit {
        model: Some(model),
        trace: run.trace,
        iterations: run.iterations,
        converged: run.converged,
        notes,
        ..Fit::direct(RuleSource::Rule(rule).into())
    })
}

/// One task in so many is taken into memory.
fn sample_parts(labels: u64) -> u64 {
    let sample = (SAMPLE_LABELS as u64).max((labels / SAMPLE_PARTS as u64).min(MAX_SAMPLED));
    (labels / sample.max(1)).max(1)
}

/// Every so many tasks as a table of the same workers and classes.
fn take_sample(passes: &mut Passes<'_>, parts: u64, context: &mut Context) -> Result<Annotations> {
    let mut sample = TaskBlock {
        starts: vec![0],
        ..TaskBlock::default()
    };
    let stage = Stage::single("sample");
    if passes.are_remote() {
        let mut found = passes
            .run_remote(&TakeSample { parts }, stage, context)?
            .map(|found| found.0);
        sample = found.take().unwrap_or(sample);
    } else {
        let mut seen = 0;
        passes.each_block(stage, context, &mut |block, _| {
            add_to_sample(block, parts, &mut seen, &mut sample);
            Ok(())
        })?;
    }
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

/// Adds every so many tasks of a block, of those that have labels: a task without says nothing.
pub(super) fn add_to_sample(block: Block<'_>, parts: u64, seen: &mut u64, sample: &mut TaskBlock) {
    for task in 0..block.task_count() {
        let (workers, labels) = block.task(task);
        *seen += u64::from(!workers.is_empty());
        if workers.is_empty() || !seen.is_multiple_of(parts) {
            continue;
        }
        sample.worker.extend_from_slice(workers);
        sample.label.extend_from_slice(labels);
        sample.starts.push(sample.worker.len() as u32);
        if let Some(gold) = block.gold {
            sample.gold.push(gold[task]);
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
    let (workers, classes) = (passes.worker_count(), passes.class_count());
    let priors = context.priors();
    let mut tables = vec![WorkerSums::default()];
    tables[0].clear(workers, classes);
    let stage = Stage::round("task effects", pass, WORKER_PASSES);
    if passes.are_remote() {
        if let Some(slopes) = passes.run_remote(&AddWorkerSlopes::of(learnt), stage, context)? {
            tables[0].values_mut().copy_from_slice(&slopes.0);
        }
    } else {
        passes.each_block(stage, context, &mut |block, context| {
            context.run(|| learnt.add_worker_slopes(block, &mut tables));
            Ok(())
        })?;
    }
    learnt
        .parameters
        .improve_workers(&tables[0], priors.workers.as_ref(), true);
    Ok(())
}

impl Learnt {
    fn tasks<'b>(&'b self, labels: Block<'b>) -> Tasks<'b> {
        Tasks {
            labels,
            weights: None,
            parameters: &self.parameters,
        }
    }

    /// Adds the slopes of the workers on a block to the tables.
    pub(super) fn add_worker_slopes(&self, block: Block<'_>, tables: &mut [WorkerSums]) {
        let mut rows = vec![0.0; block.task_count() * block.class_count()];
        let effects = self.expect(block, &mut rows);
        self.tasks(block).add_worker_slopes(&rows, &effects, tables);
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

impl BlockRule for Learnt {
    fn fill(&self, block: Block<'_>, rows: &mut [f64]) {
        rows.fill(0.0);
        self.expect(block, rows);
    }

    fn write(&self, to: &mut Writer) {
        WireFormat::write(self, to);
    }
}
