//! Tasks on which all labels agree and the answer is another one.
//!
//! A model may overturn a unanimous task: two workers who are known to swap two classes are right to be
//! contradicted. But it must be able to say why. So, after every fit:
//!
//! - where no two labels share a task, nothing can be known of any worker, and every overturned task gets its
//!   label back: the probabilities of the two classes change places;
//! - elsewhere the overturned tasks are counted in a warning that gives the reason.
//!
//! Tasks whose truth is known (gold) are not looked at.

use crate::annotations::Annotations;
use crate::model::{Consensus, DawidSkene, label_of};

/// Puts tasks right that nothing supports, and says what was overturned.
pub(super) fn review_unanimous(
    annotations: &Annotations,
    consensus: Consensus,
    model: Option<&DawidSkene>,
) -> (Consensus, Option<String>) {
    let overturned = find_overturned(annotations, &consensus);
    if overturned.is_empty() {
        return (consensus, None);
    }
    let tasks = match overturned.len() {
        1 => "1 task".to_owned(),
        number => format!("{number} tasks"),
    };
    let compared = annotations
        .task_starts()
        .windows(2)
        .any(|pair| pair[1] - pair[0] > 1);
    if compared {
        return (consensus, Some(describe(annotations, &overturned, &tasks, model)));
    }
    let classes = consensus.class_count();
    let mut rows = consensus.into_vec();
    for &(task, given) in &overturned {
        let row = &mut rows[task * classes..][..classes];
        let label = label_of(row);
        row.swap(label, given);
        // Where the method had a tie, the two were equal.
        if label_of(row) != given {
            row.fill(0.0);
            row[given] = 1.0;
        }
    }
    let warning = format!(
        "no task has two labels, so that nothing can be known of the workers: {tasks} got their own label back where the \
         method had another one"
    );
    (Consensus::new(classes, rows), Some(warning))
}

/// The tasks and the answer that was given to each.
fn find_overturned(annotations: &Annotations, consensus: &Consensus) -> Vec<(usize, usize)> {
    let unanimous = |task: usize| {
        let (_, labels) = annotations.task_slices(task);
        let (&first, rest) = labels.split_first()?;
        rest.iter()
            .all(|&label| label == first)
            .then_some(usize::from(first))
    };
    (0..annotations.task_count())
        .filter(|&task| annotations.gold(task).is_none())
        .filter_map(|task| unanimous(task).map(|given| (task, given)))
        .filter(|&(task, given)| consensus.label(task) != given)
        .collect()
}

/// Why: how often the workers concerned are right by the model, and how little they labelled.
fn describe(
    annotations: &Annotations,
    overturned: &[(usize, usize)],
    tasks: &str,
    model: Option<&DawidSkene>,
) -> String {
    let single = overturned
        .iter()
        .filter(|(task, _)| annotations.task_slices(*task).0.len() == 1)
        .count();
    let (mut right, mut labels) = (0.0, 0.0);
    for &(task, given) in overturned {
        for &worker in annotations.task_slices(task).0 {
            right += model.map_or(0.0, |model| model.probability(worker as usize, given, given));
            labels += 1.0;
        }
    }
    let reason = match model {
        Some(_) => format!(
            "the model takes such an answer of these workers for right in {:.0} % of the cases on average",
            100.0 * right / labels
        ),
        None => "the method weighs these workers against their answers".to_owned(),
    };
    format!(
        "{tasks} on which all labels agree got another label ({single} of them with a single label): {reason}; with few labels \
         for each worker or class that can be a confusion of classes, so compare with majority-vote"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::methods::{METHODS, find};

    #[test]
    fn the_default_on_three_rows_repeats_the_labels() {
        let table = Annotations::from_codes(3, 3, 2, [(0, 0, 0), (1, 1, 0), (2, 2, 1)]).unwrap();
        for name in ["auto", "pooled-ds", "ibcc", "rob-symnmf-em"] {
            let method = find(name).unwrap().with_defaults().unwrap();
            let fit = method.fit(&table, &mut Context::new(0)).unwrap();
            assert_eq!(fit.consensus.labels(), [0, 0, 1], "{name}");
        }
    }

    /// Small random tables, one to three labels a task: whatever a method does, it says so.
    #[test]
    fn unanimous_tasks_are_never_overturned_without_a_word() {
        use rand::RngExt;
        for method in METHODS
            .iter()
            .filter(|method| !method.needs_features && !method.needs_probabilities)
        {
            for seed in 0..4u64 {
                let mut rng = crate::context::seeded(seed, 0);
                let most = 1 + seed as u32 % 3;
                let mut labels = Vec::new();
                for task in 0..30u32 {
                    for worker in 0..rng.random_range(1..=most) {
                        labels.push((task, (task + 3 * worker) % 10, rng.random_range(0..3u16)));
                    }
                }
                let table = Annotations::from_codes(30, 10, 3, labels).unwrap();
                let built = method.with_defaults().unwrap();
                let Ok(fit) = built.fit(&table, &mut Context::new(0)) else {
                    continue;
                };
                let overturned = find_overturned(&table, &fit.consensus).len();
                let said = fit
                    .warnings
                    .iter()
                    .any(|warning| warning.contains("all labels agree"));
                assert_eq!(overturned > 0, said, "{}: {overturned} overturned", method.name);
                assert!(most > 1 || overturned == 0, "{}: one label a task", method.name);
            }
        }
    }
}
