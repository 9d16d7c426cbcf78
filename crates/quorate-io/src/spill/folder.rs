//! The folder that holds spilled labels while a run lasts.
//!
//! It is removed when the run ends, however it ends, unless the process is killed. A run that was killed
//! leaves its folder behind; the next run in the same place sees that nobody holds its lock and removes it.
//! The lock comes first and goes last: a folder without it is empty.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::target::{draw_letters, live};

const PREFIX: &str = "quorate-spill-";
const LOCK: &str = "in-use";

/// Times that other runs may be in the way.
const ATTEMPTS: usize = 16;

/// A folder of our own, locked while we live.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// None until it is locked.
    _lock: Option<File>,
}

impl Folder {
    /// Makes a folder in `place` and removes those of runs that were killed.
    pub(super) fn new(place: &Path) -> io::Result<Self> {
        // Another run may take a folder that is not locked yet for an abandoned one: then make another.
        for _ in 0..ATTEMPTS {
            if let Some(folder) = Self::make(place)? {
                return Ok(folder);
            }
        }
        Err(io::Error::other("other runs keep removing the folder; run again"))
    }

    /// A locked folder; none if somebody removed it before it was locked.
    fn make(place: &Path) -> io::Result<Option<Self>> {
        let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let path = place.join(format!("{PREFIX}{}", draw_letters()));
        let mut folder = Self { path, _lock: None };
        fs::create_dir_all(place)?;
        match remove_abandoned(place).and_then(|()| live::make(&folder.path, make_private)) {
            Err(error) if gone(&error) => return Ok(None),
            made => made?,
        }
        let path = folder.path.join(LOCK);
        let lock = match File::create(&path) {
            Err(error) if gone(&error) => return Ok(None),
            lock => lock?,
        };
        lock.lock()?;
        folder._lock = Some(lock);
        Ok(path.exists().then_some(folder))
    }

    /// The same error, in this folder.
    pub(super) fn named(&self, error: Error) -> Error {
        error.in_file(self.path.display().to_string())
    }

    /// A file in the folder.
    pub(super) fn file(&self, kind: &str, partition: usize) -> PathBuf {
        self.path.join(format!("{kind}-{partition}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next run in the same place.
        let _ = empty(&self.path);
        let _ = live::remove(&self.path);
    }
}

/// A folder that only its owner can look into.
fn make_private(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes the files of a folder, but for its lock: whenever this is cut short, the next run can still tell
/// that the folder is abandoned.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        if entry.file_name() != LOCK {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn remove_abandoned(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)?.flatten() {
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Ok(lock) = File::open(entry.path().join(LOCK)) else {
            // Its owner was killed, or is, before the first file: only an empty folder goes.
            let _ = fs::remove_dir(entry.path());
            continue;
        };
        // Best effort: it may belong to somebody else.
        if lock.try_lock().is_ok() && empty(&entry.path()).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_living_stay_and_those_of_the_dead_go() {
        let place = tempfile::tempdir().unwrap();
        let alive = Folder::new(place.path()).unwrap();
        // What a killed run leaves behind: a folder whose lock nobody holds.
        let dead = place.path().join(format!("{PREFIX}dead"));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        fs::write(dead.join("rows-0"), "x").unwrap();
        fs::create_dir(place.path().join(format!("{PREFIX}empty"))).unwrap();
        let other = place.path().join("something-else");
        fs::create_dir(&other).unwrap();
        let next = Folder::new(place.path()).unwrap();
        assert!(!dead.exists() && other.exists());
        assert!(alive.path.exists() && next.path.exists());
        drop((alive, next));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    /// A run that was killed while it removed its folder had removed the lock first, and nobody could tell
    /// any more.
    #[test]
    fn the_lock_goes_last() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::new(place.path()).unwrap();
        fs::write(folder.file("rows", 0), "x").unwrap();
        empty(&folder.path).unwrap();
        assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 1);
        assert!(folder.path.join(LOCK).exists());
    }
}
