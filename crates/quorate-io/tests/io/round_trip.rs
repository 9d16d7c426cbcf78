//! What is written reads back the same, in every format and packing.

use proptest::prelude::*;
use quorate::annotations::{Annotations, AnnotationsBuilder, Duplicates};
use quorate_io::{ReadOptions, Source, Target, read_annotations, write_annotations};

use crate::rows;

/// Every extension, and how much a number may lose in it: half of the last of six decimals in text.
pub(crate) const FORMATS: &[(&str, f64)] = &[
    ("csv", 5.1e-7),
    ("csv.gz", 5.1e-7),
    ("csv.zst", 5.1e-7),
    ("tsv", 5.1e-7),
    ("tsv.gz", 5.1e-7),
    ("tsv.zst", 5.1e-7),
    ("jsonl", 5.1e-7),
    ("jsonl.gz", 5.1e-7),
    ("ndjson.zst", 5.1e-7),
    #[cfg(feature = "columnar")]
    ("parquet", 0.0),
    #[cfg(feature = "columnar")]
    ("arrow", 0.0),
    #[cfg(feature = "columnar")]
    ("feather", 0.0),
];

fn build(rows: &[(String, String, String)]) -> Annotations {
    let mut builder = AnnotationsBuilder::new(Duplicates::Keep);
    for (task, worker, label) in rows {
        builder.push(task, worker, label).unwrap();
    }
    builder.build().unwrap()
}

fn assert_round_trip(annotations: &Annotations) {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions {
        duplicates: Duplicates::Keep,
        missing: Vec::new(),
        ..ReadOptions::default()
    };
    for (extension, _) in FORMATS {
        let path = folder.path().join(format!("labels.{extension}"));
        write_annotations(&Target::from(path.as_path()), None, annotations).unwrap();
        let found = read_annotations(&Source::from(path), &options)
            .unwrap()
            .annotations;
        assert_eq!(rows(&found), rows(annotations), "{extension}");
        assert_eq!(found.classes(), annotations.classes(), "{extension}");
    }
}

#[test]
fn many_rows() {
    let rows: Vec<_> = (0..70_000)
        .map(|row| {
            (
                format!("t{}", row / 7),
                format!("w{}", row % 7),
                format!("{}", row % 3),
            )
        })
        .collect();
    assert_round_trip(&build(&rows));
}

fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\"".to_owned()),
        Just(",".to_owned()),
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("\t".to_owned()),
        Just("\\".to_owned()),
        Just(" ".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("null".to_owned()),
        Just("NaN".to_owned()),
        Just("\u{1}".to_owned()),
        "\\PC{1,3}",
        "[a-z0-9]{1,3}",
    ];
    prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nasty_names_survive(rows in prop::collection::vec((nasty(), nasty(), nasty()), 1..12)) {
        assert_round_trip(&build(&rows));
    }
}
