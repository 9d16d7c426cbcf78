//! What the others say: the posterior of a task without the label of one worker, or of two.
//!
//! ```text
//! ln q_n^{-m}(k) = ln prior(k) + sum over labels (j, x) of task n, j not in the group of m, of ln A_j(x, k)   + const
//! ```
//!
//! A worker is never compared with a consensus that it had a part in. Workers that were found to copy each
//! other form a group: on each task a group has one voice (its first label), so that a ring cannot outvote
//! the rest, and leaving out a worker leaves out its whole group.
//!
//! Two ways to weigh the others. **Equal**: everyone is right with the same probability p, errors spread
//! evenly; p follows from how often two labels of a task agree, `p_o = p^2 + (1 - p)^2 / (K - 1)`. Nobody can
//! gain weight by agreeing with a friend. **Fitted**: confusion matrices counted against the posterior of
//! `pooled-ds`.
//!
//! Matrices are shrunk towards the crowd's by [`SHRINKAGE`] labels in each column. Time `O(L K)`, memory 4
//! bytes a label and `N K + M K^2` numbers.

use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use crate::methods::{Aggregate, PooledDawidSkene};
use crate::model::{Consensus, DawidSkene, count_answers, softmax_in_place};

/// Labels of the crowd's average that are added to each column of a worker's confusion matrix.
const SHRINKAGE: f64 = 2.0;

/// The voices on every task, ready to leave some out.
pub(super) struct Others<'a> {
    pub annotations: &'a Annotations,
    pub classes: usize,
    /// For each label by task: the label that speaks for its group there.
    voice: Vec<u32>,
    /// Voices on each task.
    voice_count: Vec<u32>,
    /// `[worker][answer][truth]`: what an answer weighs.
    log_weight: Vec<f64>,
    /// `[task][class]`: sum of the logarithms over all voices and the prior.
    score: Vec<f64>,
    /// Confusion matrices and prior as estimated against all voices.
    pub model: DawidSkene,
}

impl<'a> Others<'a> {
    /// With equal weights for everyone.
    pub fn equal(annotations: &'a Annotations, group: &[u32], context: &Context) -> Self {
        let classes = annotations.class_count();
        let voice = voices(annotations, group);
        let right = equal_accuracy(annotations);
        let wrong = (1.0 - right) / (classes.max(2) - 1) as f64;
        let mut matrix = vec![wrong; classes * classes];
        (0..classes).for_each(|k| matrix[k * classes + k] = right);
        let weights = DawidSkene::new(
            vec![1.0 / classes as f64; classes],
            matrix.repeat(annotations.worker_count()),
        );
        let mut others = Self::weighted(annotations, voice, &weights);
        others.model = counted(annotations, &others.consensus(), context);
        others
    }

    /// With fitted confusion matrices, on one voice a group.
    pub fn fitted(annotations: &'a Annotations, group: &[u32], context: &mut Context) -> Result<Self> {
        let voice = voices(annotations, group);
        let every_label_speaks = voice.iter().enumerate().all(|(at, &of)| at == of as usize);
        let consensus = if every_label_speaks {
            fit(annotations, context)?
        } else {
            fit(&speakers(annotations, &voice)?, context)?
        };
        // A silent member of a group has no labels in the fit: everyone is counted against its posterior.
        let model = counted(annotations, &consensus, context);
        Ok(Self::weighted(annotations, voice, &model))
    }

    fn weighted(annotations: &'a Annotations, voice: Vec<u32>, model: &DawidSkene) -> Self {
        let classes = annotations.class_count();
        let log = |values: &[f64]| -> Vec<f64> { values.iter().map(|p| p.max(1e-9).ln()).collect() };
        let (log_prior, log_weight) = (log(model.prior()), log(model.confusions()));
        let mut score = Vec::with_capacity(annotations.task_count() * classes);
        let mut voice_count = vec![0u32; annotations.task_count()];
        for (task, voices) in voice_count.iter_mut().enumerate() {
            let row = score.len();
            score.extend_from_slice(&log_prior);
            let first = annotations.task_starts()[task] as usize;
            for (offset, (worker, answer)) in annotations.labels_of_task(task).enumerate() {
                if voice[first + offset] as usize == first + offset {
                    *voices += 1;
                    let logs = &log_weight[(worker * classes + answer) * classes..][..classes];
                    score[row..]
                        .iter_mut()
                        .zip(logs)
                        .for_each(|(sum, log)| *sum += log);
                }
            }
        }
        Self {
            annotations,
            classes,
            voice,
            voice_count,
            log_weight,
            score,
            model: model.clone(),
        }
    }

