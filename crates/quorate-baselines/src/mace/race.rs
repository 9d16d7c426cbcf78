//! The starts of MACE against each other: legs of a few rounds, after which starts that approach another one
//! are dropped.
//!
//! ```text
//! d_i = max over workers and parameters of |a - b|  after leg i,      r = max(d_i / d_(i-1), d_(i-1) / d_(i-2))
//! drop the later one if  d_i <= 0.05,  r <= 0.9  and  d_i r^(legs left) <= 1e-4
//! ```
//!
//! EM approaches an optimum geometrically, so `d_i r^(legs left)` is how far apart the two would be after the
//! last round. Two starts on different sides of a saddle move apart, and both stay. What is dropped saves its
//! passes: usually all starts but one after a quarter of the rounds. Starts are compared among at most
//! [`AT_A_TIME`], side by side in groups of at most [`TOGETHER`]; which group a start is in does not change
//! its numbers.

use std::ops::Range;

use rand::RngExt;

use super::Mace;
use super::guessers::Guessers;
use super::starts::Starts;
use crate::restarts::beats;
use quorate::model::Consensus;
use quorate::{Annotations, Context, Result};

/// Starts that go through the labels together.
pub(super) const TOGETHER: usize = 8;

/// Starts that are compared with each other.
const AT_A_TIME: usize = 16;

/// Rounds between two comparisons.
const LEG: usize = 4;

/// Distance, contraction in a leg, and distance to be expected after the last round at which one of two
/// starts is dropped.
const NEAR: f64 = 0.05;
const CONTRACTION: f64 = 0.9;
const SAME: f64 = 1e-4;

/// Evaluates `$body` with `$S` the number of lanes for so many starts.
macro_rules! with_lanes {
    ($starts:expr, $S:ident => $body:expr) => {
        match $starts {
            1 => {
                const $S: usize = 1;
                $body
            }
            2 => {
                const $S: usize = 2;
                $body
            }
            3..=4 => {
                const $S: usize = 4;
                $body
            }
            _ => {
                const $S: usize = TOGETHER;
                $body
            }
        }
    };
}

/// One start.
#[derive(Debug, Clone)]
pub(super) struct Run {
    number: usize,
    /// `[worker][guess, know, xi..]`.
    parameters: Vec<f64>,
    pub(super) trace: Vec<f64>,
    /// Distances to the start of each number after the last legs, the newest first.
    distances: Vec<(usize, [f64; 3])>,
}

impl Run {
    /// The parameters by name.
    pub(super) fn guessers(&self, classes: usize) -> Guessers {
        let mut found = Guessers::new(classes);
        for worker in self.parameters.chunks_exact(2 + classes) {
            found.push(worker[0], worker[1], &worker[2..]);
        }
        found
    }

    /// Takes down how far the other one is, and tells whether this one can be dropped for it.
    fn approaches(&mut self, other: &Self, legs_left: f64) -> bool {
        let apart = self.parameters.iter().zip(&other.parameters);
        let distance = apart.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        let known = self.distances.iter_mut().find(|entry| entry.0 == other.number);
        let [newest, middle, oldest] = match known {
            Some((_, last)) => {
                *last = [distance, last[0], last[1]];
                *last
            }
            None => {
                let first = [distance, f64::INFINITY, f64::INFINITY];
                self.distances.push((other.number, first));
                first
            }
        };
        if newest == 0.0 {
            return true;
        }
        let rate = (newest / middle).max(middle / oldest);
        // Not a number before the third leg: no comparison holds.
        newest <= NEAR && rate <= CONTRACTION && oldest.is_finite() && newest * rate.powf(legs_left) <= SAME
    }
}

/// All starts on one table.
pub(super) struct Race<'a> {
    method: &'a Mace,
    annotations: &'a Annotations,
    votes: &'a Consensus,
    given: &'a [f64],
    /// Rounds that were run or need not be, for the progress.
    done: usize,
}

impl<'a> Race<'a> {
    pub(super) fn new(
        method: &'a Mace,
        annotations: &'a Annotations,
        votes: &'a Consensus,
        given: &'a [f64],
    ) -> Self {
        Self {
            method,
            annotations,
            votes,
            given,
            done: 0,
        }
    }

    /// The start with the largest likelihood; the first of equal ones.
    pub(super) fn run(mut self, context: &mut Context) -> Result<Run> {
        let restarts = self.method.restarts;
        let mut best: Option<Run> = None;
        for first in (0..restarts).step_by(AT_A_TIME) {
            let mut runs = self.draw_starts(first, AT_A_TIME.min(restarts - first), context);
            self.run_legs(&mut runs, context)?;
            for run in runs {
                if best.as_ref().is_none_or(|best| beats(&run.trace, &best.trace)) {
                    best = Some(run);
                }
            }
        }
        Ok(best.unwrap_or_else(|| self.even(0)))
    }

    /// Every worker knows half of the answers and guesses evenly.
    fn even(&self, number: usize) -> Run {
        let classes = self.annotations.class_count();
        let mut one = vec![0.5, 0.5];
        one.resize(2 + classes, 1.0 / classes as f64);
        Run {
            number,
            parameters: one.repeat(self.annotations.worker_count()),
            trace: Vec::new(),
            distances: Vec::new(),
        }
    }

