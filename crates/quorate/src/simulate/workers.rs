//! The kinds of workers and their confusion matrices.
//!
//! ```text
//! expert         A = (1 - t) I + t B            t so that max_k |A(k, :) - e_k| = u epsilon
//! specialist c   A = (1 - t) S + t B            S: e_c in column c, Dirichlet(1) on the other classes elsewhere;
//!                                               t so that |A(c, :) - e_c| = u epsilon
//! ```
//!
//! `B` has Dirichlet(1) columns, `u` is uniform in [0, 1) for each worker, `t` is at most 1. Rows are what
//! the paper's class specialists are defined by: who answers c only where c is true makes class c
//! identifiable.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::chance::{Stream, SymmetricDirichlet, uniform};
use super::settings::{Prior, Quality, Simulation};
use crate::model::DawidSkene;

/// What a simulated worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerKind {
    /// As good as [`Quality`] says.
    Ordinary,
    /// Near the identity on all classes.
    Expert,
    /// Knows one class, and answers at random on the others.
    Specialist {
        /// The class it knows.
        class: usize,
    },
    /// Answers every class equally often.
    UniformSpammer,
    /// Always answers the same.
    ConstantSpammer {
        /// Its answer.
        class: usize,
    },
    /// Takes each class for another one.
    Adversary,
}

/// Draws the prior, the kinds and the confusion matrices.
pub(super) fn draw_model(settings: &Simulation, seed: u64) -> (DawidSkene, Vec<WorkerKind>) {
    let classes = settings.classes;
    let prior = match &settings.prior {
        Prior::Uniform => vec![1.0 / classes as f64; classes],
        Prior::Dirichlet(concentration) => {
            SymmetricDirichlet::new(*concentration, classes).draw(&mut Stream::Prior.rng(seed, 0))
        }
        Prior::Given(prior) => {
            let sum: f64 = prior.iter().sum();
            prior.iter().map(|probability| probability / sum).collect()
        }
    };
    let mut kinds = place_kinds(settings, seed);
    let columns = Columns::new(settings);
    let mut confusion = Vec::with_capacity(settings.workers * classes * classes);
    for (worker, kind) in kinds.iter_mut().enumerate() {
        // A stream for each worker: what one is does not change the others.
        let mut rng = Stream::Confusion.rng(seed, worker);
        let class = rng.random_range(0..classes);
        match kind {
            WorkerKind::Specialist { class: own } | WorkerKind::ConstantSpammer { class: own } => {
                *own = class
            }
            _ => {}
        }
        let columns = columns.draw(*kind, &mut rng);
        for answer in 0..classes {
            confusion.extend(columns.iter().map(|column| column[answer]));
        }
    }
    (DawidSkene::new(prior, confusion), kinds)
}

/// Which worker is of which kind; classes are filled in later.
fn place_kinds(settings: &Simulation, seed: u64) -> Vec<WorkerKind> {
    let workers = settings.workers;
    let mut order: Vec<usize> = (0..workers).collect();
    order.shuffle(&mut Stream::Kinds.rng(seed, 0));
    let mut kinds = vec![WorkerKind::Ordinary; workers];
    let mut next = order.into_iter();
    let class = 0;
    for (kind, amount) in [
        (WorkerKind::Expert, settings.experts),
        (WorkerKind::Specialist { class }, settings.specialists),
        (WorkerKind::UniformSpammer, settings.uniform_spammers),
        (WorkerKind::ConstantSpammer { class }, settings.constant_spammers),
        (WorkerKind::Adversary, settings.adversaries),
    ] {
        for worker in next.by_ref().take(amount.of(workers)) {
            kinds[worker] = kind;
        }
    }
    kinds
}

/// Draws confusion matrices as columns, `[truth][answer]`.
struct Columns<'a> {
    settings: &'a Simulation,
    /// Dirichlet(1) on all classes.
    flat: SymmetricDirichlet,
    /// Dirichlet(1) on all classes but one.
    flat_others: SymmetricDirichlet,
    /// Columns, or errors, of ordinary workers.
    ordinary: SymmetricDirichlet,
}

impl<'a> Columns<'a> {
    fn new(settings: &'a Simulation) -> Self {
        let classes = settings.classes;
        let ordinary = match settings.quality {
            Quality::Dirichlet(concentration) => SymmetricDirichlet::new(concentration, classes),
            Quality::Accuracy { concentration, .. } => SymmetricDirichlet::new(concentration, classes - 1),
        };
        Self {
            settings,
            flat: SymmetricDirichlet::new(1.0, classes),
            flat_others: SymmetricDirichlet::new(1.0, classes - 1),
            ordinary,
        }
    }

