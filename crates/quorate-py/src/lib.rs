//! The native half of the Python package `quorate`: thin glue between Python objects and the library.
//!
//! ```text
//! data (path, Arrow stream, columns) --labels--> Labels --fitting--> Fitted --table-->
//!     ArrowTable (Arrow stream)
//! labels on a cluster --------------------------------cluster--> ClusterFit --table--> ArrowTable
//! ```
//!
//! Everything that people call, with its docs, is Python in `python/quorate`. Long work goes through [`job`],
//! errors through [`errors`].

mod arguments;
mod capsule;
mod checks;
mod cluster;
mod data;
mod errors;
mod fitted;
mod fitting;
mod job;
mod judging;
mod kinds;
mod labels;
mod method_table;
mod model;
mod next_steps;
mod pickle;
mod ranking;
mod simulation;
mod table;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Tables of workers and labels on huge pages, as in the program.
#[global_allocator]
static MEMORY: quorate_machine::HugePages = quorate_machine::HugePages;

/// Runs the program with these arguments, its name first; returns the exit code.
#[pyfunction]
fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| quorate_cli::run(arguments))
}

/// The native module.
#[pymodule]
fn _quorate(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<data::Data>()?;
    module.add_class::<labels::Labels>()?;
    module.add_class::<fitted::Fitted>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<ranking::Ranking>()?;
    module.add_class::<ranking::Rankings>()?;
    module.add_class::<table::ArrowTable>()?;
    module.add_function(wrap_pyfunction!(labels::read, module)?)?;
    module.add_function(wrap_pyfunction!(labels::formats, module)?)?;
    module.add_function(wrap_pyfunction!(fitting::fit, module)?)?;
    module.add_function(wrap_pyfunction!(fitted::gauge, module)?)?;
    module.add_function(wrap_pyfunction!(checks::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(checks::error_of, module)?)?;
    module.add_function(wrap_pyfunction!(checks::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(judging::judges, module)?)?;
    module.add_function(wrap_pyfunction!(ranking::rank, module)?)?;
    module.add_function(wrap_pyfunction!(next_steps::plan, module)?)?;
    module.add_function(wrap_pyfunction!(next_steps::dispatch, module)?)?;
    module.add_function(wrap_pyfunction!(next_steps::replay_plan, module)?)?;
    module.add_function(wrap_pyfunction!(next_steps::report, module)?)?;
    module.add_function(wrap_pyfunction!(simulation::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(method_table::method_table, module)?)?;
    module.add_function(wrap_pyfunction!(method_table::find_method, module)?)?;
    cluster::add_to(module)?;
    module.add_function(wrap_pyfunction!(run_program, module)?)?;
    Ok(())
}
