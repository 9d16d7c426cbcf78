//! Tables in memory, as Arrow batches: what other libraries hand over, and what they take.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::columnar::{Projection, for_each_batch, schema_of};
use super::{RowSink, RowSource};
use crate::error::Result;
use crate::source::Progress;

/// A table in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryTable {
    name: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl MemoryTable {
    /// A table of these batches, all of this schema; `name` is what messages call it.
    pub fn new(name: impl Into<String>, schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self {
            name: name.into(),
            schema,
            batches,
        }
    }

    /// The name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// Names of the columns.
    pub fn column_names(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// Hands all rows to the sink.
    pub(crate) fn read(&self, sink: &mut impl RowSink, progress: Progress<'_>) -> Result<()> {
        let projection = Projection::choose(&self.schema, sink)?;
        let (mut rows, total) = (0, self.batches.len() as u64);
        for (done, batch) in self.batches.iter().enumerate() {
            let batch = batch.project(&projection.columns);
            let batch = batch.map_err(|error| crate::Error::syntax(error.to_string()))?;
            projection.deliver(&batch, &mut rows, sink)?;
            progress(done as u64 + 1, Some(total));
        }
        Ok(())
    }
}

/// Where a table that is written to memory ends up.
#[derive(Debug, Clone, Default)]
pub struct MemorySink(Arc<Mutex<Option<MemoryTable>>>);

impl MemorySink {
    /// The table, if one was written whole.
    pub fn take(&self) -> Option<MemoryTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn write(&self, table: &dyn RowSource) -> Result<()> {
        let schema = schema_of(table);
        let mut batches = Vec::new();
        for_each_batch(table, &schema, |batch| {
            batches.push(batch.clone());
            Ok(())
        })?;
        let whole = MemoryTable::new("memory", schema, batches);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(whole);
        Ok(())
    }
}
