//! `aggregate --update`: new labels folded into a model that was fitted before (`quorate::internal::run`).

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use quorate::Annotations;
use quorate_io::{ModelFile, Update, write_kept_labels};

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

impl UpdateArgs {
    /// Reads the model, if there is one to update, and the labels that it rests on. `method`: the one asked
    /// for; `replaces`: the model that will be written.
    pub fn open(&self, method: &str, replaces: Option<&PathBuf>) -> Result<Option<Update>> {
        let open = |path: &PathBuf| Update::open(path, method, replaces == Some(path));
        Ok(self.update.as_ref().map(open).transpose()?)
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
