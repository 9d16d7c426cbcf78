//! The files of one run, which appear together or not at all.
//!
//! 1. Every file is written under another name, beside its place, and brought to disk ([`Partial`]).
//! 2. The folders are locked, against other runs that come to this point at the same time.
//! 3. What stands in the places of all files but the last gets a second name (a hard link).
//! 4. The files get their names, one rename after the other, the main file last. If one cannot, those before
//!    it are put back from their second names.
//! 5. Second names, and files that the new ones replace under other names, are removed.
//!
//! Between the first rename and the last, some microseconds, new files stand beside an old main file; only a
//! power cut or `kill -9` can make that last.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::live;
use super::partial::{KEPT, Partial, beside, remove_abandoned, remove_kept};
use super::place::{Place, folder_of};
use crate::error::{Error, Result};

/// What a run has done so far.
#[derive(Default)]
struct Batch {
    /// Where outputs lead, as it was settled before the work began.
    places: Vec<(PathBuf, Place)>,
    /// Files that wait for their names, with the names that the user knows them by.
    finished: Vec<(String, Partial)>,
    /// Folders that were made for them.
    folders: Vec<PathBuf>,
    /// Files that must still be as they were read.
    read: Vec<(PathBuf, Option<Seen>)>,
    /// Files under other names that the new ones replace.
    replaced: Vec<Replaced>,
    /// Whether cells that a spreadsheet would take for formulas are made text.
    neutral_formulas: bool,
    /// Says when to stop.
    cancelled: Option<Arc<AtomicBool>>,
}

/// Files of one kind in a folder, of which only one is wanted once the run is done.
struct Replaced {
    folder: PathBuf,
    kept: OsString,
    is_one: Box<dyn Fn(&str) -> bool>,
}

thread_local! {
    /// The run that is under way on this thread.
    static BATCH: RefCell<Option<Batch>> = const { RefCell::new(None) };
}

/// How long another run may hold a folder. Renames take microseconds: whoever takes longer was stopped, and
/// is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);

/// Runs `write`, and lets all files that it writes with [`write_whole`](super::write_whole), on this thread,
/// appear at its end, in the order in which they were written: the main file should come last. If anything
/// fails, none of them does, and what stood in their places is as it was. Standard output and devices are
/// written as it goes.
///
/// One call inside another is a part of it.
pub fn write_together<T, E: From<Error>>(write: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    if BATCH.with_borrow(Option::is_some) {
        return write();
    }
    let _end = End;
    BATCH.with_borrow_mut(|batch| *batch = Some(Batch::default()));
    let value = write()?;
    let batch = BATCH.with_borrow_mut(Option::take).unwrap_or_default();
    batch.appear()?;
    Ok(value)
}

/// Ends the run also where it panics.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        drop(BATCH.with_borrow_mut(Option::take));
    }
}

fn in_batch<T>(f: impl FnOnce(&mut Batch) -> T) -> Option<T> {
    BATCH.with_borrow_mut(|batch| batch.as_mut().map(f))
}

/// Settles where an output of this run goes, before the work begins: links that appear in its place later are
/// not followed.
pub fn settle_output(path: &Path) -> Place {
    let place = Place::of(path);
    in_batch(|batch| batch.places.push((path.to_path_buf(), place.clone())));
    place
}

/// Where an output leads: as it was settled, else now.
pub(super) fn place_of(path: &Path) -> Place {
    let settled = in_batch(|batch| {
        let mut places = batch.places.iter();
        places
            .find(|(given, _)| given == path)
            .map(|(_, place)| place.clone())
    });
    settled.flatten().unwrap_or_else(|| Place::of(path))
}

/// Stops writing, and lets nothing appear, once this is true.
pub fn stop_outputs_when(cancelled: Arc<AtomicBool>) {
    in_batch(|batch| batch.cancelled = Some(cancelled));
}

/// Writes text in CSV and TSV tables of this run so that a spreadsheet does not take it for a formula: an
/// apostrophe before `=`, `+`, `-`, `@`, a tab or a carriage return at its start. Numbers stay as they are.
/// What is written so does not read back as it was.
pub fn neutralise_formulas() {
    in_batch(|batch| batch.neutral_formulas = true);
}

/// Whether [`neutralise_formulas`] was called in this run.
pub(crate) fn neutralises_formulas() -> bool {
    in_batch(|batch| batch.neutral_formulas).unwrap_or(false)
}

/// What says when to stop.
pub(super) fn cancellation() -> Option<Arc<AtomicBool>> {
    in_batch(|batch| batch.cancelled.clone()).flatten()
}

/// Makes a folder for outputs, and those above it; they are removed again if the run fails.
pub fn make_output_folder(folder: &Path) -> Result<()> {
    let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let made: Vec<&Path> = folder.ancestors().take_while(missing).collect();
    // Known before they are there: whatever fails, an empty folder of ours goes.
    in_batch(|batch| {
        batch
            .folders
            .extend(made.iter().rev().map(|folder| folder.to_path_buf()))
    });
    fs::create_dir_all(folder).map_err(|error| Error::from(error).in_file(folder.display().to_string()))
}

/// Makes sure, when the files appear, that this one is still as it is now: another run may have replaced it
/// meanwhile, and what that run added would be lost. The last call for a file counts.
pub fn expect_unchanged(path: &Path) {
    in_batch(|batch| {
        batch.read.retain(|(read, _)| read != path);
        batch.read.push((path.to_path_buf(), Seen::of(path)));
    });
}

