//! Errors of the library as exceptions of `quorate.errors`, with Python's names for what can be done.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quorate::{Error, Remedy};
use quorate_io::ErrorKind;

/// Why work failed.
#[derive(Debug)]
pub enum Failure {
    /// The library says so.
    Library(Error),
    /// A file or frame could not be read or written.
    Table(quorate_io::Error),
    /// An argument is wrong.
    Parameter(String),
    /// The data are wrong.
    Input(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<quorate_io::Error> for Failure {
    fn from(error: quorate_io::Error) -> Self {
        Self::Table(error)
    }
}

/// The words for a remedy.
pub fn words(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::RaiseMemoryLimit => {
            "raise the limit with memory, in GiB (aggregate: fitting={\"memory\": ..})"
        }
        Remedy::NameClasses => {
            "name the classes with the argument classes; missing (quorate.read) says which labels are no answer"
        }
        Remedy::GiveClassProbabilities => "give them with knowledge={\"class_probabilities\": ..}",
        Remedy::GiveFeatures => "give them with knowledge={\"features\": ..}",
        Remedy::NameFeatureTasks => "say which task each row is about with knowledge={\"feature_tasks\": ..}",
        Remedy::ListMethods => "quorate.list_methods() lists them all",
        Remedy::NameColumns => "name columns with columns={\"task\": .., \"worker\": .., \"label\": ..}",
        Remedy::NameFormat => {
            "say what the file is with the argument format of quorate.read; quorate.FORMATS lists the names"
        }
        Remedy::NameQuestion => "choose one with the argument question of quorate.read",
        Remedy::RankComparisons => "rank the items with quorate.rank(..)",
        Remedy::NameComparisonColumns => {
            "name columns with columns={\"left\": .., \"right\": .., \"winner\": ..}"
        }
        Remedy::KeepLabels => "fit the model again and save it with keep_labels=True",
        Remedy::GiveTruthsOnce => "give one of them: leave gold or use_gold out",
        Remedy::ListClass => "add it to classes, or leave classes out",
        Remedy::FitAnew => "leave the method out, or fit all labels again without update",
        Remedy::GiveGold => "check some 50 items by hand, drawn at random, and give them as gold",
    }
}

/// The exception for a failure.
pub fn raise(py: Python<'_>, failure: Failure) -> PyErr {
    let place = match &failure {
        Failure::Table(error) => (
            error.file().map(str::to_owned),
            error.line(),
            error.column().map(str::to_owned),
        ),
        _ => (None, None, None),
    };
    let (class, message, remedy) = match failure {
        Failure::Library(error) => (class_of(&error), message_of(&error), error.remedy()),
        Failure::Table(error) => {
            let class = match error.kind() {
                ErrorKind::Data(inner) | ErrorKind::RepeatedInStream(inner) => class_of(inner),
                ErrorKind::Io(_) => "FileError",
                ErrorKind::NotUpdatable(_) => "ParameterError",
                _ => "InputError",
            };
            (class, error.to_string(), error.remedy())
        }
        Failure::Parameter(message) => ("ParameterError", message, None),
        Failure::Input(message) => ("InputError", message, None),
    };
    let message = match remedy {
        Some(remedy) => format!("{message}; {}", words(remedy)),
        None => message,
    };
    build(py, class, &message, place)
        .unwrap_or_else(|error| PyRuntimeError::new_err(format!("{message} ({error})")))
}

fn build(
    py: Python<'_>,
    class: &str,
    message: &str,
    (file, line, column): (Option<String>, Option<u64>, Option<String>),
) -> PyResult<PyErr> {
    let class = py.import("quorate.errors")?.getattr(class)?;
    let exception = class.call1((message,))?;
    let attributes = PyDict::new(py);
    attributes.set_item("file", file)?;
    attributes.set_item("line", line)?;
    attributes.set_item("column", column)?;
    exception
        .getattr("__dict__")?
        .call_method1("update", (attributes,))?;
    Ok(PyErr::from_value(exception))
}

/// The words of an error, parameters spelled as in Python.
fn message_of(error: &Error) -> String {
    match error {
        Error::Parameter { name, problem } => {
            let known = problem.starts_with("unknown; this method has");
            let problem = if known {
                problem.replace('-', "_")
            } else {
                problem.clone()
            };
            format!("parameter {:?}: {problem}", name.replace('-', "_"))
        }
        _ => error.to_string(),
    }
}

/// The class of exception that an error of the library is.
fn class_of(error: &Error) -> &'static str {
    match error {
        Error::TooLarge { .. } => "MemoryLimitError",
        Error::NotApplicable { .. } | Error::NeedsAllLabels { .. } | Error::MissingInput { .. } => {
            "NotApplicableError"
        }
        Error::UnknownMethod { .. }
        | Error::Parameter { .. }
        | Error::UnlistedClass { .. }
        | Error::TruthsTwice => "ParameterError",
        _ => "InputError",
    }
}
