//! Which tasks get the next labels: all possible labels with their expected gain, the largest first.

use rayon::prelude::*;

use super::gain::{LOOKAHEAD, accuracy_after, gains};
use crate::{Annotations, Fit};

/// Gains below this are nothing: rounding of probabilities.
const MIN_GAIN: f64 = 1e-9;

/// A possible label of a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slot {
    /// Expected gain in accuracy of this task.
    pub(super) gain: f64,
    /// The task.
    pub(super) task: u32,
    /// How many labels of the task come before this one.
    pub(super) step: u8,
}

/// All possible labels that are worth something, the most valuable first.
pub(super) struct Allocation {
    pub(super) slots: Vec<Slot>,
    /// Log-odds of the typical worker's accuracy on a task of mean difficulty.
    typical: f64,
    /// Log-odds of the mean ease of the tasks, where tasks differ.
    mean_ease: Option<f64>,
}

impl Allocation {
    /// `typical`: accuracy of the workers who will be asked, on a task of mean difficulty. Where tasks differ
    /// ([`Fit::task_difficulty`]) it is shifted, in log-odds, by as much as the task is easier than the mean.
    pub(super) fn new(annotations: &Annotations, fit: &Fit, typical: f64) -> Self {
        let tasks = fit.consensus.len();
        let difficulty = fit.task_difficulty.as_deref();
        let mean_ease =
            difficulty.map(|all| log_odds(1.0 - all.iter().sum::<f64>() / all.len().max(1) as f64));
        let mut allocation = Self {
            slots: Vec::new(),
            typical: log_odds(typical),
            mean_ease,
        };
        let mut slots: Vec<Slot> = (0..tasks)
            .into_par_iter()
            .filter(|&task| annotations.gold(task).is_none())
            .flat_map_iter(|task| {
                let row = fit.consensus.row(task);
                let next: [f64; LOOKAHEAD] = match fit.consensus.confidence(task) {
                    sure if 1.0 - sure < MIN_GAIN => [0.0; LOOKAHEAD],
                    _ => gains(&accuracy_after(row, allocation.accuracy(fit, task))),
                };
                let slot = move |(step, gain)| {
                    let (task, step) = (task as u32, step as u8);
                    Slot { gain, task, step }
                };
                let slots = next.into_iter().enumerate().map(slot);
                slots.filter(|slot| slot.gain > MIN_GAIN)
            })
            .collect();
        let name = |slot: &Slot| annotations.tasks().get(slot.task as usize);
        // Equal gains by name: the order of the rows must not decide.
        slots.par_sort_unstable_by(|a, b| {
            let by_gain = b.gain.total_cmp(&a.gain);
            by_gain
                .then_with(|| name(a).cmp(name(b)))
                .then(a.step.cmp(&b.step))
        });
        allocation.slots = slots;
        allocation
    }

    /// Accuracy of the typical worker on this task.
    pub(super) fn accuracy(&self, fit: &Fit, task: usize) -> f64 {
        let shift = match (&fit.task_difficulty, self.mean_ease) {
            (Some(difficulty), Some(mean)) => log_odds(1.0 - difficulty[task]) - mean,
            _ => 0.0,
        };
        1.0 / (1.0 + (-self.typical - shift).exp())
    }
}

fn log_odds(probability: f64) -> f64 {
    let p = probability.clamp(1e-6, 1.0 - 1e-6);
    (p / (1.0 - p)).ln()
}
