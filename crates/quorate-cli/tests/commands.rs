//! Every command as people meet it: a snapshot of exit code, standard output and standard error.

mod support;

use std::fs;
use std::path::Path;

use support::{folder, run, stable};

/// Runs the commands one after the other in `folder` and writes down what came out.
fn session(folder: &Path, commands: &[&str]) -> String {
    let mut text = String::new();
    for command in commands {
        let run = run(folder, command);
        text.push_str(&format!("$ quorate {command}\nexit code {}\n", run.code));
        for (name, output) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
            if !output.is_empty() {
                text.push_str(&format!("--- {name}\n{}", stable(output)));
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn aggregate() {
    let folder = folder();
    let text = session(
        folder.path(),
        &[
            "aggregate labels.csv -m dawid-skene",
            "aggregate labels.csv -m dawid-skene -o out.csv --probabilities --workers workers.csv --changes changes.csv",
            "aggregate labels.csv -m majority-vote -o out.csv --json",
            "aggregate labels.csv -m crowdlab",
        ],
    );
    insta::assert_snapshot!(text);
    let files = ["out.csv", "workers.csv", "changes.csv"].map(|file| {
        let path = folder.path().join(file);
        format!("{file}\n{}", fs::read_to_string(path).unwrap())
    });
    insta::assert_snapshot!("aggregate-files", files.join("\n"));
}

#[test]
fn compare() {
    let text = session(
        folder().path(),
        &[
            "compare labels.csv -m majority-vote,dawid-skene,crowdlab --truth truth.csv",
            "compare labels.csv -m nothing",
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn completions() {
    // The scripts grow with every option; that they complete is tested in `cli.rs`.
    let folder = folder();
    let refused = session(folder.path(), &["completions tcsh"]);
    insta::assert_snapshot!(refused);
    let run = run(folder.path(), "completions bash");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("completions-first-line", run.stdout.lines().next().unwrap());
}

#[test]
fn data_check() {
    let folder = folder();
    let set = folder.path().join("data/bluebird");
    fs::create_dir_all(&set).unwrap();
    fs::write(set.join("truth.csv"), "task,label\n").unwrap();
    let text = session(
        folder.path(),
        &["data check data", "data check data --json", "data check nowhere"],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn demo() {
    insta::assert_snapshot!(session(folder().path(), &["demo", "demo --json"]));
}

#[test]
fn evaluate() {
    let folder = folder();
    let all_cats: String = (0..12).map(|task| format!("t{task},cat\n")).collect();
    fs::write(folder.path().join("cats.csv"), format!("task,label\n{all_cats}")).unwrap();
    let text = session(
        folder.path(),
        &[
            "aggregate labels.csv -m majority-vote --probabilities -o out.csv --quiet",
            "evaluate out.csv truth.csv",
            "evaluate cats.csv truth.csv --json",
            "evaluate cats.csv truth.csv --fail-above 50",
            "evaluate out.csv nowhere.csv",
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn inspect() {
    let text = session(
        folder().path(),
        &[
            "inspect labels.csv",
            "inspect labels.csv --json --replicates 100",
            "inspect labels.csv --fail-on problem --quiet --replicates 0",
            "inspect truth.csv",
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn judges() {
    let folder = folder();
    let path = folder.path();
    // Three judges and two copies of a fourth; c fails now and then, a is asked twice about every tenth item.
    let (mut rows, mut gold) = (String::new(), String::from("task,label\n"));
    let word = |good: bool| if good { "pass" } else { "fail" };
    for item in 0..150usize {
        // Numbers that look like chance.
        let mut state = 77 * item as u64 + 5;
        let mut chance = |percent: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 100 < percent
        };
        for _ in 0..3 {
            chance(0);
        }
        let truth = chance(60);
        let fourth = truth ^ chance(30);
        let answers = [
            ("a", truth ^ chance(12)),
            ("b", truth ^ chance(if truth { 8 } else { 30 })),
            ("c", truth ^ chance(15)),
            ("d", fourth ^ chance(2)),
            ("d2", fourth ^ chance(2)),
        ];
        for (judge, answer) in answers {
            let failed = judge == "c" && item % 7 == 3;
            rows.push_str(&format!(
                "q{item},{judge},{}\n",
                if failed { "" } else { word(answer) }
            ));
        }
        if item % 10 == 0 {
            rows.push_str(&format!("q{item},a,{}\n", word(truth)));
        }
        if item % 3 == 0 {
            gold.push_str(&format!("q{item},{}\n", word(truth)));
        }
    }
    support::write(path, "panel.csv", &rows);
    fs::write(path.join("gold.csv"), gold).unwrap();
    support::write(path, "one.csv", "q1,a,pass\nq2,a,fail\n");
    support::write(path, "two.csv", "q1,a,pass\nq1,b,fail\nq2,a,fail\nq2,b,fail\n");
    support::write(path, "same.csv", "q1,a,pass\nq1,b,pass\nq1,c,pass\n");
    support::write(path, "failed.csv", "q1,a,\nq1,b,NaN\n");
    support::write(path, "header.csv", "");
    fs::write(path.join("empty.csv"), "").unwrap();
    let text = session(
        path,
        &[
            "judges panel.csv",
            "judges panel.csv --gold gold.csv -o verdicts.csv",
            "judges panel.csv --gold gold.csv --policy strict-majority --unscored fail --json",
            "judges panel.csv --gold gold.csv --fail-below 0.9,effective-judges=3 --quiet --json --positive nothing",
            "judges one.csv",
            "judges two.csv",
            "judges same.csv",
            "judges failed.csv",
            "judges header.csv",
            "judges empty.csv",
            "judges panel.csv --duplicates first",
            "judges panel.csv -o panel.csv",
        ],
    );
    insta::assert_snapshot!(text);
    let written = fs::read_to_string(path.join("verdicts.csv")).unwrap();
    insta::assert_snapshot!(
        "judges-verdicts",
        written.lines().take(12).collect::<Vec<_>>().join("\n")
    );
    let gate =
        |limit: &str| support::run(path, &format!("judges panel.csv --quiet --fail-below {limit}")).code;
    assert_eq!(
        (gate("0.3"), gate("0.95"), gate("gold-agreement=0.1"), gate("80")),
        (0, 1, 1, 2)
    );
    // 48 of 50 are right: 0.96, the lower end of the interval is below 0.9, the upper one above 0.97.
    let ends = |limit: &str, on: &str| {
        let line =
            format!("judges panel.csv --gold gold.csv --fail-below gold-agreement={limit} --gate-on {on}");
        support::run(path, &line)
    };
    let codes = |limit: &str| ["low", "estimate", "high"].map(|on| ends(limit, on).code);
    assert_eq!((codes("0.9"), codes("0.97")), ([1, 0, 0], [1, 1, 0]));
    assert!(ends("0.9", "low").stderr.contains("lower end of its interval"));
    let truth = support::run(path, "judges panel.csv --truth gold.csv");
    assert!(
        truth.code == 2 && truth.stderr.contains("--gold"),
        "{}",
        truth.stderr
    );
}

#[test]
fn plan() {
    let text = session(
        folder().path(),
        &[
            "plan labels.csv --budget 4 --target 0.01",
            "plan labels.csv --budget 4 -o next.csv --retired done.csv --json",
            "plan labels.csv --goal comparable",
            "plan labels.csv --budget 6 --rounds 2 --start 2 --simulate --truth truth.csv",
            "plan labels.csv --budget 6 --rounds 2 --start 2 --simulate --truth truth.csv --json",
            "plan labels.csv --budget 6 --simulate --truth truth.csv --costs truth.csv",
            "plan labels.csv --budget 6 --json",
            "plan labels.csv",
            "plan labels.csv --budget 0",
            "plan labels.csv --budget 4 -m majority-vote",
            "plan labels.csv --budget 4 -o labels.csv",
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn report() {
    let folder = folder();
    let text = session(
        folder.path(),
        &[
            "report labels.csv -o page.html",
            "report labels.csv --task-url javascript:alert({task}) -o page.html",
            "report labels.csv -o labels.csv",
            "report labels.csv --show text -o page.html",
            "report labels.csv --texts truth.csv --show label --target 0.1 -o page.html",
            "report labels.csv --target 2 -o page.html",
        ],
    );
    insta::assert_snapshot!(text);
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for section in [
        "tasks",
        "workers",
        "classes",
        "confidence",
        "majority",
        "agreement",
        "coverage",
        "plan",
    ] {
        assert!(page.contains(&format!("<section id=\"{section}\"")), "{section}");
    }
}

#[test]
fn workers() {
    let text = session(
        folder().path(),
        &[
            "workers labels.csv",
            "workers labels.csv --json",
            "workers labels.csv -o workers.csv",
            "workers labels.csv -o labels.csv",
            "workers truth.csv",
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn methods() {
    let text = session(
        folder().path(),
        &[
            "methods",
            "methods rob-symnmf",
            "methods majority-vote --json",
            "methods nothing",
        ],
    );
    insta::assert_snapshot!(text);
}

#[cfg(feature = "lab")]
#[test]
fn reproduce() {
    let text = session(
        folder().path(),
        &[
            "reproduce --list",
            "reproduce svdimputation --quick --trials 2 -o out",
            "reproduce tab:AMT1 --data nowhere",
            "reproduce nothing",
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn simulate() {
    let folder = folder();
    let text = session(
        folder.path(),
        &[
            "simulate -o crowd --tasks 4 --workers 3 --classes 2 --density 1 --accuracy 0.6,0.9 --seed 3",
            "simulate -o crowd --tasks 0",
        ],
    );
    insta::assert_snapshot!(text);
    let files = ["labels.csv", "truth.csv", "model.json"].map(|file| {
        let path = folder.path().join("crowd").join(file);
        format!("{file}\n{}", fs::read_to_string(path).unwrap())
    });
    insta::assert_snapshot!("simulate-files", files.join("\n"));
}

#[test]
fn without_a_command() {
    insta::assert_snapshot!(session(folder().path(), &["--version", "nothing"]));
}
