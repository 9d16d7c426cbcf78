//! **Quorate turns many unreliable answers into labels people can trust.**
//!
//! Input: who answered what on which task ([`Annotations`]). Output: a [`Fit`](methods::Fit) with a
//! posterior over the classes for every task, and, for the methods that have one, a
//! [`DawidSkene`](model::DawidSkene) model: a confusion matrix for every worker and the class prior.
//!
//! ```
//! use quorate::{AnnotationsBuilder, Context, methods};
//!
//! let mut builder = AnnotationsBuilder::default();
//! for (task, worker, label) in [
//!     ("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"),
//!     ("t2", "ann", "dog"), ("t2", "bob", "dog"), ("t2", "cem", "dog"),
//! ] {
//!     builder.push(task, worker, label)?;
//! }
//! let annotations = builder.build()?;
//! let method = methods::find("majority-vote").unwrap().with_defaults()?;
//! let fit = method.fit(&annotations, &mut Context::new(7))?;
//! assert_eq!(annotations.classes().get(fit.consensus.label(0)), "cat");
//! # Ok::<(), quorate::Error>(())
//! ```
//!
//! Data flow from left to right, once: annotations, [`statistics`], imputation and factorisation
//! ([`symnmf`]), [`model`], consensus. [`methods`] holds the one table of methods.
#![deny(missing_docs)]

pub mod agreement;
pub mod annotations;
pub mod blocks;
pub mod calibrate;
pub mod context;
pub mod diagnose;
pub mod error;
pub mod evaluate;
pub mod intervals;
pub mod linalg;
pub mod methods;
pub mod model;
mod parallel;
pub mod remedy;
pub mod simulate;
mod special;
pub mod statistics;
pub mod symnmf;
pub mod task_features;
pub mod task_probabilities;

pub use annotations::{Annotations, AnnotationsBuilder};
pub use context::Context;
pub use error::{Error, Result};
pub use remedy::Remedy;
pub use task_features::TaskFeatures;
pub use task_probabilities::TaskProbabilities;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;
