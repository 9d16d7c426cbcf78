//! Tasks to look at first: `task, label, confidence, runner_up, runner_up_probability, votes, reasons`.
//!
//! `votes` are `class:number` pairs, the most frequent first; `reasons` are sentences with `; ` between them.

use quorate::review::ReviewTask;

use crate::error::Result;
use crate::formats::ColumnKind::{Number, OptionalText, Text};
use crate::formats::{Cell, write_rows};
use crate::target::Target;

/// Writes one row for each task, in the order of the list.
pub fn write_review(target: &Target, tasks: &[ReviewTask]) -> Result<()> {
    let columns = [
        ("task", Text),
        ("label", Text),
        ("confidence", Number),
        ("runner_up", OptionalText),
        ("runner_up_probability", Number),
        ("votes", Text),
        ("reasons", Text),
    ];
    write_rows(target, columns, |each| {
        tasks.iter().try_for_each(|task| {
            each(&[
                Cell::Text(&task.task),
                Cell::Text(&task.label),
                task.confidence.into(),
                task.runner_up.as_deref().into(),
                task.runner_up_probability.into(),
                Cell::Text(&describe_votes(task)),
                Cell::Text(&describe_reasons(task)),
            ])
        })
    })
}

/// The votes of a task in words.
pub fn describe_votes(task: &ReviewTask) -> String {
    join_votes(task.votes.iter().map(|(class, count)| (class.as_str(), *count)))
}

/// Votes in words: `cat:3 dog:1`.
pub(super) fn join_votes<'a>(votes: impl Iterator<Item = (&'a str, usize)>) -> String {
    let pairs: Vec<String> = votes.map(|(class, count)| format!("{class}:{count}")).collect();
    pairs.join(" ")
}

/// The reasons of a task in words.
pub fn describe_reasons(task: &ReviewTask) -> String {
    let reasons: Vec<String> = task.reasons.iter().map(ToString::to_string).collect();
    reasons.join("; ")
}
