//! `aggregate --update`: new labels folded into a model that was fitted before.
//!
//! The labels that the model rests on were kept beside it (`--keep-labels`). They are joined with the new ones as if all rows
//! stood in one file, and fitted: from the votes, which is a full fit, bit for bit, without reading the old tables again; or from the saved
//! counts, for a few passes. The likelihood has several optima, so from there a few tasks can end otherwise than in a full fit.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use quorate::annotations::Duplicates;
use quorate::methods::{Aggregate, DEFAULT_METHOD, DawidSkeneEm, Fit, Method, Values};
use quorate::{Annotations, Context};
use quorate_io::{ModelFile, Source, read_kept_labels, read_model, write_kept_labels};

use crate::catalog::find;
use crate::printer::Printer;
use crate::progress::Bar;
use crate::text_table::plural;

/// The one method that can start from a saved model.
const METHOD: &str = "dawid-skene";

/// Bringing a model up to date.
#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// Fold LABELS into this model, fitted before by dawid-skene with --model and --keep-labels
    ///
    /// The output covers all tasks, old and new, and is that of a fit of all labels together, to the last digit. Parameters are
    /// those of the model unless --param says otherwise; give --gold, --prior, --classes and --duplicates as before. With --model
    /// the labels are kept again; it may be the same file.
    #[arg(long, value_name = "MODEL", conflicts_with = "worker_prior")]
    update: Option<PathBuf>,
    /// Where the fit of --update starts: votes, as a full fit does, or the counts of the model
    ///
    /// From the counts some rounds less are needed, and a few are good enough (-p max-iter=5); but the likelihood has
    /// several optima, and a few tasks can end in another one than that of a full fit.
    #[arg(
        long,
        value_enum,
        value_name = "START",
        default_value = "votes",
        requires = "update"
    )]
    update_start: UpdateStart,
    /// Keep the labels beside the file of --model (NAME.labels.csv.zst), for a later --update
    #[arg(long, requires = "model")]
    keep_labels: bool,
}

/// Where the fit of an update starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UpdateStart {
    /// The votes, as in a full fit.
    Votes,
    /// The counts that the model rests on.
    Counts,
}

/// A model that is to be brought up to date.
#[derive(Debug)]
pub struct Update {
    path: PathBuf,
    model: ModelFile,
    start: UpdateStart,
}

impl UpdateArgs {
    /// Reads the model, if there is one to update. `method`: the one asked for.
    pub fn open(&self, method: &str) -> Result<Option<Update>> {
        let Some(path) = &self.update else {
            return Ok(None);
        };
        if method != DEFAULT_METHOD && find(method)?.name != METHOD {
            bail!(
                "--update works for {METHOD} only: leave --method out, or fit all labels anew without --update"
            );
        }
        let model = read_model(&Source::from(path.clone()))?;
        if model.method != METHOD {
            bail!(
                "{} was fitted by {:?}, and --update works for {METHOD} only: fit all labels anew without --update",
                path.display(),
                model.method
            );
        }
        Ok(Some(Update {
            path: path.clone(),
            model,
            start: self.update_start,
        }))
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
            file.labels_file = Some(write_kept_labels(path, annotations)?);
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

    /// The labels that the model rests on, followed by the new ones. `closed`: the user listed the classes.
    pub fn join(
        &self,
        new: &Annotations,
        duplicates: Duplicates,
        closed: bool,
        printer: &mut Printer,
    ) -> Result<Annotations> {
        let mut bar = Bar::new("kept labels", printer.quiet());
        let old = read_kept_labels(&self.path, &self.model, &mut |done, total| {
            if let Some(bar) = &mut bar {
                bar.show("reading", done, total);
            }
        })?;
        drop(bar);
        let missing = old
            .classes()
            .iter()
            .find(|class| new.classes().find(class).is_none());
        if let (true, Some(class)) = (closed, missing) {
            bail!("class {class:?} of --update is not among --classes: add it there, or leave --classes out");
        }
        let joined = old.followed_by(new, duplicates)?;
        printer.note(format!(
            "{} folded into a model of {}: {} new, {} new",
            plural(new.label_count(), "label"),
            plural(old.label_count(), "label"),
            plural(joined.task_count() - old.task_count(), "task"),
            plural(joined.worker_count() - old.worker_count(), "worker"),
        ));
        Ok(joined)
    }

    /// Fits all labels.
    pub fn fit(&self, annotations: &Annotations, values: &Values, context: &mut Context) -> Result<Fit> {
        let method = DawidSkeneEm::from(values);
        Ok(match self.start {
            UpdateStart::Votes => method.fit(annotations, context)?,
            UpdateStart::Counts => {
                let (earlier, _) = self.model.history(annotations, 1.0);
                method.refit(annotations, &earlier, context)?
            }
        })
    }
}
