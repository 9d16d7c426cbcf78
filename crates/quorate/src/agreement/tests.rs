//! Published examples, naive twins, invariances.

use proptest::prelude::*;

use super::*;
use crate::annotations::AnnotationsBuilder;

/// Rows are tasks, columns workers, 0 is "no label".
fn table(rows: &[&[u8]]) -> Annotations {
    let mut builder = AnnotationsBuilder::default();
    for (task, row) in rows.iter().enumerate() {
        for (worker, &label) in row.iter().enumerate().filter(|(_, label)| **label > 0) {
            builder
                .push(&format!("t{task}"), &format!("w{worker}"), &label.to_string())
                .unwrap();
        }
    }
    builder.build().unwrap()
}

/// A table of counts: rows are tasks, columns classes; who labelled is of no matter.
fn counted(rows: &[&[u32]]) -> Annotations {
    let labels = rows.iter().enumerate().flat_map(|(task, row)| {
        let classes = row.iter().enumerate();
        let all = classes.flat_map(|(k, &count)| std::iter::repeat_n(k as u16, count as usize));
        all.enumerate()
            .map(move |(worker, k)| (task as u32, worker as u32, k))
    });
    let most = rows.iter().map(|row| row.iter().sum::<u32>()).max().unwrap();
    Annotations::from_codes(rows.len(), most as usize, rows[0].len(), labels).unwrap()
}

fn measure(annotations: &Annotations) -> AgreementReport {
    let settings = AgreementSettings {
        replicates: 0,
        ..AgreementSettings::default()
    };
    settings.measure(annotations, &Context::new(0)).unwrap()
}

fn close(found: Coefficient, wanted: f64, tolerance: f64) {
    let value = found.value.unwrap();
    assert!((value - wanted).abs() <= tolerance, "{value} instead of {wanted}");
}

/// K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), example C: 4 observers, 12 units, 5
/// values.
fn krippendorff_example() -> Annotations {
    table(&[
        &[1, 1, 0, 1],
        &[2, 2, 3, 2],
        &[3, 3, 3, 3],
        &[3, 3, 3, 3],
        &[2, 2, 2, 2],
        &[1, 2, 3, 4],
        &[4, 4, 4, 4],
        &[1, 1, 2, 1],
        &[2, 2, 2, 2],
        &[0, 5, 5, 5],
        &[0, 0, 1, 1],
        &[0, 0, 3, 0],
    ])
}

#[test]
fn krippendorff_2011_four_observers() {
    // Printed there with three decimals: nominal 0.743, ordinal 0.815, interval 0.849.
    let report = measure(&krippendorff_example());
    close(report.alpha_nominal, 0.743, 5e-4);
    close(report.alpha_ordinal, 0.815, 5e-4);
    close(report.alpha_interval, 0.849, 5e-4);
    assert_eq!(report.pairable_tasks, 11);
}

#[test]
fn gwet_four_raters() {
    // The same ratings in the documentation of Gwet's irrCAC (data set cac.raw4raters; Handbook of
    // Inter-Rater Reliability, 4th edition, 2014), five decimals: observed 0.81818, Fleiss 0.76117, AC1
    // 0.77544, alpha 0.74342.
    let report = measure(&krippendorff_example());
    close(report.observed, 0.81818, 5e-6);
    close(report.fleiss, 0.76117, 5e-6);
    close(report.ac1, 0.77544, 5e-6);
    close(report.alpha_nominal, 0.74342, 5e-6);
}

#[test]
fn fleiss_ten_subjects_fourteen_raters() {
    // The well-known worked example of Fleiss' kappa (5 categories): mean agreement 0.378, by chance 0.213,
    // kappa 0.210, three decimals each.
    let report = measure(&counted(&[
        &[0, 0, 0, 0, 14],
        &[0, 2, 6, 4, 2],
        &[0, 0, 3, 5, 6],
        &[0, 3, 9, 2, 0],
        &[2, 2, 8, 1, 1],
        &[7, 7, 0, 0, 0],
        &[3, 2, 6, 3, 0],
        &[2, 5, 3, 2, 2],
        &[6, 5, 2, 1, 0],
        &[0, 2, 2, 3, 7],
    ]));
    close(report.observed, 0.378, 5e-4);
    close(report.fleiss, 0.210, 5e-4);
    let by_chance: f64 = report.classes.iter().map(|class| class.share * class.share).sum();
    assert!((by_chance - 0.213).abs() <= 5e-4);
    // Fleiss (1971): overall kappa is the mean of the classes' kappas weighted by p(k) (1 - p(k)).
    let weight = |class: &ClassAgreement| class.share * (1.0 - class.share);
    let total: f64 = report.classes.iter().map(weight).sum();
    let mean: f64 = report
        .classes
        .iter()
        .map(|class| weight(class) * class.kappa.value.unwrap())
        .sum();
    close(report.fleiss, mean / total, 1e-12);
}

