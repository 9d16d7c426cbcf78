//! The report as one HTML page: style sheet and figures inside, nothing loaded from elsewhere.

use std::fmt::Write;

use super::words::{self, TimeColumns};
use crate::section::{Cell, Report, Section, Table};
use quorate_report::figure::{Style, draw};
use quorate_report::text::escape;

const CSS: &str = include_str!("page.css");

pub(super) fn render(report: &Report) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>The paper's experiments, run again</title>\n<style>\n{CSS}{}</style>\n</head>\n<body>\n<main>\n",
        quorate_report::figure::CSS
    );
    head(&mut page, report);
    for section in &report.sections {
        section_html(&mut page, section);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn head(page: &mut String, report: &Report) {
    let kind = if report.quick {
        "a quick run: fewer trials and steps"
    } else {
        "the full run"
    };
    let time = report
        .seconds
        .map_or(String::new(), |value| format!(", {}", words::seconds(value)));
    let _ = write!(
        page,
        "<h1>The paper's experiments, run again</h1>\n\
         <p>S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric Nonnegative Matrix \
         Factorization, ICML 2021. Every table and figure: the printed value beside ours.</p>\n\
         <p class=\"small\"><code>{}</code> (seed {}, {kind}{time}; Quorate {})</p>\n<p class=\"small\">{}</p>\n",
        escape(&report.command),
        report.seed,
        env!("CARGO_PKG_VERSION"),
        escape(words::RULE)
    );
    page.push_str(
        "<div class=\"scroll\"><table>\n<thead><tr><th>in the paper</th><th></th><th>better</th><th>equal</th><th>worse</th>\
         <th>claims that hold</th><th>time</th></tr></thead>\n<tbody>\n",
    );
    for section in &report.sections {
        let [better, equal, worse] = words::verdict_counts(section);
        let _ = writeln!(
            page,
            "<tr><td><a href=\"#{0}\">{0}</a></td><td class=\"words\">{1}</td><td class=\"better number\">{better}</td>\
             <td class=\"equal number\">{equal}</td><td class=\"worse number\">{worse}</td><td class=\"number\">{2}</td><td class=\"time\">{3}</td></tr>",
            escape(&section.name),
            escape(&section.title),
            words::claim_counts(section),
            section.seconds.map_or(String::new(), words::seconds)
        );
    }
    page.push_str("</tbody>\n</table></div>\n");
}

fn section_html(page: &mut String, section: &Section) {
    let _ = writeln!(
        page,
        "<section id=\"{0}\">\n<h2><span class=\"label\">{0}</span> {1}</h2>",
        escape(&section.name),
        escape(&section.title)
    );
    for table in &section.tables {
        table_html(page, table);
    }
    for figure in &section.figures {
        let _ = writeln!(
            page,
            "<figure><div class=\"scroll\">{}</div><figcaption>{}</figcaption></figure>",
            draw(figure, Style::Inline),
            escape(&figure.caption)
        );
    }
    if !section.claims.is_empty() {
        page.push_str("<div class=\"scroll\"><table class=\"claims\">\n<thead><tr><th>the paper says</th><th>here</th><th>measured</th></tr></thead>\n<tbody>\n");
        for claim in &section.claims {
            let _ = writeln!(
                page,
                "<tr><td class=\"words\">{}</td><td class=\"{}\">{}</td><td class=\"words\">{}</td></tr>",
                escape(&claim.says),
                claim.holds.class(),
                claim.holds.words(),
                escape(&claim.found)
            );
        }
        page.push_str("</tbody>\n</table></div>\n");
    }
    if !section.findings.is_empty() {
        list(page, &section.findings);
    }
    if !section.method.is_empty() || !section.differences.is_empty() {
        page.push_str("<h3>How it was obtained</h3>\n");
    }
    for paragraph in &section.method {
        let _ = writeln!(page, "<p>{}</p>", escape(paragraph));
    }
    if !section.differences.is_empty() {
        page.push_str("<p>Where the set-up differs from the paper's:</p>\n");
        list(page, &section.differences);
    }
    page.push_str("</section>\n");
}

fn table_html(page: &mut String, table: &Table) {
    let times = TimeColumns::of(table);
    let _ = write!(
        page,
        "<div class=\"scroll\"><table>\n<caption>{}</caption>\n<thead>\n<tr><th rowspan=\"2\"></th><th rowspan=\"2\" class=\"method\">here</th>",
        escape(&table.title)
    );
    for (place, column) in table.columns.iter().enumerate() {
        let parts = [true, table.has_paper(place), table.has_verdict(place)];
        let wide = parts.iter().filter(|&&part| part).count() + if times.cells { 2 } else { 0 };
        let _ = write!(
            page,
            "<th colspan=\"{wide}\" class=\"group\">{}</th>",
            escape(column)
        );
    }
    if times.rows {
        page.push_str("<th colspan=\"2\" class=\"group\">time</th>");
    }
    page.push_str("</tr>\n<tr>");
    for place in 0..table.columns.len() {
        page.push_str(if table.has_paper(place) {
            "<th class=\"group\">paper</th><th>ours</th>"
        } else {
            "<th class=\"group\">ours</th>"
        });
        if table.has_verdict(place) {
            page.push_str("<th></th>");
        }
        if times.cells {
            page.push_str("<th>time: paper</th><th>ours</th>");
        }
    }
    if times.rows {
        page.push_str("<th class=\"group\">paper</th><th>ours</th>");
    }
    page.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in &table.rows {
        let _ = write!(
            page,
            "<tr><td>{}</td><td class=\"method\">{}</td>",
            escape(&row.name),
            escape(&row.method)
        );
        for (place, cell) in row.cells.iter().enumerate() {
            cell_html(page, cell, table, place, times);
        }
        if times.rows {
            let _ = write!(
                page,
                "<td class=\"group number\">{}</td><td class=\"time\">{}</td>",
                words::paper_time(row.time.as_ref()),
                words::our_time(row.time.as_ref())
            );
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table></div>\n");
    if let Some(words) = words::speed(table) {
        let _ = writeln!(page, "<p class=\"small\">{}</p>", escape(&words));
    }
}

fn list(page: &mut String, items: &[String]) {
    page.push_str("<ul>\n");
    for item in items {
        let _ = writeln!(page, "<li>{}</li>", escape(item));
    }
    page.push_str("</ul>\n");
}

fn cell_html(page: &mut String, cell: &Cell, table: &Table, place: usize, times: TimeColumns) {
    let has_paper = table.has_paper(place);
    let class = if has_paper { "number" } else { "number group" };
    if has_paper {
        let _ = write!(
            page,
            "<td class=\"group number\">{}</td>",
            escape(&words::paper(cell))
        );
    }
    let _ = match (&cell.ours, &cell.note) {
        (Some(summary), _) => write!(
            page,
            "<td class=\"{class} ours\" title=\"median {}, {} trial(s)\">{}</td>",
            words::number(summary.median, table.measure),
            summary.trials,
            words::ours(summary, table.measure)
        ),
        (None, note) => write!(
            page,
            "<td class=\"{class} small\">{}</td>",
            escape(note.as_deref().unwrap_or(""))
        ),
    };
    if table.has_verdict(place) {
        let verdict = cell.verdict.map_or("", |verdict| verdict.word());
        let _ = write!(page, "<td class=\"{verdict}\">{verdict}</td>");
    }
    if times.cells {
        let _ = write!(
            page,
            "<td class=\"number\">{}</td><td class=\"time\">{}</td>",
            words::paper_time(cell.time.as_ref()),
            words::our_time(cell.time.as_ref())
        );
    }
}
