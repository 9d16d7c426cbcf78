//! What Python hands over: a path, an Arrow stream, or columns of Python values.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyFloat, PyInt, PyList, PyString};
use quorate_io::{Columns, MemoryTable, Source};

use crate::capsule;
use crate::errors::{Failure, raise};
use crate::kinds::{Kind, Kinds};

/// A table that can be read: a file, or a frame in memory.
#[pyclass(frozen, module = "quorate._quorate")]
pub struct Data {
    /// Where its rows are.
    pub source: Source,
}

impl Data {
    /// What the values of these columns are, where the table says so.
    pub fn kinds(&self, columns: &Columns) -> Kinds {
        Kinds {
            task: self.kind(&columns.task),
            worker: self.kind(&columns.worker),
            label: self.kind(&columns.label),
        }
    }

    /// What the values of a column are, where the table says so.
    pub fn kind(&self, column: &str) -> Kind {
        match &self.source {
            Source::Memory(table) => {
                let field = table.schema().column_with_name(column);
                field.map_or(Kind::Text, |(_, field)| Kind::of(field.data_type()))
            }
            _ => Kind::Text,
        }
    }

    fn of_batches(name: String, schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self {
            source: Source::Memory(MemoryTable::new(name, schema, batches)),
        }
    }
}

#[pymethods]
impl Data {
    /// A file.
    #[staticmethod]
    fn path(path: PathBuf) -> Self {
        Self {
            source: Source::Path(path),
        }
    }

    /// A capsule with an Arrow stream; `name` is what messages call the table.
    #[staticmethod]
    fn stream(capsule: &Bound<'_, PyCapsule>, name: String) -> PyResult<Self> {
        let (schema, batches) = capsule::import(capsule)?;
        // A stream of something else than a table: one column without a name.
        Ok(Self::of_batches(name, schema, batches))
    }

    /// Columns of Python values.
    #[staticmethod]
    fn columns(py: Python<'_>, columns: Vec<(String, Bound<'_, PyList>)>, name: String) -> PyResult<Self> {
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays = Vec::with_capacity(columns.len());
        for (column, values) in &columns {
            let array = array_of(column, values)?;
            fields.push(Field::new(column, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays)
            .map_err(|error| raise(py, Failure::Input(format!("{name}: {error}"))))?;
        Ok(Self::of_batches(name, schema, vec![batch]))
    }

    /// Names of the columns of a table in memory.
    fn column_names(&self) -> Vec<String> {
        match &self.source {
            Source::Memory(table) => table.column_names(),
            _ => Vec::new(),
        }
    }

    /// Types of the columns of a table in memory, in words.
    fn column_types(&self) -> Vec<String> {
        match &self.source {
            Source::Memory(table) => {
                let fields = table.schema().fields().iter();
                fields.map(|field| field.data_type().to_string()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Rows of a table in memory.
    fn row_count(&self) -> Option<usize> {
        match &self.source {
            Source::Memory(table) => Some(table.batches().iter().map(RecordBatch::num_rows).sum()),
            _ => None,
        }
    }
}

/// What a Python value is, for a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Text,
    Integer,
    Number,
    Truth,
}

impl Class {
    fn of(value: &Bound<'_, PyAny>) -> Option<Self> {
        // A bool is an int, too.
        if value.is_instance_of::<PyBool>() {
            Some(Self::Truth)
        } else if value.is_instance_of::<PyString>() {
            Some(Self::Text)
        } else if value.is_instance_of::<PyInt>() {
            Some(Self::Integer)
        } else if value.is_instance_of::<PyFloat>() {
            Some(Self::Number)
        } else {
            None
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "str",
            Self::Integer => "int",
            Self::Number => "float",
            Self::Truth => "bool",
        }
    }
}

/// Whether a value stands for none: None and NaN.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    let nan = |value: &Bound<'_, PyAny>| value.extract::<f64>().is_ok_and(f64::is_nan);
    value.is_none() || (value.is_instance_of::<PyFloat>() && nan(value))
}

/// The values of a column, all of one class; integers and floats go together.
fn array_of(column: &str, values: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let mut class: Option<Class> = None;
    for (row, value) in values.iter().enumerate() {
        if is_missing(&value) {
            continue;
        }
        let own = Class::of(&value).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "column {column:?}, row {}: found {} ({}), expected str, int, float, bool or None",
                row + 1,
                value
                    .repr()
                    .map_or_else(|_| "a value".into(), |text| text.to_string()),
                value
                    .get_type()
                    .name()
                    .map_or_else(|_| "?".into(), |name| name.to_string()),
            ))
        })?;
        class = match (class, own) {
            (None, own) => Some(own),
            (Some(Class::Integer), Class::Number) | (Some(Class::Number), Class::Integer) => {
                Some(Class::Number)
            }
            (Some(known), own) if known == own => Some(known),
            (Some(known), own) => {
                return Err(PyTypeError::new_err(format!(
                    "column {column:?}, row {}: found {} after {} above, expected values of one type; \
                     convert the column, for example with str",
                    row + 1,
                    own.name(),
                    known.name(),
                )));
            }
        };
    }
    fill(class.unwrap_or(Class::Text), values)
}

fn fill(class: Class, values: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let values = values.iter().map(|value| (!is_missing(&value)).then_some(value));
    Ok(match class {
        Class::Text => {
            let mut builder = StringBuilder::new();
            for value in values {
                match value {
                    Some(value) => builder.append_value(value.cast::<PyString>()?.to_cow()?),
                    None => builder.append_null(),
                }
            }
            Arc::new(builder.finish())
        }
        Class::Integer => Arc::new(Int64Array::from(extract::<i64>(values)?)),
        Class::Number => Arc::new(Float64Array::from(extract::<f64>(values)?)),
        Class::Truth => Arc::new(BooleanArray::from(extract::<bool>(values)?)),
    })
}

fn extract<'py, T>(values: impl Iterator<Item = Option<Bound<'py, PyAny>>>) -> PyResult<Vec<Option<T>>>
where
    for<'a> T: FromPyObject<'a, 'py, Error = PyErr>,
{
    values
        .map(|value| value.map(|value| value.extract()).transpose())
        .collect()
}
