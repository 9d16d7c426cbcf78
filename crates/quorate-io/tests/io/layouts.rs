//! Tables as people have them: other names, other delimiters, arrays of objects, a column for each worker.

use quorate_io::{
    Columns, LabelOptions, ReadOptions, SpillOptions, read_annotations, read_labels, spill_annotations,
};
use rustc_hash::FxHashSet;

use crate::{Fixture, read, read_with, refused, row, rows};

const LONG: &str = "task,worker,label\nt1,ann,x\nt1,bob,y\nt2,ann,x\nt2,cem,x\nt3,bob,y\n";

fn names(list: &[&str]) -> FxHashSet<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn spellings_synonyms_and_delimiters_give_the_same_table_in_blocks_and_row_by_row() {
    let wanted = rows(&read("x.csv", LONG).unwrap());
    for (header, delimiter) in [
        ("Task,Worker,Label", ","),
        ("item_id;annotator;answer", ";"),
        ("Question\tUser ID\tResponse", "\t"),
        ("unit|rater|rating", "|"),
    ] {
        let text = LONG.replace("task,worker,label", header).replace(',', delimiter);
        let found = read_with("x.csv", &text, &ReadOptions::default()).unwrap();
        assert_eq!(rows(&found.annotations), wanted, "{header}");
        assert_ne!(found.layout.columns, Columns::default());
        assert_eq!(
            found.layout.delimiter,
            (delimiter != ",").then(|| delimiter.chars().next().unwrap())
        );
        // Compressed text goes row by row.
        let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let by_row = read_with("x.csv.zst", packed, &ReadOptions::default()).unwrap();
        assert_eq!(rows(&by_row.annotations), wanted, "{header}");
        assert_eq!(by_row.layout, found.layout);
    }
}

#[test]
fn a_delimiter_that_is_given_counts_and_formats_without_one_refuse_it() {
    let options = ReadOptions {
        delimiter: Some(' '),
        ..ReadOptions::default()
    };
    let found = read_with("x.dat", LONG.replace(',', " "), &options).unwrap();
    assert_eq!(found.annotations.label_count(), 5);
    let words = read_with("x.jsonl", "{}", &options).unwrap_err().to_string();
    assert!(words.contains("JSONL files have no delimiter"), "{words}");
}

#[test]
fn an_array_of_objects_is_the_table_of_its_lines() {
    let object = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        format!(
            "{{\"task\": {:?}, \"worker\": {:?},\n \"label\": {:?}, \"x\": [1, {{\"]\": 2}}]}}",
            fields[0], fields[1], fields[2]
        )
    };
    let objects: Vec<String> = LONG.lines().skip(1).map(object).collect();
    let wanted = rows(&read("x.csv", LONG).unwrap());
    for name in ["x.json", "x.jsonl"] {
        let text = format!("\n [\n{}\n]\n", objects.join(",\n"));
        assert_eq!(rows(&read(name, &text).unwrap()), wanted, "{name}");
        for (broken, line) in [
            (format!("[{}", objects[0]), 2),
            (format!("[{}] x", objects[0]), 2),
            (format!("[{}\n{}]", objects[0], objects[1]), 1),
            ("[1]".to_owned(), 1),
            (format!("[{},\n{{\"task\": 1}}]", objects[0]), 3),
        ] {
            let error = refused(name, &broken);
            assert_eq!(error.line(), Some(line), "{broken}: {error}");
        }
        assert!(refused(name, "[]").to_string().contains("empty"));
    }
}

