//! Who should label what next, when to stop, and which labels let all workers be compared.

use quorate::plan::{Assignment, Dispatched, ErrorEstimate, Forecast, TargetForecast};

use super::{Section, table};
use crate::evidence::NextLabels;
use crate::figure::{Axis, Figure, Mark, Panel, Series};
use crate::page::Report;
use crate::tables::MAX_LISTED;
use crate::text::{count, percent, plural, shown};

pub(crate) fn section(report: &Report<'_>, next: &NextLabels) -> Section {
    let forecast = &next.planned.forecast;
    let labels = next.planned.assignments.len();
    let mut body = match labels {
        0 => "<p>No label is worth collecting: every task is settled, or nobody is left to ask.</p>\n"
            .to_owned(),
        _ => format!(
            "<p>{} on the tasks below, by the workers named there, would bring the estimated error from {} to {}. Collect \
             them, make this page again: several small batches are worth more than a large one.</p>\n",
            plural(labels, "more label"),
            percent(forecast.now.error),
            percent(forecast.after.error)
        ),
    };
    body.push_str(&when_to_stop(report, next));
    body.push_str(&chart(forecast));
    if labels > 0 {
        body.push_str(&next_labels(report, next));
    }
    if let Some(dispatched) = &next.dispatched {
        body.push_str(&comparable(report, dispatched));
    }
    if next.too_many_pairs {
        body.push_str(&format!(
            "<p class=\"note\">Some pairs of workers cannot be compared. Labels that let them be compared are not on this page: \
             with {} there are too many pairs to look at each. <code>quorate plan --goal comparable</code> lists such labels.</p>\n",
            plural(report.annotations.worker_count(), "worker")
        ));
    }
    if !next.planned.retired.is_empty() {
        body.push_str(&retired(report, next));
    }
    Section::new("plan", "What to label next", body)
}

/// The stop rule: the error now and later, and what a target takes.
fn when_to_stop(report: &Report<'_>, next: &NextLabels) -> String {
    let (forecast, planned) = (&next.planned.forecast, &next.planned);
    let mut html = String::from(
        "<div class=\"scroll narrow\" role=\"region\" tabindex=\"0\" aria-label=\"When to stop\"><table class=\"facts\">\
         <caption>When to stop</caption>\n<thead><tr><td></td><th scope=\"col\" class=\"number\">Estimate</th><th scope=\"col\" class=\"number\">Between</th>\
         </tr></thead>\n<tbody>\n",
    );
    let mut row = |what: String, estimate: String, between: String| {
        html.push_str(&format!(
            "<tr><th scope=\"row\">{what}</th><td class=\"number\">{estimate}</td><td class=\"number\">{between}</td></tr>\n"
        ));
    };
    let ends = |error: &ErrorEstimate| format!("{} and {}", percent(error.low), percent(error.high));
    let (now, after) = (&forecast.now, &forecast.after);
    row("Error now".into(), percent(now.error), ends(now));
    if !planned.assignments.is_empty() {
        let what = format!("Error after {}", plural(planned.assignments.len(), "more label"));
        row(what, percent(after.error), ends(after));
    }
    if let Some(target) = &forecast.target {
        let (estimate, between) = labels_to(target);
        let what = format!("Labels until the error is {}", percent(target.error));
        row(what, estimate, between);
    }
    let what = format!(
        "Tasks that need no more labels (confidence at least {})",
        percent(next.plan.retire)
    );
    let share = format!(
        "{} of {}",
        count(planned.retired.len()),
        count(report.annotations.task_count())
    );
    row(what, share, String::new());
    html.push_str("</tbody></table></div>\n");
    if forecast.target.is_some_and(|target| target.labels.is_none()) {
        html.push_str(
            "<p class=\"note\">Out of reach: on some tasks more labels of the same crowd do not help. Ask an expert there.</p>\n",
        );
    }
    html
}

/// How many labels a target takes, and the ends of that number.
fn labels_to(target: &TargetForecast) -> (String, String) {
    let labels = |labels: Option<usize>| labels.map_or("out of reach".to_owned(), count);
    let (low, high) = target.labels_between;
    (
        labels(target.labels),
        format!("{} and {}", labels(low), labels(high)),
    )
}

