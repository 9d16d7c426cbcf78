//! Comparisons through the program: `rank`, and the commands that know them, too.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::quorate;

/// Simulated comparisons in `arena/`.
fn arena(folder: &Path, more: &[&str]) {
    let fixed = [
        "simulate",
        "--pairs",
        "--items",
        "6",
        "--judges",
        "12",
        "--comparisons",
        "900",
        "-o",
        "arena",
    ];
    let run = quorate(folder, &[&fixed[..], more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
}

fn rank(folder: &Path, text: &str, more: &[&str]) -> support::Run {
    fs::write(folder.join("votes.csv"), text).unwrap();
    quorate(folder, &[&["rank", "votes.csv"][..], more].concat())
}

fn json(run: &support::Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr))
}

#[test]
fn every_output_is_written_and_agrees_with_the_json() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    arena(folder, &[]);
    let all = [
        "rank",
        "arena/comparisons.csv",
        "-o",
        "l.csv",
        "--judges",
        "j.csv",
        "--matrix",
        "m.csv",
        "--picture",
        "l.svg",
        "--next",
        "7",
        "--next-output",
        "n.csv",
        "--json",
    ];
    let run = quorate(folder, &all);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let found = &json(&run)[0];
    let lines = |name: &str| fs::read_to_string(folder.join(name)).unwrap().lines().count() - 1;
    assert_eq!(
        (lines("l.csv"), lines("j.csv"), lines("m.csv"), lines("n.csv")),
        (6, 12, 30, 7)
    );
    assert_eq!(found["leaderboard"].as_array().unwrap().len(), 6);
    assert_eq!(found["judges"].as_array().unwrap().len(), 12);
    assert_eq!(found["next"].as_array().unwrap().len(), 7);
    let first = fs::read_to_string(folder.join("l.csv")).unwrap();
    let first: Vec<&str> = first.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(first[1], found["leaderboard"][0]["item"]);
    assert!(
        (first[2].parse::<f64>().unwrap() - found["leaderboard"][0]["score"].as_f64().unwrap()).abs() < 1e-5
    );
    assert!(
        fs::read_to_string(folder.join("l.svg"))
            .unwrap()
            .starts_with("<svg")
    );
    let elo = json(&quorate(
        folder,
        &["rank", "arena/comparisons.csv", "--scale", "elo", "--json"],
    ));
    let points = |document: &Value| document["leaderboard"][0]["score"].as_f64().unwrap();
    let expected = 1000.0 + 400.0 / 10f64.ln() * points(found);
    assert!((points(&elo[0]) - expected).abs() < 1e-9);
}

#[test]
fn what_is_required_decides_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..40).map(|_| "new,old,left\nold,new,right\n").collect();
    let text = format!("left,right,winner\n{rows}new,other,tie\n");
    let code = |more: &[&str]| rank(folder, &text, more).code;
    assert_eq!(code(&["--require", "new > old"]), 0);
    assert_eq!(code(&["--require", "old > new"]), 1);
    assert_eq!(code(&["--require", "new > other", "--level", "0.999999"]), 1);
    assert_eq!(code(&["--require", "new > nobody"]), 2);
    assert_eq!(code(&["--require", "new"]), 2);
}

#[test]
fn commands_for_labels_refuse_comparisons_and_name_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for columns in [
        "left,right,winner,judge",
        "model_a,model_b,winner,judge",
        "prompt,chosen,rejected,judge",
    ] {
        fs::write(
            folder.join("votes.csv"),
            format!("{columns}\nx,y,x,ann\ny,z,y,bob\n"),
        )
        .unwrap();
        for command in ["aggregate", "judges", "inspect", "workers", "plan --budget 5"] {
            let words: Vec<&str> = command.split(' ').collect();
            let run = quorate(folder, &[&words[..], &["votes.csv"]].concat());
            assert_eq!(run.code, 2, "{command}: {}", run.stdout);
            assert!(run.stderr.contains("quorate rank"), "{command}: {}", run.stderr);
        }
    }
}

