//! Tasks that mislead workers together.
//!
//! ```text
//! with probability 1 - share:  answers ~ A_m(., k)                             k the truth
//! with probability share:      answers ~ (1 - s) A_m(., k) + s A_m(., d)       d another class, s ~ uniform(0, 1), one for the task
//! L(k) = (1 - share) prod_m A_m(x_m, k) + share mean_d integral ds prod_m ((1 - s) A_m(x_m, k) + s A_m(x_m, d))
//! ```
//!
//! A misled task looks like one of class `d` to a part `s` of its workers. The integral is a sum over five
//! midpoints; truths and misleading classes are sought among the [`RIVALS`] most likely classes of the task.
//! `O(n)` for `n` labels, with a constant of about 100 products.
//!
//! With many classes the last place often falls among classes that are equally likely: nobody named them.
//! Neither codes nor rounding may choose then. With `s` places for `g` such classes the weights are the mean
//! over all choices,
//!
//! ```text
//! P(d is chosen) = s / g,      P(d is chosen | k is) = (s - 1) / (g - 1)            k, d among the g classes
//! ```
//!
//! and classes with the same chances of every label are weighed once.

use crate::model::{DawidSkene, LOG_FLOOR};

/// Classes that are looked at, the most likely ones of a task.
const RIVALS: usize = 5;

/// Parts of the workers that follow the misleading class.
const PARTS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

/// Log-weights and chances that differ by no more than this are equal but for rounding.
const ROUNDING: f64 = 1e-9;

/// Most kinds of equally likely classes that are weighed; of more, those with the lowest codes.
const MAX_KINDS: usize = 32;

/// Products are scaled up when all of them are below this.
const SMALL: f64 = 1e-100;

/// Weighs what the labels of a task say if the task misleads, and if it does not.
#[derive(Debug)]
pub struct MisledTasks<'m> {
    model: &'m DawidSkene,
    /// Chance of each label under each class, `[label][class]`.
    chances: Vec<f64>,
    /// Log-weight of each class if the task does not mislead.
    logs: Vec<f64>,
    /// The classes, most likely first.
    order: Vec<usize>,
    /// Those that are looked at.
    rivals: Vec<Rival>,
    /// How many of the rivals are ahead of the equally likely ones for the last places.
    ahead: usize,
    /// The number of places, those that are left for equally likely classes, and how many such classes there
    /// are.
    places: usize,
    left: usize,
    equals: usize,
    /// `prod_m A_m(x_m, k)` of each rival, up to a factor that all products share.
    plain: Vec<f64>,
    /// The integral for each (truth, misleading class) pair of rivals and each part,
    /// `[truth][misleading][part]`.
    mixed: Vec<f64>,
}

/// A class that is looked at, and those that cannot be told apart from it on the task.
#[derive(Debug, Clone)]
struct Rival {
    class: usize,
    alike: Vec<usize>,
}

impl<'m> MisledTasks<'m> {
    /// For tasks under this model.
    pub fn new(model: &'m DawidSkene) -> Self {
        Self {
            model,
            chances: Vec::new(),
            logs: Vec::new(),
            order: Vec::new(),
            rivals: Vec::new(),
            ahead: 0,
            places: 0,
            left: 0,
            equals: 0,
            plain: Vec::new(),
            mixed: Vec::new(),
        }
    }

    /// Goes through the labels of a task: its workers and their answers, side by side. A known truth is not
    /// looked at.
    pub fn weigh(&mut self, labels: (&[u32], &[u16])) {
        self.weigh_with(labels, |_, _, _| {});
    }

    /// [`weigh`](Self::weigh) with the chances of each answer, one for each class, changed by `adjust(worker,
    /// answer, chances)`.
    pub(super) fn weigh_with(
        &mut self,
        (workers, answers): (&[u32], &[u16]),
        adjust: impl Fn(usize, usize, &mut [f64]),
    ) {
        let classes = self.model.class_count();
        let floor = LOG_FLOOR.exp();
        self.chances.clear();
        for (&worker, &answer) in workers.iter().zip(answers) {
            let (worker, answer) = (worker as usize, usize::from(answer));
            let start = self.chances.len();
            let row = &self.model.confusion(worker)[answer * classes..][..classes];
            self.chances.extend_from_slice(row);
            adjust(worker, answer, &mut self.chances[start..]);
        }
        self.chances
            .iter_mut()
            .for_each(|chance| *chance = chance.max(floor));
        self.logs.clear();
        self.logs
            .extend(self.model.prior().iter().map(|share| share.max(floor).ln()));
        for row in self.chances.chunks_exact(classes) {
            for (log, chance) in self.logs.iter_mut().zip(row) {
                *log += chance.ln();
            }
        }
        self.choose_rivals(classes);
        let count = self.rivals.len();
        self.plain.clear();
        self.plain.resize(count, 1.0);
        self.mixed.clear();
        self.mixed.resize(count * count * PARTS.len(), 1.0);
        let chances = std::mem::take(&mut self.chances);
        let mut of_rivals = vec![0.0; count];
        for row in chances.chunks_exact(classes) {
            for (chance, rival) in of_rivals.iter_mut().zip(&self.rivals) {
                *chance = row[rival.class];
            }
            self.multiply(&of_rivals);
        }
        self.chances = chances;
    }

