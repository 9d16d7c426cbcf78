//! CROWDLAB: the votes of the workers and the prediction of a classifier, each weighted by how far it can be
//! trusted.
//!
//! ```text
//! q_n(k) = [ w_model phat_n(k) + sum over labels (m, x) of w_m (x = k ? P : (1 - P)/(K - 1)) ]
//!          / [ w_model + sum over labels w_m ]
//! ```
//!
//! Symbols: `phat_n` the classifier's probabilities for task `n`, `c_n` the consensus label, `d_n` labels on
//! task `n`, `I+` the tasks with at least two labels; averages are over `I+` unless said.
//!
//! 1. `c_n` = majority vote; ties by larger `phat_n`, then the class that is rarer among all labels, then the
//!    class chosen by workers who agree more with the untied majorities, then the lowest.
//! 2. Weights: `P` = mean share of a task's labels that equal `c_n`; `E0` = share of tasks with `c_n` other
//!    than the most common consensus, at least 1e-6; `g_m` = share of the other labels on `m`'s tasks that
//!    equal `m`'s (the mean of all `g` for a worker without company); `w_m = max(1 - (1 - g_m)/E0, 1e-6)`;
//!    `w_model = max(1 - Em/E0, 1e-6) sqrt(mean d_n)`, `Em` = share of tasks where the classifier's first
//!    choice is not `c_n`.
//! 3. `q_n` by the formula; `c_n = argmax_k q_n(k)`, a tie keeps the majority vote.
//! 4. Weights and `q_n` again with these `c_n`.
//!
//! `O(L + N K)`. As good as its classifier where labels are few; with a useless one it is agreement-weighted
//! voting. The predictions must be out of sample: a classifier that saw the labels repeats their mistakes.
//!
//! `worker_scores` is the annotator quality `t (mean q_n(x) over m's labels) + (1 - t) (share of m's labels
//! on I+ that equal c_n)`, `t = w_model / (w_model + mean w_m mean d_n)`.
//!
//! Differs from the paper: the label is the argmax of the last `q_n` (theirs: `c_n` of step 3, which can
//! differ from it), so that label and posterior agree; the last tie goes to the lowest class instead of a
//! random one; a task without prediction is decided by its labels alone, one without labels by its
//! prediction, one without either gets the mean vote. Without any task in `I+` all weights are 1 and `P = 1/2
//! + 1/(2K)`, with a warning.
//!
//! H. W. Goh, U. Tkachenko, J. Mueller, "CROWDLAB: supervised learning to infer consensus labels and quality
//! scores for data with multiple annotators", arXiv:2210.06812 (2022).

use super::{Aggregate, Fit, vote_fractions};
use crate::linalg::small::{add, add_scaled, largest, normalise};
use crate::model::{Consensus, TIE, reserve_confusions};
use crate::parallel::{balanced_ranges, map_rows};
use crate::{Annotations, Context, Error, Remedy, Result, TaskProbabilities, declare_method};

declare_method! {
    /// Votes averaged with the predictions of a classifier.
    pub struct Crowdlab {}
    name: "crowdlab",
    aliases: [],
    summary: "Votes and a classifier's predictions, weighted by how far each can be trusted",
    description: "Averages the class probabilities of a trained classifier with the workers' labels, each \
                  weighted by its agreement with the others. Made for tables with one to three labels a \
                  task beside a good classifier. Needs out-of-sample predictions for the tasks.",
    citation: "H. W. Goh, U. Tkachenko, J. Mueller: CROWDLAB: supervised learning to infer consensus labels \
               and quality scores for data with multiple annotators. arXiv:2210.06812 (2022)",
    facts: [returns_model, needs_probabilities],
}

/// Weights and the error of the constant predictor are at least this.
const FLOOR: f64 = 1e-6;

impl Aggregate for Crowdlab {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let predictions = context.class_probabilities().ok_or(Error::MissingInput {
            method: Self::METHOD.name,
            reason: "it combines labels with a classifier's class probabilities, and none were given",
            remedy: Remedy::GiveClassProbabilities,
        })?;
        predictions.check(annotations)?;
        reserve_confusions(annotations, context)?;
        Ok(context.run(|| WeighedPanel::new(annotations, &predictions).fit()))
    }
}

/// The table with its classifier, and what does not depend on the consensus labels.
struct WeighedPanel<'a> {
    annotations: &'a Annotations,
    predictions: &'a TaskProbabilities,
    /// Number of labels of each class on each task, `[task][class]`.
    votes: Vec<f64>,
    /// `g_m`: agreement with the other workers.
    others: Vec<f64>,
    /// Mean number of labels of the tasks that have some.
    mean_labels: f64,
}

