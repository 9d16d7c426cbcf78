//! What follows from a fit: a plan of the next labels, labels that make workers comparable, a plan played on
//! known data, and the report page.

use std::path::PathBuf;

use pyo3::prelude::*;
use quorate::plan::{Dispatch, Plan, Replay, Strategy};
use quorate_cli::documents;
use quorate_cli::side_data::{excluded, task_texts, worker_numbers};
use quorate_io::{Source, Target, read_truth, write_dispatch, write_ids, write_plan, write_whole};
use quorate_report::{Evidence, PlanOptions, Report, check_task_url};

use crate::arguments::{MessageLog, arguments, number};
use crate::data::Data;
use crate::errors::{Failure, raise};
use crate::fitted::Fitted;
use crate::table::ArrowTable;

/// Takes a stage, how far it is, and where it ends.
type ProgressArgument<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Two tables, a JSON document, and what to beware of.
type Planned = (ArrowTable, ArrowTable, String, Vec<String>);

arguments! {
    /// What a plan keeps to.
    pub struct PlanArguments {
        /// What may be spent.
        pub budget: f64,
        /// What a label by each worker costs.
        pub costs: Option<Py<Data>>,
        /// New labels that a worker can give.
        pub capacity: Option<u32>,
        /// New labels that each worker can give.
        pub capacities: Option<Py<Data>>,
        /// Pairs of task and worker that must not be assigned.
        pub exclude: Option<Py<Data>>,
        /// Share of the labels that compare workers.
        pub explore: Option<f64>,
        /// Error to reach.
        pub target: Option<f64>,
        /// Confidence from which on a task needs no more labels.
        pub retire: f64,
    }
}

/// The most valuable next labels: a table of them, and the tasks that need no more.
#[pyfunction]
pub fn plan(
    fitted: &Bound<'_, Fitted>,
    wanted: PlanArguments,
    progress: ProgressArgument<'_, '_>,
) -> PyResult<Planned> {
    let (planned, warnings) = Fitted::run(fitted, progress, move |own, context| {
        let (annotations, mut messages) = (&*own.annotations, MessageLog::default());
        let mut numbers = |option, data: &Option<Py<Data>>, column, others| {
            let workers = annotations.workers();
            worker_numbers((option, source(data)), column, others, workers, &mut messages)
        };
        let costs = numbers("costs", &wanted.costs, "cost", 1.0)?;
        let others = f64::from(wanted.capacity.unwrap_or(0));
        let capacities = numbers("capacities", &wanted.capacities, "labels", others)?;
        let settings = Plan {
            costs,
            capacities: capacities.into_iter().map(|labels| labels as u32).collect(),
            capacity: wanted.capacity,
            excluded: excluded(source(&wanted.exclude), annotations, &mut messages)?,
            explore: wanted.explore,
            target: wanted.target,
            retire: wanted.retire,
            ..Plan::new(wanted.budget)
        };
        Ok((settings.run(annotations, own.fit(), context)?, messages.warnings))
    })?;
    let (py, own) = (fitted.py(), fitted.get());
    let annotations = &own.annotations;
    let table = own.table(py, |target| write_plan(target, annotations, own.fit(), &planned))?;
    let retired = planned.retired.iter().map(|&task| annotations.tasks().get(task));
    let retired = own.table(py, |target| write_ids(target, "task", retired.collect()))?;
    Ok((table, retired, documents::plan(&planned, annotations), warnings))
}

/// The fewest labels that let every pair of workers be compared: a table of them, and the designated workers
/// followed by those whom they are attached to.
#[pyfunction]
pub fn dispatch(
    fitted: &Bound<'_, Fitted>,
    shared: Option<&Bound<'_, PyAny>>,
    exclude: Option<Py<Data>>,
    progress: ProgressArgument<'_, '_>,
) -> PyResult<Planned> {
    let shared: Option<u32> = shared.map(|shared| number("shared", shared)).transpose()?;
    let (dispatched, warnings) = Fitted::run(fitted, progress, move |own, context| {
        let mut messages = MessageLog::default();
        let settings = Dispatch {
            shared,
            designated: None,
            excluded: excluded(source(&exclude), &own.annotations, &mut messages)?,
        };
        Ok((
            settings.run(&own.annotations, own.fit(), context)?,
            messages.warnings,
        ))
    })?;
    let (py, own) = (fitted.py(), fitted.get());
    let annotations = &own.annotations;
    let table = own.table(py, |target| write_dispatch(target, annotations, &dispatched))?;
    let designated = dispatched.designated.into_iter().flat_map(|(l, r)| [l, r]);
    let workers = designated.chain(dispatched.attached.iter().copied());
    let workers = workers.map(|worker| annotations.workers().get(worker)).collect();
    let workers = own.table(py, |target| write_ids(target, "worker", workers))?;
    let document = documents::dispatch(&dispatched, annotations);
    Ok((table, workers, document, warnings))
}

