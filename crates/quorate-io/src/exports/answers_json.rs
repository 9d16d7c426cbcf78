//! `answers.json`: an object of items, each an object of workers and their labels (`{"0": {"17": 3}}`), as
//! peerannot has it.

use std::io::{Read, Write};

use serde_json::{Value, json};

use super::answers::Answers;
use super::json::{Scalar, parse};
use super::labelled::{Labelled, id_value};
use super::members::Members;
use crate::error::{Error, Result};
use crate::formats::json_texts::{JsonTexts, Shape};

/// What a file holds, in words for errors.
const EXPECTED: &str =
    "an object of items, each an object of workers and labels: {\"ITEM\": {\"WORKER\": LABEL}}";

/// Reads items.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    let mut items = JsonTexts::of_shape(input, Some(Shape::Members))?;
    while items.advance()? {
        let mut take = || {
            let (task, labels): (String, Members<'_>) = (items.key()?, parse(items.text()?, EXPECTED)?);
            for (worker, raw) in &labels.0 {
                let label: Scalar<'_> = parse(raw.get(), EXPECTED)?;
                answers.answer("", &task, worker, label.as_ref())?;
            }
            Ok(())
        };
        take().map_err(|error: crate::Error| error.at(items.position()))?;
    }
    Ok(())
}

/// Writes an object of tasks.
pub(super) fn write(output: &mut dyn Write, labelled: &Labelled<'_>) -> Result<()> {
    let mut separator = '{';
    labelled.each_task(|task, answers| {
        let mut workers = serde_json::Map::new();
        for given in answers {
            if workers
                .insert(given.worker.to_owned(), id_value(given.label))
                .is_some()
            {
                let problem = format!(
                    "{:?} answered task {task:?} more than once, and this format has one place for it",
                    given.worker
                );
                return Err(Error::syntax(problem));
            }
        }
        write!(output, "{separator}\n{}: {}", json!(task), Value::from(workers))?;
        separator = ',';
        Ok(())
    })?;
    Ok(output.write_all(if separator == '{' { b"{}\n" } else { b"\n}\n" })?)
}
