//! Errors of the baselines on the public data sets.
//!
//! Origin of the figures: scratch programs in double precision, ties to the lowest class, written from the
//! methods' published formulas before this library; a figure may differ by the tolerance beside it (0.005:
//! the printed digits).

use std::process::ExitCode;

use quorate::Context;
use quorate_baselines::find;
use quorate_testkit::figures::{Measured, check_errors};
use quorate_testkit::{DataSet, public_test, run_public_tests};

fn main() -> ExitCode {
    run_public_tests(vec![
        public_test!(
            measured_errors_are_met,
            ["bluebird", "dog", "rte", "trec", "web", "labelme"]
        ),
        public_test!(converged_objective_of_tensor_admm, ["bluebird"]),
    ])
}

const MEASURED: &[Measured] = &[
    ("ibcc", &[], "bluebird", 11.111, 0.005),
    ("ibcc", &[], "rte", 7.25, 0.005),
    ("ibcc", &[], "dog", 16.109, 0.005),
    ("ibcc", &[], "dog52", 16.109, 0.005),
    ("ibcc", &[], "trec", 29.451, 0.005),
    ("ibcc", &[], "web", 24.915, 0.005),
    ("ibcc", &[], "labelme", 23.6, 0.005),
    ("wawa", LOWEST, "bluebird", 24.074, 0.005),
    ("wawa", LOWEST, "rte", 7.875, 0.005),
    ("wawa", LOWEST, "dog", 17.1, 0.005),
    ("wawa", LOWEST, "dog52", 17.968, 0.005),
    ("wawa", LOWEST, "trec", 35.429, 0.005),
    ("wawa", LOWEST, "web", 18.319, 0.005),
    ("wawa", LOWEST, "labelme", 22.6, 0.005),
    // Ties shared, our default (no scratch program: our own figures). On web the lowest class happens to win
    // most ties: majority vote errs by 22.35 % with it and by 26.93 % with fractional credit.
    ("wawa", &[], "bluebird", 24.074, 0.005),
    ("wawa", &[], "rte", 7.875, 0.005),
    ("wawa", &[], "dog", 16.976, 0.005),
    ("wawa", &[], "dog52", 17.844, 0.005),
    ("wawa", &[], "trec", 35.648, 0.005),
    ("wawa", &[], "web", 20.128, 0.005),
    ("wawa", &[], "labelme", 22.7, 0.005),
    // Random starts: as many as the scratch program had, except on trec (5, it had 2; the expensive row of
    // this table). The scratch program's best start erred by 20.37: an optimum with a bound of -2073.54. This
    // one is at -2068.37, the authors' program (40 starts) errs by 13.89 as well.
    ("ebcc", EBCC_10, "bluebird", 13.889, 0.005),
    ("ebcc", EBCC_10, "rte", 6.875, 0.005),
    ("ebcc", EBCC_10, "dog", 15.985, 0.005),
    ("ebcc", EBCC_10, "dog52", 16.109, 0.005),
    ("ebcc", &[], "trec", 29.626, 0.005),
    // Two random starts, other draws than the scratch program's: one task apart.
    ("ebcc", &[("restarts", "2")], "web", 25.631, 0.05),
    ("ebcc", &[], "labelme", 21.4, 0.005),
    // With m-steps=25 and tol=1e-7 (8 s on trec) all printed digits are met; the defaults stop a little
    // earlier.
    ("glad", &[], "bluebird", 27.778, 0.005),
    ("glad", &[], "rte", 7.5, 0.005),
    ("glad", &[], "dog", 16.605, 0.005),
    ("glad", &[], "dog52", 17.224, 0.005),
    ("glad", &[], "trec", 42.154, 0.2),
    ("glad", &[], "web", 17.716, 0.1),
    ("glad", &[], "labelme", 22.4, 0.005),
    ("mace", &[], "bluebird", 13.889, 0.005),
    ("mace", &[], "rte", 7.375, 0.005),
    ("mace", &[], "dog", 16.976, 0.005),
    ("mace", &[], "dog52", 17.224, 0.005),
    // Ten starts instead of three reach a larger likelihood: 29.055.
    ("mace", &[], "trec", 29.187, 0.15),
    ("mace", &[], "web", 16.133, 0.005),
    ("mace", &[], "labelme", 22.1, 0.005),
    ("mace", &[("update", "em")], "bluebird", 11.111, 0.005),
    ("mace", &[("update", "em")], "rte", 7.125, 0.005),
    ("mace", &[("update", "em")], "dog", 16.729, 0.005),
    ("mace", &[("update", "em")], "dog52", 17.224, 0.005),
    ("mace", &[("update", "em")], "trec", 29.67, 0.05),
    ("mace", &[("update", "em")], "web", 16.811, 0.005),
    ("zero-based-skill", LOWEST, "bluebird", 24.074, 0.005),
    ("zero-based-skill", LOWEST, "rte", 7.875, 0.005),
    ("zero-based-skill", LOWEST, "dog", 16.976, 0.005),
    ("zero-based-skill", LOWEST, "dog52", 17.224, 0.005),
    ("zero-based-skill", LOWEST, "trec", 35.473, 0.005),
    ("zero-based-skill", LOWEST, "web", 17.377, 0.005),
    ("zero-based-skill", LOWEST, "labelme", 22.6, 0.005),
    ("iwmv", LOWEST, "bluebird", 27.778, 0.005),
    ("iwmv", LOWEST, "rte", 7.25, 0.005),
    ("iwmv", LOWEST, "dog", 16.976, 0.005),
    ("iwmv", LOWEST, "dog52", 17.72, 0.005),
    ("iwmv", LOWEST, "trec", 40.879, 0.005),
    ("iwmv", LOWEST, "web", 15.04, 0.005),
    ("iwmv", LOWEST, "labelme", 22.6, 0.005),
    (
        "iwmv",
        &[("weight", "log"), ("ties", "lowest")],
        "bluebird",
        27.778,
        0.005,
    ),
    (
        "iwmv",
        &[("weight", "log"), ("ties", "lowest")],
        "rte",
        7.75,
        0.005,
    ),
    (
        "iwmv",
        &[("weight", "log"), ("ties", "lowest")],
        "dog",
        17.224,
        0.005,
    ),
    (
        "iwmv",
        &[("weight", "log"), ("ties", "lowest")],
        "dog52",
        17.596,
        0.005,
    ),
    (
        "iwmv",
        &[("weight", "log"), ("ties", "lowest")],
        "trec",
        42.549,
        0.005,
    ),
    (
        "iwmv",
        &[("weight", "log"), ("ties", "lowest")],
        "web",
        15.266,
        0.005,
    ),
    // Ties shared, our default (no scratch program: our own figures).
    ("zero-based-skill", &[], "bluebird", 24.074, 0.005),
    ("zero-based-skill", &[], "rte", 7.875, 0.005),
    ("zero-based-skill", &[], "dog", 16.976, 0.005),
    ("zero-based-skill", &[], "dog52", 17.348, 0.005),
    ("zero-based-skill", &[], "trec", 35.473, 0.005),
    ("zero-based-skill", &[], "web", 17.98, 0.005),
    ("zero-based-skill", &[], "labelme", 22.8, 0.005),
    ("iwmv", &[], "bluebird", 27.778, 0.005),
    ("iwmv", &[], "rte", 7.125, 0.005),
    ("iwmv", &[], "dog", 16.976, 0.005),
    ("iwmv", &[], "dog52", 17.596, 0.005),
    ("iwmv", &[], "trec", 40.879, 0.005),
    ("iwmv", &[], "web", 15.567, 0.005),
    ("iwmv", &[], "labelme", 22.8, 0.005),
    // dog52 and labelme: our own figures.
    ("m-msr", &[], "bluebird", 28.704, 0.005),
    ("m-msr", &[], "rte", 10.25, 0.005),
    ("m-msr", &[], "dog", 17.72, 0.005),
    ("m-msr", &[], "dog52", 17.348, 0.005),
    ("m-msr", &[], "trec", 36.659, 0.005),
    ("m-msr", &[], "web", 32.152, 0.005),
    ("m-msr", &[], "labelme", 22.7, 0.005),
    // Exact ties go to the lowest class, in the scratch program to the highest: two tasks of 2275 apart on
    // trec.
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
    // Ties get their votes here: one task of 2275 apart on trec.
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
    // Equal residuals go to the column with more evidence, so that the order of workers does not matter: a
    // few tasks apart on dog and web.
    ("multi-spa", &[], "bluebird", 13.889, 0.005),
    ("multi-spa", &[], "rte", 8.375, 0.005),
    ("multi-spa", &[], "dog", 16.853, 0.13),
    ("multi-spa", &[("fill", "uniform")], "dog52", 17.720, 0.005),
    ("multi-spa", &[], "dog52", 17.472, 0.005),
    ("multi-spa", &[("fill", "uniform")], "trec", 32.132, 0.005),
    ("multi-spa", &[], "trec", 31.912, 0.005),
    ("multi-spa", &[], "web", 18.32, 0.25),
    ("multi-spa", &[], "labelme", 21.3, 0.005),
    ("cnmf", &[], "bluebird", 11.111, 0.005),
    ("cnmf", &[], "rte", 6.75, 0.005),
    ("cnmf", &[], "dog", 15.985, 0.005),
    ("cnmf", &[], "dog52", 16.109, 0.005),
    ("cnmf", &[], "trec", 29.890, 0.005),
    // The figures of cnmf and spectral-ds are those of workers in an order that neither names nor rows
    // decide. Before, workers went in the order of their names: cnmf in its mirror form then had bluebird
    // 11.111, rte 7.125, dog 14.746, web 23.634; spectral-ds bluebird 10.185, rte 7.25, dog 15.985, trec
    // 29.582, web 16.736. Better than the scratch program's 15.53: other columns win ties in the start.
    ("cnmf", &[], "web", 15.341, 0.005),
    ("cnmf", &[], "labelme", 20.7, 0.005),
    ("cnmf", CNMF_MIRROR, "bluebird", 10.185, 0.005),
    ("cnmf", CNMF_MIRROR, "rte", 7.000, 0.005),
    ("cnmf", CNMF_MIRROR, "dog", 14.498, 0.005),
    ("cnmf", CNMF_MIRROR, "dog52", 15.613, 0.005),
    // The scratch program had 22.77.
    ("cnmf", CNMF_MIRROR, "web", 22.804, 0.005),
    // Our figure, better than the scratch program's 20.6.
    ("cnmf", CNMF_MIRROR, "labelme", 19.7, 0.005),
    ("spectral-ds", &[("rounds", "0")], "bluebird", 11.11, 0.005),
    ("spectral-ds", &[("rounds", "0")], "rte", 8.0, 0.005),
    ("spectral-ds", &[("rounds", "0")], "web", 32.152, 0.005),
    ("spectral-ds", &[], "bluebird", 11.111, 0.005),
    ("spectral-ds", &[], "rte", 7.375, 0.005),
    ("spectral-ds", &[], "dog", 16.233, 0.005),
    // Three tasks apart: the scratch program dealt the 52 workers in order of their label counts.
    ("spectral-ds", &[], "dog52", 15.737, 0.38),
    ("spectral-ds", &[], "trec", 29.802, 0.005),
    ("spectral-ds", &[], "web", 17.867, 0.005),
    // Our figure; the scratch program, which places columns by their largest entry instead of by assignment,
    // had 35.6.
    ("spectral-ds", &[], "labelme", 20.1, 0.005),
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

const EBCC_10: &[(&str, &str)] = &[("restarts", "10")];

const LOWEST: &[(&str, &str)] = &[("ties", "lowest")];

/// The form behind the published figures.
const CNMF_MIRROR: &[(&str, &str)] = &[
    ("update", "mirror"),
    ("weights", "equal"),
    ("min-blocks", "8"),
    ("prior", "flat"),
];

fn measured_errors_are_met() {
    check_errors(MEASURED, find);
}

fn converged_objective_of_tensor_admm() {
    // All moments of bluebird: 12.6138 from every start (scratch program).
    let data_set = DataSet::load("bluebird");
    let method = find("tensor-admm").unwrap();
    let method = method.with_parameters(&[("tol".into(), "1e-8".into())]).unwrap();
    let fit = method.fit(&data_set.annotations, &mut Context::new(1)).unwrap();
    let (found, prior) = (fit.trace.last().unwrap(), fit.model.unwrap().prior()[0]);
    assert!(
        (found - 12.6138).abs() < 1e-3 && (prior - 0.597).abs() < 1e-3,
        "{found} {prior}"
    );
}
