//! The workers who can be asked: how well each tells two classes apart, what a label costs, how many each can
//! give.
//!
//! A confusion matrix that rests on few labels looks better or worse than it is. Its columns are drawn
//! towards the crowd's,
//!
//! ```text
//! A'_m(., k) = (n_mk A_m(., k) + s P(., k)) / (n_mk + s),     n_mk = labels of m x prior of k,   s = 4,
//! ```
//!
//! so that nobody is chosen for a lucky start. How well m tells class a from class b is the symmetric
//! divergence of the two columns,
//!
//! ```text
//! J_m(a, b) = 1/2 sum_x (A'_m(x, a) - A'_m(x, b)) log(A'_m(x, a) / A'_m(x, b)),
//! ```
//!
//! the log-odds that one answer adds on average.

use rustc_hash::FxHashMap;

use crate::linalg::small::add_scaled;
use crate::model::DawidSkene;

/// Labels' worth of the crowd in every column.
const STRENGTH: f64 = 4.0;

/// Pairs of classes with a ranking of their own; rarer ones use the ranking by accuracy.
const MAX_RANKINGS: usize = 2000;

/// Key of the ranking by accuracy: no pair of classes.
const BY_ACCURACY: (u16, u16) = (u16::MAX, u16::MAX);

/// Least probability in a divergence: an answer never seen says much, but not everything.
const FLOOR: f64 = 1e-3;

/// The workers who can be asked.
pub(super) struct Roster<'a> {
    model: &'a DawidSkene,
    crowd: Vec<f64>,
    labels: &'a [u32],
    costs: &'a [f64],
    /// How many more labels each can give.
    pub(super) left: Vec<u32>,
    /// Accuracy drawn towards the crowd's.
    pub(super) accuracy: Vec<f64>,
    /// Workers by how well they tell two classes apart, made when first asked for.
    pub(super) rankings: Rankings,
    by_accuracy: Vec<u32>,
}

/// Rankings by pair of classes.
pub(super) type Rankings = FxHashMap<(u16, u16), Ranking>;

/// Workers, best value for money first.
#[derive(Default)]
pub(super) struct Ranking {
    workers: Vec<u32>,
    /// Everybody before this one has given all they can.
    open: usize,
}

impl<'a> Roster<'a> {
    /// `order`: the workers in an order that does not depend on that of the rows; it breaks ties.
    pub(super) fn new(
        model: &'a DawidSkene,
        labels: &'a [u32],
        costs: &'a [f64],
        left: Vec<u32>,
        order: &[u32],
    ) -> Self {
        let mut roster = Self {
            model,
            crowd: crowd_matrix(model, labels),
            labels,
            costs,
            left,
            accuracy: Vec::new(),
            rankings: FxHashMap::default(),
            by_accuracy: Vec::new(),
        };
        let classes = model.class_count();
        let right = |worker: usize| -> f64 {
            let right = |k| model.prior()[k] * roster.probability(worker, k, k);
            (0..classes).map(right).sum()
        };
        let accuracy: Vec<f64> = (0..model.worker_count()).map(right).collect();
        let above_chance = |worker: u32| accuracy[worker as usize] - 1.0 / classes as f64;
        let value = |worker: u32| above_chance(worker) / costs[worker as usize];
        let able = order.iter().copied().filter(|&worker| above_chance(worker) > 0.0);
        let mut ranked: Vec<u32> = able.collect();
        ranked.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
        roster.by_accuracy = ranked;
        roster.accuracy = accuracy;
        roster
    }

    /// Mean accuracy of the workers who would be asked first for this many labels.
    pub(super) fn typical_accuracy(&self, labels: f64) -> f64 {
        let (mut given, mut right) = (0.0, 0.0);
        for &worker in &self.by_accuracy {
            let share = f64::from(self.left[worker as usize]).min(labels - given);
            if share <= 0.0 {
                continue;
            }
            right += share * self.accuracy[worker as usize];
            given += share;
        }
        if given > 0.0 {
            right / given
        } else {
            1.0 / self.model.class_count() as f64
        }
    }

    /// The best worker for telling these two classes apart who has labels left and is `allowed`. `rankings`
    /// are the roster's own, taken out so that `allowed` may look at the rest.
    pub(super) fn best(
        &self,
        rankings: &mut Rankings,
        classes: (usize, usize),
        allowed: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut key = (classes.0.min(classes.1) as u16, classes.0.max(classes.1) as u16);
        if !rankings.contains_key(&key) && rankings.len() >= MAX_RANKINGS {
            key = BY_ACCURACY;
        }
        let ranking = rankings.entry(key).or_insert_with(|| self.rank(key));
        let used_up = |&worker: &u32| self.left[worker as usize] == 0;
        while ranking.workers.get(ranking.open).is_some_and(used_up) {
            ranking.open += 1;
        }
        let mut open = ranking.workers[ranking.open..]
            .iter()
            .map(|&worker| worker as usize);
        open.find(|&worker| self.left[worker] > 0 && allowed(worker))
    }

