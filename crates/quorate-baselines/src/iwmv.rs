//! Iterative weighted majority voting: workers vote with the weight that minimises a bound on the error.
//!
//! ```text
//! y_n = argmax_k sum over labels x = k of v_m,      w_m = share of m's labels that equal y_n,      v_m = K w_m - 1
//! ```
//!
//! Symbols: `v_m` is `weights[m]`, `w_m` is `accuracy[m]`.
//!
//! 1. Start with `v_m = 1`: the majority vote.
//! 2. Accuracies `w_m` against the labels (naming one of `t` tied classes counts `1/t`, or
//!    the lowest of them 1 with `ties=lowest`), weights `v_m = K w_m - 1` (`weight=linear`), or
//!    `v_m = ln((K - 1) w_m / (1 - w_m))` with `w_m` within `[0.001, 0.999]` (`weight=log`).
//! 3. Vote with the weights. Until a labelling comes back, or `max-iter` rounds. A labelling that repeats
//!    itself has converged; of a longer cycle the one with most agreeing labels is kept.
//!
//! `O(L)` a round, few rounds. Weights below 0 make a worker worse than chance vote against its label. One
//! accuracy a worker: fails where workers lean towards a class.
//!
//! The posterior is `softmax(K/(K-1) V(n, .))` for the linear weight, which is the log-odds weight to first
//! order around chance, and `softmax(V(n, .))` for the log one; so the label is the winner of the vote. (The
//! description's soft label mixes linear labels with log-odds confidences, which can disagree; and its ties
//! go to the lowest class before accuracies are counted, which lets the names of the classes matter.) A task
//! without labels gets the mean vote. The confusion matrices are those of the accuracies.
//!
//! H. Li, B. Yu, "Error rate bounds and iterative weighted majority voting for crowdsourcing",
//! arXiv:1411.4086 (2014).

use crate::weighted_vote::{SkillTies, agreement, score_tasks};
use quorate::internal::model::{reserve_confusions, softmax_in_place};
use quorate::internal::starting_votes;
use quorate::methods::{Aggregate, Fit, vote_fractions};
use quorate::model::{Consensus, DawidSkene, count_answers};
use quorate::{Annotations, Context, Result, declare_method, declare_words};

declare_method! {
    /// Iterative weighted majority voting.
    pub struct Iwmv {
        /// largest number of rounds
        max_iter: usize in 1..=1_000_000 = 50,
        /// weight of a worker of accuracy w: K w - 1, or the log-odds
        weight: Weight = Linear,
        /// whose skill grows by a tied vote: the tied classes share it, or the lowest takes it (as in the
        /// field's tables)
        ties: SkillTies = Shared,
    }
    name: "iwmv",
    aliases: ["iterative-weighted-majority-vote", "weighted-majority-vote"],
    summary: "Votes weighted by how far each worker is above chance, iterated",
    description: "Each worker votes with weight K w - 1, w being its agreement with the weighted vote: \
                  chance counts nothing, worse than chance counts against itself. Repeated until the labels \
                  come back. Fast and good where workers differ in accuracy alone; fails where they lean \
                  towards a class.",
    citation: "H. Li, B. Yu: Error rate bounds and iterative weighted majority voting for crowdsourcing. \
               arXiv:1411.4086 (2014)",
    facts: [returns_model, learns_from_gold],
}

declare_words! {
    /// Weight of a worker as a function of its accuracy.
    pub enum Weight {
        /// `K w - 1`.
        Linear = "linear",
        /// `ln((K - 1) w / (1 - w))`.
        Log = "log",
    }
}

/// Accuracies are kept this far from 0 and 1 before their log-odds are taken.
const LOG_MARGIN: f64 = 1e-3;

/// One vote of the iteration.
#[derive(Debug, Clone)]
struct Ballot {
    weights: Vec<f64>,
    /// Accuracies against the labels of this vote.
    accuracy: Vec<f64>,
    /// Hash of the winners: the winners of all rounds would be many times the table.
    winners: u64,
    /// Number of labels that agree, the quantity by which a cycle is settled.
    agreeing: f64,
}

impl Aggregate for Iwmv {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        reserve_confusions(annotations, context)?;
        let classes = annotations.class_count();
        let mut scores = vec![0.0; annotations.task_count() * classes];
        let mut weights = vec![1.0; annotations.worker_count()];
        if annotations.has_gold() {
            let start = starting_votes(annotations, context)?;
            let accuracy = context.run(|| agreement(annotations, start.as_slice()));
            weights = self.weight.of(&accuracy, classes);
        }
        let mut current = context.run(|| self.vote(annotations, weights, &mut scores));
        let mut seen = vec![current.winners];
        let (mut best_of_cycle, mut converged) = (None::<Ballot>, false);
        let mut iterations = 0;
        let mut cycle_end = usize::MAX;
        while iterations < self.max_iter && iterations < cycle_end {
            context.step("weighted votes", iterations, Some(self.max_iter))?;
            iterations += 1;
            let weights = self.weight.of(&current.accuracy, classes);
            current = context.run(|| self.vote(annotations, weights, &mut scores));
            if cycle_end == usize::MAX {
                if let Some(first) = seen.iter().position(|&before| before == current.winners) {
                    let period = seen.len() - first;
                    converged = period == 1;
                    // The labels are known to come back: go round once more and keep the best of them.
                    cycle_end = iterations + period - 1;
                }
                seen.push(current.winners);
            }
            let better = |best: &Ballot| current.agreeing > best.agreeing;
            if cycle_end != usize::MAX && best_of_cycle.as_ref().is_none_or(better) {
                best_of_cycle = Some(current.clone());
            }
        }
        let ballot = best_of_cycle.unwrap_or(current);
        let consensus = context.run(|| self.posterior(annotations, &ballot, scores));
        let prior = context.run(|| count_answers(annotations, &consensus).prior());
        Ok(Fit {
            model: Some(DawidSkene::one_coin(prior, &ballot.accuracy)),
            worker_scores: Some(ballot.weights),
            iterations,
            converged,
            ..Fit::direct(consensus)
        })
    }
}

