//! A pass over the blocks of a partition, on an executor.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quorate::internal::blocks::{self, TaskBlock, Wire};
use quorate::internal::pass_runner;

use crate::errors::raise;

/// Runs the pass of a request on blocks, on one thread: an executor has a process for each of its cores.
#[pyclass(module = "quorate._quorate")]
pub struct PassRunner {
    runner: Option<pass_runner::PassRunner>,
    pool: rayon::ThreadPool,
}

/// A node of the tree that parts are merged in: level, place, bytes.
type Node<'py> = (u32, u64, Bound<'py, PyBytes>);

#[pymethods]
impl PassRunner {
    #[new]
    fn new(py: Python<'_>, request: &[u8]) -> PyResult<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        Ok(Self {
            runner: Some(pass_runner::PassRunner::new(request).map_err(|error| raise(py, error.into()))?),
            pool: pool
                .map_err(|error| PyRuntimeError::new_err(format!("could not start a thread: {error}")))?,
        })
    }

    /// Runs on a block.
    fn add(&mut self, py: Python<'_>, number: u64, labels: &[u8]) -> PyResult<()> {
        let Some(runner) = &mut self.runner else {
            return Err(PyRuntimeError::new_err("the pass is finished"));
        };
        let pool = &self.pool;
        let mut run = || {
            let block = TaskBlock::from_bytes(labels)?;
            pool.install(|| runner.add(number, &block))
        };
        run().map_err(|error| raise(py, error.into()))
    }

    /// Takes in what another runner of the same request returned.
    fn add_node(&mut self, py: Python<'_>, level: u32, place: u64, part: Vec<u8>) -> PyResult<()> {
        let Some(runner) = &mut self.runner else {
            return Err(PyRuntimeError::new_err("the pass is finished"));
        };
        let node = blocks::PartNode {
            level,
            place,
            bytes: part,
        };
        runner.add_node(&node).map_err(|error| raise(py, error.into()))
    }

    /// What the pass returned.
    fn finish<'py>(&mut self, py: Python<'py>) -> Vec<Node<'py>> {
        let nodes = self
            .runner
            .take()
            .map_or(Vec::new(), pass_runner::PassRunner::finish);
        nodes
            .into_iter()
            .map(|node| (node.level, node.place, PyBytes::new(py, &node.bytes)))
            .collect()
    }
}
