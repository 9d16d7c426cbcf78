//! The buffer pool: memory of parts that are done with, for the next ones.

use std::sync::{Mutex, PoisonError};

use super::parts::PartRead;

/// Parts and lists of offsets that are done with: fresh memory costs a page fault for each page, and that
/// takes longer than reading into it.
#[derive(Default)]
pub(crate) struct BufferPool {
    parts: Mutex<Vec<PartRead>>,
    offsets: Mutex<Vec<Vec<u32>>>,
}

impl BufferPool {
    /// An empty part and a list of offsets, with whatever is left in it.
    pub(crate) fn take(&self) -> (PartRead, Vec<u32>) {
        fn pop<T: Default>(buffers: &Mutex<Vec<T>>) -> T {
            let mut buffers = buffers.lock().unwrap_or_else(PoisonError::into_inner);
            buffers.pop().unwrap_or_default()
        }
        (pop(&self.parts), pop(&self.offsets))
    }

    /// Takes back a list of offsets.
    pub(crate) fn give_offsets(&self, offsets: Vec<u32>) {
        let mut kept = self.offsets.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(offsets);
    }

    /// Takes back parts.
    pub(crate) fn give_parts(&self, parts: Vec<PartRead>) {
        let mut kept = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(parts);
    }
}
