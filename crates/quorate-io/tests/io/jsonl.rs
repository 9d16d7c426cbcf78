//! JSONL: what is accepted, and where errors point.

use quorate_io::ErrorKind;

use crate::{read, refused, row, rows};

#[test]
fn values_are_kept_as_they_are_written() {
    let text = r#"
        {"task": 3, "worker": "ann", "label": true, "more": {"x": [1, "}"]}}
        {"label": 1.50, "task": "3", "worker": -2}

        {"task": 4, "w\u006frker": "b\"o\u0062\n", "label": "0"}
        {"task": 4, "worker": "cem", "label": null}
    "#;
    let table = read("x.jsonl", text).unwrap();
    assert_eq!(
        rows(&table),
        [
            row("3", "-2", "1.50"),
            row("3", "ann", "true"),
            row("4", "b\"ob\n", "0")
        ]
    );
    assert_eq!(table.rows().abstentions, 1);
    assert_eq!(table.class_count(), 3);
}

fn assert_place(text: &str, line: u64, column: Option<&str>) -> quorate_io::Error {
    let error = refused("x.ndjson", text);
    assert_eq!((error.line(), error.column()), (Some(line), column), "{error}");
    error
}

#[test]
fn errors_point_to_the_line() {
    let good = "{\"task\": 1, \"worker\": 2, \"label\": 3}\n\n";
    let with = |line: &str| format!("{good}{line}\n");
    let error = assert_place(&with(r#"{"task": 1, "worker": 2}"#), 3, None);
    assert!(matches!(error.kind(), ErrorKind::Missing { keys: true, names, .. } if names == &["label"]));
    assert!(!error.to_string().contains("header"), "{error}");
    let error = assert_place(r#"{"task": 1, "worker": 2}"#, 1, None);
    assert_eq!(error.remedy(), Some(quorate::Remedy::NameColumns), "{error}");
    assert!(
        !error.to_string().contains("header") && error.to_string().contains("keys"),
        "{error}"
    );
    for broken in [
        "{\"task\": 1",
        "[1, 2, 3]",
        "task",
        "{} {}",
        "3",
        "{\"task\": 01}",
        "\0",
    ] {
        let error = assert_place(&with(broken), 3, None);
        assert!(
            matches!(
                error.kind(),
                ErrorKind::Syntax(_) | ErrorKind::Missing { keys: true, .. }
            ),
            "{error}"
        );
    }
    let error = assert_place(
        &with(r#"{"task": [1], "worker": 2, "label": 3}"#),
        3,
        Some("task"),
    );
    assert!(matches!(error.kind(), ErrorKind::ColumnType { .. }));
    assert_place(
        &with(r#"{"task": 1, "worker": 2, "label": 3, "task": 2}"#),
        3,
        Some("task"),
    );
    assert_place(
        &with(r#"{"task": null, "worker": 2, "label": 3}"#),
        3,
        Some("task"),
    );
    let error = refused("x.jsonl", b"{\"task\": \"\xff\", \"worker\": 2, \"label\": 3}");
    assert!(matches!(error.kind(), ErrorKind::NotUtf8));
}
