//! Tasks to review first. The script replaces the first rows, which stand here, by the whole table.

use quorate::review::ReviewTask;

use super::{Section, table};
use crate::page::{Facts, Report};
use crate::text::{percent, shown};

pub(crate) fn section(facts: &Facts, report: &Report<'_>) -> Section {
    let mut body = String::from(
        "<p>The most doubtful labels first. A label with a confidence of 60 % is wrong four times in ten, by the \
         model's estimate. Sort by any column, search, or show one reason only.</p>\n",
    );
    let row = |task: &ReviewTask| {
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
        format!(
            "<tr><th scope=\"row\"><bdi>{}</bdi></th><td><bdi>{}</bdi></td><td class=\"number\">{}</td>\
             <td><bdi>{}</bdi></td><td>{}</td><td>{}</td></tr>\n",
            shown(&task.task),
            shown(&task.label),
            percent(task.confidence),
            task.runner_up.as_deref().map_or(String::new(), shown),
            votes.join(", "),
            why.join("; ")
        )
    };
    let nothing = facts
        .review
        .is_empty()
        .then(|| "<tr><td colspan=\"6\">Nothing to review.</td></tr>\n".to_owned());
    body.push_str(&table(
        "tasks",
        "Tasks to review first",
        &["Task", "Label", "Confidence", "Next", "Votes", "Why"],
        facts.review.iter().map(row).chain(nothing),
    ));
    if report.fit.task_difficulty.is_some() {
        body.push_str(
            "<p class=\"note\">“Misleading” means that an average worker of this crowd is more likely wrong than right \
             on the task: more labels of the same crowd do not help there; an expert does.</p>\n",
        );
    }
    Section::new("tasks", "Tasks to review first", body)
}
