//! Each worker's answers against what the others say: the table behind the tests of single workers.
//!
//! ```text
//! T_m(a, k) = number of tasks that m answered with a and the others, without m, take for k
//! ```
//!
//! Only tasks with another voice count. Ties of the others go to the lowest class: that is independent of the
//! worker's answer, so that the tests stay honest.

use rayon::prelude::*;

use super::others::Others;
use crate::context::Context;

/// What one worker answered and what the others say.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnswerTable {
    /// T_m, `[answer][others]`.
    pub counts: Vec<f64>,
    /// Tasks that count.
    pub tasks: f64,
    /// Labels of each answer, and the sum of the others' probability for that very answer there.
    pub purity: Vec<(f64, f64)>,
    /// Share of its answers that are wrong, in expectation over the others' posterior.
    pub error: f64,
    /// For each label, the others' probability of the answer given there, and the answer.
    pub evidence: Vec<(f32, u16)>,
}

/// The tables of all workers.
pub(super) fn answer_tables(others: &Others<'_>, context: &Context) -> Vec<AnswerTable> {
    let (annotations, k) = (others.annotations, others.classes);
    let of_worker = |worker: usize| {
        let mut table = AnswerTable {
            counts: vec![0.0; k * k],
            tasks: 0.0,
            purity: vec![(0.0, 0.0); k],
            error: 0.0,
            evidence: Vec::new(),
        };
        let mut row = vec![0.0; k];
        for (task, answer) in annotations.by_worker().labels(worker) {
            let label = place(annotations, task, worker);
            if others.voices_without(task, label, label) == 0 {
                continue;
            }
            others.without(task, label, label, &mut row);
            let consensus = crate::model::label_of(&row);
            table.counts[answer * k + consensus] += 1.0;
            table.tasks += 1.0;
            table.purity[answer].0 += 1.0;
            table.purity[answer].1 += row[answer];
            table.error += 1.0 - row[answer];
            table.evidence.push((row[answer] as f32, answer as u16));
        }
        if table.tasks > 0.0 {
            table.error /= table.tasks;
        }
        table
    };
    let workers = 0..annotations.worker_count();
    context.run(|| workers.into_par_iter().map(of_worker).collect())
}

/// Where a worker's label on a task stands in the arrays by task.
pub(super) fn place(annotations: &crate::Annotations, task: usize, worker: usize) -> usize {
    let (workers, _) = annotations.task_slices(task);
    annotations.task_starts()[task] as usize + workers.partition_point(|&other| (other as usize) < worker)
}

impl AnswerTable {
    /// Sums over the others: how often each answer was given; and over answers: how often the others took
    /// each class.
    pub fn margins(&self) -> (Vec<f64>, Vec<f64>) {
        let k = self.purity.len();
        let rows = self.counts.chunks_exact(k).map(|row| row.iter().sum()).collect();
        let columns = (0..k)
            .map(|truth| self.counts[truth..].iter().step_by(k).sum())
            .collect();
        (rows, columns)
    }
}