#[test]
fn a_wide_table_is_the_long_one() {
    let wide = "item,ann,bob,cem\nt1,x,y,\nt2,x,NA,x\nt3,-1,y,\n";
    let options = ReadOptions {
        wide: true,
        missing: vec!["NA".into(), "-1".into()],
        ..ReadOptions::default()
    };
    let found = read_with("x.csv", wide, &options).unwrap();
    let long = read("x.csv", LONG).unwrap();
    assert_eq!(rows(&found.annotations), rows(&long));
    assert_eq!(found.annotations.fingerprint(), long.fingerprint());
    assert_eq!(found.layout.columns.task, "item");
    assert_eq!(found.layout.workers.unwrap(), ["ann", "bob", "cem"]);
    // On disk, too.
    let (fixture, place) = (Fixture::new("x.csv", wide), tempfile::tempdir().unwrap());
    let spill = SpillOptions {
        place: place.path(),
        memory: 1 << 12,
    };
    let spilled = spill_annotations(&fixture.source(), &options, &spill, &|| false, &mut |_, _| {}).unwrap();
    assert_eq!(spilled.fingerprint(), long.fingerprint());
    // A task without answers stays; the first column is the task's where none is named so.
    let found = read_with("x.csv", "thing,ann\nt1,\nt2,x\n", &options).unwrap();
    assert_eq!(found.annotations.task_count(), 2);
    for refused in ["t\n1\n", "task,ann,ann\n1,x,y\n", "task,,ann\n1,x,y\n"] {
        assert!(read_with("x.csv", refused, &options).is_err(), "{refused}");
    }
}

#[test]
fn workers_and_tasks_are_left_out_alike_in_memory_and_on_disk() {
    let fixture = Fixture::new("x.csv", LONG);
    let options = ReadOptions {
        drop_workers: names(&["cem", "zoe"]),
        keep_tasks: Some(names(&["t1", "t2", "t9"])),
        drop_tasks: names(&["t2"]),
        ..ReadOptions::default()
    };
    let found = read_annotations(&fixture.source(), &options).unwrap();
    assert_eq!(
        rows(&found.annotations),
        [row("t1", "ann", "x"), row("t1", "bob", "y")]
    );
    let left = found.left_out;
    assert_eq!(
        (left.workers, left.absent_workers, left.tasks, left.absent_tasks),
        (1, 1, 2, 1)
    );
    let place = tempfile::tempdir().unwrap();
    let spill = SpillOptions {
        place: place.path(),
        memory: 1 << 12,
    };
    let spilled = spill_annotations(&fixture.source(), &options, &spill, &|| false, &mut |_, _| {}).unwrap();
    assert_eq!(spilled.left_out(), left);
    assert_eq!(spilled.fingerprint(), found.annotations.fingerprint());
    let nothing = ReadOptions {
        keep_tasks: Some(names(&["t9"])),
        ..ReadOptions::default()
    };
    assert!(read_annotations(&fixture.source(), &nothing).is_err());
    assert!(spill_annotations(&fixture.source(), &nothing, &spill, &|| false, &mut |_, _| {}).is_err());
}

#[test]
fn known_labels_have_names_of_their_own_or_those_of_the_annotations() {
    let read = |text: &str, like: Option<Columns>| {
        let options = LabelOptions {
            like,
            ..LabelOptions::default()
        };
        read_labels(&Fixture::new("x.csv", text).source(), &options)
    };
    let found = read("Item;Truth\n1;x\n", None).unwrap();
    assert_eq!(
        (found.columns.label.as_str(), found.label("1")),
        ("Truth", Some("x"))
    );
    let like = Columns {
        task: "picture".into(),
        worker: "who".into(),
        label: "said".into(),
    };
    assert!(read("picture,said\n1,x\n", None).is_err());
    let found = read("picture,said\n1,x\n", Some(like)).unwrap();
    assert_eq!(found.label("1"), Some("x"));
}

#[test]
fn one_column_cannot_hold_two_things() {
    let options = ReadOptions {
        columns: Columns {
            task: "worker".into(),
            ..Columns::default()
        },
        ..ReadOptions::default()
    };
    let words = read_with("x.csv", LONG, &options).unwrap_err().to_string();
    assert!(words.contains("both the task and the worker"), "{words}");
}
