//! The tables that Quorate reads and writes, one file each: what their columns mean.

pub(crate) mod annotations;
mod assignments;
pub(crate) mod changes;
pub(crate) mod column_roles;
pub(crate) mod comparisons;
pub(crate) mod consensus;
mod features;
mod ids;
mod intervals;
mod judgements;
mod kept_labels;
pub(crate) mod label_cells;
mod labels;
mod leaderboard;
mod model;
mod model_history;
pub(crate) mod name_filter;
mod probabilities;
mod review;
mod task_texts;
mod update;
mod verdicts;
mod worker_numbers;
mod workers;

pub use annotations::{
    AnnotationsRead, Columns, ReadOptions, read_annotations, read_annotations_with, write_annotations,
};
pub use assignments::{read_assignments, write_dispatch, write_plan};
pub use changes::{ChangeRow, write_changes};
pub use comparisons::{ComparisonOptions, ComparisonsRead, read_comparisons};
pub use consensus::{ConsensusParts, write_consensus};
pub use features::read_features;
pub use ids::{read_ids, write_ids};
pub use intervals::write_intervals;
pub use judgements::{JudgementsRead, read_judgements, write_panel_verdicts};
pub use kept_labels::{read_kept_labels, write_kept_labels};
pub use label_cells::TableLayout;
pub use labels::{
    CONFIDENCE_COLUMN, LabelOptions, PROBABILITY_PREFIX, TaskLabels, read_labels, read_truth, write_truth,
};
pub use leaderboard::{
    ItemScores, read_scores, write_comparisons, write_leaderboard, write_next_pairs, write_rank_judges,
    write_scores, write_simulated_judges, write_wins,
};
pub use model::{MODEL_FORMAT_VERSION, ModelFile, ModelWorker, read_model, write_model};
pub use model_history::ModelOrigin;
pub use name_filter::LeftOut;
pub use probabilities::read_probabilities;
pub use review::{describe_reasons, describe_votes, write_review};
pub use task_texts::read_task_texts;
pub use update::Update;
pub use verdicts::write_verdicts;
pub use worker_numbers::read_worker_numbers;
pub use workers::{WorkerRow, write_workers};

/// What a table that stands beside the labels holds about them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SideData<T> {
    /// The data, lined up with the labels.
    pub data: T,
    /// Rows about tasks or workers that the labels do not have: not used.
    pub foreign: usize,
}

impl<T> SideData<T> {
    fn new(data: T) -> Self {
        Self { data, foreign: 0 }
    }
}
