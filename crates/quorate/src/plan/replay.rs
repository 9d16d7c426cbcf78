//! A plan played on data with known truth: what it would have bought.
//!
//! All labels are hidden but a few on each task. Round by round a strategy chooses some of the hidden ones,
//! they are shown, the method is fitted again and its error noted. So strategies are compared by the labels
//! they need for the same error:
//!
//! - `plan`: [`Plan`](super::Plan).
//! - `most-uncertain`: a label for each of the tasks with least confidence, by whoever of the free workers is
//!   drawn.
//! - `random`: any of the hidden labels.
//!
//! All have the same capacities.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::{Plan, check_budget};
use crate::{Aggregate, Annotations, Context, Error, Fit, Result};

const STREAM: u64 = 0x91a7 << 40;

/// How the next labels are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// As planned.
    Plan,
    /// Tasks with least confidence first, by anyone.
    MostUncertain,
    /// Any.
    Random,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plan, Self::MostUncertain, Self::Random];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::MostUncertain => "most-uncertain",
            Self::Random => "random",
        }
    }
}

/// Settings of a replay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Replay {
    /// Labels on each task that are shown at the start.
    pub start: usize,
    /// Labels shown in each round.
    pub batch: usize,
    /// Rounds.
    pub rounds: usize,
    /// New labels that a worker can give over all rounds; None: twice an even share.
    pub capacity: Option<u32>,
    /// Share of the labels with which a plan explores ([`Plan::explore`](super::Plan)); None: as plans do by
    /// themselves.
    pub explore: Option<f64>,
}

/// Error of a strategy over its rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayCurve {
    /// The strategy.
    pub strategy: Strategy,
    /// After each round, the start included: labels shown and share of wrong labels.
    pub points: Vec<(usize, f64)>,
    /// For the rounds of [`Strategy::Plan`]: the forecast of the error after the round.
    pub forecasts: Vec<super::ErrorEstimate>,
}

impl ReplayCurve {
    /// Labels beyond the start until the error first is at most this, between rounds in proportion.
    pub fn labels_to(&self, error: f64) -> Option<f64> {
        let start = self.points.first()?.0 as f64;
        let mut before: Option<(f64, f64)> = None;
        for &(labels, now) in &self.points {
            let labels = labels as f64 - start;
            if now <= error {
                return Some(match before {
                    Some((earlier, was)) => earlier + (labels - earlier) * (was - error) / (was - now),
                    None => labels,
                });
            }
            before = Some((labels, now));
        }
        None
    }
}

impl Replay {
    /// A budget of labels that is spent in this many rounds of equal size, from two labels per task on.
    pub fn spending(budget: f64, rounds: usize) -> Result<Self> {
        check_budget(budget)?;
        if rounds == 0 {
            return Err(Error::parameter("rounds", "found 0, expected at least 1"));
        }
        Ok(Self {
            start: 2,
            batch: (budget / rounds as f64).ceil() as usize,
            rounds,
            capacity: None,
            explore: None,
        })
    }

    /// Plays one strategy. `table` holds all labels, `truth` the true class of each task where it is known.
    pub fn run(
        &self,
        strategy: Strategy,
        table: &Annotations,
        truth: &[Option<usize>],
        method: &dyn Aggregate,
        context: &mut Context,
    ) -> Result<ReplayCurve> {
        if truth.len() != table.task_count() || truth.iter().flatten().next().is_none() {
            return Err(Error::Mismatch(
                "a replay needs the truth of tasks of this table".into(),
            ));
        }
        let mut game = Game::start(self, table, context);
        let (points, forecasts) = (Vec::new(), Vec::new());
        let mut curve = ReplayCurve {
            strategy,
            points,
            forecasts,
        };
        let total = self.rounds + 1;
        for round in 0..total {
            context.step(strategy.name(), round, Some(total))?;
            let shown = game.table()?;
            let fit = method.fit(&shown, context)?;
            curve.points.push((shown.label_count(), error(&fit, truth)));
            if round == self.rounds || game.left == 0 {
                break;
            }
            let chosen = match strategy {
                Strategy::Plan => {
                    let (chosen, forecast) = game.plan(&shown, &fit, context)?;
                    curve.forecasts.push(forecast);
                    chosen
                }
                Strategy::MostUncertain => game.most_uncertain(&fit),
                Strategy::Random => game.random(),
            };
            game.show(&chosen);
        }
        Ok(curve)
    }
}

fn error(fit: &Fit, truth: &[Option<usize>]) -> f64 {
    let tasks = || truth.iter().enumerate();
    let known = || tasks().filter_map(|(task, &truth)| Some((task, truth?)));
    let wrong = known().filter(|&(task, truth)| fit.consensus.label(task) != truth);
    wrong.count() as f64 / known().count() as f64
}

