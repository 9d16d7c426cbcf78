//! CSV and TSV: what is accepted, and where errors point.

use quorate::annotations::Duplicates;
use quorate_io::{Columns, ErrorKind, ReadOptions};

use crate::{read, read_with, refused, row, rows};

#[test]
fn columns_in_any_order_with_others_between() {
    let table = read(
        "x.csv",
        " label ,note,task,worker\ncat,\"a, b\",t1,ann\ndog,,t2,bob\n",
    )
    .unwrap();
    assert_eq!(rows(&table), [row("t1", "ann", "cat"), row("t2", "bob", "dog")]);
}

#[test]
fn byte_order_mark_crlf_quotes_blank_lines_and_no_last_line_end() {
    let text = "\u{feff}task,worker,label\r\n\r\n\"t \"\"1\"\"\",\"a\r\nb\",x\r\n\r\nt2,ann,y";
    let table = read("x.csv", text).unwrap();
    assert_eq!(
        rows(&table),
        [row("t \"1\"", "a\r\nb", "x"), row("t2", "ann", "y")]
    );
    let table = read("x.tsv", "task\tworker\tlabel\nt,1\tann\t\"x\ty\"\n").unwrap();
    assert_eq!(rows(&table), [row("t,1", "ann", "x\ty")]);
}

#[test]
fn empty_and_nan_labels_are_abstentions() {
    let text = "task,worker,label\nt1,ann,\nt1,bob,NaN\nt1,cem,nan\nt1,dan,a\nt1,eve,none\n";
    let table = read("x.csv", text).unwrap();
    assert_eq!((table.rows().abstentions, table.label_count()), (3, 2));
    let options = ReadOptions {
        missing: vec!["none".into()],
        ..ReadOptions::default()
    };
    let table = read_with("x.csv", text, &options).unwrap().annotations;
    assert_eq!((table.rows().abstentions, table.label_count()), (2, 3));
}

#[test]
fn columns_can_be_named() {
    let options = ReadOptions {
        columns: Columns {
            task: "item".into(),
            worker: "rater".into(),
            label: "answer".into(),
        },
        ..ReadOptions::default()
    };
    let text = "item,rater,answer\n1,2,3\n";
    assert_eq!(
        rows(&read_with("x.csv", text, &options).unwrap().annotations),
        [row("1", "2", "3")]
    );
}

#[test]
fn missing_column_lists_the_header_and_says_what_to_do() {
    let error = refused("x.csv", "thing,worker,label\n1,2,3\n");
    assert!(matches!(error.kind(), ErrorKind::Missing { keys: false, names, .. } if names == &["task"]));
    let words = error.to_string();
    for part in [
        "line 1",
        r#""thing", "worker", "label""#,
        "which column holds the task",
        "no header",
    ] {
        assert!(words.contains(part), "{words}");
    }
    assert_eq!(error.remedy(), Some(quorate::Remedy::NameColumns));
    let error = refused("x.csv", "task,worker,label,task\n1,2,3,4\n");
    assert!(matches!(error.kind(), ErrorKind::RepeatedColumn));
    assert_eq!(error.column(), Some("task"));
}

/// (text, line, column)
fn assert_place(text: &str, line: u64, column: Option<&str>) -> quorate_io::Error {
    let error = refused("x.csv", text);
    assert_eq!((error.line(), error.column()), (Some(line), column), "{error}");
    error
}

#[test]
fn lines_are_right_with_any_line_end() {
    let rows = ["task,worker,label", "1,\"a\nb\",c", "", "1,\"a\n\nb\",d", "2,2"];
    for (end, blank_lines) in [("\n", 0), ("\r\n", 0), ("\n", 1), ("\r\n", 1)] {
        let mut text = rows.join(end);
        if blank_lines == 1 {
            text.push_str(end);
        }
        assert_place(&text, 8, None);
    }
    assert_place("task,worker,label\n1,,c\n", 2, Some("worker"));
    assert_place("task,worker,label\r\n1,1,c\r\n\r\n\r\n,1,c", 5, Some("task"));
}

#[test]
fn ragged_rows_say_how_many_fields() {
    let error = assert_place("task,worker,label\n1,2,3\n1,2,3,4\n", 3, None);
    assert!(matches!(error.kind(), ErrorKind::Ragged(4, 3)));
}

