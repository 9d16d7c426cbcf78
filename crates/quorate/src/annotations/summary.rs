//! Plain facts of a table.

use super::Annotations;

/// Sizes and spread of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableSummary {
    /// Number of tasks, those without labels included.
    pub tasks: usize,
    /// Number of workers.
    pub workers: usize,
    /// Number of classes.
    pub classes: usize,
    /// Number of labels.
    pub labels: usize,
    /// Tasks that nobody labelled (only abstentions).
    pub unlabelled_tasks: usize,
    /// Labels on a task.
    pub labels_per_task: LabelsPerTask,
    /// Labels of a worker.
    pub labels_per_worker: LabelsPerWorker,
    /// Labels of each class, in order of class.
    pub labels_per_class: Vec<usize>,
}

/// How many labels tasks have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelsPerTask {
    /// Fewest on a task.
    pub least: usize,
    /// Mean over the tasks.
    pub mean: f64,
    /// Most on a task.
    pub most: usize,
}

/// How many labels workers gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelsPerWorker {
    /// Fewest of a worker.
    pub least: usize,
    /// Median over the workers.
    pub median: usize,
    /// Most of a worker.
    pub most: usize,
}

impl TableSummary {
    pub(super) fn of(annotations: &Annotations) -> Self {
        let ends = annotations.task_starts().windows(2);
        let sizes = ends.map(|pair| (pair[1] - pair[0]) as usize);
        let tasks = annotations.task_count();
        let labels = annotations.label_count();
        let mut per_worker = annotations.labels_per_worker();
        per_worker.sort_unstable();
        let mut labels_per_class = vec![0; annotations.class_count()];
        for &label in &annotations.block.label {
            labels_per_class[label as usize] += 1;
        }
        Self {
            tasks,
            workers: annotations.worker_count(),
            classes: annotations.class_count(),
            labels,
            unlabelled_tasks: annotations.unlabelled_tasks(),
            labels_per_task: LabelsPerTask {
                least: sizes.clone().min().unwrap_or(0),
                mean: labels as f64 / tasks.max(1) as f64,
                most: sizes.max().unwrap_or(0),
            },
            labels_per_worker: LabelsPerWorker {
                least: per_worker.first().copied().unwrap_or(0) as usize,
                median: per_worker.get(per_worker.len() / 2).copied().unwrap_or(0) as usize,
                most: per_worker.last().copied().unwrap_or(0) as usize,
            },
            labels_per_class,
        }
    }
}
