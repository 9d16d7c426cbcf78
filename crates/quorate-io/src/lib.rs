//! Files in and out: annotation tables, truths, predictions, results and models.
//!
//! A table is a CSV, TSV or JSONL file (plain, `.gz` or `.zst`), a Parquet file or an Arrow file, told by its
//! extension; `-` is standard input or output. Whatever the format, a table is read row by row through one
//! path and written through one other, so a column means the same everywhere:
//!
//! ```text
//! Source -> bytes -> delimited | jsonl | parquet | arrow -> rows -> annotations | labels
//! annotations | labels | consensus | workers -> Table -> delimited | jsonl | parquet | arrow -> Target
//! ```
//!
//! Errors carry file, line and column. Output files appear whole or not at all.
//!
//! ```
//! use quorate_io::{ReadOptions, Source, Target, read_annotations, write_annotations};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("labels.csv");
//! std::fs::write(&path, "task,worker,label\nt1,ann,cat\nt1,bob,dog\n")?;
//!
//! let read = read_annotations(&Source::from(path), &ReadOptions::default())?;
//! assert_eq!(read.annotations.label_count(), 2);
//!
//! let copy = Target::from(folder.path().join("labels.jsonl.gz"));
//! write_annotations(&copy, None, &read.annotations)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod annotations;
#[cfg(feature = "columnar")]
mod arrow;
mod blocks;
#[cfg(feature = "columnar")]
mod columnar;
mod consensus;
mod decimal;
mod delimited;
mod error;
mod features;
mod format;
mod ids;
mod intervals;
mod jsonl;
mod kept_labels;
mod labels;
mod model;
mod model_history;
mod npy;
#[cfg(feature = "columnar")]
mod parquet;
mod part_sink;
mod probabilities;
#[cfg(feature = "columnar")]
mod row_groups;
mod scan;
mod source;
mod spare;
mod spill;
mod table;
mod table_text;
mod target;
mod workers;

pub use annotations::{
    AnnotationsRead, Columns, ReadOptions, read_annotations, read_annotations_with, write_annotations,
};
pub use consensus::write_consensus;
pub use decimal::decimal;
pub use error::{Error, ErrorKind, Position, Result};
pub use features::{FeaturesRead, read_features};
pub use format::{Compression, FileFormat, Format};
pub use ids::read_ids;
pub use intervals::write_intervals;
pub use kept_labels::{read_kept_labels, write_kept_labels};
pub use labels::{
    CONFIDENCE_COLUMN, LabelColumns, LabelOptions, PROBABILITY_PREFIX, TaskLabels, read_labels, write_truth,
};
pub use model::{MODEL_FORMAT_VERSION, ModelFile, ModelWorker, read_model, write_model};
pub use probabilities::{ProbabilitiesRead, read_probabilities};
pub use scan::MAX_FIELD;
pub use source::{Progress, Source};
pub use spill::{ResultSummary, SpillOptions, SpilledLabels, SpilledResults, spill_annotations};
pub use table::{Cell, ColumnKind, Table, write_table};
pub use target::{Target, write_whole};
pub use workers::{WorkerRow, write_workers};
