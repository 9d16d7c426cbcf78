//! What is said of a run when its labels are written, wherever the labels were kept.

use quorate::methods::Method;

use super::outcome::Outcome;
use crate::printer::Printer;
use crate::text_table::{duration, plural};

/// Warnings, notes and a summary of the run.
pub(super) fn report(method: &Method, outcome: &Outcome<'_>, level: f64, printer: &mut Printer) {
    warn_of_unlabelled(outcome, printer);
    let fit = &outcome.fit;
    for warning in &fit.warnings {
        printer.warning(warning);
    }
    if !fit.converged {
        printer.warning(format!(
            "{} had not settled after {}; more may change a few labels (see its parameters: quorate methods {})",
            method.name,
            plural(fit.iterations, "iteration"),
            method.name
        ));
    }
    for note in &fit.notes {
        printer.detail(note);
    }
    let iterations = match fit.iterations {
        0 => String::new(),
        number => format!(", {}", plural(number, "iteration")),
    };
    printer.note(format!(
        "{}: {}; {}{iterations}; differs from majority vote on {}",
        method.name,
        outcome.size(),
        duration(outcome.seconds),
        plural(outcome.summary.changed_from_votes as usize, "task")
    ));
    printer.note(format!(
        "by their own confidence {:.1} % of the labels are wrong",
        100.0 * outcome.summary.expected_error()
    ));
    if outcome.summary.tied_tasks > 0 {
        printer.note(format!(
            "{} tied: the lowest class was taken",
            plural(outcome.summary.tied_tasks as usize, "task")
        ));
    }
    if let Some(intervals) = &outcome.intervals {
        printer.note(format!(
            "if workers err independently, {:.1} to {:.1} % of the labels are wrong ({} % interval)",
            100.0 * intervals.error.low,
            100.0 * intervals.error.high,
            100.0 * level
        ));
    }
}

fn warn_of_unlabelled(outcome: &Outcome<'_>, printer: &mut Printer) {
    /// Tasks that are named.
    const NAMED: usize = 3;
    let unlabelled = outcome.summary.unlabelled_tasks as usize;
    if unlabelled == 0 {
        return;
    }
    let names = match outcome.fit.consensus.annotations() {
        Some(annotations) => {
            let some: Vec<&str> = (0..annotations.task_count())
                .filter(|&task| annotations.task_slices(task).0.is_empty())
                .take(NAMED)
                .map(|task| annotations.tasks().get(task))
                .collect();
            let more = if unlabelled > NAMED { ", .." } else { "" };
            format!(" ({}{more})", some.join(", "))
        }
        None => String::new(),
    };
    printer.warning(format!(
        "{} without any label{names}: the label written is only the most common class, the confidence its share",
        plural(unlabelled, "task")
    ));
}
