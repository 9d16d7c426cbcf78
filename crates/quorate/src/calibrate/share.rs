//! How many tasks mislead: assumed, or learnt from known truths.

use super::MisledTasks;
use crate::annotations::Annotations;
use crate::blocks::{Block, Extent, Pass, State, wire_format};
use crate::model::DawidSkene;
use crate::parallel::add;

/// Share of misled tasks that is assumed where no truth is known.
pub const TYPICAL_SHARE: f64 = 0.3;

/// Known truths that the typical share counts for.
const WORTH: f64 = 10.0;

/// Largest share that is considered.
const LARGEST_SHARE: f64 = 0.9;

/// Steps of the search.
const STEPS: usize = 90;

/// The share of misled tasks that makes the known truths most likely, drawn to `expected` where they are few.
///
/// `evidence` is the number of labels that each column of each matrix rests on, `[worker][truth]`: a known
/// task's own labels are taken out of the matrices that judge it, else the matrices would seem to know it.
pub fn estimate_share(annotations: &Annotations, model: &DawidSkene, evidence: &[f64], expected: f64) -> f64 {
    let mut scores = ShareScores::none();
    scores.add(annotations.as_block(), model, evidence);
    scores.best(expected)
}

/// Tries shares on the known truths of a block.
pub(crate) struct TryShares {
    model: DawidSkene,
    evidence: Vec<f64>,
}

impl TryShares {
    /// With this model, and the labels that its columns rest on.
    pub(crate) fn new(model: DawidSkene, evidence: Vec<f64>) -> Self {
        Self { model, evidence }
    }
}

wire_format!(36 TryShares { model, evidence });

impl Pass for TryShares {
    type State = ShareScores;

    fn start(&mut self, _: Extent) -> ShareScores {
        ShareScores::none()
    }

    fn visit(&mut self, scores: &mut ShareScores, block: Block<'_>, _: &mut [f64]) {
        scores.add(block, &self.model, &self.evidence);
    }
}

/// How likely each share makes the known truths of some tasks.
pub(crate) struct ShareScores {
    scores: Vec<f64>,
    known: u64,
}

/// The shares that are tried.
fn candidates() -> impl Iterator<Item = f64> + Clone {
    (0..=STEPS).map(|step| LARGEST_SHARE * step as f64 / STEPS as f64)
}

impl ShareScores {
    /// Of no truths yet.
    fn none() -> Self {
        Self {
            scores: vec![0.0; STEPS + 1],
            known: 0,
        }
    }

    /// Adds the known truths of a block.
    fn add(&mut self, block: Block<'_>, model: &DawidSkene, evidence: &[f64]) {
        let classes = model.class_count();
        let known = (0..block.task_count())
            .filter(|&task| !block.task(task).0.is_empty())
            .filter_map(|task| Some((task, block.gold(task)?)));
        let mut misled = MisledTasks::new(model);
        let mut row = vec![0.0; classes];
        for (task, truth) in known.filter(|_| classes > 1) {
            self.known += 1;
            misled.weigh_with(block.task(task), |worker, _, chances| {
                let labels = evidence[worker * classes + truth];
                chances[truth] = if labels > 1.0 {
                    (chances[truth] * labels - 1.0) / (labels - 1.0)
                } else {
                    1.0 / classes as f64
                };
            });
            for (score, share) in self.scores.iter_mut().zip(candidates()) {
                misled.posterior(share, &mut row);
                *score += row[truth].max(1e-12).ln();
            }
        }
    }

    /// The share that explains the truths best, the expected one if none were known. Prior of the share: as
    /// if `WORTH` tasks had been seen, the expected share of them misled.
    pub(crate) fn best(&self, expected: f64) -> f64 {
        if self.known == 0 {
            return expected;
        }
        let prior = |share: f64| {
            let floor = 1e-3;
            WORTH * (expected * share.max(floor).ln() + (1.0 - expected) * (1.0 - share).ln())
        };
        let mut best = (f64::NEG_INFINITY, expected);
        for (score, share) in self.scores.iter().zip(candidates()) {
            let score = score + prior(share);
            if score > best.0 {
                best = (score, share);
            }
        }
        best.1
    }
}

impl State for ShareScores {
    fn merge(&mut self, other: Self) {
        add(&mut self.scores, &other.scores);
        self.known += other.known;
    }
}

wire_format!(37 ShareScores { scores, known });

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::context::seeded;

    /// Labels of 6 workers, 80 % right, on 2000 tasks of 2 classes, a share of which mislead; and the truth.
    fn crowd(share: f64) -> (Annotations, Vec<u16>, DawidSkene) {
        let mut rng = seeded(5, 0);
        let (mut labels, mut truth) = (Vec::new(), Vec::new());
        for task in 0..2000 {
            let class = u16::from(rng.random_bool(0.5));
            let part: f64 = if rng.random_bool(share) { rng.random() } else { 0.0 };
            for worker in 0..6 {
                let seen = if rng.random_bool(part) { 1 - class } else { class };
                labels.push((task, worker, if rng.random_bool(0.8) { seen } else { 1 - seen }));
            }
            truth.push(class);
        }
        let model = DawidSkene::one_coin(vec![0.5; 2], &[0.8; 6]);
        (Annotations::from_codes(2000, 6, 2, labels).unwrap(), truth, model)
    }

    #[test]
    fn known_truths_tell_the_share() {
        let evidence = [1000.0; 12];
        for share in [0.0, 0.2, 0.6] {
            let (annotations, truth, model) = crowd(share);
            let gold = truth
                .iter()
                .enumerate()
                .map(|(task, &class)| (task as u32, class));
            let known = annotations.clone().with_gold(gold.clone()).unwrap();
            let found = estimate_share(&known, &model, &evidence, TYPICAL_SHARE);
            assert!((found - share).abs() < 0.06, "{share}: {found}");
            // Three of them hardly move what is expected, none not at all.
            let few = annotations.clone().with_gold(gold.take(3)).unwrap();
            let moved = estimate_share(&few, &model, &evidence, TYPICAL_SHARE) - TYPICAL_SHARE;
            assert!(moved.abs() < 0.15, "{moved}");
            let none = estimate_share(&annotations, &model, &evidence, TYPICAL_SHARE);
            assert_eq!(none, TYPICAL_SHARE);
        }
    }
}
