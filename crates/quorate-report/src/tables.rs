//! The tables of tasks and workers as one compressed block of columns, which the script shows.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use quorate::diagnose::WorkerVerdict;
use quorate::plan::Dispatched;
use serde_json::{Value, json};

use crate::evidence::NextLabels;
use crate::page::{Facts, Report};
use crate::text::{passage, plain};

/// Most cells of confusion matrices that are embedded: larger crowds show accuracies only.
const MAX_CELLS: usize = 400_000;

/// Most labels to collect, and most tasks that need none, that are embedded.
pub(crate) const MAX_LISTED: usize = 5_000;

/// Characters of a task's text that are embedded.
const LONGEST_TEXT: usize = 2_000;

/// The block: gzip of JSON.
pub(crate) fn embed(report: &Report<'_>, facts: &Facts) -> Vec<u8> {
    let json = json!({
        "classes": report.annotations.classes().iter().map(plain).collect::<Vec<_>>(),
        "tasks": tasks(report, facts),
        "workers": workers(report),
        "plan": report.evidence.next.as_ref().map(|next| planned(report, next)),
        "dispatch": report.evidence.next.as_ref().and_then(|next| next.dispatched.as_ref()).map(|next| dispatched(report, next)),
        "retired": report.evidence.next.as_ref().map(|next| retired(report, next)),
        "spreadsheet_safe": report.spreadsheet_safe,
    });
    pack(&json)
}

/// A block as it stands in the page.
pub(crate) fn pack(json: &Value) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::new(7));
    // Writing to memory does not fail.
    let _ = packed.write_all(json.to_string().as_bytes());
    packed.finish().unwrap_or_default()
}

