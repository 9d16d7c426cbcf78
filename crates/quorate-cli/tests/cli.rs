//! The program as people meet it: exit codes, standard output, standard error.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{folder, quorate, quorate_with_input, stable};

#[test]
fn aggregate_writes_labels_to_standard_output_and_words_to_standard_error() {
    let folder = folder();
    let run = quorate(folder.path(), &["aggregate", "labels.csv", "-m", "majority-vote"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    insta::assert_snapshot!("aggregate-stdout", run.stdout);
    insta::assert_snapshot!("aggregate-stderr", stable(&run.stderr));
}

#[test]
fn every_output_is_written_and_evaluate_reads_it_back() {
    let folder = folder();
    let run = quorate(
        folder.path(),
        &[
            "aggregate",
            "labels.csv",
            "-o",
            "out.jsonl.gz",
            "--probabilities",
            "--workers",
            "workers.tsv",
            "--model",
            "model.json",
            "--json",
        ],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(summary["tasks"], 12);
    assert_eq!(summary["method"], "auto");
    let workers = fs::read_to_string(folder.path().join("workers.tsv")).unwrap();
    assert!(
        workers.starts_with("worker\tlabels\taccuracy\tlow\thigh\tagreement\tp:cat|cat\t"),
        "{workers}"
    );
    let model: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("model.json")).unwrap()).unwrap();
    assert_eq!(model["classes"], serde_json::json!(["cat", "dog"]));

    let run = quorate(folder.path(), &["evaluate", "out.jsonl.gz", "truth.csv"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.starts_with("error "), "{}", run.stdout);
    let run = quorate(
        folder.path(),
        &["evaluate", "out.jsonl.gz", "truth.csv", "--json"],
    );
    let scores: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(scores["tasks_scored"], 12);
}

#[test]
fn the_same_input_and_seed_give_the_same_bytes_for_any_number_of_threads() {
    let folder = folder();
    let run = |threads| {
        quorate(
            folder.path(),
            &["aggregate", "labels.csv", "--probabilities", "--threads", threads],
        )
        .stdout
    };
    assert_eq!(run("1"), run("2"));
    assert_eq!(run("1"), run("1"));
}

#[test]
fn labels_come_through_a_pipe() {
    let folder = folder();
    let text = "id\tuser\tanswer\n1\ta\tx\n1\tb\tx\n2\ta\ty\n";
    let arguments = [
        "aggregate",
        "-",
        "--format",
        "tsv",
        "--columns",
        "task=id,worker=user,label=answer",
        "-m",
        "mv",
    ];
    let run = quorate_with_input(folder.path(), &arguments, text);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, "task,label,confidence\n1,x,1\n2,y,1\n");
}

#[test]
fn what_was_skipped_is_said() {
    let folder = folder();
    let rows = "task,worker,label\nt,a,x\nt,a,y\nt,b,y\nu,a,\nu,b,NaN\n";
    fs::write(folder.path().join("odd.csv"), rows).unwrap();
    let run = quorate(folder.path(), &["aggregate", "odd.csv", "-m", "majority-vote"]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!("skipped-stderr", stable(&run.stderr));
    let run = quorate(folder.path(), &["aggregate", "odd.csv", "--quiet"]);
    assert_eq!(run.stderr, "");
    let run = quorate(folder.path(), &["aggregate", "odd.csv", "--duplicates", "error"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: odd.csv, line 3"), "{}", run.stderr);
}

#[test]
fn bad_input_is_an_error_with_its_place_and_leaves_nothing_behind() {
    let folder = folder();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("empty.csv", b"");
    write("header.csv", b"task,worker,label\n");
    write("column.csv", b"thing,worker,label\n1,2,3\n");
    write("ragged.csv", b"task,worker,label\nt,a,x\nt,b\n");
    write("nul.csv", b"task,worker,label\nt,a\0,x\n");
    write("utf8.csv", b"task,worker,label\nt,a\xff,x\n");
    write("quote.csv", b"task,worker,label\nt,\"a,x\n");
    write(
        "long.csv",
        format!("task,worker,label\nt,a,{}\n", "x".repeat(1 << 20)).as_bytes(),
    );
    write("blank.csv", b"task,worker,label\nt,a,x\n,b,x\n");
    write("bytes.parquet", b"this is not parquet");
    write("bytes.csv.gz", b"this is not gzip");
    let before = files(folder.path());
    let mut transcript = String::new();
    for arguments in [
        &["aggregate", "nowhere.csv"][..],
        &["aggregate", "empty.csv"],
        &["aggregate", "header.csv"],
        &["aggregate", "column.csv"],
        &["aggregate", "ragged.csv"],
        &["aggregate", "nul.csv"],
        &["aggregate", "utf8.csv"],
        &["aggregate", "quote.csv"],
        &["aggregate", "long.csv"],
        &["aggregate", "blank.csv"],
        &["aggregate", "bytes.csv.gz"],
        &["aggregate", "labels.csv", "--classes", "cat"],
        &["aggregate", "labels.csv", "-m", "rob-symnmv"],
        &["aggregate", "labels.csv", "-p", "tol=2"],
        &["aggregate", "labels.csv", "-p", "nothing"],
        &["aggregate", "labels.csv", "--columns", "tusk=a"],
        &["aggregate", "labels.xyz"],
        &["evaluate", "truth.csv", "labels.csv"],
        &["simulate", "-o", "crowd", "--density", "2"],
    ] {
        let mut with_output = arguments.to_vec();
        if arguments[0] == "aggregate" {
            with_output.extend(["-o", "out.csv"]);
        }
        let run = quorate(folder.path(), &with_output);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert_eq!(run.stdout, "");
        transcript.push_str(&format!("$ quorate {}\n{}\n", arguments.join(" "), run.stderr));
    }
    insta::assert_snapshot!("errors", transcript);
    let run = quorate(folder.path(), &["aggregate", "bytes.parquet", "-o", "out.csv"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: bytes.parquet"), "{}", run.stderr);
    assert_eq!(files(folder.path()), before, "nothing may be left behind");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn a_check_that_fails_exits_with_one() {
    let folder = folder();
    let wrong: String = (0..12).map(|task| format!("t{task},cat\n")).collect();
    fs::write(folder.path().join("wrong.csv"), format!("task,label\n{wrong}")).unwrap();
    let code = |limit| {
        quorate(
            folder.path(),
            &["evaluate", "wrong.csv", "truth.csv", "--fail-above", limit],
        )
        .code
    };
    assert_eq!((code("50"), code("70")), (1, 0));
}

#[test]
fn compare_puts_the_best_first_and_survives_a_failing_method() {
    let folder = folder();
    let run = quorate(
        folder.path(),
        &["compare", "labels.csv", "--truth", "truth.csv", "--json"],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let result: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let errors: Vec<f64> = result["methods"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["error"].as_f64())
        .collect();
    assert!(errors.len() > 5 && errors.is_sorted());
    // A method that needs what is not there says so in its row.
    let run = quorate(
        folder.path(),
        &["compare", "labels.csv", "-m", "crowdlab,majority-vote"],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("--probabilities-in"), "{}", run.stdout);
    assert!(run.stdout.contains("majority-vote"), "{}", run.stdout);
}

#[test]
fn simulate_then_compare_as_its_last_line_says() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        "simulate",
        "-o",
        "crowd",
        "--tasks",
        "200",
        "--accuracy",
        "0.6,0.9",
        "--labels-per-task",
        "5",
        "--spammers",
        "20%",
    ];
    let run = quorate(folder.path(), &settings);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let last = run
        .stderr
        .lines()
        .last()
        .unwrap()
        .strip_prefix("next: quorate ")
        .unwrap();
    let run = quorate(folder.path(), &last.split(' ').collect::<Vec<_>>());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let first = fs::read(folder.path().join("crowd/labels.csv")).unwrap();
    quorate(folder.path(), &settings);
    assert_eq!(fs::read(folder.path().join("crowd/labels.csv")).unwrap(), first);
}

#[test]
fn demo_needs_nothing_and_says_what_to_do_next() {
    let folder = tempfile::tempdir().unwrap();
    let run = quorate(folder.path(), &["demo"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(
        run.stdout
            .contains("quorate aggregate your-labels.csv -o labels.csv"),
        "{}",
        run.stdout
    );
    let run = quorate(folder.path(), &["demo", "--json"]);
    let lines: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let error = |name: &str| {
        let line = lines
            .as_array()
            .unwrap()
            .iter()
            .find(|line| line["method"] == name)
            .unwrap();
        line["error"].as_f64().unwrap()
    };
    assert!(error("rob-symnmf") < 0.6 * error("majority-vote"));
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        "demo",
        "aggregate",
        "evaluate",
        "compare",
        "inspect",
        "methods",
        "simulate",
        "data",
        "completions",
    ] {
        let run = quorate(folder.path(), &[command, "--help"]);
        assert_eq!(run.code, 0);
        assert!(run.stdout.contains("Example"), "{command}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let run = quorate(folder.path(), &["completions", shell]);
        assert!(run.code == 0 && run.stdout.contains("aggregate"), "{shell}");
    }
    for method in quorate_cli::catalog::methods() {
        let run = quorate(folder.path(), &["methods", method.name]);
        assert!(
            run.code == 0 && run.stdout.starts_with(method.name),
            "{}",
            method.name
        );
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        "simulate",
        "-o",
        ".",
        "--tasks",
        "50000",
        "--labels-per-task",
        "1",
        "--quiet",
    ];
    assert_eq!(quorate(folder.path(), &settings).code, 0);
    let mut child = Command::new(env!("CARGO_BIN_EXE_quorate"))
        .args(["aggregate", "labels.csv", "-m", "majority-vote", "--quiet"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[cfg(feature = "deep")]
#[test]
fn features_train_a_network_and_must_line_up() {
    let folder = folder();
    let rows = (0..12).map(|task| format!("t{task},{}\n", if task % 3 == 0 { -1.5 } else { 1.0 }));
    fs::write(
        folder.path().join("features.csv"),
        format!("task,length\n{}", rows.collect::<String>()),
    )
    .unwrap();
    let arguments = ["aggregate", "labels.csv", "-m", "crowd-layer", "-o", "out.csv"];
    let run = quorate(
        folder.path(),
        &[&arguments[..], &["--features", "features.csv"]].concat(),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let labels = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    assert!(
        labels.contains("\nt3,cat,") && labels.contains("\nt4,dog,"),
        "{labels}"
    );

    let run = quorate(folder.path(), &arguments);
    assert!(
        run.code == 2 && run.stderr.contains("--features FILE"),
        "{}",
        run.stderr
    );
    fs::write(folder.path().join("features.csv"), "task,length\nt0,1\n").unwrap();
    let run = quorate(
        folder.path(),
        &[&arguments[..], &["--features", "features.csv"]].concat(),
    );
    assert!(
        run.code == 2 && run.stderr.contains("11 of 12 tasks have no features"),
        "{}",
        run.stderr
    );
    // Without features `compare` leaves out what needs them.
    let run = quorate(folder.path(), &["compare", "labels.csv"]);
    assert!(
        run.code == 0 && !run.stdout.contains("crowd-layer"),
        "{}",
        run.stdout
    );
}

#[test]
fn difficulty_is_a_column_where_it_is_estimated_and_a_warning_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let mut labels = String::from("task,worker,label\n");
    for row in 0..90 {
        let (task, worker) = (row / 6, row % 6);
        // The last tasks mislead half of the workers.
        let label = if task >= 12 && worker < 3 { "b" } else { "a" };
        labels.push_str(&format!("t{task},w{worker},{label}\n"));
    }
    fs::write(folder.path().join("labels.csv"), labels).unwrap();
    let run = quorate(
        folder.path(),
        &["aggregate", "labels.csv", "--difficulty", "-o", "out.csv"],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let table = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    let mut rows = table.lines().map(|row| row.split(',').collect::<Vec<_>>());
    assert_eq!(
        rows.next().unwrap(),
        ["task", "label", "confidence", "difficulty"]
    );
    let difficulty: Vec<f64> = rows.map(|row| row[3].parse().unwrap()).collect();
    assert_eq!(difficulty.len(), 15);
    assert!(difficulty.iter().all(|chance| (0.0..=1.0).contains(chance)));
    assert!(difficulty[14] > difficulty[0], "{difficulty:?}");
    let run = quorate(
        folder.path(),
        &[
            "aggregate",
            "labels.csv",
            "-m",
            "mv",
            "--difficulty",
            "-o",
            "out.csv",
        ],
    );
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.contains("no difficulty of tasks was estimated"),
        "{}",
        run.stderr
    );
}
