//! Who labels what.
//!
//! With a probability for each worker, the gap to the next task a worker labels is geometric, `floor(ln(1 -
//! u) / ln(1 - p))`: time follows the labels. With a fixed number of labels a task, workers are drawn one
//! after the other in proportion to their activity, those already there left out: an alias table and
//! rejection, or, where too many draws are rejected, the smallest of the keys `Exp(1) / w_m`, which has the
//! same distribution (Efraimidis and Spirakis 2006).

use rand::Rng;
use rand::seq::SliceRandom;
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution, Exp1};

use super::activity::{draw_weights, probabilities_with_mean};
use super::chance::{Stream, uniform};
use super::settings::{Coverage, Simulation};
use crate::annotations::MAX_LABELS;
use crate::error::{Error, Result};
use crate::parallel::add_up;

/// The workers of each task, compressed by task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assigned {
    pub(super) starts: Vec<u32>,
    pub(super) workers: Vec<u32>,
}

impl Assigned {
    pub(super) fn of_task(&self, task: usize) -> &[u32] {
        &self.workers[self.starts[task] as usize..self.starts[task + 1] as usize]
    }
}

/// The designated workers, in rising order.
pub(super) fn choose_designated(settings: &Simulation, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..settings.workers).collect();
    order.shuffle(&mut Stream::Designated.rng(seed, 0));
    order.truncate(settings.designated);
    order.sort_unstable();
    order
}

/// Draws who labels what.
pub(super) fn assign(settings: &Simulation, designated: &[usize], seed: u64) -> Result<Assigned> {
    let tasks = settings.tasks;
    let is_ordinary = |worker: &u32| designated.binary_search(&(*worker as usize)).is_err();
    let ordinary: Vec<u32> = (0..settings.workers as u32).filter(is_ordinary).collect();
    let mut activity = Stream::Activity.rng(seed, 0);
    let weights = draw_weights(ordinary.len(), settings.activity_exponent, &mut activity);
    let mut probability = vec![0.0; settings.workers];
    let mut per_task = 0;
    match settings.coverage {
        Coverage::Probability(mean) => {
            for (&worker, p) in ordinary.iter().zip(probabilities_with_mean(&weights, mean)) {
                probability[worker as usize] = p;
            }
        }
        Coverage::PerTask(labels) => per_task = labels,
    }
    for &worker in designated {
        probability[worker] = settings.designated_probability;
    }

    // The gaps of a worker are drawn twice, to count and to place: cheaper than keeping the pairs.
    let tasks_of = |worker: usize| {
        let rng = Stream::Coverage.rng(seed, worker + 1);
        Gaps::new(tasks, probability[worker], rng)
    };
    let mut counts = vec![per_task as u32; tasks];
    for worker in 0..settings.workers {
        for task in tasks_of(worker) {
            counts[task] += 1;
        }
    }
    let (starts, total) = starts_of(&counts)?;
    let mut next = starts[..tasks].to_vec();
    let mut workers = vec![0u32; total];
    let mut place = |task: usize, worker: u32| {
        workers[next[task] as usize] = worker;
        next[task] += 1;
    };
    if per_task > 0 {
        let mut sampler = DistinctSampler::new(weights);
        let mut rng = Stream::Coverage.rng(seed, 0);
        for task in 0..tasks {
            for &index in sampler.draw(per_task, &mut rng) {
                place(task, ordinary[index]);
            }
        }
    }
    for worker in 0..settings.workers {
        for task in tasks_of(worker) {
            place(task, worker as u32);
        }
    }
    Ok(Assigned { starts, workers })
}

fn starts_of(counts: &[u32]) -> Result<(Vec<u32>, usize)> {
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if total > MAX_LABELS as u64 {
        let problem = format!("{total} labels were drawn; a table holds at most {MAX_LABELS}");
        return Err(Error::parameter("coverage", problem));
    }
    let mut starts = [&[0][..], counts].concat();
    add_up(&mut starts);
    Ok((starts, total as usize))
}

/// The numbers below `end` that come up when each does with probability p, in rising order.
struct Gaps<R> {
    next: usize,
    end: usize,
    /// `ln(1 - p)`: 0 for never, minus infinity for always.
    log_miss: f64,
    rng: R,
}

impl<R: Rng> Gaps<R> {
    fn new(end: usize, probability: f64, rng: R) -> Self {
        Self {
            next: 0,
            end: if probability > 0.0 { end } else { 0 },
            log_miss: (-probability).ln_1p(),
            rng,
        }
    }
}

impl<R: Rng> Iterator for Gaps<R> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.next >= self.end {
            return None;
        }
        // 1 - u lies in (0, 1]. The cast saturates, so a gap beyond all numbers is beyond the end.
        let gap = ((1.0 - uniform(&mut self.rng)).ln() / self.log_miss) as usize;
        let found = self.next.saturating_add(gap);
        self.next = found.saturating_add(1);
        (found < self.end).then_some(found)
    }
}

