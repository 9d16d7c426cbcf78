//! From labels, and what else is known, to a fit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pyo3::prelude::*;
use quorate::annotations::{Duplicates, Names};
use quorate::calibrate::{TYPICAL_SHARE, calibrate, estimate_share};
use quorate::methods::{DEFAULT_METHOD, DawidSkeneEm, Method, Values};
use quorate::model::{AnswerCounts, ClassPrior, Priors, count_answers};
use quorate::{Annotations, Context, Fit};
use quorate_io::{
    LabelOptions, ModelFile, Source, read_features, read_kept_labels, read_labels, read_model,
    read_probabilities,
};

use crate::data::Data;
use crate::errors::{Failure, raise};
use crate::fitted::Fitted;
use crate::job::{self, Job};
use crate::kinds::Kinds;
use crate::labels::Labels;
use crate::model::Model;

/// The one method whose models can be brought up to date.
const UPDATABLE: &str = "dawid-skene";

/// What is asked for.
pub struct Request {
    /// The method.
    pub method: &'static Method,
    /// Its parameters.
    pub parameters: Vec<(String, String)>,
    gold: Option<Source>,
    /// Shares of the classes; empty for equal ones.
    prior: Option<Vec<(String, f64)>>,
    prior_weight: Option<f64>,
    /// What the workers did before.
    pub worker_prior: Option<ModelFile>,
    worker_prior_weight: f64,
    features: Option<Source>,
    feature_tasks: Option<Names>,
    class_probabilities: Option<Source>,
    update: Option<PathBuf>,
    /// Whether the confidence is lowered.
    pub calibrate: bool,
    closed: bool,
    duplicates: Duplicates,
    /// The seed.
    pub seed: u64,
    /// Most bytes of memory.
    pub memory: u64,
}

/// What is expected of classes and workers before any label is seen.
pub struct Expected<'a> {
    /// Shares of the classes; empty for equal ones.
    pub prior: Option<Vec<(String, f64)>>,
    /// Tasks that they count for.
    pub prior_weight: Option<f64>,
    /// A model of earlier labels.
    pub worker_prior: Option<&'a Model>,
    /// Weight of an earlier label.
    pub worker_prior_weight: f64,
}

impl Request {
    /// For a method and what is expected, with nothing else beside the labels.
    pub fn new(
        method: &str,
        parameters: Vec<(String, String)>,
        expected: Expected<'_>,
        seed: u64,
        memory: f64,
    ) -> Result<Self, Failure> {
        Ok(Self {
            method: quorate_cli::catalog::find(method)?,
            parameters,
            gold: None,
            prior: expected.prior,
            prior_weight: expected.prior_weight,
            worker_prior: expected.worker_prior.map(|model| model.file.clone()),
            worker_prior_weight: expected.worker_prior_weight,
            features: None,
            feature_tasks: None,
            class_probabilities: None,
            update: None,
            calibrate: false,
            closed: false,
            duplicates: Duplicates::Last,
            seed,
            memory: bytes_of(memory)?,
        })
    }
}

/// Gibibytes as bytes.
pub fn bytes_of(gibibytes: f64) -> Result<u64, Failure> {
    if gibibytes > 0.0 && gibibytes.is_finite() {
        Ok((gibibytes * (1u64 << 30) as f64) as u64)
    } else {
        Err(Failure::Parameter(format!(
            "memory: found {gibibytes}, expected a number of GiB above 0"
        )))
    }
}

