//! Judgements of language models: an object for each item, with a map of judges.
//!
//! `{"item": .., "judges": {"model-a": "pass", "model-b": null}}`. null is a judgement that failed or was not
//! given: it counts as an abstention. A list holds the judgements of repeated prompts. An object has its
//! label under `label`, `verdict`, `answer`, `rating`, `score` or `value`. (An object for each judgement is a
//! table and needs no reader of its own.)

use std::io::{Read, Write};

use serde_json::{Value, json};

use super::answers::Answers;
use super::json::{Scalar, each, parse, scalar_of};
use super::labelled::Labelled;
use super::members::Members;
use crate::error::{Error, Result};
use crate::tables::column_roles::{Role, Wanted, find_columns};

/// What a file holds, in words for errors.
const EXPECTED: &str =
    "objects with an item and a map of judges: {\"item\": .., \"judges\": {\"NAME\": LABEL, ..}}";

/// Keys under which the map may stand.
pub(super) const MAPS: [&str; 6] = [
    "judges",
    "judgements",
    "judgments",
    "annotators",
    "raters",
    "votes",
];

/// Keys under which a judge's label may stand.
const LABELS: [&str; 6] = ["label", "verdict", "answer", "rating", "score", "value"];

/// Reads items.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    // The key of the item's id, as the first object has it.
    let mut key = String::new();
    each(input, None, |text| {
        let item: Members<'_> = parse(text, EXPECTED)?;
        let map = MAPS
            .iter()
            .find_map(|key| item.get(key))
            .ok_or_else(|| wrong("an object without `judges`"))?;
        if item.get(&key).is_none() {
            key = item.0[find_task(&item)?].0.to_string();
        }
        let task: Scalar<'_> = item
            .get(&key)
            .map_or(Ok(Scalar::default()), |raw| parse(raw.get(), EXPECTED))?;
        if task.0.is_empty() {
            return Err(wrong("an item without an id"));
        }
        let judges: Members<'_> = parse(map.get(), EXPECTED)?;
        for (judge, raw) in &judges.0 {
            match raw.get().as_bytes().first() {
                Some(b'{' | b'[') => take(task.as_ref(), judge, &parse(raw.get(), EXPECTED)?, answers)?,
                _ => {
                    let label: Scalar<'_> = parse(raw.get(), EXPECTED)?;
                    answers.answer("", task.as_ref(), judge, label.as_ref())?;
                }
            }
        }
        Ok(())
    })
}

/// Where the item's id stands.
fn find_task(item: &Members<'_>) -> Result<usize> {
    let names: Vec<String> = item.0.iter().map(|(name, _)| name.to_string()).collect();
    let role = Role::Task;
    let wanted = Wanted {
        role,
        name: role.name(),
    };
    Ok(find_columns(&names, &[wanted]).map_err(Error::about_keys)?[0])
}

fn take(task: &str, judge: &str, value: &Value, answers: &mut Answers<'_>) -> Result<()> {
    match value {
        Value::Array(repeated) => repeated
            .iter()
            .try_for_each(|value| take(task, judge, value, answers)),
        Value::Object(judgement) => match LABELS.iter().find_map(|key| scalar_of(judgement.get(*key)?)) {
            Some(label) => answers.answer("", task, judge, &label),
            None => Err(wrong(&format!("a judgement of {judge:?} without a label"))),
        },
        simple => answers.answer("", task, judge, &scalar_of(simple).unwrap_or_default()),
    }
}

fn wrong(found: &str) -> Error {
    Error::export(format!("found {found}"), EXPECTED)
}

/// Writes an object for each task with a map of workers.
pub(super) fn write(output: &mut dyn Write, labelled: &Labelled<'_>) -> Result<()> {
    labelled.write_json(output, false, |task, answers| {
        let mut judges = serde_json::Map::new();
        for given in answers {
            match judges.get_mut(given.worker) {
                Some(Value::Array(repeated)) => repeated.push(json!(given.label)),
                Some(one) => *one = json!([one.take(), given.label]),
                None => drop(judges.insert(given.worker.to_owned(), json!(given.label))),
            }
        }
        json!({"item": task, "judges": judges})
    })
}
