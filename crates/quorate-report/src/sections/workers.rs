//! Workers, worst first, with a verdict and what to do.

use quorate::diagnose::WorkerVerdict;

use super::{Section, table};
use crate::page::Report;
use crate::text::{count, percent, shown};

pub(crate) fn section(report: &Report<'_>) -> Section {
    let mut body = String::from(
        "<p>Workers to look at first. Accuracy is the share of right answers, by the labels; the interval says how \
         sure that is. Open a row for how the worker errs.</p>\n",
    );
    let row = |row: &WorkerVerdict| {
        let interval = row.interval.map_or(String::new(), |(low, high)| {
            format!("{} to {}", percent(low), percent(high))
        });
        format!(
            "<tr><th scope=\"row\"><bdi>{}</bdi></th><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{interval}</td><td>{}</td><td>{}</td></tr>\n",
            shown(report.annotations.workers().get(row.worker)),
            count(row.labels),
            row.accuracy.map_or(String::new(), percent),
            row.kind.name(),
            row.advice()
        )
    };
    body.push_str(&table(
        "workers",
        "Workers",
        &[
            "Worker",
            "Labels",
            "Accuracy",
            "Interval",
            "Verdict",
            "What to do",
        ],
        report.evidence.inspection.verdicts.iter().map(row),
    ));
    Section::new("workers", "Workers", body)
}
