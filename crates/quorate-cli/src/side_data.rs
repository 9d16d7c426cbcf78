//! Tables that stand beside the labels, and what is said of rows that do not fit: the same for the program
//! and the Python package.

use quorate::Annotations;
use quorate::annotations::Names;
use quorate_io::{Result, SideData, Source, read_assignments, read_task_texts, read_worker_numbers};

use crate::messages::Messages;
use crate::text_table::plural;

/// What was read from the table of an option; rows that do not fit the labels are told.
pub fn fitting<T>(read: SideData<T>, option: &str, about: &str, messages: &mut dyn Messages) -> T {
    if read.foreign > 0 {
        let (rows, option) = (plural(read.foreign, "row"), messages.option(option));
        messages.warning(format!(
            "{rows} of {option} about {about} that the labels do not have: not used"
        ));
    }
    read.data
}

/// A number for each worker from a column of the table of an option, with `others` for those who are not
/// listed; nothing if there is no such table.
pub fn worker_numbers(
    (option, source): (&str, Option<&Source>),
    column: &str,
    others: f64,
    workers: &Names,
    messages: &mut dyn Messages,
) -> Result<Vec<f64>> {
    let Some(source) = source else {
        return Ok(Vec::new());
    };
    let read = read_worker_numbers(source, column, workers)?;
    if read.foreign > 0 {
        let (foreign, option) = (plural(read.foreign, "worker"), messages.option(option));
        messages.warning(format!(
            "{foreign} of {option} not found in the labels: not planned for"
        ));
    }
    Ok(read
        .data
        .into_iter()
        .map(|number| number.unwrap_or(others))
        .collect())
}

/// The pairs (task, worker) that are not to be asked.
pub fn excluded(
    source: Option<&Source>,
    annotations: &Annotations,
    messages: &mut dyn Messages,
) -> Result<Vec<(u32, u32)>> {
    let Some(source) = source else {
        return Ok(Vec::new());
    };
    let read = read_assignments(source, annotations)?;
    Ok(fitting(read, "exclude", "tasks or workers", messages))
}

/// What the tasks are about, from a column of a table.
pub fn task_texts(
    source: &Source,
    column: &str,
    annotations: &Annotations,
    messages: &mut dyn Messages,
) -> Result<Vec<Option<String>>> {
    let texts = read_task_texts(source, column, annotations)?;
    if texts.iter().all(Option::is_none) {
        let option = messages.option("texts");
        messages.warning(format!(
            "{option} has none of the tasks that the labels have: nothing to show"
        ));
    }
    Ok(texts)
}
