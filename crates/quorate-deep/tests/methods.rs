//! What the methods must do: learn, beat majority vote where features help, repeat themselves, refuse what
//! does not fit.

use quorate::internal::seeded;
use quorate::methods::{Aggregate, Fit, METHODS as LIBRARY, Method, vote_fractions};
use quorate::{Annotations, AnnotationsBuilder, Context, Error, TaskFeatures};
use quorate_deep::{CrowdLayer, DlMv, METHODS};
use rand::RngExt;
use rand::seq::SliceRandom;

/// A crowd on tasks of `classes` classes: features are the class's corner plus noise, workers are right with
/// 0.55.
struct Made {
    rows: Vec<(String, String, String)>,
    features: Vec<(String, Vec<f32>)>,
    truth: Vec<(String, String)>,
}

fn make(tasks: usize, classes: usize, labels: usize, seed: u64) -> Made {
    let mut rng = seeded(seed, 0);
    let mut made = Made {
        rows: Vec::new(),
        features: Vec::new(),
        truth: Vec::new(),
    };
    for task in 0..tasks {
        let (name, truth) = (format!("task {task}"), rng.random_range(0..classes));
        let mut row: Vec<f32> = (0..2 * classes).map(|_| rng.random_range(-0.5..0.5)).collect();
        row[truth] += 1.0;
        made.features.push((name.clone(), row));
        made.truth.push((name.clone(), format!("class {truth}")));
        for _ in 0..labels {
            let other = rng.random_range(0..classes);
            let label = if rng.random_bool(0.55) { truth } else { other };
            let worker = format!("worker {}", rng.random_range(0..15));
            made.rows.push((name.clone(), worker, format!("class {label}")));
        }
    }
    made
}

impl Made {
    fn annotations(&self) -> Annotations {
        let mut builder = AnnotationsBuilder::default();
        for (task, worker, label) in &self.rows {
            builder.push(task, worker, label).unwrap();
        }
        builder.build().unwrap()
    }

    fn context(&self, annotations: &Annotations, seed: u64) -> Context {
        let mut features = TaskFeatures::none(annotations, self.features[0].1.len());
        for (task, row) in &self.features {
            features
                .set(annotations.tasks().find(task).unwrap() as usize, row)
                .unwrap();
        }
        Context::new(seed).with_features(features)
    }

    fn fit(&self, method: &Method, annotations: &Annotations) -> Fit {
        let mut context = self.context(annotations, 1);
        method
            .with_parameters(&quick())
            .unwrap()
            .fit(annotations, &mut context)
            .unwrap()
    }

    fn errors(&self, annotations: &Annotations, labels: &[usize]) -> usize {
        let right = |(task, truth): &&(String, String)| {
            let label = labels[annotations.tasks().find(task).unwrap() as usize];
            annotations.classes().get(label) == truth
        };
        self.truth.len() - self.truth.iter().filter(right).count()
    }
}

