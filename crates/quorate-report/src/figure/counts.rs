//! Counts by name as horizontal bars, and a share as a bar between 0 and 1: small pictures for a page that
//! has the style sheet.

use std::fmt::Write as _;

use crate::text::{count, escape, plain};

const WIDTH: usize = 330;
const LEFT: usize = 100;
const LONGEST: usize = 150;
const ROW: usize = 18;
const TOP: usize = 26;

/// Characters of a name that fit beside its bar.
const NAME: usize = 14;

const GAUGE: (usize, usize) = (64, 10);

/// Bars of counts, one below the other; the whole name of each is its title.
pub fn bars(title: &str, rows: &[(&str, usize)]) -> String {
    let height = TOP + ROW * rows.len();
    let most = rows.iter().map(|row| row.1).max().unwrap_or(0).max(1) as f64;
    let mut svg = format!(
        "<svg class=\"figure\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" role=\"img\">\
         <title>{title}</title><text class=\"head\" x=\"{LEFT}\" y=\"16\">{title}</text>",
        title = escape(title)
    );
    for (place, &(name, number)) in rows.iter().enumerate() {
        let y = TOP + ROW * place;
        let length = LONGEST as f64 * number as f64 / most;
        let _ = write!(
            svg,
            "<g><title>{}: {number}</title><text x=\"{}\" y=\"{base}\" text-anchor=\"end\">{}</text>\
             <rect class=\"bar c0\" x=\"{LEFT}\" y=\"{}\" width=\"{length:.1}\" height=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{base}\">{number}</text></g>",
            escape(&plain(name)),
            LEFT - 8,
            escape(&shortened(&plain(name))),
            y + 3,
            ROW - 6,
            LEFT as f64 + length + 6.0,
            number = count(number),
            base = y + 13,
        );
    }
    svg.push_str("</svg>");
    svg
}

/// A share as a bar on a ground of length 1. The number stands beside it, so it is hidden from readers of the
/// screen.
pub fn gauge(share: f64) -> String {
    let (width, height) = GAUGE;
    format!(
        "<svg class=\"figure\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         aria-hidden=\"true\"><rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\
         <rect class=\"bar c0\" width=\"{:.1}\" height=\"{height}\"/></svg>",
        width as f64 * share.clamp(0.0, 1.0)
    )
}

fn shortened(name: &str) -> String {
    if name.chars().count() > NAME {
        name.chars().take(NAME - 1).chain(['…']).collect()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_names_are_inert() {
        let svg = bars("Tasks", &[("<b>", 2000), ("a name that is too long", 500)]);
        for part in [
            "width=\"150.0\"",
            "width=\"37.5\"",
            ">2,000</text>",
            "&lt;b&gt;",
            "<title>a name that is too long: 500</title>",
            ">a name that i…</text>",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!svg.contains("<b>"));
        assert!(!bars("Tasks", &[("a", 0)]).contains("NaN"));
    }

    #[test]
    fn a_gauge_ends_at_its_share() {
        assert!(gauge(0.25).contains("class=\"bar c0\" width=\"16.0\""));
        assert!(gauge(1.5).contains("class=\"bar c0\" width=\"64.0\""));
    }
}
