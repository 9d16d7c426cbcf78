//! Plain facts of labels on a cluster.

use pyo3::prelude::*;
use quorate::diagnose::Overview;
use quorate_cli::reading::tell_rows;
use serde_json::json;

use super::blocks::{ClusterLabels, ClusterTable, Counted, answer};
use crate::arguments::{MessageLog, Running};

/// What two passes tell of labels on a cluster, as a JSON document: counts, agreement, connectivity.
#[pyfunction]
pub fn inspect_cluster(
    py: Python<'_>,
    ask: &Bound<'_, PyAny>,
    counted: Counted,
    running: Running,
) -> PyResult<String> {
    let answer = |request: Vec<u8>| answer(ask, &request);
    let memory = running.bytes();
    running.run_asking(py, &answer, move |job, asker| {
        let (table, mut messages) = (ClusterTable::new(counted)?, MessageLog::default());
        tell_rows(table.facts().rows, &mut messages);
        let names = table.classes.clone();
        let mut blocks = ClusterLabels { table, asker };
        let found = Overview::of(&mut blocks, &names, &mut job.context(0, memory))?;
        let agreement = found
            .agreement
            .into_iter()
            .map(|(name, value)| (name, value.ok()));
        let per_class = names.iter().zip(&found.labels_per_class);
        let document = json!({
            "tasks": found.tasks,
            "workers": found.labels_per_worker.len(),
            "labels": found.labels,
            "unlabelled_tasks": found.unlabelled_tasks,
            "pairable_tasks": found.pairable_tasks,
            "labels_per_class": per_class.collect::<Vec<_>>(),
            "labels_per_task": found.labels_per_task,
            "labels_per_worker": found.labels_per_worker,
            "pairs_of_labels": found.pairs_of_labels,
            "agreement": agreement.collect::<Vec<_>>(),
            "parts": found.parts.count(),
            "workers_in_parts": found.parts.workers,
            "labels_in_parts": found.parts.labels,
            "abstentions": blocks.table.facts().rows.abstentions,
            "repeated_rows": blocks.table.facts().rows.repeated,
            "notes": messages.notes,
        });
        Ok(document.to_string())
    })
}
