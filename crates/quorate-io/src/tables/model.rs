//! `model.json`: a fitted model as a file. Every released version stays readable.
//!
//! ```text
//! { "format_version": 1, "method": "..", "parameters": {..}, "seed": 7, "fingerprint": "hex",
//!   "labels_file": "..",
//!   "classes": [..K], "prior": [..K],
//!   "workers": [ {"id": "..", "labels": 12, "confusion": [K rows of K: row = answer, column = truth],
//!                 "counts": [K rows of K: expected answers that the model rests on,
//!                           those of earlier data included]}, .. ] }
//! ```
//!
//! `labels_file`, the labels kept beside the model, may be missing. `counts` may be missing: then a worker's
//! labels are shared out by prior and confusion matrix.

use std::collections::BTreeMap;
use std::io::Read;

use quorate::annotations::{Annotations, Names};
use quorate::model::DawidSkene;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Position, Result};
use crate::formats::Compression;
use crate::formats::jsonl::problem_of;
use crate::source::Source;
use crate::target::{Target, write_whole};

/// The version that is written, and the newest that can be read.
pub const MODEL_FORMAT_VERSION: u32 = 1;

/// How far probabilities may be from summing to 1.
const SUM_TOLERANCE: f64 = 1e-6;

/// More labels than a worker gives.
const MAX_LABELS: u64 = 1_000_000_000_000;

/// A fitted model with where it came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Version of the file format.
    pub format_version: u32,
    /// Name of the method that fitted the model.
    pub method: String,
    /// The method's parameters, as on the command line.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// The seed of the fit.
    pub seed: u64,
    /// Fingerprint of the data, in hexadecimal.
    pub fingerprint: String,
    /// Name of the file beside this one that holds the labels the model rests on, if they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels_file: Option<String>,
    /// The classes, in order.
    pub classes: Vec<String>,
    /// Probability of each class.
    pub prior: Vec<f64>,
    /// The workers.
    pub workers: Vec<ModelWorker>,
}

/// One worker of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelWorker {
    /// The worker's id.
    pub id: String,
    /// Number of labels the worker gave.
    pub labels: u64,
    /// K rows of K: row = answer, column = truth; columns sum to 1.
    pub confusion: Vec<Vec<f64>>,
    /// K rows of K: expected number of answers (row) to tasks of each class (column), earlier data included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Vec<Vec<f64>>>,
}

impl ModelFile {
    /// The model of these annotations.
    ///
    /// # Panics
    /// If model and annotations differ in the number of workers or classes.
    pub fn new(annotations: &Annotations, model: &DawidSkene) -> Self {
        let labels = annotations.labels_per_worker();
        Self::of(
            annotations.workers(),
            annotations.classes(),
            |worker| u64::from(labels[worker]),
            annotations.fingerprint(),
            model,
        )
    }

    /// The model of these workers, who gave so many labels each, and classes.
    ///
    /// # Panics
    /// If the model is one of another number of workers or classes.
    pub fn of(
        workers: &Names,
        classes: &Names,
        labels: impl Fn(usize) -> u64,
        fingerprint: u64,
        model: &DawidSkene,
    ) -> Self {
        assert_eq!(
            (model.worker_count(), model.class_count()),
            (workers.len(), classes.len()),
            "the model is one of these workers and classes"
        );
        let worker = |(m, id): (usize, &str)| ModelWorker {
            id: id.to_owned(),
            labels: labels(m),
            confusion: model
                .confusion(m)
                .chunks_exact(classes.len())
                .map(<[f64]>::to_vec)
                .collect(),
            counts: None,
        };
        Self {
            format_version: MODEL_FORMAT_VERSION,
            method: String::new(),
            parameters: BTreeMap::new(),
            seed: 0,
            fingerprint: format!("{fingerprint:016x}"),
            labels_file: None,
            classes: classes.iter().map(str::to_owned).collect(),
            prior: model.prior().to_vec(),
            workers: workers.iter().enumerate().map(worker).collect(),
        }
    }

    /// The same model, with the method, parameters and seed that gave it.
    pub fn fitted_by(
        mut self,
        method: &str,
        parameters: impl IntoIterator<Item = (String, String)>,
        seed: u64,
    ) -> Self {
        self.method = method.to_owned();
        self.parameters = parameters.into_iter().collect();
        self.seed = seed;
        self
    }

    /// The model itself: workers and classes in the order of the file. Check with [`ModelFile::validate`]
    /// first if the file was put together by hand.
    pub fn model(&self) -> DawidSkene {
        let cells = self
            .workers
            .iter()
            .flat_map(|worker| worker.confusion.iter().flatten());
        DawidSkene::new(self.prior.clone(), cells.copied().collect())
    }

