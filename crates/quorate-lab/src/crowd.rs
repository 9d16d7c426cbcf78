//! The paper's made-up crowd, M = 25 workers and K = 3 classes, one of them a specialist for all classes.
//!
//! | | the text | the authors' program |
//! |---|---|---|
//! | specialist | every row within 0.1 of the unit vector | `I + r 1^T`, r uniform in `[0, 1/4]^3`, columns scaled: diagonal about 0.8 |
//! | the others | columns Dirichlet(1) | columns uniform in `[0, 1]^3`, scaled |
//! | prior | Dirichlet(1) | uniform |

use anyhow::Result;
use quorate::Annotations;
use quorate::internal::seeded;
use quorate::model::DawidSkene;
use quorate::simulate::{Prior, Simulation};
use rand::{Rng, RngExt};

use crate::bench::Setup;

const WORKERS: usize = 25;
const CLASSES: usize = 3;

/// Probability that a worker labels a task.
const COVERAGE: f64 = 0.3;

/// Streams of the program's crowd, apart from those of the simulator.
const MODEL_STREAM: u64 = 9001;
const LABEL_STREAM: u64 = 9002;

/// Which generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaperCrowd {
    /// As the paper's text says.
    Text,
    /// As the text says, but for a uniform prior.
    Uniform,
    /// As the authors' program has it.
    Code,
}

impl PaperCrowd {
    /// The generators of a set-up.
    pub fn chosen(setup: Setup) -> Vec<Self> {
        match setup {
            Setup::Text => vec![Self::Text],
            Setup::Uniform => vec![Self::Uniform],
            Setup::Code => vec![Self::Code],
            Setup::All => vec![Self::Text, Self::Uniform, Self::Code],
        }
    }

    /// In a table's title.
    pub fn words(self) -> &'static str {
        match self {
            Self::Text => "set-up of the text (prior Dirichlet)",
            Self::Uniform => "set-up of the text but for a uniform prior",
            Self::Code => "set-up of the authors' program",
        }
    }

    /// The settings of the simulator.
    fn simulation(self, tasks: usize) -> Simulation {
        let prior = match self {
            Self::Text => Prior::Dirichlet(1.0),
            Self::Uniform | Self::Code => Prior::Uniform,
        };
        Simulation {
            tasks,
            prior,
            ..Simulation::default()
        }
    }

    /// The model of this seed.
    pub fn model(self, seed: u64) -> Result<DawidSkene> {
        match self {
            // The model does not depend on the number of tasks.
            Self::Text | Self::Uniform => Ok(self.simulation(10).run(seed)?.model),
            Self::Code => Ok(program_model(seed)),
        }
    }

    /// The model of this seed and labels on this many tasks.
    pub fn labels(self, tasks: usize, seed: u64) -> Result<(DawidSkene, Annotations)> {
        match self {
            Self::Text | Self::Uniform => {
                let crowd = self.simulation(tasks).run(seed)?;
                Ok((crowd.model, crowd.annotations))
            }
            Self::Code => {
                let model = program_model(seed);
                let annotations = draw_labels(&model, tasks, seed)?;
                Ok((model, annotations))
            }
        }
    }
}

fn program_model(seed: u64) -> DawidSkene {
    let mut rng = seeded(seed, MODEL_STREAM);
    let specialist = rng.random_range(0..WORKERS);
    let mut confusion = Vec::with_capacity(WORKERS * CLASSES * CLASSES);
    for worker in 0..WORKERS {
        let mut block: Vec<f64> = if worker == specialist {
            let shift: Vec<f64> = (0..CLASSES).map(|_| 0.25 * rng.random::<f64>()).collect();
            let entry =
                |cell: usize| shift[cell / CLASSES] + f64::from(u8::from(cell / CLASSES == cell % CLASSES));
            (0..CLASSES * CLASSES).map(entry).collect()
        } else {
            (0..CLASSES * CLASSES).map(|_| rng.random()).collect()
        };
        for truth in 0..CLASSES {
            let sum: f64 = block.iter().skip(truth).step_by(CLASSES).sum();
            block
                .iter_mut()
                .skip(truth)
                .step_by(CLASSES)
                .for_each(|value| *value /= sum);
        }
        confusion.extend(block);
    }
    DawidSkene::new(vec![1.0 / CLASSES as f64; CLASSES], confusion)
}

/// Labels of a given model, each kept with probability [`COVERAGE`].
fn draw_labels(model: &DawidSkene, tasks: usize, seed: u64) -> Result<Annotations> {
    let mut rng = seeded(seed, LABEL_STREAM);
    let mut labels = Vec::new();
    for task in 0..tasks as u32 {
        let truth = pick(model.prior().iter().copied(), &mut rng);
        for worker in 0..model.worker_count() {
            if rng.random::<f64>() < COVERAGE {
                let column = (0..model.class_count()).map(|answer| model.probability(worker, answer, truth));
                labels.push((task, worker as u32, pick(column, &mut rng) as u16));
            }
        }
    }
    Ok(Annotations::from_codes(
        tasks,
        model.worker_count(),
        model.class_count(),
        labels,
    )?)
}

fn pick(probabilities: impl ExactSizeIterator<Item = f64>, rng: &mut impl Rng) -> usize {
    let last = probabilities.len() - 1;
    let mut left = rng.random::<f64>();
    for (index, probability) in probabilities.enumerate() {
        left -= probability;
        if left < 0.0 {
            return index;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_crowd_has_one_specialist_and_columns_of_probabilities() {
        let model = program_model(3);
        assert_eq!(model.prior(), [1.0 / 3.0; 3]);
        let mut specialists = 0;
        for worker in 0..WORKERS {
            for truth in 0..CLASSES {
                let sum: f64 = (0..CLASSES)
                    .map(|answer| model.probability(worker, answer, truth))
                    .sum();
                assert!((sum - 1.0).abs() < 1e-12);
            }
            // (1 + r_k) / (1 + sum r) is at least 1 / 1.5.
            specialists +=
                usize::from((0..CLASSES).all(|k| model.probability(worker, k, k) >= 1.0 / 1.5 - 1e-12));
        }
        assert!((1..=3).contains(&specialists), "{specialists}");
    }

    #[test]
    fn labels_follow_the_model_and_the_coverage() {
        let (model, annotations) = PaperCrowd::Code.labels(4000, 5).unwrap();
        let expected = 4000.0 * 25.0 * COVERAGE;
        // Five standard deviations of a binomial count.
        let slack = 5.0 * (expected * (1.0 - COVERAGE)).sqrt();
        assert!((annotations.label_count() as f64 - expected).abs() < slack);
        // The share of answer 0 of worker 7 is sum_k A(0, k) / 3.
        let share: f64 = (0..3).map(|k| model.probability(7, 0, k) / 3.0).sum();
        let answers: Vec<usize> = annotations
            .by_worker()
            .labels(7)
            .map(|(_, label)| label)
            .collect();
        let found = answers.iter().filter(|&&answer| answer == 0).count() as f64 / answers.len() as f64;
        let slack = 5.0 * (share * (1.0 - share) / answers.len() as f64).sqrt();
        assert!((found - share).abs() < slack, "{found} {share}");
    }
}
