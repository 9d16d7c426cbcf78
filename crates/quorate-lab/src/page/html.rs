//! The page as HTML: style sheet and figures inside, nothing loaded from elsewhere.

use std::fmt::Write;

use super::blocks::{Block, Entry, Grid};
use super::words::TITLE;
use quorate_report::figure::{self, Style, draw};
use quorate_report::text::escape;

const CSS: &str = include_str!("page.css");

pub(super) fn render(blocks: &[Block<'_>]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{TITLE}</title>\n<style>\n{CSS}{}</style>\n</head>\n<body>\n<main>\n<section>\n<h1>{TITLE}</h1>\n",
        figure::CSS
    );
    for block in blocks {
        let _ = match block {
            Block::Section(name, title) => writeln!(
                page,
                "</section>\n<section id=\"{0}\">\n<h2><code>{0}</code> {1}</h2>",
                escape(name),
                escape(title)
            ),
            Block::Heading(title) => writeln!(page, "<h3>{}</h3>", escape(title)),
            Block::Paragraph(words) => writeln!(page, "<p>{}</p>", escape(words)),
            Block::List([]) => Ok(()),
            Block::List(items) => {
                let items: String = items
                    .iter()
                    .map(|item| format!("<li>{}</li>\n", escape(item)))
                    .collect();
                writeln!(page, "<ul>\n{items}</ul>")
            }
            Block::Table(grid) => add_table(&mut page, grid),
            Block::Figure(figure) => writeln!(
                page,
                "<figure><div class=\"scroll\">{}</div><figcaption>{}</figcaption></figure>",
                draw(figure, Style::Inline),
                escape(&figure.caption)
            ),
        };
    }
    page.push_str("</section>\n</main>\n</body>\n</html>\n");
    page
}

fn add_table(page: &mut String, grid: &Grid) -> std::fmt::Result {
    page.push_str("<div class=\"scroll\"><table>\n");
    if let Some(title) = &grid.title {
        writeln!(page, "<caption>{}</caption>", escape(title))?;
    }
    page.push_str("<thead><tr>");
    for head in &grid.head {
        write!(page, "<th>{}</th>", escape(head))?;
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &grid.rows {
        page.push_str("<tr>");
        for entry in row {
            match entry {
                Entry::Text(words) => write!(page, "<td>{}</td>", escape(words)),
                Entry::Number(words) => write!(page, "<td class=\"number\">{}</td>", escape(words)),
                Entry::Code(words) => write!(page, "<td><code>{}</code></td>", escape(words)),
                Entry::Link(name) => write!(page, "<td><a href=\"#{0}\">{0}</a></td>", escape(name)),
                Entry::Verdict(word, class) => write!(page, "<td class=\"{class}\">{word}</td>"),
            }?;
        }
        page.push_str("</tr>\n");
    }
    writeln!(page, "</tbody>\n</table></div>")
}
