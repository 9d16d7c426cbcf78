//! What a fit says of the tasks of a block, on an executor.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use quorate::internal::annotations::Fingerprint;
use quorate::internal::blocks::{TaskBlock, Wire};
use quorate::internal::model::BlockFit;
use quorate::model::Consensus;
use quorate_io::MemoryTable;

use super::names;
use crate::errors::raise;
use crate::table::ArrowTable;

/// The label of every task of a block: `task, label, confidence, probabilities`. `rule` is the fit in binary
/// form.
#[pyfunction]
pub fn label_rows(
    py: Python<'_>,
    rule: &[u8],
    labels: &[u8],
    tasks: &[u8],
    workers: usize,
    classes: Vec<String>,
) -> PyResult<ArrowTable> {
    let posteriors = || {
        let (fit, block) = (BlockFit::from_bytes(rule)?, TaskBlock::from_bytes(labels)?);
        block.check(workers, classes.len())?;
        Ok(fit.posteriors(block.view(workers, classes.len())))
    };
    let rows = posteriors().map_err(|error: quorate::Error| raise(py, error.into()))?;
    let consensus = Consensus::new(classes.len(), rows);
    let names = names::from_bytes(tasks)?;
    if names.len() != consensus.len() {
        return Err(PyValueError::new_err("a block has other tasks than names"));
    }
    let mut task = StringBuilder::new();
    let mut label = StringBuilder::new();
    let mut confidence = Float64Builder::new();
    let mut probabilities = ListBuilder::new(Float64Builder::new());
    for (place, name) in names.iter().enumerate() {
        let (code, row) = (consensus.label(place), consensus.row(place));
        task.append_value(name);
        label.append_value(&classes[code]);
        confidence.append_value(row[code]);
        probabilities.values().append_slice(row);
        probabilities.append(true);
    }
    let arrays: [(&str, ArrayRef); 4] = [
        ("task", Arc::new(task.finish())),
        ("label", Arc::new(label.finish())),
        ("confidence", Arc::new(confidence.finish())),
        ("probabilities", Arc::new(probabilities.finish())),
    ];
    let fields = arrays
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let batch = RecordBatch::try_new(
        schema.clone(),
        arrays.into_iter().map(|(_, array)| array).collect(),
    )
    .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(ArrowTable::of_batches(MemoryTable::new(
        "labels",
        schema,
        vec![batch],
    )))
}

/// The sum of the hashes of a block's tasks, for the fingerprint of all labels.
#[pyfunction]
pub fn hash_tasks(py: Python<'_>, fingerprint: &[u8], labels: &[u8], tasks: &[u8]) -> PyResult<u64> {
    let read = || {
        Ok((
            Fingerprint::from_bytes(fingerprint)?,
            TaskBlock::from_bytes(labels)?,
        ))
    };
    let (hasher, block) = read().map_err(|error: quorate::Error| raise(py, error.into()))?;
    let (workers, classes) = hasher.sizes();
    block
        .check(workers, classes)
        .map_err(|error| raise(py, error.into()))?;
    let view = block.view(workers, classes);
    let names = names::from_bytes(tasks)?;
    let hash = |(task, name): (usize, &&str)| {
        let (workers, labels) = view.task(task);
        hasher.of_task(name, workers, labels)
    };
    let known = names.iter().enumerate().take(view.task_count());
    Ok(known.map(hash).fold(0, u64::wrapping_add))
}
