//! Labels on a cluster as blocks: Python sends the passes there.

use pyo3::prelude::*;
use quorate::annotations::Names;
use quorate::blocks::{Block, Blocks, PartNode, RemoteBlocks};
use quorate::{Error, Result};

use crate::job::Asker;

/// What the driver knows of the labels.
pub struct ClusterLabels {
    /// Names of the workers, by code.
    pub workers: Names,
    /// Names of the classes, by code.
    pub classes: Names,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of labels.
    pub labels: u64,
    /// Whether the truth of any task is known.
    pub has_gold: bool,
    /// Asks Python for passes.
    pub asker: Asker<Vec<PartNode>>,
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
