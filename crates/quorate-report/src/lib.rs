//! Results for people: one self-contained HTML page, and charts as SVG.
//!
//! ```text
//! labels, fit, inspection, intervals, plan -> sections -> page.html
//!                                              (assets/: style sheet and script, inlined)
//! ```
//!
//! The page needs no network: its content security policy forbids it. Everything that people wrote (ids,
//! labels, texts of tasks) is made inert before it gets in ([`text`]). The tables of tasks and workers are
//! embedded as one compressed block, and the script shows them in pages; without a script the first rows are
//! there.
//!
//! - [`Report`]: the page, from a fit and its [`Evidence`].
//! - [`ranking`]: the page of a leaderboard.
//! - [`figure`]: every chart of the project.
#![deny(missing_docs)]

mod evidence;
pub mod figure;
mod page;
pub mod ranking;
mod sections;
mod story;
mod tables;
pub mod text;

pub use evidence::{Evidence, NextLabels, PlanOptions};
pub use page::{Report, check_task_url};
