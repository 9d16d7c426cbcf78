//! What follows from a fit: a plan of the next labels, labels that make workers comparable, a plan played on
//! known data, and the report page.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use quorate::Annotations;
use quorate::plan::{Dispatch, Plan, Replay, Strategy};
use quorate_cli::documents;
use quorate_io::{
    LabelOptions, Source, Target, WorkerNumbersRead, read_assignments, read_labels, read_task_texts,
    read_worker_numbers, write_dispatch, write_ids, write_plan, write_whole,
};
use quorate_report::{Evidence, PlanOptions, Report, check_task_url};

use crate::data::Data;
use crate::errors::{Failure, raise};
use crate::fitted::Fitted;
use crate::job;
use crate::table::ArrowTable;

/// The most valuable next labels: a table of them, the tasks that need no more, the forecast as a JSON
/// document, and what to beware of.
#[pyfunction]
#[pyo3(signature = (
    fitted, *, budget, costs, capacity, capacities, exclude, explore, target, retire, progress
))]
pub fn plan(
    py: Python<'_>,
    fitted: &Fitted,
    budget: f64,
    costs: Option<&Data>,
    capacity: Option<u32>,
    capacities: Option<&Data>,
    exclude: Option<&Data>,
    explore: Option<f64>,
    target: Option<f64>,
    retire: f64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(ArrowTable, ArrowTable, String, Vec<String>)> {
    let (annotations, fit) = (Arc::clone(&fitted.annotations), fitted.fit.clone());
    let [costs, capacities, exclude] = [costs, capacities, exclude].map(source_of);
    let context = fitted.contexts();
    let (planned, warnings) = job::run(py, fitted.threads, progress, move |job| {
        let mut warnings = Vec::new();
        let costs = numbers("costs", costs, "cost", &annotations, &mut warnings)?;
        let capacities = numbers("capacities", capacities, "labels", &annotations, &mut warnings)?;
        let settings = Plan {
            costs: costs.map_or(Vec::new(), |given| given.or(1.0)),
            capacities: capacities.map_or(Vec::new(), |given| given.whole_or(capacity.unwrap_or(0))),
            capacity,
            excluded: pairs(exclude, &annotations, &mut warnings)?,
            explore,
            target,
            retire,
            ..Plan::new(budget)
        };
        Ok((settings.run(&annotations, &fit, &mut context(job))?, warnings))
    })?;
    let annotations = &fitted.annotations;
    let table = fitted.table(py, |target| {
        write_plan(target, None, annotations, &fitted.fit, &planned)
    })?;
    let retired = planned.retired.iter().map(|&task| annotations.tasks().get(task));
    let retired = fitted.table(py, |target| write_ids(target, None, "task", retired.collect()))?;
    Ok((table, retired, documents::plan(&planned, annotations), warnings))
}

/// The fewest labels that let every pair of workers be compared: a table of them, the designated workers
/// followed by those whom they are attached to, a JSON document, and what to beware of.
#[pyfunction]
#[pyo3(signature = (fitted, *, shared, exclude, progress))]
pub fn dispatch(
    py: Python<'_>,
    fitted: &Fitted,
    shared: Option<u32>,
    exclude: Option<&Data>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(ArrowTable, ArrowTable, String, Vec<String>)> {
    let (annotations, fit) = (Arc::clone(&fitted.annotations), fitted.fit.clone());
    let (exclude, context) = (source_of(exclude), fitted.contexts());
    let (dispatched, warnings) = job::run(py, fitted.threads, progress, move |job| {
        let mut warnings = Vec::new();
        let settings = Dispatch {
            shared,
            designated: None,
            excluded: pairs(exclude, &annotations, &mut warnings)?,
        };
        Ok((settings.run(&annotations, &fit, &mut context(job))?, warnings))
    })?;
    let annotations = &fitted.annotations;
    let table = fitted.table(py, |target| {
        write_dispatch(target, None, annotations, &dispatched)
    })?;
    let designated = dispatched.designated.into_iter().flat_map(|(l, r)| [l, r]);
    let workers = designated.chain(dispatched.attached.iter().copied());
    let workers = workers.map(|worker| annotations.workers().get(worker)).collect();
    let workers = fitted.table(py, |target| write_ids(target, None, "worker", workers))?;
    let document = documents::dispatch(&dispatched, annotations);
    Ok((table, workers, document, warnings))
}

/// A plan played on known data beside other strategies, as a JSON document.
#[pyfunction]
#[pyo3(signature = (fitted, *, budget, truth, start, rounds, capacity, explore, progress))]
pub fn replay_plan(
    py: Python<'_>,
    fitted: &Fitted,
    budget: f64,
    truth: &Data,
    start: usize,
    rounds: usize,
    capacity: Option<u32>,
    explore: Option<f64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let annotations = Arc::clone(&fitted.annotations);
    let (method, parameters) = (fitted.method, fitted.parameters.clone());
    let (truth, context) = (truth.source.clone(), fitted.contexts());
    job::run(py, fitted.threads, progress, move |job| {
        let truth = read_labels(&truth, &LabelOptions::default())?.codes_in(&annotations);
        let aggregate = method.with_parameters(&parameters)?;
        let replay = Replay {
            start,
            capacity,
            explore,
            ..Replay::spending(budget, rounds)?
        };
        let mut curves = Vec::new();
        for strategy in Strategy::ALL {
            curves.push(replay.run(strategy, &annotations, &truth, &*aggregate, &mut context(job))?);
        }
        Ok(documents::replay(&curves))
    })
}

/// The report page, as HTML; also written to a file, if there is a path. With it what to beware of.
#[pyfunction]
#[pyo3(signature = (fitted, *, path, title, truth, task_url, texts, show, budget, target, spreadsheet_safe, progress))]
pub fn report(
    py: Python<'_>,
    fitted: &Fitted,
    path: Option<PathBuf>,
    title: String,
    truth: Option<&Data>,
    task_url: Option<String>,
    texts: Option<&Data>,
    show: String,
    budget: Option<f64>,
    target: Option<f64>,
    spreadsheet_safe: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    if let Some(template) = &task_url {
        let wrong = |problem| raise(py, Failure::Parameter(format!("task_url: {problem}")));
        check_task_url(template).map_err(wrong)?;
    }
    let (annotations, fit) = (Arc::clone(&fitted.annotations), fitted.fit.clone());
    let (seed, method) = (fitted.seed, fitted.method.name);
    let [truth, texts] = [truth, texts].map(source_of);
    let context = fitted.contexts();
    job::run(py, fitted.threads, progress, move |job| {
        let mut warnings = Vec::new();
        let truth = match truth {
            Some(source) => Some(read_labels(&source, &LabelOptions::default())?.codes_in(&annotations)),
            None => None,
        };
        let texts = match texts {
            Some(source) => Some(read_task_texts(&source, None, &show, &annotations)?),
            None => None,
        };
        if texts
            .as_ref()
            .is_some_and(|texts| texts.iter().all(Option::is_none))
        {
            warnings.push("texts has none of the tasks that the labels have: nothing to show".into());
        }
        let wishes = PlanOptions { budget, target };
        let evidence = Evidence::gather(&annotations, &fit, &wishes, &mut context(job))?;
        let page = Report {
            title: &title,
            annotations: &annotations,
            fit: &fit,
            method,
            seed,
            evidence: &evidence,
            truth: truth.as_deref(),
            task_url: task_url.as_deref(),
            task_texts: texts.as_deref(),
            spreadsheet_safe,
        }
        .to_html();
        if let Some(path) = path {
            write_whole(&Target::from(path), |output| {
                Ok(output.write_all(page.as_bytes())?)
            })?;
        }
        Ok((page, warnings))
    })
}

fn source_of(data: Option<&Data>) -> Option<Source> {
    data.map(|data| data.source.clone())
}

/// A number for each worker.
fn numbers(
    argument: &str,
    source: Option<Source>,
    column: &str,
    annotations: &Annotations,
    warnings: &mut Vec<String>,
) -> Result<Option<WorkerNumbersRead>, Failure> {
    let Some(source) = source else {
        return Ok(None);
    };
    let read = read_worker_numbers(&source, None, column, annotations.workers())?;
    if read.foreign > 0 {
        warnings.push(format!(
            "{} workers of {argument} not found in the labels: not planned for",
            read.foreign
        ));
    }
    Ok(Some(read))
}

/// Pairs of task and worker that must not be assigned.
fn pairs(
    source: Option<Source>,
    annotations: &Annotations,
    warnings: &mut Vec<String>,
) -> Result<Vec<(u32, u32)>, Failure> {
    let Some(source) = source else {
        return Ok(Vec::new());
    };
    let read = read_assignments(&source, None, annotations)?;
    if read.foreign > 0 {
        warnings.push(format!(
            "{} rows of exclude about tasks or workers that the labels do not have: not used",
            read.foreign
        ));
    }
    Ok(read.pairs)
}
