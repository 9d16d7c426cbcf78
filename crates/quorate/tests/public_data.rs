//! Errors of the methods on the public data sets.
//!
//! Origin of the figures: scratch programs in double precision, ties to the lowest class, written from the
//! methods' published formulas before this library; a figure may differ by the tolerance beside it (0.005:
//! the printed digits).

use std::process::ExitCode;

use quorate::Context;
use quorate::methods;
use quorate_testkit::figures::{Measured, check_errors};
use quorate_testkit::{DataSet, crowds, public_test, run_public_tests};

fn main() -> ExitCode {
    run_public_tests(vec![
        public_test!(
            measured_errors_are_met,
            ["bluebird", "dog", "rte", "trec", "web", "labelme"]
        ),
        public_test!(
            the_family_keeps_its_bounds_with_one_set_of_defaults,
            ["bluebird", "dog", "rte", "trec"]
        ),
        public_test!(converged_likelihoods_of_dawid_skene, ["bluebird", "rte", "dog"]),
    ])
}

const MEASURED: &[Measured] = &[
    ("majority-vote", &[], "bluebird", 24.07, 0.005),
    ("majority-vote", &[], "rte", 8.125, 0.005),
    ("majority-vote", &[], "dog", 18.22, 0.005),
    ("majority-vote", &[], "dog52", 18.22, 0.005),
    ("majority-vote", &[], "trec", 33.89, 0.005),
    ("majority-vote", &[], "web", 22.35, 0.005),
    ("majority-vote", &[], "labelme", 23.10, 0.005),
    // MV-EM of the paper's tables: 10 rounds, flat prior.
    ("dawid-skene", MV_EM, "bluebird", 11.11, 0.005),
    ("dawid-skene", MV_EM, "rte", 7.25, 0.005),
    ("dawid-skene", MV_EM, "dog", 15.86, 0.005),
    ("dawid-skene", MV_EM, "dog52", 15.86, 0.005),
    ("dawid-skene", MV_EM, "trec", 30.02, 0.005),
    ("dawid-skene", MV_EM, "web", 16.02, 0.005),
    // One task of 1000 apart: where a worker never met a class, the scratch program keeps an empty column.
    ("dawid-skene", MV_EM, "labelme", 19.30, 0.105),
    ("dawid-skene", &[], "bluebird", 10.19, 0.005),
    ("dawid-skene", &[], "rte", 7.25, 0.005),
    ("dawid-skene", &[], "dog", 15.74, 0.005),
    ("dawid-skene", &[], "dog52", 15.74, 0.005),
    ("dawid-skene", &[], "trec", 29.846, 0.005),
    ("dawid-skene", &[], "web", 17.377, 0.12),
    ("dawid-skene", &[], "labelme", 21.4, 0.3),
    ("dawid-skene", &[("smoothing", "1")], "dog52", 15.985, 0.13),
    ("dawid-skene", &[("smoothing", "1")], "rte", 7.0, 0.005),
    ("dawid-skene", &[("smoothing", "1")], "web", 14.964, 0.005),
    ("one-coin", &[], "bluebird", 41.667, 0.005),
    ("one-coin", &[], "rte", 7.5, 0.005),
    ("one-coin", &[], "dog", 16.976, 0.005),
    ("one-coin", &[], "dog52", 17.472, 0.005),
    ("one-coin", &[], "trec", 43.956, 0.005),
    ("one-coin", &[], "web", 19.224, 0.005),
    ("one-coin", &[], "labelme", 23.3, 0.005),
    // Few tasks apart where a worker never met a class: the scratch program keeps an empty column, ours is
    // the crowd's.
    ("fast-ds", &[], "bluebird", 12.037, 0.005),
    ("fast-ds", &[], "rte", 7.125, 0.005),
    ("fast-ds", &[], "dog", 15.613, 0.005),
    ("fast-ds", &[], "dog52", 15.861, 0.005),
    ("fast-ds", &[], "trec", 29.978, 0.3),
    ("fast-ds", &[], "web", 17.867, 0.1),
    ("fast-ds", &[], "labelme", 21.8, 0.105),
];

const MV_EM: &[(&str, &str)] = &[("max-iter", "10"), ("prior", "flat")];

fn measured_errors_are_met() {
    check_errors(MEASURED, methods::find);
}

/// Bounds that the SymNMF family keeps with one set of defaults: what a plain prototype and EM reach.
const AT_MOST: &[(&str, [(&str, f64); 4])] = &[
    (
        "rob-symnmf",
        [("bluebird", 11.2), ("dog52", 16.1), ("rte", 7.3), ("trec", 30.0)],
    ),
    (
        "rob-symnmf-em",
        [("bluebird", 10.2), ("dog52", 15.9), ("rte", 7.2), ("trec", 29.9)],
    ),
    (
        "des-symnmf-em",
        [("bluebird", 10.2), ("dog52", 15.9), ("rte", 7.3), ("trec", 29.9)],
    ),
    (
        "dawid-skene",
        [("bluebird", 12.1), ("dog52", 15.9), ("rte", 7.3), ("trec", 30.1)],
    ),
];

fn the_family_keeps_its_bounds_with_one_set_of_defaults() {
    for data in ["bluebird", "dog52", "rte", "trec"] {
        let data_set = DataSet::load(data);
        for (name, bounds) in AT_MOST {
            let bound = bounds.iter().find(|(known, _)| *known == data).unwrap().1;
            let error =
                data_set.error(&crowds::fit(methods::find(name).unwrap(), &data_set.annotations).unwrap());
            assert!(error <= bound, "{name} on {data}: {error:.3}, at most {bound}");
        }
    }
}

fn converged_likelihoods_of_dawid_skene() {
    // Prior estimated, from vote fractions, to convergence (scratch program, four printed decimals).
    for (data, expected) in [
        ("bluebird", -1888.1168),
        ("rte", -3679.6290),
        ("dog52", -4445.2988),
    ] {
        let data_set = DataSet::load(data);
        let tight = [("tol".to_string(), "1e-7".to_string())];
        let method = methods::find("dawid-skene")
            .unwrap()
            .with_parameters(&tight)
            .unwrap();
        let fit = method.fit(&data_set.annotations, &mut Context::new(1)).unwrap();
        let found = *fit.trace.last().unwrap();
        assert!(
            (found - expected).abs() < 1e-4,
            "{data}: {found}, expected {expected}"
        );
        assert!(fit.converged, "{data}");
    }
}
