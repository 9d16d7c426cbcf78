//! Broken, foreign and hostile files: always an error in words, never a panic, never unbounded memory.

use std::fs;
use std::io::{Read, Write};

use proptest::prelude::*;
use quorate_io::{ErrorKind, FileFormat, LabelOptions, ReadOptions, Source, read_annotations, read_labels};

use crate::round_trip::FORMATS;
use crate::{Fixture, read, refused};

const TABLE: &str = "task,worker,label\nt1,ann,cat\nt1,bob,dog\nt2,ann,dog\n";

#[test]
fn empty_files_are_said_to_be_empty() {
    for (extension, _) in FORMATS {
        let name = format!("x.{extension}");
        let error = refused(&name, "");
        let empty = matches!(error.kind(), ErrorKind::Empty { .. });
        assert!(
            empty || extension.ends_with("gz") || extension.ends_with("zst"),
            "{error}"
        );
    }
    for text in ["\u{feff}", "\n\n\r\n", "\u{feff}\r\n"] {
        assert!(
            matches!(refused("x.csv", text).kind(), ErrorKind::Empty { .. }),
            "{text:?}"
        );
        assert!(
            matches!(refused("x.jsonl", text).kind(), ErrorKind::Empty { .. }),
            "{text:?}"
        );
    }
}

#[test]
fn a_header_alone_has_no_rows() {
    for text in [
        "task,worker,label",
        "task,worker,label\n",
        "\u{feff}task,worker,label\r\n\r\n",
    ] {
        let words = refused("x.csv", text).to_string();
        assert!(words.contains("no rows"), "{words}");
    }
    let words = refused("x.csv", "task,worker,label\n1,2,\n").to_string();
    assert!(words.contains("empty label"), "{words}");
}

#[test]
fn long_values_are_refused_with_their_line() {
    let long = "x".repeat(1 << 20);
    let error = refused("x.csv", format!("task,worker,label\n1,2,3\n1,{long},3\n"));
    assert!(matches!(error.kind(), ErrorKind::TooLong { .. }));
    assert_eq!((error.line(), error.column()), (Some(3), Some("worker")));
    let error = refused(
        "x.jsonl",
        format!("{{\"task\": \"{long}\", \"worker\": 1, \"label\": 2}}"),
    );
    assert!(matches!(error.kind(), ErrorKind::TooLong { .. }));
    // A long value in a column that is not used does no harm.
    assert!(read("x.csv", format!("task,worker,label,text\n1,2,3,\"{long}\"\n")).is_ok());
}

/// 1 GiB of one letter, packed into a small file: memory must not follow it.
#[test]
fn rows_without_end_stop_early() {
    for (name, start) in [
        ("x.csv.zst", "task,worker,label\n1,2,3\n1,"),
        ("x.csv.zst", "task,worker,label\n1,2,3\n\""),
        ("x.csv.zst", ""),
        (
            "x.jsonl.zst",
            "{\"task\": 1, \"worker\": 2, \"label\": 3}\n\n{\"task\": \"",
        ),
    ] {
        let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
        packed.write_all(start.as_bytes()).unwrap();
        std::io::copy(&mut std::io::repeat(b'x').take(1 << 30), &mut packed).unwrap();
        let error = refused(name, packed.finish().unwrap());
        assert!(matches!(error.kind(), ErrorKind::TooLong { .. }), "{error}");
        assert_eq!(
            error.line(),
            Some(if start.is_empty() { 1 } else { 3 }),
            "{error}"
        );
    }
}

#[test]
fn foreign_files_are_recognised() {
    for (start, word) in [
        (&b"\x1f\x8b\x08\x00rest"[..], "gzip"),
        (b"\x28\xb5\x2f\xfdrest", "Zstandard"),
        (b"PAR1rest", "Parquet"),
        (b"PK\x03\x04rest", "Excel"),
        (b"\xff\xfet\0a\0s\0k\0", "UTF-16"),
    ] {
        let words = refused("x.csv", start).to_string();
        assert!(words.contains(word), "{words}");
    }
    let words = refused("x.xlsx", "").to_string();
    assert!(words.contains(".xlsx") && words.contains(".parquet"), "{words}");
    assert!(
        refused("x.csv.gz", "task,worker,label\n")
            .to_string()
            .contains("gzip")
    );
    assert!(
        refused("x.csv.zst", "task,worker,label\n")
            .to_string()
            .contains("Zstandard")
    );
}

