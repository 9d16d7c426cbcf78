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

use crate::model::{DawidSkene, LOG_FLOOR};

/// Classes that are looked at, the most likely ones of a task.
const RIVALS: usize = 5;

/// Parts of the workers that follow the misleading class.
const PARTS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

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
    /// The most likely classes.
    rivals: Vec<usize>,
    /// `prod_m A_m(x_m, k)` of each rival, up to a factor that all products share.
    plain: Vec<f64>,
    /// The integral for each (truth, misleading class) pair of rivals and each part,
    /// `[truth][misleading][part]`.
    mixed: Vec<f64>,
}

impl<'m> MisledTasks<'m> {
    /// For tasks under this model.
    pub fn new(model: &'m DawidSkene) -> Self {
        Self {
            model,
            chances: Vec::new(),
            logs: Vec::new(),
            rivals: Vec::new(),
            plain: Vec::new(),
            mixed: Vec::new(),
        }
    }

    /// Goes through the labels of a task: its workers and their answers, side by side. A known truth is not
    /// looked at.
    pub fn weigh(&mut self, labels: (&[u32], &[u16])) {
        self.weigh_with(labels, |_, _, _| {});
    }

    /// [`weigh`](Self::weigh) with the chances of each answer, one for each class, changed by `adjust(worker, answer, chances)`.
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
        self.rivals.clear();
        self.rivals.extend(0..classes);
        let logs = &self.logs;
        self.rivals
            .sort_by(|&a, &b| logs[b].total_cmp(&logs[a]).then(a.cmp(&b)));
        self.rivals.truncate(RIVALS);
        let count = self.rivals.len();
        self.plain.clear();
        self.plain.resize(count, 1.0);
        self.mixed.clear();
        self.mixed.resize(count * count * PARTS.len(), 1.0);
        let chances = std::mem::take(&mut self.chances);
        let mut of_rivals = [0.0; RIVALS];
        for row in chances.chunks_exact(classes) {
            for (chance, &k) in of_rivals.iter_mut().zip(&self.rivals) {
                *chance = row[k];
            }
            self.multiply(&of_rivals[..count]);
        }
        self.chances = chances;
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
        let top = self.logs[self.rivals[0]];
        let scale = self.plain[0] * self.model.prior()[self.rivals[0]].max(LOG_FLOOR.exp());
        for (cell, log) in row.iter_mut().zip(&self.logs) {
            *cell = scale * (log - top).exp();
        }
        let block = count * PARTS.len();
        for (place, &k) in self.rivals.iter().enumerate() {
            let mixed: f64 = self.mixed[place * block..][..block]
                .chunks_exact(PARTS.len())
                .enumerate()
                .filter(|&(misleading, _)| misleading != place)
                .map(|(_, products)| products.iter().sum::<f64>())
                .sum();
            let mean = mixed / ((count - 1).max(1) * PARTS.len()) as f64;
            let prior = self.model.prior()[k].max(LOG_FLOOR.exp());
            row[k] = prior * ((1.0 - share) * self.plain[place] + share * mean);
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
