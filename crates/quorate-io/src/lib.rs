//! Files in and out: annotation tables, truths, predictions, results and models.
//!
//! Labels come from exports of annotation tools, which are recognised by their content ([`Tool`]), and from
//! tables. A table is a CSV, TSV or JSONL file (plain, `.gz` or `.zst`), a Parquet file or an Arrow file,
//! told by its extension; `-` is standard input or output. Whatever the format, a column means the same
//! everywhere:
//!
//! ```text
//! Source -> bytes -> formats: delimited | jsonl | parquet | arrow -> rows
//!     -> tables: annotations | labels | ids | ..
//!                 -> exports: label_studio | prodigy | mturk | .. ------------------> annotations
//! tables: annotations | consensus | workers | intervals | .. -> rows -> formats -> Target
//! ```
//!
//! Tables of annotations in plain CSV, TSV and Parquet files are read in parallel (`parallel`), with the
//! result of reading row by row; labels beyond memory go to partitions on disk (`spill`). Models are JSON,
//! the labels kept beside them a binary file, features of tasks any table or a NumPy array.
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

mod binary;
mod error;
mod exports;
mod formats;
mod memory;
mod parallel;
mod results;
mod source;
mod spill;
mod tables;
mod target;

pub use error::{Error, ErrorKind, Position, Result};
pub use exports::{
    ExportParts, ExportRead, Tool, WhyLeftOut, WriteBack, write_back, write_export, write_wide,
};
pub use formats::{
    Cell, ColumnKind, Compression, Each, FileFormat, Format, MAX_FIELD, RowSource, decimal, write_rows,
    write_table,
};
#[cfg(feature = "columnar")]
pub use formats::{MemorySink, MemoryTable};
pub use memory::being_read;
pub use results::TaskResults;
pub use source::{Progress, Source};
pub use spill::{SpillOptions, SpilledLabels, SpilledResults, WantedResults, spill_annotations};
pub use tables::*;
pub use target::{
    Place, Target, abandon_outputs, expect_unchanged, make_output_folder, neutralise_formulas, settle_output,
    stop_outputs_when, write_together, write_whole,
};
