//! Shares as horizontal bars, the first one as the baseline.
//!
//! Bars have fixed colours on a white ground: the picture stands in pages that are not ours.

use std::fmt::Write as _;

use crate::text::escape;

const WIDTH: usize = 720;
const LEFT: usize = 150;
const BAR: usize = 26;
const GAP: usize = 12;
const TOP: usize = 56;

/// Horizontal bars of shares, labelled in percent.
pub fn bars(title: &str, subtitle: &str, bars: &[(&str, f64)]) -> String {
    let height = TOP + bars.len() * (BAR + GAP) + 12;
    let longest = bars.iter().map(|bar| bar.1).fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"14\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"16\" y=\"24\" font-size=\"16\" font-weight=\"bold\" fill=\"#1b2733\">{}</text>\n\
         <text x=\"16\" y=\"43\" font-size=\"12\" fill=\"#5b6b7a\">{}</text>\n",
        escape(title),
        escape(subtitle)
    );
    for (index, (name, share)) in bars.iter().enumerate() {
        let y = TOP + index * (BAR + GAP);
        let length = ((WIDTH - LEFT - 90) as f64 * share / longest).max(1.0);
        let colour = if index == 0 { "#b9c4ce" } else { "#1f7a8c" };
        let middle = y + BAR / 2 + 5;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\" fill=\"#1b2733\">{}</text>\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"3\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{middle}\" fill=\"#1b2733\">{:.1} %</text>",
            LEFT - 10,
            escape(name),
            LEFT as f64 + length + 8.0,
            100.0 * share
        );
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bar_is_drawn_in_proportion() {
        let svg = bars("a < b", "c & d", &[("one", 0.2), ("two", 0.1)]);
        assert!(svg.contains("a &lt; b") && svg.contains("c &amp; d"));
        assert!(
            svg.contains("width=\"480.0\"") && svg.contains("width=\"240.0\""),
            "{svg}"
        );
    }
}
