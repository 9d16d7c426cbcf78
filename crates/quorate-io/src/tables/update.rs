//! A model that is to be brought up to date, and the labels that it rests on.

use std::path::Path;

use quorate::Annotations;
use quorate::internal::run::{UPDATABLE, updating};
use quorate::methods::{Aggregate, DEFAULT_METHOD, Method, Values, find};

use super::kept_labels::read_kept_labels;
use super::model::{ModelFile, read_model};
use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use crate::target::expect_unchanged;

/// A method, its parameters, and the two together.
pub type ChosenMethod = (&'static Method, Vec<(String, String)>, Box<dyn Aggregate>);

/// A model that is to be brought up to date.
#[derive(Debug)]
pub struct Update {
    /// The model.
    pub model: ModelFile,
    /// The labels that it rests on.
    pub labels: Annotations,
}

impl Update {
    /// Reads the model and its labels. `method`: the one asked for; `replaced`: whether a new model takes the
    /// place of this one.
    pub fn open(path: &Path, method: &str, replaced: bool) -> Result<Self> {
        let of_model = |error: Error| error.in_file(path.display().to_string());
        if method != DEFAULT_METHOD && !find(method).is_ok_and(|method| method.name == UPDATABLE) {
            return Err(not_updatable(method));
        }
        let read = || {
            if replaced {
                expect_unchanged(path);
            }
            read_model(&Source::from(path))
        };
        let mut model = read()?;
        if model.method != UPDATABLE {
            return Err(of_model(not_updatable(&model.method)));
        }
        let mut labels = read_kept_labels(path, &model);
        // Another run may put a newer model and its labels there between the two: then read both again.
        if labels.is_err() {
            let again = read()?;
            if again.labels_file != model.labels_file {
                model = again;
                labels = read_kept_labels(path, &model);
            }
        }
        let update = Self {
            model,
            labels: labels?,
        };
        update.method(Vec::new()).map_err(of_model)?;
        Ok(update)
    }

    /// The method that brings the model up to date, with the model's parameters and those that are given now.
    pub fn method(&self, given: Vec<(String, String)>) -> Result<ChosenMethod> {
        let mut parameters = self.model.parameters.clone();
        parameters.extend(given);
        let parameters: Vec<_> = parameters.into_iter().collect();
        let method = find(UPDATABLE)?;
        let aggregate = updating(&Values::with(method.parameters, &parameters)?);
        Ok((method, parameters, aggregate))
    }
}

fn not_updatable(method: &str) -> Error {
    ErrorKind::NotUpdatable(method.to_owned()).into()
}
