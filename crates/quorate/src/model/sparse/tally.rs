//! Sums over tasks that an M-step needs: right answers of the workers and masses of the classes.

use super::problem::SparseProblem;
use crate::annotations::Annotations;
use crate::parallel::add;

/// What a pass over the tasks gives besides the posteriors.
#[derive(Clone, Default)]
pub(super) struct Sums {
    pub(super) log_likelihood: f64,
    pub(super) change: f64,
    /// Expected right answers of each worker.
    pub(super) right: Vec<f64>,
    /// Mass of each class over the tasks that have labels.
    pub(super) mass: Vec<f64>,
}

/// Sums over some tasks, with the mass of the rest still to be spread over the classes.
pub(super) struct SparseTally {
    pub(super) sums: Sums,
    /// Sum of the tasks' [`rest_scale`].
    rest: f64,
    /// The part of it from tasks where the class is a candidate.
    not_here: Vec<f64>,
}

impl SparseTally {
    pub(super) fn new(annotations: &Annotations) -> Self {
        Self {
            sums: Sums {
                right: vec![0.0; annotations.worker_count()],
                mass: vec![0.0; annotations.class_count()],
                ..Sums::default()
            },
            rest: 0.0,
            not_here: vec![0.0; annotations.class_count()],
        }
    }

    /// Adds a task with this posterior.
    pub(super) fn add(&mut self, problem: &SparseProblem<'_>, task: usize, row: &[f64], prior: &[f64]) {
        let (annotations, named) = (problem.annotations, problem.candidates.of_task(task));
        let (workers, answers) = annotations.task_slices(task);
        if workers.is_empty() {
            return;
        }
        let scale = rest_scale(named, row, prior);
        for (&worker, answer) in workers.iter().zip(answers) {
            self.sums.right[worker as usize] += match named.binary_search(answer) {
                Ok(place) => row[place],
                Err(_) if annotations.gold(task).is_some() => 0.0,
                Err(_) => scale * prior[*answer as usize],
            };
        }
        self.rest += scale;
        for (&class, q) in named.iter().zip(row) {
            self.sums.mass[class as usize] += q;
            self.not_here[class as usize] += scale;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.sums.log_likelihood += other.sums.log_likelihood;
        self.sums.change += other.sums.change;
        add(&mut self.sums.right, &other.sums.right);
        add(&mut self.sums.mass, &other.sums.mass);
        self.rest += other.rest;
        add(&mut self.not_here, &other.not_here);
    }

    /// Spreads the rest over the classes in proportion to the prior.
    pub(super) fn finish(mut self, prior: &[f64]) -> Sums {
        for ((mass, share), not_here) in self.sums.mass.iter_mut().zip(prior).zip(&self.not_here) {
            *mass += share * (self.rest - not_here).max(0.0);
        }
        self.sums
    }
}

/// Prior of all classes but the candidates.
pub(super) fn outside_share(named: &[u16], prior: &[f64]) -> f64 {
    if named.len() == prior.len() {
        return 0.0;
    }
    let inside: f64 = named.iter().map(|&class| prior[class as usize]).sum();
    (1.0 - inside).max(0.0)
}

/// The posterior of a class that is no candidate, over its prior.
pub(super) fn rest_scale(named: &[u16], row: &[f64], prior: &[f64]) -> f64 {
    let outside = outside_share(named, prior);
    if outside > 0.0 {
        row[named.len()] / outside
    } else {
        0.0
    }
}
