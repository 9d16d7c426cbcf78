//! Toloka, assignments as TSV: a row for each answer of a worker to a task.
//!
//! task = `ASSIGNMENT:task_id`, else the `INPUT:` columns together; worker = `ASSIGNMENT:worker_id`; question
//! = `OUTPUT:NAME`; truth = `GOLDEN:NAME`. Left out: rejected assignments, and those that were never handed
//! in.

use std::io::Read;

use super::answers::{Answers, WhyLeftOut};
use super::labelled::Labelled;
use crate::error::{Error, Result};
use crate::formats::{Row, RowSource, columns_where, find_column, read_delimited};

const OUTPUT: &str = "OUTPUT:";
const GOLDEN: &str = "GOLDEN:";
const INPUT: &str = "INPUT:";
const WORKER: &str = "ASSIGNMENT:worker_id";
const TASK: &str = "ASSIGNMENT:task_id";
const STATUS: &str = "ASSIGNMENT:status";

/// Whether a table with these columns is one of these.
pub(super) fn is_header(names: &[String]) -> bool {
    names.iter().any(|name| name == WORKER) && names.iter().any(|name| name.starts_with(OUTPUT))
}

/// Reads assignments.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    let choose = |answers: &mut &mut Answers<'_>, names: &[String]| {
        find_column(names, WORKER, "assignments")?;
        let parts = [OUTPUT, GOLDEN, INPUT, WORKER, TASK, STATUS];
        for question in names.iter().filter_map(|name| name.strip_prefix(OUTPUT)) {
            answers.wants(question);
        }
        Ok(columns_where(names, |name| {
            parts.iter().any(|part| name.starts_with(part))
        }))
    };
    let take = |answers: &mut &mut Answers<'_>, row: &Row<'_>| take(answers, row);
    read_delimited(input, b'\t', answers, choose, take).map(drop)
}

fn take(answers: &mut Answers<'_>, row: &Row<'_>) -> Result<()> {
    let (task, worker) = (row.named(TASK)?, row.named(WORKER)?);
    // Without an id the inputs of a task are its name.
    let inputs = (0..row.names.len()).filter(|&slot| task.is_empty() && row.names[slot].starts_with(INPUT));
    let inputs: Vec<&str> = inputs.map(|slot| row.field(slot)).collect::<Result<_>>()?;
    let inputs = inputs.join("|");
    let task = if task.is_empty() { &inputs } else { task };
    let left_out = match row.named(STATUS)?.to_ascii_uppercase().as_str() {
        "" | "SUBMITTED" | "APPROVED" | "ACCEPTED" => None,
        "REJECTED" => Some(WhyLeftOut::Rejected),
        "SKIPPED" | "EXPIRED" | "ACTIVE" => Some(WhyLeftOut::Skipped),
        other => {
            let problem = format!("found the status {other:?}, expected SUBMITTED, APPROVED or REJECTED");
            return Err(Error::export(problem, "Toloka assignments"));
        }
    };
    for question in row.names.iter().filter_map(|name| name.strip_prefix(OUTPUT)) {
        if !answers.wants(question) {
            continue;
        }
        if left_out.is_none() {
            answers.answer(question, task, worker, row.named(&format!("{OUTPUT}{question}"))?)?;
        }
        answers.gold(question, task, row.named(&format!("{GOLDEN}{question}"))?);
    }
    left_out.map_or(Ok(()), |why| answers.leave_out(why))
}

/// A row for each answer.
pub(super) fn rows<'a>(labelled: &'a Labelled<'a>) -> impl RowSource + 'a {
    let question = labelled.question;
    let columns = [
        TASK.to_owned(),
        format!("{OUTPUT}{question}"),
        format!("{GOLDEN}{question}"),
    ];
    let about = ["ASSIGNMENT:assignment_id", WORKER, STATUS].map(str::to_owned);
    labelled.rows(
        columns.into_iter().chain(about).collect(),
        move |task, given, number, row| {
            let gold = labelled.gold(task).unwrap_or_default();
            row(&[
                task,
                given.label,
                gold,
                &number.to_string(),
                given.worker,
                "APPROVED",
            ])
        },
    )
}
