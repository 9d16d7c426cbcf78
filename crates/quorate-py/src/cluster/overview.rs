//! Plain facts of labels on a cluster.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use quorate::annotations::Names;
use quorate::diagnose::Overview;

use super::blocks::{ClusterLabels, answer};
use crate::errors::raise;
use crate::fitting::bytes_of;
use crate::job;

/// What two passes tell of labels on a cluster: counts, agreement, connectivity.
#[pyfunction]
#[pyo3(signature = (ask, *, workers, classes, tasks, labels, memory, progress))]
pub fn inspect_cluster<'py>(
    py: Python<'py>,
    ask: &Bound<'py, PyAny>,
    workers: Vec<String>,
    classes: Vec<String>,
    tasks: u64,
    labels: u64,
    memory: f64,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let memory = bytes_of(memory).map_err(|failure| raise(py, failure))?;
    let workers: Names = workers.iter().map(String::as_str).collect();
    let names: Names = classes.iter().map(String::as_str).collect();
    let answer = |request: Vec<u8>| answer(ask, &request);
    let overview = job::run_asking(py, 0, progress, &answer, move |job, asker| {
        let mut blocks = ClusterLabels {
            workers,
            classes: names.clone(),
            tasks,
            labels,
            has_gold: false,
            asker,
        };
        Ok(Overview::of(&mut blocks, &names, &mut job.context(0, memory))?)
    })?;
    let facts = PyDict::new(py);
    facts.set_item("tasks", overview.tasks)?;
    facts.set_item("workers", overview.labels_per_worker.len())?;
    facts.set_item("labels", overview.labels)?;
    facts.set_item("unlabelled_tasks", overview.unlabelled_tasks)?;
    facts.set_item("pairable_tasks", overview.pairable_tasks)?;
    let per_class = PyDict::new(py);
    for (class, labels) in classes.iter().zip(&overview.labels_per_class) {
        per_class.set_item(class, labels)?;
    }
    facts.set_item("labels_per_class", per_class)?;
    facts.set_item("labels_per_task", overview.labels_per_task)?;
    facts.set_item("labels_per_worker", overview.labels_per_worker)?;
    facts.set_item("pairs_of_labels", overview.pairs_of_labels)?;
    let agreement = PyDict::new(py);
    for (name, value) in overview.agreement {
        agreement.set_item(name, value.ok())?;
    }
    facts.set_item("agreement", agreement)?;
    facts.set_item("parts", overview.parts.count())?;
    facts.set_item("workers_in_parts", overview.parts.workers)?;
    facts.set_item("labels_in_parts", overview.parts.labels)?;
    Ok(facts)
}
