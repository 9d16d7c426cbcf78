//! Consensus and workers as files.

use std::fs;

use quorate::annotations::Names;
use quorate::model::Consensus;
use quorate::review::WorkerAccuracy;
use quorate_io::{LabelOptions, Source, Target, WorkerRow, read_labels, write_consensus, write_workers};

fn names(names: &[&str]) -> Names {
    names.iter().copied().collect()
}

#[test]
fn consensus_text_is_plain() {
    let folder = tempfile::tempdir().unwrap();
    let (tasks, classes) = (names(&["t1", "t,2"]), names(&["cat", "dog"]));
    let consensus = Consensus::new(2, vec![2.0 / 3.0, 1.0 / 3.0, 0.0, 1.0]);
    let write = |name: &str, probabilities| {
        let path = folder.path().join(name);
        write_consensus(
            &path.as_path().into(),
            &tasks,
            &classes,
            &consensus,
            probabilities,
        )
        .unwrap();
        fs::read_to_string(path).unwrap()
    };
    assert_eq!(
        write("a.csv", false),
        "task,label,confidence\nt1,cat,0.666667\n\"t,2\",dog,1\n"
    );
    assert_eq!(
        write("b.tsv", true),
        "task\tlabel\tconfidence\tp:cat\tp:dog\nt1\tcat\t0.666667\t0.666667\t0.333333\nt,2\tdog\t1\t0\t1\n"
    );
    assert_eq!(
        write("c.jsonl", false),
        "{\"task\":\"t1\",\"label\":\"cat\",\"confidence\":0.666667}\n\
         {\"task\":\"t,2\",\"label\":\"dog\",\"confidence\":1}\n"
    );
    let few = names(&["t1"]);
    assert!(write_consensus(&Target::Stdout, &few, &classes, &consensus, false).is_err());
}

#[test]
fn consensus_reads_back_as_predictions() {
    let folder = tempfile::tempdir().unwrap();
    let (tasks, classes) = (names(&["t1", "t2"]), names(&["cat", "dog"]));
    let consensus = Consensus::new(2, vec![2.0 / 3.0, 1.0 / 3.0, 0.25, 0.75]);
    for (name, tolerance) in crate::round_trip::FORMATS {
        let path = folder.path().join(format!("x.{name}"));
        write_consensus(&path.as_path().into(), &tasks, &classes, &consensus, true).unwrap();
        let found = read_labels(&Source::from(path), &LabelOptions::default()).unwrap();
        assert_eq!(found.labels, [0, 1], "{name}");
        assert_eq!(found.classes, classes, "{name}");
        let probabilities = found.probabilities.unwrap();
        for (found, written) in probabilities.iter().zip(consensus.as_slice()) {
            assert!((found - written).abs() <= *tolerance, "{name}: {found} {written}");
        }
    }
}

#[test]
fn workers_with_and_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let classes = names(&["a", "b"]);
    let confusion = [0.9, 0.2, 0.1, 0.8];
    let mut rows = [
        WorkerRow {
            worker: "ann",
            labels: 12,
            accuracy: Some(WorkerAccuracy {
                value: 0.85,
                interval: Some((0.75, 0.9)),
            }),
            agreement: Some(f64::NAN),
            score: None,
            confusion: Some(&confusion),
        },
        WorkerRow {
            worker: "bob",
            labels: 0,
            accuracy: None,
            agreement: Some(0.5),
            score: None,
            confusion: None,
        },
    ];
    let path = folder.path().join("workers.csv");
    write_workers(&path.as_path().into(), &classes, &rows).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "worker,labels,accuracy,low,high,agreement,p:a|a,p:a|b,p:b|a,p:b|b\n\
         ann,12,0.85,0.75,0.9,,0.9,0.2,0.1,0.8\nbob,0,,,,0.5,,,,\n"
    );
    for (name, _) in crate::round_trip::FORMATS {
        write_workers(&folder.path().join(format!("w.{name}")).into(), &classes, &rows).unwrap();
    }
    rows[0].confusion = None;
    let path = folder.path().join("workers.jsonl");
    write_workers(&path.as_path().into(), &classes, &rows).unwrap();
    let first =
        "{\"worker\":\"ann\",\"labels\":12,\"accuracy\":0.85,\"low\":0.75,\"high\":0.9,\"agreement\":null}\n";
    assert!(fs::read_to_string(&path).unwrap().starts_with(first));
    rows[1].score = Some(0.25);
    write_workers(&path.as_path().into(), &classes, &rows).unwrap();
    let first = "{\"worker\":\"ann\",\"labels\":12,\"accuracy\":0.85,\"low\":0.75,\"high\":0.9,\"agreement\":null,\"score\":null}\n";
    assert!(fs::read_to_string(&path).unwrap().starts_with(first));
    rows[0].confusion = Some(&confusion[..3]);
    assert!(write_workers(&path.as_path().into(), &classes, &rows).is_err());
}

#[test]
fn many_rows_are_written_in_order() {
    const TASKS: usize = 50_001;
    let (tasks, classes) = (Names::numbered("t", TASKS), Names::numbered("c", 2));
    let rows = (0..TASKS).flat_map(|task| {
        let share = (task % 1000) as f64 / 1000.0;
        [share, 1.0 - share]
    });
    let consensus = Consensus::new(2, rows.collect());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.csv");
    write_consensus(&path.as_path().into(), &tasks, &classes, &consensus, false).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("task,label,confidence"));
    for task in 0..TASKS {
        let (class, confidence) = (consensus.label(task), consensus.confidence(task));
        let expected = format!("t{task},c{class},{}", (confidence * 1000.0).round() / 1000.0);
        assert_eq!(lines.next(), Some(expected.as_str()));
    }
    assert_eq!(lines.next(), None);
}