#[test]
fn cohen_two_examples() {
    // The two-by-two table 20, 5, 10, 15: p_o = 0.7, p_e = 0.5, kappa 0.4.
    assert!((cohen_kappa(&[20, 5, 10, 15], 2).unwrap() - 0.4).abs() < 1e-12);
    // Two abstractors of pregnancies, documentation of irrCAC (cont3x3abstractors), seven decimals.
    let abstractors = [13, 0, 0, 0, 20, 7, 0, 4, 56];
    assert!((cohen_kappa(&abstractors, 3).unwrap() - 0.796_409_4).abs() < 5e-8);
}

#[test]
fn what_is_undefined_says_why() {
    let same = measure(&table(&[&[1, 1], &[1, 1]]));
    assert_eq!(same.observed.value, Ok(1.0));
    for coefficient in [
        same.fleiss,
        same.alpha_nominal,
        same.alpha_ordinal,
        same.alpha_interval,
    ] {
        assert_eq!(coefficient.value, Err(Undefined::NoVariation));
    }
    assert_eq!(same.ac1.value, Err(Undefined::OneClass));
    assert_eq!(same.classes[0].specific.value, Ok(1.0));
    assert_eq!(same.pairwise.mean_kappa, Err(Undefined::TooFewShared));

    let single = measure(&table(&[&[1, 0], &[0, 2]]));
    for coefficient in [single.observed, single.fleiss, single.alpha_nominal, single.ac1] {
        assert_eq!(coefficient.value, Err(Undefined::NoPairs));
    }
    // Two classes, one of them never used on a pairable task: AC1 is 1, kappa has no chance to beat.
    let unused = measure(&counted(&[&[2, 0], &[2, 0]]));
    assert_eq!(
        (unused.ac1.value, unused.fleiss.value),
        (Ok(1.0), Err(Undefined::NoVariation))
    );

    let words = Annotations::from_named_codes(
        crate::annotations::Names::numbered("t", 2),
        crate::annotations::Names::numbered("w", 2),
        crate::annotations::Names::numbered("class", 2),
        [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)],
    );
    let words = measure(&words.unwrap());
    assert_eq!(words.alpha_interval.value, Err(Undefined::NotNumbers));
    close(words.alpha_nominal, 1.0, 0.0);
    assert_eq!(cohen_kappa(&[5, 0, 0, 0], 2), Err(Undefined::NoVariation));
    assert_eq!(cohen_kappa(&[0, 5, 0, 0], 2), Ok(0.0));
    assert_eq!(cohen_kappa(&[0; 4], 2), Err(Undefined::TooFewShared));
}

#[test]
fn intervals_repeat_for_any_threads_and_hold_the_value() {
    let crowd = crate::simulate::Simulation {
        tasks: 300,
        workers: 12,
        ..crate::simulate::Simulation::default()
    }
    .run(4)
    .unwrap()
    .annotations;
    let run = |threads| {
        let context = Context::new(9).with_threads(threads).unwrap();
        AgreementSettings::default().measure(&crowd, &context).unwrap()
    };
    let report = run(1);
    assert_eq!(report, run(3));
    for coefficient in [report.observed, report.fleiss, report.alpha_nominal, report.ac1] {
        let (low, high) = coefficient.interval.unwrap();
        assert!(low < coefficient.value.unwrap() && coefficient.value.unwrap() < high);
    }
    let pair = &report.pairwise.listed[0];
    let (low, high) = pair.interval.unwrap();
    assert!(low < pair.kappa.unwrap() && pair.kappa.unwrap() < high);
    assert!(report.pairwise.listed.is_sorted_by(|a, b| a.shared >= b.shared));
}

/// Small random tables with holes.
fn labels() -> impl Strategy<Value = Vec<(u32, u32, u16)>> {
    proptest::collection::btree_map((0u32..10, 0u32..6), 0u16..4, 1..50)
        .prop_map(|map| map.into_iter().map(|((n, m), x)| (n, m, x)).collect())
}