#[test]
fn unclosed_quotes_point_to_the_row_that_opens_them() {
    for end in ["", "\n", "\r\n"] {
        let error = assert_place(
            &format!("task,worker,label\n1,2,3\n2,\"2,3\n3,4,5{end}"),
            3,
            Some("worker"),
        );
        assert!(matches!(error.kind(), ErrorKind::UnclosedQuote), "{error}");
    }
    let error = assert_place("task,worker,label\r\n1,2,3\r\n2,3,\"a\r\n", 3, Some("label"));
    assert!(matches!(error.kind(), ErrorKind::UnclosedQuote), "{error}");
    assert!(matches!(
        refused("x.csv", "\"task,worker\n1").kind(),
        ErrorKind::UnclosedQuote
    ));
    // A quote inside an unquoted value is a plain character.
    assert_eq!(
        rows(&read("x.csv", "task,worker,label\n5\",2,3\n").unwrap()),
        [row("5\"", "2", "3")]
    );
    // A closed quote at the end is no trouble, whatever stands in it.
    assert_eq!(
        rows(&read("x.csv", "task,worker,label\n1,2,\"3\n\"").unwrap()),
        [row("1", "2", "3\n")]
    );
}

#[test]
fn nul_bytes_look_like_a_binary_file() {
    for text in [
        "task,worker,label\n1,a\0,c\n",
        "task,worker,label\n\0\n1,2,3\n",
        "task,worker,label\n\0\n",
        "task,worker,label\n1,2,\"\n\0\n\"\n",
        "task,worker,label\n1,2,\"\n\0\n\"",
    ] {
        let error = refused("x.csv", text);
        assert_eq!(error.line(), Some(2), "{error}");
        assert!(matches!(error.kind(), ErrorKind::Binary(_)), "{error}");
    }
}

#[test]
fn invalid_utf8_is_an_error_only_where_it_is_used() {
    let error = refused("x.csv", b"task,worker,label\n1,2,3\n1,J\xf6rg,3\n");
    assert!(matches!(error.kind(), ErrorKind::NotUtf8));
    assert_eq!((error.line(), error.column()), (Some(3), Some("worker")));
    assert!(matches!(
        refused("x.csv", b"task,worker,\xf6\n").kind(),
        ErrorKind::NotUtf8
    ));
    assert!(read("x.csv", b"task,worker,label,who\n1,2,3,J\xf6rg\n").is_ok());
}

#[test]
fn errors_of_the_table_carry_line_and_column() {
    let options = ReadOptions {
        classes: Some(vec!["cat".into(), "dog".into()]),
        ..ReadOptions::default()
    };
    let text = "task,worker,label\n1,1,cat\n1,2,cow\n";
    let error = read_with("x.csv", text, &options).unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(3), Some("label")));
    let words = error.to_string();
    assert!(
        words.contains("x.csv, line 3, column \"label\": label \"cow\""),
        "{words}"
    );
    let options = ReadOptions {
        duplicates: Duplicates::Error,
        ..ReadOptions::default()
    };
    let error = read_with("x.csv", "task,worker,label\n1,1,a\n1,1,b\n", &options).unwrap_err();
    assert_eq!(error.line(), Some(3), "{error}");
}

#[test]
fn only_some_workers() {
    let options = ReadOptions {
        keep_workers: Some(["ann", "zoe", "yan"].map(String::from).into_iter().collect()),
        ..ReadOptions::default()
    };
    let text = "task,worker,label\n1,ann,x\n1,bob,y\n2,bob,y\n";
    let found = read_with("x.csv", text, &options).unwrap();
    assert_eq!((found.left_out.absent_workers, found.left_out.workers), (2, 1));
    assert_eq!(rows(&found.annotations), [row("1", "ann", "x")]);
    assert_eq!(found.annotations.task_count(), 2);
    let nobody = ReadOptions {
        keep_workers: Some(["zoe"].map(String::from).into_iter().collect()),
        ..ReadOptions::default()
    };
    assert!(matches!(
        read_with("x.csv", text, &nobody).unwrap_err().kind(),
        ErrorKind::Data(quorate::Error::NoLabels(_))
    ));
}

#[test]
fn progress_reaches_the_end() {
    let rows: String = (0..100_000).map(|row| format!("t{row},w,x\n")).collect();
    let text = format!("task,worker,label\n{rows}");
    let fixture = crate::Fixture::new("x.csv", &text);
    // In blocks, and row by row.
    for (duplicates, least) in [(Duplicates::Last, 1), (Duplicates::Error, 4)] {
        let options = ReadOptions {
            duplicates,
            ..ReadOptions::default()
        };
        let mut seen = Vec::new();
        quorate_io::read_annotations_with(&fixture.source(), &options, &mut |done, total| {
            seen.push((done, total));
        })
        .unwrap();
        let size = text.len() as u64;
        assert!(seen.len() >= least && seen.is_sorted());
        assert_eq!(seen.last(), Some(&(size, Some(size))));
    }
}
