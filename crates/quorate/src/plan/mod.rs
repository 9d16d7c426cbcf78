//! Who should label what next, and when to stop.
//!
//! - [`Plan`]: the most valuable next labels within a budget: which tasks, and by whom. Each task has an
//!   expected gain for its next labels (`gain.rs`); the largest gains over all tasks come first, and each
//!   label goes to the worker who tells the two most probable classes of the task apart best, for the money.
//! - [`Forecast`]: the estimated error now, after the planned labels, and how many labels reach a target.
//! - [`Dispatch`]: the fewest labels that let every pair of workers be compared (the paper's designated
//!   workers).
//! - [`Replay`]: what a plan would have bought on data with known truth, beside random labels and "most
//!   uncertain first".
//!
//! ```
//! use quorate::plan::Plan;
//! use quorate::{Annotations, Context};
//!
//! let rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "cat"), ("t2", "bob", "dog")];
//! let annotations = Annotations::from_triples(rows.into_iter().chain([("t3", "cem", "dog")]))?;
//! let fit = quorate::aggregate(&annotations)?;
//! let planned = Plan::new(1.0).run(&annotations, &fit, &mut Context::new(0))?;
//! for next in &planned.assignments {
//!     println!("{} labels {}", annotations.workers().get(next.worker), annotations.tasks().get(next.task));
//! }
//! # Ok::<(), quorate::Error>(())
//! ```
//!
//! Time: `O(N)` for the gains, `O(N log N)` to sort them, and for each planned label a walk down a ranking of
//! the workers, past those who have labelled the task. Memory: 16 bytes a possible label.

mod allocation;
mod assignment;
mod dispatch;
mod forecast;
mod gain;
mod reach;
mod replay;
mod roster;

pub use dispatch::{Dispatch, Dispatched};
pub use forecast::{ErrorEstimate, Forecast, TargetForecast};
pub use reach::MAX_WORKERS;
pub use replay::{Replay, ReplayCurve, Strategy};

use crate::{Annotations, Context, DawidSkene, Error, Fit, Result};
use allocation::Allocation;
use assignment::Assigning;
use roster::Roster;

/// Labels of a worker from which on a plan rests more on what it knows of the workers than it finds out about
/// them.
const LABELS_THAT_TELL: f64 = 15.0;

/// Settings of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What may be spent: a number of labels, or an amount of money where labels have costs.
    pub budget: f64,
    /// Cost of a label by each worker; empty: 1 each.
    pub costs: Vec<f64>,
    /// New labels that each worker can give; empty: `capacity` each.
    pub capacities: Vec<u32>,
    /// New labels that a worker can give; None: twice an even share of the budget, so that a plan does not
    /// rest on a few workers.
    pub capacity: Option<u32>,
    /// Pairs (task, worker) that must not be assigned.
    pub excluded: Vec<(u32, u32)>,
    /// Share of the labels that compare workers, whatever the model thinks of them, to find out where it is
    /// wrong: on the tasks with most labels, by the workers with fewest. None: the more, the fewer labels a
    /// worker has given so far: `15 / (15 + labels per worker)`.
    pub explore: Option<f64>,
    /// Error to reach, for the forecast of how many labels that takes.
    pub target: Option<f64>,
    /// Confidence from which on a task needs no more labels.
    pub retire: f64,
    /// Probability with which the intervals of the forecast hold the true error.
    pub level: f64,
}

/// One label to collect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assignment {
    /// The task.
    pub task: usize,
    /// Who should label it.
    pub worker: usize,
    /// Expected gain: the part of a task that this label puts right; 0 for labels that explore.
    pub gain: f64,
    /// What the label costs.
    pub cost: f64,
}

/// A plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The labels to collect, the most valuable first.
    pub assignments: Vec<Assignment>,
    /// What they cost.
    pub spent: f64,
    /// Valuable labels that nobody can give: everyone who could has labelled the task or has no capacity
    /// left.
    pub unplaced: usize,
    /// What the labels will do to the error.
    pub forecast: Forecast,
    /// Tasks whose confidence is at least [`Plan::retire`]: they need no more labels.
    pub retired: Vec<usize>,
}

impl Plan {
    /// A plan with this budget and defaults for the rest.
    pub fn new(budget: f64) -> Self {
        Self {
            budget,
            costs: Vec::new(),
            capacities: Vec::new(),
            capacity: None,
            excluded: Vec::new(),
            explore: None,
            target: None,
            retire: 0.99,
            level: 0.95,
        }
    }

    /// Plans the next labels of a table. `fit` is a fit of that table by a method that returns a model.
    pub fn run(&self, annotations: &Annotations, fit: &Fit, context: &mut Context) -> Result<Planned> {
        self.run_where(annotations, fit, &|_, _| true, context)
    }

