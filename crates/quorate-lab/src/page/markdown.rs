//! The page as Markdown, figures as links to `figures/*.svg`.

use std::fmt::Write;

use super::blocks::{Block, Entry, Grid};
use super::words::TITLE;

pub(super) fn render(blocks: &[Block<'_>]) -> String {
    let mut text = format!("# {TITLE}\n\n");
    for block in blocks {
        let _ = match block {
            Block::Section(name, title) => writeln!(text, "## {name}: {title}\n"),
            Block::Heading(title) => writeln!(text, "### {title}\n"),
            Block::Paragraph(words) => writeln!(text, "{words}\n"),
            Block::List([]) => Ok(()),
            Block::List(items) => writeln!(text, "- {}\n", items.join("\n- ")),
            Block::Table(grid) => add_table(&mut text, grid),
            Block::Figure(figure) => writeln!(text, "![{0}](figures/{1}.svg)\n", figure.caption, figure.name),
        };
    }
    text
}

fn add_table(text: &mut String, grid: &Grid) -> std::fmt::Result {
    if let Some(title) = &grid.title {
        writeln!(text, "**{title}**\n")?;
    }
    let rule = "---|".repeat(grid.head.len());
    writeln!(text, "| {} |\n|{rule}", grid.head.join(" | "))?;
    for row in &grid.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        writeln!(text, "| {} |", cells.join(" | "))?;
    }
    writeln!(text)
}

/// A bar would end the cell.
fn cell(entry: &Entry) -> String {
    match entry {
        Entry::Text(words) | Entry::Number(words) | Entry::Link(words) => words.replace('|', "\\|"),
        Entry::Code(words) => format!("`{words}`"),
        Entry::Verdict(word, _) => (*word).to_owned(),
    }
}
