//! Exports of annotation tools through the program: every command reads them, `convert` turns them into each
//! other, and errors say what to do.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{done, quorate, quorate_with_input, run};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../quorate-io/tests/fixtures/exports")
        .join(name)
}

/// A folder with a copy of these fixtures.
fn folder(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        fs::copy(fixture(name), folder.path().join(name)).unwrap();
    }
    folder
}

fn read(folder: &tempfile::TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// Files with the same answers, and what they are read as.
const FILES: [(&str, &str); 18] = [
    (
        "label-studio.json",
        "a Label Studio export: 3 tasks, 3 annotators, question `sentiment`",
    ),
    ("label-studio-min.json", "a Label Studio export"),
    ("label-studio.csv", "a Label Studio export"),
    (
        "prodigy.jsonl",
        "Prodigy annotations: 3 tasks, 3 annotators, question `choice`",
    ),
    ("argilla.json", "Argilla records"),
    ("argilla-flat.jsonl", "Argilla records"),
    ("doccano.zip", "a doccano export: 3 tasks, 3 annotators"),
    ("doccano-v1.jsonl", "a doccano export"),
    ("mturk.csv", "Mechanical Turk batch results: 3 tasks, 3 workers"),
    ("mturk-options.csv", "Mechanical Turk batch results"),
    ("toloka.tsv", "Toloka assignments"),
    ("appen.csv", "an Appen full report"),
    ("ground-truth.json", "a SageMaker Ground Truth payload"),
    (
        "judges.jsonl",
        "judgements with a map of judges: 3 tasks, 3 judges",
    ),
    (
        "judgements.jsonl",
        "columns task = \"item\", worker = \"judge\", label = \"label\"",
    ),
    ("labelbox.ndjson", "a Labelbox export"),
    ("triples.txt", "lines of item, worker, label without a header"),
    ("answers.json", "answers by item and worker"),
];

#[test]
fn every_format_gives_the_same_labels_to_the_byte() {
    let folder = folder(&["long.csv", "wide.csv"]);
    done(folder.path(), "aggregate long.csv -o long-out.csv");
    let expected = read(&folder, "long-out.csv");
    assert_eq!(expected.lines().count(), 4);
    let wide = done(folder.path(), "aggregate wide.csv -o wide-out.csv");
    assert!(
        wide.stderr.contains("3 workers in the others (a wide table)"),
        "{}",
        wide.stderr
    );
    assert_eq!(read(&folder, "wide-out.csv"), expected);
    for (name, words) in FILES {
        fs::copy(fixture(name), folder.path().join(name)).unwrap();
        let found = done(folder.path(), &format!("aggregate {name} -o out.csv"));
        assert!(
            found.stderr.lines().next().unwrap().contains(words),
            "{name}: {}",
            found.stderr
        );
        assert_eq!(read(&folder, "out.csv"), expected, "{name}");
        assert_eq!(found.stdout, "");
    }
    for name in ["doccano", "worker-response"] {
        let path = fixture(name);
        let found = quorate(
            folder.path(),
            &["aggregate", path.to_str().unwrap(), "-o", "out.csv"],
        );
        assert_eq!(
            (found.code, read(&folder, "out.csv")),
            (0, expected.clone()),
            "{name}: {}",
            found.stderr
        );
    }
}

#[test]
fn every_command_reads_exports() {
    let folder = folder(&["label-studio.json"]);
    for command in [
        "inspect",
        "workers",
        "compare -m mv,ds",
        "plan --budget 5",
        "aggregate --spill s",
    ] {
        let (verb, options) = command.split_once(' ').unwrap_or((command, ""));
        let line = format!("{verb} label-studio.json {options}");
        let found = run(folder.path(), line.trim());
        assert_eq!(found.code, 0, "{line}: {}", found.stderr);
        assert!(
            found.stderr.contains("read as a Label Studio export"),
            "{line}: {}",
            found.stderr
        );
    }
    done(folder.path(), "report label-studio.json -o page.html");
}

#[test]
fn standard_input_is_recognised_too() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "label-studio.json",
        "prodigy.jsonl",
        "mturk.csv",
        "triples.txt",
        "long.csv",
        "judgements.jsonl",
    ] {
        let text = fs::read_to_string(fixture(name)).unwrap();
        let found = quorate_with_input(folder.path(), &["aggregate", "-", "-m", "mv"], &text);
        assert_eq!(found.code, 0, "{name}: {}", found.stderr);
        assert!(
            found.stdout.contains("11,pos,0.666667"),
            "{name}: {}",
            found.stdout
        );
    }
}

