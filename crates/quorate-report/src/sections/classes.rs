//! How many tasks each class has, by the labels and by the model with its interval.

use super::Section;
use crate::page::Report;
use crate::text::{count, percent, shown};

/// Most classes that are listed.
const MOST: usize = 50;

pub(crate) fn section(report: &Report<'_>) -> Section {
    let consensus = &report.fit.consensus;
    let classes = report.annotations.classes();
    let mut tasks = vec![0usize; classes.len()];
    (0..consensus.len()).for_each(|task| tasks[consensus.label(task)] += 1);
    let total = consensus.len().max(1) as f64;
    let mut order: Vec<usize> = (0..classes.len()).collect();
    if classes.len() > MOST {
        order.sort_by_key(|&class| std::cmp::Reverse(tasks[class]));
        order.truncate(MOST);
        order.sort_unstable();
    }
    let largest = tasks.iter().copied().max().unwrap_or(1).max(1) as f64;
    let with_interval = report.evidence.intervals.is_some();
    let mut body = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Classes\"><table class=\"bars\">\
         <caption>Classes</caption>\n<thead><tr><th scope=\"col\">Class</th><th scope=\"col\" class=\"number\">Tasks</th>\
         <th scope=\"col\" class=\"number\">Share</th><th scope=\"col\"><span class=\"hidden\">Bar</span></th>{}</tr></thead>\n<tbody>\n",
        if with_interval {
            "<th scope=\"col\" class=\"number\">Share in the source, 95 % interval</th>"
        } else {
            ""
        }
    );
    for class in order {
        let share = tasks[class] as f64 / total;
        let width = 100.0 * tasks[class] as f64 / largest;
        let interval = report
            .evidence
            .intervals
            .as_ref()
            .map_or(String::new(), |intervals| {
                let found = intervals.prevalence[class];
                format!(
                    "<td class=\"number\">{} to {}</td>",
                    percent(found.low),
                    percent(found.high)
                )
            });
        body.push_str(&format!(
            "<tr><th scope=\"row\"><bdi>{}</bdi></th><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"bar\"><i style=\"width:{width:.1}%\"></i></td>{interval}</tr>\n",
            shown(classes.get(class)),
            count(tasks[class]),
            percent(share)
        ));
    }
    body.push_str("</tbody></table></div>\n");
    if classes.len() > MOST {
        body.push_str(&format!(
            "<p class=\"note\">The {MOST} largest of {} classes.</p>\n",
            count(classes.len())
        ));
    }
    Section::new("classes", "Classes", body)
}
