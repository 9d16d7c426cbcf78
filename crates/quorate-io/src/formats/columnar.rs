//! What Parquet and Arrow share: columns of a batch as text, and rows gathered into batches.

use std::cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::cast::{AsArray, as_boolean_array};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch, StringArray, StringViewArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::row_sink::{Row, names_of};
use super::{Cell, ColumnKind, RowSink, RowSource};
use crate::error::{Error, ErrorKind, Position, Result};

/// Runs a step of a reader of the arrow crates, some of which panic on damaged files: a panic there says
/// something about the file, not about us, and becomes an error.
pub(crate) fn guarded<T, E: std::fmt::Display>(
    format: &str,
    step: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    match without_panic(step) {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(damaged(format, &error)),
        None => Err(damaged(format, &"damaged inside")),
    }
}

/// A file that does not follow its format.
pub(crate) fn damaged(format: &str, problem: &dyn std::fmt::Display) -> Error {
    // Some of these libraries write several lines.
    let problem = problem.to_string();
    let problem = problem.split_whitespace().collect::<Vec<_>>().join(" ");
    Error::syntax(format!(
        "not a whole {format} file ({problem}); get the file anew, or give its format if it is another"
    ))
}

thread_local! {
    /// Whether a panic of this thread is an error about a file.
    static EXPECTED: cell::Cell<bool> = const { cell::Cell::new(false) };
}

/// Runs a step; none if it panics, of which nothing is said on standard error.
fn without_panic<T>(step: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |panic| {
            if !EXPECTED.with(cell::Cell::get) {
                loud(panic);
            }
        }));
    });
    let before = EXPECTED.with(|expected| expected.replace(true));
    let result = catch_unwind(AssertUnwindSafe(step));
    EXPECTED.with(|expected| expected.set(before));
    result.ok()
}

/// Rows in a batch that is written.
const BATCH: usize = 1 << 16;

/// Rows that are text at a time: a batch of a small packed file can be of any size.
const SLICE: usize = 1 << 18;

/// The columns that a sink chose: which to load, and which loaded one fills each slot.
pub(crate) struct Projection {
    /// Columns of the file to load, ascending.
    pub columns: Vec<usize>,
    slots: Vec<usize>,
    names: Vec<String>,
}

impl Projection {
    /// Lets the sink choose among the columns of a schema.
    pub(crate) fn choose(schema: &Schema, sink: &mut impl RowSink) -> Result<Self> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Self::new(&names, &sink.select(&names)?))
    }

    /// These of the columns with these names.
    pub(crate) fn new(names: &[String], chosen: &[usize]) -> Self {
        let mut columns = chosen.to_vec();
        columns.sort_unstable();
        columns.dedup();
        let slots = chosen
            .iter()
            .map(|column| columns.partition_point(|loaded| loaded < column))
            .collect();
        Self {
            columns,
            slots,
            names: names_of(names, chosen),
        }
    }

    /// The columns of a batch, in the order in which they were chosen.
    pub(crate) fn columns_of(&self, batch: &RecordBatch) -> Result<Vec<TextColumn>> {
        let columns = self.slots.iter().zip(&self.names).map(|(&slot, name)| {
            let column = without_panic(|| TextColumn::new(batch.column(slot)));
            let column = column.unwrap_or_else(|| Err(damaged("columnar", &"damaged inside")));
            column.map_err(|error| error.in_column(name))
        });
        columns.collect()
    }

    /// Hands the rows of a batch to the sink; `rows` counts all rows so far.
    pub(crate) fn deliver(&self, batch: &RecordBatch, rows: &mut u64, sink: &mut impl RowSink) -> Result<()> {
        for start in (0..batch.num_rows()).step_by(SLICE) {
            let slice = batch.slice(start, SLICE.min(batch.num_rows() - start));
            let columns = self.columns_of(&slice)?;
            for index in 0..slice.num_rows() {
                *rows += 1;
                let position = Position::Row(*rows);
                let row = Row {
                    names: &self.names,
                    position,
                    value: &|slot| Ok(columns[slot].text(index)),
                };
                sink.row(&row).map_err(|error| error.at(position))?;
            }
        }
        Ok(())
    }
}

/// A column whose values can be had as text; null is the empty string.
pub(crate) struct TextColumn {
    array: ArrayRef,
    /// For a dictionary: the index of each row's value.
    keys: Option<Vec<usize>>,
    values: Values,
}

enum Values {
    Utf8(StringArray),
    LargeUtf8(LargeStringArray),
    Utf8View(StringViewArray),
}

impl TextColumn {
    fn new(array: &ArrayRef) -> Result<Self> {
        let dictionary = array.as_any_dictionary_opt();
        let (keys, values) = match dictionary {
            Some(dictionary) if dictionary.values().is_empty() => {
                (None, Values::Utf8(StringArray::new_null(array.len())))
            }
            Some(dictionary) => (
                Some(dictionary.normalized_keys()),
                values_of(dictionary.values())?,
            ),
            None => (None, values_of(array)?),
        };
        Ok(Self {
            array: array.clone(),
            keys,
            values,
        })
    }

