//! `aggregate --update` against a full fit.

mod support;

use std::collections::BTreeSet;
use std::fs;

use support::{done, run, write};

/// Labels by task, worker and a made-up answer that is right two times in three or more, by worker.
fn rows(tasks: std::ops::Range<usize>, workers: std::ops::Range<usize>) -> String {
    let mut rows = String::new();
    for task in tasks {
        for worker in workers.clone() {
            let chance = (task * 7919 + worker * 104_729 + task * worker * 31) % 97;
            if chance % 3 == 2 {
                continue;
            }
            let truth = task % 3;
            let wrong = chance > 60 + 5 * (worker % 6);
            let answer = if wrong {
                (truth + 1 + chance % 2) % 3
            } else {
                truth
            };
            rows.push_str(&format!("t{task},w{worker},c{answer}\n"));
        }
    }
    rows
}

/// Task, label and confidence to six digits.
fn answers(text: &str) -> Vec<(String, String, String)> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let confidence: f64 = fields[2].parse().unwrap();
        (
            fields[0].to_owned(),
            fields[1].to_owned(),
            format!("{confidence:.6}"),
        )
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn an_update_that_ends_early_is_a_full_fit_to_the_last_digit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (old, new) = (
        rows(0..300, 0..12),
        format!("{}t5,w1,c2\n", rows(280..330, 3..14)),
    );
    write(folder, "old.csv", &old);
    write(folder, "new.csv", &new);
    write(folder, "all.csv", &format!("{old}{new}"));
    // Both stop on the same way, before the posteriors have settled enough to go on in larger steps.
    for settings in [" -p tol=0.01", " -p max-iter=3 -p smoothing=0.5 -p prior=flat"] {
        done(
            folder,
            &format!("aggregate old.csv -m ds --model m.json --keep-labels -o out.csv{settings}"),
        );
        done(
            folder,
            &format!("aggregate all.csv -m ds --probabilities -o full.csv{settings}"),
        );
        done(
            folder,
            "aggregate new.csv --update m.json --probabilities -o update.csv",
        );
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read("update.csv"), read("full.csv"), "{settings}");
    }
}

#[test]
fn an_update_ends_where_a_full_fit_ends() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // One old task and one old worker have nothing but an empty label.
    let old = format!("{}t900,w0,\nt0,w900,\n", rows(0..400, 0..12));
    // New tasks, new workers, new labels on old tasks, changed labels, a repeated row, a class not seen
    // before.
    let new = format!(
        "{}{}{}{}t5,w1,c2\nt5,w1,c0\nt900,w3,c1\n",
        rows(400..430, 3..14),
        rows(10..20, 12..15),
        rows(30..33, 0..12).replace("c1", "c2"),
        rows(430..450, 0..12).replace("c0", "c9"),
    );
    write(folder, "old.csv", &old);
    write(folder, "new.csv", &new);
    write(folder, "all.csv", &format!("{old}{new}"));
    for duplicates in ["last", "first", "keep"] {
        let settings = format!("--duplicates {duplicates} --json");
        done(
            folder,
            &format!(
                "aggregate old.csv -m ds -p tol=1e-13 -p max-iter=20000 --model m.json --keep-labels -o old-out.csv {settings}"
            ),
        );
        let full = done(
            folder,
            &format!("aggregate all.csv -m ds -p tol=1e-13 -p max-iter=20000 -o full.csv {settings}"),
        );
        // The parameters are those of the model.
        let update = done(
            folder,
            &format!("aggregate new.csv --update m.json --model m.json -o update.csv {settings}"),
        );
        let read = |name: &str| answers(&fs::read_to_string(folder.join(name)).unwrap());
        assert_eq!(read("update.csv"), read("full.csv"), "{duplicates}");
        for task in ["t0", "t429", "t900"] {
            assert!(read("update.csv").iter().any(|row| row.0 == task), "{task}");
        }
        for run in [&full, &update] {
            let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            assert_eq!(summary["converged"], true);
        }
        // The updated model rests on all labels: with nothing new it stays where it is.
        if duplicates == "last" {
            write(folder, "again.csv", new.lines().last().unwrap());
            done(
                folder,
                &format!("aggregate again.csv --update m.json -o again-out.csv {settings}"),
            );
            assert_eq!(read("again-out.csv"), read("full.csv"));
        }
    }
    write(folder, "nothing.csv", "");
    assert_eq!(run(folder, "aggregate nothing.csv --update m.json").code, 2);
}

