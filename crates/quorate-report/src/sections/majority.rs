//! Majority vote beside the model.

use super::Section;
use crate::page::{Facts, Report};
use crate::story::changed;
use crate::text::{count, percent, plural, shown};

/// Most kinds of change that are listed.
const MOST: usize = 20;

pub(crate) fn section(report: &Report<'_>, facts: &Facts) -> Section {
    let classes = report.annotations.classes();
    let mut changes: std::collections::BTreeMap<(usize, usize), usize> = std::collections::BTreeMap::new();
    for (task, majority) in facts.majority.iter().enumerate() {
        let label = report.fit.consensus.label(task);
        if let Some(majority) = majority.filter(|&majority| majority != label) {
            *changes.entry((majority, label)).or_default() += 1;
        }
    }
    let total = changed(report, facts);
    let share = total as f64 / report.fit.consensus.len().max(1) as f64;
    let mut body = format!(
        "<p>The model gives {} another label than majority vote ({}).</p>\n",
        plural(total, "task"),
        percent(share)
    );
    let mut listed: Vec<((usize, usize), usize)> = changes.into_iter().collect();
    listed.sort_by_key(|&(classes, tasks)| (std::cmp::Reverse(tasks), classes));
    if !listed.is_empty() {
        body.push_str(
            "<div class=\"scroll narrow\" role=\"region\" tabindex=\"0\" aria-label=\"Changes against majority vote\"><table>\
             <caption>Changes against majority vote</caption>\n<thead><tr><th scope=\"col\">Majority vote</th>\
             <th scope=\"col\">Model</th><th scope=\"col\" class=\"number\">Tasks</th></tr></thead>\n<tbody>\n",
        );
        for &((from, to), tasks) in listed.iter().take(MOST) {
            body.push_str(&format!(
                "<tr><td><bdi>{}</bdi></td><td><bdi>{}</bdi></td><td class=\"number\">{}</td></tr>\n",
                shown(classes.get(from)),
                shown(classes.get(to)),
                count(tasks)
            ));
        }
        body.push_str("</tbody></table></div>\n");
        body.push_str("<p class=\"note\">Search the tasks above for “majority” to see each of them.</p>\n");
    }
    Section::new("majority", "Majority vote and the model", body)
}
