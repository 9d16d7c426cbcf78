//! A fit of labels on a cluster.

use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use quorate::annotations::{Fingerprint, Names};
use quorate::blocks::Wire;
use quorate::calibrate::calibrate_fit;
use quorate::methods::{BlockFit, Method, Values};
use quorate::model::{ConsensusSummary, Priors};
use quorate_io::{ModelFile, WorkerRow, write_workers};

use super::blocks::{ClusterLabels, answer};
use crate::errors::{Failure, raise};
use crate::fitted::facts_of;
use crate::fitting::{Expected, Messages, Request};
use crate::job;
use crate::kinds::Kinds;
use crate::model::Model;
use crate::table::ArrowTable;

/// A fit, and what was counted about its consensus.
#[pyclass(frozen, module = "quorate._quorate")]
pub struct ClusterFit {
    fit: BlockFit,
    summary: ConsensusSummary,
    workers: Names,
    classes: Names,
    method: &'static Method,
    parameters: Vec<(String, String)>,
    priors: Priors,
    earlier: Option<ModelFile>,
    #[pyo3(get)]
    seed: u64,
    seconds: f64,
    told: Messages,
}

/// Fits a method to labels on a cluster; `ask` runs a request on all blocks.
#[pyfunction]
#[pyo3(signature = (
    ask, *, workers, classes, tasks, labels, has_gold, method, parameters, prior, prior_weight, worker_prior,
    worker_prior_weight, calibrate, seed, threads, memory, progress
))]
pub fn fit_cluster(
    py: Python<'_>,
    ask: &Bound<'_, PyAny>,
    workers: Vec<String>,
    classes: Vec<String>,
    tasks: u64,
    labels: u64,
    has_gold: bool,
    method: &str,
    parameters: Vec<(String, String)>,
    prior: Option<Vec<(String, f64)>>,
    prior_weight: Option<f64>,
    worker_prior: Option<&Model>,
    worker_prior_weight: f64,
    calibrate: bool,
    seed: u64,
    threads: usize,
    memory: f64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<ClusterFit> {
    let expected = Expected {
        prior,
        prior_weight,
        worker_prior,
        worker_prior_weight,
    };
    let mut request =
        Request::new(method, parameters, expected, seed, memory).map_err(|failure| raise(py, failure))?;
    request.calibrate = calibrate;
    let workers: Names = workers.iter().map(String::as_str).collect();
    let classes: Names = classes.iter().map(String::as_str).collect();
    let answer = |request: Vec<u8>| answer(ask, &request);
    job::run_asking(py, threads, progress, &answer, move |job, asker| {
        let aggregate = request.method.with_parameters(&request.parameters)?;
        let mut told = Messages::default();
        let priors = Priors {
            classes: request.class_prior(&classes)?,
            workers: request.history(&workers, &classes, &mut told),
        };
        let mut blocks = ClusterLabels {
            workers,
            classes,
            tasks,
            labels,
            has_gold,
            asker,
        };
        let mut context = job
            .context(request.seed, request.memory)
            .with_priors(priors.clone());
        let started = Instant::now();
        let mut fit = aggregate.fit_blocks(&mut blocks, &mut context)?;
        if request.calibrate && !request.method.calibrates_itself {
            if fit.model.is_none() {
                told.warnings.push(crate::fitting::NO_MODEL.into());
            }
            fit = calibrate_fit(fit, &mut blocks, &mut context)?.0;
        }
        let seconds = started.elapsed().as_secs_f64();
        let counts = fit.model.is_some();
        let summary = ConsensusSummary::of_fit(&fit, &mut blocks, counts, &mut context)?;
        Ok(ClusterFit {
            fit,
            summary,
            workers: blocks.workers,
            classes: blocks.classes,
            method: request.method,
            parameters: request.parameters,
            priors,
            earlier: request.worker_prior,
            seed: request.seed,
            seconds,
            told,
        })
    })
}

#[pymethods]
impl ClusterFit {
    #[getter]
    fn method(&self) -> &'static str {
        self.method.name
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        self.classes.iter().map(str::to_owned).collect()
    }

    #[getter]
    fn iterations(&self) -> usize {
        self.fit.iterations
    }

    #[getter]
    fn converged(&self) -> bool {
        self.fit.converged
    }

    #[getter]
    fn trace(&self) -> Vec<f64> {
        self.fit.trace.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        [&self.told.warnings[..], &self.fit.warnings].concat()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        [&self.told.notes[..], &self.fit.notes].concat()
    }

    /// The fit in binary form, for `label_rows`.
    fn rule<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.fit.to_bytes())
    }

    /// What the hashes of tasks are made with, for `hash_tasks`.
    fn fingerprint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &Fingerprint::new(&self.workers, &self.classes).to_bytes())
    }

    /// The run in numbers, but for those that reading the labels gave.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = facts_of(py, self.method, &self.fit, &self.summary)?;
        facts.set_item("workers", self.workers.len())?;
        facts.set_item("classes", self.classes.len())?;
        facts.set_item("fit_seconds", self.seconds)?;
        facts.set_item("seed", self.seed)?;
        Ok(facts)
    }

    /// One row for each worker.
    fn workers(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let rows = WorkerRow::of_fit(&self.workers, &self.fit, &self.summary);
        ArrowTable::written(Kinds::TEXT, |target| {
            write_workers(target, None, &self.classes, &rows)
        })
        .map_err(|failure| raise(py, failure))
    }

    /// The model of labels whose tasks have these hashes, if the method estimates one.
    fn model(&self, py: Python<'_>, task_hashes: u64) -> PyResult<Option<Model>> {
        let Some(model) = &self.fit.model else {
            return Ok(None);
        };
        let mut fingerprint = Fingerprint::new(&self.workers, &self.classes);
        fingerprint.add(task_hashes);
        let values = Values::with(self.method.parameters, &self.parameters)
            .map_err(|error| raise(py, Failure::from(error)))?;
        let values = values
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let given = &self.summary.worker_labels;
        let file = ModelFile::of(
            &self.workers,
            &self.classes,
            |worker| given[worker],
            fingerprint.finish(),
            model,
        )
        .fitted_by(self.method.name, values, self.seed);
        let mut counts = self
            .summary
            .counts
            .clone()
            .expect("counted where there is a model");
        if let Some(history) = &self.priors.workers {
            counts.merge(history);
        }
        Ok(Some(Model {
            file: file.resting_on(&counts, self.earlier.as_ref()),
        }))
    }
}