/// Which labels are shown.
struct Game<'a> {
    table: &'a Annotations,
    batch: usize,
    explore: Option<f64>,
    /// Hidden labels of each task, in random order: (worker, class).
    hidden: Vec<Vec<(u32, u16)>>,
    shown: Vec<(u32, u32, u16)>,
    /// How many more labels each worker may show.
    capacity: Vec<u32>,
    left: usize,
    rng: chacha20::ChaCha8Rng,
}

impl<'a> Game<'a> {
    fn start(settings: &Replay, table: &'a Annotations, context: &Context) -> Self {
        let mut rng = context.rng(STREAM);
        let mut shown = Vec::new();
        let mut hidden = Vec::with_capacity(table.task_count());
        for task in 0..table.task_count() {
            let (workers, classes) = table.task_slices(task);
            let labels = workers.iter().copied().zip(classes.iter().copied());
            let mut labels: Vec<(u32, u16)> = labels.collect();
            labels.shuffle(&mut rng);
            let first = labels.drain(..settings.start.min(labels.len()));
            shown.extend(first.map(|(worker, class)| (task as u32, worker, class)));
            hidden.push(labels);
        }
        let left = hidden.iter().map(Vec::len).sum();
        let workers = table.worker_count();
        let even = (settings.batch * settings.rounds) as f64 / workers.max(1) as f64;
        let capacity = settings.capacity.unwrap_or((2.0 * even).ceil() as u32);
        Self {
            table,
            batch: settings.batch,
            explore: settings.explore,
            hidden,
            shown,
            capacity: vec![capacity; workers],
            left,
            rng,
        }
    }

    fn table(&self) -> Result<Annotations> {
        self.table.with_labels(self.shown.iter().copied())
    }

    fn plan(
        &self,
        shown: &Annotations,
        fit: &Fit,
        context: &mut Context,
    ) -> Result<(Vec<(usize, usize)>, super::ErrorEstimate)> {
        let plan = Plan {
            capacities: self.capacity.clone(),
            explore: self.explore,
            ..Plan::new(self.batch as f64)
        };
        let is_hidden = |task: usize, worker: usize| {
            let mut hidden = self.hidden[task].iter();
            hidden.any(|&(hidden, _)| hidden as usize == worker)
        };
        let planned = plan.run_where(shown, fit, &is_hidden, context)?;
        let chosen = planned.assignments.iter().map(|next| (next.task, next.worker));
        Ok((chosen.collect(), planned.forecast.after))
    }

    fn most_uncertain(&mut self, fit: &Fit) -> Vec<(usize, usize)> {
        let tasks = (0..self.hidden.len()).filter(|&task| !self.hidden[task].is_empty());
        let mut tasks: Vec<usize> = tasks.collect();
        tasks.shuffle(&mut self.rng);
        let confidence = |task: usize| fit.consensus.confidence(task);
        tasks.sort_by(|&a, &b| confidence(a).total_cmp(&confidence(b)));
        let mut capacity = self.capacity.clone();
        let mut chosen = Vec::new();
        for task in tasks {
            if chosen.len() == self.batch {
                break;
            }
            // Hidden labels stand in random order.
            let mut hidden = self.hidden[task].iter();
            if let Some(&(worker, _)) = hidden.find(|&&(worker, _)| capacity[worker as usize] > 0) {
                capacity[worker as usize] -= 1;
                chosen.push((task, worker as usize));
            }
        }
        chosen
    }

    fn random(&mut self) -> Vec<(usize, usize)> {
        let mut all: Vec<(usize, usize)> = Vec::with_capacity(self.left);
        for (task, hidden) in self.hidden.iter().enumerate() {
            all.extend(hidden.iter().map(|&(worker, _)| (task, worker as usize)));
        }
        let mut capacity = self.capacity.clone();
        let mut chosen = Vec::new();
        while chosen.len() < self.batch && !all.is_empty() {
            let (task, worker) = all.swap_remove(self.rng.random_range(0..all.len()));
            if capacity[worker] > 0 {
                capacity[worker] -= 1;
                chosen.push((task, worker));
            }
        }
        chosen
    }

    fn show(&mut self, chosen: &[(usize, usize)]) {
        for &(task, worker) in chosen {
            let hidden = &mut self.hidden[task];
            if let Some(at) = hidden.iter().position(|&(hidden, _)| hidden as usize == worker) {
                let (_, class) = hidden.swap_remove(at);
                self.shown.push((task as u32, worker as u32, class));
                self.capacity[worker] -= 1;
                self.left -= 1;
            }
        }
    }
}
