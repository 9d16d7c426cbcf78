//! What this process has on disk that must not outlive it: partial files and folders of spilled labels.
//!
//! Each removes itself when it goes out of scope. A second Ctrl-C does not wait for that: [`abandon_outputs`]
//! removes all of them and keeps anything new from appearing until the process ends.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

static LIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Times that a folder is emptied while other threads still write into it.
const ATTEMPTS: usize = 100;

/// How long the end of the process waits for whoever holds the list. Renames take microseconds.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);

/// The list of what is there. While it is held, nothing is abandoned: files get their names under it.
pub(super) fn hold() -> MutexGuard<'static, Vec<PathBuf>> {
    // The list holds whole paths whatever panicked.
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As [`hold`], for the end of the process: the thread that ends it may hold the list itself, where it ran
/// out of memory under it.
fn hold_in_time() -> Option<MutexGuard<'static, Vec<PathBuf>>> {
    let started = Instant::now();
    loop {
        match LIVE.try_lock() {
            Ok(live) => return Some(live),
            Err(TryLockError::Poisoned(live)) => return Some(live.into_inner()),
            Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return None,
        }
    }
}

/// Makes something at a path and remembers it, so that there is no moment in which it would be overlooked.
pub(crate) fn make<T>(path: &Path, make: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let mut live = hold();
    let made = make(path)?;
    live.push(path.to_path_buf());
    Ok(made)
}

/// Removes what was made at a path.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let mut live = hold();
    forget(&mut live, path);
    remove_any(path)
}

/// Forgets what was made at a path: it has another name now.
pub(super) fn forget(live: &mut Vec<PathBuf>, path: &Path) {
    live.retain(|known| known != path);
}

fn remove_any(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

/// Removes all that is not finished, for a process that ends at once: what has its name stays, nothing else
/// does. Files that are about to get their names get them first, all of them. Nothing can be written by this
/// process afterwards.
pub fn abandon_outputs() {
    let Some(live) = hold_in_time() else {
        return;
    };
    for path in &*live {
        for _ in 0..ATTEMPTS {
            match remove_any(path) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                _ => break,
            }
        }
    }
    // For good: threads that still run must not make anything new.
    std::mem::forget(live);
}