fn chart(forecast: &Forecast) -> String {
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
    format!("<div class=\"chart\">{}</div>\n", figure.to_inline_svg())
}

fn next_labels(report: &Report<'_>, next: &NextLabels) -> String {
    let row = |next: &Assignment| {
        format!(
            "<tr>{}<td class=\"number\">{:.3}</td><td class=\"number\">{}</td></tr>\n",
            pair(report, (next.task, next.worker)),
            next.gain,
            percent(report.fit.consensus.confidence(next.task))
        )
    };
    let assignments = &next.planned.assignments;
    let mut html = table(
        "plan",
        "The next labels, the most valuable first",
        &["Task", "Worker", "Gain", "Confidence"],
        assignments.iter().map(row),
    );
    html.push_str(
        "<p class=\"note\">Gain is the expected part of a wrong label that the answer puts right. Labels without a gain compare \
         workers: they find out where the model is wrong.</p>\n",
    );
    html + &more_than_listed(assignments.len(), "quorate plan")
}

fn comparable(report: &Report<'_>, dispatched: &Dispatched) -> String {
    let name = |worker: usize| shown(report.annotations.workers().get(worker));
    let mut html = String::from("<h3>Labels that let all workers be compared</h3>\n<p>");
    if let Some(before) = dispatched.out_of_reach_before {
        html.push_str(&format!(
            "{} cannot be compared, not even through others. ",
            plural(before as usize, "pair").replace("pairs", "pairs of workers")
        ));
    }
    if let Some((first, second)) = dispatched.designated {
        html.push_str(&format!(
            "{} would connect {} to two designated workers, <bdi>{}</bdi> and <bdi>{}</bdi>",
            plural(dispatched.assignments.len(), "label"),
            plural(dispatched.attached.len(), "worker"),
            name(first),
            name(second)
        ));
        html.push_str(&match dispatched.out_of_reach_after {
            Some(0) => ". Then every pair can be compared.".to_owned(),
            Some(after) => format!(". {} would remain.", plural(after as usize, "pair")),
            None => ".".to_owned(),
        });
    }
    html.push_str("</p>\n");
    html.push_str(&table(
        "dispatch",
        "Labels that let all workers be compared",
        &["Task", "Worker"],
        dispatched
            .assignments
            .iter()
            .map(|&next| format!("<tr>{}</tr>\n", pair(report, next))),
    ));
    html + &more_than_listed(dispatched.assignments.len(), "quorate plan --goal comparable")
}

fn retired(report: &Report<'_>, next: &NextLabels) -> String {
    let (tasks, classes) = (report.annotations.tasks(), report.annotations.classes());
    let row = |&task: &usize| {
        format!(
            "<tr><th scope=\"row\"><bdi>{}</bdi></th><td><bdi>{}</bdi></td><td class=\"number\">{}</td></tr>\n",
            shown(tasks.get(task)),
            shown(classes.get(report.fit.consensus.label(task))),
            percent(report.fit.consensus.confidence(task))
        )
    };
    let retired = &next.planned.retired;
    let mut html = String::from("<h3>Tasks that need no more labels</h3>\n");
    html.push_str(&table(
        "retired",
        "Tasks that need no more labels",
        &["Task", "Label", "Confidence"],
        retired.iter().map(row),
    ));
    html + &more_than_listed(retired.len(), "quorate plan --retired")
}

fn pair(report: &Report<'_>, (task, worker): (usize, usize)) -> String {
    format!(
        "<th scope=\"row\"><bdi>{}</bdi></th><td><bdi>{}</bdi></td>",
        shown(report.annotations.tasks().get(task)),
        shown(report.annotations.workers().get(worker))
    )
}

fn more_than_listed(all: usize, command: &str) -> String {
    match all.saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(
            "<p class=\"note\">And {} more; <code>{command}</code> writes all of them.</p>\n",
            count(more)
        ),
    }
}
