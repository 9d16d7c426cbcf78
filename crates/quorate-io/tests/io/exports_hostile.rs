//! Exports that are cut short, of other types than they should be, nested without end or on one endless line:
//! an error with the place, what was found and what to do; never a panic.

use std::fs;
use std::io::{Read, Write};

use quorate_io::{Error, ReadOptions, Source, Tool, read_annotations};

use crate::Fixture;
use crate::exports::{FIXTURES, fixture};

/// Reads a text as the export of a tool.
fn read_as(tool: Tool, name: &str, content: &[u8]) -> Result<(), Error> {
    let file = Fixture::new(name, content);
    let options = ReadOptions {
        tool: Some(tool),
        ..ReadOptions::default()
    };
    read_annotations(&file.source(), &options).map(drop)
}

/// The fixtures that are one file.
fn files() -> impl Iterator<Item = (&'static str, Tool)> {
    FIXTURES
        .into_iter()
        .map(|(name, tool, ..)| (name, tool))
        .filter(|(name, _)| fixture(name).is_file())
}

#[test]
fn every_cut_of_every_fixture_is_an_error_or_a_table() {
    for (name, tool) in files() {
        let whole = fs::read(fixture(name)).unwrap();
        let step = (whole.len() / 60).max(1);
        let mut refused = 0;
        for end in (0..whole.len()).step_by(step) {
            if let Err(error) = read_as(tool, name, &whole[..end]) {
                let words = error.to_string();
                assert!(error.file().is_some(), "{name} cut at {end}: {words}");
                refused += 1;
            }
        }
        assert!(refused > 0, "{name}");
    }
}

#[test]
fn every_changed_byte_is_an_error_or_a_table() {
    for (name, tool) in files() {
        let whole = fs::read(fixture(name)).unwrap();
        let step = (whole.len() / 120).max(1);
        for (place, other) in (0..whole.len())
            .step_by(step)
            .zip([b'"', b'{', b'[', 0, 0xff, b',', b'9'].into_iter().cycle())
        {
            let mut changed = whole.clone();
            changed[place] = other;
            if let Err(error) = read_as(tool, name, &changed) {
                assert!(error.file().is_some(), "{name} changed at {place}: {error}");
            }
            // Whatever it is taken for.
            let file = Fixture::new(name, &changed);
            let _ = read_annotations(&file.source(), &ReadOptions::default());
        }
    }
}

#[cfg_attr(not(unix), ignore = "needs Unix: named pipes")]
#[test]
fn a_pipe_is_read_once_and_whole() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["label-studio.json", "long.csv", "mturk.csv"] {
        let path = folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let (content, target) = (fs::read(fixture(name)).unwrap(), path.clone());
        let writer = std::thread::spawn(move || fs::write(target, content).unwrap());
        let read = read_annotations(&Source::from(path.as_path()), &ReadOptions::default()).unwrap();
        writer.join().unwrap();
        assert_eq!(
            crate::rows(&read.annotations),
            crate::exports::expected(),
            "{name}"
        );
    }
}

#[test]
fn a_cut_array_or_archive_is_never_taken_for_a_whole_one() {
    for name in [
        "label-studio.json",
        "label-studio-min.json",
        "argilla.json",
        "ground-truth.json",
        "answers.json",
        "doccano.zip",
    ] {
        let (_, tool) = files().find(|(known, _)| *known == name).unwrap();
        let whole = fs::read(fixture(name)).unwrap();
        for end in 0..whole.len() - 2 {
            assert!(read_as(tool, name, &whole[..end]).is_err(), "{name} cut at {end}");
        }
    }
}

