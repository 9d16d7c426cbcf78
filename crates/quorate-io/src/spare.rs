//! Buffers between two uses.

use std::sync::{Mutex, PoisonError};

use quorate::annotations::PartRead;

/// Parts and lists of places that are done with: fresh memory comes from the system page by page, and that costs more than
/// reading into it.
#[derive(Default)]
pub(crate) struct Spare {
    parts: Mutex<Vec<PartRead>>,
    places: Mutex<Vec<Vec<u32>>>,
}

impl Spare {
    /// An empty part and a list of places, with whatever is left in it.
    pub(crate) fn take(&self) -> (PartRead, Vec<u32>) {
        fn pop<T: Default>(buffers: &Mutex<Vec<T>>) -> T {
            let mut buffers = buffers.lock().unwrap_or_else(PoisonError::into_inner);
            buffers.pop().unwrap_or_default()
        }
        (pop(&self.parts), pop(&self.places))
    }

    /// Keeps a list of places.
    pub(crate) fn keep(&self, places: Vec<u32>) {
        let mut kept = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(places);
    }

    /// Keeps parts.
    pub(crate) fn give(&self, parts: Vec<PartRead>) {
        let mut kept = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(parts);
    }
}
