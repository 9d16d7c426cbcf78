//! SageMaker Ground Truth: the payload of a consolidation request, and worker responses.
//!
//! Payload: a list of objects with `datasetObjectId` (the task) and `annotations`, each with `workerId` and
//! the answer as JSON inside of text (`annotationData.content`). Worker responses: a file for each task with
//! `answers`, each with `workerId` and `answerContent`; the task is the name of the folder that the file is
//! in, as in the output of a labelling job (`annotations/worker-response/iteration-1/TASK/TIME.json`).
//! Question = the name of the crowd element.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::answers::{Answers, split_choices};
use super::consensus::{AGENT, WrittenConsensus, rewrite};
use super::json::{Scalar, each, parse, required};
use super::labelled::Labelled;
use super::mturk::take_elements;
use crate::error::{Error, Result};
use crate::formats::json_texts::Shape;

/// What a payload holds, in words for errors.
const EXPECTED: &str =
    "objects with `datasetObjectId` and `annotations` with `workerId` and `annotationData.content`";

/// What a worker response holds, in words for errors.
const EXPECTED_RESPONSE: &str = "an object with `answers`, each with `workerId` and `answerContent`";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    #[serde(borrow)]
    dataset_object_id: Scalar<'a>,
    #[serde(borrow)]
    annotations: Vec<Annotation<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotation<'a> {
    #[serde(borrow)]
    worker_id: Scalar<'a>,
    annotation_data: AnnotationData,
}

#[derive(Deserialize)]
struct AnnotationData {
    content: Value,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    answers: Vec<WorkerAnswer<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorkerAnswer<'a> {
    #[serde(borrow)]
    worker_id: Scalar<'a>,
    answer_content: Value,
}

/// Reads a payload, or the worker responses of the task that the path names.
pub(super) fn read(input: impl Read, path: &Path, answers: &mut Answers<'_>) -> Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let is_list = input.fill_buf()?.trim_ascii_start().first() == Some(&b'[');
    if is_list {
        each(input, Some(Shape::Array), |text| take_item(text, answers))
    } else {
        each(input, Some(Shape::Whole), |text| {
            take_responses(text, path, answers)
        })
    }
}

fn take_item(text: &str, answers: &mut Answers<'_>) -> Result<()> {
    let item: Item<'_> = parse(text, EXPECTED)?;
    for annotation in &item.annotations {
        // The content is JSON inside of text; some pre-processing has it unpacked already.
        let unpacked = match &annotation.annotation_data.content {
            Value::String(content) => parse(content, "JSON in `annotationData.content`")?,
            other => other.clone(),
        };
        let (task, worker) = (item.dataset_object_id.as_ref(), annotation.worker_id.as_ref());
        take_elements(&unpacked, EXPECTED, task, worker, answers)?;
    }
    Ok(())
}

fn take_responses(text: &str, path: &Path, answers: &mut Answers<'_>) -> Result<()> {
    let response: Response<'_> = parse(text, EXPECTED_RESPONSE)?;
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy());
    let task = folder.filter(|name| !name.is_empty()).ok_or_else(|| {
        let found = "found worker responses that are in no folder, which would name the task";
        Error::export(found, "the folder annotations/worker-response of a labelling job")
    })?;
    for answer in &response.answers {
        let worker = answer.worker_id.as_ref();
        take_elements(&answer.answer_content, EXPECTED, &task, worker, answers)?;
    }
    Ok(())
}

/// Writes the payload of a consolidation request.
pub(super) fn write(output: &mut dyn Write, labelled: &Labelled<'_>) -> Result<()> {
    labelled.write_json(output, true, |task, answers| {
        let annotations = answers.iter().map(|given| {
            let choices = split_choices(given.label);
            let answer = match &choices[..] {
                [only] => json!({"label": only}),
                several => json!({"labels": several}),
            };
            let content = json!({labelled.question: answer}).to_string();
            json!({"workerId": given.worker, "annotationData": {"content": content}})
        });
        let annotations: Vec<Value> = annotations.collect();
        json!({"datasetObjectId": task, "dataObject": {"content": task}, "annotations": annotations})
    })
}

/// What is said about the label of an object.
fn metadata(label: &str, score: f64, kind: &str) -> Value {
    json!({
        "class-name": label, "confidence": score, "type": format!("groundtruth/{kind}"), "human-annotated": "yes",
        "job-name": AGENT
    })
}

/// The object of a request, and what it is: text, or something in a file.
fn data_object(item: &Value) -> (&'static str, &Value, &'static str) {
    match (
        item.pointer("/dataObject/s3Uri"),
        item.pointer("/dataObject/content"),
    ) {
        (Some(uri), _) => ("source-ref", uri, "image-classification"),
        (None, Some(content)) => ("source", content, "text-classification"),
        (None, None) => ("source", &Value::Null, "text-classification"),
    }
}

/// Writes the reply to a consolidation request. Returns for how many of the objects there is no consensus.
pub(super) fn write_reply(
    input: impl Read,
    output: &mut dyn Write,
    consensus: &WrittenConsensus<'_>,
) -> Result<u64> {
    rewrite(input, Some(Shape::Array), output, true, |text, json| {
        let item: Value = parse(text, EXPECTED)?;
        let Some((label, score)) = consensus.of(&required(&item, "datasetObjectId")?) else {
            return Ok(false);
        };
        let (_, _, kind) = data_object(&item);
        let name = consensus.question;
        let content = json!({
            name: {"label": label}, format!("{name}-metadata"): metadata(label, score, kind)
        });
        let reply = json!({"datasetObjectId": item["datasetObjectId"], "consolidatedAnnotation": {"content": content}});
        write!(json, "{reply}")?;
        Ok(true)
    })
}

/// Writes an augmented manifest of the objects of a request. Returns for how many of them there is no
/// consensus.
pub(super) fn write_manifest(
    input: impl Read,
    output: &mut dyn Write,
    consensus: &WrittenConsensus<'_>,
) -> Result<u64> {
    rewrite(input, Some(Shape::Array), output, false, |text, json| {
        let item: Value = parse(text, EXPECTED)?;
        let Some((label, score)) = consensus.of(&required(&item, "datasetObjectId")?) else {
            return Ok(false);
        };
        let (key, object, kind) = data_object(&item);
        let name = consensus.question;
        let line = json!({
            key: object, name: consensus.class_number(label), format!("{name}-metadata"): metadata(label, score, kind)
        });
        write!(json, "{line}")?;
        Ok(true)
    })
}
