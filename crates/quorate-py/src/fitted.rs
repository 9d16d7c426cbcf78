//! A fit, and the tables that are made of it.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use quorate::annotations::Names;
use quorate::internal::model::ConsensusSummary;
use quorate::internal::run::{Outcome, RunOver};
use quorate::model::posterior;
use quorate::review::Review;
use quorate::{Annotations, Context, Fit};
use quorate_cli::documents;
use quorate_io::{
    Cell, ChangeRow, ColumnKind, ConsensusParts, Each, ModelFile, ModelOrigin, Target, WorkerRow,
    write_changes, write_consensus, write_intervals, write_kept_labels, write_model, write_review,
    write_rows, write_workers,
};
use quorate_report::figure;

use crate::arguments::{MessageLog, number};
use crate::errors::{Failure, raise};
use crate::job;
use crate::kinds::Kinds;
use crate::labels::Labels;
use crate::model::Model;
use crate::pickle;
use crate::table::ArrowTable;

/// Classes that a picture shows by name.
const MAX_CLASSES: usize = 10;

/// A share as a small bar.
#[pyfunction]
pub fn gauge(share: f64) -> String {
    figure::counts::gauge(share)
}

/// A fit with the labels that it is of.
#[pyclass(frozen, module = "quorate._quorate")]
pub struct Fitted {
    /// The labels, with gold.
    pub annotations: Arc<Annotations>,
    /// The fit.
    pub outcome: Outcome,
    /// What it is of, but for the labels.
    pub origin: ModelOrigin,
    /// Threads that were asked for.
    pub threads: usize,
    /// Memory limit in bytes.
    pub memory: u64,
    /// What ids and labels were.
    pub kinds: Kinds,
    /// What was said about the input.
    pub messages: MessageLog,
}

impl Fitted {
    /// The fit.
    pub fn fit(&self) -> &Fit {
        &self.outcome.fit
    }

    fn summarise(&self, counts: bool) -> ConsensusSummary {
        ConsensusSummary::of(&self.annotations, &self.fit().consensus, counts)
    }

    /// Runs further work as the fit was run, and waits for it.
    pub fn run<T: Send + 'static>(
        slf: &Bound<'_, Self>,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&Self, &mut Context) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let own = slf.clone().unbind();
        job::run(slf.py(), slf.get().threads, progress, move |job| {
            let own = own.get();
            let context = job.context(own.origin.seed, own.memory);
            work(own, &mut context.with_priors(own.origin.priors.clone()))
        })
    }

    /// A table as Python gets it.
    pub fn table(
        &self,
        py: Python<'_>,
        write: impl FnOnce(&Target) -> quorate_io::Result<()>,
    ) -> PyResult<ArrowTable> {
        ArrowTable::written(self.kinds, write).map_err(|failure| raise(py, failure))
    }

    /// The model file, if there is a model.
    fn model_file(&self) -> Result<Option<ModelFile>, Failure> {
        let (annotations, summary) = (&self.annotations, self.summarise(true));
        Ok(self.origin.model_file(
            self.fit(),
            &summary,
            (&**annotations).into(),
            annotations.fingerprint(),
        )?)
    }
}

