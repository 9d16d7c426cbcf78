//! The tasks as a network sees them: a matrix of features and the labels, in an order of their own.
//!
//! A network starts from random weights and sums in floating point, so what it learns hangs on the order of
//! tasks, workers and classes. Here that order depends neither on the order of the rows nor on the names of
//! workers and classes (as far as they differ in anything else): tasks by name, workers in canonical order,
//! classes by number of labels.

use ndarray::{Array2, ArrayView1};
use quorate::model::Consensus;
use quorate::{Annotations, Context, Error, Remedy, Result, TaskFeatures};

use crate::training::Scaling;

/// Features and labels of all tasks.
pub(crate) struct Examples {
    /// Task of each row.
    tasks: Vec<usize>,
    /// Class code of each inner class.
    classes: Vec<usize>,
    /// A row of features for each row.
    pub(crate) features: Array2<f32>,
    /// Where the labels of each row start.
    starts: Vec<usize>,
    /// Labels as inner (worker, class), in order of worker.
    labels: Vec<(u32, u16)>,
}

impl Examples {
    /// Lines features and labels up; fails if the context has no features for these tasks.
    pub(crate) fn new(
        method: &'static str,
        annotations: &Annotations,
        context: &Context,
        scaling: Scaling,
    ) -> Result<Self> {
        let given = context.features().ok_or(Error::MissingInput {
            method,
            reason: "it learns from features of the tasks, and none were given",
            remedy: Remedy::GiveFeatures,
        })?;
        given.check(annotations)?;
        if given.width() == 0 {
            let reason = "the tasks have no features: give at least one number for each task".to_owned();
            return Err(Error::NotApplicable { method, reason });
        }
        context.reserve(
            format!("the features of {} tasks", annotations.task_count()),
            4 * (annotations.task_count() * given.width()) as u64,
            "use fewer features",
        )?;
        let mut tasks: Vec<usize> = (0..annotations.task_count()).collect();
        tasks.sort_by_key(|&task| annotations.tasks().get(task));
        let classes = order_classes(annotations);
        let (worker_rank, class_rank) = (ranks(&annotations.canonical_worker_order()), ranks(&classes));
        let mut starts = vec![0];
        let mut labels = Vec::with_capacity(annotations.label_count());
        for &task in &tasks {
            let own = labels.len();
            let rank =
                |(worker, class): (usize, usize)| (worker_rank[worker] as u32, class_rank[class] as u16);
            labels.extend(annotations.labels_of_task(task).map(rank));
            labels[own..].sort_unstable();
            starts.push(labels.len());
        }
        Ok(Self {
            features: gather(&tasks, &given, scaling),
            tasks,
            classes,
            starts,
            labels,
        })
    }

    pub(crate) fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Rows that have labels.
    pub(crate) fn labelled(&self) -> Vec<u32> {
        let rows = 0..self.tasks.len() as u32;
        rows.filter(|&row| !self.labels(row).is_empty()).collect()
    }

    pub(crate) fn label_count(&self) -> usize {
        self.labels.len()
    }

    /// The labels of a row.
    pub(crate) fn labels(&self, row: u32) -> &[(u32, u16)] {
        &self.labels[self.starts[row as usize]..self.starts[row as usize + 1]]
    }

    /// A value for each task turned into one for each row, class codes into inner classes.
    pub(crate) fn inner_classes(&self, class_of_task: impl Fn(usize) -> usize) -> Vec<usize> {
        let rank = ranks(&self.classes);
        self.tasks.iter().map(|&task| rank[class_of_task(task)]).collect()
    }

    /// Class probabilities of the rows as a consensus on the tasks.
    pub(crate) fn consensus(&self, probabilities: &Array2<f32>) -> Consensus {
        let classes = self.classes.len();
        let mut rows = vec![0.0; self.tasks.len() * classes];
        for (row, &task) in probabilities.rows().into_iter().zip(&self.tasks) {
            let sum: f64 = row.iter().map(|&p| f64::from(p)).sum();
            for (&p, &class) in row.iter().zip(&self.classes) {
                rows[task * classes + class] = f64::from(p) / sum;
            }
        }
        Consensus::new(classes, rows)
    }
}

/// Most labels first; names only break ties.
fn order_classes(annotations: &Annotations) -> Vec<usize> {
    let mut counts = vec![0usize; annotations.class_count()];
    annotations.iter().for_each(|(_, _, class)| counts[class] += 1);
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&class| std::cmp::Reverse(counts[class]));
    order
}

/// The place of each value in an order.
fn ranks<T: Copy + TryInto<usize>>(order: &[T]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (rank, &value) in order.iter().enumerate() {
        if let Ok(value) = value.try_into() {
            ranks[value] = rank;
        }
    }
    ranks
}

fn gather(tasks: &[usize], given: &TaskFeatures, scaling: Scaling) -> Array2<f32> {
    let mut features = Array2::zeros((tasks.len(), given.width()));
    for (mut row, &task) in features.rows_mut().into_iter().zip(tasks) {
        row.assign(&ArrayView1::from(given.row(task)));
    }
    if scaling == Scaling::Standard {
        features.columns_mut().into_iter().for_each(standardise);
    }
    features
}

/// Mean 0 and standard deviation 1; a constant column becomes zeros.
fn standardise(mut column: ndarray::ArrayViewMut1<'_, f32>) {
    let count = column.len() as f64;
    let mean = column.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
    let variance = column.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count;
    let spread = variance.sqrt();
    let constant = spread <= mean.abs() * f64::from(f32::EPSILON);
    let scale = if constant { 0.0 } else { 1.0 / spread };
    column.mapv_inplace(|x| ((f64::from(x) - mean) * scale) as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_names_and_classes_their_number_of_labels() {
        let mut builder = quorate::AnnotationsBuilder::default();
        for (task, worker, label) in [("z", "ann", "x"), ("a", "ann", "y"), ("a", "bob", "y")] {
            builder.push(task, worker, label).unwrap();
        }
        let annotations = builder.build().unwrap();
        let mut features = TaskFeatures::none(&annotations, 2);
        features.set(0, &[1.0, 5.0]).unwrap();
        features.set(1, &[3.0, 5.0]).unwrap();
        let context = Context::new(0).with_features(features);
        let examples = Examples::new("x", &annotations, &context, Scaling::Standard).unwrap();
        assert_eq!(examples.features, ndarray::arr2(&[[1.0, 0.0], [-1.0, 0.0]]));
        assert_eq!(examples.labels(0), [(0, 0), (1, 0)]);
        assert_eq!(examples.labels(1), [(0, 1)]);
        let consensus = examples.consensus(&ndarray::arr2(&[[0.75, 0.25], [0.5, 0.5]]));
        assert_eq!(consensus.row(1), [0.25, 0.75]);
    }
}
