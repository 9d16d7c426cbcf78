//! What every method must keep to, whatever it is. A crate with a table of methods runs the contract over it
//! in a test program with a `main` of its own (`harness = false`):
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     quorate_testkit::contract::run(METHODS)
//! }
//! ```

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use quorate::methods::{Fit, Kind, Method};
use quorate::model::Priors;
use quorate::{Annotations, Consensus, Context, Error, Remedy};
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::crowds::{by_name, context, crowd, fit, history_of, misled_crowd, table};
use crate::properties::{check_fit, overturned_tasks};

/// A part of the contract: its name, and the check of one method, which panics where it fails.
type Promise = (&'static str, fn(&Method));

/// The promises by the names of their checks.
macro_rules! promises {
    ($($check:ident),+ $(,)?) => { &[$((stringify!($check), $check)),+] };
}

/// The contract, in the order in which a new method meets it.
const PROMISES: &[Promise] = promises![
    parameters_are_documented_and_their_defaults_fit,
    defaults_are_the_same_as_text_and_as_fields,
    parameters_out_of_range_are_errors_as_text_and_as_fields,
    results_are_probabilities,
    a_good_crowd_is_not_flipped,
    fitting_twice_and_any_number_of_threads_give_the_same_bits,
    order_of_rows_does_not_matter,
    names_of_workers_do_not_matter,
    names_of_tasks_do_not_matter,
    names_of_classes_do_not_matter,
    degenerate_tables_are_answered_or_refused_in_words,
    one_label_per_task_is_called_a_guess,
    unanimous_tasks_are_never_overturned_without_a_word,
    gold_is_the_answer_and_turns_a_misled_crowd_round,
    earlier_work_of_the_workers_turns_a_misled_crowd_round,
    methods_that_need_a_classifier_say_so,
    cancelling_stops_iterative_methods,
];

/// Runs the contract over a table of methods: a test for each promise of each method. Takes the arguments of
/// `cargo test`: `cargo test --test contract dawid-skene`.
pub fn run(methods: &'static [Method]) -> ExitCode {
    let trials = PROMISES.iter().flat_map(|&(promise, check)| {
        methods.iter().map(move |method| {
            Trial::test(format!("{promise} {}", method.name), move || {
                check(method);
                Ok(())
            })
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Task, worker and label.
type Row = (String, String, String);

/// The crowds that the invariances are checked on: two and three classes.
fn crowds() -> [Vec<(String, String, String)>; 2] {
    [crowd(120, 9, 2, 0.6, 1), crowd(150, 12, 3, 0.5, 2)]
}

/// Largest difference of a posterior between two fits, tasks and classes matched by name.
fn difference(a: (&Annotations, &Fit), b: (&Annotations, &Fit), rename: impl Fn(&str) -> String) -> f64 {
    let other = by_name(b.0, b.1);
    let same = by_name(a.0, a.1).into_iter();
    same.map(|((task, class), p)| (p - other[&(task, rename(&class))]).abs())
        .fold(0.0, f64::max)
}

fn results_are_probabilities(method: &Method) {
    for rows in crowds() {
        let annotations = table(&rows);
        check_fit(method, &annotations, &fit(method, &annotations).unwrap(), "crowd");
    }
}

fn a_good_crowd_is_not_flipped(method: &Method) {
    for rows in crowds() {
        let annotations = table(&rows);
        let found = fit(method, &annotations).unwrap().consensus.labels();
        let votes = quorate::methods::vote_fractions(&annotations).labels();
        let same = found.iter().zip(&votes).filter(|(a, b)| a == b).count();
        assert!(
            same * 10 > found.len() * 8,
            "{}: agrees with {same} of {} votes",
            method.name,
            found.len()
        );
    }
}

fn fitting_twice_and_any_number_of_threads_give_the_same_bits(method: &Method) {
    for rows in crowds() {
        let annotations = table(&rows);
        let with_threads = |threads| {
            let mut context = context(method, &annotations, 5).with_threads(threads).unwrap();
            let fit = method
                .with_defaults()
                .unwrap()
                .fit(&annotations, &mut context)
                .unwrap();
            (fit.consensus, fit.model, fit.trace)
        };
        let one = with_threads(1);
        assert_eq!(one, with_threads(1), "{}", method.name);
        assert_eq!(one, with_threads(3), "{}", method.name);
    }
}

/// How far posteriors may differ when the same labels come in another order or under other names: not at all
/// where that is promised.
fn allowed(method: &Method) -> f64 {
    if method.canonical_order { 0.0 } else { 1e-9 }
}

/// Fits both tables and fails if a posterior differs by more than is allowed.
fn compare(method: &Method, rows: &[Row], others: &[Row], rename: impl Fn(&str) -> String, what: &str) {
    compare_within(allowed(method), method, rows, others, rename, what);
}

/// [`compare`] with another difference that is allowed.
fn compare_within(
    allowed: f64,
    method: &Method,
    rows: &[Row],
    others: &[Row],
    rename: impl Fn(&str) -> String,
    what: &str,
) {
    let (a, b) = (table(rows), table(others));
    let (x, y) = (fit(method, &a).unwrap(), fit(method, &b).unwrap());
    let gap = difference((&a, &x), (&b, &y), rename);
    assert!(
        gap <= allowed,
        "{}: other {what}, posteriors differ by {gap}",
        method.name
    );
}

fn order_of_rows_does_not_matter(method: &Method) {
    for rows in crowds() {
        let mut shuffled = rows.clone();
        shuffled.shuffle(&mut quorate::internal::seeded(9, 9));
        compare(method, &rows, &shuffled, str::to_owned, "order of rows");
    }
}

fn names_of_workers_do_not_matter(method: &Method) {
    for rows in crowds() {
        let renamed: Vec<_> = rows
            .iter()
            .map(|(t, w, x)| (t.clone(), w.chars().rev().collect(), x.clone()))
            .collect();
        compare(method, &rows, &renamed, str::to_owned, "names of workers");
    }
}

fn names_of_tasks_do_not_matter(method: &Method) {
    let back = |name: &str| name.chars().rev().collect::<String>();
    if method.needs_probabilities {
        return;
    }
    for rows in crowds() {
        let renamed: Vec<_> = rows
            .iter()
            .map(|(t, w, x)| (back(t), w.clone(), x.clone()))
            .collect();
        let (a, b) = (table(&rows), table(&renamed));
        let (x, y) = (
            by_name(&a, &fit(method, &a).unwrap()),
            by_name(&b, &fit(method, &b).unwrap()),
        );
        for ((task, class), p) in x {
            let gap = (p - y[&(back(&task), class)]).abs();
            assert!(
                gap <= allowed(method),
                "{}: posteriors differ by {gap}",
                method.name
            );
        }
    }
}

fn names_of_classes_do_not_matter(method: &Method) {
    // Reverses the order of the classes. Two classes: for every method; more: where their order has no
    // meaning.
    let rename = |class: &str| match class {
        "class 0" => "z".to_owned(),
        "class 1" => "y".to_owned(),
        _ => "x".to_owned(),
    };
    for (rows, classes) in crowds().into_iter().zip(2..) {
        let renamed: Vec<_> = rows
            .iter()
            .map(|(t, w, x)| (t.clone(), w.clone(), rename(x)))
            .collect();
        // Classes with an order keep it, so that the same bits are not promised for the reverse one.
        let allowed = if method.uses_class_order {
            1e-9
        } else {
            allowed(method)
        };
        if classes == 2 || !method.uses_class_order {
            compare_within(allowed, method, &rows, &renamed, rename, "names of classes");
        }
    }
}

/// Tables at the edge of what makes sense.
fn degenerate() -> Vec<(&'static str, Annotations)> {
    let codes = |tasks, workers, classes, labels: &[(u32, u32, u16)]| {
        Annotations::from_codes(tasks, workers, classes, labels.iter().copied()).unwrap()
    };
    let everybody = |tasks: u32, workers: u32, label: fn(u32, u32) -> u16| -> Vec<_> {
        (0..tasks)
            .flat_map(|n| (0..workers).map(move |m| (n, m, label(n, m))))
            .collect()
    };
    vec![
        ("one label", codes(1, 1, 2, &[(0, 0, 1)])),
        (
            "one worker",
            codes(4, 1, 2, &[(0, 0, 1), (1, 0, 0), (2, 0, 0), (3, 0, 1)]),
        ),
        (
            "two workers",
            codes(6, 2, 2, &everybody(6, 2, |n, m| ((n + m) % 2) as u16)),
        ),
        ("one class", codes(5, 3, 1, &everybody(5, 3, |_, _| 0))),
        (
            "a class that nobody used",
            codes(6, 3, 2, &everybody(6, 3, |_, _| 1)),
        ),
        (
            "no overlap",
            codes(4, 4, 2, &[(0, 0, 1), (1, 1, 0), (2, 2, 1), (3, 3, 0)]),
        ),
        ("two crowds apart", {
            let labels = everybody(12, 6, |n, m| ((n / 2 + u32::from(m == 5)) % 2) as u16);
            codes(
                12,
                6,
                2,
                &labels
                    .into_iter()
                    .filter(|&(n, m, _)| (n < 6) == (m < 3))
                    .collect::<Vec<_>>(),
            )
        }),
        (
            "a task and a worker without labels",
            codes(4, 3, 2, &[(0, 0, 1), (0, 1, 1), (1, 0, 0), (2, 1, 0)]),
        ),
        (
            "everybody always disagrees",
            codes(5, 2, 2, &everybody(5, 2, |_, m| m as u16)),
        ),
        ("a worker with a single label", {
            let mut labels = everybody(8, 3, |n, _| (n % 2) as u16);
            labels.push((0, 3, 1));
            codes(8, 4, 2, &labels)
        }),
        (
            "the same answer repeated",
            codes(2, 2, 2, &[(0, 0, 1), (0, 0, 1), (0, 1, 0), (1, 1, 0)]),
        ),
    ]
}

fn degenerate_tables_are_answered_or_refused_in_words(method: &Method) {
    for (what, annotations) in degenerate() {
        match fit(method, &annotations) {
            Ok(fit) => check_fit(method, &annotations, &fit, what),
            Err(Error::NotApplicable { method: name, reason }) => {
                assert_eq!(name, method.name);
                assert!(reason.len() > 20, "{name}, {what}: {reason}");
            }
            Err(error) => panic!("{}, {what}: {error}", method.name),
        }
    }
}

/// Values of a parameter just outside its range; none for words and text.
fn values_outside(kind: Kind) -> Vec<String> {
    match kind {
        Kind::Integer(low, high) => {
            let below = low.checked_sub(1).map(|value| value.to_string());
            below.into_iter().chain([(high + 1).to_string()]).collect()
        }
        Kind::Number(low, high) => [low.next_down(), high.next_up(), f64::INFINITY, f64::NAN]
            .map(|value| value.to_string())
            .to_vec(),
        Kind::Choice(_) | Kind::Text => Vec::new(),
    }
}

fn parameters_out_of_range_are_errors_as_text_and_as_fields(method: &Method) {
    let annotations = table(&crowd(20, 5, 2, 0.8, 3));
    for parameter in method.parameters {
        for value in values_outside(parameter.kind) {
            let given = [(parameter.name.to_owned(), value.clone())];
            let typed = method.unchecked(&given);
            let found = [
                method.with_parameters(&given).map(|_| ()),
                typed
                    .fit(&annotations, &mut context(method, &annotations, 1))
                    .map(|_| ()),
            ];
            for result in found {
                assert!(
                    matches!(&result, Err(Error::Parameter { name, .. }) if name == parameter.name),
                    "{}: {}={value}: {result:?}",
                    method.name,
                    parameter.name
                );
            }
        }
    }
}

fn defaults_are_the_same_as_text_and_as_fields(method: &Method) {
    let built = method.with_defaults().unwrap();
    assert_eq!(built.method().name, method.name);
    assert_eq!(built.validate(), Ok(()));
    for (parameter, value) in method.parameters.iter().zip(built.values()) {
        let same = match parameter.kind {
            Kind::Number(..) => parameter.default.parse::<f64>().unwrap() == value.parse::<f64>().unwrap(),
            _ => parameter.default == value,
        };
        assert!(same, "{}: {} is {value}", method.name, parameter.name);
    }
}

fn methods_that_need_a_classifier_say_so(method: &Method) {
    let annotations = table(&crowd(30, 5, 2, 0.8, 3));
    if !method.needs_probabilities {
        return;
    }
    let result = method
        .with_defaults()
        .unwrap()
        .fit(&annotations, &mut Context::new(1));
    let error = result.unwrap_err();
    assert_eq!(
        error.remedy(),
        Some(Remedy::GiveClassProbabilities),
        "{}: {error}",
        method.name
    );
}

fn cancelling_stops_iterative_methods(method: &Method) {
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let annotations = table(&crowd(60, 8, 2, 0.5, 4));
    let mut context = context(method, &annotations, 1).with_cancellation(flag.clone());
    match method.with_defaults().unwrap().fit(&annotations, &mut context) {
        Err(Error::Cancelled) => {}
        Ok(fit) => assert_eq!(
            fit.iterations, 0,
            "{} iterates and cannot be cancelled",
            method.name
        ),
        Err(error) => panic!("{}: {error}", method.name),
    }
}

fn parameters_are_documented_and_their_defaults_fit(method: &Method) {
    for parameter in method.parameters {
        assert!(!parameter.about.is_empty(), "{} {}", method.name, parameter.name);
        let given = [(parameter.name.to_owned(), parameter.default.to_owned())];
        assert!(
            method.with_parameters(&given).is_ok(),
            "{} {}",
            method.name,
            parameter.name
        );
    }
    assert!(
        method.summary.len() < 90 && method.description.len() > 80,
        "{}",
        method.name
    );
    assert!(!method.citation.is_empty(), "{}", method.name);
    assert!(
        method.with_parameters(&[("no such".into(), "1".into())]).is_err(),
        "{}",
        method.name
    );
}

/// Share of wrong labels among the tasks from number `known` on.
fn error_beyond(known: usize, consensus: &Consensus, truth: &[usize]) -> f64 {
    let wrong = (known..truth.len()).filter(|&task| consensus.label(task) != truth[task]);
    wrong.count() as f64 / (truth.len() - known) as f64
}

fn gold_is_the_answer_and_turns_a_misled_crowd_round(method: &Method) {
    let (annotations, truth) = misled_crowd(300, 3);
    let known = 60;
    let gold = truth[..known].iter().enumerate();
    let with_gold = annotations
        .clone()
        .with_gold(gold.map(|(task, &class)| (task as u32, class as u16)))
        .unwrap();
    let fit = method
        .with_defaults()
        .unwrap()
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
        let said = fit.warnings.iter().any(|warning| warning.contains("gold"));
        assert!(said, "{}", method.name)
    }
}

fn earlier_work_of_the_workers_turns_a_misled_crowd_round(method: &Method) {
    let (earlier, earlier_truth) = misled_crowd(400, 5);
    let (now, truth) = misled_crowd(150, 6);
    let priors = Priors {
        classes: None,
        workers: Some(history_of(&earlier, &earlier_truth)),
    };
    let mut context = context(method, &now, 1).with_priors(priors);
    let fit = method.with_defaults().unwrap().fit(&now, &mut context).unwrap();
    let error = error_beyond(0, &fit.consensus, &truth);
    if method.uses_priors {
        assert!(error < 0.1, "{}: error {error}", method.name)
    } else {
        let said = fit.warnings.iter().any(|warning| warning.contains("priors"));
        assert!(said, "{}", method.name)
    }
}

/// A confidence that nothing supports is called a guess, once.
fn one_label_per_task_is_called_a_guess(method: &Method) {
    if method.needs_probabilities {
        return;
    }
    let rows = (0..12u32).map(|task| (task, task % 4, (task % 3 == 0) as u16));
    let alone = Annotations::from_codes(12, 4, 2, rows.clone()).unwrap();
    let compared = Annotations::from_codes(12, 4, 2, rows.chain([(0, 1, 1)])).unwrap();
    for (table, times) in [(alone, 1), (compared, 0)] {
        if let Ok(fit) = fit(method, &table) {
            let said = |text: &&String| text.ends_with("the confidence is a guess");
            let found = fit.warnings.iter().filter(said).count();
            assert_eq!(found, times, "{}: {:?}", method.name, fit.warnings);
        }
    }
}

/// Small random tables, one to three labels per task: whatever a method does, it says so.
fn unanimous_tasks_are_never_overturned_without_a_word(method: &Method) {
    for seed in 0..4u64 {
        let mut rng = quorate::internal::seeded(seed, 0);
        let most = 1 + seed as u32 % 3;
        let mut labels = Vec::new();
        for task in 0..30u32 {
            for worker in 0..rng.random_range(1..=most) {
                labels.push((task, (task + 3 * worker) % 10, rng.random_range(0..3u16)));
            }
        }
        let table = Annotations::from_codes(30, 10, 3, labels).unwrap();
        let Ok(fit) = fit(method, &table) else {
            continue;
        };
        let overturned = overturned_tasks(&table, &fit);
        let said = fit.warnings.iter().any(|text| text.contains("all labels agree"));
        assert_eq!(overturned > 0, said, "{}: {overturned} overturned", method.name);
        assert!(most > 1 || overturned == 0, "{}: one label per task", method.name);
    }
}