#[test]
fn gold_in_the_file_is_offered_and_used_on_request() {
    let folder = folder(&["label-studio.json", "toloka.tsv"]);
    let offered = done(folder.path(), "aggregate label-studio.json -m ds");
    assert!(
        offered
            .stderr
            .contains("1 task with the truth marked in the file: --use-gold fixes them"),
        "{}",
        offered.stderr
    );
    for name in ["label-studio.json", "toloka.tsv"] {
        for spill in ["", " --spill s"] {
            let used = done(
                folder.path(),
                &format!("aggregate {name} -m ds --use-gold{spill}"),
            );
            assert!(
                used.stderr.contains("1 task of 3 known from the file"),
                "{name}: {}",
                used.stderr
            );
            assert!(used.stdout.contains("12,neg,1\n"), "{name}: {}", used.stdout);
        }
    }
    fs::write(folder.path().join("gold.csv"), "task,label\n11,pos\n").unwrap();
    let both = run(folder.path(), "aggregate toloka.tsv --use-gold --gold gold.csv");
    assert_eq!(both.code, 2);
    assert!(
        both.stderr
            .contains("give one of them: leave --gold or --use-gold out"),
        "{}",
        both.stderr
    );
}

#[test]
fn what_is_left_out_is_counted_and_said() {
    let folder = folder(&["label-studio.json", "mturk.csv", "judges.jsonl"]);
    let said = |name: &str| done(folder.path(), &format!("aggregate {name} -m mv")).stderr;
    let found = said("label-studio.json");
    assert!(
        found.contains("left out: 1 answer skipped, 1 answer in drafts, 1 answer of models (predictions), 1 answer of other kinds"),
        "{found}"
    );
    assert!(said("mturk.csv").contains("left out: 1 answer rejected"));
    assert!(said("judges.jsonl").contains("1 row without a label: counted as abstentions"));
}

#[test]
fn several_questions_are_listed_with_what_to_type() {
    let folder = tempfile::tempdir().unwrap();
    let text = "HITId,WorkerId,Answer.tone,Answer.stars\n1,a,dry,4\n1,b,dry,5\n";
    fs::write(folder.path().join("batch.csv"), text).unwrap();
    let found = run(folder.path(), "aggregate batch.csv -o out.csv");
    assert_eq!(found.code, 2);
    assert_eq!(
        found.stderr,
        "error: batch.csv: read as Mechanical Turk batch results: found several questions, expected one: \"tone\", \
         \"stars\"; choose one with --question NAME\n"
    );
    assert!(!folder.path().join("out.csv").exists());
    let chosen = done(folder.path(), "aggregate batch.csv --question tone -m mv");
    assert_eq!(chosen.stdout, "task,label,confidence\n1,dry,1\n");
}

