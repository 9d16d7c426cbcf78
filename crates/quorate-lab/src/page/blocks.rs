//! What a report shows, top to bottom, in no markup yet: both forms of the page are written from this.

use super::words;
use crate::section::{Cell, Report, Section, Table};
use quorate_report::figure::Figure;

/// A piece of the page.
pub(super) enum Block<'a> {
    /// The beginning of an experiment's section: its name and its title.
    Section(&'a str, &'a str),
    Heading(&'static str),
    Paragraph(String),
    List(&'a [String]),
    Table(Grid),
    Figure(&'a Figure),
}

/// A table: its title, the heads of the columns, the rows.
pub(super) struct Grid {
    pub title: Option<String>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<Entry>>,
}

/// What stands in a cell of a [`Grid`].
pub(super) enum Entry {
    Text(String),
    Number(String),
    Code(String),
    /// The name of a section.
    Link(String),
    /// A verdict in a word, and the class of its colour.
    Verdict(&'static str, &'static str),
}

pub(super) fn blocks(report: &Report) -> Vec<Block<'_>> {
    let kind = if report.quick {
        "a quick run: fewer trials and steps"
    } else {
        "the full run"
    };
    let time = report
        .seconds
        .map_or(String::new(), |value| format!(", {}", words::seconds(value)));
    let version = env!("CARGO_PKG_VERSION");
    let mut blocks = vec![
        Block::Paragraph(words::PAPER.into()),
        Block::Paragraph(format!(
            "Command: {} (seed {}, {kind}{time}; Quorate {version}).",
            report.command, report.seed
        )),
        Block::Paragraph(words::RULE.into()),
        Block::Table(overview(report)),
    ];
    for section in &report.sections {
        add_section(&mut blocks, section);
    }
    blocks
}

fn owned(heads: &[&str]) -> Vec<String> {
    heads.iter().map(|&head| head.to_owned()).collect()
}

fn overview(report: &Report) -> Grid {
    let row = |section: &Section| {
        let [better, equal, worse] = words::verdict_counts(section).map(Entry::Number);
        let time = section.seconds.map_or(String::new(), words::seconds);
        vec![
            Entry::Link(section.name.clone()),
            Entry::Text(section.title.clone()),
            better,
            equal,
            worse,
            Entry::Number(words::claim_counts(section)),
            Entry::Number(time),
        ]
    };
    Grid {
        title: None,
        head: owned(&["", "", "better", "equal", "worse", "claims that hold", "time"]),
        rows: report.sections.iter().map(row).collect(),
    }
}

fn add_section<'a>(blocks: &mut Vec<Block<'a>>, section: &'a Section) {
    blocks.push(Block::Section(&section.name, &section.title));
    for table in &section.tables {
        blocks.push(Block::Table(grid(table)));
        blocks.extend(words::speed(table).map(Block::Paragraph));
    }
    blocks.extend(section.figures.iter().map(Block::Figure));
    if !section.claims.is_empty() {
        let claims = section.claims.iter().map(|claim| {
            vec![
                Entry::Text(claim.says.clone()),
                Entry::Verdict(claim.holds.words(), claim.holds.class()),
                Entry::Text(claim.found.clone()),
            ]
        });
        blocks.push(Block::Table(Grid {
            title: None,
            head: owned(&["the paper says", "here", "measured"]),
            rows: claims.collect(),
        }));
    }
    blocks.push(Block::List(&section.findings));
    if !section.method.is_empty() || !section.differences.is_empty() {
        blocks.push(Block::Heading("How it was obtained"));
    }
    blocks.extend(section.method.iter().cloned().map(Block::Paragraph));
    if !section.differences.is_empty() {
        blocks.push(Block::Paragraph(
            "Where the set-up differs from the paper's:".into(),
        ));
        blocks.push(Block::List(&section.differences));
    }
}

/// Paper and ours side by side in each column, verdicts and times where there are any.
fn grid(table: &Table) -> Grid {
    let cells = || table.rows.iter().flat_map(|row| &row.cells);
    let timed_cells = cells().any(|cell| cell.time.is_some());
    let timed_rows = table.rows.iter().any(|row| row.time.is_some());
    let times = ["time: paper", "ours"];
    let mut head = owned(&["", "here"]);
    for (place, column) in table.columns.iter().enumerate() {
        if table.has_paper(place) {
            head.extend([format!("{column}: paper"), "ours".into()])
        } else {
            head.push(column.clone())
        }
        if table.has_verdict(place) {
            head.push("verdict".into());
        }
        if timed_cells {
            head.extend(owned(&times));
        }
    }
    if timed_rows {
        head.extend(owned(&times));
    }
    let rows = table.rows.iter().map(|row| {
        let mut entries = vec![Entry::Text(row.name.clone()), Entry::Code(row.method.clone())];
        for (place, cell) in row.cells.iter().enumerate() {
            if table.has_paper(place) {
                let printed = cell.paper.as_ref();
                entries.push(Entry::Number(
                    printed.map_or(String::new(), |printed| printed.text.clone()),
                ));
            }
            entries.push(ours(cell, table));
            if table.has_verdict(place) {
                let word = cell.verdict.map_or("", |verdict| verdict.word());
                entries.push(Entry::Verdict(word, word));
            }
            if timed_cells {
                entries.extend(words::times(cell.time.as_ref()).map(Entry::Number));
            }
        }
        if timed_rows {
            entries.extend(words::times(row.time.as_ref()).map(Entry::Number));
        }
        entries
    });
    Grid {
        title: Some(table.title.clone()),
        head,
        rows: rows.collect(),
    }
}

fn ours(cell: &Cell, table: &Table) -> Entry {
    match &cell.ours {
        Some(summary) => Entry::Number(words::ours(summary, table.measure)),
        None => Entry::Text(cell.note.clone().unwrap_or_default()),
    }
}
