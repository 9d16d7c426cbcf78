//! What was learnt, in plain words.

use super::parameters::Variances;

/// How much tasks and workers differ. Both are compared by the log-odds of a right answer against one wrong
/// answer.
pub(super) fn describe_effects(effect: f64, variances: Variances) -> String {
    let Variances {
        ability,
        bias,
        confusion,
    } = variances;
    let tasks = (2.0 * effect * effect).sqrt();
    let workers = (ability + 2.0 * bias + 2.0 * confusion).sqrt();
    let compared = match tasks / workers {
        ratio if ratio < 0.1 => "tasks hardly differ beside workers",
        ratio if ratio < 0.6 => "tasks differ less than workers do",
        ratio if ratio < 1.5 => "tasks differ about as much as workers do",
        _ => "tasks differ more than workers do",
    };
    format!(
        "{compared}: standard deviation of the log-odds of a right answer {tasks:.2} over tasks, {workers:.2} over \
         workers (ability {:.2}, favourite labels {:.2}, other confusions {:.2})",
        ability.sqrt(),
        bias.sqrt(),
        confusion.sqrt()
    )
}

/// That some workers were taken together.
pub(super) fn describe_pooling(workers: usize) -> String {
    format!("{workers} workers with one or two labels share one confusion matrix")
}

/// How labels in blocks were learnt from.
pub(super) fn describe_sample(parts: u64) -> String {
    let sample = match parts {
        0 | 1 => String::new(),
        _ => format!(
            "sizes of the effects are those of one task in {parts}; workers are learnt from all labels; "
        ),
    };
    format!(
        "{sample}labels are not in memory, so the effects of a task are found from its labels alone: confidences differ a \
         little from those in memory"
    )
}

/// That the effects of tasks were left out.
pub(super) fn describe_step_down(classes: usize) -> String {
    format!(
        "task-effects stepped down to a model without effects of tasks: they need {classes} x {classes} numbers for every task \
         and worker, which is too much for these labels (at most {} classes, within the limit of memory)",
        super::MAX_CLASSES
    )
}
