//! Passes over all blocks of labels: the only place that caches posteriors, makes them again or sends passes
//! to other processes.

use super::remote::{join, request_of};
use super::{Block, Blocks, Extent, Pass, PosteriorRule};
use crate::annotations::{Annotations, Names};
use crate::model::{BlockFit, Fit, RuleSource, label_of, select_columns};
use crate::parallel::{MAX_CHUNKS, add};
use crate::{Context, Result};

/// Goes over the blocks of labels, again and again, with a row of numbers for each task: its posterior.
///
/// Where all labels are in memory the posteriors of all tasks are cached from pass to pass. Where they are
/// not, there is room for those of one block, and a pass that reads the posteriors of the pass before gets
/// them from the rule of then.
pub struct Passes<'b> {
    blocks: &'b mut dyn Blocks,
    rows: Vec<f64>,
    caches_posteriors: bool,
    last: Last,
    average: Average,
}

/// A weighted sum of cached posteriors, and the labels of each part.
#[derive(Default)]
struct Average {
    sum: Vec<f64>,
    weight: f64,
    labels: Vec<Vec<u16>>,
}

/// What is known of the posteriors of the last pass.
enum Last {
    Unknown,
    /// They are in the rows.
    Cached,
    /// This makes them again.
    Rule(Box<dyn PosteriorRule>),
}

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
        let (done, total) = (0, None);
        Self { name, done, total }
    }

    /// One of at most `total` rounds.
    pub(crate) fn round(name: &'static str, done: usize, total: usize) -> Self {
        let total = Some(total);
        Self { name, done, total }
    }
}

