//! Toloka, assignments as TSV: a row for each answer of a worker to a task.
//!
//! task = `ASSIGNMENT:task_id`, else the `INPUT:` columns together; worker = `ASSIGNMENT:worker_id`; question
//! = `OUTPUT:NAME`; truth = `GOLDEN:NAME`. Left out: rejected assignments, and those that were never handed
//! in.

use std::io::Read;

use super::answers::{Answers, BETWEEN_CHOICES, WhyLeftOut};
use super::labelled::Labelled;
use crate::error::{ErrorKind, Result};
use crate::formats::delimiter::Delimiter;
use crate::formats::{Row, RowSink, RowSource, delimited, field, find_column};

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
    let rows = &mut Rows {
        answers,
        columns: Vec::new(),
    };
    delimited::read(input, Delimiter::Usual(b'\t'), rows)
}

struct Rows<'r, 'a> {
    answers: &'r mut Answers<'a>,
    columns: Vec<String>,
}

impl RowSink for Rows<'_, '_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        find_column(names, WORKER, "assignments")?;
        let parts = [OUTPUT, GOLDEN, INPUT, WORKER, TASK, STATUS];
        let chosen: Vec<usize> = (0..names.len())
            .filter(|&column| parts.iter().any(|part| names[column].starts_with(part)))
            .collect();
        self.columns = chosen.iter().map(|&column| names[column].clone()).collect();
        for question in self.columns.iter().filter_map(|name| name.strip_prefix(OUTPUT)) {
            self.answers.wants(question);
        }
        Ok(chosen)
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let Self { answers, columns } = self;
        let text = |name: &str| {
            let slot = columns.iter().position(|column| column == name);
            slot.map_or(Ok(""), |slot| field(row, slot, name))
        };
        let task = match text(TASK)? {
            "" => inputs(columns, row)?,
            task => task.to_owned(),
        };
        let left_out = match text(STATUS)?.to_ascii_uppercase().as_str() {
            "" | "SUBMITTED" | "APPROVED" | "ACCEPTED" => None,
            "REJECTED" => Some(WhyLeftOut::Rejected),
            "SKIPPED" | "EXPIRED" | "ACTIVE" => Some(WhyLeftOut::Skipped),
            other => {
                return Err(ErrorKind::Export {
                    problem: format!("found the status {other:?}, expected SUBMITTED, APPROVED or REJECTED"),
                    expected: "Toloka assignments".into(),
                }
                .into());
            }
        };
        let worker = text(WORKER)?;
        for question in columns.iter().filter_map(|name| name.strip_prefix(OUTPUT)) {
            if !answers.wants(question) {
                continue;
            }
            if left_out.is_none() {
                answers.answer(question, &task, worker, text(&format!("{OUTPUT}{question}"))?)?;
            }
            answers.gold(question, &task, text(&format!("{GOLDEN}{question}"))?);
        }
        if let Some(why) = left_out {
            answers.leave_out(why);
        }
        Ok(())
    }
}

/// The inputs of a task, which are its name.
fn inputs(columns: &[String], row: &impl Row) -> Result<String> {
    let mut task = String::new();
    for (slot, column) in columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.starts_with(INPUT))
    {
        if !task.is_empty() {
            task.push(BETWEEN_CHOICES);
        }
        task.push_str(field(row, slot, column)?);
    }
    Ok(task)
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
