//! From labels, and what else is known, to a fit.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use quorate::annotations::Names;
use quorate::internal::run::{ClassShares, History, Knowledge, LabelTable, Run, join_update};
use quorate::model::Priors;
use quorate::{Annotations, Context};
use quorate_cli::catalog::find;
use quorate_cli::run_words::{tell_joined, tell_known};
use quorate_cli::side_data::fitting;
use quorate_io::{
    LabelOptions, ModelFile, ModelOrigin, TaskLabels, Update, read_features, read_labels, read_probabilities,
};

use crate::arguments::{MessageLog, Running, arguments};
use crate::data::Data;
use crate::errors::Failure;
use crate::fitted::Fitted;
use crate::labels::Labels;
use crate::model::Model;

arguments! {
    /// What is known besides the labels.
    pub struct Known {
        /// True labels of some tasks.
        pub gold: Option<Py<Data>>,
        /// Shares of the classes; empty for equal ones.
        pub prior: Option<Vec<(String, f64)>>,
        /// Tasks that they count for.
        pub prior_weight: Option<f64>,
        /// A model of earlier labels.
        pub worker_prior: Option<Py<Model>>,
        /// Weight of an earlier label.
        pub worker_prior_weight: f64,
        /// Numbers that describe the tasks.
        pub features: Option<Py<Data>>,
        /// The task of each row of an array of them.
        pub feature_tasks: Option<Vec<String>>,
        /// Probabilities from a classifier.
        pub class_probabilities: Option<Py<Data>>,
    }
}

arguments! {
    /// What is to be done with labels.
    pub struct Fitting {
        /// Name of the method.
        pub method: String,
        /// Its parameters.
        pub parameters: Vec<(String, String)>,
        /// A model that the labels are folded into.
        pub update: Option<PathBuf>,
        /// Whether the confidence is lowered.
        pub calibrate: bool,
    }
}

impl Known {
    /// What is known, with these truths.
    pub fn knowledge<'a>(&'a self, gold: Option<&'a TaskLabels>, closed: bool) -> Knowledge<'a> {
        let earlier = self.worker_prior.as_ref();
        let history = earlier.map(|model| (&model.get().file as &dyn History, self.worker_prior_weight));
        Knowledge {
            gold: gold.map(TaskLabels::truths),
            classes: self.prior.clone().map(|shares| ClassShares {
                shares,
                tasks: self.prior_weight,
            }),
            history,
            closed,
        }
    }

    /// The model that the history is from.
    pub fn earlier(&self) -> Option<ModelFile> {
        self.worker_prior.as_ref().map(|model| model.get().file.clone())
    }

    /// The labels with what is known of them, and the priors.
    fn add_to(
        &self,
        labels: Arc<Annotations>,
        closed: bool,
        messages: &mut MessageLog,
    ) -> Result<(Arc<Annotations>, Priors), Failure> {
        let gold = self
            .gold
            .as_ref()
            .map(|data| read_labels(&data.get().source, &LabelOptions::default()));
        let gold = gold.transpose()?;
        let (labels, known) = self.knowledge(gold.as_ref(), closed).add_to(labels)?;
        tell_known(&known, labels.facts(), messages);
        Ok((labels, known.priors))
    }

    /// The context with what is known of the tasks.
    fn add_side_data(
        &self,
        mut context: Context,
        annotations: &Annotations,
        messages: &mut MessageLog,
    ) -> Result<Context, Failure> {
        if let Some(data) = &self.class_probabilities {
            let read = read_probabilities(&data.get().source, annotations)?;
            context =
                context.with_class_probabilities(fitting(read, "class_probabilities", "tasks", messages));
        }
        if let Some(data) = &self.features {
            let tasks = self.feature_tasks.as_ref();
            let tasks: Option<Names> = tasks.map(|tasks| tasks.iter().map(String::as_str).collect());
            let read = read_features(&data.get().source, annotations, tasks.as_ref())?;
            context = context.with_features(fitting(read, "features", "tasks", messages));
        }
        Ok(context)
    }
}

/// Fits a method to labels.
#[pyfunction]
pub fn fit(
    py: Python<'_>,
    labels: &Labels,
    known: Known,
    fitting: Fitting,
    running: Running,
) -> PyResult<Fitted> {
    let (mut annotations, kinds) = (Arc::clone(&labels.annotations), labels.kinds);
    let (closed, duplicates, mut messages) = (labels.closed, labels.duplicates, labels.messages.clone());
    let (seed, threads, memory) = (running.seed, running.threads, running.bytes());
    running.run(py, move |job| {
        let (method, parameters, aggregate) = match &fitting.update {
            Some(path) => {
                let update = Update::open(path, &fitting.method, false)?;
                let chosen = update.method(fitting.parameters)?;
                let (all, joined) = join_update(update.labels, &annotations, duplicates, closed)?;
                tell_joined(joined, &mut messages);
                annotations = Arc::new(all);
                chosen
            }
            None => {
                let method = find(&fitting.method)?;
                let aggregate = method.with_parameters(&fitting.parameters)?;
                (method, fitting.parameters, aggregate)
            }
        };
        let (mut annotations, priors) = known.add_to(annotations, closed, &mut messages)?;
        let context = job.context(seed, memory).with_priors(priors.clone());
        let mut context = known.add_side_data(context, &annotations, &mut messages)?;
        let run = Run {
            method: &*aggregate,
            calibrate: fitting.calibrate,
            intervals: None,
        };
        Ok(Fitted {
            outcome: run.over(&mut annotations, &mut context)?,
            annotations,
            origin: ModelOrigin {
                method,
                parameters,
                seed,
                priors,
                earlier: known.earlier(),
            },
            threads,
            memory,
            kinds,
            messages,
        })
    })
}
