//! Columns in the words of the command line: `task=..,label=..` of the options, and what was found without
//! them.

use anyhow::{Result, bail};
use quorate_io::{Columns, TableLayout};

use crate::messages::Messages;
use crate::text_table::plural;

/// `task=..,worker=..,label=..`, any of them left out.
pub fn parse_columns(option: &str, given: &[String]) -> Result<Columns> {
    let mut columns = Columns::default();
    let mut seen: Vec<&str> = Vec::new();
    for pair in given {
        let Some((role, name)) = pair.split_once('=') else {
            bail!("{option} {pair:?}: expected pairs such as task=item_id,worker=user,label=answer");
        };
        if seen.contains(&role) {
            bail!("{option} names {role:?} twice");
        }
        seen.push(role);
        match role {
            "task" => columns.task = name.to_owned(),
            "worker" => columns.worker = name.to_owned(),
            "label" => columns.label = name.to_owned(),
            _ => bail!("{option} {pair:?}: {role:?} is not one of task, worker, label"),
        }
    }
    Ok(columns)
}

/// `task=..,label=..`, any of them left out.
pub fn parse_label_columns(option: &str, given: &[String]) -> Result<Columns> {
    let columns = parse_columns(option, given)?;
    if columns.worker != Columns::default().worker {
        bail!("{option} names a column for the worker, but this table has none: name task and label");
    }
    Ok(columns)
}

/// Says which columns of the labels were read, where they were not the ones asked for.
pub fn tell_layout(wanted: &Columns, found: &TableLayout, messages: &mut dyn Messages) {
    let mut parts = Vec::new();
    if let Some(delimiter) = found.delimiter {
        parts.push(format!("fields separated by {delimiter:?}"));
    }
    if let Some(workers) = &found.workers {
        let recognised = if found.found_wide { " (a wide table)" } else { "" };
        parts.push(format!(
            "the task in column {:?}, {} in the others{recognised}",
            found.columns.task,
            plural(workers.len(), "worker")
        ));
    } else if found.columns != *wanted {
        let Columns { task, worker, label } = &found.columns;
        parts.push(format!(
            "columns task = {task:?}, worker = {worker:?}, label = {label:?}"
        ));
    }
    tell("the labels", parts, messages);
}

/// Like [`tell_layout`], but of a table of known labels, which this option named.
pub fn tell_label_columns(option: &str, wanted: &Columns, found: &Columns, messages: &mut dyn Messages) {
    if found != wanted {
        let columns = format!("columns task = {:?}, label = {:?}", found.task, found.label);
        tell(option, vec![columns], messages);
    }
}

fn tell(what: &str, parts: Vec<String>, messages: &mut dyn Messages) {
    if !parts.is_empty() {
        messages.note(format!("read {what}: {}", parts.join("; ")));
    }
}
