//! Plain text tables: columns as wide as their widest cell, numbers to the right.

pub use quorate_report::text::{count, plural};

/// A table with a header line.
#[derive(Debug, Clone)]
pub struct TextTable {
    /// Whether the cells of each column lean to the right.
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these columns. A `>` before the name marks a column of numbers, which leans to the right.
    pub fn new<'n>(columns: impl IntoIterator<Item = &'n str>) -> Self {
        let columns = columns.into_iter().map(|name| match name.strip_prefix('>') {
            Some(name) => (true, name.to_owned()),
            None => (false, name.to_owned()),
        });
        let (right, names) = columns.unzip();
        Self {
            right,
            rows: vec![names],
        }
    }

    /// Adds a row; missing cells at the end stay empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The text, each line indented by two spaces, with a rule under the header; on a terminal no wider than
    /// it is.
    pub fn render(&self) -> String {
        self.render_within(terminal_width())
    }

    /// The text in lines of at most `limit` letters: the widest columns of words are cut as far as it takes.
    fn render_within(&self, limit: usize) -> String {
        /// A column is not cut further than this.
        const NARROWEST: usize = 12;
        let mut widths = self.widths();
        loop {
            let total: usize = widths.iter().map(|wide| wide + 2).sum();
            let words = (0..widths.len()).filter(|&column| !self.right[column]);
            let Some(widest) = words.max_by_key(|&column| widths[column]) else {
                break;
            };
            if total <= limit || widths[widest] <= NARROWEST {
                break;
            }
            widths[widest] = widths[widest].saturating_sub(total - limit).max(NARROWEST);
        }
        self.render_columns(&widths)
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.right.len())
            .map(|column| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(|cell| width(cell))
                    .max()
                    .unwrap_or(0)
            })
            .collect()
    }

    fn render_columns(&self, widths: &[usize]) -> String {
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::from(" ");
            for (column, &wide) in widths.iter().enumerate() {
                let cell = shortened(row.get(column).map_or("", String::as_str), wide);
                let pad = " ".repeat(wide - width(&cell));
                line.push_str(&if self.right[column] {
                    format!(" {pad}{cell} ")
                } else {
                    format!(" {cell}{pad} ")
                });
            }
            text.push_str(line.trim_end());
            text.push('\n');
            if index == 0 {
                let total: usize = widths.iter().map(|wide| wide + 2).sum();
                text.push_str(&format!("  {}\n", "-".repeat(total.saturating_sub(2))));
            }
        }
        text
    }
}

/// The cell in at most so many letters.
fn shortened(cell: &str, most: usize) -> String {
    if width(cell) <= most {
        return cell.to_owned();
    }
    let kept: String = cell.chars().take(most.saturating_sub(2)).collect();
    format!("{}..", kept.trim_end())
}

/// Letters in a line of the terminal; without end where standard output is none.
pub fn terminal_width() -> usize {
    use std::io::IsTerminal;
    match terminal_size::terminal_size() {
        Some((width, _)) if std::io::stdout().is_terminal() => usize::from(width.0).max(40),
        _ => usize::MAX,
    }
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

/// Width of wrapped text.
const WIDTH: usize = 100;

/// Words in lines of at most [`WIDTH`] and no wider than the terminal, the first with one indent, the others with another.
pub fn wrapped(words: &str, first: &str, rest: &str) -> String {
    wrapped_within(WIDTH.min(terminal_width()), words, first, rest)
}

/// Words in lines of at most so many letters.
pub fn wrapped_within(width: usize, words: &str, first: &str, rest: &str) -> String {
    let mut text = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in words.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            text.push_str(&line);
            text.push('\n');
            line = rest.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    text.push_str(&line);
    text.push('\n');
    text
}

/// A time as people read it.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s => format!("{:.1} min", s / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = TextTable::new(["method", ">error"]);
        table.row(["mv".to_owned(), "8.13".to_owned()]);
        table.row(["rob-symnmf".to_owned(), "17.12".to_owned()]);
        assert_eq!(
            table.render(),
            "  method      error\n  -----------------\n  mv           8.13\n  rob-symnmf  17.12\n"
        );
    }

    #[test]
    fn a_table_fits_the_terminal() {
        let mut table = TextTable::new(["method", ">error", ""]);
        let words = "a long reason why this method failed, in many words".to_owned();
        table.row(["tensor-admm".to_owned(), "-".to_owned(), words]);
        let text = table.render_within(40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(text.contains("tensor-admm") && text.contains(".."), "{text}");
        assert!(table.render_within(usize::MAX).contains("in many words"));
    }

    #[test]
    fn long_sentences_are_wrapped_between_words() {
        let text = wrapped(&"word ".repeat(40), "  problem  ", "           ");
        assert!(text.lines().count() > 1);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(text.split_whitespace().filter(|word| *word == "word").count(), 40);
    }

    #[test]
    fn numbers_in_words() {
        assert_eq!(
            (count(7), count(1234), count(1_000_000)),
            ("7".into(), "1,234".into(), "1,000,000".into())
        );
        assert_eq!(
            (plural(1, "task"), plural(2000, "task")),
            ("1 task".into(), "2,000 tasks".into())
        );
        assert_eq!(
            (duration(0.0123), duration(3.21)),
            ("12 ms".into(), "3.2 s".into())
        );
    }
}
