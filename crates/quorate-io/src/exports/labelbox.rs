//! Labelbox, NDJSON: an object for each data row, with the labels of every project.
//!
//! task = the data row's `global_key`, else its `id`; worker = `label_details.created_by`; question = the
//! name of a classification; label = `radio_answer.value` or the `checklist_answers`. Left out: skipped
//! labels, objects and text.

use std::borrow::Cow;
use std::io::{Read, Write};

use serde_json::{Value, json};

use super::answers::{Answers, WhyLeftOut, split_choices};
use super::json::{each, list, missing_key, parse, required, word};
use super::labelled::Labelled;
use crate::error::Result;

/// What a file holds, in words for errors.
const EXPECTED: &str = "Labelbox data rows with `data_row` and `projects`";

/// Reads data rows.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    each(input, None, |text| {
        let item: Value = parse(text, EXPECTED)?;
        let row = item
            .get("data_row")
            .ok_or_else(|| missing_key(&item, "data_row"))?;
        let task = word(row, "global_key").map_or_else(|| required(row, "id"), Ok)?;
        let projects = item.get("projects").and_then(Value::as_object);
        let projects = projects.ok_or_else(|| missing_key(&item, "projects"))?;
        for project in projects.values() {
            list(project, "/labels")
                .iter()
                .try_for_each(|label| take_label(&task, label, answers))?;
        }
        Ok(())
    })
}

fn take_label(task: &str, label: &Value, answers: &mut Answers<'_>) -> Result<()> {
    let skipped = label
        .pointer("/performance_details/skipped")
        .and_then(Value::as_bool);
    if skipped == Some(true) {
        return answers.leave_out(WhyLeftOut::Skipped);
    }
    let details = label
        .get("label_details")
        .ok_or_else(|| missing_key(label, "label_details"))?;
    let worker = required(details, "created_by")?;
    let mut objects = list(label, "/annotations/objects").iter();
    objects.try_for_each(|_| answers.leave_out(WhyLeftOut::NotAChoice))?;
    let mut given = list(label, "/annotations/classifications").iter();
    given.try_for_each(|given| take_classification(task, &worker, given, answers))
}

fn take_classification(task: &str, worker: &str, given: &Value, answers: &mut Answers<'_>) -> Result<()> {
    let question = required(given, "name")?;
    let name = |answer: &Value| word(answer, "value").or_else(|| word(answer, "name"));
    if let Some(answer) = given.get("radio_answer") {
        let label = name(answer).ok_or_else(|| missing_key(answer, "value"))?;
        return answers.answer(&question, task, worker, &label);
    }
    match given.get("checklist_answers").and_then(Value::as_array) {
        Some(list) => {
            let choices: Vec<String> = list.iter().filter_map(name).collect();
            answers.choices(&question, task, worker, &choices)
        }
        None => answers.leave_out(WhyLeftOut::NotAChoice),
    }
}

/// Writes a data row for each task.
pub(super) fn write(output: &mut dyn Write, labelled: &Labelled<'_>) -> Result<()> {
    labelled.write_json(output, false, |task, answers| {
        let labels = answers.iter().map(|given| {
            let option = |choice: &Cow<'_, str>| json!({"name": choice, "value": choice});
            let choices = split_choices(given.label);
            let mut classification = json!({"name": labelled.question, "value": labelled.question});
            match &choices[..] {
                [only] => classification["radio_answer"] = option(only),
                several => classification["checklist_answers"] = several.iter().map(option).collect(),
            }
            json!({
                "label_details": {"created_by": given.worker}, "performance_details": {"skipped": false},
                "annotations": {"objects": [], "classifications": [classification]}
            })
        });
        let labels: Vec<Value> = labels.collect();
        json!({"data_row": {"id": task, "global_key": task}, "projects": {"quorate": {"name": "quorate", "labels": labels}}})
    })
}
