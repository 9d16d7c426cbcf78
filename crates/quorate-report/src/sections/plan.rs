//! Who should label what next, and when to stop.

use quorate::plan::{ErrorEstimate, Planned};

use super::Section;
use crate::figure::{Axis, Figure, Mark, Panel, Series};
use crate::page::Report;
use crate::text::{count, percent, plural, shown};

/// Assignments that are listed.
const ROWS: usize = 25;

pub(crate) fn section(report: &Report<'_>, planned: &Planned) -> Section {
    let forecast = &planned.forecast;
    let mut body = format!(
        "<p>With {} placed where they help most, the estimated error falls from {} to {}. {} need no more labels.</p>\n",
        plural(planned.assignments.len(), "more label"),
        estimate(&forecast.now),
        estimate(&forecast.after),
        plural(planned.retired.len(), "task")
    );
    let points = forecast
        .curve
        .iter()
        .map(|&(labels, error)| (labels as f64, 100.0 * error))
        .collect();
    let figure = Figure {
        name: "plan".into(),
        caption: "Estimated error after more labels".into(),
        panels: vec![Panel {
            title: "Estimated error after more labels".into(),
            x: Axis::linear("more labels"),
            y: Axis::linear("error, %"),
            series: vec![Series::new("", Mark::Bold, points)],
        }],
    };
    body.push_str(&format!(
        "<div class=\"chart\">{}</div>\n",
        figure.to_inline_svg()
    ));
    if !planned.assignments.is_empty() {
        body.push_str(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"The next labels\"><table>\
             <caption>The next labels, the most valuable first</caption>\n<thead><tr><th scope=\"col\">Task</th>\
             <th scope=\"col\">Worker</th><th scope=\"col\">Expected gain</th></tr></thead>\n<tbody>\n",
        );
        for next in planned.assignments.iter().take(ROWS) {
            body.push_str(&format!(
                "<tr><td><bdi>{}</bdi></td><td><bdi>{}</bdi></td><td class=\"number\">{:.3} labels</td></tr>\n",
                shown(report.annotations.tasks().get(next.task)),
                shown(report.annotations.workers().get(next.worker)),
                next.gain
            ));
        }
        body.push_str("</tbody></table></div>\n");
        let more = planned.assignments.len().saturating_sub(ROWS);
        if more > 0 {
            body.push_str(&format!(
                "<p class=\"note\">and {} more; <code>quorate plan</code> writes all of them.</p>\n",
                count(more)
            ));
        }
    }
    Section {
        id: "plan",
        title: "What to label next",
        body,
    }
}

fn estimate(estimate: &ErrorEstimate) -> String {
    format!(
        "{} (between {} and {})",
        percent(estimate.error),
        percent(estimate.low),
        percent(estimate.high)
    )
}