    /// Starts from number `first` on. The first of all is even; it has no votes to temper, but for gold.
    fn draw_starts(&self, first: usize, count: usize, context: &mut Context) -> Vec<Run> {
        let mut runs: Vec<Run> = (first..first + count).map(|number| self.even(number)).collect();
        let skip = usize::from(first == 0 && !self.annotations.has_gold());
        let order = self.annotations.tasks().natural_order();
        for group in runs[skip..].chunks_mut(TOGETHER) {
            with_lanes!(group.len(), S => self.temper::<S>(group, &order, context));
        }
        runs
    }

    /// Runs all rounds, and drops starts on the way.
    fn run_legs(&mut self, runs: &mut Vec<Run>, context: &mut Context) -> Result<()> {
        let rounds = self.method.max_iter;
        let mut from = 0;
        while from < rounds {
            let to = rounds.min(from + LEG);
            for group in runs.chunks_mut(TOGETHER) {
                with_lanes!(group.len(), S => self.run_leg::<S>(group, from..to, context))?;
            }
            from = to;
            let before = runs.len();
            drop_followers(runs, (rounds - from) as f64 / LEG as f64);
            self.done += (before - runs.len()) * (rounds - from);
        }
        Ok(())
    }

    /// First M-step of some starts, from votes that count less by a weight for each task, drawn in the order
    /// of the tasks' names, a stream for each start. The first start of all draws nothing: it is here for its
    /// gold.
    fn temper<const S: usize>(&self, group: &mut [Run], order: &[usize], context: &Context) {
        let mut weights = vec![[1.0; S]; self.annotations.task_count()];
        for (lane, run) in group.iter().enumerate().filter(|(_, run)| run.number > 0) {
            let mut rng = context.rng(run.number as u64);
            order.iter().for_each(|&task| weights[task][lane] = rng.random());
        }
        context.run(|| {
            let mut starts = self.side_by_side::<S>(group);
            starts.count_tempered(self.votes.as_slice(), &weights);
            starts.maximise();
            store(&starts, group);
        });
    }

    /// Some rounds of some starts. There is no M-step after the last E-step.
    fn run_leg<const S: usize>(
        &mut self,
        group: &mut [Run],
        rounds: Range<usize>,
        context: &mut Context,
    ) -> Result<()> {
        let total = self.method.restarts * self.method.max_iter;
        let mut starts = context.run(|| self.side_by_side::<S>(group));
        for round in rounds {
            context.step("MACE", self.done, Some(total))?;
            let logs = context.run(|| {
                let logs = starts.expect();
                if round + 1 < self.method.max_iter {
                    starts.maximise();
                }
                logs
            });
            group
                .iter_mut()
                .zip(logs)
                .for_each(|(run, log)| run.trace.push(log));
            self.done += group.len();
        }
        store(&starts, group);
        Ok(())
    }

    /// At most `S` starts; lanes beyond the last one repeat it and are not looked at.
    fn side_by_side<const S: usize>(&self, group: &[Run]) -> Starts<'a, S> {
        let of_lane = |lane: usize| group[lane.min(group.len() - 1)].parameters.as_slice();
        Starts::new(
            self.annotations,
            self.given,
            self.method.into(),
            std::array::from_fn(of_lane),
        )
    }
}

/// Takes the parameters back from the lanes.
fn store<const S: usize>(starts: &Starts<'_, S>, group: &mut [Run]) {
    for (lane, run) in group.iter_mut().enumerate() {
        starts.store(lane, &mut run.parameters);
    }
}

/// Drops starts that approach an earlier one.
fn drop_followers(runs: &mut Vec<Run>, legs_left: f64) {
    let mut kept: Vec<Run> = Vec::with_capacity(runs.len());
    for mut run in runs.drain(..) {
        // All distances are taken down, also after the first that settles it.
        let follows = kept
            .iter()
            .filter(|other| run.approaches(other, legs_left))
            .count();
        if follows == 0 {
            kept.push(run);
        }
    }
    *runs = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: usize, parameters: &[f64]) -> Run {
        Run {
            number,
            parameters: parameters.to_vec(),
            trace: Vec::new(),
            distances: Vec::new(),
        }
    }

    #[test]
    fn only_starts_that_approach_another_are_dropped() {
        // Distances 0.04, 0.02, 0.01: halved in every leg. With 5 legs left 0.0003 would remain, with 7 less
        // than 1e-4.
        for (legs_left, kept) in [(5.0, 2), (7.0, 1)] {
            let mut runs = vec![run(0, &[0.5]), run(1, &[0.5])];
            for distance in [0.04, 0.02, 0.01] {
                assert_eq!(runs.len(), 2);
                runs[1].parameters[0] = 0.5 + distance;
                drop_followers(&mut runs, legs_left);
            }
            assert_eq!((runs.len(), runs[0].number), (kept, 0));
        }
        // Near, and moving apart.
        let mut runs = vec![run(0, &[0.5]), run(1, &[0.5])];
        for distance in [1e-9, 2e-9, 3e-9, 4e-9] {
            runs[1].parameters[0] = 0.5 + distance;
            drop_followers(&mut runs, 100.0);
        }
        assert_eq!(runs.len(), 2);
    }
}
