//! Special functions and distributions, for all methods and tests.
//!
//! Written here and not taken from a crate: log-gamma and digamma together cost little more than one of them,
//! which decides the speed of the variational methods; and results must be the same bits on every processor.

pub(crate) mod distributions;
mod gamma;

pub(crate) use distributions::beta_quantile;
pub(crate) use gamma::digamma_rise;
pub use gamma::{digamma, expect_dirichlet_logs, ln_gamma_and_digamma};
