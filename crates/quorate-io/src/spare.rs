//! Buffers between two uses.

use std::sync::{Mutex, PoisonError};

/// Buffers that are done with: fresh ones of this size come from the system page by page, and that costs more than reading
/// into them.
#[derive(Default)]
pub(crate) struct Spare {
    texts: Mutex<Vec<Vec<u8>>>,
    places: Mutex<Vec<Vec<u32>>>,
}

impl Spare {
    /// A buffer for text and one for places, with whatever is left in them.
    pub(crate) fn take(&self) -> (Vec<u8>, Vec<u32>) {
        fn pop<T>(buffers: &Mutex<Vec<Vec<T>>>) -> Vec<T> {
            let mut buffers = buffers.lock().unwrap_or_else(PoisonError::into_inner);
            buffers.pop().unwrap_or_default()
        }
        (pop(&self.texts), pop(&self.places))
    }

    /// Keeps a buffer of places.
    pub(crate) fn keep(&self, places: Vec<u32>) {
        let mut kept = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(places);
    }

    /// Keeps buffers of text.
    pub(crate) fn give(&self, texts: Vec<Vec<u8>>) {
        let mut kept = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(texts);
    }
}