    fn draw(&self, kind: WorkerKind, rng: &mut impl Rng) -> Vec<Vec<f64>> {
        let classes = self.settings.classes;
        match kind {
            WorkerKind::Ordinary => self.draw_ordinary(rng),
            WorkerKind::Expert => {
                let identity = (0..classes).map(|truth| unit(classes, truth)).collect();
                self.blur(identity, 0..classes, rng)
            }
            WorkerKind::Specialist { class } => {
                let columns = (0..classes).map(|truth| {
                    if truth == class {
                        unit(classes, class)
                    } else {
                        with_gap(self.flat_others.draw(rng), class, 0.0)
                    }
                });
                let columns = columns.collect();
                self.blur(columns, class..class + 1, rng)
            }
            WorkerKind::UniformSpammer => vec![vec![1.0 / classes as f64; classes]; classes],
            WorkerKind::ConstantSpammer { class } => vec![unit(classes, class); classes],
            WorkerKind::Adversary => (0..classes).map(|truth| self.draw_wrong(truth, rng)).collect(),
        }
    }

    fn draw_ordinary(&self, rng: &mut impl Rng) -> Vec<Vec<f64>> {
        let classes = self.settings.classes;
        match self.settings.quality {
            Quality::Dirichlet(_) => (0..classes).map(|_| self.ordinary.draw(rng)).collect(),
            Quality::Accuracy { lowest, highest, .. } => {
                let accuracy = lowest + (highest - lowest) * uniform(rng);
                let column = |truth| {
                    let mut errors = self.ordinary.draw(rng);
                    errors.iter_mut().for_each(|error| *error *= 1.0 - accuracy);
                    // With one class there is nothing to err towards.
                    let diagonal = if errors.is_empty() { 1.0 } else { accuracy };
                    with_gap(errors, truth, diagonal)
                };
                (0..classes).map(column).collect()
            }
        }
    }

    /// The column of an adversary: most on one wrong class.
    fn draw_wrong(&self, truth: usize, rng: &mut impl Rng) -> Vec<f64> {
        let classes = self.settings.classes;
        let strength = self.settings.adversary_strength;
        let wrong = (truth + rng.random_range(1..classes)) % classes;
        let mut column = vec![(1.0 - strength) / (classes - 1) as f64; classes];
        column[wrong] = strength;
        column
    }

    /// Mixes Dirichlet(1) columns into `columns` until the worst of the rows `near` is `u epsilon` away from
    /// its unit vector; before, each of them is that unit vector.
    fn blur(
        &self,
        mut columns: Vec<Vec<f64>>,
        near: std::ops::Range<usize>,
        rng: &mut impl Rng,
    ) -> Vec<Vec<f64>> {
        let noise: Vec<_> = columns.iter().map(|_| self.flat.draw(rng)).collect();
        let distance = near.map(|row| row_distance(&noise, row)).fold(0.0, f64::max);
        let wanted = uniform(rng) * self.settings.epsilon;
        let t = if distance > wanted { wanted / distance } else { 1.0 };
        for (column, noise) in columns.iter_mut().zip(&noise) {
            for (probability, noise) in column.iter_mut().zip(noise) {
                *probability = (1.0 - t) * *probability + t * noise;
            }
        }
        columns
    }
}

fn unit(length: usize, index: usize) -> Vec<f64> {
    with_gap(vec![0.0; length - 1], index, 1.0)
}

/// The vector with `value` put in at `index`.
fn with_gap(mut vector: Vec<f64>, index: usize, value: f64) -> Vec<f64> {
    vector.insert(index, value);
    vector
}

