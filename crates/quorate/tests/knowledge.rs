//! What is known besides the labels: true labels of some tasks, shares of the classes, earlier work of the
//! workers.

use quorate::internal::seeded;
use quorate::methods::{Aggregate, DawidSkeneEm, Ibcc, METHODS, find};
use quorate::model::{AnswerCounts, ClassPrior, Consensus, Priors, count_answers};
use quorate::{Annotations, Context};
use quorate_testkit::crowds::{context, crowd, table};
use rand::RngExt;

/// Labels of a crowd of two classes in which 5 of 8 workers nearly always say the opposite, and the truth.
fn misled_crowd(tasks: usize, seed: u64) -> (Annotations, Vec<usize>) {
    let mut rng = seeded(seed, 0);
    let (mut labels, mut truth) = (Vec::new(), Vec::new());
    for task in 0..tasks as u32 {
        let class = u16::from(rng.random_bool(0.45));
        truth.push(usize::from(class));
        for worker in 0..8 {
            let right = rng.random_bool(if worker < 5 { 0.15 } else { 0.9 });
            if rng.random_bool(0.8) {
                labels.push((task, worker, if right { class } else { 1 - class }));
            }
        }
    }
    (Annotations::from_codes(tasks, 8, 2, labels).unwrap(), truth)
}

fn error_beyond(known: usize, consensus: &Consensus, truth: &[usize]) -> f64 {
    let wrong = (known..truth.len()).filter(|&task| consensus.label(task) != truth[task]);
    wrong.count() as f64 / (truth.len() - known) as f64
}

#[test]
fn gold_is_the_answer_and_those_who_learn_from_it_turn_a_misled_crowd_round() {
    let (annotations, truth) = misled_crowd(300, 3);
    let known = 60;
    let gold = truth[..known].iter().enumerate();
    let with_gold = annotations
        .clone()
        .with_gold(gold.map(|(task, &class)| (task as u32, class as u16)))
        .unwrap();
    for method in METHODS {
        let aggregate = method.with_defaults().unwrap();
        let fit = aggregate
            .fit(&with_gold, &mut context(method, &annotations, 1))
            .unwrap();
        for (task, &class) in truth[..known].iter().enumerate() {
            assert_eq!(
                fit.consensus.row(task)[class],
                1.0,
                "{}: task {task}",
                method.name
            );
        }
        let error = error_beyond(known, &fit.consensus, &truth);
        if method.learns_from_gold {
            assert!(error < 0.1, "{}: error {error}", method.name)
        } else {
            assert!(
                fit.warnings.iter().any(|warning| warning.contains("gold")),
                "{}",
                method.name
            )
        }
    }
    // Without gold the crowd misleads everybody.
    let misled = DawidSkeneEm::default()
        .fit(&annotations, &mut Context::new(1))
        .unwrap();
    assert!(error_beyond(known, &misled.consensus, &truth) > 0.8);
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

fn history_of(annotations: &Annotations, truth: &[usize]) -> AnswerCounts {
    count_answers(annotations, &Consensus::one_hot(2, truth.iter().copied()))
}

#[test]
fn earlier_work_of_the_workers_decides_where_the_new_labels_mislead() {
    let (earlier, earlier_truth) = misled_crowd(400, 5);
    let (now, truth) = misled_crowd(150, 6);
    let priors = Priors {
        classes: None,
        workers: Some(history_of(&earlier, &earlier_truth)),
    };
    for method in METHODS {
        let aggregate = method.with_defaults().unwrap();
        let mut context = context(method, &now, 1).with_priors(priors.clone());
        let fit = aggregate.fit(&now, &mut context).unwrap();
        let error = error_beyond(0, &fit.consensus, &truth);
        if method.uses_priors {
            assert!(error < 0.1, "{}: error {error}", method.name)
        } else {
            assert!(
                fit.warnings.iter().any(|warning| warning.contains("priors")),
                "{}",
                method.name
            )
        }
    }
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