    /// Finds the classes to look at.
    fn choose_rivals(&mut self, classes: usize) {
        let logs = &self.logs;
        self.order.clear();
        self.order.extend(0..classes);
        self.order
            .sort_by(|&a, &b| logs[b].total_cmp(&logs[a]).then(a.cmp(&b)));
        self.places = classes.min(RIVALS);
        let last = logs[self.order[self.places - 1]];
        let slack = ROUNDING * last.abs().max(1.0);
        let first = self.order.partition_point(|&k| logs[k] > last + slack);
        let end = self.order.partition_point(|&k| logs[k] >= last - slack);
        (self.ahead, self.left, self.equals) = (first, self.places - first, end - first);
        self.rivals.clear();
        let alone = |&class: &usize| Rival {
            class,
            alike: Vec::new(),
        };
        if self.equals == self.left {
            self.rivals.extend(self.order[..end].iter().map(alone));
            return;
        }
        self.rivals.extend(self.order[..first].iter().map(alone));
        // Ahead of each other by rounding alone.
        self.order[first..end].sort_unstable();
        for &class in &self.order[first..end] {
            let kinds = &self.rivals[first..];
            match kinds.iter().position(|kind| self.are_alike(kind.class, class)) {
                Some(kind) => self.rivals[first + kind].alike.push(class),
                None if kinds.len() < MAX_KINDS => self.rivals.push(alone(&class)),
                None => self.equals -= 1,
            }
        }
    }

    /// Whether two classes have the same share, and every label the same chance under both.
    fn are_alike(&self, k: usize, d: usize) -> bool {
        let equal = |a: f64, b: f64| (a - b).abs() <= ROUNDING * a.max(b);
        let prior = self.model.prior();
        let mut rows = self.chances.chunks_exact(prior.len());
        equal(prior[k], prior[d]) && rows.all(|row| equal(row[k], row[d]))
    }

    /// Takes one more label into the products.
    fn multiply(&mut self, chances: &[f64]) {
        let mut largest = 0.0f64;
        for (product, chance) in self.plain.iter_mut().zip(chances) {
            *product *= chance;
            largest = largest.max(*product);
        }
        let pairs = chances.iter().flat_map(|&k| chances.iter().map(move |&d| (k, d)));
        for (products, (k, d)) in self.mixed.chunks_exact_mut(PARTS.len()).zip(pairs) {
            for (product, part) in products.iter_mut().zip(PARTS) {
                *product *= (1.0 - part) * k + part * d;
                largest = largest.max(*product);
            }
        }
        if largest < SMALL {
            self.plain.iter_mut().for_each(|product| *product /= SMALL);
            self.mixed.iter_mut().for_each(|product| *product /= SMALL);
        }
    }

