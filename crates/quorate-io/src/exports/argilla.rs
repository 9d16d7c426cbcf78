//! Argilla 2.x records: nested as the server gives them, or flattened by `to_list(flatten=True)` and
//! `to_datasets`.
//!
//! task = `id`; worker = `user_id`; label = the value of a response. Left out: drafts and discarded
//! responses, and values that are no choice (spans, rankings). Suggestions are of models.

use std::io::{Read, Write};

use serde_json::{Value, json};

use super::answers::{Answers, WhyLeftOut, split_choices};
use super::consensus::{AGENT, WrittenConsensus, rewrite};
use super::json::{Answer, each, parse, required, scalar_of, word};
use super::labelled::Labelled;
use super::members::Members;
use crate::error::{Error, Result};

/// What a file holds, in words for errors.
const EXPECTED: &str = "Argilla records with `id` and `responses` or `QUESTION.responses`";

/// What the keys of a flattened question end with.
pub(super) const RESPONSES: &str = ".responses";

/// Reads records.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    each(input, None, |text| {
        let record: Value = parse(text, EXPECTED)?;
        let task = required(&record, "id")?;
        match record.get("responses") {
            Some(responses) => take_nested(&task, responses, answers),
            None => take_flat(&task, &record, answers),
        }
    })
}

/// One response.
struct Response<'a> {
    value: &'a Value,
    worker: String,
    /// Where it says nothing the response is as good as submitted.
    status: String,
}

fn take_nested(task: &str, responses: &Value, answers: &mut Answers<'_>) -> Result<()> {
    let Some(questions) = responses.as_object() else {
        return wrong("`responses`", "an object of questions");
    };
    for (question, list) in questions {
        let Some(list) = list.as_array() else {
            return wrong(question, "a list of responses");
        };
        for response in list {
            let response = Response {
                value: response.get("value").unwrap_or(&Value::Null),
                worker: required(response, "user_id")?,
                status: word(response, "status").unwrap_or_default(),
            };
            take(question, task, &response, answers)?;
        }
    }
    Ok(())
}

fn take_flat(task: &str, record: &Value, answers: &mut Answers<'_>) -> Result<()> {
    let members = record.as_object().into_iter().flatten();
    for (key, values) in members {
        let Some(question) = key.strip_suffix(RESPONSES) else {
            continue;
        };
        let [users, states] = ["users", "status"].map(|part| {
            let found = record.get(format!("{key}.{part}")).and_then(Value::as_array);
            found.map_or(&[][..], Vec::as_slice)
        });
        let values = match values {
            Value::Null => &[][..],
            Value::Array(values) => values,
            _ => return wrong(key, "a list of responses"),
        };
        if users.len() != values.len() {
            let expected = format!("as many users in \"{key}.users\" as responses");
            return wrong(key, &expected);
        }
        for (place, value) in values.iter().enumerate() {
            let response = Response {
                value,
                worker: scalar_of(&users[place]).unwrap_or_default(),
                status: states.get(place).and_then(scalar_of).unwrap_or_default(),
            };
            take(question, task, &response, answers)?;
        }
    }
    Ok(())
}

fn take(question: &str, task: &str, response: &Response<'_>, answers: &mut Answers<'_>) -> Result<()> {
    match response.status.as_str() {
        "" | "submitted" => {}
        "draft" | "pending" => return answers.leave_out(WhyLeftOut::Draft),
        "discarded" => return answers.leave_out(WhyLeftOut::Discarded),
        _ => return wrong(&response.status, "one of the states submitted, draft, discarded"),
    }
    answers.take(
        question,
        task,
        &response.worker,
        &Answer::of_value(response.value),
    )
}

fn wrong(found: &str, expected: &str) -> Result<()> {
    Err(Error::export(
        format!("found {found:?}, expected {expected}"),
        EXPECTED,
    ))
}

/// Writes a record for each task.
pub(super) fn write(output: &mut dyn Write, as_array: bool, labelled: &Labelled<'_>) -> Result<()> {
    labelled.write_json(output, as_array, |task, answers| {
        let responses: Vec<Value> = answers
            .iter()
            .map(|given| json!({"value": choice_value(given.label, false), "user_id": given.worker, "status": "submitted"}))
            .collect();
        json!({
            "id": task, "fields": {"task": task}, "metadata": {}, "suggestions": {},
            "responses": {labelled.question: responses}
        })
    })
}

/// A label as the value of a response: a list where it is a combination.
fn choice_value(label: &str, as_number: bool) -> Value {
    let number = serde_json::from_str(label)
        .ok()
        .filter(|value: &Value| as_number && value.is_number());
    match (number, &split_choices(label)[..]) {
        (Some(number), _) => number,
        (None, [only]) => json!(only),
        (None, several) => json!(several),
    }
}

/// Writes the records of a file with the consensus as the suggestion of a question. Returns for how many of
/// the records there is none.
pub(super) fn write_suggestions(
    input: impl Read,
    output: &mut dyn Write,
    as_array: bool,
    consensus: &WrittenConsensus<'_>,
) -> Result<u64> {
    let question = consensus.question;
    rewrite(input, None, output, as_array, |text, json| {
        let (record, members): (Value, Members<'_>) = (parse(text, EXPECTED)?, parse(text, EXPECTED)?);
        let Some((label, score)) = consensus.of(&required(&record, "id")?) else {
            members.write_with(json, &[])?;
            return Ok(false);
        };
        let flat = format!("{question}{RESPONSES}");
        let first = match record.get(&flat) {
            Some(values) => values.get(0),
            None => record.pointer(&format!(
                "/responses/{}/0/value",
                question.replace('~', "~0").replace('/', "~1")
            )),
        };
        let value = choice_value(label, first.is_some_and(Value::is_number));
        if record.get(&flat).is_some() {
            let keys = ["", ".agent", ".score"].map(|part| format!("{question}.suggestion{part}"));
            let values = [value, json!(AGENT), json!(score)].map(|value| value.to_string());
            let changed: Vec<(&str, String)> = keys.iter().map(String::as_str).zip(values).collect();
            members.write_with(json, &changed)?;
        } else {
            let suggestions = record.get("suggestions").filter(|found| found.is_object());
            let mut suggestions = suggestions.cloned().unwrap_or(json!({}));
            suggestions[question] = json!({"value": value, "score": score, "agent": AGENT});
            members.write_with(json, &[("suggestions", suggestions.to_string())])?;
        }
        Ok(true)
    })
}
