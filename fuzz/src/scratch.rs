//! A file to read from: readers take paths.

use std::fs;
use std::path::{Path, PathBuf};

use quorate_io::{Error, Source};
use tempfile::TempDir;

thread_local! {
    /// One folder for each thread, so that tests can run side by side.
    static FOLDER: TempDir = tempfile::tempdir().expect("a temporary folder can be made");
}

/// Writes the bytes to a file of this name, always the same one.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.with(|folder| folder.path().join(name));
    fs::write(&path, bytes).expect("the temporary folder can be written");
    path
}

/// The same as a source.
pub(crate) fn source(name: &str, bytes: &[u8]) -> Source {
    Source::from(file(name, bytes))
}

/// The folder itself.
pub(crate) fn folder<T>(work: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with(|folder| work(folder.path()))
}

/// Every error of a reader says something, and of which file.
pub(crate) fn check_words<T>(read: Result<T, Error>) -> Option<T> {
    read.inspect_err(|error| {
        let words = error.to_string();
        assert!(error.file().is_some(), "an error without a file: {words}");
        assert!(words.len() > 10, "an error without words: {words}");
        assert!(!words.contains('\u{1b}'), "an error with a raw escape: {words:?}");
    })
    .ok()
}