/// Alpha by its definition, label by label: the mean of d over pairs of values within tasks (each task's
/// pairs with weight 1/(r - 1)) against the mean over all pairs of pairable values.
fn naive_alpha(annotations: &Annotations, distance: impl Fn(usize, usize) -> f64) -> Option<f64> {
    let tasks: Vec<Vec<usize>> = (0..annotations.task_count())
        .map(|task| annotations.labels_of_task(task).map(|(_, x)| x).collect())
        .filter(|labels: &Vec<usize>| labels.len() > 1)
        .collect();
    let all: Vec<usize> = tasks.iter().flatten().copied().collect();
    let spread = |labels: &[usize]| -> f64 {
        let pairs = labels.iter().flat_map(|&c| labels.iter().map(move |&k| (c, k)));
        pairs.map(|(c, k)| distance(c, k)).sum()
    };
    let within: f64 = tasks
        .iter()
        .map(|labels| spread(labels) / (labels.len() - 1) as f64)
        .sum();
    let n = all.len() as f64;
    let between = spread(&all) / (n - 1.0);
    (between > 0.0).then(|| 1.0 - within / between)
}

fn same(found: std::result::Result<f64, Undefined>, wanted: Option<f64>) -> bool {
    match (found, wanted) {
        (Ok(found), Some(wanted)) => (found - wanted).abs() < 1e-9,
        (Err(_), None) => true,
        _ => false,
    }
}

proptest! {
    #[test]
    fn equal_the_definitions(labels in labels()) {
        let annotations = Annotations::from_codes(10, 6, 4, labels).unwrap();
        let report = measure(&annotations);
        let differ = |c: usize, k: usize| f64::from(u8::from(c != k));
        prop_assert!(same(report.alpha_nominal.value, naive_alpha(&annotations, differ)));
        let square = |c: usize, k: usize| (c as f64 - k as f64).powi(2);
        prop_assert!(same(report.alpha_interval.value, naive_alpha(&annotations, square)));
        // Ordinal: labels between two classes, the two classes by half.
        let mut pairable = [0.0; 4];
        for task in 0..10 {
            let labels = annotations.labels_of_task(task);
            if labels.len() > 1 {
                labels.for_each(|(_, x)| pairable[x] += 1.0);
            }
        }
        let between = |c: usize, k: usize| {
            let (low, high) = (c.min(k), c.max(k));
            let sum: f64 = pairable[low..=high].iter().sum();
            (sum - (pairable[c] + pairable[k]) / 2.0).powi(2)
        };
        prop_assert!(same(report.alpha_ordinal.value, naive_alpha(&annotations, between)));

        // Observed agreement, label by label.
        let mut shares = Vec::new();
        for task in 0..10 {
            let labels: Vec<_> = annotations.labels_of_task(task).map(|(_, x)| x).collect();
            let pairs = labels.len() * labels.len().saturating_sub(1);
            if pairs > 0 {
                let equal: usize = labels.iter().map(|c| labels.iter().filter(|k| *k == c).count() - 1).sum();
                shares.push(equal as f64 / pairs as f64);
            }
        }
        let observed = (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
        prop_assert!(same(report.observed.value, observed));
    }

    #[test]
    fn nothing_depends_on_the_order_of_rows_or_nominal_ones_on_that_of_classes(
        labels in labels(),
        seed in 0u64..100,
    ) {
        let run = |labels: &mut dyn Iterator<Item = (u32, u32, u16)>| {
            let annotations = Annotations::from_codes(10, 6, 4, labels).unwrap();
            let settings = AgreementSettings { replicates: 20, min_shared: 1, ..AgreementSettings::default() };
            settings.measure(&annotations, &Context::new(seed)).unwrap()
        };
        let report = run(&mut labels.iter().copied());
        // Tasks in another order: the same bits.
        let reversed = run(&mut labels.iter().map(|&(n, m, x)| (9 - n, m, x)));
        prop_assert_eq!(&report, &reversed);
        let renamed = run(&mut labels.iter().map(|&(n, m, x)| (n, m, 3 - x)));
        for (a, b) in [
            (report.observed, renamed.observed),
            (report.fleiss, renamed.fleiss),
            (report.alpha_nominal, renamed.alpha_nominal),
            (report.ac1, renamed.ac1),
            (report.classes[0].kappa, renamed.classes[3].kappa),
        ] {
            prop_assert!(same(a.value, b.value.ok()));
        }
    }

    #[test]
    fn cohen_of_two_workers_matches_evaluate(pairs in proptest::collection::vec((0usize..3, 0usize..3), 1..30)) {
        let mut cells = [0u32; 9];
        for &(a, b) in &pairs {
            cells[3 * a + b] += 1;
        }
        let first: Vec<_> = pairs.iter().map(|pair| Some(pair.0)).collect();
        let second: Vec<_> = pairs.iter().map(|pair| Some(pair.1)).collect();
        let other = crate::evaluate::agreement(&first, &second).unwrap();
        prop_assert!(same(cohen_kappa(&cells, 3), other.kappa));
    }
}