    /// Checks that sizes fit and that probabilities are probabilities.
    pub fn validate(&self) -> Result<()> {
        let wrong = |words: String| Err(Error::syntax(words));
        if self.format_version == 0 || self.format_version > MODEL_FORMAT_VERSION {
            return wrong(unknown_version(u64::from(self.format_version)));
        }
        let classes = self.classes.len();
        if classes == 0 {
            return wrong("found no classes, expected at least one".into());
        }
        if let Some(class) = first_repeated(self.classes.iter().map(String::as_str)) {
            return wrong(format!("class {class:?} appears twice, expected each class once"));
        }
        if let Some(id) = first_repeated(self.workers.iter().map(|worker| worker.id.as_str())) {
            return wrong(format!("worker {id:?} appears twice, expected each worker once"));
        }
        if self.fingerprint.is_empty() || !self.fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return wrong(format!(
                "found the fingerprint {:?}, expected a hexadecimal number",
                self.fingerprint
            ));
        }
        if self.prior.len() != classes {
            return wrong(format!(
                "the prior has {} entries, expected {classes}, one for each class",
                self.prior.len()
            ));
        }
        check_distribution(self.prior.iter().copied(), || "the prior".into())?;
        for worker in &self.workers {
            let ModelWorker { id, confusion, .. } = worker;
            if id.is_empty() {
                return wrong("found a worker with an empty id".into());
            }
            if confusion.len() != classes || confusion.iter().any(|row| row.len() != classes) {
                return wrong(format!(
                    "the confusion matrix of worker {id:?} is not {classes} x {classes}, expected a row for each \
                     answer and a column for each class"
                ));
            }
            let counts = worker.counts.iter().flatten();
            let fits = worker.counts.as_ref().is_none_or(|rows| rows.len() == classes)
                && counts.clone().all(|row| row.len() == classes);
            if !fits
                || counts
                    .flatten()
                    .any(|count| !(0.0..=MAX_LABELS as f64).contains(count))
                || worker.labels > MAX_LABELS
            {
                return wrong(format!(
                    "the counts of worker {id:?} are not {classes} x {classes} numbers from 0 to {MAX_LABELS}"
                ));
            }
            for (truth, class) in self.classes.iter().enumerate() {
                check_distribution(confusion.iter().map(|row| row[truth]), || {
                    format!("column {class:?} of the confusion matrix of worker {id:?}")
                })?;
            }
        }
        Ok(())
    }
}

fn check_distribution(values: impl Iterator<Item = f64>, what: impl Fn() -> String) -> Result<()> {
    let mut sum = 0.0;
    for value in values {
        if !(-SUM_TOLERANCE..=1.0 + SUM_TOLERANCE).contains(&value) {
            return Err(Error::syntax(format!(
                "{} holds {value}, expected numbers from 0 to 1",
                what()
            )));
        }
        sum += value;
    }
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(Error::syntax(format!("{} sums to {sum}, expected 1", what())));
    }
    Ok(())
}

fn first_repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = Names::default();
    names.into_iter().find(|name| {
        let before = seen.len();
        seen.intern(name);
        seen.len() == before
    })
}

fn unknown_version(found: u64) -> String {
    format!(
        "found format version {found}, expected 1 to {MODEL_FORMAT_VERSION}; a newer Quorate wrote this file: \
         update Quorate, or fit the model anew"
    )
}

/// Reads and checks a model file.
pub fn read_model(source: &Source) -> Result<ModelFile> {
    parse_model(source).map_err(|error| error.in_file(source.name()))
}

fn parse_model(source: &Source) -> Result<ModelFile> {
    #[derive(Deserialize)]
    struct Version {
        format_version: Option<u64>,
    }
    let mut bytes = Vec::new();
    source
        .open_text(Compression::None, &mut |_, _| {})?
        .read_to_end(&mut bytes)?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::empty("a model in JSON"));
    }
    // The version first: a newer file may differ in everything else.
    let Version { format_version } = serde_json::from_slice(&bytes).map_err(json_error)?;
    match format_version {
        Some(version) if version > u64::from(MODEL_FORMAT_VERSION) => {
            return Err(Error::syntax(unknown_version(version)));
        }
        Some(_) => {}
        None => {
            let words = "found no \"format_version\", expected a model file of this library";
            return Err(Error::syntax(words));
        }
    }
    let model: ModelFile = serde_json::from_slice(&bytes).map_err(json_error)?;
    model.validate()?;
    Ok(model)
}

fn json_error(error: serde_json::Error) -> Error {
    let problem = problem_of(&error);
    Error::syntax(format!(
        "not a model file: {problem} at character {}",
        error.column()
    ))
    .at(Position::Line(error.line() as u64))
}

/// Checks and writes a model file, whole or not at all: one line for each worker.
pub fn write_model(target: &Target, model: &ModelFile) -> Result<()> {
    model.validate().map_err(|error| error.in_file(target.name()))?;
    write_whole(target, |output| {
        writeln!(output, "{{")?;
        writeln!(output, "\"format_version\": {},", model.format_version)?;
        writeln!(output, "\"method\": {},", json(&model.method)?)?;
        writeln!(output, "\"parameters\": {},", json(&model.parameters)?)?;
        writeln!(output, "\"seed\": {},", model.seed)?;
        writeln!(output, "\"fingerprint\": {},", json(&model.fingerprint)?)?;
        if let Some(name) = &model.labels_file {
            writeln!(output, "\"labels_file\": {},", json(name)?)?;
        }
        writeln!(output, "\"classes\": {},", json(&model.classes)?)?;
        writeln!(output, "\"prior\": {},", json(&model.prior)?)?;
        writeln!(output, "\"workers\": [")?;
        for (m, worker) in model.workers.iter().enumerate() {
            let comma = if m + 1 == model.workers.len() { "" } else { "," };
            writeln!(output, "{}{comma}", json(worker)?)?;
        }
        writeln!(output, "]\n}}")?;
        Ok(())
    })
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::syntax(error.to_string()))
}
