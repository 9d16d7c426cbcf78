//! The public data sets are read as what their sources say they are.

use std::process::ExitCode;

use quorate_io::{LabelOptions, ReadOptions, Source, read_annotations, read_labels};
use quorate_testkit::{public_data, public_test, run_public_tests};

fn main() -> ExitCode {
    run_public_tests(vec![public_test!(
        sizes_are_those_of_the_sources,
        ["bluebird", "dog", "rte", "trec", "web", "labelme"]
    )])
}

fn sizes_are_those_of_the_sources() {
    let data = public_data::folder();
    // Tasks, workers, classes, labels, truths: the table in docs/data.md.
    for (name, sizes, truths) in [
        ("bluebird", (108, 39, 2, 4212), 108),
        ("dog", (807, 109, 4, 8070), 807),
        ("rte", (800, 164, 2, 8000), 800),
        ("trec", (19033, 762, 2, 88385), 2275),
        ("web", (2665, 177, 5, 15567), 2653),
        ("labelme", (1000, 59, 8, 2547), 1000),
    ] {
        let folder = data.join(name);
        let labels = Source::from(folder.join("labels.csv"));
        let table = read_annotations(&labels, &ReadOptions::default())
            .unwrap()
            .annotations;
        let summary = table.summary();
        let found = (summary.tasks, summary.workers, summary.classes, summary.labels);
        assert_eq!(found, sizes, "{name}");
        assert_eq!(
            (table.rows().repeated, table.rows().abstentions),
            (0, 0),
            "{name}"
        );
        let truth = read_labels(&Source::from(folder.join("truth.csv")), &LabelOptions::default()).unwrap();
        assert_eq!(truth.tasks.len(), truths, "{name}");
        assert!(
            truth.tasks.iter().all(|task| table.tasks().find(task).is_some()),
            "{name}"
        );
    }
}
