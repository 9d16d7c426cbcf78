//! What the tests of several crates share. Not published.
//!
//! - [`conditional`]: tests that are counted as ignored where they cannot run.
//! - [`public_data`]: where the public data sets are, and tests that need them.
//! - [`crowds`]: small crowds made of rows, and fits by the name of a method.
//! - [`properties`]: what every fit must keep to.
//! - [`panels`]: simulated panels of judges, and how well they are read.

pub mod conditional;
pub mod crowds;
pub mod panels;
pub mod properties;
pub mod public_data;

pub use conditional::{ConditionalTest, run_tests};
pub use public_data::{ALL_SETS, DataSet, PublicTest, run_public_tests};
