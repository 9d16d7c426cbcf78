//! Gold, priors and history through the program.

mod support;

use std::fs;

use support::{folder, quorate};

#[test]
fn gold_is_written_as_given_and_its_workers_are_learnt_from() {
    let folder = folder();
    // t1 is a dog by all votes; gold says otherwise, and brings a class that nobody named.
    fs::write(
        folder.path().join("gold.csv"),
        "task,label\nt1,cow\nt2,dog\nt99,dog\n",
    )
    .unwrap();
    let run = quorate(
        folder.path(),
        &["aggregate", "labels.csv", "--gold", "gold.csv", "-m", "ds"],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("\nt1,cow,1\n"), "{}", run.stdout);
    assert!(run.stdout.contains("\nt2,dog,1\n"), "{}", run.stdout);
    for words in [
        "2 tasks of 12 known from --gold",
        "1 task of --gold that nobody labelled",
        "cow",
    ] {
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    let closed = [
        "aggregate",
        "labels.csv",
        "--gold",
        "gold.csv",
        "--classes",
        "cat,dog",
    ];
    let refused = quorate(folder.path(), &closed);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("\"cow\""), "{}", refused.stderr);
    let votes = quorate(
        folder.path(),
        &["aggregate", "labels.csv", "--gold", "gold.csv", "-m", "kos"],
    );
    assert!(
        votes.stderr.contains("does not learn from gold"),
        "{}",
        votes.stderr
    );
}

#[test]
fn compare_does_not_count_known_tasks() {
    let folder = folder();
    fs::write(folder.path().join("gold.csv"), "task,label\nt1,dog\nt2,dog\n").unwrap();
    let arguments = [
        "compare",
        "labels.csv",
        "--truth",
        "truth.csv",
        "--gold",
        "gold.csv",
        "-m",
        "mv",
    ];
    let run = quorate(folder.path(), &arguments);
    assert!(run.stdout.contains("truth known for 10 tasks"), "{}", run.stdout);
}

#[test]
fn a_prior_needs_a_share_for_every_class() {
    let folder = folder();
    let with_prior = |prior: &str| quorate(folder.path(), &["aggregate", "labels.csv", "--prior", prior]);
    for (prior, words) in [
        ("cat=0.5", "no share for class \"dog\""),
        ("cat=0.5,dog=0.4", "sum to 0.9"),
        ("cat=0.5,cow=0.5", "no class \"cow\""),
        ("cat=0.5,cat=0.5", "twice"),
        ("cat=x,dog=0.5", "not a number"),
        ("cat", "CLASS=SHARE"),
        ("cat=0,dog=1", "more than 0"),
    ] {
        let run = with_prior(prior);
        assert_eq!(run.code, 2, "{prior}");
        assert!(run.stderr.contains(words), "{prior}: {}", run.stderr);
    }
    assert_eq!(with_prior("uniform").code, 0);
    // All but certain cats: what is close to a tie becomes a cat.
    let cats = with_prior("cat=0.9999999,dog=0.0000001").stdout;
    assert!(cats.matches(",cat,").count() > with_prior("uniform").stdout.matches(",cat,").count());
}

#[test]
fn history_is_carried_from_batch_to_batch_and_workers_who_pause_are_kept() {
    let folder = folder();
    let text = fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let batch = |tasks: std::ops::Range<usize>, without: &str| {
        let kept = rows.lines().filter(|row| {
            let task: usize = row.split(',').next().unwrap()[1..].parse().unwrap();
            tasks.contains(&task) && !row.contains(without)
        });
        format!("{header}\n{}\n", kept.collect::<Vec<_>>().join("\n"))
    };
    fs::write(folder.path().join("one.csv"), batch(0..6, "nobody")).unwrap();
    fs::write(folder.path().join("two.csv"), batch(6..12, "cem")).unwrap();
    let first = [
        "aggregate",
        "one.csv",
        "-m",
        "ds",
        "--model",
        "one.json",
        "-o",
        "one-out.csv",
    ];
    assert_eq!(quorate(folder.path(), &first).code, 0);
    let second = [
        "aggregate",
        "two.csv",
        "-m",
        "ds",
        "--worker-prior",
        "one.json",
        "--model",
        "two.json",
        "-o",
        "two-out.csv",
    ];
    let run = quorate(folder.path(), &second);
    assert!(
        run.stderr.contains("2 workers of 2 known from --worker-prior"),
        "{}",
        run.stderr
    );
    let model: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("two.json")).unwrap()).unwrap();
    let labels = |id: &str| {
        let workers = model["workers"].as_array().unwrap();
        workers.iter().find(|worker| worker["id"] == id).unwrap()["labels"]
            .as_u64()
            .unwrap()
    };
    // Ann labelled 6 tasks in each batch, Cem only in the first.
    assert_eq!((labels("ann"), labels("cem")), (12, 6));
    let strange = ["aggregate", "two.csv", "--worker-prior", "two.csv"];
    assert_eq!(quorate(folder.path(), &strange).code, 2);
}
