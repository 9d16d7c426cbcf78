//! Parallel reading: files cut into parts that all threads read at once, with the result of the row by row
//! reader.
//!
//! ```text
//! table --delimited_blocks | row_groups | memory_batches--> parts
//!     --part_sink--> AnnotationsInParts (in memory)
//!                                                         '--> partitions on disk (spill)
//! ```
//!
//! A part ([`parts`]) takes rows as bytes. A name becomes a key of 128 bits ([`key`]), and keys get codes
//! from a hash table in shards ([`key_table`], [`interner`]); ids that come sorted skip it ([`sorted_run`]).
//! Workers and classes are known to all parts ([`vocabulary`]). What a part cannot settle is [`Irregular`]:
//! the caller then reads the input row by row, which says what is wrong and where.

mod annotations_in_parts;
#[cfg(feature = "columnar")]
mod batch_rows;
mod buffer_pool;
mod delimited_blocks;
mod grouped;
mod interner;
mod key;
mod key_table;
#[cfg(feature = "columnar")]
mod memory_batches;
mod mentions;
mod part_sink;
mod parts;
#[cfg(feature = "columnar")]
mod row_groups;
mod sorted_run;
mod vocabulary;

pub(crate) use annotations_in_parts::AnnotationsInParts;
pub(crate) use delimited_blocks::BLOCK;
pub(crate) use key::LONGEST_NAME;
pub(crate) use part_sink::{PartSink, read_parts};
pub(crate) use parts::PartRead;
pub(crate) use vocabulary::Vocabulary;

use crate::error::Error;

/// An input, or a row of it, that only the row by row reader can settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Irregular;

/// Why parts are not taken any more.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Only the row by row reader can settle it.
    Irregular,
    /// The user asked for it, or there is no memory for more: the row by row reader would not get further.
    Refused(Error),
    /// The disk.
    Disk(Error),
}

impl From<Irregular> for Stop {
    fn from(_: Irregular) -> Self {
        Self::Irregular
    }
}
