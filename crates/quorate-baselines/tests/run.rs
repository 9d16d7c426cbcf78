//! The run of every face with a method that returns no model.

use std::sync::Arc;

use quorate::Context;
use quorate::internal::run::{Outcome, Run};
use quorate::simulate::Simulation;
use quorate_baselines::find;

#[test]
fn a_method_without_a_model_keeps_its_confidence_and_says_so() {
    let settings = Simulation {
        tasks: 50,
        classes: 2,
        ..Simulation::default()
    };
    let table = Arc::new(settings.run(1).unwrap().annotations);
    let method = find("kos").unwrap().with_defaults().unwrap();
    let fit = |calibrate| -> Outcome {
        let run = Run {
            method: &*method,
            calibrate,
            intervals: Some(0.9),
        };
        run.over(&mut Arc::clone(&table), &mut Context::new(0)).unwrap()
    };
    let (plain, asked) = (fit(false), fit(true));
    assert_eq!(plain.fit.consensus, asked.fit.consensus);
    assert!(asked.fit.warnings[0].contains("a method that estimates a model"));
    assert!(plain.fit.warnings.is_empty() && asked.intervals.is_none());
}