    /// Posterior of the task that was weighed last if a `share` of the tasks mislead.
    pub fn posterior(&self, share: f64, row: &mut [f64]) {
        let count = self.rivals.len();
        // Classes that are not looked at keep their plain weight, which is next to nothing.
        let best = self.rivals[0].class;
        let top = self.logs[best];
        let scale = self.plain[0] * self.model.prior()[best].max(LOG_FLOOR.exp());
        for (cell, log) in row.iter_mut().zip(&self.logs) {
            *cell = scale * (log - top).exp();
        }
        let chosen = self.left as f64 / self.equals as f64;
        let both_chosen = (self.left - 1) as f64 / (self.equals - 1).max(1) as f64;
        let block = count * PARTS.len();
        for (place, rival) in self.rivals.iter().enumerate() {
            let mut mixed = 0.0;
            let products = self.mixed[place * block..][..block].chunks_exact(PARTS.len());
            for (misleading, products) in products.enumerate() {
                let others = 1 + self.rivals[misleading].alike.len() - usize::from(misleading == place);
                let chance = match (place < self.ahead, misleading < self.ahead) {
                    (_, true) => 1.0,
                    (true, false) => chosen,
                    (false, false) => both_chosen,
                };
                mixed += others as f64 * chance * products.iter().sum::<f64>();
            }
            let mean = mixed / ((self.places - 1).max(1) * PARTS.len()) as f64;
            let prior = self.model.prior()[rival.class].max(LOG_FLOOR.exp());
            let looked_at = prior * ((1.0 - share) * self.plain[place] + share * mean);
            let weight = if place < self.ahead {
                looked_at
            } else {
                chosen * looked_at + (1.0 - chosen) * prior * self.plain[place]
            };
            std::iter::once(&rival.class)
                .chain(&rival.alike)
                .for_each(|&k| row[k] = weight);
        }
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|cell| *cell /= total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::Annotations;
    use crate::methods::tests::assert_close;

    #[test]
    fn agrees_with_the_formula_written_out() {
        let model = DawidSkene::new(
            vec![0.5, 0.3, 0.2],
            vec![
                0.7, 0.2, 0.1, 0.2, 0.5, 0.3, 0.1, 0.3, 0.6, // worker 0
                0.6, 0.1, 0.2, 0.3, 0.8, 0.2, 0.1, 0.1, 0.6, // worker 1
            ],
        );
        let annotations = Annotations::from_codes(1, 2, 3, [(0, 0, 0), (0, 1, 1)]).unwrap();
        let mut misled = MisledTasks::new(&model);
        misled.weigh(annotations.task_slices(0));
        let mut row = [0.0; 3];
        misled.posterior(0.4, &mut row);
        let mut expected: Vec<f64> = (0..3)
            .map(|k| {
                let chance = |worker, answer, truth| model.probability(worker, answer, truth);
                let plain = chance(0, 0, k) * chance(1, 1, k);
                let mut mixed = 0.0;
                for d in (0..3).filter(|&d| d != k) {
                    for part in PARTS {
                        let mix = |worker, answer| {
                            (1.0 - part) * chance(worker, answer, k) + part * chance(worker, answer, d)
                        };
                        mixed += mix(0, 0) * mix(1, 1) / 10.0;
                    }
                }
                model.prior()[k] * (0.6 * plain + 0.4 * mixed)
            })
            .collect();
        let total: f64 = expected.iter().sum();
        expected.iter_mut().for_each(|value| *value /= total);
        assert_close(&row, &expected, 1e-12);
        // No misled tasks: Bayes' rule.
        misled.posterior(0.0, &mut row);
        assert_close(
            &row,
            crate::model::posterior(&annotations, &model).0.row(0),
            1e-12,
        );
    }

    /// The mean over all ways to fill the last places, written out: 8 classes, of which 6 are equally likely
    /// in two kinds.
    #[test]
    fn equally_likely_classes_share_the_last_places() {
        let chances = [
            [0.5, 0.2, 0.05, 0.05, 0.05, 0.05, 0.1, 0.1],
            [0.4, 0.3, 0.08, 0.08, 0.08, 0.08, 0.04, 0.04],
        ];
        let ways: Vec<Vec<usize>> = (0u32..64)
            .filter(|set| set.count_ones() == 3)
            .map(|set| {
                [0, 1]
                    .into_iter()
                    .chain((0..6).filter(|k| set >> k & 1 == 1).map(|k| k + 2))
                    .collect()
            })
            .collect();
        let share = 0.4;
        let product = |weigh: &dyn Fn(&[f64; 8]) -> f64| chances.iter().map(weigh).product::<f64>();
        let mut expected = [0.0; 8];
        for way in &ways {
            for k in 0..8 {
                let plain = product(&|row| row[k]);
                let others = way.iter().filter(|&&d| d != k);
                let mixed = others
                    .flat_map(|&d| PARTS.map(|part| product(&|row| (1.0 - part) * row[k] + part * row[d])));
                let looked_at = (1.0 - share) * plain + share * mixed.sum::<f64>() / 20.0;
                expected[k] += if way.contains(&k) { looked_at } else { plain };
            }
        }
        let total: f64 = expected.iter().sum();
        expected.iter_mut().for_each(|value| *value /= total);
        // Whatever the codes of the classes are.
        for codes in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 2, 1, 6, 4, 0, 5, 3]] {
            let mut confusions = vec![0.0; 2 * 64];
            for (worker, row) in chances.iter().enumerate() {
                for (k, chance) in row.iter().enumerate() {
                    confusions[worker * 64 + codes[k]] = *chance;
                    confusions[worker * 64 + 8 + codes[k]] = 1.0 - chance;
                }
            }
            let model = DawidSkene::new(vec![0.125; 8], confusions);
            let mut misled = MisledTasks::new(&model);
            misled.weigh((&[0, 1], &[0, 0]));
            let mut row = [0.0; 8];
            misled.posterior(share, &mut row);
            assert_close(&codes.map(|code| row[code]), &expected, 1e-12);
        }
    }

    #[test]
    fn very_many_labels_do_not_underflow() {
        let model = DawidSkene::one_coin(vec![0.1; 10], &[0.3; 3000]);
        let labels = (0..3000).map(|worker| (0, worker, (worker % 10) as u16));
        let annotations = Annotations::from_codes(1, 3000, 10, labels).unwrap();
        let mut misled = MisledTasks::new(&model);
        misled.weigh(annotations.task_slices(0));
        let mut row = [0.0; 10];
        misled.posterior(0.3, &mut row);
        assert!(row.iter().all(|p| p.is_finite() && *p >= 0.0), "{row:?}");
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
