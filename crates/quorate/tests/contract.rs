//! What every method of the table must keep to, whatever it is.

use quorate::methods::{Fit, Kind, METHODS, Method, Values};
use quorate::{Annotations, AnnotationsBuilder, Context, Error, Remedy};
use quorate_testkit::crowds::{by_name, context, crowd, fit, table};
use quorate_testkit::properties::check_fit;
use rand::seq::SliceRandom;

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

#[test]
fn results_are_probabilities() {
    for method in METHODS {
        for rows in crowds() {
            let annotations = table(&rows);
            check_fit(method, &annotations, &fit(method, &annotations).unwrap(), "crowd");
        }
    }
}

#[test]
fn a_good_crowd_is_not_flipped() {
    for method in METHODS {
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
}

#[test]
fn fitting_twice_and_any_number_of_threads_give_the_same_bits() {
    for method in METHODS {
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

#[test]
fn order_of_rows_does_not_matter() {
    for method in METHODS {
        for rows in crowds() {
            let mut shuffled = rows.clone();
            shuffled.shuffle(&mut quorate::internal::seeded(9, 9));
            compare(method, &rows, &shuffled, str::to_owned, "order of rows");
        }
    }
}

#[test]
fn names_of_workers_do_not_matter() {
    for method in METHODS {
        for rows in crowds() {
            let renamed: Vec<_> = rows
                .iter()
                .map(|(t, w, x)| (t.clone(), w.chars().rev().collect(), x.clone()))
                .collect();
            compare(method, &rows, &renamed, str::to_owned, "names of workers");
        }
    }
}

#[test]
fn names_of_tasks_do_not_matter() {
    let back = |name: &str| name.chars().rev().collect::<String>();
    for method in METHODS.iter().filter(|method| !method.needs_probabilities) {
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
}

#[test]
fn names_of_classes_do_not_matter() {
    // Reverses the order of the classes. Two classes: for every method; more: where their order has no
    // meaning.
    let rename = |class: &str| match class {
        "class 0" => "z".to_owned(),
        "class 1" => "y".to_owned(),
        _ => "x".to_owned(),
    };
    for method in METHODS {
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

#[test]
fn degenerate_tables_are_answered_or_refused_in_words() {
    for method in METHODS {
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

#[test]
fn parameters_out_of_range_are_errors_as_text_and_as_fields() {
    let annotations = table(&crowd(20, 5, 2, 0.8, 3));
    for method in METHODS {
        for parameter in method.parameters {
            for value in values_outside(parameter.kind) {
                let given = [(parameter.name.to_owned(), value.clone())];
                let typed = (method.build)(&Values::unchecked(method.parameters, &given));
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
}

#[test]
fn defaults_are_the_same_as_text_and_as_fields() {
    for method in METHODS {
        let built = method.with_defaults().unwrap();
        assert_eq!(built.method().name, method.name);
        assert_eq!(built.validate(), Ok(()));
        for (parameter, value) in method.parameters.iter().zip(built.values()) {
            let same = match parameter.kind {
                Kind::Number(..) => {
                    parameter.default.parse::<f64>().unwrap() == value.parse::<f64>().unwrap()
                }
                _ => parameter.default == value,
            };
            assert!(same, "{}: {} is {value}", method.name, parameter.name);
        }
    }
}

#[test]
fn methods_that_need_a_classifier_say_so() {
    let annotations = table(&crowd(30, 5, 2, 0.8, 3));
    for method in METHODS.iter().filter(|method| method.needs_probabilities) {
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
}

#[test]
fn cancelling_stops_iterative_methods() {
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let annotations = table(&crowd(60, 8, 2, 0.5, 4));
    for method in METHODS {
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
}

#[test]
fn parameters_are_documented_and_their_defaults_fit() {
    for method in METHODS {
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
}

#[test]
fn a_table_without_labels_cannot_be_built() {
    assert!(matches!(
        AnnotationsBuilder::default().build(),
        Err(Error::NoLabels(_))
    ));
}
