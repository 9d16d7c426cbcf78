//! The library itself: parameters as text, the builder of tables, and every method on small tables.

use quorate::annotations::Duplicates;
use quorate::methods::Method;
use quorate::{Annotations, AnnotationsBuilder, Error};
use quorate_baselines::all_methods;
use quorate_testkit::crowds::context;
use quorate_testkit::properties::check_fit;

use crate::Target;

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "parameters",
        run: parameters,
        seeds: || {
            let first = |method: &Method, index: usize| {
                let parameters = method
                    .parameters
                    .iter()
                    .map(|parameter| format!("{}={}\n", parameter.name, parameter.default));
                [&[index as u8][..], parameters.collect::<String>().as_bytes()].concat()
            };
            all_methods()
                .enumerate()
                .map(|(index, method)| first(method, index))
                .collect()
        },
    },
    Target {
        name: "builder",
        run: build,
        seeds: || {
            let rows = b"t1\0ann\0cat\0t1\0bob\0dog\0t1\0bob\0\0t2\0ann\x001.0\0t2\0bob\x001";
            (0..4)
                .map(|duplicates| [&[duplicates][..], rows].concat())
                .collect()
        },
    },
    Target {
        name: "methods",
        run: fit,
        seeds: || {
            (0..all_methods().count() as u8)
                .map(|method| {
                    [
                        vec![method, method % 5, 4, 3],
                        (0..30u8)
                            .map(|byte| byte.wrapping_mul(37).wrapping_add(method))
                            .collect(),
                    ]
                    .concat()
                })
                .collect()
        },
    },
];

/// The method of a number.
fn method(number: u8) -> &'static Method {
    let mut methods = all_methods().cycle();
    methods.nth(usize::from(number)).expect("there are methods")
}

/// The first byte chooses the method, the rest is text: `name=value` on each line.
fn parameters(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let method = method(*first);
    let text = String::from_utf8_lossy(rest);
    let pairs = text
        .lines()
        .map(|line| line.split_once('=').unwrap_or((line, "")));
    let given: Vec<_> = pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    match method.with_parameters(&given) {
        Ok(method) => assert_eq!(method.validate(), Ok(()), "accepted as text, refused as fields"),
        Err(Error::Parameter { problem, .. }) => assert!(!problem.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The first byte says what happens to repeated rows; then ids and labels, each ended by a NUL byte.
fn build(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let duplicates = [
        Duplicates::Last,
        Duplicates::First,
        Duplicates::Keep,
        Duplicates::Error,
    ];
    let mut builder = AnnotationsBuilder::new(duplicates[usize::from(*first) % 4]);
    let text = String::from_utf8_lossy(rest);
    let mut names = text.split('\0');
    let mut rows = 0u64;
    while let (Some(task), Some(worker), Some(label)) = (names.next(), names.next(), names.next()) {
        rows += u64::from(builder.push(task, worker, label).is_ok());
    }
    if let Ok(annotations) = builder.build() {
        assert_eq!(annotations.rows().rows, rows);
        let by_task: usize = (0..annotations.task_count())
            .map(|task| annotations.labels_of_task(task).count())
            .sum();
        assert_eq!(by_task, annotations.label_count());
        assert_eq!(
            annotations.labels_per_worker().iter().sum::<u32>() as usize,
            annotations.label_count()
        );
    }
}

/// Method, number of classes, tasks and workers, then the labels: one byte each, row by row; what is above
/// the classes is no label.
fn fit(bytes: &[u8]) {
    let Some((&[method, classes, tasks, workers], labels)) = bytes.split_first_chunk::<4>() else {
        return;
    };
    let method = self::method(method);
    let (classes, tasks, workers) = (
        u16::from(classes % 7) + 1,
        u32::from(tasks % 12) + 1,
        u32::from(workers % 8) + 1,
    );
    let cells = (0..tasks).flat_map(|task| (0..workers).map(move |worker| (task, worker)));
    let given = cells.zip(labels).filter_map(|((task, worker), &byte)| {
        let label = u16::from(byte) % (classes + 2);
        (label < classes).then_some((task, worker, label))
    });
    let Ok(annotations) =
        Annotations::from_codes(tasks as usize, workers as usize, usize::from(classes), given)
    else {
        return;
    };
    let fitted = method
        .with_defaults()
        .and_then(|ready| ready.fit(&annotations, &mut context(method, &annotations, 1)));
    match fitted {
        Ok(fit) => check_fit(method, &annotations, &fit, "fuzzed table"),
        Err(Error::NotApplicable { .. } | Error::NoLabels(_)) => {}
        Err(error) => panic!("{}: {error}", method.name),
    }
}
