//! Truths and predictions.

use quorate::annotations::Names;
use quorate_io::{ErrorKind, LabelOptions, Position, Target, TaskLabels, read_labels, write_truth};

use crate::Fixture;

fn labels(name: &str, content: &str) -> quorate_io::Result<TaskLabels> {
    read_labels(&Fixture::new(name, content).source(), &LabelOptions::default())
}

#[test]
fn truths_with_repeats_and_gaps() {
    let truth = labels("t.csv", "task,label\na,1\nb,2\na,1\nc,\nd,NaN\n").unwrap();
    assert_eq!((truth.repeated, truth.unlabelled), (1, 2));
    assert_eq!(
        (truth.label("a"), truth.label("b"), truth.label("c")),
        (Some("1"), Some("2"), None)
    );
    assert!(truth.confidence.is_none() && truth.probabilities.is_none());
}

#[test]
fn contradictions_name_both_lines() {
    let error = labels("t.csv", "task,label\na,1\nb,2\na,2\n").err().unwrap();
    assert_eq!(error.line(), Some(4));
    assert!(matches!(
        error.kind(),
        ErrorKind::Conflict {
            at: Position::Line(2),
            ..
        }
    ));
    assert!(error.to_string().contains("line 2"), "{error}");
}

#[test]
fn a_class_has_one_column_of_probabilities() {
    let error = labels("p.csv", "task,label,p:a,p:b,p:a\nt1,a,1,0,0\n")
        .err()
        .unwrap();
    assert!(matches!(error.kind(), ErrorKind::RepeatedColumn));
    assert_eq!(error.column(), Some("p:a"));
}

#[test]
fn predictions_with_probabilities() {
    let text = "{\"task\": 1, \"label\": \"x\", \"confidence\": 0.75, \"p:y\": 0.25, \"p:x\": 0.75}\n";
    let found = labels("p.jsonl", text).unwrap();
    assert_eq!(found.confidence, Some(vec![0.75]));
    assert_eq!(found.probabilities, Some(vec![0.25, 0.75]));
    assert_eq!(found.classes.iter().collect::<Vec<_>>(), ["y", "x"]);
    assert_eq!(found.labels, [1]);
}

#[test]
fn bad_probabilities_point_to_their_column() {
    let place = |row: &str| {
        let error = labels(
            "p.csv",
            &format!("task,label,confidence,p:a,p:b\nt1,a,1,1,0\n{row}\n"),
        )
        .err()
        .unwrap();
        assert_eq!(error.line(), Some(3), "{error}");
        error.column().map(str::to_owned)
    };
    assert_eq!(place("t2,a,high,1,0").as_deref(), Some("confidence"));
    assert_eq!(place("t2,a,1.5,1,0").as_deref(), Some("confidence"));
    assert_eq!(place("t2,a,1,,0").as_deref(), Some("p:a"));
    assert_eq!(place("t2,a,1,1,nan").as_deref(), Some("p:b"));
    assert_eq!(place("t2,c,1,1,0").as_deref(), Some("label"));
    assert_eq!(place("t2,a,1,0.5,0.2"), None);
    assert_eq!(place(",a,1,1,0").as_deref(), Some("task"));
}

#[test]
fn no_rows_are_said_so() {
    let words = labels("t.csv", "task,label\n").err().unwrap().to_string();
    assert!(words.contains("no rows"), "{words}");
    let words = labels("t.csv", "task,label\na,\n").err().unwrap().to_string();
    assert!(words.contains("all 1 rows have an empty label"), "{words}");
}

#[test]
fn truth_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let target = Target::from(folder.path().join("truth.tsv.zst"));
    let tasks: Names = ["a\tb", "c"].into_iter().collect();
    let classes: Names = ["no", "yes"].into_iter().collect();
    write_truth(&target, &tasks, &classes, &[1, 0]).unwrap();
    let source = folder.path().join("truth.tsv.zst");
    let truth = read_labels(&source.into(), &LabelOptions::default()).unwrap();
    assert_eq!((truth.label("a\tb"), truth.label("c")), (Some("yes"), Some("no")));
    assert!(write_truth(&target, &tasks, &classes, &[1]).is_err());
    assert!(write_truth(&target, &tasks, &classes, &[1, 2]).is_err());
}
