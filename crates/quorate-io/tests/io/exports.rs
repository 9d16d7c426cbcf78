//! Exports of annotation tools: the fixtures hold the same answers in every format.

use std::path::{Path, PathBuf};

use quorate::Remedy;
use quorate_io::{
    AnnotationsRead, Error, ErrorKind, ReadOptions, Source, Tool, WhyLeftOut, read_annotations,
};

use crate::{Fixture, row, rows};

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/exports")
        .join(name)
}

pub(crate) fn read_path(path: &Path, options: &ReadOptions) -> Result<AnnotationsRead, Error> {
    read_annotations(&Source::from(path), options)
}

fn read(name: &str) -> AnnotationsRead {
    read_path(&fixture(name), &ReadOptions::default()).unwrap()
}

/// The answers of every fixture.
pub(crate) fn expected() -> Vec<[String; 3]> {
    [
        ("11", "ann", "pos"),
        ("11", "bob", "pos"),
        ("11", "cem", "neg"),
        ("12", "ann", "neg"),
        ("12", "bob", "neg"),
        ("12", "cem", "neg"),
        ("13", "ann", "pos"),
        ("13", "bob", "neg"),
    ]
    .map(|(task, worker, label)| row(task, worker, label))
    .into()
}

/// A fixture, what it is read as, its question, and the answers that are left out.
type Known = (
    &'static str,
    Tool,
    Option<&'static str>,
    &'static [(WhyLeftOut, u64)],
);

pub(crate) const FIXTURES: [Known; 20] = [
    (
        "label-studio.json",
        Tool::LabelStudio,
        Some("sentiment"),
        &[
            (WhyLeftOut::Skipped, 1),
            (WhyLeftOut::Draft, 1),
            (WhyLeftOut::Prediction, 1),
            (WhyLeftOut::NotAChoice, 1),
        ],
    ),
    (
        "label-studio-min.json",
        Tool::LabelStudioMin,
        Some("sentiment"),
        &[],
    ),
    ("label-studio.csv", Tool::LabelStudioMin, Some("sentiment"), &[]),
    (
        "prodigy.jsonl",
        Tool::Prodigy,
        Some("choice"),
        &[(WhyLeftOut::Skipped, 1)],
    ),
    (
        "argilla.json",
        Tool::Argilla,
        Some("sentiment"),
        &[(WhyLeftOut::Draft, 1)],
    ),
    (
        "argilla-flat.jsonl",
        Tool::Argilla,
        Some("sentiment"),
        &[(WhyLeftOut::Draft, 1)],
    ),
    ("doccano", Tool::Doccano, None, &[]),
    ("doccano.zip", Tool::Doccano, None, &[]),
    ("doccano-v1.jsonl", Tool::Doccano, None, &[]),
    (
        "mturk.csv",
        Tool::Mturk,
        Some("sentiment"),
        &[(WhyLeftOut::Rejected, 1)],
    ),
    (
        "mturk-options.csv",
        Tool::Mturk,
        Some("sentiment"),
        &[(WhyLeftOut::Rejected, 1)],
    ),
    (
        "mturk-task-answers.csv",
        Tool::Mturk,
        Some("sentiment"),
        &[(WhyLeftOut::Rejected, 1)],
    ),
    (
        "toloka.tsv",
        Tool::Toloka,
        Some("sentiment"),
        &[(WhyLeftOut::Rejected, 1)],
    ),
    (
        "appen.csv",
        Tool::Appen,
        Some("sentiment"),
        &[(WhyLeftOut::Tainted, 1)],
    ),
    ("ground-truth.json", Tool::GroundTruth, Some("sentiment"), &[]),
    ("worker-response", Tool::GroundTruth, Some("sentiment"), &[]),
    ("judges.jsonl", Tool::Judges, None, &[]),
    (
        "labelbox.ndjson",
        Tool::Labelbox,
        Some("sentiment"),
        &[(WhyLeftOut::Skipped, 1)],
    ),
    ("triples.txt", Tool::Triples, None, &[]),
    ("answers.json", Tool::AnswersJson, None, &[]),
];

#[test]
fn every_fixture_holds_the_same_answers() {
    for (name, tool, question, left_out) in FIXTURES {
        let read = read(name);
        assert_eq!(rows(&read.annotations), expected(), "{name}");
        let export = read.layout.export.unwrap();
        assert_eq!(export.tool, tool, "{name}");
        assert_eq!(export.question.as_deref(), question, "{name}");
        assert_eq!(export.left_out, left_out, "{name}");
        // The same by name.
        let given = ReadOptions {
            tool: Some(tool),
            ..ReadOptions::default()
        };
        let given = read_path(&fixture(name), &given).unwrap();
        assert_eq!(rows(&given.annotations), expected(), "{name}");
    }
    assert_eq!(rows(&read("triples-blanks.txt").annotations), expected());
}

