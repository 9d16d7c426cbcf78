//! Tables that go back to Python: Arrow batches behind the capsule interface.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use quorate_io::{MemorySink, MemoryTable, Target};

use crate::arguments::number;
use crate::capsule;
use crate::errors::Failure;
use crate::kinds::ColumnKinds;

/// A table of results.
#[pyclass(frozen, module = "quorate._quorate")]
pub struct ArrowTable {
    table: MemoryTable,
}

impl ArrowTable {
    /// A table that is there.
    pub fn of_batches(table: MemoryTable) -> Self {
        Self { table }
    }

    /// The table that `write` writes, ids and labels as they went in.
    pub fn written<E: Into<Failure>>(
        kinds: impl ColumnKinds,
        write: impl FnOnce(&Target) -> Result<(), E>,
    ) -> Result<Self, Failure> {
        let sink = MemorySink::default();
        write(&Target::Memory(sink.clone())).map_err(Into::into)?;
        let table = sink.take().expect("what was written without an error is there");
        Ok(Self {
            table: kinds.restore(table),
        })
    }
}

#[pymethods]
impl ArrowTable {
    /// A table that was pickled.
    #[staticmethod]
    fn from_ipc(bytes: &[u8]) -> PyResult<Self> {
        let read = || {
            let reader = StreamReader::try_new(bytes, None)?;
            let schema = reader.schema();
            Ok::<_, ArrowError>((schema, reader.collect::<Result<Vec<_>, _>>()?))
        };
        let (schema, batches) = read().map_err(told)?;
        Ok(Self {
            table: MemoryTable::new("table", schema, batches),
        })
    }

    /// The table as bytes.
    fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, self.table.schema()).map_err(told)?;
        let written = self
            .table
            .batches()
            .iter()
            .try_for_each(|batch| writer.write(batch));
        written.and_then(|()| writer.finish()).map_err(told)?;
        drop(writer);
        Ok(PyBytes::new(py, &bytes))
    }

    fn column_names(&self) -> Vec<String> {
        self.table.column_names()
    }

    fn __len__(&self) -> usize {
        self.table.batches().iter().map(RecordBatch::num_rows).sum()
    }

    /// The first rows.
    fn head(&self, rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut left: usize = number("rows", rows)?;
        let mut batches = Vec::new();
        for batch in self.table.batches() {
            let taken = left.min(batch.num_rows());
            batches.push(batch.slice(0, taken));
            left -= taken;
        }
        Ok(Self {
            table: MemoryTable::new(self.table.name(), self.table.schema().clone(), batches),
        })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A wish for another schema may be ignored: the interface says so.
        drop(requested_schema);
        capsule::export(py, self.table.schema().clone(), self.table.batches().to_vec())
    }

    /// The values of a column.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let values = PyList::empty(py);
        let (column, _) = self
            .table
            .schema()
            .column_with_name(name)
            .ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        for batch in self.table.batches() {
            append(&values, batch.column(column))?;
        }
        Ok(values)
    }
}

fn told(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn append(values: &Bound<'_, PyList>, array: &Arc<dyn Array>) -> PyResult<()> {
    match array.data_type() {
        DataType::Utf8 => append_all(values, array.as_string::<i32>().iter()),
        DataType::Float64 => append_all(values, array.as_primitive::<Float64Type>().iter()),
        DataType::Int64 => append_all(values, array.as_primitive::<Int64Type>().iter()),
        DataType::UInt64 => append_all(values, array.as_primitive::<UInt64Type>().iter()),
        DataType::Boolean => append_all(values, array.as_boolean().iter()),
        other => Err(PyValueError::new_err(format!(
            "a column of type {other} cannot be listed"
        ))),
    }
}

fn append_all<'py>(
    values: &Bound<'py, PyList>,
    mut all: impl Iterator<Item = impl IntoPyObject<'py>>,
) -> PyResult<()> {
    all.try_for_each(|value| values.append(value))
}