/// EM comes to a saddle then, and how it leaves it hangs on rounding: the end need not be that of a full fit.
#[test]
fn a_class_that_is_named_once_is_taken_in() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (old, new) = (
        rows(0..400, 0..12),
        format!("{}t6,w2,c9\n", rows(400..430, 3..14)),
    );
    write(folder, "old.csv", &old);
    write(folder, "new.csv", &new);
    done(
        folder,
        "aggregate old.csv -m ds --model m.json --keep-labels -o out.csv",
    );
    done(
        folder,
        "aggregate new.csv --update m.json --duplicates keep --probabilities -o update.csv",
    );
    let update = fs::read_to_string(folder.join("update.csv")).unwrap();
    assert!(update.lines().next().unwrap().ends_with("p:c9"), "{update}");
    let tasks: BTreeSet<&str> = old.lines().chain(new.lines()).map(first_field).collect();
    assert_eq!(tasks, update.lines().skip(1).map(first_field).collect());
}

fn first_field(line: &str) -> &str {
    line.split(',').next().unwrap_or_default()
}

#[test]
fn an_update_does_not_depend_on_threads_or_the_order_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "old.csv", &rows(0..200, 0..12));
    let new = rows(190..230, 3..14);
    let mut turned: Vec<&str> = new.lines().collect();
    turned.reverse();
    write(folder, "new.csv", &new);
    write(folder, "turned.csv", &(turned.join("\n") + "\n"));
    done(
        folder,
        "aggregate old.csv -m ds -p tol=1e-12 -p max-iter=5000 --model m.json --keep-labels -o out.csv",
    );
    let update = |labels: &str, threads: usize| {
        let out = format!("{labels}-{threads}.csv");
        let arguments = "--update m.json --probabilities";
        done(
            folder,
            &format!("aggregate {labels}.csv {arguments} --threads {threads} -o {out}"),
        );
        fs::read_to_string(folder.join(out)).unwrap()
    };
    let one = update("new", 1);
    assert_eq!(one, update("new", 2));
    let sorted = |text: &str| {
        let mut rows = answers(text);
        rows.sort();
        rows
    };
    assert_eq!(sorted(&one), sorted(&update("turned", 2)));
}

#[test]
fn what_cannot_be_updated_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "old.csv", &rows(0..40, 0..6));
    write(folder, "new.csv", &rows(40..50, 0..6));
    done(folder, "aggregate old.csv -m ds --model plain.json -o out.csv");
    done(
        folder,
        "aggregate old.csv -m one-coin --model coin.json --keep-labels -o out.csv",
    );
    done(
        folder,
        "aggregate old.csv -m ds --model kept.json --keep-labels -o out.csv",
    );
    fs::copy(folder.join("kept.json"), folder.join("moved.json")).unwrap();
    fs::copy(folder.join("kept.json"), folder.join("other.json")).unwrap();
    write(folder, "less.csv", &rows(0..39, 0..6));
    done(
        folder,
        "aggregate less.csv -m ds --model kept.json --keep-labels -o out.csv",
    );
    for (arguments, words) in [
        ("aggregate new.csv --update plain.json", "were not kept"),
        ("aggregate new.csv --update coin.json", "\"one-coin\""),
        ("aggregate new.csv --update kept.json -m mace", "dawid-skene only"),
        ("aggregate new.csv --update other.json", "are not there"),
        (
            "aggregate new.csv --update kept.json --classes c0,c1,c2,c3 --duplicates error",
            "",
        ),
        ("aggregate new.csv --update kept.json --classes c0,c1", "c2"),
        (
            "aggregate less.csv --update kept.json --duplicates error",
            "worker",
        ),
        ("aggregate new.csv --update absent.json", "absent.json"),
        ("aggregate new.csv -m ds --keep-labels", "--model"),
    ] {
        let refused = run(folder, arguments);
        let code = if words.is_empty() { 0 } else { 2 };
        assert_eq!(refused.code, code, "{arguments}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{arguments}: {}", refused.stderr);
    }
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let kept: Vec<String> = names
        .filter(|name| name.starts_with("kept.") && name.ends_with(".labels.bin"))
        .collect();
    // Those of the model before were removed.
    assert_eq!(kept.len(), 1, "{kept:?}");
    fs::remove_file(folder.join(&kept[0])).unwrap();
    let refused = run(folder, "aggregate new.csv --update kept.json");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains(&kept[0]), "{}", refused.stderr);
}

#[test]
fn an_update_says_what_every_fit_says() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "old.csv", "task,worker,label\nt1,ann,cat\nt2,bob,dog\n");
    write(folder, "new.csv", "task,worker,label\nt3,ann,dog\nt4,bob,cat\n");
    done(
        folder,
        "aggregate old.csv -m ds --model m.json --keep-labels -o out.csv",
    );
    let update = done(folder, "aggregate new.csv --update m.json");
    assert!(
        update.stderr.contains("the confidence is a guess"),
        "{}",
        update.stderr
    );
}