fn tasks(report: &Report<'_>, facts: &Facts) -> Value {
    let class = |name: &str| report.annotations.classes().find(name);
    let review = &facts.review;
    let code = |task: &str| report.annotations.tasks().find(task).map(|task| task as usize);
    let votes = |task: &quorate::review::ReviewTask| {
        let one = |(name, count): &(String, usize)| format!("{}:{count}", class(name).unwrap_or_default());
        task.votes.iter().map(one).collect::<Vec<_>>().join(" ")
    };
    let reasons = |task: &quorate::review::ReviewTask| {
        let words: Vec<String> = task
            .reasons
            .iter()
            .map(|reason| plain(&reason.to_string()))
            .collect();
        words.join("; ")
    };
    let names = |task: &quorate::review::ReviewTask| {
        task.reasons
            .iter()
            .map(quorate::review::Reason::name)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut json = json!({
        "id": review.iter().map(|task| plain(&task.task)).collect::<Vec<_>>(),
        "label": review.iter().map(|task| class(&task.label)).collect::<Vec<_>>(),
        "confidence": review.iter().map(|task| (1e4 * task.confidence).round() as u32).collect::<Vec<_>>(),
        "second": review.iter().map(|task| task.runner_up.as_deref().and_then(class)).collect::<Vec<_>>(),
        "votes": review.iter().map(votes).collect::<Vec<_>>(),
        "why": review.iter().map(reasons).collect::<Vec<_>>(),
        "kinds": review.iter().map(names).collect::<Vec<_>>(),
    });
    if let Some(template) = report.task_url {
        let address =
            |task: &quorate::review::ReviewTask| template.replace("{task}", &percent_encode(&task.task));
        json["url"] = json!(review.iter().map(address).collect::<Vec<_>>());
    }
    if let Some(texts) = report.task_texts {
        let text = |task: &quorate::review::ReviewTask| {
            let text = texts.get(code(&task.task)?)?.as_deref()?;
            Some(passage(text, LONGEST_TEXT))
        };
        json["text"] = json!(review.iter().map(text).collect::<Vec<_>>());
    }
    if let Some(truth) = report.truth {
        let known = |task: &quorate::review::ReviewTask| truth.get(code(&task.task)?).copied().flatten();
        json["truth"] = json!(review.iter().map(known).collect::<Vec<_>>());
    }
    json
}

fn workers(report: &Report<'_>) -> Value {
    let annotations = report.annotations;
    let rows = &report.evidence.inspection.verdicts;
    let cells = annotations.class_count() * annotations.class_count();
    let with_matrices = report.fit.model.is_some() && cells * rows.len() <= MAX_CELLS;
    let share = |value: Option<f64>| value.map(|value| (1e4 * value).round() / 1e4);
    let mut json = json!({
        "id": rows.iter().map(|row| plain(annotations.workers().get(row.worker))).collect::<Vec<_>>(),
        "labels": rows.iter().map(|row| row.labels).collect::<Vec<_>>(),
        "accuracy": rows.iter().map(|row| share(row.accuracy)).collect::<Vec<_>>(),
        "low": rows.iter().map(|row| share(row.interval.map(|ends| ends.0))).collect::<Vec<_>>(),
        "high": rows.iter().map(|row| share(row.interval.map(|ends| ends.1))).collect::<Vec<_>>(),
        "verdict": rows.iter().map(|row| row.kind.name()).collect::<Vec<_>>(),
        "advice": rows.iter().map(|row| row.advice()).collect::<Vec<_>>(),
    });
    if let Some(model) = report.fit.model.as_ref().filter(|_| with_matrices) {
        let whole = |value: &f64| (1e3 * value).round() as u32;
        let matrix = |row: &WorkerVerdict| model.confusion(row.worker).iter().map(whole).collect::<Vec<_>>();
        json["confusion"] = json!(rows.iter().map(matrix).collect::<Vec<_>>());
    }
    json
}

fn planned(report: &Report<'_>, next: &NextLabels) -> Value {
    let rows = || next.planned.assignments.iter().take(MAX_LISTED);
    json!({
        "task": rows().map(|next| task_id(report, next.task)).collect::<Vec<_>>(),
        "worker": rows().map(|next| worker_id(report, next.worker)).collect::<Vec<_>>(),
        "gain": rows().map(|next| (1e4 * next.gain).round() as u32).collect::<Vec<_>>(),
        "confidence": rows().map(|next| confidence(report, next.task)).collect::<Vec<_>>(),
    })
}

fn dispatched(report: &Report<'_>, dispatched: &Dispatched) -> Value {
    let rows = || dispatched.assignments.iter().take(MAX_LISTED);
    json!({
        "task": rows().map(|next| task_id(report, next.0)).collect::<Vec<_>>(),
        "worker": rows().map(|next| worker_id(report, next.1)).collect::<Vec<_>>(),
    })
}

fn retired(report: &Report<'_>, next: &NextLabels) -> Value {
    let rows = || next.planned.retired.iter().copied().take(MAX_LISTED);
    json!({
        "task": rows().map(|task| task_id(report, task)).collect::<Vec<_>>(),
        "label": rows().map(|task| report.fit.consensus.label(task)).collect::<Vec<_>>(),
        "confidence": rows().map(|task| confidence(report, task)).collect::<Vec<_>>(),
    })
}

fn task_id(report: &Report<'_>, task: usize) -> String {
    plain(report.annotations.tasks().get(task))
}

fn worker_id(report: &Report<'_>, worker: usize) -> String {
    plain(report.annotations.workers().get(worker))
}

/// In steps of 10^-4.
fn confidence(report: &Report<'_>, task: usize) -> u32 {
    (1e4 * report.fit.consensus.confidence(task)).round() as u32
}

/// An id for the path or query of an address.
fn percent_encode(text: &str) -> String {
    let mut out = String::new();
    for &byte in text.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_cannot_leave_their_place_in_an_address() {
        assert_eq!(
            percent_encode("a b/../?x=1#\"é"),
            "a%20b%2F..%2F%3Fx%3D1%23%22%C3%A9"
        );
    }
}