/// What each voice counts.
#[derive(Debug, Clone, PartialEq)]
struct AnnotatorWeights {
    /// `P`: chance that a worker gives the consensus label.
    agreement: f64,
    /// `w_m`.
    workers: Vec<f64>,
    /// `w_model`.
    model: f64,
}

impl<'a> WeighedPanel<'a> {
    fn new(annotations: &'a Annotations, predictions: &'a TaskProbabilities) -> Self {
        let mut votes = vec![0.0; annotations.task_count() * annotations.class_count()];
        for (task, _, answer) in annotations.iter() {
            votes[task * annotations.class_count() + answer] += 1.0;
        }
        let labelled = annotations.task_count() - annotations.unlabelled_tasks();
        Self {
            others: agree_with_others(annotations, &votes),
            mean_labels: annotations.label_count() as f64 / labelled as f64,
            annotations,
            predictions,
            votes,
        }
    }

    fn fit(&self) -> Fit {
        let majority = self.majority();
        let first = self.blend(&self.weigh(&majority));
        let labels = self.relabel(&majority, &first);
        let weights = self.weigh(&labels);
        let consensus = self.blend(&weights);
        let quality = self.worker_quality(&labels, &weights, &consensus);
        let mut fit = Fit::counted(self.annotations, consensus);
        fit.worker_scores = Some(quality);
        if self.shared_tasks().next().is_none() {
            let warning = "no task has two labels: workers and classifier all count the same";
            fit.warnings.push(warning.to_owned());
        }
        fit
    }

