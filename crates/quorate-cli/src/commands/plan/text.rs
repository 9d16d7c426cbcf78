//! A plan in words and as JSON.

use quorate::Annotations;
use quorate::plan::{Dispatched, ErrorEstimate, Plan, Planned, TargetForecast};
use serde_json::{Value, json};

use crate::printer::Printer;
use crate::text_table::{count, plural};

/// Says what a plan does.
pub fn describe_plan(planned: &Planned, plan: &Plan, annotations: &Annotations, printer: &mut Printer) {
    let forecast = &planned.forecast;
    let workers: std::collections::HashSet<usize> =
        planned.assignments.iter().map(|next| next.worker).collect();
    let tasks: std::collections::HashSet<usize> = planned.assignments.iter().map(|next| next.task).collect();
    if planned.assignments.is_empty() {
        printer.note("no label is worth collecting: every task is settled, or nobody is left to ask");
    } else {
        printer.note(format!(
            "planned: {} on {} by {}",
            plural(planned.assignments.len(), "label"),
            plural(tasks.len(), "task"),
            plural(workers.len(), "worker")
        ));
    }
    printer.note(format!("estimated error now: {}", percent(&forecast.now)));
    printer.note(format!(
        "estimated error after these labels: {}",
        percent(&forecast.after)
    ));
    if let Some(target) = &forecast.target {
        printer.note(describe_target(target));
    }
    printer.note(format!(
        "{} of {} need no more labels (confidence at least {})",
        count(planned.retired.len()),
        plural(annotations.task_count(), "task"),
        plan.retire
    ));
    if planned.unplaced > 0 {
        printer.note(format!(
            "{} would help but nobody is left to give them: ask new workers, or raise --capacity",
            plural(planned.unplaced, "label")
        ));
    }
}

/// How many labels reach the target, with the interval of that number.
fn describe_target(target: &TargetForecast) -> String {
    let aim = 100.0 * target.error;
    let (low, high) = target.labels_between;
    let labels = |labels: Option<usize>| labels.map_or("out of reach".to_owned(), count);
    match target.labels {
        Some(0) if high == Some(0) => format!("the target of {aim:.1} % is reached already"),
        Some(0) => format!(
            "the target of {aim:.1} % is reached already, by the estimate; labels that it may still take: {}",
            labels(high)
        ),
        Some(needed) => format!(
            "labels to reach {aim:.1} %: about {} (between {} and {})",
            count(needed),
            labels(low),
            labels(high)
        ),
        None => format!(
            "{aim:.1} % is out of reach of these workers{}: on some tasks more labels of the same crowd do not help",
            match low {
                Some(0) => " (at best it is reached already)".to_owned(),
                Some(low) => format!(" (at best it takes {})", plural(low, "label")),
                None => String::new(),
            }
        ),
    }
}

/// Says what a dispatch does.
pub fn describe_dispatch(dispatched: &Dispatched, annotations: &Annotations, printer: &mut Printer) {
    let Some((first, second)) = dispatched.designated else {
        printer.note("every pair of workers can be compared already: nothing to dispatch");
        return;
    };
    let name = |worker: usize| annotations.workers().get(worker);
    printer.note(format!(
        "designated workers: {} and {}",
        name(first),
        name(second)
    ));
    printer.note(format!(
        "planned: {}, which attach {} to them",
        plural(dispatched.assignments.len(), "label"),
        plural(dispatched.attached.len(), "worker")
    ));
    match (dispatched.out_of_reach_before, dispatched.out_of_reach_after) {
        (Some(before), Some(after)) => printer.note(format!(
            "pairs of workers that cannot be compared: {} now, {} after",
            count(before as usize),
            count(after as usize)
        )),
        _ => printer.note("too many workers to check every pair"),
    }
}

/// A plan for programs.
pub fn plan_json(planned: &Planned, annotations: &Annotations) -> Value {
    let forecast = &planned.forecast;
    json!({
        "labels": planned.assignments.len(),
        "spent": planned.spent,
        "unplaced": planned.unplaced,
        "tasks": annotations.task_count(),
        "retired": planned.retired.len(),
        "error_now": estimate(&forecast.now),
        "error_after": estimate(&forecast.after),
        "target": forecast.target.map(|target| json!({
            "error": target.error,
            "labels": target.labels,
            "low": target.labels_between.0,
            "high": target.labels_between.1,
        })),
        "curve": forecast.curve,
    })
}

/// A dispatch for programs.
pub fn dispatch_json(dispatched: &Dispatched, annotations: &Annotations) -> Value {
    let name = |worker: usize| annotations.workers().get(worker);
    json!({
        "labels": dispatched.assignments.len(),
        "designated": dispatched.designated.map(|(first, second)| [name(first), name(second)]),
        "attached": dispatched.attached.iter().map(|&worker| name(worker)).collect::<Vec<_>>(),
        "out_of_reach_before": dispatched.out_of_reach_before,
        "out_of_reach_after": dispatched.out_of_reach_after,
    })
}

/// An error and its interval for programs.
pub fn estimate(estimate: &ErrorEstimate) -> Value {
    json!({ "error": estimate.error, "low": estimate.low, "high": estimate.high })
}

fn percent(estimate: &ErrorEstimate) -> String {
    format!(
        "{:.1} % (between {:.1} and {:.1} %)",
        100.0 * estimate.error,
        100.0 * estimate.low,
        100.0 * estimate.high
    )
}
