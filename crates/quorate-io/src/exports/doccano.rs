//! doccano: a file for each user, in a folder or a zip file; the name of the file is the worker.
//!
//! task = `id`; label = `label`, a list. Old exports have a list of `annotations` with `label` and `user` in
//! one file. Spans are left out. `all.jsonl`, the export of annotations that all users share, has lost who
//! answered: an error.

use std::io::{Read, Write};

use serde_json::{Value, json};

use super::answers::{Answers, WhyLeftOut, split_choices};
use super::archive;
use super::json::{Answer, each, list, parse, required, scalar_of};
use super::labelled::{Labelled, id_value};
use crate::error::{Error, Result};
use crate::formats::{Row, find_column, read_delimited};

/// What a file holds, in words for errors.
const EXPECTED: &str = "doccano rows with `id` and `label`, a list of labels";

/// What stands between several labels in a CSV file.
const BETWEEN_LABELS: char = '#';

/// The name of a file that is of all users at once.
const EVERYBODY: &str = "all";

/// Reads the file of a user, JSONL or JSON.
pub(super) fn read_json(input: impl Read, user: &str, answers: &mut Answers<'_>) -> Result<()> {
    each(input, None, |text| {
        let row: Value = parse(text, EXPECTED)?;
        let task = required(&row, "id")?;
        if row.get("annotations").is_some_and(Value::is_array) {
            for annotation in list(&row, "/annotations") {
                let worker = required(annotation, "user")?;
                match annotation.get("label").and_then(scalar_of) {
                    Some(label) => answers.answer("", &task, &worker, &label)?,
                    None => answers.leave_out(WhyLeftOut::NotAChoice)?,
                }
            }
            return Ok(());
        }
        check_user(user)?;
        let Some(labels) = row.get("label").or_else(|| row.get("labels")) else {
            return Err(super::json::missing_key(&row, "label"));
        };
        answers.take("", &task, user, &Answer::of_value(labels))
    })
}

/// Reads the file of a user, CSV.
pub(super) fn read_table(input: impl Read, user: &str, answers: &mut Answers<'_>) -> Result<()> {
    check_user(user)?;
    let choose = |_: &mut _, names: &[String]| {
        let found = |name| find_column(names, name, "answers of one user");
        Ok(vec![found("id")?, found("label")?])
    };
    let take = |answers: &mut &mut Answers<'_>, row: &Row<'_>| {
        let (task, labels) = (row.field(0)?, row.field(1)?);
        let labels = labels.split(BETWEEN_LABELS).filter(|label| !label.is_empty());
        answers.choices("", task, user, &labels.collect::<Vec<_>>())
    };
    read_delimited(input, b',', answers, choose, take).map(drop)
}

fn check_user(user: &str) -> Result<()> {
    match user {
        EVERYBODY => Err(Error::export(
            "found the file of all users, which does not say who answered",
            "a file for each user: switch off \"share annotations across all users\" in the project, and \
                       export it again",
        )),
        _ => Ok(()),
    }
}

/// Writes a zip file with a file for each worker.
pub(super) fn write(output: &mut dyn Write, labelled: &Labelled<'_>) -> Result<()> {
    let workers = labelled.annotations.workers();
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for worker in workers.iter() {
        if worker == EVERYBODY || worker.contains(['/', '\\']) || worker.starts_with(['.', '_']) {
            let problem = format!(
                "the worker {worker:?} cannot be the name of a file, which doccano has for each; choose another format"
            );
            return Err(Error::syntax(problem));
        }
        files.push((format!("{worker}.jsonl"), Vec::new()));
    }
    labelled.each_task(|task, answers| {
        for given in answers {
            let labels = split_choices(given.label);
            let row = json!({"id": id_value(task), "text": task, "label": labels, "Comments": []});
            let file = workers.find(given.worker).unwrap_or_default() as usize;
            files[file].1.extend(format!("{row}\n").into_bytes());
        }
        Ok(())
    })?;
    archive::write(output, &files)
}
