//! Blocks of labels, and the one engine of passes over them.
//!
//! A table in memory is one block, labels on disk are many, a partition on a cluster is one more kind. A
//! `Pass` declares its state, what it does with a block, and how states merge. [`Passes`] runs it: only there
//! posteriors are cached, made again from their rule, or passes sent to other processes. Methods do not know
//! where labels live.

mod block;
mod gather;
mod gold_worker;
mod pass;
mod passes;
mod remote;
mod wire;

pub(crate) use block::codes_below;
pub use block::{Block, TaskBlock};
pub(crate) use gather::{GatherLabels, PosteriorsByLabels, gather};
pub(crate) use gold_worker::{KnownTasks, add_labels};
pub(crate) use pass::{Extent, Pass, PosteriorRule, State};
pub use passes::Passes;
pub(crate) use passes::Stage;
pub(crate) use remote::Request;
pub use remote::{PartNode, RemoteBlocks};
pub(crate) use wire::{Reader, WireFormat, damaged, kind_of, wire_format};
pub use wire::{WIRE_VERSION, Wire};

use crate::annotations::{Annotations, Names};
use crate::error::Result;

/// Labels in blocks of whole tasks, which can be gone through again and again.
pub trait Blocks {
    /// Names of the workers; a worker code is an index into them.
    fn workers(&self) -> &Names;

    /// Number of classes.
    fn class_count(&self) -> usize;

    /// Number of tasks.
    fn task_count(&self) -> u64;

    /// Number of labels.
    fn label_count(&self) -> u64;

    /// Whether the truth of any task is known.
    fn has_gold(&self) -> bool;

    /// The whole table, if it is in memory.
    fn in_memory(&self) -> Option<&Annotations> {
        None
    }

    /// Who runs passes on the blocks, if they are in other processes: then they cannot be handed over.
    fn remote(&mut self) -> Option<&mut dyn RemoteBlocks> {
        None
    }

    /// Hands over every block, in the same order each time; stops at the first error.
    fn for_each(&mut self, visit: &mut dyn FnMut(Block<'_>) -> Result<()>) -> Result<()>;
}

/// A table in memory is one block.
impl Blocks for &Annotations {
    fn workers(&self) -> &Names {
        Annotations::workers(self)
    }

    fn class_count(&self) -> usize {
        Annotations::class_count(self)
    }

    fn task_count(&self) -> u64 {
        Annotations::task_count(self) as u64
    }

    fn label_count(&self) -> u64 {
        Annotations::label_count(self) as u64
    }

    fn has_gold(&self) -> bool {
        Annotations::has_gold(self)
    }

    fn in_memory(&self) -> Option<&Annotations> {
        Some(self)
    }

    fn for_each(&mut self, visit: &mut dyn FnMut(Block<'_>) -> Result<()>) -> Result<()> {
        visit(self.as_block())
    }
}
