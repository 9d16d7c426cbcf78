//! The sections of the page, one file each.

mod agreement;
mod classes;
mod confidence;
mod convergence;
mod coverage;
mod majority;
mod plan;
mod tasks;
mod truth;
mod workers;

use crate::page::{Facts, Report};
use crate::text::escape;

/// Rows of a table that are there without a script.
pub(crate) const ROWS: usize = 25;

/// One section.
pub(crate) struct Section {
    /// Where links lead.
    pub(crate) id: String,
    /// Its head; may hold what users wrote.
    pub(crate) title: String,
    /// Its HTML.
    pub(crate) body: String,
}

impl Section {
    pub(crate) fn new(id: impl Into<String>, title: impl Into<String>, body: String) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            body,
        }
    }
}

/// All sections that have something to say, in the order of the page.
pub(crate) fn all(report: &Report<'_>, facts: &Facts) -> Vec<Section> {
    let sections = [
        Some(tasks::section(facts, report)),
        Some(workers::section(report)),
        Some(classes::section(report)),
        Some(confidence::section(report)),
        truth::section(report),
        Some(majority::section(report, facts)),
        agreement::section(report),
        coverage::section(report),
        report
            .evidence
            .next
            .as_ref()
            .map(|next| plan::section(report, next)),
        convergence::section(report),
    ];
    sections.into_iter().flatten().collect()
}

/// A table that the script replaces by all of its rows (`data` names them), with sorting, search and
/// download. `rows` are the first [`ROWS`] of them, as HTML.
pub(crate) fn table(
    data: &str,
    caption: &str,
    heads: &[&str],
    rows: impl IntoIterator<Item = String>,
) -> String {
    let caption = escape(caption);
    let mut html = format!(
        "<div class=\"table\" data-table=\"{data}\"><div class=\"scroll\" role=\"region\" tabindex=\"0\" \
         aria-label=\"{caption}\"><table><caption>{caption}</caption>\n<thead><tr>"
    );
    for head in heads {
        html.push_str(&format!("<th scope=\"col\">{}</th>", escape(head)));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    html.extend(rows.into_iter().take(ROWS));
    html.push_str("</tbody></table></div></div>\n");
    html
}
