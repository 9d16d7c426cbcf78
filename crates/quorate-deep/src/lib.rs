//! Methods that learn a small network on the features of the tasks (images, texts as numbers), for use beside
//! those of
//! [`quorate`]. A crate of its own, so that only those who want them compile them.
//!
//! The network is two dense layers with hand-written gradients, checked against finite differences; its
//! matrix products are those of `ndarray`. A framework with automatic differentiation was measured to take a
//! hundred times longer to compile and several times longer for a step of a network of this size.
//!
//! ```
//! use quorate::{AnnotationsBuilder, Context, TaskFeatures};
//!
//! let mut builder = AnnotationsBuilder::default();
//! for (task, label) in [("a", "cat"), ("b", "cat"), ("c", "dog"), ("d", "dog")] {
//!     builder.push(task, "ann", label)?;
//!     builder.push(task, "bob", label)?;
//! }
//! let annotations = builder.build()?;
//! let mut features = TaskFeatures::none(&annotations, 1);
//! for (task, value) in [-1.0, -0.8, 0.9, 1.0].into_iter().enumerate() {
//!     features.set(task, &[value])?;
//! }
//! let method = quorate_deep::METHODS[0].with_defaults()?;
//! let fit = method.fit(&annotations, &mut Context::new(7).with_features(features))?;
//! assert_eq!(fit.consensus.len(), 4);
//! # Ok::<(), quorate::Error>(())
//! ```
#![deny(missing_docs)]

mod adam;
mod annotators;
mod crowd_layer;
mod dl_mv;
mod examples;
mod network;
mod training;

pub use annotators::WorkerMap;
pub use crowd_layer::CrowdLayer;
pub use dl_mv::DlMv;
pub use training::Scaling;

use quorate::methods::Method;

/// The table of these methods.
pub static METHODS: &[Method] = &[CrowdLayer::METHOD, DlMv::METHOD];
