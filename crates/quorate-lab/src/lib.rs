//! The paper's experiments, run again: every table and figure with the paper's value beside ours.
//!
//! S. Ibrahim, X. Fu, "Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
//! Nonnegative Matrix Factorization", ICML 2021. An experiment is called by its label there (`tab:AMT1`,
//! `fig:conv_symnmf1`, `thm:converge`).
//!
//! ```text
//! registry (what there is) --run--> Section (tables, figures, claims) --page-->
//!     Markdown, JSON, one HTML page
//! ```
//!
//! # Adding an experiment
//!
//! 1. A file with `pub(crate) fn run(bench: &Bench<'_>) -> Result<Section>`. The [`Bench`] says how many
//!    trials, with which seed, where the data are, and is told of progress: `for trial in 0..bench.trials()`,
//!    or `bench.in_parallel(..)` for what is not timed, `bench.context(trial)` for a fit,
//!    `bench.done(share)?` from time to time (this is also where Ctrl-C is seen).
//! 2. Fill a [`Section`]: text on how the numbers were obtained and where the set-up differs, [`Table`]s of
//!    [`Cell`]s (paper, ours, verdict), [`Figure`]s, [`Claim`]s of the paper with what was found.
//!    `paper::printed(table, row, column)` has the printed values; new ones go into `paper/printed.csv`.
//! 3. One entry in [`EXPERIMENTS`] (`registry.rs`).
//!
//! Everything but times must follow from the seed: times live in [`Time::seconds`], [`Section::seconds`] and
//! [`Report::seconds`] alone, which [`Report::without_times`] takes out.
#![deny(missing_docs)]

mod bench;
mod bounds;
pub mod contender;
mod convergence;
mod crowd;
mod human;
pub mod human_data;
mod labelme;
mod noiseless;
mod page;
pub mod paper;
mod registry;
mod rotation;
mod sampled;
mod section;
mod statistics;
mod uci;
mod verdict;

pub use bench::{Bench, Settings, Setup, Watch, run};
pub use contender::Contender;
pub use page::{Page, write_page};
pub use quorate_report::figure::{Axis, Figure, Mark, Panel, Scale, Series};
pub use registry::{EXPERIMENTS, Either, Experiment, find};
pub use section::{Cell, Claim, Holds, Measure, Report, Row, Section, Table, Time};
pub use statistics::{Line, Summary, fit_line, mean, median, rank_correlation};
pub use verdict::{Better, Noise, Verdict};
