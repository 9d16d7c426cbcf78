//! Who gives the next label of a task.

use rustc_hash::{FxHashMap, FxHashSet};

use super::roster::Roster;
use crate::annotations::Annotations;
use crate::methods::Fit;

/// Labels being handed out.
pub(super) struct Assigning<'a> {
    annotations: &'a Annotations,
    fit: &'a Fit,
    roster: Roster<'a>,
    excluded: FxHashSet<(u32, u32)>,
    available: &'a dyn Fn(usize, usize) -> bool,
    /// Workers planned for a task so far.
    planned: FxHashMap<usize, Vec<usize>>,
}

impl<'a> Assigning<'a> {
    pub(super) fn new(
        annotations: &'a Annotations,
        fit: &'a Fit,
        roster: Roster<'a>,
        excluded: &[(u32, u32)],
        available: &'a dyn Fn(usize, usize) -> bool,
    ) -> Self {
        Self {
            annotations,
            fit,
            roster,
            excluded: excluded.iter().copied().collect(),
            available,
            planned: FxHashMap::default(),
        }
    }

    /// The best worker for a label of this task who is free and has not labelled it.
    pub(super) fn place(&mut self, task: usize) -> Option<usize> {
        let pair = most_probable_pair(self.fit.consensus.row(task));
        let (labelled, _) = self.annotations.task_slices(task);
        let planned = self.planned.get(&task).map_or(&[][..], Vec::as_slice);
        let (excluded, available) = (&self.excluded, self.available);
        self.roster.best(pair, |worker| {
            !labelled.contains(&(worker as u32))
                && !planned.contains(&worker)
                && (excluded.is_empty() || !excluded.contains(&(task as u32, worker as u32)))
                && available(task, worker)
        })
    }

    /// Makes it so.
    pub(super) fn confirm(&mut self, task: usize, worker: usize) {
        self.roster.left[worker] -= 1;
        self.planned.entry(task).or_default().push(worker);
    }
}

/// The two most probable classes; of tied ones the lowest.
fn most_probable_pair(row: &[f64]) -> (usize, usize) {
    let mut pair = (0, usize::from(row.len() > 1));
    if row.len() > 1 && row[1] > row[0] {
        pair = (1, 0);
    }
    for (class, &q) in row.iter().enumerate().skip(2) {
        if q > row[pair.0] {
            pair = (class, pair.0);
        } else if q > row[pair.1] {
            pair.1 = class;
        }
    }
    pair
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_most_probable_classes() {
        assert_eq!(most_probable_pair(&[0.2, 0.5, 0.3]), (1, 2));
        assert_eq!(most_probable_pair(&[0.1, 0.2, 0.7]), (2, 1));
        assert_eq!(most_probable_pair(&[0.25; 4]), (0, 1));
        assert_eq!(most_probable_pair(&[1.0]), (0, 0));
    }
}
