//! What Python hands over beside data: a dict with an entry for each field of a struct.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use quorate_cli::choices::{self, Choices};
use quorate_cli::messages::Messages;

use crate::errors::{Failure, raise};
use crate::job::{self, Answer, Asker, Job};

/// Makes a struct that is read from a dict.
macro_rules! arguments {
    ($(#[$doc:meta])* pub struct $name:ident { $($(#[$field_doc:meta])* pub $field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        pub struct $name { $($(#[$field_doc])* pub $field: $kind,)* }

        impl<'a, 'py> pyo3::FromPyObject<'a, 'py> for $name {
            type Error = pyo3::PyErr;

            fn extract(given: pyo3::Borrowed<'a, 'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                Ok(Self { $($field: $crate::arguments::argument(&given, stringify!($field))?,)* })
            }
        }
    };
}
pub(crate) use arguments;

/// One entry. A number out of range is a wrong parameter, whatever Python's words for it.
pub fn argument<T>(given: &Bound<'_, PyAny>, name: &str) -> PyResult<T>
where
    for<'a, 'py> T: FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    number(name, &given.get_item(name)?)
}

/// A value that is given by itself.
pub fn number<T>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<T>
where
    for<'a, 'py> T: FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let py = value.py();
    value
        .extract()
        .map_err(|error: <T as FromPyObject<'_, '_>>::Error| {
            let error = error.into();
            if !error.is_instance_of::<PyOverflowError>(py) {
                return PyTypeError::new_err(format!("argument '{name}': {}", error.value(py)));
            }
            let negative = value.lt(0).unwrap_or(false);
            let expected = if negative { "0 or more" } else { "a smaller number" };
            let words = format!("{name}: found {value}, expected {expected}");
            raise(py, Failure::Parameter(words))
        })
}

/// One of the values of an argument that takes a few.
pub fn choice<T: Copy>(choices: Choices<T>, argument: &str, name: &str) -> Result<T, Failure> {
    choices::find(choices, argument, name).map_err(Failure::Parameter)
}

arguments! {
    /// How work runs.
    pub struct Running {
        /// Seed of everything random.
        pub seed: u64,
        /// Threads; 0 takes all.
        pub threads: usize,
        /// Most memory, in GiB.
        pub memory: f64,
        /// Takes a stage, how far it is, and where it ends.
        pub progress: Option<Py<PyAny>>,
    }
}

impl Running {
    /// Runs the work and waits for it.
    pub fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Job) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        self.run_asking(py, &|_| Ok(()), move |job, _| work(job))
    }

    /// Like `run`, for work that asks Python on its way.
    pub fn run_asking<T: Send + 'static, A: Send + 'static>(
        &self,
        py: Python<'_>,
        answer: Answer<'_, A>,
        work: impl FnOnce(&Job, Asker<A>) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let memory = self.memory;
        if !(memory > 0.0 && memory.is_finite()) {
            let words = format!("memory: found {memory}, expected a number of GiB above 0");
            return Err(raise(py, Failure::Parameter(words)));
        }
        let progress = self.progress.as_ref().map(|progress| progress.bind(py));
        job::run_asking(py, self.threads, progress, answer, work)
    }

    /// Most memory, in bytes.
    pub fn bytes(&self) -> u64 {
        (self.memory * (1u64 << 30) as f64) as u64
    }
}

/// What is said on the way, for Python to show.
#[derive(Debug, Clone, Default)]
pub struct MessageLog {
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// What to beware of.
    pub warnings: Vec<String>,
}

impl Messages for MessageLog {
    fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    fn warning(&mut self, text: String) {
        self.warnings.push(text);
    }

    fn option(&self, name: &str) -> String {
        name.replace('-', "_")
    }

    fn value(&self, name: &str, value: &str) -> String {
        format!("{}={value:?}", self.option(name))
    }

    fn switch(&self, name: &str) -> String {
        format!("{}=True", self.option(name))
    }
}
