//! Labels on a cluster as blocks: Python sends the passes there.

use pyo3::prelude::*;
use quorate::annotations::{Names, RowCounts};
use quorate::blocks::{Block, Blocks, PartNode, RemoteBlocks};
use quorate::{Error, Result};

use crate::arguments::arguments;
use crate::errors::Failure;
use crate::job::Asker;
use crate::labels::duplicates_of;

arguments! {
    /// What the driver counted.
    pub struct ClusterTable {
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
pub struct ClusterLabels {
    /// Names of the workers, by code.
    pub workers: Names,
    /// Names of the classes, by code.
    pub classes: Names,
    /// What happened to the rows.
    pub rows: RowCounts,
    /// Number of tasks.
    pub tasks: u64,
    labels: u64,
    has_gold: bool,
    asker: Asker<Vec<PartNode>>,
}

impl ClusterLabels {
    /// Labels that are reached through `asker`.
    pub fn new(table: ClusterTable, asker: Asker<Vec<PartNode>>) -> Result<Self, Failure> {
        Ok(Self {
            workers: table.workers.iter().map(String::as_str).collect(),
            classes: table.classes.iter().map(String::as_str).collect(),
            rows: RowCounts {
                rows: table.labels + table.abstentions + table.repeated,
                abstentions: table.abstentions,
                repeated: table.repeated,
                duplicates: duplicates_of(&table.duplicates)?,
            },
            tasks: table.tasks,
            labels: table.labels,
            has_gold: table.gold.is_some_and(|(known, _)| known > 0),
            asker,
        })
    }
}

impl Blocks for ClusterLabels {
    fn workers(&self) -> &Names {
        &self.workers
    }

    fn class_count(&self) -> usize {
        self.classes.len()
    }

    fn task_count(&self) -> u64 {
        self.tasks
    }

    fn label_count(&self) -> u64 {
        self.labels
    }

    fn has_gold(&self) -> bool {
        self.has_gold
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
