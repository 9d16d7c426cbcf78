//! Workers, worst first, with a verdict and what to do.

use super::Section;
use crate::page::Report;
use crate::text::{count, percent, shown};

/// Rows that are there without a script.
const ROWS: usize = 25;

pub(crate) fn section(report: &Report<'_>) -> Section {
    let mut body = String::from(
        "<p>Workers to look at first. Accuracy is the share of right answers by what the others say; the interval says how \
         sure that is. Open a row for how the worker errs.</p>\n<div class=\"table\" data-table=\"workers\"><div class=\"scroll\" \
         role=\"region\" tabindex=\"0\" aria-label=\"Workers\"><table><caption>Workers</caption>\n<thead><tr>\
         <th scope=\"col\">Worker</th><th scope=\"col\">Labels</th><th scope=\"col\">Accuracy</th>\
         <th scope=\"col\">Interval</th><th scope=\"col\">Verdict</th><th scope=\"col\">What to do</th></tr></thead>\n\
         <tbody>\n",
    );
    for row in report.evidence.verdicts.iter().take(ROWS) {
        let interval = row.interval.map_or(String::new(), |(low, high)| {
            format!("{} to {}", percent(low), percent(high))
        });
        body.push_str(&format!(
            "<tr><th scope=\"row\"><bdi>{}</bdi></th><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{interval}</td><td>{}</td><td>{}</td></tr>\n",
            shown(report.annotations.workers().get(row.worker)),
            count(row.labels),
            row.accuracy.map_or(String::new(), percent),
            row.kind.name(),
            row.kind.advice()
        ));
    }
    body.push_str("</tbody></table></div></div>\n");
    Section {
        id: "workers",
        title: "Workers",
        body,
    }
}
