//! Prodigy, JSONL of `db-out`: an object for each answer.
//!
//! task = `_input_hash`; worker = `_annotator_id`, else `_session_id`. Multiple choice (`accept`): the chosen
//! options, of the question `choice`. Binary (`label` with `answer`): a question for each label, with the
//! classes accept and reject. Left out: `ignore`d examples, and rejected multiple choices.

use std::io::{Read, Write};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answers::{Answers, WhyLeftOut, split_choices};
use super::consensus::{AGENT, WrittenConsensus};
use super::json::{Answer, Scalar, each, parse};
use super::labelled::{JsonList, Labelled, id_value};
use super::members::Members;
use crate::error::{Error, Result};

/// What a file holds, in words for errors.
const EXPECTED: &str = "Prodigy examples with `_input_hash`, `answer` and `_annotator_id` or `_session_id`";

/// The question of a multiple choice, which has no name.
const CHOICE: &str = "choice";

#[derive(Deserialize)]
struct Example<'a> {
    #[serde(rename = "_input_hash", borrow, default)]
    input: Scalar<'a>,
    #[serde(rename = "_annotator_id", borrow, default)]
    annotator: Scalar<'a>,
    #[serde(rename = "_session_id", borrow, default)]
    session: Scalar<'a>,
    #[serde(borrow, default)]
    answer: Scalar<'a>,
    #[serde(borrow, default)]
    accept: Option<Answer<'a>>,
    #[serde(borrow, default)]
    label: Option<Answer<'a>>,
}

impl Example<'_> {
    fn worker(&self) -> Option<&str> {
        let named = [&self.annotator, &self.session];
        named
            .map(AsRef::as_ref)
            .into_iter()
            .find(|name: &&str| !name.is_empty())
    }
}

/// Reads examples.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    each(input, None, |text| take(&parse(text, EXPECTED)?, answers))
}

fn take(example: &Example<'_>, answers: &mut Answers<'_>) -> Result<()> {
    let problem =
        |problem: &str| -> Result<()> { Err(Error::export(format!("found an example {problem}"), EXPECTED)) };
    let (task, answer) = (example.input.as_ref(), example.answer.as_ref());
    let worker = example.worker();
    if task.is_empty() {
        return problem("without `_input_hash`");
    }
    match answer {
        "accept" | "reject" => {}
        "ignore" => return answers.leave_out(WhyLeftOut::Skipped),
        other => {
            return problem(&format!(
                "with the answer {other:?}, not accept, reject or ignore"
            ));
        }
    }
    let Some(worker) = worker else {
        return problem("of an annotator without a name (name the sessions: ?session=NAME)");
    };
    match (&example.accept, &example.label) {
        (Some(_), _) if answer == "reject" => answers.leave_out(WhyLeftOut::Rejected),
        (Some(accepted), _) => answers.take(CHOICE, task, worker, accepted),
        (None, Some(Answer::One(label))) => answers.answer(label.as_ref(), task, worker, answer),
        _ => answers.leave_out(WhyLeftOut::NotAChoice),
    }
}

/// Writes an example for each answer, as a multiple choice.
pub(super) fn write(output: &mut dyn Write, labelled: &Labelled<'_>) -> Result<()> {
    let classes = labelled.annotations.classes().iter();
    let options: Vec<Value> = classes.map(|class| json!({"id": class, "text": class})).collect();
    let mut list = JsonList::new(output, false)?;
    labelled.each_task(|task, answers| {
        for given in answers {
            let example = json!({
                "text": task, "_input_hash": id_value(task), "_task_hash": id_value(task), "_view_id": "choice",
                "options": options, "accept": split_choices(given.label), "answer": "accept",
                "_annotator_id": given.worker, "_session_id": given.worker
            });
            list.push(example.to_string().as_bytes())?;
        }
        Ok(())
    })?;
    list.end()
}

/// The answers to one input, for the review.
struct Reviewed {
    /// The first example.
    first: String,
    /// Every different answer, with who gave it.
    versions: Vec<(Value, Vec<String>)>,
}

/// Writes an example for each input, in the form of Prodigy's review: the versions that annotators gave, and
/// the consensus filled in. Returns for how many of the inputs there is none.
pub(super) fn write_review(
    input: impl Read,
    output: &mut dyn Write,
    consensus: &WrittenConsensus<'_>,
) -> Result<u64> {
    let mut inputs: Vec<(String, Reviewed)> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    each(input, None, |text| {
        let example: Example<'_> = parse(text, EXPECTED)?;
        if example.answer.as_ref() == "ignore" {
            return Ok(());
        }
        let task = example.input.as_ref();
        let place = *places.entry(task.to_owned()).or_insert_with(|| {
            let first = text.to_owned();
            let versions = Vec::new();
            inputs.push((task.to_owned(), Reviewed { first, versions }));
            inputs.len() - 1
        });
        let mut version: Value = parse(text, EXPECTED)?;
        if let Some(version) = version.as_object_mut() {
            version.retain(|key, _| !OF_ONE_ANSWER.contains(&key.as_str()));
        }
        let versions = &mut inputs[place].1.versions;
        let worker = example.worker().unwrap_or_default().to_owned();
        match versions.iter_mut().find(|(known, _)| *known == version) {
            Some((_, workers)) => workers.push(worker),
            None => versions.push((version, vec![worker])),
        }
        Ok(())
    })?;
    let (mut list, mut without) = (JsonList::new(output, false)?, 0);
    for (task, reviewed) in &inputs {
        let members: Members<'_> = parse(&reviewed.first, EXPECTED)?;
        let kept = members
            .0
            .iter()
            .filter(|(key, _)| !OF_ONE_ANSWER.contains(&key.as_ref()));
        let members = Members(kept.cloned().collect());
        let versions = reviewed.versions.iter().map(|(version, workers)| {
            let mut version = version.clone();
            version["sessions"] = json!(workers);
            version["default"] = json!(false);
            version
        });
        let mut changed = vec![("versions", Value::Array(versions.collect()).to_string())];
        match consensus.of(task) {
            Some((label, score)) => {
                let is_choice = members.get("accept").is_some();
                changed.push(if is_choice {
                    ("accept", json!(split_choices(label)).to_string())
                } else {
                    ("answer", json!(label).to_string())
                });
                changed.push(("meta", json!({"score": score, "source": AGENT}).to_string()));
            }
            None => without += 1,
        }
        let mut json = Vec::new();
        members.write_with(&mut json, &changed)?;
        list.push(&json)?;
    }
    list.end()?;
    Ok(without)
}

/// What belongs to one answer, and not to its input.
const OF_ONE_ANSWER: [&str; 3] = ["_annotator_id", "_session_id", "_timestamp"];