    /// How well a worker tells two classes apart, for the money; nothing for workers at chance.
    pub(super) fn value(&self, worker: usize, (a, b): (usize, usize)) -> f64 {
        let classes = self.model.class_count();
        if self.accuracy[worker] <= 1.0 / classes as f64 {
            return 0.0;
        }
        let mut divergence = 0.0;
        for answer in 0..classes {
            let under_a = self.probability(worker, answer, a).max(FLOOR);
            let under_b = self.probability(worker, answer, b).max(FLOOR);
            divergence += 0.5 * (under_a - under_b) * (under_a / under_b).ln();
        }
        divergence / self.costs[worker]
    }

    fn rank(&self, (a, b): (u16, u16)) -> Ranking {
        let open = 0;
        if (a, b) == BY_ACCURACY {
            let workers = self.by_accuracy.clone();
            return Ranking { workers, open };
        }
        let pair = (usize::from(a), usize::from(b));
        let free = self
            .by_accuracy
            .iter()
            .filter(|&&worker| self.left[worker as usize] > 0);
        let valued = free.map(|&worker| (self.value(worker as usize, pair), worker));
        let mut valued: Vec<(f64, u32)> = valued.filter(|&(value, _)| value > 0.0).collect();
        valued.sort_by(|x, y| y.0.total_cmp(&x.0));
        let workers = valued.into_iter().map(|(_, worker)| worker).collect();
        Ranking { workers, open }
    }

    /// A'_m(answer, truth).
    pub(super) fn probability(&self, worker: usize, answer: usize, truth: usize) -> f64 {
        let seen = f64::from(self.labels[worker]) * self.model.prior()[truth];
        let own = self.model.probability(worker, answer, truth);
        let crowd = self.crowd[answer * self.model.class_count() + truth];
        (seen * own + STRENGTH * crowd) / (seen + STRENGTH)
    }
}

/// P, the mean matrix of the crowd, each worker with the weight of its labels.
fn crowd_matrix(model: &DawidSkene, labels: &[u32]) -> Vec<f64> {
    let classes = model.class_count();
    let mut sum = vec![0.0; classes * classes];
    let mut total = 0.0;
    for (worker, &given) in labels.iter().enumerate() {
        total += f64::from(given);
        add_scaled(&mut sum, f64::from(given), model.confusion(worker));
    }
    if total > 0.0 {
        sum.iter_mut().for_each(|cell| *cell /= total);
    } else {
        sum.fill(1.0 / classes as f64);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd() -> DawidSkene {
        // Worker 0 knows both classes, worker 1 guesses, worker 2 is as good as 0 but has one label.
        let matrices = [[0.9, 0.1, 0.1, 0.9], [0.5, 0.5, 0.5, 0.5], [0.9, 0.1, 0.1, 0.9]].concat();
        DawidSkene::new(vec![0.5, 0.5], matrices)
    }

    #[test]
    fn a_matrix_with_few_labels_is_near_the_crowd() {
        let (model, labels) = (crowd(), [100, 100, 1]);
        let roster = Roster::new(&model, &labels, &[1.0; 3], vec![5; 3], &[0, 1, 2]);
        assert!((roster.accuracy[0] - (50.0 * 0.9 + 4.0 * roster.crowd[0]) / 54.0).abs() < 1e-12);
        assert!(roster.accuracy[2] < roster.accuracy[0]);
        assert!((roster.crowd[0] - (90.0 + 50.0 + 0.9) / 201.0).abs() < 1e-12);
    }

    #[test]
    fn the_best_worker_who_is_free_and_affordable() {
        let (model, labels) = (crowd(), [100, 100, 100]);
        let mut roster = Roster::new(&model, &labels, &[1.0, 1.0, 3.0], vec![1, 9, 9], &[0, 1, 2]);
        let mut rankings = Rankings::default();
        assert_eq!(roster.best(&mut rankings, (0, 1), |_| true), Some(0));
        roster.left[0] = 0;
        assert_eq!(roster.best(&mut rankings, (0, 1), |_| true), Some(2));
        assert_eq!(
            roster.best(&mut rankings, (0, 1), |worker| worker != 2),
            Some(1),
            "drawn to the crowd, so above chance"
        );
    }
}
