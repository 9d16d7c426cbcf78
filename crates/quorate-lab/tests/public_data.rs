//! Experiments on people and on classifiers, with the public data sets.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use quorate_lab::{Report, Settings, Setup, Watch, find, run};
use quorate_testkit::{public_data, public_test, run_public_tests};

fn main() -> ExitCode {
    run_public_tests(vec![public_test!(
        people_and_classifiers_label_the_same_way_again,
        ["uci", "bluebird", "dog"]
    )])
}

struct Nobody;

impl Watch for Nobody {
    fn update(&self, _: &str, _: f64, _: f64) {}
}

fn report_on_data(names: &[&str], setup: Setup, threads: usize) -> Report {
    let experiments: Vec<_> = names.iter().map(|name| find(name).unwrap()).collect();
    let settings = Settings {
        quick: true,
        trials: Some(2),
        seed: 1,
        data: public_data::folder(),
        setup,
        threads,
        memory: 1 << 30,
        command: "quorate reproduce".into(),
    };
    let flag = Arc::new(AtomicBool::new(false));
    run(&experiments, &settings, &flag, &Nobody).unwrap()
}

fn people_and_classifiers_label_the_same_way_again() {
    let names = ["tab:uci_credit", "tab:AMT1"];
    let first = report_on_data(&names, Setup::Text, 1);
    let second = report_on_data(&names, Setup::Text, 2);
    let json = |report: &Report| serde_json::to_string(&report.without_times()).unwrap();
    assert_eq!(json(&first), json(&second));
    let program = report_on_data(&names[..1], Setup::Code, 2);
    let ours = |report: &Report, table: usize, column: usize| -> Vec<f64> {
        let rows = report.sections[0].tables[table].rows.iter();
        rows.map(|row| row.cells[column].ours.as_ref().unwrap().mean)
            .collect()
    };
    assert_ne!(ours(&first, 0, 0), ours(&program, 0, 0));
    // Every row of the paper's table is there, with numbers, and nobody is worse than chance.
    assert_eq!(ours(&first, 0, 0).len(), 19);
    for column in 0..3 {
        assert!(
            ours(&first, 0, column)
                .iter()
                .all(|error| (5.0..50.0).contains(error))
        );
    }
    assert!(
        ours(&first, 2, 0)
            .iter()
            .all(|right| (50.0..95.0).contains(right))
    );
    assert_eq!(
        ours(&first, 2, 1),
        [2.0; 10],
        "everybody answers with both classes"
    );
    // Ten diagonal blocks are missing, and are imputed.
    let before = ours(&first, 3, 0);
    assert!(
        before.iter().all(|share| (share - 10.0).abs() < 1e-9),
        "{before:?}"
    );
    assert_eq!(ours(&first, 3, 1), [0.0; 3]);
}
