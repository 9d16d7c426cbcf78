//! Appen (Figure Eight, CrowdFlower), full report as CSV: a row for each judgement.
//!
//! task = `_unit_id`; worker = `_worker_id`; question = a column with a `NAME_gold` beside it, else any
//! column that does not start with `_`; truth = `NAME_gold`. Several answers in a cell stand on lines of
//! their own. Left out: tainted judgements. The aggregated report has no workers: an error.

use std::io::Read;

use super::answers::{Answers, WhyLeftOut, join_choices, split_choices};
use super::labelled::Labelled;
use crate::error::{Error, Result};
use crate::formats::{Row, RowSource, columns_where, find_column, read_delimited};

const TASK: &str = "_unit_id";
const WORKER: &str = "_worker_id";
const TAINTED: &str = "_tainted";
const GOLD: &str = "_gold";

/// Columns of which a full report has at least one.
const OF_JUDGEMENTS: [&str; 5] = ["_golden", "_trust", TAINTED, "_started_at", "_missed"];

/// Columns that only an aggregated report has.
const OF_UNITS: [&str; 2] = ["_unit_state", "_trusted_judgments"];

/// Whether a table with these columns is one of these, full or aggregated.
pub(super) fn is_header(names: &[String]) -> bool {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let full = has(WORKER) && OF_JUDGEMENTS.into_iter().any(has);
    has(TASK) && (full || OF_UNITS.into_iter().any(has))
}

/// Reads a full report.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    let choose = |(answers, questions): &mut (&mut Answers<'_>, Vec<String>), names: &[String]| {
        if !names.iter().any(|name| name == WORKER) {
            return Err(Error::export(
                "found an aggregated report, which does not say who answered",
                "the full report: a row for each judgement, with `_worker_id`",
            ));
        }
        find_column(names, TASK, "judgements")?;
        *questions = find_questions(names);
        for question in &*questions {
            answers.wants(question);
        }
        Ok(columns_where(names, |name| {
            let question = name.strip_suffix(GOLD).unwrap_or(name);
            let mut known = questions.iter();
            [TASK, WORKER, TAINTED].contains(&name) || known.any(|known| known == name || known == question)
        }))
    };
    let take = |(answers, questions): &mut (&mut Answers<'_>, Vec<String>), row: &Row<'_>| {
        let (task, worker) = (row.named(TASK)?, row.named(WORKER)?);
        let tainted = row.named(TAINTED)?.eq_ignore_ascii_case("true");
        if tainted {
            answers.leave_out(WhyLeftOut::Tainted)?;
        }
        for question in questions {
            if !answers.wants(question) {
                continue;
            }
            if !tainted {
                answers.choices(question, task, worker, &lines(row.named(question)?))?;
            }
            let gold = lines(row.named(&format!("{question}{GOLD}"))?);
            answers.gold(question, task, &join_choices(&gold));
        }
        Ok(())
    };
    read_delimited(input, b',', (answers, Vec::new()), choose, take).map(drop)
}

fn lines(cell: &str) -> Vec<&str> {
    cell.lines().filter(|line| !line.trim().is_empty()).collect()
}

/// The columns with a truth beside them; where there are none, all that are not about the judgement.
fn find_questions(names: &[String]) -> Vec<String> {
    let has_gold = |name: &&String| names.iter().any(|other| other.strip_suffix(GOLD) == Some(name));
    let with_gold: Vec<String> = names.iter().filter(has_gold).cloned().collect();
    if with_gold.is_empty() {
        let plain = names
            .iter()
            .filter(|name| !name.starts_with('_') && !name.starts_with("orig_"));
        plain.filter(|name| !name.ends_with(GOLD)).cloned().collect()
    } else {
        with_gold
    }
}

/// A row for each judgement.
pub(super) fn rows<'a>(labelled: &'a Labelled<'a>) -> impl RowSource + 'a {
    let question = labelled.question;
    let about = [TASK, "_golden", "_id", TAINTED, WORKER].map(str::to_owned);
    let columns = about
        .into_iter()
        .chain([question.to_owned(), format!("{question}{GOLD}")]);
    labelled.rows(columns.collect(), move |task, given, number, row| {
        let gold = labelled.gold(task);
        let (golden, number) = (gold.is_some().to_string(), number.to_string());
        let (label, gold) = (on_lines(given.label), on_lines(gold.unwrap_or_default()));
        row(&[task, &golden, &number, "false", given.worker, &label, &gold])
    })
}

/// Several choices on lines of their own.
fn on_lines(label: &str) -> String {
    split_choices(label).join("\n")
}
