//! What is said of a run when its labels are written, wherever the labels were kept: warnings, then what a
//! person wants to know (how many labels are wrong, what to look at, what majority vote would have said).

use quorate::methods::Method;
use quorate::review::{DOUBTFUL, ReviewTask};
use quorate_io::{describe_reasons, describe_votes};

use super::outcome::Outcome;
use crate::printer::Printer;
use crate::text_table::{Side, TextTable, count, duration, plural};

/// Workers that are named.
const NAMED_WORKERS: usize = 5;

/// Warnings, notes and a summary of the run. `calibrated`: the user asked for it; `level`: that of the
/// intervals, if there are some.
pub(super) fn report(
    method: &Method,
    outcome: &Outcome<'_>,
    calibrated: bool,
    level: Option<f64>,
    printer: &mut Printer,
) {
    warn_of_unlabelled(outcome, printer);
    let fit = &outcome.fit;
    for warning in &fit.warnings {
        printer.warning(warning);
    }
    if !fit.converged {
        printer.warning(format!(
            "{} did not converge in {}; more may change a few labels (see its parameters: quorate methods {})",
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
        "{}: {}; {}{iterations}",
        method.name,
        outcome.size(),
        duration(outcome.seconds),
    ));
    tell_error(calibrated || method.calibrates_itself, outcome, level, printer);
    tell_doubtful(outcome, printer);
    tell_workers(outcome, printer);
    tell_changes(outcome, printer);
}

/// How many labels are wrong: one estimate, with a range where there are intervals.
fn tell_error(calibrated: bool, outcome: &Outcome<'_>, level: Option<f64>, printer: &mut Printer) {
    let summary = &outcome.summary;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let estimate = percent(summary.expected_error());
    let (Some(intervals), Some(level)) = (&outcome.intervals, level) else {
        let wrong = count(summary.doubt.round() as usize);
        printer.note(format!(
            "estimated error: {estimate} (about {wrong} of {} wrong)",
            plural(summary.tasks as usize, "label")
        ));
        return;
    };
    let (low, high) = (percent(intervals.error.low), percent(intervals.error.high));
    printer.note(if calibrated { format!(
            "estimated error: {estimate}; between {low} and {high} at {} %, depending on whether workers err independently or \
             some tasks mislead many of them",
            100.0 * level
        ) } else { format!(
            "estimated error: {estimate}; between {low} and {high} at {} %, if workers err independently (--calibrate allows \
             for tasks that mislead many of them)",
            100.0 * level
        ) });
}

/// How many tasks are worth a look, and how many of the wrong labels are among them.
fn tell_doubtful(outcome: &Outcome<'_>, printer: &mut Printer) {
    let summary = &outcome.summary;
    if summary.doubtful_tasks > 0 {
        printer.note(format!(
            "to review: {} below {DOUBTFUL} confidence hold an estimated {:.0} % of the wrong labels (--review FILE lists what \
             to look at first)",
            plural(summary.doubtful_tasks as usize, "task"),
            100.0 * summary.doubtful_errors / summary.doubt.max(f64::MIN_POSITIVE)
        ));
    }
    if summary.tied_tasks > 0 {
        printer.note(format!(
            "{} tied: the lowest class was taken",
            plural(summary.tied_tasks as usize, "task")
        ));
    }
}

fn tell_workers(outcome: &Outcome<'_>, printer: &mut Printer) {
    let suspects = outcome.suspects().count();
    if suspects > 0 {
        let some: Vec<&str> = outcome.suspects().take(NAMED_WORKERS).collect();
        let more = if suspects > NAMED_WORKERS { ", .." } else { "" };
        printer.note(format!(
            "workers to look at: {suspects} of {} answer hardly better than chance: {}{more} (--workers FILE has all)",
            outcome.fit.consensus.workers().len(),
            some.join(", "),
        ));
    }
}

fn tell_changes(outcome: &Outcome<'_>, printer: &mut Printer) {
    let changed = outcome.summary.changed_from_votes as usize;
    printer.note(match changed {
        0 => "against majority vote: no label changed".to_owned(),
        _ => format!(
            "against majority vote: {} changed (--changes FILE lists them)",
            plural(changed, "label")
        ),
    });
}

/// The tasks to look at first as a table.
pub(super) fn review_table(tasks: &[ReviewTask]) -> String {
    if tasks.is_empty() {
        return "to review: no task stands out".into();
    }
    let mut table = TextTable::new(&[
        ("task", Side::Left),
        ("label", Side::Left),
        ("confidence", Side::Right),
        ("runner-up", Side::Left),
        ("votes", Side::Left),
        ("why", Side::Left),
    ]);
    for task in tasks {
        table.row([
            task.task.clone(),
            task.label.clone(),
            format!("{:.2}", task.confidence),
            task.runner_up.clone().unwrap_or_default(),
            describe_votes(task),
            describe_reasons(task),
        ]);
    }
    table.render().trim_end().to_owned()
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