/// A smaller network for quick tests.
fn quick() -> Vec<(String, String)> {
    [("hidden", "32"), ("epochs", "30"), ("learning-rate", "0.005")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn method(name: &str) -> &'static Method {
    METHODS.iter().find(|method| method.name == name).unwrap()
}

#[test]
fn crowd_layer_beats_majority_vote_where_features_tell() {
    let made = make(600, 3, 3, 1);
    let annotations = made.annotations();
    let votes = made.errors(&annotations, &vote_fractions(&annotations).labels());
    let found = made.errors(
        &annotations,
        &made.fit(method("crowd-layer"), &annotations).consensus.labels(),
    );
    assert!(
        votes > 100 && found * 4 < votes,
        "{found} errors, majority vote {votes}"
    );
}

#[test]
fn the_model_shows_who_is_wrong() {
    // Worker 0 is always right, worker 1 always says the next class.
    let made = make(300, 3, 1, 2);
    let mut builder = AnnotationsBuilder::default();
    for (task, truth) in &made.truth {
        let class: usize = truth[6..].parse().unwrap();
        for worker in ["good", "fine", "sure"] {
            builder.push(task, worker, truth).unwrap();
        }
        builder
            .push(task, "shifted", &format!("class {}", (class + 1) % 3))
            .unwrap();
    }
    let annotations = builder.build().unwrap();
    for method in METHODS {
        let model = made.fit(method, &annotations).model.unwrap();
        assert!(model.accuracy(0) > 0.6, "{}", method.name);
        let shifted = annotations.workers().find("shifted").unwrap() as usize;
        for truth in 0..3 {
            assert!(
                model.probability(shifted, (truth + 1) % 3, truth) > 0.6,
                "{}: {:?}",
                method.name,
                model.confusion(shifted)
            );
        }
    }
}

#[test]
fn dl_mv_learns_its_votes_by_heart() {
    let made = make(60, 2, 3, 3);
    let annotations = made.annotations();
    let given = [
        ("dropout", "0"),
        ("epochs", "400"),
        ("hidden", "64"),
        ("learning-rate", "0.01"),
    ];
    let fit = method("dl-mv")
        .with_parameters(&given.map(|(name, value)| (name.to_owned(), value.to_owned())))
        .unwrap()
        .fit(&annotations, &mut made.context(&annotations, 1))
        .unwrap();
    assert_eq!(fit.consensus.labels(), vote_fractions(&annotations).labels());
    assert!(fit.trace[0] > 10.0 * fit.trace.last().unwrap(), "{:?}", fit.trace);
}

#[test]
fn same_seed_same_bits_whatever_the_threads_and_rows() {
    let made = make(150, 3, 3, 4);
    let annotations = made.annotations();
    for method in METHODS {
        let run = |threads, seed| {
            let mut context = made.context(&annotations, seed).with_threads(threads).unwrap();
            let fit = method
                .with_parameters(&quick())
                .unwrap()
                .fit(&annotations, &mut context)
                .unwrap();
            (fit.consensus, fit.model, fit.trace)
        };
        assert_eq!(run(1, 5), run(3, 5), "{}", method.name);
        assert_ne!(run(1, 5), run(1, 6), "{}", method.name);
    }
}

/// Posterior of the named class of each task, in order of task name.
fn column(annotations: &Annotations, fit: &Fit, class: &str) -> Vec<(String, f64)> {
    let class = annotations.classes().find(class).unwrap() as usize;
    let mut column: Vec<_> = annotations
        .tasks()
        .iter()
        .enumerate()
        .map(|(task, name)| (name.to_owned(), fit.consensus.row(task)[class]))
        .collect();
    column.sort_by(|a, b| a.0.cmp(&b.0));
    column
}

#[test]
fn order_of_rows_and_names_of_workers_and_classes_do_not_matter() {
    let mut made = make(150, 3, 3, 5);
    // One row for each pair, as the order decides which of several counts.
    made.rows.sort();
    made.rows.dedup_by(|a, b| (&a.0, &a.1) == (&b.0, &b.1));
    for method in METHODS {
        let annotations = made.annotations();
        let first = column(&annotations, &made.fit(method, &annotations), "class 1");
        let mut shuffled = made.rows.clone();
        shuffled.shuffle(&mut seeded(9, 9));
        let renamed = Made {
            rows: shuffled
                .into_iter()
                .map(|(task, worker, label)| (task, worker.chars().rev().collect(), label))
                .collect(),
            features: made.features.clone(),
            truth: Vec::new(),
        };
        let again = renamed.annotations();
        assert_eq!(
            first,
            column(&again, &renamed.fit(method, &again), "class 1"),
            "{}",
            method.name
        );
        if method.name == "dl-mv" {
            continue; // its votes break ties to the lowest class
        }
        let classes = Made {
            rows: made
                .rows
                .iter()
                .map(|(task, worker, label)| (task.clone(), worker.clone(), label.replace("class 1", "a")))
                .collect(),
            features: made.features.clone(),
            truth: Vec::new(),
        };
        let again = classes.annotations();
        assert_eq!(
            first,
            column(&again, &classes.fit(method, &again), "a"),
            "{}",
            method.name
        );
    }
}

#[test]
fn missing_and_misaligned_features_are_errors() {
    let made = make(30, 2, 2, 6);
    let annotations = made.annotations();
    for method in METHODS {
        let fit = |mut context: Context| method.with_defaults().unwrap().fit(&annotations, &mut context);
        let error = fit(Context::new(0)).unwrap_err();
        assert_eq!(error.remedy(), Some(quorate::Remedy::GiveFeatures), "{error}");
        let mut partial = TaskFeatures::none(&annotations, 2);
        partial.set(0, &[0.0, 1.0]).unwrap();
        let message = fit(Context::new(0).with_features(partial))
            .unwrap_err()
            .to_string();
        assert!(message.contains("29 of 30 tasks have no features"), "{message}");
        let other = Annotations::from_codes(2, 1, 2, [(0, 0, 1)]).unwrap();
        let foreign = TaskFeatures::none(&other, 2);
        assert!(matches!(
            fit(Context::new(0).with_features(foreign)),
            Err(Error::Mismatch(_))
        ));
        let tight = made.context(&annotations, 0).with_memory_limit(100);
        assert!(matches!(fit(tight), Err(Error::TooLarge { .. })));
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let cancelled = made.context(&annotations, 0).with_cancellation(flag);
        assert_eq!(fit(cancelled).unwrap_err(), Error::Cancelled);
    }
}

#[test]
fn degenerate_tables_are_answered() {
    for (what, annotations) in [
        ("one label", Annotations::from_codes(1, 1, 2, [(0, 0, 1)])),
        (
            "one class",
            Annotations::from_codes(2, 1, 1, [(0, 0, 0), (1, 0, 0)]),
        ),
        (
            "a task and a worker without labels",
            Annotations::from_codes(3, 3, 2, [(0, 0, 1), (1, 1, 0)]),
        ),
        (
            "repeated",
            Annotations::from_codes(2, 1, 2, [(0, 0, 1), (0, 0, 1), (1, 0, 0)]),
        ),
    ] {
        let annotations = annotations.unwrap();
        for method in METHODS {
            // Huge and constant features must not end in numbers that are none.
            let mut features = TaskFeatures::none(&annotations, 2);
            for task in 0..annotations.task_count() {
                features.set(task, &[1e30 * task as f32, 5.0]).unwrap();
            }
            let mut given = quick();
            given.push(("scaling".into(), "standard".into()));
            let fit = method
                .with_parameters(&given)
                .unwrap()
                .fit(&annotations, &mut Context::new(0).with_features(features))
                .unwrap();
            let valid = fit.consensus.as_slice().iter().all(|p| (0.0..=1.0).contains(p));
            assert!(valid && fit.model.is_some(), "{}, {what}", method.name);
        }
    }
}

#[test]
fn names_are_not_those_of_the_library() {
    for method in METHODS {
        assert!(
            LIBRARY
                .iter()
                .all(|other| other.name != method.name && !other.aliases.contains(&method.name))
        );
        assert!(method.needs_features && method.summary.len() < 90 && method.description.len() > 80);
    }
}

#[test]
fn fields_out_of_range_are_errors() {
    let made = make(12, 2, 3, 4);
    let annotations = made.annotations();
    let fit = |method: &dyn Aggregate| method.fit(&annotations, &mut made.context(&annotations, 1));
    for (name, result) in [
        ("epochs", fit(&DlMv::default().epochs(0))),
        ("dropout", fit(&DlMv::default().dropout(1.0))),
        (
            "learning-rate",
            fit(&CrowdLayer::default().learning_rate(f64::NAN)),
        ),
        ("start", fit(&CrowdLayer::default().start(-0.1))),
    ] {
        assert!(
            matches!(&result, Err(Error::Parameter { name: found, .. }) if found == name),
            "{name}: {result:?}"
        );
    }
}
