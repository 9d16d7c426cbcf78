//! A file under another name, beside the place that it will have: `.out.csv.quorate-x4k2m9q0.partial`.
//!
//! It is for its owner alone while it is written (mode 0600), locked while its process lives, and removed
//! when it goes out of scope. One whose process was killed is removed by the next run that writes the same
//! file: nobody holds its lock.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use super::live;
use super::place::folder_of;

/// Follows the name of the file; nobody else's files are called so.
const MARK: &str = ".quorate-";
const PARTIAL: &str = ".partial";

/// What a file was before this run, while the files of the run get their names.
pub(super) const KEPT: &str = ".old";

/// Letters of the name that are drawn at random.
const DRAWN: usize = 8;

/// Bytes of the output's name in that of its partial file: most file systems allow 255 in all.
const MAX_NAME: usize = 200;

/// A file that is written, and waits for its name.
#[derive(Debug)]
pub(super) struct Partial {
    pub(super) file: File,
    pub(super) path: PathBuf,
    /// Where it goes.
    pub(super) place: PathBuf,
    /// Whether it is there: then nothing is left of the partial file.
    pub(super) has_its_name: bool,
    /// Permissions that it will have.
    #[cfg(unix)]
    mode: u32,
}

impl Partial {
    /// Makes an empty one for a place, and removes those of runs that were killed.
    pub(super) fn new(place: &Path) -> io::Result<Self> {
        let present = fs::symlink_metadata(place).ok();
        if present.as_ref().is_some_and(Metadata::is_dir) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let start = start_of(place.file_name().unwrap_or_default());
        remove_abandoned(folder_of(place), |name| name == start);
        loop {
            let path = beside(place, PARTIAL);
            let file = match live::make(&path, |path| create(path, present.is_some())) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            #[cfg_attr(not(unix), allow(unused_mut))]
            let mut partial = Self {
                file,
                path,
                place: place.to_path_buf(),
                has_its_name: false,
                #[cfg(unix)]
                mode: 0o600,
            };
            #[cfg(unix)]
            {
                partial.mode = restrict(&partial.file, present.as_ref())?;
            }
            // Where the file system has no locks nobody can take one, and nobody takes it for abandoned.
            let _ = partial.file.lock();
            // Another run may have taken it for abandoned before it was locked.
            if partial.path.exists() {
                return Ok(partial);
            }
        }
    }

    /// Brings what was written to disk, and gives it the permissions that it will have.
    pub(super) fn finish(&self) -> io::Result<()> {
        self.file.sync_all()?;
        #[cfg(unix)]
        set_mode(&self.file, self.mode)?;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.has_its_name {
            // If it cannot be removed now, the next run does it.
            let _ = live::remove(&self.path);
        }
    }
}

fn create(path: &Path, replaces: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    // A new file has the permissions that the user gives to all new files: only creating it tells which.
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if replaces { 0o600 } else { 0o666 });
    #[cfg(not(unix))]
    let _ = replaces;
    options.open(path)
}

/// Keeps others from reading what is written; returns the mode that the file will have in the end.
#[cfg(unix)]
fn restrict(file: &File, present: Option<&Metadata>) -> io::Result<u32> {
    use std::os::unix::fs::PermissionsExt;
    let given = file.metadata()?.permissions().mode();
    // Some file systems know no permissions; then there is nothing to keep from anybody.
    let _ = set_mode(file, 0o600);
    let present = present.filter(|present| present.is_file());
    Ok(present.map_or(given, |present| present.permissions().mode()) & 0o7777)
}

#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if file.metadata()?.permissions().mode() & 0o7777 == mode {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// A name beside a place that nothing has yet.
pub(super) fn beside(place: &Path, end: &str) -> PathBuf {
    let mut name = start_of(place.file_name().unwrap_or_default());
    name.push(MARK);
    name.push(draw_letters());
    name.push(end);
    folder_of(place).join(name)
}

/// Letters for a name that nothing has yet.
pub(crate) fn draw_letters() -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    // The keys of a hash map differ from map to map and from process to process.
    let mut drawn = RandomState::new().hash_one(std::process::id()) as usize;
    let letter = |_| {
        let letter = LETTERS[drawn % LETTERS.len()];
        drawn /= LETTERS.len();
        char::from(letter)
    };
    (0..DRAWN).map(letter).collect()
}

/// The start of the names beside a file, up to the mark.
fn start_of(name: &OsStr) -> OsString {
    let mut start = OsString::from(".");
    if name.len() <= MAX_NAME {
        start.push(name)
    } else {
        let name = name.to_string_lossy();
        start.push(&name[..name.floor_char_boundary(MAX_NAME)]);
    }
    start
}

/// The name up to the mark, if it is one of ours with this end.
fn is_ours<'a>(name: &'a str, end: &str) -> Option<&'a str> {
    let (start, drawn) = name.strip_suffix(end)?.rsplit_once(MARK)?;
    let letters = drawn.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (letters && drawn.len() == DRAWN).then_some(start)
}

/// The files of a folder that are ours, have this end, and start as `wanted` says.
fn ours(folder: &Path, end: &str, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        let name = entry.file_name();
        let start = name.to_str().and_then(|name| is_ours(name, end));
        start.is_some_and(&wanted)
    });
    named.map(|entry| entry.path()).collect()
}

/// Removes partial files whose process is gone. Best effort: they may belong to somebody else.
pub(super) fn remove_abandoned(folder: &Path, wanted: impl Fn(&str) -> bool) {
    for path in ours(folder, PARTIAL, wanted) {
        // An error says that its process lives, or that nobody can tell.
        if let Ok(file) = OpenOptions::new().write(true).open(&path)
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Removes what runs that were killed kept of earlier files at these places. Only while the folder is locked:
/// then no run that lives has any.
pub(super) fn remove_kept(place: &Path) {
    let start = start_of(place.file_name().unwrap_or_default());
    for path in ours(folder_of(place), KEPT, |name| start == *name) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_of_the_dead_go_and_those_of_the_living_and_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out.csv");
        let alive = Partial::new(&place).unwrap();
        for name in [
            ".out.csv.quorate-abcdefgh.partial",
            // Not ours, or of another file.
            ".out.csv.notes.partial",
            ".out.csv.quorate-mine.partial",
            "out.csv.quorate-abcdefgh.partial",
            ".other.csv.quorate-abcdefgh.partial",
        ] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let next = Partial::new(&place).unwrap();
        assert!(alive.path.exists() && next.path.exists() && alive.path != next.path);
        assert!(!folder.path().join(".out.csv.quorate-abcdefgh.partial").exists());
        drop((alive, next));
        let left = names(folder.path());
        assert_eq!(left.len(), 4, "{left:?}");
    }

    #[test]
    fn a_name_as_long_as_the_file_system_allows() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("ä".repeat(127));
        let partial = Partial::new(&place).unwrap();
        fs::rename(&partial.path, &place).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_a_file_while_it_is_written() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let usual = folder.path().join("usual");
        fs::write(&usual, "").unwrap();
        let place = folder.path().join("out.csv");
        let partial = Partial::new(&place).unwrap();
        assert_eq!(mode(&partial.path), 0o600);
        partial.finish().unwrap();
        assert_eq!(mode(&partial.path), mode(&usual));
        fs::write(&place, "").unwrap();
        for old in [0o600, 0o640, 0o664] {
            fs::set_permissions(&place, fs::Permissions::from_mode(old)).unwrap();
            let partial = Partial::new(&place).unwrap();
            assert_eq!(mode(&partial.path), 0o600);
            partial.finish().unwrap();
            assert_eq!(mode(&partial.path), old);
        }
    }
}
