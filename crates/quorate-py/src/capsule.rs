//! Arrow tables over the C stream interface: how other libraries hand tables over, without a copy.
//!
//! The one file of this crate with unsafe code: a pointer from Python is taken at its word. The invariant
//! that the interface promises, and all that is relied on: a capsule named `arrow_array_stream` points to a
//! valid `ArrowArrayStream`, whose owner leaves it alone once it was moved from (its `release` is then null).
#![allow(unsafe_code)]

use std::ffi::CStr;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

/// What a capsule with a stream is called.
const STREAM: &CStr = c"arrow_array_stream";

/// Takes the table out of a capsule. Reading goes on without the interpreter's lock: whoever fills the stream
/// may want it.
pub fn import(capsule: &Bound<'_, PyCapsule>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let pointer = capsule
        .pointer_checked(Some(STREAM))?
        .cast::<FFI_ArrowArrayStream>();
    // SAFETY: the name was checked, so this is a valid stream, and moving from it leaves an empty one behind,
    // which its owner knows not to release again.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let read = capsule.py().detach(move || {
        let reader = RecordBatchStreamReader::try_new(stream)?;
        let schema = reader.schema();
        Ok::<_, ArrowError>((schema, reader.collect::<Result<Vec<_>, _>>()?))
    });
    read.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Puts a table into a capsule.
pub fn export<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, STREAM)
}
