//! The folder that holds spilled labels while a run lasts.
//!
//! It is removed when the run ends, however it ends, unless the process is killed. A run that was killed
//! leaves its folder behind; the next run in the same place sees that nobody holds its lock and removes it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

const PREFIX: &str = "quorate-spill-";
const LOCK: &str = "in-use";

/// A folder of our own, locked while we live.
#[derive(Debug)]
pub(super) struct Folder {
    folder: TempDir,
    _lock: File,
}

impl Folder {
    /// Makes a folder in `place` and removes those of runs that were killed.
    pub(super) fn new(place: &Path) -> io::Result<Self> {
        fs::create_dir_all(place)?;
        remove_abandoned(place)?;
        // Another run may take a folder that is not locked yet for an abandoned one: then make another.
        for _ in 0..16 {
            if let Some(folder) = Self::make(place)? {
                return Ok(folder);
            }
        }
        Err(io::Error::other("other runs keep removing the folder; run again"))
    }

    /// A locked folder; none if somebody removed it before it was locked.
    fn make(place: &Path) -> io::Result<Option<Self>> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
        let path = folder.path().join(LOCK);
        let lock = match File::create(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            lock => lock?,
        };
        lock.lock()?;
        Ok(path.exists().then_some(Self { folder, _lock: lock }))
    }

    /// A file in the folder.
    pub(super) fn file(&self, kind: &str, partition: usize) -> PathBuf {
        self.folder.path().join(format!("{kind}-{partition}"))
    }
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
        if lock.try_lock().is_ok() {
            // Best effort: it may belong to somebody else.
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
        assert!(alive.folder.path().exists() && next.folder.path().exists());
        drop((alive, next));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
