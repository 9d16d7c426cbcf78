//! Tables of labels in every format.
//!
//! Promise of CSV and TSV: the reader in parallel parts and the one by rows come to the same table or both
//! refuse. Packed text is read by rows, so the same bytes are read once plain and once packed. Promise of
//! all: what was read is written and read back.

use std::io::Write;

use quorate::Annotations;
use quorate_io::{ReadOptions, Target as Output, read_annotations, write_annotations};

use crate::Target;
use crate::scratch::{check_words, folder, source};

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "csv",
        run: |bytes| both_readers("csv", bytes),
        seeds: text_seeds,
    },
    Target {
        name: "tsv",
        run: |bytes| both_readers("tsv", bytes),
        seeds: || {
            let tabs = |seed: Vec<u8>| {
                seed.into_iter()
                    .map(|byte| if byte == b',' { b'\t' } else { byte })
                    .collect()
            };
            text_seeds().into_iter().map(tabs).collect()
        },
    },
    Target {
        name: "wide",
        run: |bytes| {
            let options = ReadOptions {
                wide: true,
                ..ReadOptions::default()
            };
            check_words(read_annotations(&source("wide.csv", bytes), &options));
        },
        seeds: || vec![b"task,ann,bob,cem\nt1,1,1,2\nt2,,2,2\nt3,NA,1,1\n".to_vec()],
    },
    Target {
        name: "any-text",
        run: |bytes| {
            let name = ["x.csv", "x.tsv", "x.json", "x.jsonl", "x.txt"];
            let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
            check_words(read_annotations(
                &source(name[usize::from(*first) % name.len()], rest),
                &ReadOptions::default(),
            ));
        },
        seeds: || {
            let exports = crate::exports::fixtures().into_iter().map(|(_, bytes)| bytes);
            let all = text_seeds().into_iter().chain(exports);
            (0u8..5)
                .flat_map(|kind| all.clone().map(move |seed| [vec![kind], seed].concat()))
                .collect()
        },
    },
    Target {
        name: "jsonl",
        run: |bytes| read_back("jsonl", bytes),
        seeds: || made_seeds("jsonl"),
    },
    Target {
        name: "json",
        run: |bytes| read_back("json", bytes),
        seeds: || made_seeds("json"),
    },
    Target {
        name: "gzip",
        run: |bytes| read_back("csv.gz", bytes),
        seeds: || made_seeds("csv.gz"),
    },
    Target {
        name: "zstd",
        run: |bytes| read_back("csv.zst", bytes),
        seeds: || made_seeds("csv.zst"),
    },
    Target {
        name: "parquet",
        run: |bytes| read_back("parquet", bytes),
        seeds: || made_seeds("parquet"),
    },
    Target {
        name: "arrow",
        run: |bytes| read_back("arrow", bytes),
        seeds: || made_seeds("arrow"),
    },
];

/// Small texts with what the readers have rules for.
pub(crate) fn text_seeds() -> Vec<Vec<u8>> {
    [
        "task,worker,label\nt1,ann,cat\nt1,bob,dog\nt2,ann,dog\n",
        "task,worker,label\r\n\"t 1\",\"a\"\"n\",1\r\n2,b,1.0\r\n2,b,01\r\n",
        "Item;Annotator;Rating\n1;2;3\n1;3;\n2;2;NaN\n",
        "\u{feff}worker,label,task,extra\nw,x,\"two\nlines\",\n",
        "1,2,3\n1,3,3\n2,2,4\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// A table of some size, in a format.
fn made_seeds(extension: &str) -> Vec<Vec<u8>> {
    let rows = |count: u32| {
        (0..count).map(|row| {
            (
                format!("t{}", row / 5),
                format!("w{}", row % 5),
                (row * row % 3).to_string(),
            )
        })
    };
    let write = |count| {
        let annotations = Annotations::from_triples(rows(count)).expect("the rows are proper ones");
        written(extension, &annotations)
    };
    [1, 12, 300].map(write).to_vec()
}

fn written(extension: &str, annotations: &Annotations) -> Vec<u8> {
    folder(|folder| {
        let path = folder.join(format!("written.{extension}"));
        write_annotations(&Output::from(path.as_path()), None, annotations).expect("a table can be written");
        std::fs::read(path).expect("what was written is there")
    })
}

/// Rows by name, sorted: within a task labels stand in the order of workers, which is that of their first
/// rows.
fn rows(annotations: &Annotations) -> Vec<(&str, &str, &str)> {
    let (tasks, workers, classes) = (annotations.tasks(), annotations.workers(), annotations.classes());
    let mut rows = Vec::with_capacity(annotations.label_count());
    for (task, name) in tasks.iter().enumerate() {
        let (worker, label) = annotations.labels_between(task..task + 1);
        rows.extend(worker.iter().zip(label).map(|(&worker, &label)| {
            (
                name,
                workers.get(worker as usize),
                classes.get(usize::from(label)),
            )
        }));
    }
    rows.sort_unstable();
    rows
}

/// Reads, writes, reads again: the same labels.
fn read_back(extension: &str, bytes: &[u8]) {
    let options = ReadOptions::default();
    let read = check_words(read_annotations(
        &source(&format!("x.{extension}"), bytes),
        &options,
    ));
    let Some(read) = read else { return };
    let again = source("again.parquet", &written("parquet", &read.annotations));
    let again = read_annotations(&again, &options).expect("what we wrote can be read");
    assert_eq!(rows(&read.annotations), rows(&again.annotations));
}

fn both_readers(extension: &str, bytes: &[u8]) {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed
        .write_all(bytes)
        .and_then(|()| packed.try_finish())
        .expect("memory can be written");
    let packed = packed.finish().expect("memory can be written");
    // With the format given nothing is recognised: both readers are told the same.
    let read = |name: &str, bytes: &[u8]| {
        let format = name.split_once('.').and_then(|(_, format)| format.parse().ok());
        let options = ReadOptions {
            format,
            ..ReadOptions::default()
        };
        check_words(read_annotations(&source(name, bytes), &options))
    };
    let plain = read(&format!("x.{extension}"), bytes);
    let by_rows = read(&format!("x.{extension}.gz"), &packed);
    match (&plain, &by_rows) {
        (Some(plain), Some(by_rows)) => {
            assert_eq!(rows(&plain.annotations), rows(&by_rows.annotations));
            assert_eq!(plain.annotations.rows(), by_rows.annotations.rows());
        }
        _ => assert_eq!(plain.is_some(), by_rows.is_some(), "one of the readers refuses"),
    }
}
