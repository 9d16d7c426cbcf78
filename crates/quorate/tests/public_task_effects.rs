//! `task-effects` beside its reference program on the public data sets.

use std::process::ExitCode;

use quorate::Context;
use quorate::methods::{Aggregate, TaskEffects};
use quorate_testkit::{ALL_SETS, DataSet, public_test, run_public_tests};

fn main() -> ExitCode {
    run_public_tests(vec![public_test!(
        errors_are_those_of_the_reference_within_one_task,
        ALL_SETS
    )])
}

/// Errors in percent of the reference program (NumPy, defaults, ties to the lowest class).
const REFERENCE: [(&str, f64); 16] = [
    ("bluebird", 8.33),
    ("dog", 17.10),
    ("labelme", 20.50),
    ("rte", 6.62),
    ("trec", 29.98),
    ("web", 15.42),
    ("age", 33.03),
    ("barzan", 29.90),
    ("cf", 10.67),
    ("cf_amt", 16.33),
    ("ducks", 2.50),
    ("face", 34.93),
    ("flower", 16.00),
    ("music", 20.57),
    ("product", 6.94),
    ("weather1000", 18.00),
];

fn errors_are_those_of_the_reference_within_one_task() {
    for (name, expected) in REFERENCE {
        let data_set = DataSet::load(name);
        let fit = TaskEffects::default()
            .fit(&data_set.annotations, &mut Context::new(0))
            .unwrap();
        let found = data_set.error(&fit);
        let one_task = 100.0 / data_set.truth.len() as f64;
        assert!(
            (found - expected).abs() <= one_task + 0.005,
            "{name}: {found:.2}, the reference has {expected}"
        );
    }
}
