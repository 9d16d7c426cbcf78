//! Models: the prior and the confusion matrices of the workers, as the program keeps them in model.json.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use quorate_io::{ModelFile, Source, Target, read_model, write_model};

use crate::errors::raise;

/// A model with where it came from.
#[pyclass(frozen, module = "quorate._quorate")]
pub struct Model {
    /// What a file of it holds.
    pub file: ModelFile,
}

#[pymethods]
impl Model {
    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let file = read_model(&Source::from(path)).map_err(|error| raise(py, error.into()))?;
        Ok(Self { file })
    }

    /// A model from the text of its file.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let file: ModelFile =
            serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        file.validate().map_err(|error| raise(py, error.into()))?;
        Ok(Self { file })
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        // The labels that were kept stay beside the file that was read.
        let mut file = self.file.clone();
        file.labels_file = None;
        write_model(&Target::from(path), &file).map_err(|error| raise(py, error.into()))
    }

    /// The text of the model file.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.file).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[getter]
    fn method(&self) -> String {
        self.file.method.clone()
    }

    #[getter]
    fn parameters(&self) -> Vec<(String, String)> {
        self.file.parameters.clone().into_iter().collect()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.file.seed
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.file.fingerprint.clone()
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        self.file.classes.clone()
    }

    #[getter]
    fn prior(&self) -> Vec<f64> {
        self.file.prior.clone()
    }

    #[getter]
    fn workers(&self) -> Vec<String> {
        self.file.workers.iter().map(|worker| worker.id.clone()).collect()
    }

    /// The confusion matrix of a worker: a row for each answer, a column for each truth.
    fn confusion(&self, worker: &str) -> Option<Vec<Vec<f64>>> {
        let mut workers = self.file.workers.iter();
        workers
            .find(|known| known.id == worker)
            .map(|worker| worker.confusion.clone())
    }
}
