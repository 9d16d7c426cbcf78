//! The public data sets, where they are at hand: `QUORATE_DATA`, or the folder beside the workspace.

use std::path::PathBuf;

use quorate_io::{LabelOptions, ReadOptions, Source, read_annotations, read_labels};

fn data() -> Option<PathBuf> {
    let folder = match std::env::var_os("QUORATE_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    if !folder.is_dir() {
        eprintln!("skipped: no data sets here; set QUORATE_DATA to their folder");
        return None;
    }
    Some(folder)
}

#[test]
fn sizes_are_those_of_the_sources() {
    let Some(data) = data() else { return };
    // Tasks, workers, classes, labels, truths: the table in SOURCES.md.
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