    /// `I+`: tasks with at least two labels.
    fn shared_tasks(&self) -> impl Iterator<Item = usize> + '_ {
        let starts = self.annotations.task_starts();
        (0..self.annotations.task_count()).filter(|&task| starts[task + 1] - starts[task] >= 2)
    }

    fn votes(&self, task: usize) -> &[f64] {
        let classes = self.annotations.class_count();
        &self.votes[task * classes..][..classes]
    }

    /// Step 1: majority vote with its chain of tie-breaks.
    fn majority(&self) -> Vec<usize> {
        let classes = self.annotations.class_count();
        let mut totals = vec![0.0; classes];
        self.votes
            .chunks_exact(classes)
            .for_each(|row| add(&mut totals, row));
        let agreement = self.agree_with_untied();
        let mut leaders = Vec::with_capacity(classes);
        let winner = |task| {
            leaders.clear();
            leaders.extend(0..classes);
            keep_largest(&mut leaders, |k| self.votes(task)[k]);
            let predicted = self.predictions.row(task);
            keep_largest(&mut leaders, |k| predicted.map_or(0.0, |row| row[k]));
            keep_largest(&mut leaders, |k| -totals[k]);
            keep_largest(&mut leaders, |k| {
                let labels = self.annotations.labels_of_task(task);
                let voters = labels.filter(|&(_, answer)| answer == k);
                let sum: f64 = voters.map(|(worker, _)| agreement[worker]).sum();
                sum / self.votes(task)[k].max(1.0)
            });
            leaders[0]
        };
        (0..self.annotations.task_count()).map(winner).collect()
    }

    /// Share of each worker's labels on tasks with a clear majority that agree with it.
    fn agree_with_untied(&self) -> Vec<f64> {
        let mut counts = vec![(0.0, 0.0); self.annotations.worker_count()];
        for task in 0..self.annotations.task_count() {
            let votes = self.votes(task);
            let top = votes.iter().copied().fold(0.0, f64::max);
            let untied = votes.iter().filter(|&&count| count == top).count() < 2;
            let labels = self.annotations.labels_of_task(task).filter(|_| untied);
            for (worker, answer) in labels {
                counts[worker].0 += f64::from(u8::from(votes[answer] == top));
                counts[worker].1 += 1.0;
            }
        }
        let share = |(same, total): &(f64, f64)| same / total.max(1.0);
        counts.iter().map(share).collect()
    }

    /// Step 2: weights of workers and classifier against the consensus labels.
    fn weigh(&self, labels: &[usize]) -> AnnotatorWeights {
        let classes = self.annotations.class_count();
        let (mut tasks, mut agreement) = (0.0, 0.0);
        let (mut predicted, mut model_wrong) = (0.0f64, 0.0);
        let mut per_class = vec![0.0; classes];
        for task in self.shared_tasks() {
            let (votes, label) = (self.votes(task), labels[task]);
            tasks += 1.0;
            agreement += votes[label] / votes.iter().sum::<f64>();
            per_class[label] += 1.0;
            if let Some(row) = self.predictions.row(task) {
                let top = row.iter().copied().fold(0.0, f64::max);
                predicted += 1.0;
                model_wrong += f64::from(u8::from(row[label] < top - TIE));
            }
        }
        if tasks == 0.0 {
            return AnnotatorWeights {
                agreement: 0.5 + 0.5 / classes as f64,
                workers: vec![1.0; self.others.len()],
                model: 1.0,
            };
        }
        let most_common = per_class.iter().copied().fold(0.0, f64::max);
        let constant_error = (1.0 - most_common / tasks).max(FLOOR);
        let trust = |error: f64| (1.0 - error / constant_error).max(FLOOR);
        AnnotatorWeights {
            agreement: agreement / tasks,
            workers: self.others.iter().map(|share| trust(1.0 - share)).collect(),
            model: trust(model_wrong / predicted.max(1.0)) * self.mean_labels.sqrt(),
        }
    }

    /// The formula: weighted mean of the classifier's probabilities and the workers' votes.
    fn blend(&self, weights: &AnnotatorWeights) -> Consensus {
        let classes = self.annotations.class_count();
        let wrong = (1.0 - weights.agreement) / (classes.max(2) - 1) as f64;
        let right = if classes == 1 { 1.0 } else { weights.agreement };
        let mean_votes = vote_fractions(self.annotations);
        let mut rows = vec![0.0; self.votes.len()];
        let ranges = balanced_ranges(self.annotations.task_starts(), 64);
        map_rows(ranges, &mut rows, classes, |tasks, rows| {
            for (task, row) in tasks.zip(rows.chunks_exact_mut(classes)) {
                let mut total = 0.0;
                for (worker, answer) in self.annotations.labels_of_task(task) {
                    total += weights.workers[worker];
                    row[answer] += weights.workers[worker] * (right - wrong);
                }
                row.iter_mut().for_each(|cell| *cell += total * wrong);
                if let Some(prediction) = self.predictions.row(task) {
                    total += weights.model;
                    add_scaled(row, weights.model, prediction);
                }
                if total == 0.0 {
                    row.copy_from_slice(mean_votes.row(task));
                    continue;
                }
                normalise(row);
            }
        });
        Consensus::new(classes, rows)
    }

    /// Step 3: the best class of each task; a tie with the majority vote keeps that.
    fn relabel(&self, majority: &[usize], consensus: &Consensus) -> Vec<usize> {
        let choose = |(task, &label): (usize, &usize)| {
            let (row, best) = (consensus.row(task), consensus.label(task));
            if row[label] >= row[best] - TIE {
                label
            } else {
                best
            }
        };
        majority.iter().enumerate().map(choose).collect()
    }

    /// Annotator quality; a worker without labels is taken as the average one.
    fn worker_quality(
        &self,
        labels: &[usize],
        weights: &AnnotatorWeights,
        consensus: &Consensus,
    ) -> Vec<f64> {
        let workers = self.annotations.worker_count();
        let starts = self.annotations.task_starts();
        let mean_weight = weights.workers.iter().sum::<f64>() / workers as f64;
        let trust = weights.model / (weights.model + mean_weight * self.mean_labels);
        let quality = |worker| {
            let (mut posterior, mut count) = (0.0, 0.0);
            let (mut same, mut shared) = (0.0, 0.0);
            for (task, answer) in self.annotations.by_worker().labels(worker) {
                posterior += consensus.row(task)[answer];
                count += 1.0;
                if starts[task + 1] - starts[task] >= 2 {
                    same += f64::from(u8::from(labels[task] == answer));
                    shared += 1.0;
                }
            }
            let agreement = weights.agreement;
            let share = |sum: f64, count: f64| if count > 0.0 { sum / count } else { agreement };
            trust * share(posterior, count) + (1.0 - trust) * share(same, shared)
        };
        (0..workers).map(quality).collect()
    }
}

/// `g_m`: share of the other labels on each worker's tasks that equal its own; the mean of all for a worker
/// without company (1 if nobody has any).
fn agree_with_others(annotations: &Annotations, votes: &[f64]) -> Vec<f64> {
    let classes = annotations.class_count();
    let starts = annotations.task_starts();
    let share = |worker: usize| {
        let (mut same, mut total) = (0.0, 0.0);
        for (task, answer) in annotations.by_worker().labels(worker) {
            same += votes[task * classes + answer] - 1.0;
            total += f64::from(starts[task + 1] - starts[task]) - 1.0;
        }
        (total > 0.0).then(|| same / total)
    };
    let shares: Vec<Option<f64>> = (0..annotations.worker_count()).map(share).collect();
    let known: Vec<f64> = shares.iter().flatten().copied().collect();
    let mean = match known.len() {
        0 => 1.0,
        count => known.iter().sum::<f64>() / count as f64,
    };
    shares.into_iter().map(|share| share.unwrap_or(mean)).collect()
}

