//! Labels on a cluster as blocks: Python sends the passes there.

use pyo3::prelude::*;
use quorate::annotations::{Names, RowCounts};
use quorate::internal::blocks::{Block, Blocks, PartNode, RemoteBlocks};
use quorate::internal::run::LabelFacts;
use quorate::{Error, Result};

use crate::arguments::arguments;
use crate::errors::Failure;
use crate::job::Asker;
use crate::labels::duplicates_of;

arguments! {
    /// What the driver counted.
    pub struct Counted {
        /// Names of the workers, by code.
        pub workers: Vec<String>,
        /// Names of the classes, by code.
        pub classes: Vec<String>,
        /// Number of tasks.
        pub tasks: u64,
        /// Number of labels.
        pub labels: u64,
        /// Rows without a label.
        pub abstentions: u64,
        /// Rows with the task and worker of another one.
        pub repeated: u64,
        /// What counts of these.
        pub duplicates: String,
        /// Tasks whose truth is known, and truths of other tasks.
        pub gold: Option<(usize, usize)>,
    }
}

/// What the driver knows of the labels.
pub struct ClusterTable {
    workers: Names,
    /// Names of the classes, by code.
    pub classes: Names,
    rows: RowCounts,
    tasks: u64,
    labels: u64,
    /// Tasks whose truth is known, and truths of other tasks.
    pub gold: Option<(usize, usize)>,
}

impl ClusterTable {
    /// Of what was counted.
    pub fn new(counted: Counted) -> Result<Self, Failure> {
        Ok(Self {
            workers: counted.workers.iter().map(String::as_str).collect(),
            classes: counted.classes.iter().map(String::as_str).collect(),
            rows: RowCounts {
                rows: counted.labels + counted.abstentions + counted.repeated,
                abstentions: counted.abstentions,
                repeated: counted.repeated,
                duplicates: duplicates_of(&counted.duplicates)?,
            },
            tasks: counted.tasks,
            labels: counted.labels,
            gold: counted.gold,
        })
    }

    /// The same in the words of a run.
    pub fn facts(&self) -> LabelFacts<'_> {
        LabelFacts {
            workers: &self.workers,
            classes: &self.classes,
            rows: &self.rows,
            tasks: self.tasks,
            labels: self.labels,
            has_gold: self.gold.is_some_and(|(known, _)| known > 0),
        }
    }
}

/// Labels on the cluster.
pub struct ClusterLabels {
    /// What is known of them.
    pub table: ClusterTable,
    /// Asks Python for passes.
    pub asker: Asker<Vec<PartNode>>,
}

impl Blocks for ClusterLabels {
    fn workers(&self) -> &Names {
        &self.table.workers
    }

    fn class_count(&self) -> usize {
        self.table.classes.len()
    }

    fn task_count(&self) -> u64 {
        self.table.tasks
    }

    fn label_count(&self) -> u64 {
        self.table.labels
    }

    fn has_gold(&self) -> bool {
        self.table.facts().has_gold
    }

    fn remote(&mut self) -> Option<&mut dyn RemoteBlocks> {
        Some(self)
    }

    fn for_each(&mut self, _: &mut dyn FnMut(Block<'_>) -> Result<()>) -> Result<()> {
        Err(Error::Mismatch(
            "this needs the labels themselves, which stay on the cluster".into(),
        ))
    }
}

impl RemoteBlocks for ClusterLabels {
    fn run_remote(&mut self, request: &[u8]) -> Result<Vec<PartNode>> {
        self.asker.ask(request.to_vec()).ok_or(Error::Cancelled)
    }
}

/// Asks the Python function `ask`, which returns (level, place, bytes) for each node.
pub fn answer(ask: &Bound<'_, PyAny>, request: &[u8]) -> PyResult<Vec<PartNode>> {
    let nodes: Vec<(u32, u64, Vec<u8>)> = ask.call1((request,))?.extract()?;
    let node = |(level, place, bytes)| PartNode { level, place, bytes };
    Ok(nodes.into_iter().map(node).collect())
}
