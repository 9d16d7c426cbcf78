//! Workers, worst first, with a verdict and what to do.

use quorate::diagnose::Inspection;

use super::Section;
use crate::page::Report;
use crate::text::{count, percent, shown};

/// Rows that are there without a script.
const ROWS: usize = 25;

/// Labels below which nothing is said about a worker.
const FEW: u32 = 10;

/// What is said of one worker.
pub(crate) struct WorkerVerdict {
    /// The worker's code.
    pub(crate) worker: usize,
    pub(crate) labels: u32,
    pub(crate) accuracy: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) verdict: &'static str,
    pub(crate) advice: &'static str,
}

/// All workers, those to look at first, then by accuracy.
pub(crate) fn worker_verdicts(report: &Report<'_>) -> Vec<WorkerVerdict> {
    let annotations = report.annotations;
    let kinds = kinds(report.inspection, annotations.worker_count());
    let labels = annotations.labels_per_worker();
    let mut rows: Vec<WorkerVerdict> = (0..annotations.worker_count())
        .map(|worker| {
            let interval = report.intervals.map(|intervals| intervals.accuracy[worker]);
            let accuracy = report.fit.model.as_ref().map(|model| model.accuracy(worker));
            let (verdict, advice) = match kinds[worker] {
                Some(kind) => kind,
                None if labels[worker] < FEW => ("too few labels to say", "wait for more labels"),
                None => ("no finding", ""),
            };
            WorkerVerdict {
                worker,
                labels: labels[worker],
                accuracy: interval.map(|interval| interval.estimate).or(accuracy),
                low: interval.map(|interval| interval.low),
                high: interval.map(|interval| interval.high),
                verdict,
                advice,
            }
        })
        .collect();
    let name = |row: &WorkerVerdict| annotations.workers().get(row.worker);
    rows.sort_by(|a, b| {
        let rank = |row: &WorkerVerdict| (kinds[row.worker].is_none(), row.labels < FEW);
        let accuracy = |row: &WorkerVerdict| row.accuracy.unwrap_or(1.0);
        rank(a)
            .cmp(&rank(b))
            .then(accuracy(a).total_cmp(&accuracy(b)))
            .then_with(|| name(a).cmp(name(b)))
    });
    rows
}

/// What the inspection says of each worker.
fn kinds(inspection: &Inspection, workers: usize) -> Vec<Option<(&'static str, &'static str)>> {
    let mut kinds = vec![None; workers];
    let Some(structure) = &inspection.structure else {
        return kinds;
    };
    for check in &structure.workers {
        kinds[check.worker] = if check.adversary {
            Some((
                "works against the rest",
                "check whether the instructions were misread",
            ))
        } else if check.spammer {
            Some(("answers at random", "leave out, or replace"))
        } else if check.one_sided {
            Some((
                "one answer for nearly everything",
                "check the instructions with this worker",
            ))
        } else {
            None
        };
    }
    for group in &structure.copies.groups {
        for &worker in group {
            let copy = ("same errors as another worker", "check whether they copy");
            kinds[worker] = kinds[worker].or(Some(copy));
        }
    }
    kinds
}

pub(crate) fn section(report: &Report<'_>) -> Section {
    let mut body = String::from(
        "<p>Workers to look at first. Accuracy is the chance that an answer is right; the interval says how sure that \
         is. Open a row for how the worker errs.</p>\n<div class=\"table\" data-table=\"workers\"><div class=\"scroll\" \
         role=\"region\" tabindex=\"0\" aria-label=\"Workers\"><table><caption>Workers</caption>\n<thead><tr>\
         <th scope=\"col\">Worker</th><th scope=\"col\">Labels</th><th scope=\"col\">Accuracy</th>\
         <th scope=\"col\">Interval</th><th scope=\"col\">Verdict</th><th scope=\"col\">What to do</th></tr></thead>\n\
         <tbody>\n",
    );
    for row in worker_verdicts(report).iter().take(ROWS) {
        let interval = match (row.low, row.high) {
            (Some(low), Some(high)) => format!("{} to {}", percent(low), percent(high)),
            _ => String::new(),
        };
        body.push_str(&format!(
            "<tr><th scope=\"row\"><bdi>{}</bdi></th><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{interval}</td><td>{}</td><td>{}</td></tr>\n",
            shown(report.annotations.workers().get(row.worker)),
            count(row.labels as usize),
            row.accuracy.map_or(String::new(), percent),
            row.verdict,
            row.advice
        ));
    }
    body.push_str("</tbody></table></div></div>\n");
    Section {
        id: "workers",
        title: "Workers",
        body,
    }
}