#[test]
fn truths_that_are_marked_are_found_and_an_annotation_used_as_one_is_no_answer() {
    for name in ["label-studio.json", "toloka.tsv", "appen.csv"] {
        let export = read(name).layout.export.unwrap();
        assert_eq!(export.gold, [("12".to_owned(), "neg".to_owned())], "{name}");
        let gold = export.gold_labels();
        assert_eq!(gold.label("12"), Some("neg"));
    }
    let options = ReadOptions {
        use_gold: true,
        ..ReadOptions::default()
    };
    let read = read_path(&fixture("label-studio.json"), &options).unwrap();
    let mut without = expected();
    without.retain(|found| found[..2] != ["12".to_owned(), "ann".to_owned()]);
    assert_eq!(rows(&read.annotations), without);
    let left_out = read.layout.export.unwrap().left_out;
    assert!(left_out.contains(&(WhyLeftOut::UsedAsGold, 1)), "{left_out:?}");
}

#[test]
fn failed_judgements_are_abstentions_in_both_forms() {
    for name in ["judges.jsonl", "judgements.jsonl"] {
        let read = read(name);
        assert_eq!(rows(&read.annotations), expected(), "{name}");
        assert_eq!(read.annotations.rows().abstentions, 1, "{name}");
    }
    let text = r#"{"id":"a","judges":{"m":["x","y"],"n":{"verdict":"x","why":"because"},"o":null}}"#;
    let read = crate::read("j.jsonl", text).unwrap();
    // Repeated prompts: the last one counts unless the caller says otherwise.
    assert_eq!(rows(&read), [row("a", "m", "y"), row("a", "n", "x")]);
    assert_eq!((read.rows().repeated, read.rows().abstentions), (1, 1));
}

#[test]
fn prodigy_binary_answers_are_questions_by_label() {
    let read = read("prodigy-binary.jsonl");
    let export = read.layout.export.unwrap();
    assert_eq!(export.question.as_deref(), Some("POSITIVE"));
    assert_eq!(rows(&read.annotations)[2], row("11", "cem", "reject"));
}

#[test]
fn several_questions_are_listed_and_one_can_be_chosen() {
    let text = r#"[{"id":1,"data":{},"annotations":[{"completed_by":3,"result":[
        {"from_name":"tone","value":{"choices":["dry"]}},{"from_name":"stars","value":{"rating":4}}]}]}]"#;
    let file = Fixture::new("two.json", text);
    let error = read_path(&file.path, &ReadOptions::default()).unwrap_err();
    assert!(
        error.to_string().contains(r#"expected one: "tone", "stars""#),
        "{error}"
    );
    assert_eq!(error.remedy(), Some(Remedy::NameQuestion));
    let options = ReadOptions {
        question: Some("stars".into()),
        ..ReadOptions::default()
    };
    assert_eq!(
        rows(&read_path(&file.path, &options).unwrap().annotations),
        [row("1", "3", "4")]
    );
    let options = ReadOptions {
        question: Some("nose".into()),
        ..ReadOptions::default()
    };
    let error = read_path(&file.path, &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Questions { .. }), "{error}");
}

#[test]
fn wide_and_long_forms_are_the_same_table() {
    let (wide, long) = (read("wide.csv"), read("long.csv"));
    assert!(wide.layout.found_wide && !long.layout.found_wide);
    assert_eq!(wide.annotations.fingerprint(), long.annotations.fingerprint());
    assert_eq!(rows(&wide.annotations), expected());
}

#[test]
fn exports_that_have_lost_who_answered_are_refused_in_words() {
    for (name, text, words) in [
        (
            "all.jsonl",
            "{\"id\":1,\"text\":\"x\",\"label\":[\"a\"]}\n",
            "share annotations",
        ),
        (
            "report.csv",
            "_unit_id,_unit_state,_trusted_judgments,q\n1,golden,3,x\n",
            "full report",
        ),
    ] {
        let error = crate::refused(name, text);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn tasks_of_one_hit_are_told_apart() {
    let text = "HITId,WorkerId,AssignmentStatus,Input.id1,Input.id2,Answer.q1,Answer.q2\n\
                h1,ann,Approved,a,b,x,y\nh2,bob,Approved,b,a,y,x\n";
    let read = crate::read("batch.csv", text).unwrap();
    assert_eq!(
        rows(&read),
        [
            row("a", "ann", "x"),
            row("a", "bob", "x"),
            row("b", "ann", "y"),
            row("b", "bob", "y")
        ]
    );
}

#[test]
fn standard_forms_of_several_choices_are_one_class() {
    let label_studio = r#"[{"id":1,"data":{},"annotations":[
        {"completed_by":1,"result":[{"from_name":"q","value":{"choices":["b","a"]}}]},
        {"completed_by":2,"result":[{"from_name":"q","value":{"taxonomy":[["x","y"]]}}]}]}]"#;
    let read = crate::read("x.json", label_studio).unwrap();
    assert_eq!(rows(&read), [row("1", "1", "a|b"), row("1", "2", "x/y")]);
    let appen = "_unit_id,_worker_id,_trust,q\n1,ann,0.9,\"b\na\"\n1,bob,0.9,a\n";
    assert_eq!(
        rows(&crate::read("x.csv", appen).unwrap())[0],
        row("1", "ann", "a|b")
    );
}
