//! The truths that a task may have: the classes somebody named there, and all others as one.

use crate::annotations::Annotations;

/// For each task the classes that its labels name, and one place more for all other classes together.
#[derive(Debug)]
pub(super) struct Candidates {
    /// Where each task's row starts; one entry more than there are tasks.
    starts: Vec<usize>,
    /// The classes in rising order; the last place of a row belongs to no class.
    classes: Vec<u16>,
}

impl Candidates {
    /// At most `limit` classes a task, those named most often (of equals the lowest). A known truth stands
    /// alone.
    pub(super) fn of(annotations: &Annotations, limit: usize) -> Self {
        let (mut starts, mut classes) = (vec![0], Vec::new());
        let mut named: Vec<u16> = Vec::new();
        for task in 0..annotations.task_count() {
            named.clear();
            match annotations.gold(task) {
                Some(truth) => named.push(truth as u16),
                None => named.extend_from_slice(annotations.task_slices(task).1),
            }
            named.sort_unstable();
            if named.len() > limit {
                keep_most_named(&mut named, limit);
            }
            named.dedup();
            classes.extend_from_slice(&named);
            classes.push(0);
            starts.push(classes.len());
        }
        Self { starts, classes }
    }

    /// Where each task's row starts.
    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Number of places in all rows.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// The classes of a task, without the place of the others.
    pub(super) fn of_task(&self, task: usize) -> &[u16] {
        &self.classes[self.starts[task]..self.starts[task + 1] - 1]
    }
}

/// Leaves the classes of a sorted list that occur most often, each once.
fn keep_most_named(named: &mut Vec<u16>, limit: usize) {
    let runs = named.chunk_by(|a, b| a == b);
    let mut runs: Vec<(usize, u16)> = runs.map(|run| (run.len(), run[0])).collect();
    runs.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    named.clear();
    named.extend(runs.iter().take(limit).map(|run| run.1));
    named.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_classes_the_most_frequent_first_and_gold_alone() {
        let labels = [(0, 0, 5), (0, 1, 2), (0, 2, 5), (0, 3, 7), (1, 0, 3), (1, 1, 4)];
        let annotations = Annotations::from_codes(3, 4, 9, labels).unwrap();
        let all = Candidates::of(&annotations, usize::MAX);
        assert_eq!(all.of_task(0), [2, 5, 7]);
        assert!(all.of_task(2).is_empty());
        assert_eq!(all.starts(), [0, 4, 7, 8]);
        assert_eq!(Candidates::of(&annotations, 2).of_task(0), [2, 5]);
        let known = annotations.with_gold([(0, 8)]).unwrap();
        assert_eq!(Candidates::of(&known, 2).of_task(0), [8]);
    }
}