#[test]
fn the_format_can_be_given() {
    let fixture = Fixture::new("labels.txt", TABLE);
    let options = |word: &str| ReadOptions {
        format: Some(word.parse::<FileFormat>().unwrap()),
        ..ReadOptions::default()
    };
    assert!(read_annotations(&fixture.source(), &ReadOptions::default()).is_err());
    assert!(read_annotations(&fixture.source(), &options("csv")).is_ok());
    assert!(read_annotations(&fixture.source(), &options("jsonl")).is_err());
    assert_eq!(Source::Stdin.format(None).unwrap(), "csv".parse().unwrap());
    assert_eq!(Source::from("-"), Source::Stdin);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = read_annotations(&"no/such/labels.csv".into(), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound));
    assert!(error.to_string().starts_with("no/such/labels.csv: "), "{error}");
}

/// A table of some size in each format, as bytes.
fn written(extension: &str) -> Vec<u8> {
    let mut text = String::from("task,worker,label\n");
    for row in 0..2000 {
        text.push_str(&format!("t{},w{},{}\n", row / 5, row % 5, row * row % 3));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("x.{extension}"));
    quorate_io::write_annotations(&path.as_path().into(), None, &read("x.csv", text).unwrap()).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn packed_and_columnar_files_cut_short_are_errors() {
    for (extension, _) in FORMATS {
        if matches!(*extension, "csv" | "tsv" | "jsonl") {
            continue;
        }
        let whole = written(extension);
        for keep in [1, 3, 5, 9, 20, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
            let error = refused(&format!("x.{extension}"), &whole[..keep]);
            assert!(!error.to_string().is_empty());
        }
    }
    let whole = written("csv.gz");
    let words = refused("x.csv.gz", &whole[..whole.len() / 2]).to_string();
    assert!(words.contains("cut short"), "{words}");
    let whole = written("csv.zst");
    let words = refused("x.csv.zst", &whole[..whole.len() / 2]).to_string();
    assert!(words.contains("cut short"), "{words}");
}

#[cfg(not(feature = "columnar"))]
#[test]
fn a_build_without_columnar_formats_says_so() {
    for name in ["x.parquet", "x.arrow"] {
        let error = refused(name, TABLE);
        assert!(matches!(error.kind(), ErrorKind::NotBuilt(_)), "{error}");
    }
}

/// Whatever the answer is, there is one.
fn survives(extension: &str, bytes: &[u8]) {
    let fixture = Fixture::new(&format!("x.{extension}"), bytes);
    let _ = read_annotations(&fixture.source(), &ReadOptions::default());
    let _ = read_labels(&fixture.source(), &LabelOptions::default());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for (extension, _) in FORMATS {
            survives(extension, &bytes);
            let header = match *extension {
                "parquet" => [b"PAR1", &bytes[..], b"PAR1"].concat(),
                "arrow" | "feather" => [b"ARROW1\0\0", &bytes[..], b"ARROW1"].concat(),
                "tsv" => [b"task\tworker\tlabel\n", &bytes[..]].concat(),
                "jsonl" => [b"{\"task\": 1, \"worker\": 2, \"label\": 3}\n{\"", &bytes[..]].concat(),
                _ => [b"task,worker,label\n", &bytes[..]].concat(),
            };
            survives(extension, &header);
        }
    }

    #[test]
    fn damaged_files_never_panic(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        for (extension, _) in FORMATS {
            let mut bytes = written(extension);
            for (place, byte) in &places {
                let place = place.index(bytes.len());
                bytes[place] ^= byte;
            }
            survives(extension, &bytes);
        }
    }
}