/// Keeps the classes with the largest value, up to rounding.
fn keep_largest(classes: &mut Vec<usize>, value: impl Fn(usize) -> f64) {
    if classes.len() < 2 {
        return;
    }
    let values: Vec<f64> = classes.iter().map(|&k| value(k)).collect();
    let top = largest(&values);
    classes.retain(|&k| value(k) >= top - TIE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::tests::{assert_close, toy_a};

    fn toy_predictions(annotations: &Annotations) -> TaskProbabilities {
        let mut predictions = TaskProbabilities::none(annotations);
        let rows = [
            [0.7, 0.2, 0.1],
            [0.5, 0.3, 0.2],
            [0.1, 0.8, 0.1],
            [0.3, 0.4, 0.3],
            [0.2, 0.2, 0.6],
            [0.2, 0.5, 0.3],
        ];
        for (task, row) in rows.iter().enumerate() {
            predictions.set(task, row).unwrap();
        }
        predictions
    }

    #[test]
    fn toy_a_by_hand() {
        let annotations = toy_a();
        let predictions = toy_predictions(&annotations);
        let panel = WeighedPanel::new(&annotations, &predictions);
        assert_close(&panel.others, &[0.6875, 0.5625, 0.5625, 0.416667], 1e-6);
        let weights = panel.weigh(&panel.majority());
        assert_close(&weights.workers, &[0.53125, 0.34375, 0.34375, 0.125], 1e-6);
        assert_close(&[weights.agreement, weights.model], &[0.763889, 1.436141], 1e-6);
        let mut context = Context::new(0).with_class_probabilities(predictions.clone());
        let fit = Crowdlab::default().fit(&annotations, &mut context).unwrap();
        let expected = [
            0.701842, 0.189430, 0.108728, 0.537519, 0.300098, 0.162383, 0.108728, 0.782545, 0.108728,
            0.300098, 0.483425, 0.216477, 0.189430, 0.160390, 0.650181, 0.160390, 0.395236, 0.444375,
        ];
        assert_close(fit.consensus.as_slice(), &expected, 1e-6);
        assert_eq!(fit.consensus.labels(), [0, 0, 1, 1, 2, 2]);
        let quality = fit.worker_scores.unwrap();
        assert_close(&quality, &[0.784669, 0.703311, 0.593021, 0.446948], 1e-6);
    }

    #[test]
    fn ties_follow_the_chain() {
        // Task 0 is tied: the prediction decides; without one, the class that is rarer among all labels.
        let labels = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)];
        let annotations = Annotations::from_codes(2, 2, 2, labels).unwrap();
        let mut predictions = TaskProbabilities::none(&annotations);
        assert_eq!(WeighedPanel::new(&annotations, &predictions).majority(), [0, 1]);
        predictions.set(0, &[0.4, 0.6]).unwrap();
        assert_eq!(WeighedPanel::new(&annotations, &predictions).majority(), [1, 1]);
    }

    #[test]
    fn perfect_voices_give_sure_labels_and_missing_ones_are_made_up_for() {
        let labels = (0..4).flat_map(|n| (0..3).map(move |m| (n, m, (n % 2) as u16)));
        let annotations = Annotations::from_codes(6, 3, 2, labels).unwrap();
        let mut predictions = TaskProbabilities::none(&annotations);
        for task in 0..5 {
            let second = f64::from(u8::from(task % 2 == 1));
            predictions.set(task, &[1.0 - second, second]).unwrap();
        }
        let mut context = Context::new(0).with_class_probabilities(predictions);
        let fit = Crowdlab::default().fit(&annotations, &mut context).unwrap();
        assert_eq!(fit.consensus.row(0), [1.0, 0.0]);
        // Task 4 has a prediction and no labels, task 5 neither.
        assert_eq!(fit.consensus.row(4), [1.0, 0.0]);
        assert_eq!(fit.consensus.row(5), [0.5, 0.5]);
    }

    #[test]
    fn says_what_is_missing() {
        let error = Crowdlab::default()
            .fit(&toy_a(), &mut Context::new(0))
            .unwrap_err();
        assert!(error.to_string().contains("probabilities"), "{error}");
        assert_eq!(error.remedy(), Some(Remedy::GiveClassProbabilities));
    }
}
