//! Tests that can run only where what they need is there. A plain `#[test]` can only pass or fail, so it would
//! pass without having tested anything.
//!
//! A test program of such tests has a `main` of its own (`harness = false`) that calls [`run_tests`].

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Trial};

/// A test, and what it needs that is missing here.
pub struct ConditionalTest {
    /// The name of the test.
    pub name: &'static str,
    /// What is missing, in a sentence that begins with "needs"; the test is then counted as ignored.
    pub missing: Option<String>,
    /// The test: it panics where it fails.
    pub run: fn(),
}

/// A [`ConditionalTest`] from a function and what is missing: `conditional_test!(function, &missing)`.
#[macro_export]
macro_rules! conditional_test {
    ($run:ident, $missing:expr) => {
        $crate::ConditionalTest {
            name: stringify!($run),
            missing: Option::clone($missing),
            run: $run,
        }
    };
}

/// Runs the tests that can run and counts the others as ignored, each with its reason. Takes the arguments of
/// `cargo test`.
pub fn run_tests(tests: Vec<ConditionalTest>) -> ExitCode {
    let trials = tests.into_iter().map(|ConditionalTest { name, missing, run }| {
        Trial::ignorable_test(name, move || {
            if let Some(reason) = missing {
                return Ok(Completion::ignored_with(reason));
            }
            run();
            Ok(Completion::Completed)
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
