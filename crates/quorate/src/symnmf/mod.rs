//! The heart of the library: identifying the Dawid-Skene model from pairwise co-occurrences by imputation and
//! symmetric nonnegative matrix factorisation.
//!
//! ```text
//! R_mj = A_m D A_j^T (m != j),   D = Diag(prior),   H = [A_1; ..; A_M] D^(1/2),   X = H H^T
//! ```
//!
//! Off-diagonal blocks of X are the co-occurrences; many are missing, and the diagonal always is. Four steps,
//! a file each: **count** ([`crate::statistics`]), **impute** a factor U with X = U U^T ([`impute_robust`],
//! [`impute_matrix_free`], [`impute_designated`]), **factor** U into a nonnegative H = U Q ([`factor()`]),
//! and **read off** the model ([`extract_model`]). [`identify`] runs the steps one after another;
//! `pipeline.rs` is what the methods do around it (gold, priors, notes), `methods.rs` declares them.
//!
//! S. Ibrahim, X. Fu, "Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
//! Nonnegative Matrix Factorization", ICML 2021. Labels such as `eq:itwa` are those of that paper.

mod designated;
mod extract;
mod factor;
mod identify;
mod least_squares;
mod matrix_free;
mod methods;
mod pipeline;
mod robust;
mod shrink;
mod start;
mod task_sums;

pub use designated::{Designated, impute_designated};
pub use extract::extract_model;
pub use factor::{Alpha, Factor, FactorSettings, factor, identity, rotation_towards};
pub use identify::{Identification, Identified, Imputing, Rotation, identify, identify_from_factor};
pub use matrix_free::impute_matrix_free;
pub use methods::{Between, Form, Init, RowWeights, SymNmf};
pub use robust::{
    Imputation, MissingBlocks, ResidualWeights, RobustSettings, Solver, impute_robust, robust_objective,
};
pub use shrink::{crowd_matrix, expected_labels, shrink_to_crowd};
pub use start::{model_factor, random_factor};
pub(crate) use task_sums::{CountAnswers, SumOverTasks};
