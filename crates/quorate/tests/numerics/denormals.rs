//! Numbers so small that arithmetic loses digits (below 2.2e-308), and products of so many chances that they
//! would underflow: the answers are those of zero, or of the least number with all its digits.

use quorate::methods::{Fit, Kind, Method};
use quorate::model::{AnswerCounts, ClassPrior, Priors};
use quorate::plan::Plan;
use quorate::{Annotations, Context, Error, TaskProbabilities};
use quorate_baselines::all_methods;
use quorate_testkit::crowds::{context, crowd, table};
use quorate_testkit::properties::check_fit;

use crate::fit;

/// The least number above zero, and one with a few more digits.
const DENORMAL: [f64; 2] = [5e-324, 1e-310];

/// Largest difference of a posterior.
fn gap(one: &Fit, two: &Fit) -> f64 {
    let cells = one.consensus.as_slice().iter().zip(two.consensus.as_slice());
    cells.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn small_crowd() -> Annotations {
    table(&crowd(30, 6, 3, 0.6, 4))
}

/// Every number of every method whose range holds denormal ones.
#[test]
fn denormal_parameters_are_as_good_as_zero_or_the_least_normal_number() {
    let table = small_crowd();
    let mut tried = 0;
    for method in all_methods() {
        for parameter in method.parameters {
            let Kind::Number(low, high) = parameter.kind else {
                continue;
            };
            let with = |value: f64| fit(method, &[(parameter.name.to_owned(), value.to_string())], &table);
            for value in DENORMAL.into_iter().filter(|value| (low..=high).contains(value)) {
                tried += 1;
                let what = format!("{}={value:e}", parameter.name);
                let fitted = with(value).unwrap();
                check_fit(method, &table, &fitted, &what);
                let nearest = [0.0, f64::MIN_POSITIVE]
                    .into_iter()
                    .filter(|near| (low..=high).contains(near))
                    .map(|near| gap(&fitted, &with(near).unwrap()))
                    .fold(f64::INFINITY, f64::min);
                assert!(nearest < 1e-6, "{}, {what}: {nearest}", method.name);
            }
        }
    }
    assert!(tried > 40, "{tried} denormal parameters");
}

/// Fits with expectations about classes and workers.
fn fit_with(method: &Method, table: &Annotations, priors: Priors) -> Fit {
    let mut context: Context = context(method, table, 1).with_priors(priors);
    method.with_defaults().unwrap().fit(table, &mut context).unwrap()
}

/// Expectations that hold one number in all their places, or an error.
type PriorOf<'a> = &'a dyn Fn(f64) -> Result<Priors, Error>;

#[test]
fn denormal_shares_and_histories_are_as_good_as_none() {
    let table = small_crowd();
    let history = |count: f64| {
        let mut counts = AnswerCounts::zero(table.worker_count(), table.class_count());
        for worker in 0..table.worker_count() {
            (0..9).for_each(|cell| counts.add(worker, cell / 3, cell % 3, count));
        }
        Ok(Priors {
            workers: Some(counts),
            ..Priors::default()
        })
    };
    let of_classes = |classes| Priors {
        classes: Some(classes),
        ..Priors::default()
    };
    let share = |share: f64| ClassPrior::fixed(vec![share, 0.5, 0.5]).map(of_classes);
    let weight = |tasks: f64| ClassPrior::worth_tasks(vec![0.5, 0.25, 0.25], tasks).map(of_classes);
    let kinds: [(&str, PriorOf<'_>); 3] = [("history", &history), ("share", &share), ("weight", &weight)];
    for method in all_methods().filter(|method| method.uses_priors) {
        for (value, (what, prior)) in DENORMAL.iter().flat_map(|value| kinds.map(|kind| (*value, kind))) {
            let what = format!("{what} {value:e}");
            let fitted = fit_with(method, &table, prior(value).unwrap());
            check_fit(method, &table, &fitted, &what);
            // A share of nothing is refused.
            let nearest = [0.0, f64::MIN_POSITIVE]
                .into_iter()
                .filter_map(|near| prior(near).ok())
                .map(|near| gap(&fitted, &fit_with(method, &table, near)))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-6, "{}, {what}: {nearest}", method.name);
        }
    }
}

#[test]
fn denormal_predictions_of_a_classifier_are_as_good_as_zero() {
    let table = small_crowd();
    for method in all_methods().filter(|method| method.needs_probabilities) {
        let with = |value: f64| {
            let mut predicted = TaskProbabilities::none(&table);
            for task in 0..table.task_count() {
                let mut row = [value, value, value];
                row[task % 3] = 1.0 - 2.0 * value;
                predicted.set(task, &row).unwrap();
            }
            let mut context = Context::new(1).with_class_probabilities(predicted);
            method.with_defaults().unwrap().fit(&table, &mut context).unwrap()
        };
        for value in DENORMAL {
            let fitted = with(value);
            check_fit(method, &table, &fitted, &format!("probabilities {value:e}"));
            assert!(gap(&fitted, &with(0.0)) < 1e-6, "{} {value:e}", method.name);
        }
    }
}

/// Costs next to nothing: the budget buys the labels that it would buy in another currency.
#[test]
fn denormal_costs_buy_the_same_labels() {
    let table = small_crowd();
    let fitted = quorate::aggregate(&table).unwrap();
    let plan = |cost: f64| {
        let plan = Plan {
            costs: (0..table.worker_count())
                .map(|worker| (1 + worker % 3) as f64 * cost)
                .collect(),
            capacity: Some(5),
            ..Plan::new(20.0 * cost)
        };
        plan.run(&table, &fitted, &mut Context::new(1))
    };
    let usual = plan(1.0).unwrap();
    let pairs = |planned: &quorate::plan::Planned| -> Vec<(usize, usize)> {
        planned
            .assignments
            .iter()
            .map(|next| (next.task, next.worker))
            .collect()
    };
    for cost in [f64::MIN_POSITIVE, 1e-310] {
        let planned = plan(cost).unwrap();
        assert_eq!(pairs(&planned), pairs(&usual), "{cost:e}");
        assert!(planned.spent.is_finite() && planned.assignments.iter().all(|next| next.gain.is_finite()));
    }
}

/// Two thousand labels on one task, two thirds of them for class 1: the product of their chances is far below
/// the least number (not that of the two hundred for methods about pairs).
#[test]
fn thousands_of_labels_on_a_task_do_not_underflow() {
    for method in all_methods() {
        let workers = if is_about_pairs(method) { 200 } else { 2000 };
        let mut labels = Vec::new();
        for worker in 0..workers as u32 {
            labels.push((0, worker, u16::from(worker % 3 != 0)));
            labels.push((1 + worker % 7, worker, (worker % 7 % 2) as u16));
            labels.push((8 + worker % 5, worker, (worker % 5 % 2) as u16));
        }
        let table = Annotations::from_codes(13, workers, 2, labels).unwrap();
        let fitted = fit(method, &[], &table).unwrap();
        check_fit(method, &table, &fitted, "thousands of labels on a task");
        assert_eq!(
            fitted.consensus.label(0),
            1,
            "{}: {:?}",
            method.name,
            fitted.consensus.row(0)
        );
    }
}

/// Methods whose time or memory grows with the pairs or triples of workers on a task.
fn is_about_pairs(method: &Method) -> bool {
    ["des-symnmf", "des-symnmf-em", "tensor-admm"].contains(&method.name)
}
