//! The report as Markdown.

use std::fmt::Write;

use super::words::{self, TimeColumns};
use crate::section::{Report, Section, Table};

pub(super) fn render(report: &Report) -> String {
    let mut text = String::from("# The paper's experiments, run again\n\n");
    let kind = if report.quick {
        "a quick run: fewer trials and steps"
    } else {
        "the full run"
    };
    let _ = writeln!(
        text,
        "`{}` (seed {}, {kind}).\n\n{}\n",
        report.command,
        report.seed,
        words::RULE
    );
    text.push_str(
        "| | | better | equal | worse | claims that hold | time |\n|---|---|---|---|---|---|---|\n",
    );
    for section in &report.sections {
        let [better, equal, worse] = words::verdict_counts(section);
        let _ = writeln!(
            text,
            "| {} | {} | {better} | {equal} | {worse} | {} | {} |",
            section.name,
            plain(&section.title),
            words::claim_counts(section),
            section.seconds.map_or(String::new(), words::seconds)
        );
    }
    for section in &report.sections {
        text.push('\n');
        section_text(&mut text, section);
    }
    text
}

fn section_text(text: &mut String, section: &Section) {
    let _ = writeln!(text, "## {}: {}\n", section.name, section.title);
    for paragraph in &section.method {
        let _ = writeln!(text, "{paragraph}\n");
    }
    if !section.differences.is_empty() {
        text.push_str("Where the set-up differs:\n\n");
        for difference in &section.differences {
            let _ = writeln!(text, "- {difference}");
        }
        text.push('\n');
    }
    for table in &section.tables {
        table_text(text, table);
    }
    for figure in &section.figures {
        let _ = writeln!(
            text,
            "![{}](figures/{}.svg)\n\n*{}*\n",
            plain(&figure.caption),
            figure.name,
            figure.caption
        );
    }
    if !section.claims.is_empty() {
        text.push_str("| the paper says | here | measured |\n|---|---|---|\n");
        for claim in &section.claims {
            let _ = writeln!(
                text,
                "| {} | **{}** | {} |",
                plain(&claim.says),
                claim.holds.words(),
                plain(&claim.found)
            );
        }
        text.push('\n');
    }
    for finding in &section.findings {
        let _ = writeln!(text, "- {finding}");
    }
}

fn table_text(text: &mut String, table: &Table) {
    let times = TimeColumns::of(table);
    let _ = writeln!(text, "**{}**\n", table.title);
    let mut head = vec!["".to_owned(), "here".into()];
    for (place, column) in table.columns.iter().enumerate() {
        if table.has_paper(place) {
            head.extend([format!("{column}: paper"), "ours".into()])
        } else {
            head.push(column.clone())
        }
        if table.has_verdict(place) {
            head.push("verdict".into());
        }
        if times.cells {
            head.extend(["time: paper".into(), "ours".into()]);
        }
    }
    if times.rows {
        head.extend(["time: paper".into(), "ours".into()]);
    }
    let _ = writeln!(text, "| {} |\n|{}", head.join(" | "), "---|".repeat(head.len()));
    for row in &table.rows {
        let mut cells = vec![plain(&row.name), format!("`{}`", row.method)];
        for (place, cell) in row.cells.iter().enumerate() {
            let ours = cell
                .ours
                .as_ref()
                .map(|summary| words::ours(summary, table.measure));
            let ours = ours.or_else(|| cell.note.clone()).unwrap_or_default();
            let verdict = cell
                .verdict
                .map_or(String::new(), |verdict| verdict.word().into());
            if table.has_paper(place) {
                cells.extend([words::paper(cell), ours])
            } else {
                cells.push(ours)
            }
            if table.has_verdict(place) {
                cells.push(verdict);
            }
            if times.cells {
                cells.extend([
                    words::paper_time(cell.time.as_ref()),
                    words::our_time(cell.time.as_ref()),
                ]);
            }
        }
        if times.rows {
            cells.extend([
                words::paper_time(row.time.as_ref()),
                words::our_time(row.time.as_ref()),
            ]);
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    if let Some(words) = words::speed(table) {
        let _ = writeln!(text, "\n{words}");
    }
    text.push('\n');
}

/// A bar would end the cell.
fn plain(text: &str) -> String {
    text.replace('|', "\\|")
}
