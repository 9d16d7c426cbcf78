//! Errors of the methods on the public data sets.
//!
//! Origin of the figures: scratch programs in double precision, ties to the lowest class, written from the methods'
//! published formulas before this library; a figure may differ by the tolerance beside it (0.005: the printed
//! digits).

mod support;

use quorate::Context;
use quorate::methods;
use support::DataSet;

/// Method, parameters, data set, error in percent, tolerance in points.
type Measured = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
    f64,
    f64,
);

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
];

const MV_EM: &[(&str, &str)] = &[("max-iter", "10"), ("prior", "flat")];

#[test]
fn measured_errors_are_met() {
    let mut loaded: Vec<(&str, DataSet)> = Vec::new();
    let mut misses = Vec::new();
    for &(name, parameters, data, expected, tolerance) in MEASURED {
        if !loaded.iter().any(|(known, _)| *known == data) {
            loaded.push((data, DataSet::load(data)));
        }
        let data_set = &loaded.iter().find(|(known, _)| *known == data).unwrap().1;
        let given: Vec<_> = parameters
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        let method = methods::find(name).unwrap().with_parameters(&given).unwrap();
        let error = data_set.error(&method.fit(&data_set.annotations, &mut Context::new(1)).unwrap());
        if (error - expected).abs() > tolerance {
            misses.push(format!(
                "{name} {parameters:?} on {data}: {error:.3}, expected {expected} +- {tolerance}"
            ));
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn converged_likelihoods_of_dawid_skene() {
    // Prior estimated, from vote fractions, to convergence (scratch program, four printed decimals).
    for (data, expected) in [
        ("bluebird", -1888.1168),
        ("rte", -3679.6290),
        ("dog52", -4445.2988),
    ] {
        let data_set = DataSet::load(data);
        let method = methods::find("dawid-skene").unwrap().with_defaults().unwrap();
        let fit = method.fit(&data_set.annotations, &mut Context::new(1)).unwrap();
        let found = *fit.trace.last().unwrap();
        assert!(
            (found - expected).abs() < 2e-3,
            "{data}: {found}, expected {expected}"
        );
        assert!(fit.converged, "{data}");
    }
}
