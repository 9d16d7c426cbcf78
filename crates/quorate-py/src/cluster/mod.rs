//! Labels on a cluster: the driver's half (fits, whose passes Python sends to the executors) and the
//! executors' half (rows to blocks, passes over blocks, rows of results).

mod blocks;
mod classes;
mod encoder;
mod fit;
mod names;
mod overview;
mod rows;
mod runner;

use pyo3::prelude::*;
use quorate::evaluate::wilson_interval;

/// The 95 % interval of a share of wrong labels.
#[pyfunction]
fn error_interval(wrong: f64, scored: usize) -> (f64, f64) {
    wilson_interval(wrong, scored)
}

/// Adds what is here to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<encoder::BlockEncoder>()?;
    module.add_class::<runner::PassRunner>()?;
    module.add_class::<fit::ClusterFit>()?;
    module.add_function(wrap_pyfunction!(classes::arrange_classes, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit_cluster, module)?)?;
    module.add_function(wrap_pyfunction!(overview::inspect_cluster, module)?)?;
    module.add_function(wrap_pyfunction!(rows::label_rows, module)?)?;
    module.add_function(wrap_pyfunction!(rows::hash_tasks, module)?)?;
    module.add_function(wrap_pyfunction!(error_interval, module)?)?;
    Ok(())
}
