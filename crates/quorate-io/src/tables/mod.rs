//! The tables that Quorate reads and writes, one file each: what their columns mean.

pub(crate) mod annotations;
pub(crate) mod changes;
pub(crate) mod consensus;
mod features;
mod ids;
mod intervals;
mod kept_labels;
mod labels;
mod model;
mod model_history;
mod probabilities;
mod verdicts;
mod workers;

pub use annotations::{
    AnnotationsRead, Columns, ReadOptions, read_annotations, read_annotations_with, write_annotations,
};
pub use changes::{ChangeRow, write_changes};
pub use consensus::{write_consensus, write_consensus_with_difficulty};
pub use features::{FeaturesRead, read_features};
pub use ids::read_ids;
pub use intervals::write_intervals;
pub use kept_labels::{read_kept_labels, write_kept_labels};
pub use labels::{
    CONFIDENCE_COLUMN, LabelColumns, LabelOptions, PROBABILITY_PREFIX, TaskLabels, read_labels, write_truth,
};
pub use model::{MODEL_FORMAT_VERSION, ModelFile, ModelWorker, read_model, write_model};
pub use probabilities::{ProbabilitiesRead, read_probabilities};
pub use verdicts::write_verdicts;
pub use workers::{WorkerRow, write_workers};
