//! Seeded crowds with known truth.
//!
//! ```text
//! truth y_n ~ prior,    A_m ~ the kind of worker m,    worker m labels task n with probability p_m,
//! Pr(worker m answers a | y_n = k) = A_m(a, k)
//! ```
//!
//! | symbol | name | drawn in |
//! |---|---|---|
//! | prior, `A_m` | [`Simulated::model`] | by kind of worker: [`WorkerKind`] |
//! | `y_n` | [`Simulated::truth`] | one draw for each task |
//! | `p_m` | [`Simulation::coverage`], `activity_exponent`, `designated` | a power law, or a fixed number of labels a task |
//! | missing pairs | [`Simulation::missing_pairs`] | pairs of workers that never share a task |
//!
//! The defaults are the synthetic crowd of the SymNMF paper (Ibrahim and Fu 2021, supplement): 25 workers, 3
//! classes, columns of the confusion matrices and the prior Dirichlet(1), one worker near the identity,
//! labels kept with probability 0.3.
//!
//! Every use of chance has a stream of its own, and the answer of worker m to task n depends on nothing but
//! the seed, m, n, the truth and the matrix of m. Raising the coverage shows more of the same answers; making
//! one worker worse leaves the others as they were; more tasks come after the ones that were there.
//!
//! Time and memory are linear in tasks, labels and `M K^2`; nothing loops over all tasks x workers. Only
//! `missing_pairs` looks at the pairs of labels within a task.

mod activity;
mod chance;
mod coverage;
mod missing_pairs;
mod settings;
mod validate;
mod workers;

pub use settings::{Amount, Coverage, Prior, Quality, Simulation};
pub use workers::WorkerKind;

use crate::annotations::{Annotations, Names};
use crate::{DawidSkene, Error, Result};
use chance::{CellChance, Stream, pick};

/// A simulated crowd: its labels, and what is true.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// The labels; tasks are called `t1, t2, ..`, workers `w1, ..`, classes `1, ..`.
    pub annotations: Annotations,
    /// The true class of every task, those without labels included.
    pub truth: Vec<usize>,
    /// The model the answers were drawn from.
    pub model: DawidSkene,
    /// What kind each worker is of.
    pub worker_kinds: Vec<WorkerKind>,
    /// The designated workers, in rising order.
    pub designated: Vec<usize>,
    /// Labels that were taken away so that the missing pairs share no task.
    pub dropped_labels: usize,
}

impl Simulation {
    /// Draws a crowd. The same settings and seed give the same bits.
    pub fn run(&self, seed: u64) -> Result<Simulated> {
        self.validate()?;
        let (model, worker_kinds) = workers::draw_model(self, seed);
        let truth = draw_truth(model.prior(), self.tasks, seed);
        let designated = coverage::choose_designated(self, seed);
        let mut assigned = coverage::assign(self, &designated, seed)?;
        let dropped_labels = missing_pairs::separate(&mut assigned, self.missing_pairs, &designated, seed);
        if assigned.workers.is_empty() {
            let problem = "no label was drawn; raise the number of tasks or the labels on each";
            return Err(Error::NoLabels(problem.into()));
        }
        let answers = CellChance::new(seed, Stream::Answers);
        let labels = (0..self.tasks).flat_map(|task| {
            let (model, truth) = (&model, truth[task]);
            assigned.of_task(task).iter().map(move |&worker| {
                let uniform = answers.uniform(task, worker as usize);
                let answer = draw_answer(model, worker as usize, truth, uniform);
                (task as u32, worker, answer as u16)
            })
        });
        let names = |prefix, count| Names::numbered_from(1, prefix, count);
        let (tasks, workers) = (names("t", self.tasks), names("w", self.workers));
        let annotations = Annotations::from_named_codes(tasks, workers, names("", self.classes), labels)?;
        Ok(Simulated {
            annotations,
            truth,
            model,
            worker_kinds,
            designated,
            dropped_labels,
        })
    }
}

impl Simulated {
    /// Share of the pairs of workers that have no task in common. Time linear in the pairs of labels within
    /// tasks.
    pub fn missing_pair_share(&self) -> f64 {
        missing_pairs::missing_share(&self.annotations)
    }
}

fn draw_truth(prior: &[f64], tasks: usize, seed: u64) -> Vec<usize> {
    let mut rng = Stream::Truth.rng(seed, 0);
    let mut draw = |_| pick(prior.iter().copied(), chance::uniform(&mut rng));
    (0..tasks).map(&mut draw).collect()
}

fn draw_answer(model: &DawidSkene, worker: usize, truth: usize, uniform: f64) -> usize {
    let column = model.confusion(worker)[truth..]
        .iter()
        .step_by(model.class_count());
    pick(column.copied(), uniform)
}

#[cfg(test)]
mod tests;
