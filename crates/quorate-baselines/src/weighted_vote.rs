//! Votes with a weight for each worker: the piece that the weighting heuristics share.
//!
//! ```text
//! V(n, k) = sum over labels (m, x = k) of task n of w_m,      agreement_m = share of m's labels that name the winner
//! ```

use quorate::internal::linalg::small::normalise;
use quorate::internal::model::leaders;
use quorate::internal::parallel::{balanced_ranges, map_ranges, map_rows};
use quorate::methods::vote_fractions;
use quorate::model::Consensus;
use quorate::{Annotations, declare_words};

/// Weighted votes `V(n, k)` into `scores`, `[task][class]`.
pub fn score_tasks(annotations: &Annotations, weights: &[f64], scores: &mut [f64]) {
    let classes = annotations.class_count();
    let ranges = balanced_ranges(annotations.task_starts(), 64);
    map_rows(ranges, scores, classes, |tasks, rows| {
        for (task, row) in tasks.zip(rows.chunks_exact_mut(classes)) {
            row.fill(0.0);
            for (worker, answer) in annotations.labels_of_task(task) {
                row[answer] += weights[worker];
            }
        }
    });
}

declare_words! {
    /// What a worker earns who named one of several classes that share the first place.
    pub enum SkillTies {
        /// Tied classes share the win, so that none is ahead because of its name.
        Shared = "shared",
        /// The lowest class wins alone, as in the field's tables.
        Lowest = "lowest",
    }
}

impl SkillTies {
    /// Puts the whole of each task on the class with the largest score, or shares it among tied ones.
    #[doc(hidden)]
    pub fn elect(self, scores: &[f64], classes: usize, winners: &mut [f64]) {
        let rows = scores.chunks_exact(classes);
        for (row, winner) in rows.zip(winners.chunks_exact_mut(classes)) {
            let tied = if self == Self::Lowest {
                1
            } else {
                leaders(row).count()
            };
            winner.fill(0.0);
            leaders(row)
                .take(tied)
                .for_each(|k| winner[k] = 1.0 / tied as f64);
        }
    }
}

/// Share of each worker's labels that name the winner (a tied winner counts by its share); a worker without
/// labels gets the share over all labels.
pub fn agreement(annotations: &Annotations, winners: &[f64]) -> Vec<f64> {
    let classes = annotations.class_count();
    let by_worker = annotations.by_worker();
    let ranges = balanced_ranges(by_worker.starts(), 64);
    let sums = map_ranges(ranges, |workers| {
        let sum = |worker| {
            let labels = by_worker.labels(worker);
            let same = labels
                .clone()
                .map(|(task, answer)| winners[task * classes + answer]);
            (same.sum::<f64>(), labels.len())
        };
        workers.map(sum).collect::<Vec<_>>()
    });
    let sums: Vec<(f64, usize)> = sums.into_iter().flatten().collect();
    let all: f64 = sums.iter().map(|(same, _)| same).sum();
    let share = |&(same, count): &(f64, usize)| match count {
        0 => all / annotations.label_count() as f64,
        _ => same / count as f64,
    };
    sums.iter().map(share).collect()
}

/// Scores as shares of their sum; a task whose scores are all 0 gets its unweighted votes, one without labels
/// the mean vote, one whose truth is known that truth.
pub fn shares(annotations: &Annotations, mut scores: Vec<f64>) -> Consensus {
    let votes = vote_fractions(annotations);
    for (task, row) in scores.chunks_exact_mut(votes.class_count()).enumerate() {
        if row.iter().sum::<f64>() > 0.0 {
            normalise(row)
        } else {
            row.copy_from_slice(votes.row(task))
        }
    }
    annotations.pin_all(&mut scores);
    Consensus::new(votes.class_count(), scores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_a};

    #[test]
    fn equal_weights_are_the_majority_vote() {
        let annotations = toy_a();
        let mut scores = vec![0.0; 18];
        score_tasks(&annotations, &[0.3; 4], &mut scores);
        assert_close(
            shares(&annotations, scores).as_slice(),
            vote_fractions(&annotations).as_slice(),
            1e-12,
        );
    }

    #[test]
    fn ties_are_shared_or_go_to_the_lowest() {
        let mut winners = vec![0.0; 6];
        let scores = [0.3, 0.1 + 0.2, 0.1, 0.0, 2.0, -1.0];
        SkillTies::Shared.elect(&scores, 3, &mut winners);
        assert_eq!(winners, [0.5, 0.5, 0.0, 0.0, 1.0, 0.0]);
        SkillTies::Lowest.elect(&scores, 3, &mut winners);
        assert_eq!(winners, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn tasks_without_weight_fall_back_to_plain_votes() {
        let annotations = Annotations::from_codes(3, 2, 2, [(0, 0, 1), (1, 1, 0), (1, 0, 0)]).unwrap();
        let mut scores = vec![0.0; 6];
        score_tasks(&annotations, &[0.0, 2.0], &mut scores);
        let consensus = shares(&annotations, scores);
        assert_eq!(consensus.as_slice(), [0.0, 1.0, 1.0, 0.0, 0.5, 0.5]);
        assert_eq!(
            agreement(&annotations, &[0.0, 1.0, 0.0, 1.0, 1.0, 0.0]),
            [0.5, 0.0]
        );
    }
}
