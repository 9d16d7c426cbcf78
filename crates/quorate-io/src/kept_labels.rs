//! The labels that a model rests on, kept beside its file, so that it can be brought up to date.
//!
//! A table `task, worker, label` in zstd-packed CSV. Rows without a label come first, one for each worker, and stand in for
//! tasks that nobody labelled: read back, tasks and workers are the same in the same order, which the fingerprint in the
//! model file confirms.

use std::path::{Path, PathBuf};

use quorate::annotations::{Annotations, Duplicates};

use crate::annotations::{ReadOptions, label_columns, read_annotations_with};
use crate::error::{ErrorKind, Result};
use crate::model::ModelFile;
use crate::source::{Progress, Source};
use crate::table::{Cell, ColumnKind, Table, write_table};
use crate::target::Target;

/// The name of the labels' file for a model at this path: `model.json` has `model.labels.csv.zst`.
fn file_name(model: &Path) -> String {
    let stem = model.file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}.labels.csv.zst")
}

/// Writes the labels beside the model's place and returns the name to note in the model file.
pub fn write_kept_labels(model: &Path, annotations: &Annotations) -> Result<String> {
    let name = file_name(model);
    let target = Target::from(model.with_file_name(&name));
    write_table(&target, None, &KeptRows(annotations))?;
    Ok(name)
}

/// Reads the labels that the model at `path` rests on, and makes sure that they are these.
pub fn read_kept_labels(path: &Path, model: &ModelFile, progress: Progress<'_>) -> Result<Annotations> {
    let wrong = |words: String| Err(ErrorKind::Model(words).into());
    let Some(name) = &model.labels_file else {
        let words = "the labels that this model rests on were not kept: fit it anew with `--model FILE --keep-labels`";
        return wrong(words.into());
    };
    let place: PathBuf = path.with_file_name(name);
    if Path::new(name)
        .file_name()
        .is_none_or(|last| last != name.as_str())
    {
        return wrong(format!(
            "found {name:?} as the file of the labels, expected the name of a file in the same folder"
        ));
    }
    let options = ReadOptions {
        classes: Some(model.classes.clone()),
        duplicates: Duplicates::Keep,
        missing: Vec::new(),
        ..ReadOptions::default()
    };
    let labels = read_annotations_with(&Source::from(place.clone()), &options, progress)?.annotations;
    if format!("{:016x}", labels.fingerprint()) != model.fingerprint {
        return wrong(format!(
            "{} does not hold the labels that this model was fitted on: fit the model anew",
            place.display()
        ));
    }
    Ok(labels)
}

struct KeptRows<'t>(&'t Annotations);

impl Table for KeptRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        label_columns()
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let (tasks, workers, classes) = (self.0.tasks(), self.0.workers(), self.0.classes());
        let mut row = |task: &str, worker: &str, label: &str| {
            each(&[Cell::Text(task), Cell::Text(worker), Cell::Text(label)])
        };
        for worker in workers.iter() {
            row(tasks.get(0), worker, "")?;
        }
        for (n, task) in tasks.iter().enumerate() {
            if self.0.task_slices(n).0.is_empty() {
                row(task, workers.get(0), "")?;
            }
            for (m, x) in self.0.labels_of_task(n) {
                row(task, workers.get(m), classes.get(x))?;
            }
        }
        Ok(())
    }
}
