//! Classifiers as annotators: the ten of the paper's table, trained on a small part of a UCI data set, label
//! the rest.
//!
//! ```text
//! Uci --load--> DataSet --Panel::train--> answers of every annotator to every item
//!     --by_share | by_parts--> Annotations
//! ```
//!
//! Support vector machines are those of `linfa-svm`. Nearest neighbours are searched by brute force, and the
//! trees are grown here (see [`tree`](Tree)): the crates of the field bound trees by depth and not by splits.
#![deny(missing_docs)]

mod labelling;
mod neighbours;
mod panel;
mod rows;
mod svm;
mod tree;
mod uci;

pub use labelling::{Labelled, PARTS, Shares, by_parts, by_share, draw_groups, missing_share};
pub use neighbours::{Distance, classify as classify_by_neighbours};
pub use panel::{ANNOTATORS, Cut, Panel, SVM_ROWS};
pub use rows::FeatureRows;
pub use svm::{Kernel, classify as classify_by_svm};
pub use tree::Tree;
pub use uci::{DataSet, Uci};
