//! Exports of annotation tools, each by its own reader. The fixtures of the tests are the seeds.

use std::path::Path;

use quorate_io::{ReadOptions, Tool, read_annotations, read_judgements};

use crate::Target;
use crate::scratch::{check_words, source};

pub(crate) const TARGETS: &[Target] = &[
    target::<0>(),
    target::<1>(),
    target::<2>(),
    target::<3>(),
    target::<4>(),
    target::<5>(),
    target::<6>(),
    target::<7>(),
    target::<8>(),
    target::<9>(),
    target::<10>(),
    target::<11>(),
    target::<12>(),
    Target {
        name: "doccano-zip",
        run: |bytes| {
            check_words(read_annotations(&source("x.zip", bytes), &options(Tool::Doccano)));
        },
        seeds: || with_prefix("doccano.zip"),
    },
    Target {
        name: "judgements",
        run: |bytes| {
            let options = ReadOptions::default();
            check_words(read_judgements(
                &source("x.jsonl", bytes),
                &options,
                &mut |_, _| {},
            ));
        },
        seeds: || with_prefix("judg"),
    },
];

const _: () = assert!(TARGETS.len() == Tool::ALL.len() + 2, "a target for each tool");

const fn target<const TOOL: usize>() -> Target {
    Target {
        name: Tool::ALL[TOOL].name(),
        run: |bytes| {
            let tool = Tool::ALL[TOOL];
            let name = match tool {
                Tool::Mturk | Tool::Appen => "x.csv",
                Tool::Toloka => "x.tsv",
                Tool::Triples => "x.txt",
                _ => "x.json",
            };
            check_words(read_annotations(&source(name, bytes), &options(tool)));
        },
        seeds: || with_prefix(Tool::ALL[TOOL].name().trim_end_matches("-json")),
    }
}

fn options(tool: Tool) -> ReadOptions {
    ReadOptions {
        tool: Some(tool),
        use_gold: true,
        ..ReadOptions::default()
    }
}

/// Names and contents of the fixtures that are one file.
pub(crate) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/quorate-io/tests/fixtures/exports");
    let entries = std::fs::read_dir(folder).expect("the fixtures are in the repository");
    let mut found: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            let bytes = std::fs::read(entry.path()).expect("a fixture can be read");
            (entry.file_name().to_string_lossy().into_owned(), bytes)
        })
        .collect();
    found.sort();
    found
}

fn with_prefix(prefix: &str) -> Vec<Vec<u8>> {
    let found: Vec<_> = fixtures()
        .into_iter()
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(_, bytes)| bytes)
        .collect();
    assert!(!found.is_empty(), "no fixture starts with {prefix}");
    found
}
