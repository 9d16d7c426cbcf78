//! Passes over all blocks of labels, with the posteriors kept from pass to pass or made anew.

use super::remote::{join, request_of};
use super::{Block, Blocks, Part, Pass};
use crate::annotations::{Annotations, Names};
use crate::context::Context;
use crate::error::Result;

/// Goes over the blocks of labels, again and again, with a row of numbers for each task: its posterior.
///
/// Where all labels are in memory the rows of all tasks are kept from pass to pass. Where they are not, there
/// is room for the rows of one block, and a pass that needs the posteriors of the pass before makes them anew
/// from the model of then.
pub struct Passes<'b> {
    blocks: &'b mut dyn Blocks,
    rows: Vec<f64>,
    caches_posteriors: bool,
}

/// Works on a block and the rows of its tasks.
pub(crate) type Visit<'v> = &'v mut dyn FnMut(Block<'_>, &mut [f64], &Context) -> Result<()>;

/// What a pass is a part of, for progress bars.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) done: usize,
    pub(crate) total: Option<usize>,
}

impl Stage {
    /// A pass that is a step of its own.
    pub(crate) fn single(name: &'static str) -> Self {
        Self {
            name,
            done: 0,
            total: None,
        }
    }

    /// One of at most `total` rounds.
    pub(crate) fn round(name: &'static str, done: usize, total: usize) -> Self {
        Self {
            name,
            done,
            total: Some(total),
        }
    }
}

impl<'b> Passes<'b> {
    /// Passes over these blocks.
    pub fn over(blocks: &'b mut dyn Blocks) -> Self {
        Self {
            caches_posteriors: blocks.in_memory().is_some(),
            rows: Vec::new(),
            blocks,
        }
    }

    /// Names of the workers.
    pub fn workers(&self) -> &Names {
        self.blocks.workers()
    }

    /// Number of workers.
    pub fn worker_count(&self) -> usize {
        self.blocks.workers().len()
    }

    /// Number of classes.
    pub fn class_count(&self) -> usize {
        self.blocks.class_count()
    }

    /// Number of tasks.
    pub fn task_count(&self) -> u64 {
        self.blocks.task_count()
    }

    /// Number of labels.
    pub fn label_count(&self) -> u64 {
        self.blocks.label_count()
    }

    /// Whether the truth of any task is known.
    pub fn has_gold(&self) -> bool {
        self.blocks.has_gold()
    }

    /// The whole table, if it is in memory.
    pub fn in_memory(&self) -> Option<&Annotations> {
        self.blocks.in_memory()
    }

    /// Whether the rows of all tasks are kept from pass to pass.
    pub fn caches_posteriors(&self) -> bool {
        self.caches_posteriors
    }

    /// Whether the blocks are in other processes.
    pub(crate) fn are_remote(&mut self) -> bool {
        self.blocks.remote().is_some()
    }

    /// What a pass comes to over all blocks, in memory, on disk or in other processes; none without blocks.
    pub(crate) fn fold<P: Pass>(
        &mut self,
        pass: &mut P,
        stage: Stage,
        context: &mut Context,
    ) -> Result<Option<P::Part>> {
        if self.are_remote() {
            return self.run_remote(pass, stage, context);
        }
        let mut total: Option<P::Part> = None;
        self.each_block(stage, context, &mut |block, context| {
            let part = context.run(|| pass.run(block));
            match &mut total {
                Some(total) => total.merge(part),
                None => total = Some(part),
            }
            Ok(())
        })?;
        Ok(total)
    }

    /// The same where the blocks are in other processes; none where they are not.
    pub(crate) fn run_remote<P: Pass>(
        &mut self,
        pass: &P,
        stage: Stage,
        context: &mut Context,
    ) -> Result<Option<P::Part>> {
        context.step(stage.name, stage.done, stage.total)?;
        let request = request_of(pass, self.worker_count(), self.class_count());
        match self.blocks.remote() {
            Some(remote) => join(remote.run_remote(&request)?),
            None => Ok(None),
        }
    }

    /// One pass over the labels alone.
    pub(crate) fn each_block(
        &mut self,
        stage: Stage,
        context: &mut Context,
        visit: &mut dyn FnMut(Block<'_>, &Context) -> Result<()>,
    ) -> Result<()> {
        self.blocks.for_each(&mut |block| {
            context.step(stage.name, stage.done, stage.total)?;
            visit(block, context)
        })
    }

    /// The blocks themselves.
    pub(crate) fn blocks(&mut self) -> &mut dyn Blocks {
        self.blocks
    }

    /// One pass: calls `visit` with each block and the rows of its tasks, `width` numbers each. Rows that are
    /// kept hold what the last pass left there, zeros before the first one; others hold anything.
    pub(crate) fn each(
        &mut self,
        width: usize,
        stage: Stage,
        context: &mut Context,
        visit: Visit<'_>,
    ) -> Result<()> {
        let Self {
            blocks,
            rows,
            caches_posteriors,
        } = self;
        if *caches_posteriors {
            rows.resize(blocks.task_count() as usize * width, 0.0);
        }
        let mut first = 0;
        blocks.for_each(&mut |block| {
            context.step(stage.name, stage.done, stage.total)?;
            let numbers = block.task_count() * width;
            if !*caches_posteriors {
                rows.resize(numbers, 0.0);
            }
            visit(block, &mut rows[first..first + numbers], context)?;
            if *caches_posteriors {
                first += numbers;
            }
            Ok(())
        })
    }

    /// The rows of all tasks, if they are kept.
    pub(crate) fn kept_rows(&mut self) -> Option<&mut Vec<f64>> {
        self.caches_posteriors.then_some(&mut self.rows)
    }

    /// Replaces the rows that are kept.
    pub(crate) fn set_rows(&mut self, rows: Vec<f64>) {
        if self.caches_posteriors {
            self.rows = rows;
        }
    }

    /// The rows of all tasks, given up; empty where they are not kept.
    pub(crate) fn into_rows(self) -> Vec<f64> {
        self.rows
    }
}
