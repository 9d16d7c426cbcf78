//! What the methods reach on simulated crowds: the properties that `public_data` and `public_trust` show on
//! real ones.

use quorate::methods::{METHODS, find};
use quorate::model::posterior;
use quorate_testkit::figures::{
    AtMost, binary_crowd, check_against_the_true_model, check_bounds, fit_with, four_class_crowd,
};

/// Method and the largest mean error over three crowds of either kind, in percent: our own figures and half a
/// point. On two classes `one-coin` gives in to the constant spammers, as it does on bluebird and trec.
const AT_MOST: &[AtMost] = &[
    ("auto", 8.0, 7.25),
    ("task-effects", 8.8, 8.9),
    ("rob-symnmf-em", 7.8, 6.1),
    ("rob-symnmf", 8.9, 9.5),
    ("rob-symnmf-uniform", 9.35, 10.4),
    ("des-symnmf-em", 7.8, 6.15),
    ("des-symnmf", 9.6, 8.9),
    ("symnmf-em", 7.8, 6.15),
    ("symnmf", 9.8, 8.75),
    ("majority-vote", 15.2, 16.15),
    ("dawid-skene", 7.65, 6.2),
    ("pooled-ds", 8.3, 6.3),
    ("one-coin", 42.6, 10.75),
    ("fast-ds", 8.15, 7.35),
];

/// Methods that estimate a whole confusion matrix: they must beat the votes by a third.
const WITH_MATRICES: [&str; 6] = [
    "auto",
    "rob-symnmf-em",
    "rob-symnmf",
    "des-symnmf-em",
    "dawid-skene",
    "pooled-ds",
];

#[test]
fn errors_stay_within_their_bounds() {
    check_bounds(AT_MOST, &WITH_MATRICES, METHODS, find);
}

#[test]
fn no_method_beats_the_true_model_by_more_than_luck() {
    check_against_the_true_model(&WITH_MATRICES, find);
}

#[test]
fn em_ends_above_the_likelihood_of_the_true_model() {
    for settings in [binary_crowd(), four_class_crowd()] {
        let crowd = settings.run(3).unwrap();
        let tight = fit_with(
            find("dawid-skene").unwrap(),
            &[("tol", "1e-7")],
            &crowd.annotations,
            1,
        );
        let (_, of_truth) = posterior(&crowd.annotations, &crowd.model);
        let (_, of_fit) = posterior(&crowd.annotations, &tight.model.unwrap());
        let found = *tight.trace.last().unwrap();
        assert!(
            tight.converged && found > of_truth,
            "{found}, the true model {of_truth}"
        );
        assert!((found - of_fit).abs() < 1e-4, "{found}, by the model {of_fit}");
    }
}
