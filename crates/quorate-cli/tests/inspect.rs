//! `quorate inspect` as a user runs it: what it prints, as text and as JSON, and how it exits.

mod support;

use support::quorate;

fn simulated(options: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        "simulate",
        "-o",
        ".",
        "--tasks",
        "600",
        "--workers",
        "20",
        "--accuracy",
        "0.65,0.9",
        "--experts",
        "3",
        "--labels-per-task",
        "7",
    ];
    let run = quorate(folder.path(), &[&settings[..], options].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    folder
}

#[test]
fn text_has_its_parts_and_fits_the_screen() {
    let folder = simulated(&["--spammers", "1"]);
    let run = quorate(folder.path(), &["inspect", "labels.csv"]);
    assert_eq!(run.code, 0);
    let text = run.stdout;
    for part in [
        "What is in the table",
        "How far workers agree",
        "What can be known",
        "Findings",
        "as if at random",
    ] {
        assert!(text.contains(part), "{part:?} is missing from\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 130), "{text}");
    assert!(text.lines().count() < 60, "{text}");
    let threads = quorate(folder.path(), &["inspect", "labels.csv", "--threads", "1"]);
    assert_eq!(text, threads.stdout);
}

#[test]
fn json_names_the_spammer() {
    let folder = simulated(&["--spammers", "1", "--seed", "3"]);
    let run = quorate(
        folder.path(),
        &["inspect", "labels.csv", "--json", "--replicates", "100"],
    );
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let spammers: Vec<_> = findings
        .iter()
        .filter(|finding| finding["kind"] == "spammers")
        .collect();
    assert_eq!(spammers.len(), 1, "{findings:?}");
    assert_eq!(spammers[0]["workers"].as_array().unwrap().len(), 1);
    assert!(report["agreement"]["alpha_nominal"]["interval_95"].is_array());
    assert_eq!(report["structure"]["workers"].as_array().unwrap().len(), 20);
}

#[test]
fn fails_only_when_asked_to() {
    let folder = simulated(&["--adversaries", "2"]);
    let code = |severity| {
        quorate(
            folder.path(),
            &["inspect", "labels.csv", "-q", "--fail-on", severity],
        )
        .code
    };
    assert_eq!(code("warning"), 1);
    assert_eq!(code("problem"), 0);
    assert_eq!(quorate(folder.path(), &["inspect", "nothing.csv"]).code, 2);
}
