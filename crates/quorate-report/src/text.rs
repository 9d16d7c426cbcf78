//! Text made safe for a page: characters that HTML reads, and characters that hide or turn text around.

/// Longest id or label that a page shows; the rest is cut off and marked.
pub const LONGEST: usize = 200;

/// Longest sentence: some ids and the words around them.
const LONGEST_SENTENCE: usize = 2_000;

/// Text for HTML and SVG, also inside quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// A user's text as a page may show it: control characters and marks that change the direction of text become
/// visible, and text beyond [`LONGEST`] characters is cut off.
pub fn plain(text: &str) -> String {
    plain_up_to(text, LONGEST)
}

fn plain_up_to(text: &str, longest: usize) -> String {
    let mut out = String::with_capacity(text.len().min(4 * longest));
    for (place, c) in text.chars().enumerate() {
        if place == longest {
            out.push('…');
            break;
        }
        match c {
            '\t' | '\n' | '\r' => out.push(' '),
            _ if is_hidden(c) => out.push_str(&format!("⟨U+{:04X}⟩", c as u32)),
            _ => out.push(c),
        }
    }
    out
}

/// Text that a task is about, as a page may show it: lines stay, control characters and marks that turn text
/// around become visible, and what is beyond `longest` characters is cut off. Joiners, which many languages
/// need, stay.
pub fn passage(text: &str, longest: usize) -> String {
    let mut out = String::with_capacity(text.len().min(4 * longest));
    for (place, c) in text.chars().enumerate() {
        if place == longest {
            out.push('…');
            break;
        }
        match c {
            '\t' | '\n' => out.push(c),
            '\r' => {}
            _ if c.is_control() || turns_text(c) => out.push_str(&format!("⟨U+{:04X}⟩", c as u32)),
            _ => out.push(c),
        }
    }
    out
}

/// A sentence of ours with the ids that it names, for HTML.
pub fn sentence(text: &str) -> String {
    escape(&plain_up_to(text, LONGEST_SENTENCE))
}

/// [`plain`] text for HTML.
pub fn shown(text: &str) -> String {
    escape(&plain(text))
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || turns_text(c)
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2065}' | '\u{feff}')
}

/// Marks that change the direction of the text behind them.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A whole number with separators.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things.
pub fn plural(number: usize, word: &str) -> String {
    let ending = match (number, word.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{} {word}{ending}", count(number))
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_inert() {
        assert_eq!(
            shown("</script><script>alert(1)"),
            "&lt;/script&gt;&lt;script&gt;alert(1)"
        );
        assert_eq!(shown("a\u{202e}b\u{1b}[31m"), "a⟨U+202E⟩b⟨U+001B⟩[31m");
        assert_eq!(shown("\" onload='x'"), "&quot; onload=&#39;x&#39;");
        assert_eq!(plain(&"x".repeat(1 << 20)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn texts_keep_their_lines_and_joiners() {
        assert_eq!(
            passage("one\r\ntwo\u{200d}\u{202e}\u{1b}[31m", 99),
            "one\ntwo\u{200d}⟨U+202E⟩⟨U+001B⟩[31m"
        );
        assert_eq!(passage(&"x".repeat(1 << 20), 5), "xxxxx…");
        let long = format!("{}.", "w12345, ".repeat(100));
        assert_eq!(sentence(&long), long);
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(
            (count(999), count(1000), count(1_234_567)),
            ("999".into(), "1,000".into(), "1,234,567".into())
        );
        assert_eq!(
            (plural(1, "task"), plural(2, "class")),
            ("1 task".into(), "2 classes".into())
        );
        assert_eq!(percent(0.0712), "7.1 %");
    }
}