#[test]
fn the_report_evaluate_and_compare_know_comparisons() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    arena(folder, &["--seed", "3"]);
    let run = quorate(folder, &["report", "arena/comparisons.csv", "-o", "page.html"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    for section in [
        "id=\"leaderboard\"",
        "id=\"wins\"",
        "id=\"judges\"",
        "id=\"next\"",
        "<svg",
    ] {
        assert!(page.contains(section), "{section}");
    }
    assert!(!page.contains("NaN"));
    let wrong = quorate(
        folder,
        &[
            "report",
            "arena/comparisons.csv",
            "--truth",
            "arena/scores.csv",
            "-o",
            "other.html",
        ],
    );
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("--truth"), "{}", wrong.stderr);

    quorate(folder, &["rank", "arena/comparisons.csv", "-o", "l.csv"]);
    let found = json(&quorate(
        folder,
        &["evaluate", "l.csv", "arena/scores.csv", "--json"],
    ));
    assert_eq!(
        (found["items"].as_u64(), found["pairs"].as_u64()),
        (Some(6), Some(15))
    );
    // tau = 2 accuracy - 1 without ties.
    let (tau, accuracy) = (
        found["kendall_tau"].as_f64().unwrap(),
        found["pairwise_accuracy"].as_f64().unwrap(),
    );
    assert!((tau - (2.0 * accuracy - 1.0)).abs() < 1e-9 && accuracy > 0.7);

    let found = json(&quorate(
        folder,
        &[
            "compare",
            "arena/comparisons.csv",
            "--truth",
            "arena/scores.csv",
            "--json",
        ],
    ));
    let losses: Vec<f64> = found["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["log_loss"].as_f64().unwrap())
        .collect();
    assert_eq!(losses.len(), 5);
    assert!(losses.is_sorted());
}

#[test]
fn a_known_order_is_compared_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Of the six pairs of a > b > c > d one (c, d) is in the wrong order.
    fs::write(folder.join("found.csv"), "item,score\na,4\nb,3\nc,1\nd,2\n").unwrap();
    fs::write(folder.join("truth.csv"), "model,rank\na,1\nb,2\nc,3\nd,4\n").unwrap();
    let run = quorate(folder, &["evaluate", "found.csv", "truth.csv", "--json"]);
    let found = json(&run);
    assert!((found["pairwise_accuracy"].as_f64().unwrap() - 5.0 / 6.0).abs() < 1e-12);
    assert!((found["kendall_tau"].as_f64().unwrap() - 4.0 / 6.0).abs() < 1e-12);
    assert_eq!(
        quorate(
            folder,
            &["evaluate", "found.csv", "truth.csv", "--fail-above", "10"]
        )
        .code,
        1
    );
    assert_eq!(
        quorate(
            folder,
            &["evaluate", "found.csv", "truth.csv", "--fail-above", "20"]
        )
        .code,
        0
    );
    fs::write(folder.join("bad.csv"), "item,score\na,4\nb,much\n").unwrap();
    let run = quorate(folder, &["evaluate", "bad.csv", "truth.csv"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("line 3") && run.stderr.contains("much"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cases = [
        (
            "left,right,winner\na,b,left\na,b,maybe\n",
            &["line 3", "maybe"][..],
        ),
        ("left,right,winner\na,a,left\n", &["line 2", "itself"]),
        ("left,right,winner\na,b,c\n", &["line 2", "\"c\""]),
        ("left,right,winner\na,c,b\n", &["line 2", "\"b\""]),
        ("left,right,winner,weight\na,b,left,-1\n", &["line 2", "-1"]),
        ("left,right,winner,weight\na,b,left,NaN\n", &["line 2", "NaN"]),
        ("left,right,winner\n", &["no"]),
        ("", &["empty"]),
        ("left,right\na,b\n", &["winner"]),
        ("item,rank,judge\na,1,ann\nb,first,ann\n", &["line 3", "first"]),
        ("item,rank,judge\na,1,ann\na,2,ann\n", &["twice"]),
    ];
    for (text, expected) in cases {
        let run = rank(folder, text, &["-o", "out.csv"]);
        assert_eq!(run.code, 2, "{text}: {}{}", run.stdout, run.stderr);
        for words in expected {
            assert!(run.stderr.contains(words), "{text}: {}", run.stderr);
        }
        assert!(!folder.join("out.csv").exists(), "{text}");
    }
}

#[test]
fn degenerate_tables_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tables = [
        ("one comparison", "left,right,winner\na,b,left\n"),
        ("ties alone", "left,right,winner\na,b,tie\nb,c,tie\na,c,tie\n"),
        (
            "one judge",
            "left,right,winner,judge\na,b,left,ann\nb,c,left,ann\n",
        ),
        ("two groups", "left,right,winner\na,b,left\nc,d,left\n"),
        (
            "a weight of 0",
            "left,right,winner,weight\na,b,left,1\na,c,right,0\n",
        ),
        ("both bad", "left,right,winner\na,b,both_bad\na,b,left\n"),
        (
            "a ranking",
            "judge,prompt,item,rank\nann,p,a,1\nann,p,b,2\nann,p,c,2\n",
        ),
        ("chosen", "prompt,chosen,rejected\np,a,b\nq,a,c\n"),
    ];
    for (name, text) in tables {
        for method in ["judge-bt", "bradley-terry", "plackett-luce", "win-rate", "elo"] {
            let run = rank(folder, text, &["-m", method, "--json"]);
            if run.code == 2 && name == "a ranking" && method != "plackett-luce" {
                assert!(
                    run.stderr.contains("plackett-luce"),
                    "{name} {method}: {}",
                    run.stderr
                );
                continue;
            }
            assert_eq!(run.code, 0, "{name} {method}: {}", run.stderr);
            let found = json(&run);
            for standing in found[0]["leaderboard"].as_array().unwrap() {
                assert!(
                    standing["score"].as_f64().is_some_and(f64::is_finite),
                    "{name} {method}: {standing}"
                );
            }
        }
        let run = rank(folder, text, &[]);
        assert!(
            !run.stdout.contains("NaN") && !run.stdout.contains("inf "),
            "{name}: {}",
            run.stdout
        );
        let groups = run.stdout.contains("2 groups of items");
        assert_eq!(
            groups,
            ["two groups", "a weight of 0"].contains(&name),
            "{name}: {}",
            run.stdout
        );
    }
}

#[test]
fn leaderboards_by_a_column_are_those_of_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let part = |winner: &str| format!("a,b,{winner}\nb,c,left\na,c,tie\n");
    let with = |field: &str, rows: &str| {
        rows.lines()
            .map(|row| format!("{field},{row}\n"))
            .collect::<String>()
    };
    let header = "left,right,winner\n";
    let both = format!(
        "field,{header}{}{}",
        with("code", &part("left")),
        with("maths", &part("right"))
    );
    let run = rank(folder, &both, &["--by", "field", "--json"]);
    let found = json(&run);
    for (place, winner) in ["left", "right"].iter().enumerate() {
        let alone = json(&rank(folder, &format!("{header}{}", part(winner)), &["--json"]));
        assert_eq!(found[place]["leaderboard"], alone[0]["leaderboard"]);
    }
    assert_eq!(
        (found[0]["by"].as_str(), found[1]["by"].as_str()),
        (Some("code"), Some("maths"))
    );
    fs::write(folder.join("votes.csv"), &both).unwrap();
    let run = quorate(
        folder,
        &["report", "votes.csv", "--by", "field", "-o", "page.html"],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("maths: Leaderboard") && page.contains("id=\"leaderboard-2\""));
}
