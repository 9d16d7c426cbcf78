//! Files in and out, through the public interface: one module for each kind of file, one for hostile input.

#[cfg(feature = "columnar")]
mod columnar;
mod delimited;
mod exports;
mod exports_hostile;
mod exports_written;
mod hostile;
mod jsonl;
mod kept_labels;
mod labels;
mod layouts;
mod model;
mod outputs;
mod results;
mod round_trip;
mod spill;

use std::path::PathBuf;

use quorate::Annotations;
use quorate_io::{AnnotationsRead, Error, ReadOptions, Source, read_annotations};

/// A folder with one file in it, gone at the end of the test.
struct Fixture {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Fixture {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    fn source(&self) -> Source {
        self.path.as_path().into()
    }
}

fn read_with(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> Result<AnnotationsRead, Error> {
    read_annotations(&Fixture::new(name, content).source(), options)
}

fn read(name: &str, content: impl AsRef<[u8]>) -> Result<Annotations, Error> {
    Ok(read_with(name, content, &ReadOptions::default())?.annotations)
}

/// The error of a file that must not be readable, checked to name its file.
fn refused(name: &str, content: impl AsRef<[u8]>) -> Error {
    let error = read(name, content).unwrap_err();
    assert!(error.file().unwrap().ends_with(name), "{error}");
    error
}

/// The labels as text, in order of text.
fn rows(annotations: &Annotations) -> Vec<[String; 3]> {
    let mut rows: Vec<[String; 3]> = annotations
        .iter()
        .map(|(n, m, x)| {
            [
                annotations.tasks().get(n).to_owned(),
                annotations.workers().get(m).to_owned(),
                annotations.classes().get(x).to_owned(),
            ]
        })
        .collect();
    rows.sort();
    rows
}

fn row(task: &str, worker: &str, label: &str) -> [String; 3] {
    [task.to_owned(), worker.to_owned(), label.to_owned()]
}
