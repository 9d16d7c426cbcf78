//! What the tests of several crates share. Not published.
//!
//! - [`conditional`]: tests that are counted as ignored where they cannot run.
//! - [`public_data`]: where the public data sets are, and tests that need them.
//! - [`crowds`]: small crowds made of rows, and fits by the name of a method.
//! - [`figures`]: errors on public data sets and bounds on simulated crowds that methods keep.
//! - [`properties`]: what every fit must keep to.
//! - [`contract`]: what every method must keep to, over any table of methods.
//! - [`toys`]: the two examples of the methods' worked numbers.
//! - [`panels`]: simulated panels of judges, and how well they are read.

pub mod conditional;
pub mod contract;
pub mod crowds;
pub mod figures;
pub mod panels;
pub mod properties;
pub mod public_data;
pub mod toys;

pub use conditional::{ConditionalTest, run_tests};
pub use public_data::{ALL_SETS, DataSet, PublicTest, run_public_tests};