    /// Plans among the pairs (task, worker) that are `available`.
    pub(crate) fn run_where(
        &self,
        annotations: &Annotations,
        fit: &Fit,
        available: &dyn Fn(usize, usize) -> bool,
        context: &mut Context,
    ) -> Result<Planned> {
        self.check(annotations)?;
        let model = model_of(fit, annotations)?;
        context.step("planning", 0, None)?;
        let mut costs = self.costs.clone();
        // An empty list: 1 each.
        costs.resize(annotations.worker_count(), 1.0);
        let mean_cost = costs.iter().sum::<f64>() / costs.len() as f64;
        let capacities = self.capacities(annotations.worker_count(), mean_cost);
        let labels = annotations.labels_per_worker();
        let order = annotations.canonical_worker_order();
        // Only ratios matter; a gain for each unit of money could be too large a number where labels cost
        // next to nothing.
        let prices: Vec<f64> = costs.iter().map(|cost| cost / mean_cost).collect();
        let roster = Roster::new(model, &labels, &prices, capacities, &order);
        let typical = roster.typical_accuracy(self.budget / mean_cost);
        let allocation = context.run(|| Allocation::new(annotations, fit, typical));
        context.step("planning", 1, Some(2))?;
        let mut assigning = Assigning::new(annotations, fit, roster, &self.excluded, available);
        let mut assignments = Vec::new();
        let (mut spent, mut unplaced) = (0.0, 0);
        let limit = self.budget * (1.0 + 1e-12);
        let explore = self.share_that_explores(annotations);
        let mut out_of_money = false;
        for slot in &allocation.slots {
            let Some(worker) = assigning.place(slot.task as usize) else {
                unplaced += 1;
                continue;
            };
            let cost = costs[worker];
            // At least one label corrects something.
            let most = if assignments.is_empty() {
                limit
            } else {
                limit * (1.0 - explore)
            };
            if spent + cost > most {
                out_of_money = true;
                break;
            }
            let (task, gain) = (slot.task as usize, slot.gain);
            assigning.confirm(task, worker);
            spent += cost;
            assignments.push(Assignment {
                task,
                worker,
                gain,
                cost,
            });
        }
        // In proportion: where nothing is worth a label, nothing is explored either.
        let in_proportion = |labels: usize| (labels as f64 * explore / (1.0 - explore)).ceil() as usize;
        // What the next label left of its part of the budget is spent here, too.
        let left = usize::from(out_of_money && explore > 0.0);
        let more = in_proportion(assignments.len() + left) + left;
        let mut spend = |worker: usize| {
            let affordable = spent + costs[worker] <= limit;
            spent += if affordable { costs[worker] } else { 0.0 };
            affordable
        };
        let explored = assigning.explore(more, &order, &costs, &mut spend);
        let exploring = |(task, worker)| {
            let (gain, cost) = (0.0, costs[worker]);
            Assignment {
                task,
                worker,
                gain,
                cost,
            }
        };
        assignments.extend(explored.into_iter().map(exploring));
        let fitted = (annotations, fit, model);
        let is_sure = |&task: &usize| fit.consensus.confidence(task) >= self.retire;
        Ok(Planned {
            forecast: Forecast::new(self, &allocation, &assignments, fitted, typical),
            assignments,
            spent,
            unplaced,
            retired: (0..fit.consensus.len()).filter(is_sure).collect(),
        })
    }

    /// Share of the labels that compare workers.
    fn share_that_explores(&self, annotations: &Annotations) -> f64 {
        let workers = annotations.worker_count().max(1) as f64;
        let labels_per_worker = annotations.label_count() as f64 / workers;
        let share = LABELS_THAT_TELL / (LABELS_THAT_TELL + labels_per_worker);
        self.explore.unwrap_or(share)
    }

    /// Labels that each worker can give.
    fn capacities(&self, workers: usize, mean_cost: f64) -> Vec<u32> {
        if !self.capacities.is_empty() {
            return self.capacities.clone();
        }
        let even_share = self.budget / mean_cost / workers.max(1) as f64;
        // `as` keeps to the range of u32.
        let capacity = self.capacity.unwrap_or((2.0 * even_share).ceil() as u32);
        vec![capacity; workers]
    }

    fn check(&self, annotations: &Annotations) -> Result<()> {
        let workers = annotations.worker_count();
        let wrong = |name: &str, problem: String| Err(Error::parameter(name, problem));
        let share = |value: f64| value > 0.0 && value < 1.0;
        check_budget(self.budget)?;
        if let Some(cost) = self.costs.iter().find(|cost| !(cost.is_finite() && **cost > 0.0)) {
            return wrong("cost", format!("found {cost}, expected a number above 0"));
        }
        if let Some(share) = self.explore.filter(|share| !(0.0..1.0).contains(share)) {
            let problem = format!("found {share}, expected a share from 0 to below 1");
            return wrong("explore", problem);
        }
        if !(share(self.retire) && share(self.level)) || self.target.is_some_and(|target| !share(target)) {
            let problem = "target, retire and level are shares between 0 and 1";
            return wrong("plan", problem.into());
        }
        for (name, length) in [("costs", self.costs.len()), ("capacities", self.capacities.len())] {
            if length != 0 && length != workers {
                let problem = format!("found {length} numbers, expected one for each of {workers} workers");
                return wrong(name, problem);
            }
        }
        Ok(())
    }
}

fn check_budget(budget: f64) -> Result<()> {
    if budget.is_finite() && budget > 0.0 {
        return Ok(());
    }
    let problem = format!("found {budget}, expected a number above 0");
    Err(Error::parameter("budget", problem))
}

/// The model of a fit, which planning cannot do without.
fn model_of<'a>(fit: &'a Fit, annotations: &Annotations) -> Result<&'a DawidSkene> {
    if fit.consensus.len() != annotations.task_count() {
        return Err(Error::Mismatch("the fit is not one of this table".into()));
    }
    fit.model.as_ref().ok_or_else(|| Error::NotApplicable {
        method: "plan",
        reason:
            "the fit has no confusion matrices, which tell whom to ask: choose a method that returns a model"
                .into(),
    })
}
