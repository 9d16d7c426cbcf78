//! What is fuzzed: each target takes bytes and panics if a promise is broken.
//!
//! Promises: no panic, no abort, an error in words that names the file, and what the target's own file says
//! (the two CSV readers agree, what was written is read back, probabilities are probabilities). Hangs and
//! memory are watched from outside.
//!
//! Three ways to run the targets:
//!
//! - `cargo test -p quorate-fuzz`: every seed, every input that once broke something
//!   (`regressions/TARGET/what-it-broke`), and a fixed number of mutations of both;
//! - `scripts/fuzz`: guided by coverage, with libFuzzer (`libfuzzer/`, a workspace of its own because it
//!   needs other compiler flags);
//! - one input by hand: `scripts/fuzz TARGET FILE`.

mod comparisons;
mod exports;
mod methods;
mod model_files;
mod scratch;
mod side_tables;
mod spilled;
mod tables;
mod wire;

use std::path::{Path, PathBuf};

/// One thing that is fuzzed.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of the target, and of the folder of its regressions.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
    /// Inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    let groups = [
        tables::TARGETS,
        comparisons::TARGETS,
        exports::TARGETS,
        side_tables::TARGETS,
        model_files::TARGETS,
        spilled::TARGETS,
        wire::TARGETS,
        methods::TARGETS,
    ];
    groups.into_iter().flatten()
}

/// The target of this name.
pub fn find(name: &str) -> Option<&'static Target> {
    targets().find(|target| target.name == name)
}

/// The folder of inputs that once broke a target.
pub fn regressions(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("regressions")
        .join(target.name)
}
