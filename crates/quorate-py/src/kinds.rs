//! What ids and labels were before they became text, so that they come back as they went in.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use quorate_io::MemoryTable;

/// What the values of a column were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, or not known.
    Text,
    /// Whole numbers.
    Integer,
    /// Whole numbers of which some may need 64 bits.
    Unsigned,
    /// Numbers.
    Number,
    /// True and false.
    Truth,
}

impl Kind {
    /// Of a column of this type.
    pub fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::UInt64 => Self::Unsigned,
            DataType::Float32 | DataType::Float64 => Self::Number,
            DataType::Boolean => Self::Truth,
            other if other.is_integer() => Self::Integer,
            _ => Self::Text,
        }
    }

    /// A number that stands for it, for pickling.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The kind of a code.
    pub fn from_code(code: u8) -> Self {
        [
            Self::Text,
            Self::Integer,
            Self::Unsigned,
            Self::Number,
            Self::Truth,
        ]
        .into_iter()
        .find(|kind| kind.code() == code)
        .unwrap_or(Self::Text)
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Integer => DataType::Int64,
            Self::Unsigned => DataType::UInt64,
            Self::Number => DataType::Float64,
            Self::Truth => DataType::Boolean,
        }
    }

    /// The values as they were; none if one of the texts is no such value (a class that was given by name).
    fn restore(self, texts: &StringArray) -> Option<ArrayRef> {
        fn parse<T: std::str::FromStr>(texts: &StringArray) -> Option<Vec<Option<T>>> {
            texts
                .iter()
                .map(|text| {
                    text.map(|text| text.parse().ok())
                        .map_or(Some(None), |value| value.map(Some))
                })
                .collect()
        }
        Some(match self {
            Self::Text => Arc::new(texts.clone()),
            Self::Integer => Arc::new(Int64Array::from(parse::<i64>(texts)?)),
            Self::Unsigned => Arc::new(UInt64Array::from(parse::<u64>(texts)?)),
            Self::Number => Arc::new(Float64Array::from(parse::<f64>(texts)?)),
            Self::Truth => Arc::new(BooleanArray::from(parse::<bool>(texts)?)),
        })
    }
}

/// What tasks, workers and labels were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds {
    /// Of the tasks.
    pub task: Kind,
    /// Of the workers.
    pub worker: Kind,
    /// Of the labels.
    pub label: Kind,
}

impl Kinds {
    /// Everything is text.
    pub const TEXT: Self = Self {
        task: Kind::Text,
        worker: Kind::Text,
        label: Kind::Text,
    };
}

impl ColumnKinds for Kinds {
    fn of_column(&self, name: &str) -> Kind {
        match name {
            "task" => self.task,
            "worker" => self.worker,
            "label" | "majority" | "answer" | "truth" | "class" => self.label,
            _ => Kind::Text,
        }
    }
}

/// What items, judges, and the values that tables are kept apart by were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankKinds {
    /// Of the items.
    pub item: Kind,
    /// Of the judges.
    pub judge: Kind,
    /// Of what tables are kept apart by.
    pub by: Kind,
}

impl ColumnKinds for RankKinds {
    fn of_column(&self, name: &str) -> Kind {
        match name {
            "item" | "against" | "left" | "right" => self.item,
            "judge" => self.judge,
            "by" => self.by,
            _ => Kind::Text,
        }
    }
}

/// Knows what the values in columns of results were.
pub trait ColumnKinds {
    /// What the values of the column with this name were.
    fn of_column(&self, name: &str) -> Kind;

    /// The table with its ids and labels as they went in.
    fn restore(&self, table: MemoryTable) -> MemoryTable {
        let fields = table.schema().fields();
        let mut kinds: Vec<Kind> = fields
            .iter()
            .map(|field| match field.data_type() {
                DataType::Utf8 => self.of_column(field.name()),
                _ => Kind::Text,
            })
            .collect();
        let restored = |column: usize, kind: Kind| -> Option<Vec<ArrayRef>> {
            let batches = table.batches().iter();
            batches
                .map(|batch| kind.restore(batch.column(column).as_string::<i32>()))
                .collect()
        };
        let mut columns: Vec<Option<Vec<ArrayRef>>> = Vec::new();
        for (column, kind) in kinds.iter_mut().enumerate() {
            let values = (*kind != Kind::Text).then(|| restored(column, *kind)).flatten();
            if values.is_none() {
                *kind = Kind::Text;
            }
            columns.push(values);
        }
        let fields = fields.iter().zip(&kinds).map(|(field, kind)| match kind {
            Kind::Text => Field::clone(field),
            kind => Field::new(field.name(), kind.data_type(), field.is_nullable()),
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batches = table.batches().iter().enumerate().map(|(index, batch)| {
            let arrays = columns.iter().enumerate().map(|(column, values)| match values {
                Some(values) => values[index].clone(),
                None => batch.column(column).clone(),
            });
            RecordBatch::try_new(schema.clone(), arrays.collect()).expect("columns keep their lengths")
        });
        MemoryTable::new(table.name(), schema.clone(), batches.collect())
    }
}
