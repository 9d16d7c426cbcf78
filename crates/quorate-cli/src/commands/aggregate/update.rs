//! `aggregate --update`: new labels folded into a model that was fitted before.
//!
//! The labels that the model rests on were kept beside it (`--keep-labels`). They are joined with the new
//! ones as if all rows stood in one file, and fitted from the votes, as a full fit does, in fewer passes
//! (`DawidSkeneEm::fit_accelerated`). A start from the saved counts would save little more, and end in
//! another optimum of the likelihood than a full fit for a few tasks.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use quorate::annotations::Duplicates;
use quorate::methods::{DEFAULT_METHOD, DawidSkeneEm, Fit, Method, Values};
use quorate::{Annotations, Context};
use quorate_io::{ModelFile, Source, expect_unchanged, read_kept_labels, read_model, write_kept_labels};

use crate::catalog::find;
use crate::printer::Printer;
use crate::text_table::plural;

/// The one method whose models can be brought up to date.
const METHOD: &str = "dawid-skene";

/// Bringing a model up to date.
#[derive(Debug, Args)]
#[command(next_help_heading = "Updates")]
pub struct UpdateArgs {
    /// Fold LABELS into this model, fitted before by dawid-skene with --model and --keep-labels
    ///
    /// The output covers all tasks, old and new, and is that of a fit of all labels together, run to its end:
    /// the rounds are accelerated, so it takes a fraction of the passes. Where the labels hardly tell (fewer
    /// than two a task, workers who guess, a class named once) it can end in another optimum. Parameters are
    /// those of the model unless --param says otherwise (max-iter bounds the passes); give --gold, --prior,
    /// --classes and --duplicates as before. With --model the labels are kept again; it may be the same file.
    #[arg(long, value_name = "MODEL", conflicts_with = "worker_prior")]
    update: Option<PathBuf>,
    /// Keep the labels beside the file of --model (NAME.FINGERPRINT.labels.bin), for a later --update
    #[arg(long, requires = "model")]
    keep_labels: bool,
}

/// A model that is to be brought up to date.
#[derive(Debug)]
pub struct Update {
    model: ModelFile,
}

impl UpdateArgs {
    /// Reads the model, if there is one to update, and the labels that it rests on. `method`: the one asked
    /// for; `replaces`: the model that will be written.
    pub fn open(&self, method: &str, replaces: Option<&PathBuf>) -> Result<Option<(Update, Annotations)>> {
        let Some(path) = &self.update else {
            return Ok(None);
        };
        if method != DEFAULT_METHOD && find(method)?.name != METHOD {
            bail!(
                "--update works for {METHOD} only: leave --method out, or fit all labels anew without --update"
            );
        }
        let read = || {
            if replaces == Some(path) {
                expect_unchanged(path);
            }
            read_model(&Source::from(path.clone()))
        };
        let mut model = read()?;
        if model.method != METHOD {
            bail!(
                "{} was fitted by {:?}, and --update works for {METHOD} only: fit all labels anew without --update",
                path.display(),
                model.method
            );
        }
        let saved: Vec<_> = model.parameters.clone().into_iter().collect();
        find(METHOD)?
            .with_parameters(&saved)
            .map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let mut labels = read_kept_labels(path, &model);
        // Another run may put a newer model and its labels there between the two: then read both again.
        if labels.is_err() {
            let again = read()?;
            if again.labels_file != model.labels_file {
                model = again;
                labels = read_kept_labels(path, &model);
            }
        }
        Ok(Some((Update { model }, labels?)))
    }

    /// The model that is to be updated.
    pub fn path(&self) -> Option<&PathBuf> {
        self.update.as_ref()
    }

    /// Whether a model is to be updated.
    pub fn is_given(&self) -> bool {
        self.update.is_some()
    }

    /// Whether labels are to be kept.
    pub fn keeps_labels(&self) -> bool {
        self.keep_labels
    }

    /// Keeps the labels beside the model at `path`, if that was asked for, and notes them in its file.
    pub fn keep_labels(
        &self,
        path: &std::path::Path,
        annotations: &Annotations,
        file: &mut ModelFile,
    ) -> Result<()> {
        if self.keep_labels || self.is_given() {
            write_kept_labels(path, annotations, file)?;
        }
        Ok(())
    }
}

impl Update {
    /// The method of the model.
    pub fn method(&self) -> Result<&'static Method> {
        Ok(find(&self.model.method)?)
    }

    /// The model's parameters with those that are given now.
    pub fn parameters(&self, given: Vec<(String, String)>) -> Vec<(String, String)> {
        let mut parameters = self.model.parameters.clone();
        parameters.extend(given);
        parameters.into_iter().collect()
    }

    /// Fits all labels.
    pub fn fit(&self, annotations: &Annotations, values: &Values, context: &mut Context) -> Result<Fit> {
        Ok(DawidSkeneEm::from(values).fit_accelerated(annotations, context)?)
    }
}

/// The labels that a model rests on, followed by the new ones. `closed`: the user listed the classes.
pub fn join(
    old: Annotations,
    new: &Annotations,
    duplicates: Duplicates,
    closed: bool,
    printer: &mut Printer,
) -> Result<Annotations> {
    let missing = old
        .classes()
        .iter()
        .find(|class| new.classes().find(class).is_none());
    if let (true, Some(class)) = (closed, missing) {
        bail!("class {class:?} of --update is not among --classes: add it there, or leave --classes out");
    }
    let (labels, tasks, workers) = (old.label_count(), old.task_count(), old.worker_count());
    let joined = old.concat(new, duplicates)?;
    printer.note(format!(
        "{} folded into a model of {}: {} new, {} new",
        plural(new.label_count(), "label"),
        plural(labels, "label"),
        plural(joined.task_count() - tasks, "task"),
        plural(joined.worker_count() - workers, "worker"),
    ));
    Ok(joined)
}
