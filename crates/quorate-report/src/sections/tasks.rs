//! Tasks to review first. The script replaces the first rows, which stand here, by the whole table.

use super::Section;
use crate::page::{Facts, Report};
use crate::text::{percent, shown};

/// Rows that are there without a script.
const ROWS: usize = 25;

pub(crate) fn section(facts: &Facts, report: &Report<'_>) -> Section {
    let mut body = String::from(
        "<p>The most doubtful labels first. A label with a confidence of 60 % is wrong four times in ten, by the \
         model's estimate. Sort by any column, search, or show one reason only.</p>\n\
         <div class=\"table\" data-table=\"tasks\"><div class=\"scroll\" role=\"region\" tabindex=\"0\" \
         aria-label=\"Tasks to review first\"><table><caption>Tasks to review first</caption>\n<thead><tr>\
         <th scope=\"col\">Task</th><th scope=\"col\">Label</th><th scope=\"col\">Confidence</th>\
         <th scope=\"col\">Next</th><th scope=\"col\">Votes</th><th scope=\"col\">Why</th></tr></thead>\n<tbody>\n",
    );
    for task in facts.review.iter().take(ROWS) {
        let votes: Vec<String> = task
            .votes
            .iter()
            .map(|(class, count)| format!("{} ×{count}", shown(class)))
            .collect();
        let why: Vec<String> = task
            .reasons
            .iter()
            .map(|reason| shown(&reason.to_string()))
            .collect();
        body.push_str(&format!(
            "<tr><th scope=\"row\"><bdi>{}</bdi></th><td><bdi>{}</bdi></td><td class=\"number\">{}</td>\
             <td><bdi>{}</bdi></td><td>{}</td><td>{}</td></tr>\n",
            shown(&task.task),
            shown(&task.label),
            percent(task.confidence),
            task.runner_up.as_deref().map_or(String::new(), shown),
            votes.join(", "),
            why.join("; ")
        ));
    }
    if facts.review.is_empty() {
        body.push_str("<tr><td colspan=\"6\">Nothing to review.</td></tr>\n");
    }
    body.push_str("</tbody></table></div></div>\n");
    if report.fit.task_difficulty.is_some() {
        body.push_str(
            "<p class=\"note\">“Misleading” means that an average worker of this crowd is more likely wrong than right \
             on the task: more labels of the same crowd do not help there; an expert does.</p>\n",
        );
    }
    Section {
        id: "tasks",
        title: "Tasks to review first",
        body,
    }
}
