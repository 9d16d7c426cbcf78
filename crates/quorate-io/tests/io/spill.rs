//! Labels on disk beside the same labels in memory.

use quorate::annotations::{ClassOrder, Duplicates};
use quorate_io::{ReadOptions, SpillOptions, read_annotations, spill_annotations};

use crate::Fixture;

#[test]
fn a_file_has_one_fingerprint_in_memory_and_on_disk() {
    let mut text = String::from("task,worker,label\n");
    for row in 0..500usize {
        // Repeated rows, abstentions, a worker and tasks with nothing else, classes out of order.
        let (task, worker) = (row * 7 % 60, row * row % 23);
        let label = ["10", "9", "", "2"][(row / 3) % 4];
        text.push_str(&format!("t{task},w{worker},{label}\n"));
    }
    text.push_str("t-silent,w-silent,\n");
    let keep = ["w1", "w3", "w-silent", "w-absent"].map(str::to_owned);
    let options = [
        ReadOptions::default(),
        ReadOptions {
            class_order: ClassOrder::Appearance,
            duplicates: Duplicates::First,
            ..ReadOptions::default()
        },
        ReadOptions {
            duplicates: Duplicates::Keep,
            keep_workers: Some(keep.into_iter().collect()),
            ..ReadOptions::default()
        },
        ReadOptions {
            classes: Some(["2", "10", "9", "unused"].map(str::to_owned).into()),
            ..ReadOptions::default()
        },
    ];
    // Compressed text goes to disk row by row, plain text in parts.
    let plain = Fixture::new("labels.csv", &text);
    let packed = Fixture::new("labels.csv.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    let place = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for options in &options {
        let in_memory = read_annotations(&plain.source(), options).unwrap();
        for fixture in [&plain, &packed] {
            // So little memory that there are many partitions.
            let spill = SpillOptions {
                place: place.path(),
                memory: 1 << 12,
            };
            let spilled =
                spill_annotations(&fixture.source(), options, &spill, &|| false, &mut |_, _| {}).unwrap();
            assert_eq!(spilled.fingerprint(), in_memory.annotations.fingerprint());
        }
        found.push(in_memory.annotations.fingerprint());
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), options.len());
}

#[test]
fn a_repeated_label_is_placed_as_in_memory() {
    let mut text = String::from("task,worker,label\n");
    for row in 0..300 {
        text.push_str(&format!("t{},w{},{}\n", row % 100, row / 100, row % 2));
    }
    // No answer is no label, and w1 is left out: line 304 repeats the label, in line 106.
    text.push_str("t4,w2,\nt9,w1,0\nt4,w2,0\nt4,w2,1\n");
    let wide = "task,ann,bob\nt1,a,b\nt2,,a\nt2,a,\nt1,,a\n";
    let json = "{\"task\":1,\"worker\":1,\"label\":\"a\"}\n{\"task\":1,\"worker\":1,\"label\":\"b\"}\n";
    let options = ReadOptions {
        duplicates: Duplicates::Error,
        drop_workers: ["w1".to_owned()].into_iter().collect(),
        ..ReadOptions::default()
    };
    let place = tempfile::tempdir().unwrap();
    let spill = SpillOptions {
        place: place.path(),
        memory: 1 << 12,
    };
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (name, content, line) in [
        ("labels.csv", text.as_bytes(), 304),
        ("labels.csv.zst", &packed, 304),
        ("labels.jsonl", json.as_bytes(), 2),
        ("wide.csv", wide.as_bytes(), 5),
    ] {
        let fixture = Fixture::new(name, content);
        let options = ReadOptions {
            wide: name == "wide.csv",
            ..options.clone()
        };
        let in_memory = read_annotations(&fixture.source(), &options).unwrap_err();
        let on_disk =
            spill_annotations(&fixture.source(), &options, &spill, &|| false, &mut |_, _| {}).unwrap_err();
        assert_eq!(on_disk.to_string(), in_memory.to_string());
        assert_eq!(on_disk.line(), Some(line), "{on_disk}");
    }
}