    /// The posterior with all voices.
    pub fn consensus(&self) -> Consensus {
        let mut rows = self.score.clone();
        rows.chunks_exact_mut(self.classes).for_each(|row| {
            softmax_in_place(row);
        });
        Consensus::new(self.classes, rows)
    }

    /// Number of voices on a task besides those of the groups of these two labels (the same one twice for
    /// one).
    pub fn voices_without(&self, task: usize, one: usize, two: usize) -> usize {
        let left_out = 1 + usize::from(self.voice[one] != self.voice[two]);
        self.voice_count[task] as usize - left_out
    }

    /// Writes the posterior of a task without the groups of two labels (the same one twice to leave out one).
    /// Labels are places in the arrays by task.
    pub fn without(&self, task: usize, one: usize, two: usize, row: &mut [f64]) {
        let k = self.classes;
        row.copy_from_slice(&self.score[task * k..][..k]);
        let (one, two) = (self.voice[one] as usize, self.voice[two] as usize);
        self.remove(task, one, row);
        if one != two {
            self.remove(task, two, row);
        }
        softmax_in_place(row);
    }

    fn remove(&self, task: usize, label: usize, row: &mut [f64]) {
        let (workers, labels) = self.annotations.task_slices(task);
        let offset = label - self.annotations.task_starts()[task] as usize;
        let at = workers[offset] as usize * self.classes + labels[offset] as usize;
        let logs = &self.log_weight[at * self.classes..][..self.classes];
        row.iter_mut().zip(logs).for_each(|(sum, log)| *sum -= log);
    }
}

/// Labels above which the fit stops early: what single workers are like does not hang on the last digits.
const LARGE: usize = 500_000;
const COARSE_TOL: f64 = 1e-4;
const COARSE_ROUNDS: usize = 30;

/// The posterior with every worker drawn to the crowd. A matrix of each worker's own, as `rob-symnmf-em`
/// learns it, can swap classes where workers have some sixty labels, and everybody then looks like a spammer.
fn fit(annotations: &Annotations, context: &mut Context) -> Result<Consensus> {
    let mut method = PooledDawidSkene::default();
    if annotations.label_count() > LARGE {
        method = method.tol(COARSE_TOL).max_iter(COARSE_ROUNDS);
    }
    Ok(method.fit(annotations, context)?.consensus)
}

/// Confusion matrices of all workers against a consensus, shrunk towards the crowd's.
fn counted(annotations: &Annotations, consensus: &Consensus, context: &Context) -> DawidSkene {
    let k = annotations.class_count();
    let counts = context.run(|| count_answers(annotations, consensus));
    let prior = counts.to_model(0.0).prior().to_vec();
    let pooled = counts.pooled_matrix();
    let mut confusion = Vec::with_capacity(annotations.worker_count() * k * k);
    for worker in 0..annotations.worker_count() {
        let cells = counts.worker(worker);
        let column: Vec<f64> = (0..k)
            .map(|truth| cells[truth..].iter().step_by(k).sum())
            .collect();
        confusion.extend(
            (0..k * k).map(|cell| (cells[cell] + SHRINKAGE * pooled[cell]) / (column[cell % k] + SHRINKAGE)),
        );
    }
    DawidSkene::new(prior, confusion)
}

/// For each label by task, the first label there of the same group.
fn voices(annotations: &Annotations, group: &[u32]) -> Vec<u32> {
    let groups = group.iter().max().map_or(0, |&top| top as usize + 1);
    let mut seen = vec![(u32::MAX, 0u32); groups];
    let mut voice = Vec::with_capacity(annotations.label_count());
    for task in 0..annotations.task_count() {
        for &worker in annotations.task_slices(task).0 {
            let entry = &mut seen[group[worker as usize] as usize];
            if entry.0 != task as u32 {
                *entry = (task as u32, voice.len() as u32);
            }
            voice.push(entry.1);
        }
    }
    voice
}

