//! A fit of labels on a cluster.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use quorate::internal::annotations::Fingerprint;
use quorate::internal::blocks::Wire;
use quorate::internal::model::{ConsensusSummary, Rule};
use quorate::internal::run::{Outcome, Run, RunOver};
use quorate_cli::catalog::find;
use quorate_cli::documents;
use quorate_cli::reading::tell_rows;
use quorate_cli::run_words::tell_known;
use quorate_io::{ModelOrigin, WorkerRow, write_workers};

use super::blocks::{ClusterLabels, ClusterTable, Counted, answer};
use crate::arguments::{MessageLog, Running};
use crate::errors::{Failure, raise};
use crate::fitted::facts_of;
use crate::fitting::{Fitting, Known};
use crate::kinds::Kinds;
use crate::model::Model;
use crate::table::ArrowTable;

/// A fit, and what was counted about its consensus.
#[pyclass(frozen, module = "quorate._quorate")]
pub struct ClusterFit {
    outcome: Outcome<Rule>,
    summary: ConsensusSummary,
    table: ClusterTable,
    origin: ModelOrigin,
    messages: MessageLog,
}

/// Fits a method to labels on a cluster; `ask` runs a request on all blocks.
#[pyfunction]
pub fn fit_cluster(
    py: Python<'_>,
    ask: &Bound<'_, PyAny>,
    counted: Counted,
    known: Known,
    fitting: Fitting,
    running: Running,
) -> PyResult<ClusterFit> {
    let answer = |request: Vec<u8>| answer(ask, &request);
    let (seed, memory) = (running.seed, running.bytes());
    running.run_asking(py, &answer, move |job, asker| {
        let method = find(&fitting.method)?;
        let aggregate = method.with_parameters(&fitting.parameters)?;
        let (table, mut messages) = (ClusterTable::new(counted)?, MessageLog::default());
        let labels = table.facts();
        tell_rows(labels.rows, &mut messages);
        let priors = known
            .knowledge(None, false)
            .priors(labels.workers, labels.classes)?;
        let found = quorate::internal::run::Known {
            gold: table.gold,
            ..priors
        };
        tell_known(&found, labels, &mut messages);
        let mut blocks = ClusterLabels { table, asker };
        let mut context = job.context(seed, memory).with_priors(found.priors.clone());
        let run = Run {
            method: &*aggregate,
            calibrate: fitting.calibrate,
            intervals: None,
        };
        let outcome: Outcome<Rule> = run.over(&mut blocks, &mut context)?;
        let counts = outcome.fit.model.is_some();
        Ok(ClusterFit {
            summary: blocks.summarise(&outcome.fit, counts, &mut context)?,
            outcome,
            table: blocks.table,
            origin: ModelOrigin {
                method,
                parameters: fitting.parameters,
                seed,
                priors: found.priors,
                earlier: known.earlier(),
            },
            messages,
        })
    })
}

#[pymethods]
impl ClusterFit {
    /// What the fit says of itself.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        facts_of(
            py,
            &self.origin,
            &self.outcome.fit,
            &self.table.classes,
            &self.messages,
        )
    }

    /// The fit in binary form, for `label_rows`.
    fn rule<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.outcome.fit.to_bytes())
    }

    /// What the hashes of tasks are made with, for `hash_tasks`.
    fn fingerprint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.hasher().to_bytes())
    }

    /// The run in numbers, as a JSON document.
    fn summary(&self) -> String {
        documents::run(&self.origin, &self.outcome, &self.summary, self.table.facts())
    }

    /// One row for each worker.
    fn workers(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let labels = self.table.facts();
        let rows = WorkerRow::of_fit(labels.workers, &self.outcome.fit, &self.summary);
        ArrowTable::written(Kinds::TEXT, |target| write_workers(target, labels.classes, &rows))
            .map_err(|failure| raise(py, failure))
    }

    /// The model of labels whose tasks have these hashes, if the method estimates one.
    fn model(&self, py: Python<'_>, task_hashes: u64) -> PyResult<Option<Model>> {
        let (mut hasher, labels) = (self.hasher(), self.table.facts());
        hasher.add(task_hashes);
        let file = self
            .origin
            .model_file(&self.outcome.fit, &self.summary, labels, hasher.finish());
        let file = file.map_err(|error| raise(py, Failure::from(error)))?;
        Ok(file.map(|file| Model { file }))
    }
}

impl ClusterFit {
    fn hasher(&self) -> Fingerprint {
        let labels = self.table.facts();
        Fingerprint::new(labels.workers, labels.classes)
    }
}
