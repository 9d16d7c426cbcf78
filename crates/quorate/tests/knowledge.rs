//! What is known besides the labels: true labels of some tasks, shares of the classes, earlier work of the
//! workers.

use quorate::Context;
use quorate::methods::{Aggregate, DawidSkeneEm};
use quorate::model::{ClassPrior, Consensus, Priors, count_answers};
use quorate_baselines::{Ibcc, find};
use quorate_testkit::crowds::{crowd, history_of, misled_crowd, table};

/// What gold and earlier work turn round is part of the contract of every method (`quorate_testkit::contract`).
#[test]
fn without_gold_a_misled_crowd_misleads() {
    let (annotations, truth) = misled_crowd(300, 3);
    let fit = DawidSkeneEm::default()
        .fit(&annotations, &mut Context::new(1))
        .unwrap();
    let labels = fit.consensus.labels();
    let wrong = labels
        .iter()
        .zip(&truth)
        .filter(|(label, truth)| label != truth)
        .count();
    assert!(wrong * 10 > truth.len() * 8, "{wrong} of {}", truth.len());
}

#[test]
fn gold_enters_the_matrices() {
    let (annotations, truth) = misled_crowd(200, 4);
    let all = truth
        .iter()
        .enumerate()
        .map(|(task, &class)| (task as u32, class as u16));
    let with_gold = annotations.with_gold(all).unwrap();
    let fit = DawidSkeneEm::default()
        .fit(&with_gold, &mut Context::new(0))
        .unwrap();
    // All truths known: the matrices are plain frequencies.
    let counted = count_answers(&with_gold, &Consensus::one_hot(2, truth)).to_model(0.0);
    assert_eq!(fit.model.unwrap().confusions(), counted.confusions());
}

#[test]
fn history_and_new_labels_weigh_as_one_table_once_the_truth_is_known() {
    let (earlier, earlier_truth) = misled_crowd(40, 7);
    let (now, truth) = misled_crowd(60, 8);
    let all = truth
        .iter()
        .enumerate()
        .map(|(task, &class)| (task as u32, class as u16));
    let now = now.with_gold(all).unwrap();
    let history = history_of(&earlier, &earlier_truth);
    let mut together = history_of(&now, &truth);
    together.merge(&history);
    let priors = Priors {
        classes: None,
        workers: Some(history),
    };
    let fit = DawidSkeneEm::default()
        .fit(&now, &mut Context::new(0).with_priors(priors))
        .unwrap();
    let expected = together.to_model(0.0);
    for (found, wanted) in fit.model.unwrap().confusions().iter().zip(expected.confusions()) {
        assert!((found - wanted).abs() < 1e-12);
    }
}

#[test]
fn a_class_prior_is_held_or_weighed() {
    let annotations = table(&crowd(120, 9, 2, 0.6, 1));
    let prior_of = |name: &str, prior: ClassPrior| {
        let priors = Priors {
            classes: Some(prior),
            workers: None,
        };
        let method = find(name).unwrap().with_defaults().unwrap();
        let mut context = Context::new(1).with_priors(priors);
        let fit = method.fit(&annotations, &mut context).unwrap();
        fit.model.unwrap().prior()[0]
    };
    for name in [
        "dawid-skene",
        "rob-symnmf",
        "rob-symnmf-em",
        "pooled-ds",
        "one-coin",
        "ibcc",
        "auto",
    ] {
        let fixed = prior_of(name, ClassPrior::fixed(vec![0.9, 0.1]).unwrap());
        assert!((fixed - 0.9).abs() < 1e-12, "{name}: {fixed}");
        let light = prior_of(name, ClassPrior::worth_tasks(vec![0.9, 0.1], 1.0).unwrap());
        let heavy = prior_of(name, ClassPrior::worth_tasks(vec![0.9, 0.1], 1000.0).unwrap());
        assert!(
            light < 0.7 && heavy > 0.8 && heavy < 0.9,
            "{name}: {light} {heavy}"
        );
    }
}

#[test]
fn objectives_rise_with_priors_too() {
    let (earlier, earlier_truth) = misled_crowd(100, 9);
    let (now, _) = misled_crowd(100, 10);
    let priors = Priors {
        classes: Some(ClassPrior::worth_tasks(vec![0.7, 0.3], 20.0).unwrap()),
        workers: Some(history_of(&earlier, &earlier_truth)),
    };
    let methods: [Box<dyn Aggregate>; 2] = [
        Box::new(DawidSkeneEm::default()),
        Box::new(Ibcc {
            tol: 1e-9,
            ..Ibcc::default()
        }),
    ];
    for method in methods {
        let mut context = Context::new(0).with_priors(priors.clone());
        let fit = method.fit(&now, &mut context).unwrap();
        for pair in fit.trace.windows(2) {
            assert!(pair[1] >= pair[0] - 1e-9 * pair[0].abs(), "{:?}", fit.trace);
        }
    }
}

#[test]
fn priors_that_do_not_fit_the_table_are_errors() {
    let (annotations, _) = misled_crowd(20, 11);
    let priors = Priors {
        classes: Some(ClassPrior::fixed(vec![0.2, 0.3, 0.5]).unwrap()),
        workers: None,
    };
    for name in ["dawid-skene", "ibcc", "rob-symnmf", "auto"] {
        let method = find(name).unwrap().with_defaults().unwrap();
        let mut context = Context::new(0).with_priors(priors.clone());
        assert!(method.fit(&annotations, &mut context).is_err(), "{name}");
    }
}