impl Iwmv {
    /// Labels by weighted vote, and the accuracies against them. Where no label of a task has weight, its
    /// plain vote counts.
    fn vote(&self, annotations: &Annotations, weights: Vec<f64>, scores: &mut [f64]) -> Ballot {
        let classes = annotations.class_count();
        score_tasks(annotations, &weights, scores);
        for (task, row) in scores.chunks_exact_mut(classes).enumerate() {
            if row.iter().all(|score| *score == 0.0) {
                let labels = annotations.labels_of_task(task);
                labels.for_each(|(_, answer)| row[answer] += 1.0);
            }
        }
        let mut winners = vec![0.0; scores.len()];
        self.ties.elect(scores, classes, &mut winners);
        annotations.pin_all(&mut winners);
        let accuracy = agreement(annotations, &winners);
        let per_worker = annotations.by_worker().starts().windows(2);
        let agreeing = per_worker.zip(&accuracy);
        let agreeing = agreeing.map(|(ends, w)| f64::from(ends[1] - ends[0]) * w);
        Ballot {
            agreeing: agreeing.sum(),
            weights,
            accuracy,
            winners: hash(&winners),
        }
    }

    /// One-coin posterior of the last vote, to first order for linear weights.
    fn posterior(&self, annotations: &Annotations, ballot: &Ballot, mut scores: Vec<f64>) -> Consensus {
        let classes = annotations.class_count();
        let scale = match self.weight {
            Weight::Linear => classes as f64 / (classes.max(2) - 1) as f64,
            Weight::Log => 1.0,
        };
        score_tasks(annotations, &ballot.weights, &mut scores);
        let votes = vote_fractions(annotations);
        for (task, row) in scores.chunks_exact_mut(classes).enumerate() {
            // No weight at all: the plain vote (for a task without labels the mean vote).
            if row.iter().all(|score| *score == 0.0) {
                row.copy_from_slice(votes.row(task));
                continue;
            }
            row.iter_mut().for_each(|score| *score *= scale);
            softmax_in_place(row);
        }
        annotations.pin_all(&mut scores);
        Consensus::new(classes, scores)
    }
}

impl Weight {
    fn of(self, accuracy: &[f64], classes: usize) -> Vec<f64> {
        let classes = classes as f64;
        let weight = |&w: &f64| match self {
            Self::Linear => classes * w - 1.0,
            Self::Log => {
                let w = w.clamp(LOG_MARGIN, 1.0 - LOG_MARGIN);
                ((classes - 1.0).max(1.0) * w / (1.0 - w)).ln()
            }
        };
        accuracy.iter().map(weight).collect()
    }
}

/// 64-bit FNV-1a of a labelling, each share by its leading bits.
fn hash(winners: &[f64]) -> u64 {
    winners.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, share| {
        (hash ^ (share.to_bits() >> 48)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_a};

    #[test]
    fn toy_a_by_hand() {
        // Worked example: weights 2, 1.5, 1, 0.5; the labels come back at once.
        let annotations = toy_a();
        let fit = Iwmv::default().fit(&annotations, &mut Context::new(0)).unwrap();
        let weights = fit.worker_scores.unwrap();
        assert_close(&weights, &[2.0, 1.5, 1.0, 0.5], 1e-12);
        let mut scores = vec![0.0; 18];
        score_tasks(&annotations, &weights, &mut scores);
        assert_close(&scores[..6], &[4.5, 0.5, 0.0, 3.5, 1.0, 0.0], 1e-12);
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
        assert!(fit.converged);
        let model = fit.model.unwrap();
        let accuracy: Vec<f64> = (0..4).map(|worker| model.probability(worker, 2, 2)).collect();
        assert_close(&accuracy, &[1.0, 5.0 / 6.0, 2.0 / 3.0, 0.5], 1e-12);
    }

    #[test]
    fn both_weights_rank_workers_alike_and_count_chance_for_nothing() {
        let accuracy = [0.1, 0.25, 0.3, 0.9];
        for weight in [Weight::Linear, Weight::Log] {
            let weights = weight.of(&accuracy, 4);
            assert!(weights.is_sorted(), "{weights:?}");
            assert!(weights[1].abs() < 1e-12 && weights[0] < 0.0, "{weights:?}");
        }
    }

    #[test]
    fn labels_are_the_winners_of_the_last_vote() {
        let annotations = toy_a();
        for weight in [Weight::Linear, Weight::Log] {
            let method = Iwmv {
                weight,
                ..Iwmv::default()
            };
            let fit = method.fit(&annotations, &mut Context::new(0)).unwrap();
            let mut scores = vec![0.0; 18];
            score_tasks(&annotations, &fit.worker_scores.unwrap(), &mut scores);
            assert_eq!(fit.consensus.labels(), Consensus::new(3, scores).labels());
        }
    }
}
