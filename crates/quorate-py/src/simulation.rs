//! Simulated crowds with known truth.

use pyo3::prelude::*;
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulation};
use quorate_io::{ModelFile, write_truth};

use crate::errors::{Failure, raise};
use crate::job;
use crate::kinds::Kinds;
use crate::labels::Labels;
use crate::model::Model;
use crate::table::ArrowTable;

/// A number of workers: a whole one, or a share of all.
#[derive(FromPyObject)]
pub enum AmountArgument {
    /// So many.
    Number(usize),
    /// This share.
    Share(f64),
}

impl From<AmountArgument> for Amount {
    fn from(amount: AmountArgument) -> Self {
        match amount {
            AmountArgument::Number(number) => Self::Number(number),
            AmountArgument::Share(share) => Self::Share(share),
        }
    }
}

/// Draws a crowd: its labels, the truth, and the true model.
#[pyfunction]
#[pyo3(signature = (
    *, tasks, workers, classes, prior, density, labels_per_task, accuracy, experts, specialists, epsilon, spammers,
    constant_spammers, adversaries, designated, designated_density, missing_pairs, skew, seed
))]
pub fn simulate(
    py: Python<'_>,
    tasks: usize,
    workers: usize,
    classes: usize,
    prior: Option<Vec<f64>>,
    density: f64,
    labels_per_task: Option<usize>,
    accuracy: Option<(f64, f64)>,
    experts: AmountArgument,
    specialists: AmountArgument,
    epsilon: f64,
    spammers: AmountArgument,
    constant_spammers: AmountArgument,
    adversaries: AmountArgument,
    designated: usize,
    designated_density: f64,
    missing_pairs: f64,
    skew: f64,
    seed: u64,
) -> PyResult<(Labels, ArrowTable, Model)> {
    let settings = Simulation {
        tasks,
        workers,
        classes,
        // An empty list stands for random shares.
        prior: match prior {
            None => Prior::Uniform,
            Some(shares) if shares.is_empty() => Prior::Dirichlet(1.0),
            Some(shares) => Prior::Given(shares),
        },
        quality: match accuracy {
            None => Quality::Dirichlet(1.0),
            Some((lowest, highest)) => Quality::Accuracy {
                lowest,
                highest,
                concentration: 1.0,
            },
        },
        experts: experts.into(),
        specialists: specialists.into(),
        epsilon,
        uniform_spammers: spammers.into(),
        constant_spammers: constant_spammers.into(),
        adversaries: adversaries.into(),
        coverage: match labels_per_task {
            Some(labels) => Coverage::PerTask(labels),
            None => Coverage::Probability(density),
        },
        designated,
        designated_probability: designated_density,
        missing_pairs,
        activity_exponent: skew,
        ..Simulation::default()
    };
    let crowd = job::run(py, 0, None, move |_| Ok(settings.run(seed)?))?;
    let table = &crowd.annotations;
    let truth = ArrowTable::written(Kinds::TEXT, |target| {
        write_truth(target, None, table.tasks(), table.classes(), &crowd.truth)
    });
    let truth = truth.map_err(|failure: Failure| raise(py, failure))?;
    let file = ModelFile::new(table, &crowd.model).fitted_by("simulated", [], seed);
    Ok((Labels::of(crowd.annotations), truth, Model { file }))
}
