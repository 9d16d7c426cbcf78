//! The annotation tools whose exports are read and written.

/// An enum of formats with a name for programs and what a file is in words.
macro_rules! formats {
    ($(#[$doc:meta])* pub enum $kind:ident { $($(#[$about:meta])* $format:ident = $name:literal, $title:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $kind {
            $($(#[$about])* $format,)*
        }

        impl $kind {
            /// All of them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$format),*];

            /// Its name for programs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$format => $name,)*
                }
            }

            /// What such a file is, in words.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$format => $title,)*
                }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $kind {
            type Err = $crate::Error;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|format| format.name() == word);
                found.ok_or_else(|| {
                    $crate::ErrorKind::UnknownFormat(format!("the format {word:?}")).into()
                })
            }
        }
    };
}

formats! {
    /// A tool, or another source of labels, with a file layout of its own.
    pub enum Tool {
        /// Label Studio, JSON: a list of tasks with their annotations.
        LabelStudio = "label-studio", "a Label Studio export";
        /// Label Studio, JSON-MIN, CSV or TSV: an object or row for each annotation.
        LabelStudioMin = "label-studio-min", "a Label Studio export (one row for each annotation)";
        /// Prodigy, JSONL of `db-out`.
        Prodigy = "prodigy", "Prodigy annotations";
        /// Argilla 2.x records, nested or flattened.
        Argilla = "argilla", "Argilla records";
        /// doccano: a file for each user, in a folder or a zip file.
        Doccano = "doccano", "a doccano export";
        /// Amazon Mechanical Turk, batch results as CSV.
        Mturk = "mturk", "Mechanical Turk batch results";
        /// Toloka, assignments as TSV.
        Toloka = "toloka", "Toloka assignments";
        /// Appen (Figure Eight, CrowdFlower), full report as CSV.
        Appen = "appen", "an Appen full report";
        /// SageMaker Ground Truth: the payload of a consolidation request, or worker responses.
        GroundTruth = "ground-truth", "a SageMaker Ground Truth payload";
        /// Judgements of language models: an object for each item with a map of judges.
        Judges = "judges", "judgements with a map of judges";
        /// Labelbox, NDJSON.
        Labelbox = "labelbox", "a Labelbox export";
        /// Text without a header: item, worker and label on each line.
        Triples = "triples", "lines of item, worker, label without a header";
        /// `answers.json`: an object of items, each an object of workers and labels.
        AnswersJson = "answers-json", "answers by item and worker (answers.json)";
    }
}

impl Tool {
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

formats! {
    /// A consensus in the form that a tool takes back.
    pub enum WriteBack {
        /// Label Studio: the tasks with the consensus as a prediction.
        LabelStudioPredictions = "label-studio-predictions", "the tasks with the consensus as a prediction";
        /// Prodigy: the examples in the form of its review.
        ProdigyReview = "prodigy-review", "the examples in the form of Prodigy's review, the consensus filled in";
        /// Argilla: the records with the consensus as a suggestion.
        ArgillaSuggestions = "argilla-suggestions", "the records with the consensus as a suggestion";
        /// Mechanical Turk: the batch with assignments approved and rejected.
        MturkReview = "mturk-review", "the batch with Approve and Reject filled in";
        /// SageMaker Ground Truth: the reply to a consolidation request.
        GroundTruthReply = "ground-truth-reply", "the reply to a consolidation request";
        /// SageMaker Ground Truth: an augmented manifest.
        GroundTruthManifest = "ground-truth-manifest", "an augmented manifest with the consensus";
    }
}

impl WriteBack {
    /// The tool whose exports it is made from.
    pub fn tool(self) -> Tool {
        match self {
            Self::LabelStudioPredictions => Tool::LabelStudio,
            Self::ProdigyReview => Tool::Prodigy,
            Self::ArgillaSuggestions => Tool::Argilla,
            Self::MturkReview => Tool::Mturk,
            Self::GroundTruthReply | Self::GroundTruthManifest => Tool::GroundTruth,
        }
    }
}
