//! Figures that methods keep: errors on the public data sets, bounds on simulated crowds.

use quorate::methods::{Fit, Method, find};
use quorate::model::posterior;
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulated, Simulation};
use quorate::{Annotations, Context};

use crate::DataSet;

/// Finds a method by its name.
pub type Find = fn(&str) -> quorate::Result<&'static Method>;

/// Method, parameters, data set, error in percent, tolerance in points.
pub type Measured = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
    f64,
    f64,
);

/// Fits a method with some parameters.
pub fn fit_with(method: &Method, parameters: &[(&str, &str)], annotations: &Annotations, seed: u64) -> Fit {
    let given = parameters
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()));
    let method = method.with_parameters(&given.collect::<Vec<_>>()).unwrap();
    method.fit(annotations, &mut Context::new(seed)).unwrap()
}

/// Fails if an error on a public data set is another one.
pub fn check_errors(measured: &[Measured], find: Find) {
    let mut loaded: Vec<(&str, DataSet)> = Vec::new();
    let mut misses = Vec::new();
    for &(name, parameters, data, expected, tolerance) in measured {
        if !loaded.iter().any(|(known, _)| *known == data) {
            loaded.push((data, DataSet::load(data)));
        }
        let data_set = &loaded.iter().find(|(known, _)| *known == data).unwrap().1;
        let fit = fit_with(find(name).unwrap(), parameters, &data_set.annotations, 1);
        let error = data_set.error(&fit);
        if (error - expected).abs() > tolerance {
            misses.push(format!(
                "{name} {parameters:?} on {data}: {error:.3}, expected {expected} +- {tolerance}"
            ));
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// Two classes: 40 workers, right in 55 to 95 of 100 answers, a fifth of them constant spammers.
pub fn binary_crowd() -> Simulation {
    Simulation {
        tasks: 600,
        workers: 40,
        classes: 2,
        prior: Prior::Given(vec![0.6, 0.4]),
        quality: Quality::Accuracy {
            lowest: 0.55,
            highest: 0.95,
            concentration: 1.0,
        },
        constant_spammers: Amount::Share(0.2),
        coverage: Coverage::PerTask(7),
        ..Simulation::default()
    }
}

/// Four classes with errors that prefer some classes.
pub fn four_class_crowd() -> Simulation {
    Simulation {
        classes: 4,
        prior: Prior::Given(vec![0.4, 0.3, 0.2, 0.1]),
        quality: Quality::Accuracy {
            lowest: 0.4,
            highest: 0.9,
            concentration: 0.5,
        },
        ..binary_crowd()
    }
}

/// Error in percent.
fn error(fit: &Fit, crowd: &Simulated) -> f64 {
    let labels = fit.consensus.labels();
    let wrong = labels
        .iter()
        .zip(&crowd.truth)
        .filter(|(label, truth)| label != truth)
        .count();
    100.0 * wrong as f64 / crowd.truth.len() as f64
}

fn mean_error(method: &Method, crowds: &[Simulated]) -> f64 {
    let errors = crowds
        .iter()
        .map(|crowd| error(&fit_with(method, &[], &crowd.annotations, 1), crowd));
    errors.sum::<f64>() / crowds.len() as f64
}

/// Method, and the largest mean error over three crowds of two and of four classes.
pub type AtMost = (&'static str, f64, f64);

/// Fails if a method errs more, or if one of `methods` has no bound. Those of `with_matrices`, which estimate
/// a whole confusion matrix, must beat the votes by a third.
pub fn check_bounds(bounds: &[AtMost], with_matrices: &[&str], methods: &[Method], named: Find) {
    let crowds = [binary_crowd(), four_class_crowd()]
        .map(|settings| [0, 1, 2].map(|seed| settings.run(seed).unwrap()));
    let votes = crowds
        .each_ref()
        .map(|crowds| mean_error(find("majority-vote").unwrap(), crowds));
    let mut misses = Vec::new();
    for &(name, binary, four) in bounds {
        for ((crowds, bound), votes) in crowds.iter().zip([binary, four]).zip(votes) {
            let found = mean_error(named(name).unwrap(), crowds);
            let far_below_votes = !with_matrices.contains(&name) || found < votes * 2.0 / 3.0;
            if found > bound || !far_below_votes {
                misses.push(format!("{name}: {found:.3}, at most {bound}, votes {votes:.3}"));
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
    for method in methods.iter().filter(|method| !method.needs_probabilities) {
        assert!(
            bounds.iter().any(|(name, ..)| *name == method.name),
            "{} has no bound",
            method.name
        );
    }
}

/// Fails if a method beats the true model by more than luck.
pub fn check_against_the_true_model(names: &[&str], find: Find) {
    for settings in [binary_crowd(), four_class_crowd()] {
        let crowd = settings.run(7).unwrap();
        let (consensus, _) = posterior(&crowd.annotations, &crowd.model);
        let best = error(&Fit::direct(consensus), &crowd);
        for name in names {
            let found = error(&fit_with(find(name).unwrap(), &[], &crowd.annotations, 1), &crowd);
            // Two standard errors of the difference, were the wrong tasks independent.
            let luck = 2.0 * (best * (100.0 - best) / crowd.truth.len() as f64).sqrt();
            assert!(found > best - luck, "{name}: {found}, the true model {best}");
        }
    }
}
