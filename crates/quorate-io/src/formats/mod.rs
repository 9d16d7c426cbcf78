//! File formats, one file each, and the one path between each of them and rows.
//!
//! Reading: a format finds the columns that a [`RowSink`] asks for and hands over rows ([`scan`]). Writing: a
//! [`RowSource`] names its columns and hands over rows, which a format writes ([`write_table`]).

#[cfg(feature = "columnar")]
mod arrow;
#[cfg(feature = "columnar")]
mod arrow_sizes;
#[cfg(feature = "columnar")]
pub(crate) mod columnar;
mod decimal;
pub(crate) mod delimited;
pub(crate) mod delimiter;
mod file_format;
pub(crate) mod json_texts;
pub(crate) mod jsonl;
#[cfg(feature = "columnar")]
mod memory;
pub(crate) mod npy;
#[cfg(feature = "columnar")]
pub(crate) mod parquet;
#[cfg(feature = "columnar")]
pub(crate) mod parquet_pages;
pub(crate) mod records;
mod row_sink;
mod row_source;
mod text;

pub use decimal::decimal;
pub(crate) use file_format::KNOWN;
pub use file_format::{Compression, FileFormat, Format};
#[cfg(feature = "columnar")]
pub use memory::{MemorySink, MemoryTable};
pub use row_sink::MAX_FIELD;
pub(crate) use row_sink::{
    Row, RowSink, columns_where, find_column, find_columns_named, read_delimited, read_side, scan, scan_text,
};
pub use row_source::{Cell, ColumnKind, Each, RowSource, write_rows, write_table};
pub(crate) use row_source::{table, write_packed, write_rows_as};
pub(crate) use text::PIECE;
