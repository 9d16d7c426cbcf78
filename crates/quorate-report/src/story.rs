//! The top of the page: the answer in plain words, and what to do next.

use quorate::diagnose::Severity;
use quorate::review::{DOUBTFUL, ErrorEstimate};

use crate::evidence::NextLabels;
use crate::page::{Facts, Report};
use crate::text::{count, percent, plural, sentence, shown};

/// Workers named in one line.
const NAMED: usize = 5;

pub(crate) fn tell(report: &Report<'_>, facts: &Facts) -> String {
    let mut html = String::from("<div class=\"numbers\">\n");
    let annotations = report.annotations;
    let error = report.error();
    let mut number = |value: String, what: &str| {
        html.push_str(&format!(
            "<div><strong>{value}</strong><span>{what}</span></div>\n"
        ));
    };
    number(count(annotations.task_count()), "tasks");
    number(count(annotations.worker_count()), "workers");
    number(count(annotations.label_count()), "labels");
    let range = error
        .range
        .map(|(low, high)| format!(", between {} and {}", percent(low), percent(high)));
    let words = format!("estimated error{}", range.unwrap_or_default());
    number(percent(error.value), &words);
    let changed = changed(report, facts);
    number(count(changed), "labels differ from majority vote");
    html.push_str("</div>\n");
    html.push_str(&format!("<p class=\"lead\">{}</p>\n", answer(report, &error)));
    html.push_str("<h2 class=\"next\">What to do next</h2>\n<ul class=\"next\">\n");
    for step in next_steps(report, facts) {
        html.push_str(&format!("<li>{step}</li>\n"));
    }
    html.push_str("</ul>\n");
    html
}

/// Tasks whose label is not that of majority vote.
pub(crate) fn changed(report: &Report<'_>, facts: &Facts) -> usize {
    let differs = |(task, majority): (usize, &Option<usize>)| {
        majority.is_some_and(|majority| majority != report.fit.consensus.label(task))
    };
    facts
        .majority
        .iter()
        .enumerate()
        .filter(|&entry| differs(entry))
        .count()
}

fn answer(report: &Report<'_>, error: &ErrorEstimate) -> String {
    let tasks = report.fit.consensus.len();
    let wrong = (error.value * tasks as f64).round() as usize;
    let mut words = format!(
        "Every task has a label now. {} of {} are wrong",
        match wrong {
            0 => "Hardly any".to_owned(),
            1 => "About 1".to_owned(),
            _ => format!("About {}", count(wrong)),
        },
        count(tasks)
    );
    words.push_str(&format!(": {error}."));
    if let Some(truth) = report.truth {
        let known = truth.iter().flatten().count();
        let wrong = truth
            .iter()
            .enumerate()
            .filter(|(task, truth)| truth.is_some_and(|truth| truth != report.fit.consensus.label(*task)))
            .count();
        if known > 0 {
            words.push_str(&format!(
                " Compared with the known truth of {}, {} are wrong ({}).",
                plural(known, "task"),
                count(wrong),
                percent(wrong as f64 / known as f64)
            ));
        }
    }
    if !report.fit.converged {
        words.push_str(" The fit stopped before it converged; treat the numbers with care.");
    }
    words
}

fn next_steps(report: &Report<'_>, facts: &Facts) -> Vec<String> {
    let mut steps = Vec::new();
    let doubtful: Vec<f64> = facts
        .review
        .iter()
        .map(|task| task.confidence)
        .filter(|confidence| *confidence < DOUBTFUL)
        .collect();
    if doubtful.is_empty() {
        steps.push("<strong>Review:</strong> no task stands out as doubtful.".to_owned());
    } else {
        let found: f64 = doubtful.iter().map(|confidence| 1.0 - confidence).sum();
        let all = report.fit.consensus.expected_error() * report.fit.consensus.len() as f64;
        steps.push(format!(
            "<strong>Review</strong> the {} with a confidence below {}: they hold about {:.0} % of the wrong labels. \
             <a href=\"#tasks\">See the list</a>.",
            plural(doubtful.len(), "task"),
            percent(DOUBTFUL),
            100.0 * (found / all.max(f64::MIN_POSITIVE)).min(1.0)
        ));
    }
    for finding in &report.evidence.inspection.findings {
        if finding.severity < Severity::Warning {
            continue;
        }
        let mut step = format!("<strong>{}</strong>", sentence(&finding.sentence));
        step.push_str(&format!(" {}", finding.kind.certainty()));
        if !finding.advice.is_empty() {
            step.push_str(&format!(" {}", sentence(&finding.advice)));
        }
        if !finding.workers.is_empty() && !finding.workers.iter().any(|name| finding.sentence.contains(name))
        {
            let named: Vec<String> = finding
                .workers
                .iter()
                .take(NAMED)
                .map(|name| shown(name))
                .collect();
            let more = finding.workers.len().saturating_sub(NAMED);
            let more = if more > 0 {
                format!(" and {}", plural(more, "other"))
            } else {
                String::new()
            };
            step.push_str(&format!(
                " ({}{more}; <a href=\"#workers\">workers</a>)",
                named.join(", ")
            ));
        }
        steps.push(step);
    }
    if let Some(next) = &report.evidence.next {
        steps.extend(labels_to_collect(next));
    }
    for warning in &report.fit.warnings {
        steps.push(format!("<strong>Note:</strong> {}", sentence(warning)));
    }
    steps
}

fn labels_to_collect(next: &NextLabels) -> Vec<String> {
    let plan = &next.planned;
    let mut steps = Vec::new();
    if !plan.assignments.is_empty() {
        steps.push(format!(
            "<strong>Collect more labels</strong> where they help most: {} would bring the estimated error from {} to \
             {}. <a href=\"#plan\">See the plan</a>.",
            plural(plan.assignments.len(), "label"),
            percent(plan.forecast.now.error),
            percent(plan.forecast.after.error)
        ));
    }
    if let Some(dispatched) = &next.dispatched {
        steps.push(format!(
            "<strong>Connect the workers:</strong> some of them cannot be compared with each other; {} would change that. \
             <a href=\"#plan\">See which</a>.",
            plural(dispatched.assignments.len(), "label")
        ));
    }
    if !plan.retired.is_empty() {
        steps.push(format!(
            "<strong>Stop labelling</strong> {}: their label is settled.",
            plural(plan.retired.len(), "task")
        ));
    }
    steps
}
