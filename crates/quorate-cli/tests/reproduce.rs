//! `quorate reproduce` end to end, on very little.
#![cfg(feature = "lab")]

mod support;

use std::fs;
use std::path::Path;

use support::{Run, quorate};

fn reproduce(folder: &Path, arguments: &[&str]) -> Run {
    quorate(folder, &[&["reproduce"], arguments].concat())
}

/// A data folder with a small table in place of web.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let web = folder.path().join("data/web");
    fs::create_dir_all(&web).unwrap();
    let (mut labels, mut truth) = (String::from("task,worker,label\n"), String::from("task,label\n"));
    for task in 0..40 {
        let class = task % 2;
        truth.push_str(&format!("t{task},{class}\n"));
        for worker in 0..5 {
            let wrong = (task * 7 + worker * 3) % (worker + 4) == 0;
            labels.push_str(&format!(
                "t{task},w{worker},{}\n",
                if wrong { 1 - class } else { class }
            ));
        }
    }
    fs::write(web.join("labels.csv"), labels).unwrap();
    fs::write(web.join("truth.csv"), truth).unwrap();
    folder
}

#[test]
fn a_small_run_writes_the_page_in_all_forms() {
    let folder = folder();
    let arguments = [
        "extra:web",
        "tab:synthetic1",
        "svdimputation",
        "--data",
        "data",
        "--quick",
        "--trials",
        "2",
        "--seed",
        "5",
        "-o",
        "out",
    ];
    let run = reproduce(folder.path(), &arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let table = run.stdout;
    assert!(
        table.contains("extra:web") && table.contains("thm:svdimputation"),
        "{table}"
    );
    assert!(run.stderr.contains("index.html"));
    let read = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let markdown = read("results.md");
    for part in [
        "## extra:web",
        "## tab:synthetic1",
        "## thm:svdimputation",
        "| RobSymNMF |",
        "4.10e-3",
    ] {
        assert!(markdown.contains(part), "{part}");
    }
    assert!(read("index.html").contains("<section id=\"tab:synthetic1\">"));
    assert!(read("figures/thm-svdimputation.svg").starts_with("<svg"));
    let json: serde_json::Value = serde_json::from_str(&read("results.json")).unwrap();
    assert_eq!(json["seed"], 5);
    let rows = json["sections"][0]["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 22);
    assert!(rows[0]["cells"][0]["ours"]["mean"].as_f64().unwrap() < 20.0);
}

/// It was `../shared/data`, outside of every project.
#[test]
fn the_data_are_those_of_quorate_data_or_lie_in_the_folder_data() {
    let folder = folder();
    let arguments = [
        "reproduce",
        "extra:web",
        "--quick",
        "--trials",
        "1",
        "-q",
        "-o",
        "out",
    ];
    let here = quorate(folder.path(), &arguments);
    assert_eq!(here.code, 0, "{}", here.stderr);
    fs::rename(folder.path().join("data"), folder.path().join("elsewhere")).unwrap();
    let gone = quorate(folder.path(), &arguments);
    assert!(
        gone.code == 2 && gone.stderr.contains("no data/web"),
        "{}",
        gone.stderr
    );
    let named = support::world::command(folder.path(), &arguments.join(" "))
        .env("QUORATE_DATA", "elsewhere")
        .output()
        .unwrap();
    assert!(named.status.success());
}

#[test]
fn wrong_names_and_missing_data_are_errors_that_help() {
    let folder = folder();
    let run = reproduce(folder.path(), &["tab:AMT1", "-o", "out"]);
    assert_eq!(run.code, 2);
    let message = run.stderr;
    assert!(
        message.contains("no data/bluebird") && message.contains("--data or QUORATE_DATA"),
        "{message}"
    );
    assert!(!folder.path().join("out").exists());
    let run = reproduce(folder.path(), &["tab:nothing"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("tab:AMT1"));
    let list = reproduce(folder.path(), &["--list"]);
    assert_eq!(list.code, 0);
    assert!(list.stdout.contains("fig:conv_symnmf2"));
}