/// The table with one label of each group on each task; names do not matter.
fn speakers(annotations: &Annotations, voice: &[u32]) -> Result<Annotations> {
    let (tasks, workers, classes) = (
        annotations.task_count(),
        annotations.worker_count(),
        annotations.class_count(),
    );
    let all = annotations.iter().enumerate();
    let speaking = all.filter(|(at, _)| voice[*at] as usize == *at);
    let labels = speaking.map(|(_, (task, worker, label))| (task as u32, worker as u32, label as u16));
    Annotations::from_codes(tasks, workers, classes, labels)
}

/// The accuracy p that explains how often two labels of a task agree, if everyone had the same.
fn equal_accuracy(annotations: &Annotations) -> f64 {
    let classes = annotations.class_count().max(2) as f64;
    let mut votes = vec![0u32; annotations.class_count()];
    let (mut equal, mut pairs) = (0.0, 0.0);
    for task in 0..annotations.task_count() {
        let (_, labels) = annotations.task_slices(task);
        labels.iter().for_each(|&label| votes[label as usize] += 1);
        let same: u32 = labels.iter().map(|&label| votes[label as usize] - 1).sum();
        labels.iter().for_each(|&label| votes[label as usize] = 0);
        if labels.len() > 1 {
            equal += f64::from(same) / (labels.len() * (labels.len() - 1)) as f64;
            pairs += 1.0;
        }
    }
    let observed = if pairs > 0.0 { equal / pairs } else { 1.0 };
    let root = ((classes - 1.0) * (classes * observed - 1.0)).max(0.0).sqrt();
    ((1.0 + root) / classes).clamp(1.05 / classes, 0.99)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_out_equals_a_table_without_the_label() {
        let labels = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 1), (1, 2, 1), (1, 3, 0)];
        let all = Annotations::from_codes(2, 4, 2, labels).unwrap();
        let alone: Vec<u32> = (0..4).collect();
        let others = Others::equal(&all, &alone, &Context::new(0));
        let fewer = Annotations::from_codes(2, 4, 2, labels[1..].iter().copied()).unwrap();
        let expected = Others::weighted(&fewer, voices(&fewer, &alone), &equal_model(&all)).consensus();
        let mut row = [0.0; 2];
        others.without(0, 0, 0, &mut row);
        assert!((row[0] - expected.row(0)[0]).abs() < 1e-12);
        assert_eq!(others.voices_without(0, 0, 1), 1);
    }

    fn equal_model(annotations: &Annotations) -> DawidSkene {
        let p = equal_accuracy(annotations);
        DawidSkene::new(
            vec![0.5; 2],
            [p, 1.0 - p, 1.0 - p, p].repeat(annotations.worker_count()),
        )
    }

    #[test]
    fn a_group_has_one_voice() {
        let labels = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 3, 0)];
        let table = Annotations::from_codes(1, 4, 2, labels).unwrap();
        assert_eq!(voices(&table, &[0, 0, 1, 0]), [0, 0, 2, 0]);
        let others = Others::equal(&table, &[0, 0, 1, 0], &Context::new(0));
        assert!((others.consensus().row(0)[0] - 0.5).abs() < 1e-12);
        let mut row = [0.0; 2];
        others.without(0, 3, 1, &mut row);
        assert!(row[1] > 0.5);
        assert_eq!(
            (others.voices_without(0, 3, 1), others.voices_without(0, 2, 2)),
            (1, 1)
        );
    }

    #[test]
    fn equal_accuracy_solves_its_equation() {
        let crowd = crate::simulate::Simulation {
            tasks: 4000,
            quality: crate::simulate::Quality::Accuracy {
                lowest: 0.7,
                highest: 0.7,
                concentration: 1e6,
            },
            experts: crate::simulate::Amount::Number(0),
            ..crate::simulate::Simulation::default()
        };
        let accuracy = equal_accuracy(&crowd.run(1).unwrap().annotations);
        assert!((accuracy - 0.7).abs() < 0.02, "{accuracy}");
    }
}