#[pymethods]
impl Fitted {
    /// What the fit says of itself.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        facts_of(
            py,
            &self.origin,
            self.fit(),
            self.annotations.classes(),
            &self.messages,
        )
    }

    /// The run in numbers, as a JSON document.
    fn summary(&self) -> String {
        let annotations = &self.annotations;
        documents::run(
            &self.origin,
            &self.outcome,
            &self.summarise(false),
            (&**annotations).into(),
        )
    }

    /// The label of every task, its confidence, and if asked for difficulty and probabilities.
    fn labels(&self, py: Python<'_>, probabilities: bool, difficulty: bool) -> PyResult<ArrowTable> {
        let difficulty = self.fit().task_difficulty.as_deref().filter(|_| difficulty);
        let (tasks, classes) = (self.annotations.tasks(), self.annotations.classes());
        let consensus = &self.fit().consensus;
        let parts = ConsensusParts {
            difficulty,
            ..probabilities.into()
        };
        self.table(py, |target| {
            write_consensus(target, tasks, classes, consensus, parts)
        })
    }

    /// One row for each worker.
    fn workers(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let annotations = &self.annotations;
        let rows = WorkerRow::of_fit(annotations.workers(), self.fit(), &self.summarise(false));
        self.table(py, |target| write_workers(target, annotations.classes(), &rows))
    }

    /// The tasks whose label is not that of majority vote.
    fn changes(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let rows = ChangeRow::of_fit(
            &self.annotations,
            &self.fit().consensus,
            self.fit().model.as_ref(),
        );
        self.table(py, |target| write_changes(target, &rows))
    }

    /// The confusion matrices, a row for each cell.
    fn confusion(&self, py: Python<'_>) -> PyResult<Option<ArrowTable>> {
        let Some(model) = &self.fit().model else {
            return Ok(None);
        };
        let (workers, classes) = (self.annotations.workers(), self.annotations.classes());
        let names = ["worker", "answer", "truth"].map(|name| (name, ColumnKind::Text));
        let columns = names.into_iter().chain([("probability", ColumnKind::Number)]);
        let rows = |each: &mut Each<'_>| {
            for (cell, &probability) in model.confusions().iter().enumerate() {
                let (rest, truth) = (cell / classes.len(), cell % classes.len());
                let (worker, answer) = (rest / classes.len(), rest % classes.len());
                let names = [workers.get(worker), classes.get(answer), classes.get(truth)];
                let [worker, answer, truth] = names.map(Cell::Text);
                each(&[worker, answer, truth, probability.into()])?;
            }
            Ok(())
        };
        self.table(py, |target| write_rows(target, columns, rows))
            .map(Some)
    }

    /// The tasks whose label is most likely wrong, and why: the table of `write_review`.
    fn review(&self, py: Python<'_>, most: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
        let most = number("n", most)?;
        let tasks = Review { most }.run(&self.annotations, self.fit());
        self.table(py, |target| write_review(target, &tasks))
    }

    /// Pictures of the view in a notebook: the style sheet, the confidence of the labels, the tasks of each
    /// class.
    fn pictures(&self) -> (&'static str, String, String) {
        let (consensus, classes) = (&self.fit().consensus, self.annotations.classes());
        let mut tasks: Vec<(&str, usize)> = classes.iter().map(|class| (class, 0)).collect();
        (0..consensus.len()).for_each(|task| tasks[consensus.label(task)].1 += 1);
        tasks.sort_by_key(|&(_, tasks)| std::cmp::Reverse(tasks));
        let rest = tasks.split_off(tasks.len().min(MAX_CLASSES));
        let others = format!("{} more", rest.len());
        if !rest.is_empty() {
            tasks.push((&others, rest.iter().map(|class| class.1).sum()));
        }
        (
            figure::CSS,
            figure::confidence::histogram(consensus).to_inline_svg(),
            figure::counts::bars("Tasks of each class", &tasks),
        )
    }

    /// The classes with their probability by the model: `class, probability`.
    fn class_shares(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let prior = self.fit().model.as_ref().map(|model| model.prior());
        let columns = [("class", ColumnKind::Text), ("probability", ColumnKind::Number)];
        let rows = |each: &mut Each<'_>| {
            let mut classes = self.annotations.classes().iter().enumerate();
            classes.try_for_each(|(class, name)| {
                each(&[Cell::Text(name), prior.map(|prior| prior[class]).into()])
            })
        };
        self.table(py, |target| write_rows(target, columns, rows))
    }

    /// Intervals of accuracies, matrices, class shares and the error.
    fn intervals(
        slf: &Bound<'_, Self>,
        level: f64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<ArrowTable>> {
        let found = Self::run(slf, progress, move |own, context| {
            Ok(Arc::clone(&own.annotations).intervals(own.fit(), level, context)?)
        })?;
        let own = slf.get();
        let (workers, classes) = (own.annotations.workers(), own.annotations.classes());
        let write = |found| {
            own.table(slf.py(), |target| {
                write_intervals(target, workers, classes, found)
            })
        };
        found.as_ref().map(write).transpose()
    }

    /// The model, if the method estimates one.
    fn model(&self, py: Python<'_>) -> PyResult<Option<Model>> {
        let file = self.model_file().map_err(|failure| raise(py, failure))?;
        Ok(file.map(|file| Model { file }))
    }

    /// Writes the model file, with the labels beside it if asked for.
    fn save_model(&self, py: Python<'_>, path: PathBuf, keep_labels: bool) -> PyResult<bool> {
        let write = || -> Result<bool, Failure> {
            let Some(mut file) = self.model_file()? else {
                return Ok(false);
            };
            if keep_labels {
                write_kept_labels(&path, &self.annotations, &mut file)?;
            }
            write_model(&Target::from(path.clone()), &file)?;
            Ok(true)
        };
        write().map_err(|failure| raise(py, failure))
    }

    /// Writes the labels to a file.
    fn write_labels(&self, py: Python<'_>, path: PathBuf, probabilities: bool) -> PyResult<()> {
        let (tasks, classes) = (self.annotations.tasks(), self.annotations.classes());
        write_consensus(
            &Target::from(path),
            tasks,
            classes,
            &self.fit().consensus,
            probabilities,
        )
        .map_err(|error| raise(py, error.into()))
    }

    /// The fit as plain values.
    fn to_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        pickle::to_state(py, self)
    }

    /// The fit that these values hold.
    #[staticmethod]
    fn from_state(state: Bound<'_, PyDict>) -> PyResult<Self> {
        pickle::from_state(state)
    }

    /// The consensus on the tasks of another table by the model of this fit, and how many labels were left
    /// out because the model does not know their worker or class; none without a model.
    fn predict(&self, py: Python<'_>, labels: &Labels) -> PyResult<Option<(ArrowTable, usize)>> {
        let Some(model) = &self.fit().model else {
            return Ok(None);
        };
        let predict = || -> Result<(ArrowTable, usize), Failure> {
            let (known, left_out) = labels.annotations.reindexed_like(&self.annotations)?;
            let (consensus, _) = posterior(&known, model);
            let (tasks, classes) = (known.tasks(), known.classes());
            let table = ArrowTable::written(labels.kinds, |target| {
                write_consensus(target, tasks, classes, &consensus, true)
            })?;
            Ok((table, left_out))
        };
        predict().map(Some).map_err(|failure| raise(py, failure))
    }
}

/// What a fit says of itself, wherever the labels are.
pub fn facts_of<'py, C>(
    py: Python<'py>,
    origin: &ModelOrigin,
    fit: &Fit<C>,
    classes: &Names,
    messages: &MessageLog,
) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("method", origin.method.name)?;
    facts.set_item("parameters", &origin.parameters)?;
    facts.set_item("seed", origin.seed)?;
    facts.set_item("classes", classes.iter().collect::<Vec<_>>())?;
    facts.set_item("iterations", fit.iterations)?;
    facts.set_item("converged", fit.converged)?;
    facts.set_item("trace", &fit.trace)?;
    facts.set_item("prior", fit.model.as_ref().map(|model| model.prior()))?;
    facts.set_item("has_difficulty", fit.task_difficulty.is_some())?;
    facts.set_item("warnings", [&messages.warnings[..], &fit.warnings].concat())?;
    facts.set_item("notes", [&messages.notes[..], &fit.notes].concat())?;
    Ok(facts)
}
