//! No surprises with people's data: classes that look alike, outputs that would overwrite something, files
//! that do not fit.

mod support;

use std::fs;

use support::{Run, quorate};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> Run {
    quorate(folder.path(), arguments)
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

const NUMBERS: &str = "task,worker,label\nt1,a,1\nt1,b,1.0\nt1,c,2\nt2,a,2.0\nt2,b,2\nt2,c,1\n";

#[test]
fn the_same_number_is_one_class_in_memory_and_on_disk() {
    let folder = folder(&[("labels.csv", NUMBERS)]);
    for extra in [&[][..], &["--spill", "s"]] {
        let mut arguments = vec!["aggregate", "labels.csv", "-m", "mv", "-o", "out.csv"];
        arguments.extend(extra);
        let found = run(&folder, &arguments);
        assert_eq!(found.code, 0, "{}", found.stderr);
        assert!(
            found
                .stderr
                .contains(r#"classes "1", "1.0" are the same number: joined as "1""#),
            "{}",
            found.stderr
        );
        assert_eq!(
            read(&folder, "out.csv"),
            "task,label,confidence\nt1,1,0.666667\nt2,2,0.666667\n"
        );
    }
    // Who lists the classes means them.
    let found = run(
        &folder,
        &["aggregate", "labels.csv", "-m", "mv", "--classes", "1,1.0,2,2.0"],
    );
    assert!(!found.stderr.contains("joined"), "{}", found.stderr);
}

#[test]
fn spellings_are_pointed_out_and_joined_on_request() {
    let labels = "task,worker,label\nt1,a,yes\nt1,b,Yes\nt1,c,no\nt2,a,\" yes \"\nt2,b,no\n";
    let folder = folder(&[("labels.csv", labels)]);
    let found = run(&folder, &["aggregate", "labels.csv", "-m", "mv"]);
    assert!(
        found.stderr.contains("differ only in case or white space"),
        "{}",
        found.stderr
    );
    assert!(found.stderr.contains("--normalize joins them"));
    let found = run(&folder, &["aggregate", "labels.csv", "-m", "mv", "--normalize"]);
    assert!(found.stdout.contains("t1,Yes,0.666667"), "{}", found.stdout);
    assert!(!found.stderr.contains("differ only in case"));
}

#[test]
fn missing_answers_and_free_text_are_pointed_out() {
    let folder = folder(&[(
        "na.csv",
        "task,worker,label\nt1,a,x\nt1,b,NA\nt2,a,None\nt2,b,x\n",
    )]);
    let found = run(&folder, &["aggregate", "na.csv", "-m", "mv"]);
    assert!(
        found.stderr.contains("--missing NA,None leaves such rows out"),
        "{}",
        found.stderr
    );
    let mut text = String::from("task,worker,label\n");
    for row in 0..60 {
        text.push_str(&format!("t{},w{},some words {row}\n", row / 2, row % 2));
    }
    fs::write(folder.path().join("text.csv"), text).unwrap();
    let found = run(&folder, &["aggregate", "text.csv", "-m", "mv", "-o", "out.csv"]);
    assert!(found.stderr.contains("looks like free text"), "{}", found.stderr);
}

#[test]
fn an_output_never_overwrites_an_input_or_another_output() {
    let folder = folder(&[("labels.csv", NUMBERS), ("gold.csv", "task,label\nt1,1\n")]);
    for arguments in [
        &["aggregate", "labels.csv", "-o", "labels.csv"][..],
        &["aggregate", "labels.csv", "--changes", "./labels.csv"],
        &[
            "aggregate",
            "labels.csv",
            "--gold",
            "gold.csv",
            "--workers",
            "gold.csv",
        ],
        &["aggregate", "labels.csv", "-o", "x.csv", "--workers", "x.csv"],
        &["aggregate", "labels.csv", "-o", "x.csv", "--workers", "X.csv"],
        &["aggregate", "labels.csv", "-o", "no/such/folder.csv"],
        &["aggregate", "labels.csv", "-o", "out.xyz"],
        &["aggregate", "labels.csv", "-o", "out"],
    ] {
        let found = run(&folder, arguments);
        assert_eq!(found.code, 2, "{arguments:?}: {}", found.stderr);
        assert_eq!(read(&folder, "labels.csv"), NUMBERS, "{arguments:?}");
        assert_eq!(read(&folder, "gold.csv"), "task,label\nt1,1\n");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let found = run(
        &folder,
        &["aggregate", "labels.csv", "-o", "out", "--output-format", "tsv"],
    );
    assert_eq!(found.code, 0, "{}", found.stderr);
    assert!(read(&folder, "out").starts_with("task\tlabel\tconfidence\n"));
    #[cfg(unix)]
    for device in ["/dev/null", "/dev/stdout"] {
        let found = run(&folder, &["aggregate", "labels.csv", "-o", device]);
        assert_eq!(found.code, 0, "{}", found.stderr);
    }
}

#[test]
fn evaluate_scores_the_label_that_was_written() {
    let predicted = "task,label,confidence,p:a,p:b\nt1,b,0.1,0.9,0.1\nt2,b,0.1,0.9,0.1\n";
    let folder = folder(&[("p.csv", predicted), ("t.csv", "task,label\nt1,b\nt2,b\n")]);
    let found = run(&folder, &["evaluate", "p.csv", "t.csv"]);
    assert_eq!(found.code, 0, "{}", found.stderr);
    assert!(
        found.stdout.starts_with("error              0.00 %"),
        "{}",
        found.stdout
    );
}

/// Ties are drawn once: the error does not depend on whether probabilities are written.
#[test]
fn evaluate_scores_drawn_ties_alike_with_and_without_probabilities() {
    let mut labels = String::from("task,worker,label\n");
    let mut truth = String::from("task,label\n");
    for task in 0..60 {
        labels.push_str(&format!("t{task},u,a\nt{task},v,b\n"));
        truth.push_str(&format!("t{task},{}\n", if task % 2 == 0 { "a" } else { "b" }));
    }
    let folder = folder(&[("labels.csv", &labels), ("t.csv", &truth)]);
    let score = |extra: &[&str]| {
        let mut arguments = vec![
            "aggregate",
            "labels.csv",
            "-m",
            "mv",
            "-p",
            "ties=random",
            "-o",
            "out.csv",
        ];
        arguments.extend(extra);
        assert_eq!(run(&folder, &arguments).code, 0);
        let scored = run(&folder, &["evaluate", "out.csv", "t.csv"]).stdout;
        scored.split('%').next().unwrap().to_owned()
    };
    assert_eq!(score(&[]), score(&["--probabilities"]));
    // The lowest class alone would be wrong on half of the tasks.
    assert!(!score(&[]).contains("50.00"), "nothing was drawn");
}

/// Small probabilities became 0 in text, and the same fit had another log loss than from a columnar file.
#[test]
fn log_loss_is_the_same_from_every_format() {
    let mut labels = String::from("task,worker,label\n");
    for task in 0..40 {
        for worker in 0..9 {
            let label = if (task * 7 + worker * 5) % 11 < 3 + worker / 3 {
                "b"
            } else {
                "a"
            };
            labels.push_str(&format!("t{task},w{worker},{label}\n"));
        }
    }
    let truth: String = (0..40)
        .map(|task| format!("t{task},{}\n", if task % 3 == 0 { "b" } else { "a" }))
        .collect();
    let folder = folder(&[
        ("labels.csv", &labels),
        ("t.csv", &format!("task,label\n{truth}")),
    ]);
    let mut found = Vec::new();
    let formats: &[&str] = if cfg!(feature = "columnar") {
        &["csv", "tsv", "jsonl", "parquet", "arrow"]
    } else {
        &["csv", "tsv", "jsonl"]
    };
    for format in formats {
        let out = format!("out.{format}");
        let fitted = run(
            &folder,
            &[
                "aggregate",
                "labels.csv",
                "-m",
                "dawid-skene",
                "--probabilities",
                "-o",
                &out,
            ],
        );
        assert_eq!(fitted.code, 0, "{}", fitted.stderr);
        let scored = run(&folder, &["evaluate", &out, "t.csv"]);
        let line = scored
            .stdout
            .lines()
            .find(|line| line.starts_with("log loss"))
            .unwrap()
            .to_owned();
        found.push(line);
    }
    assert!(
        read(&folder, "out.csv").contains("e-"),
        "no small probability in this test"
    );
    assert!(found.iter().all(|line| *line == found[0]), "{found:?}");
}

#[test]
fn evaluate_knows_the_same_number_and_refuses_other_classes() {
    let folder = folder(&[
        ("p.csv", "task,label\nt1,1.0\nt2,2.0\n"),
        ("t.csv", "task,label\nt1,1\nt2,2\n"),
        ("words.csv", "task,label\nt1,one\nt2,two\n"),
        ("half.csv", "task,label\nt1,1\nt2,two\n"),
    ]);
    let found = run(&folder, &["evaluate", "p.csv", "t.csv"]);
    assert!(
        found.stdout.starts_with("error              0.00 %"),
        "{}",
        found.stdout
    );
    let found = run(&folder, &["evaluate", "p.csv", "words.csv"]);
    assert_eq!(found.code, 2);
    assert!(
        found.stderr.contains("no true class was ever predicted"),
        "{}",
        found.stderr
    );
    let found = run(&folder, &["evaluate", "p.csv", "half.csv"]);
    assert_eq!(found.code, 0);
    assert!(
        found.stderr.contains("1 of 2 tasks have a true class"),
        "{}",
        found.stderr
    );
}
