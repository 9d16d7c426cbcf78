//! Appen (Figure Eight, CrowdFlower), full report as CSV: a row for each judgement.
//!
//! task = `_unit_id`; worker = `_worker_id`; question = a column with a `NAME_gold` beside it, else any
//! column that does not start with `_`; truth = `NAME_gold`. Several answers in a cell stand on lines of
//! their own. Left out: tainted judgements. The aggregated report has no workers: an error.

use std::io::Read;

use super::answers::{Answers, WhyLeftOut, join_choices};
use super::labelled::{Labelled, split_choices};
use crate::error::{ErrorKind, Result};
use crate::formats::delimiter::Delimiter;
use crate::formats::{Row, RowSink, RowSource, delimited, field, find_column};

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
    let rows = &mut Rows {
        answers,
        columns: Vec::new(),
        questions: Vec::new(),
    };
    delimited::read(input, Delimiter::Usual(b','), rows)
}

struct Rows<'r, 'a> {
    answers: &'r mut Answers<'a>,
    columns: Vec<String>,
    questions: Vec<String>,
}

impl RowSink for Rows<'_, '_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        if !names.iter().any(|name| name == WORKER) {
            return Err(ErrorKind::Export {
                problem: "found an aggregated report, which does not say who answered".into(),
                expected: "the full report: a row for each judgement, with `_worker_id`".into(),
            }
            .into());
        }
        find_column(names, TASK, "judgements")?;
        self.questions = find_questions(names);
        for question in &self.questions {
            self.answers.wants(question);
        }
        let used = |name: &String| {
            let about = [TASK, WORKER, TAINTED].contains(&name.as_str());
            let question = name.strip_suffix(GOLD).unwrap_or(name);
            about
                || self
                    .questions
                    .iter()
                    .any(|known| known == name || known == question)
        };
        let chosen: Vec<usize> = (0..names.len()).filter(|&column| used(&names[column])).collect();
        self.columns = chosen.iter().map(|&column| names[column].clone()).collect();
        Ok(chosen)
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let Self {
            answers,
            columns,
            questions,
        } = self;
        let text = |name: &str| {
            let slot = columns.iter().position(|column| column == name);
            slot.map_or(Ok(""), |slot| field(row, slot, name))
        };
        let (task, worker) = (text(TASK)?, text(WORKER)?);
        let tainted = text(TAINTED)?.eq_ignore_ascii_case("true");
        if tainted {
            answers.leave_out(WhyLeftOut::Tainted);
        }
        for question in &*questions {
            if !answers.wants(question) {
                continue;
            }
            if !tainted {
                answers.choices(question, task, worker, &lines(text(question)?))?;
            }
            let gold = lines(text(&format!("{question}{GOLD}"))?);
            answers.gold(question, task, &join_choices(&gold));
        }
        Ok(())
    }
}

fn lines(cell: &str) -> Vec<&str> {
    cell.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
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
