//! **Quorate turns many unreliable answers into labels people can trust.**
//!
//! Input: who answered what on which task ([`Annotations`]). Output: a [`Fit`] with a posterior over the
//! classes for every task, and, for the methods that have one, a [`DawidSkene`] model: a confusion matrix for
//! every worker and the class prior.
//!
//! ```
//! use quorate::Annotations;
//!
//! let annotations = Annotations::from_triples([
//!     ("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"),
//!     ("t2", "ann", "dog"), ("t2", "bob", "dog"), ("t2", "cem", "dog"),
//! ])?;
//! let fit = quorate::aggregate(&annotations)?;
//! for found in fit.labels(&annotations) {
//!     println!("{}: {} ({:.2})", found.task, found.label, found.confidence);
//! }
//! # Ok::<(), quorate::Error>(())
//! ```
//!
//! # Cookbook
//!
//! **Choose a method.** Every method is a type with a setter for each parameter. [`methods::METHODS`] lists
//! them, and
//! [`methods::find`] finds one by its name.
//!
//! ```
//! use quorate::{Aggregate, Annotations, Context, methods};
//! # let annotations = Annotations::from_triples([("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "cat")])?;
//! let fit = methods::DawidSkeneEm::default().max_iter(50).fit(&annotations, &mut Context::new(0))?;
//! let same = methods::find("dawid-skene")?
//!     .with_parameters(&[("max-iter".into(), "50".into())])?
//!     .fit(&annotations, &mut Context::new(0))?;
//! assert_eq!(fit.consensus, same.consensus);
//! # Ok::<(), quorate::Error>(())
//! ```
//!
//! **Look at the workers.** Names, label counts and accuracies; the whole matrix is in `fit.model`.
//!
//! ```
//! # use quorate::{Aggregate, Annotations, Context, methods::DawidSkeneEm};
//! # let annotations = Annotations::from_triples([("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "cat")])?;
//! let fit = DawidSkeneEm::default().fit(&annotations, &mut Context::new(0))?;
//! for worker in fit.workers(&annotations) {
//!     println!("{}: {} labels, accuracy {:.2?}", worker.worker, worker.labels, worker.accuracy);
//! }
//! # Ok::<(), quorate::Error>(())
//! ```
//!
//! **Set seed, threads, memory.** The same table, method and seed give the same bits for any number of
//! threads.
//!
//! ```
//! use quorate::Context;
//! let context = Context::new(7).with_threads(2)?.with_memory_limit(1 << 30);
//! # Ok::<(), quorate::Error>(())
//! ```
//!
//! **Use what is known.** True labels of some tasks go into the table ([`Annotations::with_gold`]); shares of
//! classes and earlier work of workers into the context ([`Context::with_priors`]).
//!
//! **Bring your own columns.** [`Annotations::from_columns`] takes codes and names that are there already;
//! [`AnnotationsBuilder`] takes rows one by one and says what happens to repeated ones.
//!
//! **Ask what the table can tell.** [`diagnose`] finds spammers, copies and classes that do not show;
//! [`agreement`] measures agreement; [`intervals`] says how sure an accuracy is; [`evaluate`] compares with
//! the truth; [`review`] lists the tasks to look at first, and why.
//!
//! **Try it without data.** [`simulate`] draws crowds with known truth.
//!
//! Errors say what was found and carry a [`Remedy`].
//!
//! # How data flow
//!
//! From left to right, once: annotations, co-occurrences, imputation and factorisation ([`methods::SymNmf`]),
//! [`model`], consensus.
#![deny(missing_docs)]
#![warn(unnameable_types)]

pub mod agreement;
pub mod annotations;
mod blocks;
mod calibrate;
mod context;
pub mod diagnose;
pub mod error;
pub mod evaluate;
pub mod intervals;
pub mod judges;
mod linalg;
pub mod methods;
pub mod model;
mod parallel;
mod pass_runner;
pub mod plan;
pub mod ranking;
mod remedy;
mod results;
pub mod review;
mod run;
pub mod simulate;
mod special;
mod statistics;
mod symnmf;
mod task_features;
mod task_probabilities;

pub use annotations::{Annotations, AnnotationsBuilder};
pub use context::{Context, DEFAULT_MEMORY_LIMIT, Progress};
pub use error::{Error, Result};
pub use methods::{Aggregate, Fit};
pub use model::{Consensus, DawidSkene};
pub use remedy::Remedy;
pub use results::{TaskLabel, WorkerResult, aggregate};
pub use task_features::TaskFeatures;
pub use task_probabilities::TaskProbabilities;

/// What the other crates of this workspace need. Not part of the public interface: it changes without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::context::seeded;
    pub use crate::error::format_bytes;
    pub use crate::methods::shared::start::starting_votes;
    pub use crate::special::distributions::normal_quantile;
    pub use crate::special::{digamma, expect_dirichlet_logs, ln_gamma_and_digamma};

    /// Labels in blocks, and the engine of passes over them.
    pub mod blocks {
        pub use crate::blocks::*;
    }

    /// Confidence that allows for tasks that mislead many workers.
    pub mod calibrate {
        pub use crate::calibrate::*;
    }

    /// Passes run in another process.
    pub mod pass_runner {
        pub use crate::pass_runner::PassRunner;
    }

    /// One run for every face.
    pub mod run {
        pub use crate::run::*;
    }

    /// What is counted before anything is estimated.
    pub mod statistics {
        pub use crate::statistics::*;
    }

    /// The steps of [`SymNmf`](crate::methods::SymNmf).
    pub mod symnmf {
        pub use crate::symnmf::*;
    }

    /// Tables put together from parts.
    pub mod annotations {
        pub use crate::annotations::fingerprint::Fingerprint;
        pub use crate::annotations::gold::NO_GOLD;
        pub use crate::annotations::similar_classes::{
            SimilarClasses, Similarity, find_similar, join_codes, looks_missing,
        };
    }

    /// Steps of fits.
    pub mod model {
        pub use crate::model::alignment::{Alignment, align_classes};
        pub use crate::model::consensus::{TIE, leaders};
        pub use crate::model::consensus_summary::ConsensusSummary;
        pub use crate::model::em::{Em, EmStart, reserve_confusions};
        pub use crate::model::first::find_first;
        pub use crate::model::fit::{BlockFit, Rule};
        pub use crate::model::posterior::{LOG_FLOOR, Sweep, SweepResult, softmax_in_place};
        pub use crate::model::step::{Step, Steps};
        pub use crate::model::sweep_pass::{SweepPass, sum_subtypes};
        pub use crate::model::votes::VoteShares;
    }

    /// Work in parts, by all threads.
    pub mod parallel {
        pub use crate::parallel::{balanced_ranges, even_ranges, map_ranges, map_rows};
    }

    /// Small dense kernels.
    pub mod linalg {
        pub use crate::linalg::{assignment, lanczos, small};
    }
}

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;