#[test]
fn wrong_types_are_told_with_place_and_remedy() {
    for (tool, text, words) in [
        (Tool::LabelStudio, r#"[{"id":1,"annotations":7}]"#, "element 1"),
        (
            Tool::LabelStudio,
            r#"[{"id":1,"data":{},"annotations":[]},{"id":[2],"annotations":[]}]"#,
            "element 2",
        ),
        (
            Tool::LabelStudio,
            r#"[{"data":{},"annotations":[]}]"#,
            "without an `id`",
        ),
        (
            Tool::LabelStudio,
            r#"[{"id":1,"annotations":[{"completed_by":[],"result":[]}]}]"#,
            "number of a user",
        ),
        (
            Tool::LabelStudio,
            r#"[{"id":1,"annotations":[{"result":[{"from_name":"q","value":{"choices":["x"]}}]}]}]"#,
            "completed_by",
        ),
        (Tool::LabelStudioMin, r#"[{"id":1,"q":"x"}]"#, "annotator"),
        (
            Tool::Prodigy,
            "{\"_input_hash\":1,\"answer\":\"accept\",\"accept\":[\"x\"],\"_session_id\":\"a\"}\n{\"_input_hash\":1,\"answer\":\"maybe\"}",
            "line 2",
        ),
        (
            Tool::Prodigy,
            r#"{"_input_hash":1,"answer":"accept","accept":["x"]}"#,
            "without a name",
        ),
        (
            Tool::Argilla,
            r#"[{"id":1,"responses":[1]}]"#,
            "an object of questions",
        ),
        (
            Tool::Argilla,
            r#"[{"id":1,"q.responses":["x","y"],"q.responses.users":["a"]}]"#,
            "as many users",
        ),
        (
            Tool::Argilla,
            r#"[{"id":1,"responses":{"q":[{"value":"x","user_id":"a","status":"lost"}]}}]"#,
            "submitted",
        ),
        (Tool::Doccano, r#"{"id":1,"text":"x"}"#, "\"label\""),
        (
            Tool::Mturk,
            "HITId,WorkerId,Answer.a.x,Answer.a.y\n1,w,perhaps,true\n",
            "true or false",
        ),
        (
            Tool::Mturk,
            "HITId,WorkerId,Answer.taskAnswers\n1,w,nonsense\n",
            "line 2",
        ),
        (
            Tool::Toloka,
            "INPUT:x\tOUTPUT:y\tASSIGNMENT:worker_id\tASSIGNMENT:status\na\tb\tw\tGONE\n",
            "line 2",
        ),
        (Tool::Toloka, "INPUT:x\tOUTPUT:y\na\tb\n", "ASSIGNMENT:worker_id"),
        (Tool::Appen, "_unit_id,q\n1,x\n", "full report"),
        (
            Tool::GroundTruth,
            r#"[{"datasetObjectId":"1","annotations":[{"workerId":"w","annotationData":{"content":"{"}}]}]"#,
            "element 1",
        ),
        (
            Tool::GroundTruth,
            r#"[{"datasetObjectId":"1","annotations":[{"workerId":"w","annotationData":{"content":"3"}}]}]"#,
            "answers by name",
        ),
        (Tool::Judges, r#"{"item":1,"judges":["x"]}"#, "map of judges"),
        (Tool::Judges, r#"{"judges":{"a":"x"}}"#, "\"task\""),
        (
            Tool::Judges,
            r#"{"item":1,"judges":{"a":{"why":"x"}}}"#,
            "without a label",
        ),
        (
            Tool::Labelbox,
            r#"{"data_row":{"id":1},"projects":{"p":{"labels":[{}]}}}"#,
            "label_details",
        ),
        (Tool::Triples, "1 2 3\n1 2\n", "line 2"),
        (Tool::AnswersJson, r#"{"1":{"w":2},"2":[3]}"#, "element 2"),
        (Tool::AnswersJson, "[]", "\"}\""),
    ] {
        let name = match text.contains('\t') {
            true => "x.tsv",
            false if text.starts_with(['{', '[', '1']) => "x.jsonl",
            false => "x.csv",
        };
        let error = read_as(tool, name, text.as_bytes()).unwrap_err();
        let told = error.to_string();
        assert!(told.contains(words), "{tool}: {told}");
        assert!(told.contains(name), "{tool}: {told}");
    }
}

#[test]
fn deep_nesting_ends_in_words() {
    let deep = "[".repeat(200_000);
    for (tool, text) in [
        (Tool::LabelStudio, format!("[{{\"id\":1,\"data\":{deep}")),
        (
            Tool::LabelStudio,
            format!("[{{\"id\":1,\"annotations\":[{{\"result\":[{{\"value\":{{\"choices\":{deep}"),
        ),
        (Tool::Prodigy, format!("{{\"_input_hash\":1,\"accept\":{deep}")),
        (Tool::Argilla, format!("[{{\"id\":1,\"responses\":{deep}")),
        (Tool::GroundTruth, format!("{{\"answers\":{deep}")),
        (Tool::Judges, format!("{{\"item\":1,\"judges\":{deep}")),
        (Tool::Labelbox, format!("{{\"data_row\":{deep}")),
        (Tool::AnswersJson, format!("{{\"1\":{deep}")),
        (Tool::Doccano, format!("{{\"id\":1,\"label\":{deep}")),
    ] {
        assert!(read_as(tool, "x.json", text.as_bytes()).is_err(), "{tool}");
        // Also where nobody says what it is.
        let file = Fixture::new("x.json", &text);
        assert!(
            read_annotations(&file.source(), &ReadOptions::default()).is_err(),
            "{tool}"
        );
        // And closed properly, inside of a member that is not looked at.
        let closed = format!(
            "[{{\"id\":1,\"meta\":{deep}{},\"data\":{{}},\"annotations\":[]}}]",
            "]".repeat(200_000)
        );
        assert!(read_as(Tool::LabelStudio, "x.json", closed.as_bytes()).is_err());
    }
}

/// 128 MiB on one line, packed into a small file: an error with the line, not memory.
#[test]
fn endless_lines_stop_early() {
    for (tool, name, start) in [
        (
            Tool::LabelStudio,
            "x.json.zst",
            "[{\"id\":1,\"data\":{\"text\":\"",
        ),
        (Tool::Prodigy, "x.jsonl.zst", "{\"_input_hash\":1,\"text\":\""),
        (Tool::Argilla, "x.json.zst", "[{\"id\":\""),
        (Tool::GroundTruth, "x.json.zst", "{\"answers\":\""),
        (Tool::Judges, "x.jsonl.zst", "{\"item\":\""),
        (Tool::AnswersJson, "x.json.zst", "{\""),
        (Tool::Mturk, "x.csv.zst", "HITId,WorkerId,Answer.q\n1,2,"),
        (Tool::Toloka, "x.tsv.zst", "OUTPUT:x\tASSIGNMENT:worker_id\n"),
        (Tool::Triples, "x.txt.zst", "1 2 "),
    ] {
        let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
        packed.write_all(start.as_bytes()).unwrap();
        std::io::copy(&mut std::io::repeat(b'x').take(128 << 20), &mut packed).unwrap();
        let error = read_as(tool, name, &packed.finish().unwrap()).unwrap_err();
        assert!(error.to_string().contains("longer than"), "{tool}: {error}");
        assert!(error.line().is_some(), "{tool}: {error}");
    }
}

#[test]
fn a_folder_or_archive_without_an_export_is_said_to_be_empty() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions {
        tool: Some(Tool::Doccano),
        ..ReadOptions::default()
    };
    let error = read_annotations(&Source::from(folder.path()), &options).unwrap_err();
    assert!(error.to_string().contains("empty"), "{error}");
    assert!(read_annotations(&Source::from(folder.path()), &ReadOptions::default()).is_err());
}
