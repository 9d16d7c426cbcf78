//! What every fit must keep to, whatever the method and the table.

use quorate::Annotations;
use quorate::methods::{Fit, Method};

/// Panics if the result of a method is not one: probabilities are finite and rows sum to one, columns of
/// confusion matrices too, and a task whose labels all agree keeps its answer or a warning says why not.
pub fn check_fit(method: &Method, annotations: &Annotations, fit: &Fit, what: &str) {
    let name = method.name;
    assert_eq!(fit.consensus.len(), annotations.task_count(), "{name}, {what}");
    for task in 0..fit.consensus.len() {
        let row = fit.consensus.row(task);
        assert!(
            is_distribution(row.iter().copied()),
            "{name}, {what}: task {task} has {row:?}"
        );
    }
    assert_eq!(fit.model.is_some(), method.returns_model, "{name}, {what}: model");
    if let Some(model) = &fit.model {
        let classes = annotations.class_count();
        assert_eq!(model.worker_count(), annotations.worker_count());
        let prior = model.prior();
        assert!(
            is_distribution(prior.iter().copied()),
            "{name}, {what}: prior {prior:?}"
        );
        for worker in 0..model.worker_count() {
            for truth in 0..classes {
                let column = (0..classes).map(|answer| model.probability(worker, answer, truth));
                assert!(
                    is_distribution(column.clone()),
                    "{name}, {what}: worker {worker}, truth {truth} has {:?}",
                    column.collect::<Vec<_>>()
                );
            }
        }
    }
    assert!(
        fit.trace.iter().all(|value| value.is_finite()),
        "{name}, {what}: trace {:?}",
        fit.trace
    );
    if let Some(scores) = &fit.worker_scores {
        assert_eq!(scores.len(), annotations.worker_count(), "{name}, {what}");
        assert!(
            scores.iter().all(|score| score.is_finite()),
            "{name}, {what}: scores {scores:?}"
        );
    }
    let overturned = overturned_tasks(annotations, fit);
    assert!(
        overturned == 0 || fit.warnings.iter().any(|text| text.contains("all labels agree")),
        "{name}, {what}: {overturned} unanimous tasks got another label, and nothing is said"
    );
}

fn is_distribution(values: impl Iterator<Item = f64> + Clone) -> bool {
    values.clone().all(|value| (0.0..=1.0 + 1e-12).contains(&value))
        && (values.sum::<f64>() - 1.0).abs() < 1e-9
}

/// Tasks on which all labels agree and the answer is another one.
pub fn overturned_tasks(annotations: &Annotations, fit: &Fit) -> usize {
    let labels = fit.consensus.labels();
    let is_overturned = |task: usize| {
        let mut given = annotations.labels_of_task(task).map(|(_, label)| label);
        let Some(first) = given.next() else {
            return false;
        };
        annotations.gold(task).is_none() && labels[task] != first && given.all(|label| label == first)
    };
    (0..annotations.task_count())
        .filter(|&task| is_overturned(task))
        .count()
}
