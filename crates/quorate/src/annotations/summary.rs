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
    /// Least, mean and greatest number of labels on a task.
    pub labels_per_task: (usize, f64, usize),
    /// Least, median and greatest number of labels of a worker.
    pub labels_per_worker: (usize, usize, usize),
    /// Labels of each class, in order of class.
    pub labels_per_class: Vec<usize>,
}

impl TableSummary {
    pub(super) fn of(annotations: &Annotations) -> Self {
        let sizes = annotations
            .task_starts()
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as usize);
        let tasks = annotations.task_count();
        let labels = annotations.label_count();
        let mut per_worker = annotations.labels_per_worker();
        per_worker.sort_unstable();
        let mut labels_per_class = vec![0; annotations.class_count()];
        for &label in &annotations.label {
            labels_per_class[label as usize] += 1;
        }
        Self {
            tasks,
            workers: annotations.worker_count(),
            classes: annotations.class_count(),
            labels,
            unlabelled_tasks: annotations.unlabelled_tasks(),
            labels_per_task: (
                sizes.clone().min().unwrap_or(0),
                if tasks == 0 {
                    0.0
                } else {
                    labels as f64 / tasks as f64
                },
                sizes.max().unwrap_or(0),
            ),
            labels_per_worker: (
                per_worker.first().copied().unwrap_or(0) as usize,
                per_worker.get(per_worker.len() / 2).copied().unwrap_or(0) as usize,
                per_worker.last().copied().unwrap_or(0) as usize,
            ),
            labels_per_class,
        }
    }
}
