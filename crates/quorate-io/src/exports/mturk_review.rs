//! Amazon Mechanical Turk: the batch results with assignments approved and rejected by the consensus.

use std::io::{Read, Write};

use rustc_hash::FxHashSet;

use super::Tool;
use super::answers::Answers;
use super::consensus::Consensus;
use super::mturk::{APPROVE, Question, REJECT, questions_of, take_row};
use crate::error::Result;
use crate::formats::delimited::{self, Style, write_line};
use crate::formats::delimiter::Delimiter;
use crate::formats::{Row, RowSink};
use crate::tables::annotations::ReadOptions;

/// Writes the rows of a file with the columns that approve and reject: an assignment that was handed in is
/// approved if its answers are those of the consensus, or if the consensus is less sure than `reject_above`,
/// and rejected with the reason otherwise. Returns how many tasks have no consensus: their assignments are
/// approved.
pub(super) fn write(
    input: impl Read,
    output: &mut dyn Write,
    consensus: &Consensus<'_>,
    reject_above: f64,
) -> Result<u64> {
    let mut rows = Review {
        output,
        style: Style::new(b','),
        consensus,
        reject_above,
        names: Vec::new(),
        questions: Vec::new(),
        without: FxHashSet::default(),
    };
    delimited::read(input, Delimiter::Usual(b','), &mut rows)?;
    Ok(rows.without.len() as u64)
}

struct Review<'r> {
    output: &'r mut dyn Write,
    style: Style,
    consensus: &'r Consensus<'r>,
    reject_above: f64,
    names: Vec<String>,
    questions: Vec<Question>,
    without: FxHashSet<String>,
}

impl Review<'_> {
    /// Why an assignment is to be rejected, if it is.
    fn reason(&mut self, row: &impl Row) -> Result<Option<String>> {
        let options = ReadOptions {
            question: Some(self.consensus.question.to_owned()),
            ..ReadOptions::default()
        };
        let mut given = Vec::new();
        let mut take = |task: &str, _: &str, label: &str| {
            given.push((task.to_owned(), label.to_owned()));
            Ok(())
        };
        take_row(
            &self.names,
            &self.questions,
            row,
            &mut Answers::new(Tool::Mturk, &options, &mut take),
        )?;
        for (task, label) in given {
            match self.consensus.of(&task) {
                None => drop(self.without.insert(task)),
                Some((truth, score)) if truth != label && score > self.reject_above => {
                    return Ok(Some(format!(
                        "Your answer {label:?} differs from the consensus {truth:?}."
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }
}

impl RowSink for Review<'_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        self.questions = questions_of(names);
        self.names = names.to_vec();
        let mut header: Vec<&str> = names.iter().map(String::as_str).collect();
        header.extend(
            [APPROVE, REJECT]
                .into_iter()
                .filter(|name| !names.iter().any(|known| known == name)),
        );
        write_line(self.output, self.style, &header)?;
        Ok((0..names.len()).collect())
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let names = std::mem::take(&mut self.names);
        self.names.clone_from(&names);
        let mut cells = Vec::new();
        for slot in 0..names.len() {
            cells.push(row.text(slot)?);
        }
        let place = |name: &str| names.iter().position(|known| known == name);
        // What was settled before stays as it is.
        let open = place("AssignmentStatus").is_none_or(|slot| cells[slot].eq_ignore_ascii_case("submitted"));
        let reason = if open { self.reason(row)? } else { None };
        let marks = match (open, &reason) {
            (false, _) => [None, None],
            (true, None) => [Some("x"), Some("")],
            (true, Some(reason)) => [Some(""), Some(reason.as_str())],
        };
        for (name, mark) in [APPROVE, REJECT].into_iter().zip(marks) {
            match (place(name), mark) {
                (Some(slot), Some(mark)) => cells[slot] = mark,
                (Some(_), None) => {}
                (None, mark) => cells.push(mark.unwrap_or_default()),
            }
        }
        write_line(self.output, self.style, &cells)
    }
}
