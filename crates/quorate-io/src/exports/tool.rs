//! The annotation tools whose exports are read and written.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// A tool, or another source of labels, with a file layout of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Label Studio, JSON: a list of tasks with their annotations.
    LabelStudio,
    /// Label Studio, JSON-MIN, CSV or TSV: an object or row for each annotation.
    LabelStudioMin,
    /// Prodigy, JSONL of `db-out`.
    Prodigy,
    /// Argilla 2.x records, nested or flattened.
    Argilla,
    /// doccano: a file for each user, in a folder or a zip file.
    Doccano,
    /// Amazon Mechanical Turk, batch results as CSV.
    Mturk,
    /// Toloka, assignments as TSV.
    Toloka,
    /// Appen (Figure Eight, CrowdFlower), full report as CSV.
    Appen,
    /// SageMaker Ground Truth: the payload of a consolidation request, or worker responses.
    GroundTruth,
    /// Judgements of language models: an object for each item with a map of judges.
    Judges,
    /// Labelbox, NDJSON.
    Labelbox,
    /// Text without a header: item, worker and label on each line.
    Triples,
    /// `answers.json`: an object of items, each an object of workers and labels.
    AnswersJson,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::LabelStudio,
        Self::LabelStudioMin,
        Self::Prodigy,
        Self::Argilla,
        Self::Doccano,
        Self::Mturk,
        Self::Toloka,
        Self::Appen,
        Self::GroundTruth,
        Self::Judges,
        Self::Labelbox,
        Self::Triples,
        Self::AnswersJson,
    ];

    /// Its name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LabelStudio => "label-studio",
            Self::LabelStudioMin => "label-studio-min",
            Self::Prodigy => "prodigy",
            Self::Argilla => "argilla",
            Self::Doccano => "doccano",
            Self::Mturk => "mturk",
            Self::Toloka => "toloka",
            Self::Appen => "appen",
            Self::GroundTruth => "ground-truth",
            Self::Judges => "judges",
            Self::Labelbox => "labelbox",
            Self::Triples => "triples",
            Self::AnswersJson => "answers-json",
        }
    }

    /// What a file of it is, in words: "a Label Studio export".
    pub fn title(self) -> &'static str {
        match self {
            Self::LabelStudio => "a Label Studio export",
            Self::LabelStudioMin => "a Label Studio export (one row for each annotation)",
            Self::Prodigy => "Prodigy annotations",
            Self::Argilla => "Argilla records",
            Self::Doccano => "a doccano export",
            Self::Mturk => "Mechanical Turk batch results",
            Self::Toloka => "Toloka assignments",
            Self::Appen => "an Appen full report",
            Self::GroundTruth => "a SageMaker Ground Truth payload",
            Self::Judges => "judgements with a map of judges",
            Self::Labelbox => "a Labelbox export",
            Self::Triples => "lines of item, worker, label without a header",
            Self::AnswersJson => "answers by item and worker (answers.json)",
        }
    }

    /// What the tool calls a worker.
    pub fn worker_noun(self) -> &'static str {
        match self {
            Self::Judges => "judge",
            Self::Mturk | Self::Toloka | Self::Appen | Self::GroundTruth => "worker",
            Self::Triples | Self::AnswersJson => "worker",
            _ => "annotator",
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tool {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|tool| tool.name() == word)
            .ok_or_else(|| {
                ErrorKind::UnknownFormat {
                    found: format!("the format {word:?}"),
                }
                .into()
            })
    }
}
