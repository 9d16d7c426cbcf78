//! The sufficient statistics of all coefficients over tasks: how many labels of each class a task has.
//!
//! ```text
//! n_ik = labels of class k on task i,      r_i = sum_k n_ik
//! ```
//!
//! Tasks with the same counts are one pattern with a multiplicity. With five labels of four classes there are
//! 56 patterns at most, however many tasks: a bootstrap replicate then costs as much as the patterns, never
//! more than the tasks. Patterns stand in order of their counts, so that neither the order of rows nor that
//! of tasks matters, to the last bit.

use std::cmp::Ordering;

use crate::annotations::Annotations;
use crate::blocks::{Block, Extent, Pass, State, wire_format};

/// Distinct answer patterns of the labelled tasks, each with its number of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerPatterns {
    classes: usize,
    starts: Vec<u32>,
    /// (class, labels of that class), classes rising within a pattern.
    counts: Vec<(u16, u32)>,
    tasks: Vec<u64>,
}

/// One pattern.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern<'a> {
    /// (class, labels of that class), only classes that occur.
    pub counts: &'a [(u16, u32)],
    /// r: all labels.
    pub labels: f64,
}

impl AnswerPatterns {
    /// Counts the patterns of a table; tasks without labels do not take part. Time linear in labels up to
    /// sorting.
    pub fn of(annotations: &Annotations) -> Self {
        Self::of_block(annotations.as_block())
    }

    /// The same of a block of labels.
    fn of_block(block: Block<'_>) -> Self {
        let mut starts = vec![0u32];
        let mut counts: Vec<(u16, u32)> = Vec::new();
        let mut sorted: Vec<u16> = Vec::new();
        for task in 0..block.task_count() {
            let (_, labels) = block.task(task);
            sorted.clear();
            sorted.extend_from_slice(labels);
            sorted.sort_unstable();
            for run in sorted.chunk_by(|a, b| a == b) {
                counts.push((run[0], run.len() as u32));
            }
            if !labels.is_empty() {
                starts.push(counts.len() as u32);
            }
        }
        let pattern = |task: u32| &counts[starts[task as usize] as usize..starts[task as usize + 1] as usize];
        let mut order: Vec<u32> = (0..starts.len() as u32 - 1).collect();
        order.sort_unstable_by(|&a, &b| pattern(a).cmp(pattern(b)));
        let mut distinct = Self::none(block.class_count());
        for run in order.chunk_by(|&a, &b| pattern(a) == pattern(b)) {
            distinct.push(pattern(run[0]), run.len() as u64);
        }
        distinct
    }

    /// Adds a pattern of so many tasks behind the others.
    fn push(&mut self, counts: &[(u16, u32)], tasks: u64) {
        self.counts.extend_from_slice(counts);
        self.starts.push(self.counts.len() as u32);
        self.tasks.push(tasks);
    }

    /// Number of classes.
    pub fn class_count(&self) -> usize {
        self.classes
    }

    /// Number of tasks of each pattern.
    pub fn tasks(&self) -> &[u64] {
        &self.tasks
    }

    /// Tasks with at least two labels: those that can be compared.
    pub fn pairable_tasks(&self) -> u64 {
        let pairable = self
            .iter()
            .zip(&self.tasks)
            .filter(|(pattern, _)| pattern.labels >= 2.0);
        pairable.map(|(_, &tasks)| tasks).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Pattern<'_>> + Clone {
        self.starts.windows(2).map(|pair| {
            let counts = &self.counts[pair[0] as usize..pair[1] as usize];
            let labels = counts.iter().map(|&(_, count)| f64::from(count)).sum();
            Pattern { counts, labels }
        })
    }

    /// Patterns with how many tasks have them, those with none left out.
    pub(super) fn weighted<'a>(
        &'a self,
        tasks: &'a [u64],
    ) -> impl Iterator<Item = (Pattern<'a>, f64)> + Clone + 'a {
        let pairs = self.iter().zip(tasks).filter(|(_, tasks)| **tasks > 0);
        pairs.map(|(pattern, &tasks)| (pattern, tasks as f64))
    }
}

/// Counts the patterns of a block.
pub(crate) struct CountPatterns {}
wire_format!(53 CountPatterns {});

impl Pass for CountPatterns {
    type State = AnswerPatterns;

    fn start(&mut self, extent: Extent) -> AnswerPatterns {
        AnswerPatterns::none(extent.classes)
    }

    fn visit(&mut self, patterns: &mut AnswerPatterns, block: Block<'_>, _: &mut [f64]) {
        patterns.merge(AnswerPatterns::of_block(block));
    }
}

impl State for AnswerPatterns {
    /// Patterns of both stay in order.
    fn merge(&mut self, other: Self) {
        let before = std::mem::replace(self, Self::none(self.classes));
        let merged = self;
        let (mut own, mut others) = (
            before.iter().zip(&before.tasks).peekable(),
            other.iter().zip(&other.tasks).peekable(),
        );
        loop {
            let order = match (own.peek(), others.peek()) {
                (Some((a, _)), Some((b, _))) => a.counts.cmp(b.counts),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let first = if order.is_le() { own.next() } else { None };
            let second = if order.is_ge() { others.next() } else { None };
            let tasks = first.map_or(0, |(_, &tasks)| tasks) + second.map_or(0, |(_, &tasks)| tasks);
            if let Some((pattern, _)) = first.or(second) {
                merged.push(pattern.counts, tasks);
            }
        }
    }
}

wire_format!(54 AnswerPatterns { classes, starts, counts, tasks } check AnswerPatterns::fits);

impl AnswerPatterns {
    /// No patterns yet.
    fn none(classes: usize) -> Self {
        let (starts, counts, tasks) = (vec![0], Vec::new(), Vec::new());
        Self {
            classes,
            starts,
            counts,
            tasks,
        }
    }

    fn fits(&self) -> bool {
        self.starts.len() == self.tasks.len() + 1
            && self.starts.is_sorted()
            && self.starts.last().copied() == u32::try_from(self.counts.len()).ok()
            && self
                .counts
                .iter()
                .all(|&(class, _)| usize::from(class) < self.classes)
    }
}