/// Draws distinct indices, one after the other in proportion to their weights.
struct DistinctSampler {
    weights: Vec<f64>,
    alias: Option<WeightedAliasIndex<f64>>,
    /// The round an index was last drawn in.
    drawn_in: Vec<u32>,
    round: u32,
    drawn: Vec<usize>,
}

impl DistinctSampler {
    fn new(weights: Vec<f64>) -> Self {
        Self {
            alias: WeightedAliasIndex::new(weights.clone()).ok(),
            drawn_in: vec![0; weights.len()],
            weights,
            round: 0,
            drawn: Vec::new(),
        }
    }

    /// `count` distinct indices; there are that many.
    fn draw(&mut self, count: usize, rng: &mut impl Rng) -> &[usize] {
        self.round += 1;
        self.drawn.clear();
        // Where rejection takes longer than one look at every worker, the keys are no slower. To stop
        // rejecting does not bend the draw: what comes next does not depend on the repeats before it.
        let tries = self.weights.len().max(4 * count);
        if let Some(alias) = &self.alias {
            for _ in 0..tries {
                if self.drawn.len() == count {
                    break;
                }
                let index = alias.sample(rng);
                if self.drawn_in[index] != self.round {
                    self.drawn_in[index] = self.round;
                    self.drawn.push(index);
                }
            }
        }
        if self.drawn.len() < count {
            self.draw_by_keys(count - self.drawn.len(), rng);
        }
        &self.drawn
    }

    fn draw_by_keys(&mut self, count: usize, rng: &mut impl Rng) {
        let mut key = |index: usize| {
            let waiting: f64 = Exp1.sample(rng);
            (waiting / self.weights[index], index)
        };
        let left = (0..self.weights.len()).filter(|&index| self.drawn_in[index] != self.round);
        let mut keys: Vec<(f64, usize)> = left.map(&mut key).collect();
        keys.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.drawn.extend(keys[..count].iter().map(|key| key.1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::seeded;

    #[test]
    fn gaps_hit_every_number_equally_often() {
        assert_eq!(
            Gaps::new(5, 1.0, seeded(1, 0)).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(Gaps::new(5, 0.0, seeded(1, 0)).count(), 0);
        assert_eq!(Gaps::new(5, 1e-300, seeded(1, 0)).count(), 0);
        let (rounds, p) = (4000, 0.3f64);
        let mut hits = [0.0; 10];
        for round in 0..rounds {
            for number in Gaps::new(10, p, seeded(9, round)) {
                hits[number] += 1.0;
            }
        }
        let deviation = (rounds as f64 * p * (1.0 - p)).sqrt();
        for hit in hits {
            assert!((hit - rounds as f64 * p).abs() < 5.0 * deviation);
        }
    }

    /// Probability that `index` is among two successive draws without repetition.
    fn in_two_draws(weights: &[f64], index: usize) -> f64 {
        let total: f64 = weights.iter().sum();
        let second = weights.iter().enumerate().filter(|&(first, _)| first != index);
        weights[index] / total
            + second
                .map(|(_, first)| first / total * weights[index] / (total - first))
                .sum::<f64>()
    }

    #[test]
    fn rejection_and_keys_draw_from_the_same_distribution() {
        let weights = vec![1.0, 0.5, 0.25, 0.1];
        let rounds = 20_000;
        for with_alias in [true, false] {
            let mut sampler = DistinctSampler::new(weights.clone());
            if !with_alias {
                sampler.alias = None;
            }
            let mut rng = seeded(4, 0);
            let mut hits = [0.0; 4];
            for _ in 0..rounds {
                let drawn = sampler.draw(2, &mut rng);
                assert!(drawn.len() == 2 && drawn[0] != drawn[1]);
                for &index in drawn {
                    hits[index] += 1.0;
                }
            }
            for (index, hit) in hits.into_iter().enumerate() {
                let p = in_two_draws(&weights, index);
                let deviation = (rounds as f64 * p * (1.0 - p)).sqrt();
                assert!(
                    (hit - rounds as f64 * p).abs() < 5.0 * deviation,
                    "{with_alias} {index}"
                );
            }
        }
    }

    #[test]
    fn everyone_can_be_drawn_even_with_extreme_weights() {
        let weights = draw_weights(300, 10.0, &mut seeded(1, 0));
        let mut sampler = DistinctSampler::new(weights);
        let mut drawn = sampler.draw(300, &mut seeded(2, 0)).to_vec();
        drawn.sort_unstable();
        assert_eq!(drawn, (0..300).collect::<Vec<_>>());
    }
}
