//! Tests on the public data sets, which are no part of the repository.
//!
//! Where a set is missing, its tests are counted as ignored ([`crate::conditional`]).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use quorate::methods::Fit;
use quorate::{Annotations, AnnotationsBuilder};

use crate::conditional::{ConditionalTest, run_tests};

/// A test that needs public data sets.
pub struct PublicTest {
    /// The name of the test.
    pub name: &'static str,
    /// The folders that it reads.
    pub sets: &'static [&'static str],
    /// The test: it panics where it fails.
    pub run: fn(),
}

/// A [`PublicTest`] from a function and the data sets that it reads: `public_test!(function, ["bluebird",
/// "rte"])`.
#[macro_export]
macro_rules! public_test {
    ($run:ident, $sets:expr) => {
        $crate::PublicTest {
            name: stringify!($run),
            sets: &$sets,
            run: $run,
        }
    };
}

/// All public sets of labels with their truth.
pub const ALL_SETS: [&str; 16] = [
    "bluebird",
    "dog",
    "labelme",
    "rte",
    "trec",
    "web",
    "age",
    "barzan",
    "cf",
    "cf_amt",
    "ducks",
    "face",
    "flower",
    "music",
    "product",
    "weather1000",
];

/// The folder of the public data sets: `QUORATE_DATA`, else `data` in the project, else `shared/data` beside
/// it.
pub fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("QUORATE_DATA") {
        return folder.into();
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = project.join("data");
    if own.is_dir() {
        own
    } else {
        project.join("../shared/data")
    }
}

/// Runs the tests whose data sets are there and counts the others as ignored. Takes the arguments of `cargo
/// test`.
pub fn run_public_tests(tests: Vec<PublicTest>) -> ExitCode {
    let folder = folder();
    let tests = tests.into_iter().map(|PublicTest { name, sets, run }| {
        let absent = sets.iter().copied().filter(|set| !folder.join(set).is_dir());
        let absent: Vec<&str> = absent.collect();
        let reason = format!("needs public data sets (docs/data.md): {}", absent.join(", "));
        ConditionalTest {
            name,
            missing: (!absent.is_empty()).then_some(reason),
            run,
        }
    });
    run_tests(tests.collect())
}

/// The rows of a plain CSV file (no quoting in these files), without the header.
fn rows(path: &str) -> Vec<Vec<String>> {
    let path = folder().join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

/// A public data set: labels and the known truths by task.
pub struct DataSet {
    /// The labels.
    pub annotations: Annotations,
    /// The true class by task.
    pub truth: HashMap<String, String>,
}

impl DataSet {
    /// Loads `name`; `dog52` is dog with the 52 workers that the paper keeps.
    pub fn load(name: &str) -> Self {
        let folder = if name == "dog52" { "dog" } else { name };
        let mut builder = AnnotationsBuilder::default();
        for row in rows(&format!("{folder}/labels.csv")) {
            builder.push(&row[0], &row[1], &row[2]).unwrap();
        }
        let mut annotations = builder.build().unwrap();
        if name == "dog52" {
            let kept: Vec<String> = rows("dog/workers_top52.csv")
                .into_iter()
                .map(|row| row[0].clone())
                .collect();
            annotations = annotations
                .keep_workers(|worker| kept.iter().any(|name| name == worker))
                .unwrap();
        }
        let truth = rows(&format!("{folder}/truth.csv"))
            .into_iter()
            .map(|row| (row[0].clone(), row[1].clone()));
        Self {
            annotations,
            truth: truth.collect(),
        }
    }

    /// Share of wrong labels among the tasks with known truth, in percent; ties go to the lowest class.
    pub fn error(&self, fit: &Fit) -> f64 {
        let (mut known, mut wrong) = (0, 0);
        for (task, name) in self.annotations.tasks().iter().enumerate() {
            if let Some(truth) = self.truth.get(name) {
                known += 1;
                wrong += usize::from(self.annotations.classes().get(fit.consensus.label(task)) != truth);
            }
        }
        100.0 * f64::from(wrong as u32) / f64::from(known)
    }
}