impl<'b> Passes<'b> {
    /// Passes over these blocks.
    pub fn over(blocks: &'b mut dyn Blocks) -> Self {
        Self {
            caches_posteriors: blocks.in_memory().is_some(),
            rows: Vec::new(),
            last: Last::Unknown,
            average: Average::default(),
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

    /// Looks at all labels at once, for what cannot be found block by block; none where they are not in
    /// memory, and the caller must do without and say so.
    pub(crate) fn look_at_table<T>(&self, look: impl FnOnce(&Annotations) -> T) -> Option<T> {
        self.blocks.in_memory().map(look)
    }

    /// Passes over another table of the same tasks. Afterwards the posteriors are those that these left.
    pub(crate) fn over_other_table<T>(
        &mut self,
        mut table: &Annotations,
        run: impl FnOnce(&mut Passes<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut passes = Passes::over(&mut table);
        let result = run(&mut passes)?;
        self.set_rows(passes.into_rows());
        Ok(result)
    }

    /// The blocks themselves.
    pub(super) fn blocks(&mut self) -> &mut dyn Blocks {
        self.blocks
    }

    /// Numbers that are held for the posteriors of all tasks, `width` for each.
    pub fn cached_numbers(&self, width: usize) -> u64 {
        u64::from(self.caches_posteriors) * self.task_count() * width as u64
    }

    /// What one state of a pass sees.
    fn extent(&self) -> Extent {
        Extent {
            workers: self.worker_count(),
            classes: self.class_count(),
            labels: self.label_count(),
            max_tables: if self.caches_posteriors {
                usize::MAX
            } else {
                MAX_CHUNKS
            },
        }
    }

    /// What a pass gathers over all blocks, in memory, on disk or in other processes.
    pub(crate) fn run<P: Pass>(
        &mut self,
        pass: &mut P,
        stage: Stage,
        context: &mut Context,
    ) -> Result<P::State> {
        let state = if self.blocks.remote().is_some() {
            self.run_remote(pass, stage, context)?
        } else {
            self.run_here(pass, stage, context)?
        };
        if let Some(rule) = pass.rule() {
            self.know(rule);
        }
        Ok(state)
    }

    /// Takes note that the posteriors are those of this rule, which the rows hold if they are cached.
    fn know(&mut self, rule: Box<dyn PosteriorRule>) {
        self.last = if self.caches_posteriors {
            Last::Cached
        } else {
            Last::Rule(rule)
        };
    }

    fn run_here<P: Pass>(&mut self, pass: &mut P, stage: Stage, context: &mut Context) -> Result<P::State> {
        let (extent, width) = (self.extent(), pass.width(self.class_count()));
        let mut state = context.run(|| pass.start(extent));
        let before = match &self.last {
            Last::Rule(rule) if pass.reads_posteriors() => Some(&**rule),
            _ => None,
        };
        let tasks = self.blocks.task_count();
        let mut rows = PosteriorRows::new(&mut self.rows, self.caches_posteriors, tasks, width);
        self.blocks.for_each(&mut |block| {
            context.step(stage.name, stage.done, stage.total)?;
            let rows = rows.of(block.task_count());
            context.run(|| {
                if let Some(rule) = before {
                    rule.fill(block, rows);
                }
                pass.visit(&mut state, block, rows);
            });
            Ok(())
        })?;
        context.run(|| pass.finish(&mut state));
        Ok(state)
    }

    fn run_remote<P: Pass>(&mut self, pass: &mut P, stage: Stage, context: &mut Context) -> Result<P::State> {
        context.step(stage.name, stage.done, stage.total)?;
        let before = match &self.last {
            Last::Rule(rule) if pass.reads_posteriors() => rule.bytes(),
            _ => Vec::new(),
        };
        let request = request_of(pass, before, self.worker_count(), self.class_count());
        let nodes = match self.blocks.remote() {
            Some(remote) => remote.run_remote(&request)?,
            None => Vec::new(),
        };
        Ok(join(nodes)?.unwrap_or_else(|| pass.start(self.extent())))
    }

    /// Whether the posteriors of the last pass are known.
    pub(crate) fn knows_posteriors(&self) -> bool {
        !matches!(self.last, Last::Unknown)
    }

    /// Makes this the rule of the posteriors, as if a pass had written them.
    pub(crate) fn set_rule(
        &mut self,
        rule: impl PosteriorRule + 'static,
        stage: Stage,
        context: &mut Context,
    ) -> Result<()> {
        let width = rule.width(self.class_count());
        self.complete(width, rule, stage, context, |rule, block, rows| {
            rule.fill(block, rows)
        })
    }

    /// Like [`set_rule`](Self::set_rule), where the last pass wrote what it could of the posteriors: `fill`
    /// adds the rest.
    pub(crate) fn complete<R: PosteriorRule + 'static>(
        &mut self,
        width: usize,
        rule: R,
        stage: Stage,
        context: &mut Context,
        fill: impl Fn(&R, Block<'_>, &mut [f64]) + Sync + Send,
    ) -> Result<()> {
        if self.caches_posteriors {
            let mut rows = PosteriorRows::new(&mut self.rows, true, self.blocks.task_count(), width);
            self.blocks.for_each(&mut |block| {
                context.step(stage.name, stage.done, stage.total)?;
                let rows = rows.of(block.task_count());
                context.run(|| fill(&rule, block, rows));
                Ok(())
            })?;
        }
        self.know(Box::new(rule));
        Ok(())
    }

    /// Moves the posteriors of the last pass into an average, where they are cached.
    pub(crate) fn add_to_average(&mut self, weight: f64) {
        if !self.caches_posteriors {
            return;
        }
        // Given up, not copied: peak memory counts.
        let mut rows = std::mem::take(&mut self.rows);
        self.last = Last::Unknown;
        let (classes, average) = (self.class_count(), &mut self.average);
        let labels = rows.chunks_exact(classes).map(|row| label_of(row) as u16);
        average.labels.push(labels.collect());
        average.weight += weight;
        rows.iter_mut().for_each(|value| *value *= weight);
        if average.sum.is_empty() {
            average.sum = rows;
        } else {
            add(&mut average.sum, &rows);
        }
    }

    /// Makes the average the posteriors, of which this is the rule. Returns the share of the tasks on which
    /// the label of each part is that of the average; nothing where posteriors are not cached.
    pub(crate) fn finish_average(&mut self, rule: impl PosteriorRule + 'static) -> Vec<f64> {
        self.know(Box::new(rule));
        if !self.caches_posteriors {
            return Vec::new();
        }
        let average = std::mem::take(&mut self.average);
        self.rows = average.sum;
        self.rows.iter_mut().for_each(|cell| *cell /= average.weight);
        let rows = || self.rows.chunks_exact(self.class_count());
        let share = |labels: &Vec<u16>| {
            let equal = |(row, label): &(&[f64], &u16)| label_of(row) == usize::from(**label);
            rows().zip(labels).filter(equal).count() as f64 / labels.len().max(1) as f64
        };
        average.labels.iter().map(share).collect()
    }

    /// Looks at every block in this process.
    pub(crate) fn each_block(
        &mut self,
        stage: Stage,
        context: &mut Context,
        visit: &mut dyn FnMut(Block<'_>, &Context),
    ) -> Result<()> {
        self.blocks.for_each(&mut |block| {
            context.step(stage.name, stage.done, stage.total)?;
            visit(block, context);
            Ok(())
        })
    }

    /// Forgets the posteriors: peak memory counts.
    pub(crate) fn forget_posteriors(&mut self) {
        (self.rows, self.last) = (Vec::new(), Last::Unknown);
    }

    /// Keeps the columns of each cached posterior that are listed, of `width`.
    pub fn keep_columns(&mut self, columns: &[usize], width: usize) {
        self.rows = select_columns(&self.rows, width, columns);
    }

    /// Changes the posteriors of all tasks in their order; none where they are not cached, and nothing is
    /// done.
    pub(crate) fn change_posteriors(&mut self, change: impl FnOnce(&mut [f64])) -> Option<()> {
        self.caches_posteriors.then(|| change(&mut self.rows))
    }

    /// Takes the posteriors of a fit to the table.
    pub(crate) fn take_fit(&mut self, fit: Fit) -> BlockFit {
        let mut rows = Vec::new();
        let fit = fit.map_consensus(|consensus| {
            rows = consensus.into_vec();
            RuleSource::Cached.into()
        });
        self.set_rows(rows);
        fit
    }

    /// Takes these posteriors of all tasks for those of the last pass, if they can be cached.
    pub fn set_rows(&mut self, rows: Vec<f64>) {
        if self.caches_posteriors {
            (self.rows, self.last) = (rows, Last::Cached);
        }
    }

    /// The cached posteriors, given up; empty where there are none.
    pub fn into_rows(self) -> Vec<f64> {
        self.rows
    }
}

/// The posteriors of one block after another: of all tasks where they are cached, else of one block at a
/// time.
struct PosteriorRows<'r> {
    rows: &'r mut Vec<f64>,
    cached: bool,
    width: usize,
    first: usize,
}

impl<'r> PosteriorRows<'r> {
    fn new(rows: &'r mut Vec<f64>, cached: bool, tasks: u64, width: usize) -> Self {
        if cached && width > 0 {
            rows.resize(tasks as usize * width, 0.0);
        }
        let first = 0;
        Self {
            rows,
            cached,
            width,
            first,
        }
    }

    /// Those of the next block, of so many tasks.
    fn of(&mut self, tasks: usize) -> &mut [f64] {
        let numbers = tasks * self.width;
        if !self.cached {
            self.rows.resize(numbers, 0.0);
            return &mut self.rows[..];
        }
        let first = self.first;
        self.first += numbers;
        &mut self.rows[first..first + numbers]
    }
}