/// Fits a method to labels.
#[pyfunction]
#[pyo3(signature = (
    labels, *, method, parameters, gold, prior, prior_weight, worker_prior, worker_prior_weight, features,
    feature_tasks, class_probabilities, update, calibrate, seed, threads, memory, progress
))]
pub fn fit(
    py: Python<'_>,
    labels: &Labels,
    method: &str,
    parameters: Vec<(String, String)>,
    gold: Option<&Data>,
    prior: Option<Vec<(String, f64)>>,
    prior_weight: Option<f64>,
    worker_prior: Option<&Model>,
    worker_prior_weight: f64,
    features: Option<&Data>,
    feature_tasks: Option<Vec<String>>,
    class_probabilities: Option<&Data>,
    update: Option<PathBuf>,
    calibrate: bool,
    seed: u64,
    threads: usize,
    memory: f64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Fitted> {
    let named = match &update {
        Some(_) if method == DEFAULT_METHOD => UPDATABLE,
        _ => method,
    };
    let source = |data: Option<&Data>| data.map(|data| data.source.clone());
    let expected = Expected {
        prior,
        prior_weight,
        worker_prior,
        worker_prior_weight,
    };
    let request =
        Request::new(named, parameters, expected, seed, memory).map_err(|failure| raise(py, failure))?;
    let request = Request {
        gold: source(gold),
        features: source(features),
        feature_tasks: feature_tasks.map(|tasks| tasks.iter().map(String::as_str).collect()),
        class_probabilities: source(class_probabilities),
        update,
        calibrate,
        closed: labels.closed,
        duplicates: labels.duplicates,
        ..request
    };
    let (annotations, kinds) = (Arc::clone(&labels.annotations), labels.kinds);
    let notes = labels.notes.clone();
    let warnings = labels.warnings.clone();
    job::run(py, threads, progress, move |job| {
        let mut told = Messages { notes, warnings };
        let mut fitted = request.run(annotations, job, &mut told)?;
        fitted.kinds = kinds;
        fitted.threads = threads;
        (fitted.notes, fitted.warnings) = (told.notes, told.warnings);
        Ok(fitted)
    })
}

/// What is said on the way.
#[derive(Default)]
pub struct Messages {
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// What to beware of.
    pub warnings: Vec<String>,
}

impl Request {
    fn run(
        mut self,
        mut annotations: Arc<Annotations>,
        job: &Job,
        told: &mut Messages,
    ) -> Result<Fitted, Failure> {
        let update = self.update.take();
        if let Some(path) = &update {
            annotations = self.join(path, &annotations, told)?;
        }
        let aggregate = self.method.with_parameters(&self.parameters)?;
        let (annotations, priors) = self.add_knowledge(annotations, told)?;
        let mut context = self.context(&annotations, &priors, job, told)?;
        let started = Instant::now();
        let mut fit = match update {
            Some(_) => {
                let values = Values::with(self.method.parameters, &self.parameters)?;
                DawidSkeneEm::from(&values).fit_accelerated(&annotations, &mut context)?
            }
            None => aggregate.fit(&annotations, &mut context)?,
        };
        if self.calibrate && !self.method.calibrates_itself {
            lower_confidence(&annotations, &mut fit, told);
        }
        Ok(Fitted {
            seconds: started.elapsed().as_secs_f64(),
            annotations,
            fit,
            method: self.method,
            parameters: self.parameters,
            priors,
            earlier: self.worker_prior,
            seed: self.seed,
            threads: 0,
            memory: self.memory,
            kinds: Kinds::TEXT,
            notes: Vec::new(),
            warnings: Vec::new(),
        })
    }

    /// The labels that a saved model rests on, followed by the new ones; takes over its parameters.
    fn join(
        &mut self,
        path: &Path,
        new: &Annotations,
        told: &mut Messages,
    ) -> Result<Arc<Annotations>, Failure> {
        let model = read_model(&Source::from(path))?;
        if self.method.name != UPDATABLE || model.method != UPDATABLE {
            return Err(Failure::Parameter(format!(
                "only models of {UPDATABLE} can be updated, and this one is of {:?}: fit all labels again",
                model.method
            )));
        }
        let old = read_kept_labels(path, &model)?;
        let missing = old
            .classes()
            .iter()
            .find(|class| new.classes().find(class).is_none());
        if let (true, Some(class)) = (self.closed, missing) {
            return Err(Failure::Parameter(format!(
                "class {class:?} of the model is not among classes: add it there, or leave classes out"
            )));
        }
        let mut parameters = model.parameters.clone();
        parameters.extend(std::mem::take(&mut self.parameters));
        self.parameters = parameters.into_iter().collect();
        let (labels, tasks) = (old.label_count(), old.task_count());
        let joined = old.concat(new, self.duplicates)?;
        told.notes.push(format!(
            "{} labels folded into a model of {labels} labels: {} tasks are new",
            new.label_count(),
            joined.task_count() - tasks
        ));
        Ok(Arc::new(joined))
    }

    /// Adds gold, and the classes that only gold and earlier work know; makes the priors.
    fn add_knowledge(
        &self,
        mut annotations: Arc<Annotations>,
        told: &mut Messages,
    ) -> Result<(Arc<Annotations>, Priors), Failure> {
        let gold = match &self.gold {
            Some(source) => Some(read_labels(source, &LabelOptions::default())?),
            None => None,
        };
        let of_gold = gold.iter().flat_map(|gold| gold.classes.iter());
        let earlier = self.worker_prior.iter();
        let of_earlier = earlier.flat_map(|model| model.classes.iter().map(String::as_str));
        let mut further: Vec<&str> = of_gold.chain(of_earlier).collect();
        further.retain(|class| annotations.classes().find(class).is_none());
        if let Some(class) = further.first() {
            if self.closed {
                return Err(Failure::Parameter(format!(
                    "class {class:?} of gold or worker_prior is not among classes: add it there, or leave \
                     classes out"
                )));
            }
            told.notes.push(format!(
                "classes that no worker named, known from gold or worker_prior: {}",
                further.join(", ")
            ));
            annotations = Arc::new(Annotations::clone(&annotations).with_classes(further)?);
        }
        if let Some(gold) = &gold {
            let truths = gold.truths_in(&annotations);
            let (known, tasks) = (truths.len(), annotations.task_count());
            annotations = Arc::new(Annotations::clone(&annotations).with_gold(truths)?);
            told.notes
                .push(format!("{known} of {tasks} tasks known from gold"));
            if gold.tasks.len() > known {
                let foreign = gold.tasks.len() - known;
                told.warnings
                    .push(format!("{foreign} tasks of gold that nobody labelled: not used"));
            }
        }
        let priors = Priors {
            classes: self.class_prior(annotations.classes())?,
            workers: self.history(annotations.workers(), annotations.classes(), told),
        };
        Ok((annotations, priors))
    }

    pub fn class_prior(&self, classes: &Names) -> Result<Option<ClassPrior>, Failure> {
        let Some(given) = &self.prior else {
            return Ok(None);
        };
        let mut shares = vec![1.0 / classes.len() as f64; classes.len()];
        let named: Names = given.iter().map(|(class, _)| class.as_str()).collect();
        let wrong = |words: String| Err(Failure::Parameter(format!("prior: {words}")));
        if !given.is_empty() {
            if let Some(class) = classes.iter().find(|class| named.find(class).is_none()) {
                return wrong(format!("there is no share for class {class:?}"));
            }
            for (class, share) in given {
                match classes.find(class) {
                    Some(code) => shares[code as usize] = *share,
                    None => {
                        let known: Vec<&str> = classes.iter().take(20).collect();
                        return wrong(format!(
                            "there is no class {class:?}; the classes are {}",
                            known.join(", ")
                        ));
                    }
                }
            }
        }
        Ok(Some(match self.prior_weight {
            Some(tasks) => ClassPrior::worth_tasks(shares, tasks)?,
            None => ClassPrior::fixed(shares)?,
        }))
    }

    /// What the workers did before.
    pub fn history(&self, workers: &Names, classes: &Names, told: &mut Messages) -> Option<AnswerCounts> {
        let earlier = self.worker_prior.as_ref()?;
        let (counts, known) = earlier.history(workers, classes, self.worker_prior_weight);
        if known == 0 {
            let words = "none of the workers is in the model of worker_prior: it has no effect";
            told.warnings.push(words.into());
            return None;
        }
        told.notes.push(format!(
            "{known} of {} workers known from worker_prior",
            workers.len()
        ));
        Some(counts)
    }

    fn context(
        &self,
        annotations: &Annotations,
        priors: &Priors,
        job: &Job,
        told: &mut Messages,
    ) -> Result<Context, Failure> {
        let mut context = job.context(self.seed, self.memory).with_priors(priors.clone());
        let mut foreign = |rows: u64, of: &str| {
            if rows > 0 {
                told.warnings.push(format!(
                    "{rows} rows of {of} about tasks that the labels do not have: not used"
                ));
            }
        };
        if let Some(source) = &self.class_probabilities {
            let read = read_probabilities(source, None, annotations)?;
            foreign(read.foreign, "class_probabilities");
            context = context.with_class_probabilities(read.probabilities);
        }
        if let Some(source) = &self.features {
            let read = read_features(source, None, annotations, self.feature_tasks.as_ref())?;
            foreign(read.foreign, "features");
            context = context.with_features(read.features);
        }
        Ok(context)
    }
}

/// What is said where the confidence cannot be lowered.
pub const NO_MODEL: &str = "calibrate needs a method that estimates a model: the confidence stays as it is";

/// Lowers the confidence of a fit with a model to what it is worth if some tasks mislead many workers.
fn lower_confidence(annotations: &Annotations, fit: &mut Fit, told: &mut Messages) {
    let Some(model) = &fit.model else {
        told.warnings.push(NO_MODEL.into());
        return;
    };
    let evidence = count_answers(annotations, &fit.consensus).labels_per_truth();
    let share = estimate_share(annotations, model, &evidence, TYPICAL_SHARE);
    fit.consensus = calibrate(annotations, model, fit.consensus.clone(), share);
}
