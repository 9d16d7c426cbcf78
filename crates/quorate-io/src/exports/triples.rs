//! Text without a header: item, worker and label on each line, separated by tabs, blanks or commas.

use std::io::{BufRead, BufReader, Read, Write};

use super::answers::Answers;
use super::labelled::Labelled;
use crate::error::{Error, ErrorKind, Position, Result};

/// Longest line, in bytes.
const LONGEST_LINE: usize = 1 << 16;

/// The fields of a line: a tab separates them if there is one, else a comma or semicolon, else blanks.
pub(super) fn fields(line: &str) -> Vec<&str> {
    let separator = ['\t', ',', ';']
        .into_iter()
        .find(|&separator| line.contains(separator));
    match separator {
        Some(separator) => line.split(separator).map(str::trim).collect(),
        None => line.split_whitespace().collect(),
    }
}

/// Reads lines.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        let count = (&mut input)
            .take(LONGEST_LINE as u64 + 1)
            .read_until(b'\n', &mut line)?;
        number += 1;
        let place = |error: Error| error.at(Position::Line(number));
        if count == 0 {
            return Ok(());
        }
        if count > LONGEST_LINE {
            return Err(place(Error::too_long("a line", LONGEST_LINE)));
        }
        let text = std::str::from_utf8(&line).map_err(|_| place(ErrorKind::NotUtf8.into()))?;
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match fields(text)[..] {
            [task, worker, label] => answers.answer("", task, worker, label).map_err(place)?,
            ref found => {
                let expected = "item, worker and label on each line, separated by tabs or blanks";
                return Err(place(Error::export(
                    format!("found {} fields", found.len()),
                    expected,
                )));
            }
        }
    }
}

/// Writes lines, separated by tabs.
pub(super) fn write(output: &mut dyn Write, labelled: &Labelled<'_>) -> Result<()> {
    labelled.each_task(|task, answers| {
        for given in answers {
            let cells = [task, given.worker, given.label];
            if let Some(cell) = cells.into_iter().find(|cell| cell.contains(['\t', '\n', '\r']) || cell.trim() != *cell) {
                let problem = format!("{cell:?} has tabs, line breaks or blanks at its end, which this format cannot hold; choose another");
                return Err(Error::syntax(problem));
            }
            writeln!(output, "{}", cells.join("\t"))?;
        }
        Ok(())
    })
}
