//! Amazon Mechanical Turk: the batch results with assignments approved and rejected by the consensus.

use std::io::{Read, Write};

use rustc_hash::FxHashSet;

use super::Tool;
use super::answers::Answers;
use super::consensus::WrittenConsensus;
use super::mturk::{APPROVE, Question, REJECT, questions_of, take_row};
use crate::error::Result;
use crate::formats::delimited::{Style, write_line};
use crate::formats::{Row, read_delimited};
use crate::tables::annotations::ReadOptions;

/// Writes the rows of a file with the columns that approve and reject: an assignment that was handed in is
/// approved if its answers are those of the consensus, or if the consensus is less sure than `reject_above`,
/// and rejected with the reason otherwise. Returns how many tasks have no consensus: their assignments are
/// approved.
pub(super) fn write(
    input: impl Read,
    output: &mut dyn Write,
    consensus: &WrittenConsensus<'_>,
    reject_above: f64,
) -> Result<u64> {
    let style = Style::new(b',');
    let choose = |(output, questions, _): &mut State<'_>, names: &[String]| {
        *questions = questions_of(names);
        let new = [APPROVE, REJECT]
            .into_iter()
            .filter(|new| !names.iter().any(|name| name == new));
        let header: Vec<&str> = names.iter().map(String::as_str).chain(new).collect();
        write_line(*output, style, &header)?;
        Ok((0..names.len()).collect())
    };
    let take = |(output, questions, without): &mut State<'_>, row: &Row<'_>| {
        let cells = (0..row.names.len()).map(|slot| row.text(slot));
        let mut cells: Vec<&str> = cells.collect::<Result<_>>()?;
        let place = |name: &str| row.names.iter().position(|known| known == name);
        // What was settled before stays as it is.
        let open = place("AssignmentStatus").is_none_or(|slot| cells[slot].eq_ignore_ascii_case("submitted"));
        let reason = if open {
            reason(questions, row, consensus, reject_above, without)?
        } else {
            None
        };
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
        write_line(*output, style, &cells)
    };
    let state = (output, Vec::new(), FxHashSet::default());
    let (_, _, without) = read_delimited(input, b',', state, choose, take)?;
    Ok(without.len() as u64)
}

/// Where the rows go, the questions of the columns, and the tasks without a consensus.
type State<'o> = (&'o mut dyn Write, Vec<Question>, FxHashSet<String>);

/// Why an assignment is to be rejected, if it is.
fn reason(
    questions: &[Question],
    row: &Row<'_>,
    consensus: &WrittenConsensus<'_>,
    reject_above: f64,
    without: &mut FxHashSet<String>,
) -> Result<Option<String>> {
    let options = ReadOptions {
        question: Some(consensus.question.to_owned()),
        ..ReadOptions::default()
    };
    let mut given = Vec::new();
    let mut take = |task: &str, _: &str, label: &str| {
        given.push((task.to_owned(), label.to_owned()));
        Ok(())
    };
    take_row(
        questions,
        row,
        &mut Answers::new(Tool::Mturk, &options, &mut take),
    )?;
    for (task, label) in given {
        match consensus.of(&task) {
            None => drop(without.insert(task)),
            Some((truth, score)) if truth != label && score > reject_above => {
                return Ok(Some(format!(
                    "Your answer {label:?} differs from the consensus {truth:?}."
                )));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}