/// Notes a file of our own beside an output, whose name follows from its content: nobody put a link there on
/// purpose, and once the files have appeared, others of its kind are removed.
pub(crate) fn settle_own_file(path: &Path, is_one: impl Fn(&str) -> bool + 'static) {
    let folder = folder_of(path);
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let name = path.file_name().unwrap_or_default();
    in_batch(|batch| {
        let place = Place::File(folder.join(name));
        batch.places.push((path.to_path_buf(), place));
        batch.replaced.push(Replaced {
            folder,
            kept: name.to_os_string(),
            is_one: Box::new(is_one),
        });
    });
}

/// Gives a file its name, now or at the end of the run.
pub(super) fn add(name: String, partial: Partial) -> Result<()> {
    let file = (name, partial);
    let alone = BATCH.with_borrow_mut(|batch| match batch {
        Some(batch) => {
            batch.finished.push(file);
            None
        }
        None => Some(file),
    });
    match alone {
        Some(file) => {
            let mut batch = Batch::default();
            batch.finished.push(file);
            batch.appear()
        }
        None => Ok(()),
    }
}

/// What tells that a file is not the one that was read.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    length: u64,
    modified: Option<std::time::SystemTime>,
    number: u64,
}

impl Seen {
    fn of(path: &Path) -> Option<Self> {
        let found: Metadata = fs::metadata(path).ok()?;
        Some(Self {
            length: found.len(),
            modified: found.modified().ok(),
            #[cfg(unix)]
            number: std::os::unix::fs::MetadataExt::ino(&found),
            #[cfg(not(unix))]
            number: 0,
        })
    }
}

impl Batch {
    /// Gives all files their names, or none.
    fn appear(mut self) -> Result<()> {
        let mut folders: Vec<PathBuf> = self
            .finished
            .iter()
            .map(|(_, file)| folder_of(&file.place).into())
            .collect();
        folders.sort();
        folders.dedup();
        // In one order for all runs: none waits for another that waits for it.
        let locks: Option<Vec<File>> = folders.iter().map(|folder| lock_folder(folder)).collect();
        self.check()?;
        self.rename_all(locks.is_some())?;
        self.folders.clear();
        if locks.is_some() {
            self.replaced.iter().for_each(Replaced::remove);
        }
        #[cfg(unix)]
        for folder in &folders {
            // Best effort: not every file system can flush a folder.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// Fails if the run was stopped, or if a file that it read is another one now.
    fn check(&self) -> Result<()> {
        if self
            .cancelled
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
        {
            return Err(quorate::Error::Cancelled.into());
        }
        for (path, seen) in &self.read {
            if Seen::of(path) != *seen {
                let words =
                    "another program changed the file since it was read, nothing was written; run again";
                return Err(Error::syntax(words).in_file(path.display().to_string()));
            }
        }
        Ok(())
    }

    fn rename_all(&mut self, locked: bool) -> Result<()> {
        // Whoever ends the process waits for this.
        let mut live = live::hold();
        let named = |name: &str, error: io::Error| Error::from(error).in_file(name);
        let mut kept = Vec::new();
        let several = self.finished.len().saturating_sub(1);
        for (name, file) in &self.finished[..several] {
            match keep(&file.place) {
                Ok(old) => kept.push(old),
                Err(error) => {
                    kept.iter().flatten().for_each(|old| drop(fs::remove_file(old)));
                    return Err(named(name, error));
                }
            }
        }
        for (at, (name, file)) in self.finished.iter().enumerate() {
            if let Err(error) = fs::rename(&file.path, &file.place) {
                for ((_, file), old) in self.finished[..at].iter().zip(&kept).rev() {
                    // Nothing is left to be done if this fails, too.
                    let _ = match old {
                        Some(old) => fs::rename(old, &file.place),
                        None => fs::remove_file(&file.place),
                    };
                }
                kept.iter().flatten().for_each(|old| drop(fs::remove_file(old)));
                return Err(named(name, error));
            }
        }
        kept.iter().flatten().for_each(|old| drop(fs::remove_file(old)));
        for (_, file) in &mut self.finished {
            live::forget(&mut live, &file.path);
            file.has_its_name = true;
            if locked {
                remove_kept(&file.place);
            }
        }
        Ok(())
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // Files first: their folders are empty then. `remove_dir` leaves a folder that has something else in
        // it.
        self.finished.clear();
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Gives what is in a place a second name; none if nothing is there.
fn keep(place: &Path) -> io::Result<Option<PathBuf>> {
    let old = beside(place, KEPT);
    match fs::hard_link(place, &old) {
        Ok(()) => Ok(Some(old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // No hard links on this file system, or not for files of others.
        Err(_) => match fs::copy(place, &old) {
            Ok(_) => Ok(Some(old)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let _ = fs::remove_file(&old);
                Err(error)
            }
        },
    }
}

/// A lock that runs take while their files get their names; none where folders cannot be locked.
fn lock_folder(folder: &Path) -> Option<File> {
    let opened = File::open(folder).ok()?;
    let started = Instant::now();
    loop {
        match opened.try_lock() {
            Ok(()) => return Some(opened),
            Err(fs::TryLockError::WouldBlock) if started.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Err(_) => return None,
        }
    }
}

impl Replaced {
    fn remove(&self) {
        let partial = |start: &str| start.strip_prefix('.').is_some_and(&self.is_one);
        remove_abandoned(&self.folder, partial);
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name != self.kept && name.to_str().is_some_and(&self.is_one) {
                // The next run tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
