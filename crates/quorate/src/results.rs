//! Results by name: the label of every task, and what a fit says of every worker.

use crate::methods::{self, Fit};
use crate::{Annotations, Context, Result};

/// The label of one task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskLabel<'a> {
    /// The task's name.
    pub task: &'a str,
    /// The most probable class; of tied ones the lowest.
    pub label: &'a str,
    /// Probability of that class.
    pub confidence: f64,
}

/// What a fit says of one worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkerResult<'a> {
    /// The worker's name.
    pub worker: &'a str,
    /// Number of labels that the worker gave.
    pub labels: usize,
    /// Share of the worker's labels that are right; none without labels.
    pub accuracy: Option<f64>,
    /// The interval that holds it with probability [`LEVEL`](crate::review::LEVEL), where one was found to hold.
    pub interval: Option<(f64, f64)>,
    /// A number in the method's own terms (a weight, a skill), for methods that have one.
    pub score: Option<f64>,
}

impl Fit {
    /// The label of every task with its confidence, by name, in the order of the tasks. `annotations` is the
    /// table that was fitted.
    ///
    /// ```
    /// let rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog")];
    /// let annotations = quorate::Annotations::from_triples(rows)?;
    /// let fit = quorate::aggregate(&annotations)?;
    /// for found in fit.labels(&annotations) {
    ///     println!("{}: {} ({:.2})", found.task, found.label, found.confidence);
    /// }
    /// # Ok::<(), quorate::Error>(())
    /// ```
    pub fn labels<'a>(&'a self, annotations: &'a Annotations) -> impl Iterator<Item = TaskLabel<'a>> + 'a {
        let tasks = annotations.tasks().iter().take(self.consensus.len());
        tasks.enumerate().map(|(code, task)| {
            let class = self.consensus.label(code);
            TaskLabel {
                task,
                label: annotations.classes().get(class),
                confidence: self.consensus.row(code)[class],
            }
        })
    }

    /// Every worker by name, in the order of the workers. `annotations` is the table that was fitted.
    pub fn workers<'a>(
        &'a self,
        annotations: &'a Annotations,
    ) -> impl Iterator<Item = WorkerResult<'a>> + 'a {
        let labels = annotations.labels_per_worker();
        let accuracies = self.worker_accuracies(annotations);
        let workers = annotations
            .workers()
            .iter()
            .zip(labels)
            .zip(accuracies)
            .enumerate();
        workers.map(|(code, ((worker, labels), accuracy))| WorkerResult {
            worker,
            labels: labels as usize,
            accuracy: accuracy.map(|accuracy| accuracy.value),
            interval: accuracy.and_then(|accuracy| accuracy.interval),
            score: self.worker_scores.as_ref().map(|scores| scores[code]),
        })
    }
}

/// Works out the label of every task with the default method and seed 0.
///
/// For another method, its parameters, a seed, threads or side data, see [`methods`] and [`Context`].
pub fn aggregate(annotations: &Annotations) -> Result<Fit> {
    methods::find(methods::DEFAULT_METHOD)?
        .with_defaults()?
        .fit(annotations, &mut Context::new(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::{Aggregate, DawidSkeneEm, MajorityVote};

    fn table() -> Annotations {
        let rows = [
            ("t1", "ann", "cat"),
            ("t1", "bob", "cat"),
            ("t1", "cem", "dog"),
            ("t2", "ann", "dog"),
        ];
        Annotations::from_triples(rows).unwrap()
    }

    #[test]
    fn labels_and_workers_have_their_names() {
        let annotations = table();
        let fit = MajorityVote::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        let labels: Vec<_> = fit
            .labels(&annotations)
            .map(|found| (found.task, found.label, found.confidence))
            .collect();
        assert_eq!(labels, [("t1", "cat", 2.0 / 3.0), ("t2", "dog", 1.0)]);
        let workers: Vec<_> = fit
            .workers(&annotations)
            .map(|worker| (worker.worker, worker.labels))
            .collect();
        assert_eq!(workers, [("ann", 2), ("bob", 1), ("cem", 1)]);
    }

    #[test]
    fn accuracies_are_those_of_the_labels() {
        let annotations = table();
        let fit = DawidSkeneEm::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        let accuracies = fit.worker_accuracies(&annotations);
        for (worker, accuracy) in fit.workers(&annotations).zip(accuracies) {
            assert_eq!(worker.accuracy, accuracy.map(|accuracy| accuracy.value));
        }
    }

    #[test]
    fn the_default_method_needs_nothing_but_labels() {
        let fit = aggregate(&table()).unwrap();
        assert_eq!(fit.consensus.len(), 2);
    }
}