#[test]
fn the_format_can_be_said_and_a_table_stays_one() {
    let folder = folder(&["prodigy.jsonl", "mturk.csv"]);
    fs::rename(
        folder.path().join("prodigy.jsonl"),
        folder.path().join("answers.db"),
    )
    .unwrap();
    let found = done(folder.path(), "aggregate answers.db --format prodigy -m mv");
    assert!(found.stdout.contains("11,pos"), "{}", found.stdout);
    let table = run(folder.path(), "aggregate mturk.csv --format csv");
    assert_eq!(table.code, 2);
    assert!(table.stderr.contains("found the columns"), "{}", table.stderr);
    let columns = done(
        folder.path(),
        "aggregate mturk.csv --columns task=HITId,worker=WorkerId,label=Answer.sentiment.label -m mv",
    );
    assert!(columns.stdout.contains("11,pos"), "{}", columns.stdout);
    let wrong = run(folder.path(), "aggregate mturk.csv --format prodigy");
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.stderr.contains("mturk.csv, line 1") && wrong.stderr.contains("--format"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn convert_goes_there_and_back_without_loss() {
    let folder = folder(&["label-studio.json", "long.csv"]);
    done(folder.path(), "convert long.csv expected.csv");
    let expected = read(&folder, "expected.csv");
    for (to, name) in [
        ("label-studio", "x.json"),
        ("label-studio-min", "x.json"),
        ("prodigy", "x.jsonl"),
        ("argilla", "x.json"),
        ("doccano", "x.zip"),
        ("mturk", "x.csv"),
        ("toloka", "x.tsv"),
        ("appen", "x.csv"),
        ("ground-truth", "x.json"),
        ("judges", "x.jsonl"),
        ("labelbox", "x.ndjson"),
        ("triples", "x.txt"),
        ("answers-json", "x.json"),
        ("wide", "x.csv"),
        ("jsonl", "x.jsonl"),
    ] {
        done(
            folder.path(),
            &format!("convert label-studio.json {name} --to {to}"),
        );
        done(folder.path(), &format!("convert {name} back.csv"));
        assert_eq!(read(&folder, "back.csv"), expected, "{to}");
    }
}

#[test]
fn the_consensus_goes_back_to_the_tool() {
    let folder = folder(&[
        "label-studio.json",
        "mturk.csv",
        "ground-truth.json",
        "argilla.json",
        "prodigy.jsonl",
    ]);
    done(folder.path(), "aggregate label-studio.json -m mv -o labels.csv");
    for (name, to, output, words) in [
        (
            "label-studio.json",
            "label-studio-predictions",
            "x.json",
            "\"score\":0.666667",
        ),
        ("mturk.csv", "mturk-review", "x.csv", ",x,"),
        (
            "ground-truth.json",
            "ground-truth-reply",
            "x.json",
            "\"confidence\":0.666667",
        ),
        (
            "ground-truth.json",
            "ground-truth-manifest",
            "x.manifest",
            "\"sentiment\":1",
        ),
        (
            "argilla.json",
            "argilla-suggestions",
            "x.json",
            "\"agent\":\"quorate\"",
        ),
        (
            "prodigy.jsonl",
            "prodigy-review",
            "x.jsonl",
            "\"sessions\":[\"ann\",\"bob\"]",
        ),
    ] {
        done(
            folder.path(),
            &format!("convert {name} {output} --to {to} --consensus labels.csv"),
        );
        let text = read(&folder, output);
        assert!(text.contains(words), "{to}: {text}");
        let fitted = done(folder.path(), &format!("convert {name} {output} --to {to} -m mv"));
        assert!(
            fitted.stderr.contains("consensus of majority-vote"),
            "{to}: {}",
            fitted.stderr
        );
        assert_eq!(read(&folder, output), text, "{to}");
    }
    // The number of a class does not depend on which classes won a task.
    fs::write(folder.path().join("one.csv"), "task,label\n11,pos\n").unwrap();
    done(
        folder.path(),
        "convert ground-truth.json x.manifest --to ground-truth-manifest --consensus one.csv",
    );
    assert!(read(&folder, "x.manifest").contains("\"sentiment\":1"));
    let refused = run(
        folder.path(),
        "convert mturk.csv no.json --to label-studio-predictions",
    );
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("needs it as the input: a Label Studio export"),
        "{}",
        refused.stderr
    );
    assert!(!folder.path().join("no.json").exists());
    let refused = run(folder.path(), "convert mturk.csv mturk.csv --to mturk-review");
    assert!(
        refused.stderr.contains("would overwrite the labels"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_broken_export_leaves_nothing_behind() {
    let folder = folder(&["label-studio.json"]);
    let text = read(&folder, "label-studio.json");
    fs::write(folder.path().join("cut.json"), &text[..text.len() / 2]).unwrap();
    for line in [
        "aggregate cut.json -o out.csv",
        "convert cut.json out.csv",
        "convert cut.json out.json --to prodigy",
    ] {
        let found = run(folder.path(), line);
        assert_eq!(found.code, 2, "{line}");
        assert!(
            found.stderr.contains("cut.json, line 1"),
            "{line}: {}",
            found.stderr
        );
    }
    let names = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 2);
}

#[test]
fn votes_and_margin_stand_beside_the_label() {
    let folder = folder(&["long.csv"]);
    let found = done(folder.path(), "aggregate long.csv -m mv --votes");
    assert_eq!(
        found.stdout,
        "task,label,confidence,votes,margin\n11,pos,0.666667,neg:1 pos:2,0.333333\n12,neg,1,neg:3,1\n13,neg,0.5,neg:1 pos:1,0\n"
    );
    let refused = run(folder.path(), "aggregate long.csv -m mv --votes --spill s");
    assert_eq!(refused.code, 2);
}
