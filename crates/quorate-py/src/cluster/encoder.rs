//! Rows of a partition to blocks of labels by task.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use quorate::annotations::{CodeColumns, Duplicates, Names};
use quorate::internal::annotations::NO_GOLD;
use quorate::internal::blocks::{TaskBlock, Wire};

use super::names;
use crate::capsule;
use crate::errors::raise;
use crate::labels::duplicates_of;

/// Gathers rows that come block by block, and makes a block of each.
///
/// Columns: `block` (int), `task` (text), `worker` (int, code), `label` (short, code; null: no answer), and,
/// where they are there, `gold` (short, code) and `place` (long, the order of repeated rows).
#[pyclass(module = "quorate._quorate")]
pub struct BlockEncoder {
    duplicates: Duplicates,
    has_gold: bool,
    open: Option<OpenBlock>,
}

/// Rows of the block that is being gathered.
#[derive(Default)]
struct OpenBlock {
    number: i32,
    tasks: Names,
    gold: Vec<u32>,
    columns: CodeColumns,
    places: Vec<i64>,
}

/// A block as Python gets it: number, labels, names of the tasks, and how many tasks, labels, repeated rows
/// and known tasks.
type EncodedBlock<'py> = (i32, Bound<'py, PyBytes>, Bound<'py, PyBytes>, u64, u64, u64, u64);

#[pymethods]
impl BlockEncoder {
    #[new]
    fn new(py: Python<'_>, duplicates: &str, has_gold: bool) -> PyResult<Self> {
        Ok(Self {
            duplicates: duplicates_of(duplicates).map_err(|failure| raise(py, failure))?,
            has_gold,
            open: None,
        })
    }

    /// Takes more rows; returns the blocks that are complete.
    fn push<'py>(
        &mut self,
        py: Python<'py>,
        capsule: &Bound<'_, PyCapsule>,
    ) -> PyResult<Vec<EncodedBlock<'py>>> {
        let (_, batches) = capsule::import(capsule)?;
        let mut done = Vec::new();
        for batch in &batches {
            self.take(batch, &mut done)?;
        }
        Ok(done.into_iter().map(|block| self.encode(py, block)).collect())
    }

    /// The last block, if there was any row.
    fn finish<'py>(&mut self, py: Python<'py>) -> Option<EncodedBlock<'py>> {
        self.open.take().map(|block| self.encode(py, block))
    }
}

fn column<'b>(batch: &'b RecordBatch, name: &str, wanted: &DataType) -> PyResult<&'b dyn Array> {
    match batch.column_by_name(name) {
        Some(column) if column.data_type() == wanted => Ok(column.as_ref()),
        found => Err(PyValueError::new_err(format!(
            "column {name}: found {:?}, expected {wanted}",
            found.map(|column| column.data_type())
        ))),
    }
}

impl BlockEncoder {
    fn take(&mut self, batch: &RecordBatch, done: &mut Vec<OpenBlock>) -> PyResult<()> {
        let blocks = column(batch, "block", &DataType::Int32)?.as_primitive::<Int32Type>();
        let workers = column(batch, "worker", &DataType::Int32)?.as_primitive::<Int32Type>();
        let labels = column(batch, "label", &DataType::Int16)?.as_primitive::<Int16Type>();
        let tasks = match batch.column_by_name("task").map(|column| column.data_type()) {
            Some(DataType::LargeUtf8) => TaskColumn::Large(batch["task"].as_string()),
            _ => TaskColumn::Small(column(batch, "task", &DataType::Utf8)?.as_string()),
        };
        let places = match batch.column_by_name("place") {
            Some(_) => Some(column(batch, "place", &DataType::Int64)?.as_primitive::<Int64Type>()),
            None => None,
        };
        let gold = if self.has_gold {
            Some(column(batch, "gold", &DataType::Int16)?.as_primitive::<Int16Type>())
        } else {
            None
        };
        for row in 0..batch.num_rows() {
            let number = blocks.value(row);
            if self.open.as_ref().is_none_or(|open| open.number != number) {
                let fresh = OpenBlock {
                    number,
                    ..OpenBlock::default()
                };
                done.extend(self.open.replace(fresh));
            }
            let Some(open) = &mut self.open else { continue };
            let task = open.tasks.intern(tasks.value(row));
            if let Some(gold) = gold {
                if task as usize == open.gold.len() {
                    open.gold.push(NO_GOLD);
                }
                if gold.is_valid(row) {
                    open.gold[task as usize] = u32::from(gold.value(row) as u16);
                }
            }
            if labels.is_valid(row) {
                open.columns.task.push(task);
                open.columns.worker.push(workers.value(row) as u32);
                open.columns.label.push(labels.value(row) as u16);
                open.places.extend(places.map(|places| places.value(row)));
            }
        }
        Ok(())
    }

    fn encode<'py>(&self, py: Python<'py>, block: OpenBlock) -> EncodedBlock<'py> {
        let number = block.number;
        let (block, tasks, repeated) = block.sort(self.duplicates);
        let names: Vec<&str> = tasks.iter().map(String::as_str).collect();
        (
            number,
            PyBytes::new(py, &block.to_bytes()),
            PyBytes::new(py, &names::to_bytes(names.into_iter())),
            tasks.len() as u64,
            block.label.len() as u64,
            repeated,
            block.gold.iter().filter(|&&class| class != NO_GOLD).count() as u64,
        )
    }
}

/// Texts of either offset size.
enum TaskColumn<'b> {
    Small(&'b arrow_array::StringArray),
    Large(&'b arrow_array::LargeStringArray),
}

impl TaskColumn<'_> {
    fn value(&self, row: usize) -> &str {
        match self {
            Self::Small(texts) => texts.value(row),
            Self::Large(texts) => texts.value(row),
        }
    }
}

impl OpenBlock {
    /// The labels by task, tasks in order of their names: the same block for any order of the rows. Repeated
    /// rows count by their place.
    fn sort(self, duplicates: Duplicates) -> (TaskBlock, Vec<String>, u64) {
        let mut order: Vec<u32> = (0..self.tasks.len() as u32).collect();
        order.sort_unstable_by_key(|&task| self.tasks.get(task as usize));
        let mut ranks = vec![0; order.len()];
        for (rank, &task) in order.iter().enumerate() {
            ranks[task as usize] = rank as u32;
        }
        let names = order.iter().map(|&task| self.tasks.get(task as usize).to_owned());
        let names = names.collect();
        let CodeColumns { task, worker, label } = self.columns;
        let mut rows: Vec<u32> = (0..label.len() as u32).collect();
        if self.places.is_empty() {
            rows.sort_unstable_by_key(|&row| (worker[row as usize], label[row as usize]))
        } else {
            rows.sort_unstable_by_key(|&row| (self.places[row as usize], label[row as usize]))
        }
        let columns = CodeColumns {
            task: rows
                .iter()
                .map(|&row| ranks[task[row as usize] as usize])
                .collect(),
            worker: rows.iter().map(|&row| worker[row as usize]).collect(),
            label: rows.iter().map(|&row| label[row as usize]).collect(),
        };
        let (mut block, repeated) = TaskBlock::sort(order.len(), vec![columns], duplicates);
        if !self.gold.is_empty() {
            block.gold = order.iter().map(|&task| self.gold[task as usize]).collect();
        }
        (block, names, repeated)
    }
}
