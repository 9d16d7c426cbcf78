//! Simulated crowds with known truth.

use pyo3::prelude::*;
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulation};
use quorate_io::{ModelFile, write_truth};

use crate::arguments::arguments;
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

arguments! {
    /// What a crowd is like.
    pub struct CrowdArguments {
        /// Number of tasks.
        pub tasks: usize,
        /// Number of workers.
        pub workers: usize,
        /// Number of classes.
        pub classes: usize,
        /// Shares of the classes; empty for random ones, none for equal ones.
        pub prior: Option<Vec<f64>>,
        /// Chance that a worker labels a task.
        pub density: f64,
        /// Labels of each task, instead.
        pub labels_per_task: Option<usize>,
        /// Accuracy of ordinary workers, from and to.
        pub accuracy: Option<(f64, f64)>,
        /// Workers who are nearly always right.
        pub experts: AmountArgument,
        /// Workers who know one class.
        pub specialists: AmountArgument,
        /// How near to perfect both are.
        pub epsilon: f64,
        /// Workers who answer at random.
        pub spammers: AmountArgument,
        /// Workers who always give the same answer.
        pub constant_spammers: AmountArgument,
        /// Workers who are systematically wrong.
        pub adversaries: AmountArgument,
        /// Designated workers.
        pub designated: usize,
        /// Share of the tasks that each of them labels.
        pub designated_density: f64,
        /// Share of the pairs of workers without a common task.
        pub missing_pairs: f64,
        /// How unlike workers are in how much they label.
        pub skew: f64,
        /// The seed.
        pub seed: u64,
    }
}

/// Draws a crowd: its labels, the truth, and the true model.
#[pyfunction]
pub fn simulate(py: Python<'_>, crowd: CrowdArguments) -> PyResult<(Labels, ArrowTable, Model)> {
    let seed = crowd.seed;
    let settings = Simulation {
        tasks: crowd.tasks,
        workers: crowd.workers,
        classes: crowd.classes,
        // An empty list stands for random shares.
        prior: match crowd.prior {
            None => Prior::Uniform,
            Some(shares) if shares.is_empty() => Prior::Dirichlet(1.0),
            Some(shares) => Prior::Given(shares),
        },
        quality: match crowd.accuracy {
            None => Quality::Dirichlet(1.0),
            Some((lowest, highest)) => Quality::Accuracy {
                lowest,
                highest,
                concentration: 1.0,
            },
        },
        experts: crowd.experts.into(),
        specialists: crowd.specialists.into(),
        epsilon: crowd.epsilon,
        uniform_spammers: crowd.spammers.into(),
        constant_spammers: crowd.constant_spammers.into(),
        adversaries: crowd.adversaries.into(),
        coverage: match crowd.labels_per_task {
            Some(labels) => Coverage::PerTask(labels),
            None => Coverage::Probability(crowd.density),
        },
        designated: crowd.designated,
        designated_probability: crowd.designated_density,
        missing_pairs: crowd.missing_pairs,
        activity_exponent: crowd.skew,
        ..Simulation::default()
    };
    let crowd = job::run(py, 0, None, move |_| Ok(settings.run(seed)?))?;
    let table = &crowd.annotations;
    let truth = ArrowTable::written(Kinds::TEXT, |target| {
        write_truth(target, table.tasks(), table.classes(), &crowd.truth)
    });
    let truth = truth.map_err(|failure: Failure| raise(py, failure))?;
    let file = ModelFile::new(table, &crowd.model).fitted_by("simulated", [], seed);
    Ok((Labels::of(crowd.annotations), truth, Model { file }))
}
