//! The table of methods, for the classes that are generated from it.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use quorate::methods::{Answers, Kind, Method};

use crate::errors::raise;

/// The name of a method by its name or an alias.
#[pyfunction]
pub fn find_method(py: Python<'_>, name: &str) -> PyResult<&'static str> {
    let method = quorate_cli::catalog::find(name).map_err(|error| raise(py, error.into()))?;
    Ok(method.name)
}

/// Every method with its parameters, as dictionaries; what it takes is `labels` or `comparisons`.
#[pyfunction]
pub fn method_table(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let table = PyList::empty(py);
    for method in quorate_cli::catalog::all_methods() {
        table.append(entry(py, method)?)?;
    }
    Ok(table)
}

fn entry<'py>(py: Python<'py>, method: &Method) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", method.name)?;
    entry.set_item("aliases", method.aliases.to_vec())?;
    entry.set_item("summary", method.summary)?;
    entry.set_item("description", method.description)?;
    entry.set_item("citation", method.citation)?;
    let takes = match method.answers() {
        Answers::Classes => "labels",
        Answers::Pairs => "comparisons",
    };
    entry.set_item("takes", takes)?;
    entry.set_item("returns_model", method.returns_model)?;
    entry.set_item("learns_from_gold", method.learns_from_gold)?;
    entry.set_item("uses_priors", method.uses_priors)?;
    entry.set_item("streams", method.streams)?;
    entry.set_item("needs_features", method.needs_features)?;
    entry.set_item("needs_probabilities", method.needs_probabilities)?;
    let parameters = PyList::empty(py);
    for parameter in method.parameters {
        let (kind, words): (_, &[&str]) = match parameter.kind {
            Kind::Integer(..) => ("int", &[]),
            Kind::Number(..) => ("float", &[]),
            Kind::Choice(words) => ("choice", words),
            Kind::Text => ("text", &[]),
        };
        let own = PyDict::new(py);
        own.set_item("name", parameter.name)?;
        own.set_item("about", parameter.about)?;
        own.set_item("kind", kind)?;
        own.set_item("choices", words.to_vec())?;
        own.set_item("range", parameter.range())?;
        own.set_item("default", parameter.default)?;
        parameters.append(own)?;
    }
    entry.set_item("parameters", parameters)?;
    Ok(entry)
}
