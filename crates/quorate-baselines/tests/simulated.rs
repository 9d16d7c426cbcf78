//! What the baselines reach on simulated crowds.

use quorate_baselines::{METHODS, find};
use quorate_testkit::figures::{AtMost, binary_crowd, check_against_the_true_model, check_bounds, fit_with};

/// Method and the largest mean error over three crowds of either kind, in percent: our own figures and half a
/// point.
const AT_MOST: &[AtMost] = &[
    ("ibcc", 7.9, 6.65),
    ("ebcc", 8.2, 6.35),
    ("glad", 11.3, 10.75),
    ("mace", 8.5, 9.5),
    ("wawa", 15.15, 13.25),
    ("zero-based-skill", 15.15, 12.45),
    ("iwmv", 10.3, 10.7),
    ("m-msr", 13.5, 13.75),
    ("kos", 15.2, 33.0),
    ("kos-svd", 10.25, 23.8),
    ("ghosh-svd", 15.3, 33.0),
    ("eigen-ratio", 15.7, 33.15),
    ("multi-spa", 12.1, 14.0),
    ("cnmf", 9.2, 7.35),
    ("spectral-ds", 8.9, 7.65),
    ("minimax-entropy", 9.1, 7.25),
    ("tensor-admm", 8.95, 10.7),
    ("pg-tac", 15.2, 16.15),
    ("cria-v", 10.9, 12.95),
];

#[test]
fn errors_stay_within_their_bounds() {
    check_bounds(AT_MOST, &["ibcc", "ebcc"], METHODS, find);
}

#[test]
fn no_method_beats_the_true_model_by_more_than_luck() {
    check_against_the_true_model(&["ibcc", "ebcc"], find);
}

#[test]
fn tensor_admm_ends_at_one_objective_from_every_start() {
    let crowd = binary_crowd().run(3).unwrap();
    let ends: Vec<f64> = (1..4)
        .map(|seed| {
            *fit_with(
                find("tensor-admm").unwrap(),
                &[("tol", "1e-8")],
                &crowd.annotations,
                seed,
            )
            .trace
            .last()
            .unwrap()
        })
        .collect();
    assert!(ends.iter().all(|end| (end - ends[0]).abs() < 1e-3), "{ends:?}");
}
