//! The public data sets labelled by people.

use std::path::Path;

use anyhow::Result;
use quorate::Annotations;
use quorate_io::{ReadOptions, Source, read_annotations, read_ids, read_truth};

/// Labels and the truth.
#[derive(Debug)]
pub struct HumanData {
    /// The labels.
    pub annotations: Annotations,
    /// The true class of each task, where it is known.
    pub truth: Vec<Option<usize>>,
}

impl HumanData {
    /// Reads `folder/name/labels.csv` and `truth.csv`; of dog, the 52 workers of `workers_top52.csv`, as in
    /// the paper.
    pub fn read(folder: &Path, name: &str) -> Result<Self> {
        let place = folder.join(name);
        let mut options = ReadOptions::default();
        if name == "dog" {
            let ids = read_ids(&Source::from(place.join("workers_top52.csv")), "worker")?;
            options.keep_workers = Some(ids.iter().map(str::to_owned).collect());
        }
        let annotations = read_annotations(&Source::from(place.join("labels.csv")), &options)?.annotations;
        let truth = read_truth(&Source::from(place.join("truth.csv")), &annotations)?;
        Ok(Self { annotations, truth })
    }

    /// Number of tasks with known truth.
    pub fn known(&self) -> usize {
        self.truth.iter().flatten().count()
    }
}
