//! Memory while files are read: asked for before it is taken, and what is being read when there is not
//! enough.
//!
//! A small file can hold very many rows, and a damaged one can say that it does. Readers therefore ask every
//! few thousand rows whether what they hold, and what they are about to need, is within the limit of the
//! process ([`quorate_machine::memory`]).

use std::sync::Mutex;

use quorate_machine::memory::check_room;

use crate::error::{ErrorKind, Result};

/// Rows between two questions.
pub(crate) const ROWS: usize = 1 << 13;

/// Fails where so many bytes more would be above the limit.
pub(crate) fn check(more: u64) -> Result<()> {
    check_room(more).map_err(|too_much| ErrorKind::TooLarge(too_much.needed, too_much.limit).into())
}

static BEING_READ: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The file that is being read, for a program that has to end in the middle of it; none where none is, or
/// somebody is busy changing it.
pub fn being_read() -> Option<String> {
    BEING_READ.try_lock().ok()?.last().cloned()
}

/// Notes that a file is being read, as long as it lives.
pub(crate) struct Reading;

impl Reading {
    pub(crate) fn of(name: String) -> Self {
        if let Ok(mut all) = BEING_READ.lock() {
            all.push(name);
        }
        Self
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Ok(mut all) = BEING_READ.lock() {
            all.pop();
        }
    }
}