arguments! {
    /// How a plan is played.
    pub struct ReplayArguments {
        /// New labels in all rounds together.
        pub budget: f64,
        /// The truth.
        pub truth: Py<Data>,
        /// Labels per task that are shown at the start.
        pub start: usize,
        /// Rounds.
        pub rounds: usize,
        /// New labels that a worker can give.
        pub capacity: Option<u32>,
        /// Share of the labels that compare workers.
        pub explore: Option<f64>,
    }
}

/// A plan played on known data beside other strategies, as a JSON document.
#[pyfunction]
pub fn replay_plan(
    fitted: &Bound<'_, Fitted>,
    wanted: ReplayArguments,
    progress: ProgressArgument<'_, '_>,
) -> PyResult<String> {
    Fitted::run(fitted, progress, move |own, context| {
        let (annotations, origin) = (&own.annotations, &own.origin);
        let truth = read_truth(&wanted.truth.get().source, annotations)?;
        let aggregate = origin.method.with_parameters(&origin.parameters)?;
        let replay = Replay {
            start: wanted.start,
            capacity: wanted.capacity,
            explore: wanted.explore,
            ..Replay::spending(wanted.budget, wanted.rounds)?
        };
        let play = |strategy| replay.run(strategy, annotations, &truth, &*aggregate, context);
        let curves: quorate::Result<Vec<_>> = Strategy::ALL.into_iter().map(play).collect();
        Ok(documents::replay(&curves?))
    })
}

arguments! {
    /// What is on the page.
    pub struct PageArguments {
        /// Where it is written, too.
        pub path: Option<PathBuf>,
        /// Its title.
        pub title: String,
        /// The truth.
        pub truth: Option<Py<Data>>,
        /// Address of a task.
        pub task_url: Option<String>,
        /// What tasks are about.
        pub texts: Option<Py<Data>>,
        /// Column of the texts.
        pub show: String,
        /// Labels to plan for.
        pub budget: Option<f64>,
        /// Error to reach.
        pub target: Option<f64>,
        /// Whether downloads are safe in spreadsheets.
        pub spreadsheet_safe: bool,
    }
}

/// The report page, as HTML; also written to a file, if there is a path. With it what to beware of.
#[pyfunction]
pub fn report(
    fitted: &Bound<'_, Fitted>,
    page: PageArguments,
    progress: ProgressArgument<'_, '_>,
) -> PyResult<(String, Vec<String>)> {
    if let Some(template) = &page.task_url {
        let wrong = |problem| raise(fitted.py(), Failure::Parameter(format!("task_url: {problem}")));
        check_task_url(template).map_err(wrong)?;
    }
    Fitted::run(fitted, progress, move |own, context| {
        let (annotations, mut messages) = (&*own.annotations, MessageLog::default());
        let truth = source(&page.truth)
            .map(|truth| read_truth(truth, annotations))
            .transpose()?;
        let texts =
            source(&page.texts).map(|texts| task_texts(texts, &page.show, annotations, &mut messages));
        let texts = texts.transpose()?;
        let options = PlanOptions {
            budget: page.budget,
            target: page.target,
        };
        let html = Report {
            title: &page.title,
            annotations,
            fit: own.fit(),
            method: own.origin.method.name,
            seed: own.origin.seed,
            evidence: &Evidence::gather(annotations, own.fit(), &options, context)?,
            truth: truth.as_deref(),
            task_url: page.task_url.as_deref(),
            task_texts: texts.as_deref(),
            spreadsheet_safe: page.spreadsheet_safe,
        }
        .to_html();
        if let Some(path) = page.path {
            write_whole(&Target::from(path), |output| {
                Ok(output.write_all(html.as_bytes())?)
            })?;
        }
        Ok((html, messages.warnings))
    })
}

fn source(given: &Option<Py<Data>>) -> Option<&Source> {
    given.as_ref().map(|data| &data.get().source)
}