    pub(crate) fn text(&self, row: usize) -> &str {
        if self.array.is_null(row) {
            return "";
        }
        let index = self.keys.as_ref().map_or(row, |keys| keys[row]);
        match &self.values {
            Values::Utf8(values) if values.is_valid(index) => values.value(index),
            Values::LargeUtf8(values) if values.is_valid(index) => values.value(index),
            Values::Utf8View(values) if values.is_valid(index) => values.value(index),
            _ => "",
        }
    }
}

fn values_of(array: &ArrayRef) -> Result<Values> {
    let words = match array.data_type() {
        DataType::Utf8 => return Ok(Values::Utf8(array.as_string::<i32>().clone())),
        DataType::LargeUtf8 => return Ok(Values::LargeUtf8(array.as_string::<i64>().clone())),
        DataType::Utf8View => return Ok(Values::Utf8View(array.as_string_view().clone())),
        DataType::Null => StringArray::new_null(array.len()),
        DataType::Boolean => as_boolean_array(array)
            .iter()
            .map(|value| value.map(|value| if value { "true" } else { "false" }))
            .collect(),
        DataType::Int8 => numbers::<Int8Type>(array),
        DataType::Int16 => numbers::<Int16Type>(array),
        DataType::Int32 => numbers::<Int32Type>(array),
        DataType::Int64 => numbers::<Int64Type>(array),
        DataType::UInt8 => numbers::<UInt8Type>(array),
        DataType::UInt16 => numbers::<UInt16Type>(array),
        DataType::UInt32 => numbers::<UInt32Type>(array),
        DataType::UInt64 => numbers::<UInt64Type>(array),
        DataType::Float32 => numbers::<Float32Type>(array),
        DataType::Float64 => numbers::<Float64Type>(array),
        other => {
            let expected = "text, integers, floats or booleans (plain or as a dictionary); cast the column";
            return Err(ErrorKind::ColumnType(other.to_string(), expected).into());
        }
    };
    Ok(Values::Utf8(words))
}

/// Numbers as text: whole ones without a point, NaN as null.
fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef) -> StringArray
where
    T::Native: std::fmt::Display,
{
    let mut builder = StringBuilder::with_capacity(array.len(), array.len() * 4);
    for value in array.as_primitive::<T>() {
        // Display writes the shortest text that reads back as the same number, and 3 for 3.0.
        match value.map(|value| value.to_string()).as_deref() {
            None | Some("NaN") => builder.append_null(),
            Some("-0") => builder.append_value("0"),
            Some(text) => builder.append_value(text),
        }
    }
    builder.finish()
}

/// The schema of a table.
pub(crate) fn schema_of(table: &dyn RowSource) -> SchemaRef {
    let fields: Vec<Field> = table
        .columns()
        .into_iter()
        .map(|(name, kind)| match kind {
            ColumnKind::Text => Field::new(name, DataType::Utf8, false),
            ColumnKind::OptionalText => Field::new(name, DataType::Utf8, true),
            ColumnKind::Number => Field::new(name, DataType::Float64, true),
            ColumnKind::Count => Field::new(name, DataType::Int64, true),
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// Gathers the rows of a table into batches and hands each to `write`.
pub(crate) fn for_each_batch(
    table: &dyn RowSource,
    schema: &SchemaRef,
    mut write: impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    let mut builders: Vec<Builder> = table
        .columns()
        .iter()
        .map(|&(_, kind)| Builder::new(kind))
        .collect();
    let mut rows = 0;
    let mut flush = |builders: &mut [Builder]| {
        let columns = builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(schema.clone(), columns);
        write(&batch.map_err(|error| Error::syntax(error.to_string()))?)
    };
    table.for_each_row(&mut |cells| {
        for (builder, cell) in builders.iter_mut().zip(cells) {
            builder.push(*cell)?;
        }
        rows += 1;
        if rows % BATCH == 0 {
            flush(&mut builders)?;
        }
        Ok(())
    })?;
    if rows % BATCH != 0 {
        flush(&mut builders)?;
    }
    Ok(())
}

enum Builder {
    Text(StringBuilder),
    Number(Float64Builder),
    Count(Int64Builder),
}

impl Builder {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text | ColumnKind::OptionalText => Self::Text(StringBuilder::new()),
            ColumnKind::Number => Self::Number(Float64Builder::new()),
            ColumnKind::Count => Self::Count(Int64Builder::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) -> Result<()> {
        match (self, cell) {
            (Self::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Self::Number(builder), Cell::Number(value)) => builder.append_value(value),
            (Self::Count(builder), Cell::Count(count)) => {
                builder.append_value(i64::try_from(count).unwrap_or(i64::MAX));
            }
            (Self::Text(builder), Cell::Missing) => builder.append_null(),
            (Self::Number(builder), Cell::Missing) => builder.append_null(),
            (Self::Count(builder), Cell::Missing) => builder.append_null(),
            (_, cell) => {
                let words = format!("found the cell {cell:?} in a column of another kind");
                return Err(Error::syntax(words));
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Number(builder) => Arc::new(builder.finish()),
            Self::Count(builder) => Arc::new(builder.finish()),
        }
    }
}