/// `|A(row, :) - e_row|` of a matrix given by columns.
fn row_distance(columns: &[Vec<f64>], row: usize) -> f64 {
    let squares = columns.iter().enumerate().map(|(truth, column)| {
        let expected = f64::from(u8::from(truth == row));
        (column[row] - expected).powi(2)
    });
    squares.sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::settings::Amount;
    use super::*;

    fn columns_of(model: &DawidSkene, worker: usize) -> Vec<Vec<f64>> {
        let classes = 0..model.class_count();
        let column = |truth| {
            classes
                .clone()
                .map(|answer| model.probability(worker, answer, truth))
                .collect()
        };
        classes.clone().map(column).collect()
    }

    fn mixed(classes: usize) -> Simulation {
        Simulation {
            workers: 60,
            classes,
            experts: Amount::Number(10),
            specialists: Amount::Number(10),
            uniform_spammers: Amount::Share(0.1),
            constant_spammers: Amount::Number(5),
            adversaries: Amount::Number(10),
            ..Simulation::default()
        }
    }

    #[test]
    fn columns_are_probability_vectors_and_kinds_are_what_they_say() {
        for classes in [2, 3, 7] {
            let settings = mixed(classes);
            let (model, kinds) = draw_model(&settings, 11);
            let count = |wanted: fn(&WorkerKind) -> bool| kinds.iter().filter(|kind| wanted(kind)).count();
            assert_eq!(count(|kind| *kind == WorkerKind::Expert), 10);
            assert_eq!(count(|kind| matches!(kind, WorkerKind::Specialist { .. })), 10);
            assert_eq!(count(|kind| *kind == WorkerKind::UniformSpammer), 6);
            assert_eq!(
                count(|kind| matches!(kind, WorkerKind::ConstantSpammer { .. })),
                5
            );
            assert_eq!(count(|kind| *kind == WorkerKind::Adversary), 10);
            assert_eq!(count(|kind| *kind == WorkerKind::Ordinary), 19);
            let slack = 4.0 * classes as f64 * f64::EPSILON;
            assert!((model.prior().iter().sum::<f64>() - 1.0).abs() <= slack);
            for (worker, kind) in kinds.iter().enumerate() {
                let columns = columns_of(&model, worker);
                for (truth, column) in columns.iter().enumerate() {
                    assert!((column.iter().sum::<f64>() - 1.0).abs() <= slack, "{kind:?}");
                    assert!(
                        column
                            .iter()
                            .all(|probability| (0.0..=1.0 + slack).contains(probability))
                    );
                    if *kind == WorkerKind::Adversary {
                        assert!(column[truth] < 1.0 / classes as f64);
                        assert!(column.contains(&0.8));
                    }
                }
                match *kind {
                    WorkerKind::Expert => {
                        assert!((0..classes).all(|row| row_distance(&columns, row) <= 0.1 + slack));
                    }
                    WorkerKind::Specialist { class } => assert!(row_distance(&columns, class) <= 0.1 + slack),
                    WorkerKind::ConstantSpammer { class } => {
                        assert!(columns.iter().all(|column| column[class] == 1.0));
                    }
                    WorkerKind::UniformSpammer => {
                        assert!(columns.iter().flatten().all(|&p| p == columns[0][0]))
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn accuracies_fill_their_range() {
        let settings = Simulation {
            workers: 400,
            classes: 4,
            experts: Amount::Number(0),
            quality: Quality::Accuracy {
                lowest: 0.6,
                highest: 0.8,
                concentration: 2.0,
            },
            ..Simulation::default()
        };
        let (model, _) = draw_model(&settings, 1);
        let mut sum = 0.0;
        for worker in 0..400 {
            let accuracy = model.probability(worker, 0, 0);
            assert!((0.6..=0.8).contains(&accuracy));
            assert!((0..4).all(|k| model.probability(worker, k, k) == accuracy));
            sum += accuracy;
        }
        // A uniform draw over a range of 0.2 has variance 0.04 / 12: five standard deviations of the mean.
        assert!((sum / 400.0 - 0.7).abs() < 5.0 * (0.04f64 / 12.0 / 400.0).sqrt());
    }

    #[test]
    fn dirichlet_columns_have_the_right_mean_and_variance() {
        let settings = Simulation {
            workers: 2000,
            experts: Amount::Number(0),
            ..Simulation::default()
        };
        let (model, _) = draw_model(&settings, 2);
        // Dirichlet(1) on 3 classes: mean 1/3, variance 1/18 a cell; the variance of the squared deviation is
        // below its fourth moment, itself below 1/18 as deviations are below 1.
        let cells: Vec<f64> = (0..2000).map(|worker| model.probability(worker, 1, 2)).collect();
        let mean = cells.iter().sum::<f64>() / 2000.0;
        let variance = cells.iter().map(|cell| (cell - 1.0 / 3.0).powi(2)).sum::<f64>() / 2000.0;
        assert!((mean - 1.0 / 3.0).abs() < 5.0 * (1.0f64 / 18.0 / 2000.0).sqrt());
        assert!((variance - 1.0 / 18.0).abs() < 5.0 * (1.0f64 / 18.0 / 2000.0).sqrt());
    }

    #[test]
    fn one_more_adversary_changes_one_worker() {
        let (before, _) = draw_model(&mixed(3), 5);
        let more = Simulation {
            adversaries: Amount::Number(11),
            ..mixed(3)
        };
        let (after, _) = draw_model(&more, 5);
        let changed = (0..60).filter(|&worker| before.confusion(worker) != after.confusion(worker));
        assert_eq!(changed.count(), 1);
    }

    #[test]
    fn one_class_leaves_no_choice() {
        for quality in [
            Quality::Dirichlet(1.0),
            Quality::Accuracy {
                lowest: 0.2,
                highest: 0.4,
                concentration: 1.0,
            },
        ] {
            let settings = Simulation {
                quality,
                adversaries: Amount::Number(0),
                ..mixed(1)
            };
            let (model, _) = draw_model(&settings, 1);
            assert_eq!(model.prior(), [1.0]);
            assert!(model.confusions().iter().all(|&probability| probability == 1.0));
        }
    }
}
