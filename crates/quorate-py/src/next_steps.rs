//! What follows from a fit: a plan of the next labels, and the report page.

use std::sync::Arc;

use pyo3::prelude::*;
use quorate::plan::Plan;
use quorate_cli::documents;
use quorate_io::{AssignmentRow, LabelOptions, read_labels, write_assignments};
use quorate_report::{Evidence, Report};

use crate::data::Data;
use crate::fitted::Fitted;
use crate::job;
use crate::table::ArrowTable;

/// The most valuable next labels: a table of them, and the forecast as a JSON document.
#[pyfunction]
#[pyo3(signature = (fitted, *, budget, costs, capacity, explore, target, retire, progress))]
pub fn plan(
    py: Python<'_>,
    fitted: &Fitted,
    budget: f64,
    costs: Vec<(String, f64)>,
    capacity: Option<u32>,
    explore: Option<f64>,
    target: Option<f64>,
    retire: f64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(ArrowTable, String)> {
    let (annotations, fit) = (Arc::clone(&fitted.annotations), fitted.fit.clone());
    let (seed, memory) = (fitted.seed, fitted.memory);
    let planned = job::run(py, fitted.threads, progress, move |job| {
        let mut all = Vec::new();
        if !costs.is_empty() {
            all = vec![1.0; annotations.worker_count()];
            for (worker, cost) in &costs {
                if let Some(code) = annotations.workers().find(worker) {
                    all[code as usize] = *cost;
                }
            }
        }
        let settings = Plan {
            costs: all,
            capacity,
            explore,
            target,
            retire,
            ..Plan::new(budget)
        };
        Ok(settings.run(&annotations, &fit, &mut job.context(seed, memory))?)
    })?;
    let annotations = &fitted.annotations;
    let rows: Vec<AssignmentRow<'_>> = planned
        .assignments
        .iter()
        .map(|next| AssignmentRow {
            task: annotations.tasks().get(next.task),
            worker: annotations.workers().get(next.worker),
            gain: Some(next.gain),
            cost: Some(next.cost),
            confidence: Some(fitted.fit.consensus.confidence(next.task)),
        })
        .collect();
    let table = fitted.table(py, |target| write_assignments(target, None, &rows))?;
    Ok((table, documents::plan(&planned, annotations)))
}

/// The report page, as HTML.
#[pyfunction]
#[pyo3(signature = (fitted, *, title, truth, task_url, budget, progress))]
pub fn report(
    py: Python<'_>,
    fitted: &Fitted,
    title: String,
    truth: Option<&Data>,
    task_url: Option<String>,
    budget: Option<f64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (annotations, fit) = (Arc::clone(&fitted.annotations), fitted.fit.clone());
    let (seed, memory, method) = (fitted.seed, fitted.memory, fitted.method.name);
    let truth = truth.map(|truth| truth.source.clone());
    job::run(py, fitted.threads, progress, move |job| {
        let truth = match truth {
            Some(source) => Some(read_labels(&source, &LabelOptions::default())?.codes_in(&annotations)),
            None => None,
        };
        let evidence = Evidence::gather(&annotations, &fit, budget, &mut job.context(seed, memory))?;
        let page = Report {
            title: &title,
            annotations: &annotations,
            fit: &fit,
            method,
            seed,
            evidence: &evidence,
            truth: truth.as_deref(),
            task_url: task_url.as_deref(),
            task_texts: None,
        };
        Ok(page.to_html())
    })
}
