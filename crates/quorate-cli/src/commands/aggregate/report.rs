//! What is said of a run when its labels are written, wherever the labels were kept: warnings, then what a
//! person wants to know (how many labels are wrong, what to look at, what majority vote would have said).

use quorate::internal::run::Run;
use quorate::review::{DOUBTFUL, ReviewTask};
use quorate_io::{describe_reasons, describe_votes};

use super::outcome::Results;
use crate::printer::Printer;
use crate::run_summary::RunSummary;
use crate::text_table::{TextTable, duration, plural};

/// Workers that are named.
const NAMED_WORKERS: usize = 5;

/// Warnings, notes and a summary of the run.
pub(super) fn report(run: &Run<'_>, results: &Results<'_>, summary: &RunSummary<'_>, printer: &mut Printer) {
    warn_of_unlabelled(results, printer);
    let (method, fit) = (run.method.method(), &results.outcome.fit);
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
        results.size(),
        duration(results.outcome.seconds),
    ));
    tell_error(results, printer);
    tell_doubtful(results, printer);
    tell_workers(results, &summary.workers_to_look_at, printer);
    tell_changes(results, printer);
}

/// How many labels are wrong: one estimate with its range.
fn tell_error(results: &Results<'_>, printer: &mut Printer) {
    let summary = &results.summary;
    let error = results.outcome.fit.estimate_error(summary);
    printer.note(format!("estimated error: {error}"));
    if error.range.is_none() {
        printer.detail("auto gives a range; so do 30 known truths (--gold) with any method");
    }
}

/// How many tasks are worth a look, and how many of the wrong labels are among them.
fn tell_doubtful(results: &Results<'_>, printer: &mut Printer) {
    let summary = &results.summary;
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

fn tell_workers(results: &Results<'_>, suspects: &[&str], printer: &mut Printer) {
    if !suspects.is_empty() {
        let some: Vec<&str> = suspects.iter().take(NAMED_WORKERS).copied().collect();
        let more = if suspects.len() > NAMED_WORKERS {
            ", .."
        } else {
            ""
        };
        printer.note(format!(
            "workers to look at: {} of {} answer hardly better than chance: {}{more} (--workers FILE has all)",
            suspects.len(),
            results.outcome.fit.consensus.facts().workers.len(),
            some.join(", "),
        ));
    }
}

fn tell_changes(results: &Results<'_>, printer: &mut Printer) {
    let changed = results.summary.changed_from_votes as usize;
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
    let mut table = TextTable::new(["task", "label", ">confidence", "runner-up", "votes", "why"]);
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

fn warn_of_unlabelled(results: &Results<'_>, printer: &mut Printer) {
    /// Tasks that are named.
    const NAMED: usize = 3;
    let unlabelled = results.summary.unlabelled_tasks as usize;
    if unlabelled == 0 {
        return;
    }
    let names = match results.outcome.fit.consensus.annotations() {
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
