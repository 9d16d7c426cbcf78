//! Labels on disk: the same answers as in memory, nothing left behind.

mod support;

use std::fs;
use std::path::Path;

use support::quorate;

/// A crowd with repeated rows, abstentions, a task without labels, rows out of order.
fn write_labels(path: &Path) {
    let mut text = String::from("task,worker,label\n");
    let mut state = 7u64;
    let mut draw = |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    for row in 0..6000 {
        let (task, worker) = (draw(900), draw(40));
        let truth = task % 3;
        let label = if draw(10) < 4 + worker % 5 { truth } else { draw(3) };
        match row % 97 {
            0 => text.push_str(&format!("task {task},w{worker},\n")),
            1 => text.push_str(&format!("\"only, {row}\",w{worker},nan\n")),
            _ => text.push_str(&format!("task {task},w{worker},c{label}\n")),
        }
    }
    fs::write(path, text).unwrap();
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn labels_on_disk_give_the_answers_of_labels_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    write_labels(&folder.path().join("labels.csv"));
    // So little memory that the labels go to more than ten partitions.
    for (method, memory) in [
        ("majority-vote", "4"),
        ("dawid-skene", "0.0001"),
        ("one-coin", "4"),
    ] {
        for extra in [&[][..], &["--duplicates", "first"], &["--duplicates", "keep"]] {
            let mut in_memory = vec![
                "aggregate",
                "labels.csv",
                "-m",
                method,
                "--probabilities",
                "-o",
                "a.csv",
            ];
            in_memory.extend(["--workers", "wa.csv"]);
            in_memory.extend(extra);
            let mut on_disk = vec![
                "aggregate",
                "labels.csv",
                "-m",
                method,
                "--probabilities",
                "-o",
                "b.csv",
            ];
            on_disk.extend(["--workers", "wb.csv", "--spill", "spill", "--memory", memory]);
            on_disk.extend(extra);
            let first = quorate(folder.path(), &in_memory);
            assert_eq!(first.code, 0, "{}", first.stderr);
            let second = quorate(folder.path(), &on_disk);
            assert_eq!(second.code, 0, "{}", second.stderr);
            // Same tasks in the same order, same labels, probabilities to the printed precision.
            assert_eq!(
                lines(&folder.path().join("a.csv")),
                lines(&folder.path().join("b.csv")),
                "{method} {extra:?}"
            );
            assert_eq!(
                lines(&folder.path().join("wa.csv")),
                lines(&folder.path().join("wb.csv")),
                "{method} {extra:?}"
            );
            assert_eq!(fs::read_dir(folder.path().join("spill")).unwrap().count(), 0);
        }
    }
}

#[test]
fn what_needs_memory_is_refused_in_words_and_bad_rows_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write_labels(&folder.path().join("labels.csv"));
    let run = quorate(
        folder.path(),
        &["aggregate", "labels.csv", "-m", "glad", "--spill", "s"],
    );
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("dawid-skene"), "{}", run.stderr);
    let run = quorate(
        folder.path(),
        &[
            "aggregate",
            "labels.csv",
            "-m",
            "dawid-skene",
            "--spill",
            "s",
            "--model",
            "m.json",
        ],
    );
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--model"), "{}", run.stderr);
    fs::write(folder.path().join("bad.csv"), "task,worker,label\na,b,c\na,,c\n").unwrap();
    let run = quorate(
        folder.path(),
        &[
            "aggregate",
            "bad.csv",
            "-m",
            "dawid-skene",
            "--spill",
            "s",
            "-o",
            "out.csv",
        ],
    );
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("line 3"), "{}", run.stderr);
    assert!(!folder.path().join("out.csv").exists());
    assert_eq!(fs::read_dir(folder.path().join("s")).unwrap().count(), 0);
}

#[test]
fn a_file_above_the_memory_goes_to_disk_by_itself_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    write_labels(&folder.path().join("labels.csv"));
    let run = quorate(
        folder.path(),
        &[
            "aggregate",
            "labels.csv",
            "-m",
            "majority-vote",
            "-o",
            "out.csv",
            "--memory",
            "0.0001",
        ],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("kept on disk in"), "{}", run.stderr);
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}
