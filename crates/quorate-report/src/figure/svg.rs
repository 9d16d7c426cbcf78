//! Draws a [`Figure`] as SVG: axes, lines, dots, bars, a legend. Colours come from `figure.css`, for light
//! and dark pages.

use std::fmt::Write;

use super::scale::Range;
use super::{Figure, Mark, Panel, Series};
use crate::text::escape;

/// Colours and widths of everything drawn.
pub const CSS: &str = include_str!("figure.css");

const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;
/// Panels in a row.
const ACROSS: usize = 3;
/// Height of one line of the legend.
const LEGEND: f64 = 18.0;
/// Colours in `figure.css`.
const COLOURS: usize = 8;

/// Where the drawing will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// In a page that has the style sheet.
    Inline,
    /// In a file of its own.
    Standalone,
}

/// The drawing.
pub fn draw(figure: &Figure, style: Style) -> String {
    let names = legend_names(figure);
    let across = figure.panels.len().clamp(1, ACROSS);
    let down = figure.panels.len().div_ceil(across);
    let width = WIDTH * across as f64;
    let entries = legend(&names, figure, width);
    let height = HEIGHT * down as f64 + entries.1 + 4.0;
    let mut svg = format!(
        "<svg class=\"figure\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         role=\"img\"><title>{}</title>",
        escape(&figure.caption)
    );
    if style == Style::Standalone {
        let _ = write!(svg, "<style>{CSS}</style>");
    }
    for (place, panel) in figure.panels.iter().enumerate() {
        let (x, y) = ((place % across) as f64 * WIDTH, (place / across) as f64 * HEIGHT);
        let _ = write!(svg, "<g transform=\"translate({x} {y})\">");
        draw_panel(&mut svg, panel, &names);
        svg.push_str("</g>");
    }
    let _ = write!(
        svg,
        "<g transform=\"translate(0 {})\">{}</g></svg>",
        HEIGHT * down as f64,
        entries.0
    );
    svg
}

/// The names of all series, each once, in order: the place is the colour.
fn legend_names(figure: &Figure) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for series in figure.panels.iter().flat_map(|panel| &panel.series) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    names
}

/// The legend, and its height.
fn legend(names: &[&str], figure: &Figure, width: f64) -> (String, f64) {
    let (mut text, mut x, mut line) = (String::new(), LEFT, 0.0);
    for (colour, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let room = 40.0 + 6.6 * name.chars().count() as f64;
        if x + room > width && x > LEFT {
            (x, line) = (LEFT, line + 1.0);
        }
        let y = LEGEND * line + 10.0;
        let all = figure.panels.iter().flat_map(|panel| &panel.series);
        // A bold line stands for its thin ones.
        let marks: Vec<Mark> = all
            .filter(|series| series.name == *name)
            .map(|series| series.mark)
            .collect();
        let mark = marks
            .iter()
            .find(|mark| **mark != Mark::Thin)
            .unwrap_or(&marks[0]);
        let class = class_of(*mark);
        let colour = colour % COLOURS;
        match mark {
            Mark::Dots => {
                let _ = write!(
                    text,
                    "<circle class=\"dot c{colour}\" cx=\"{}\" cy=\"{y}\" r=\"3\"/>",
                    x + 10.0
                );
            }
            Mark::Bars(_) => {
                let _ = write!(
                    text,
                    "<rect class=\"bar c{colour}\" x=\"{x}\" y=\"{}\" width=\"20\" height=\"9\"/>",
                    y - 5.0
                );
            }
            _ => {
                let _ = write!(text, "<path class=\"{class} c{colour}\" d=\"M{x} {y}h20\"/>");
            }
        }
        let _ = write!(
            text,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            x + 26.0,
            y + 4.0,
            escape(name)
        );
        x += room;
    }
    let height = if text.is_empty() {
        0.0
    } else {
        LEGEND * (line + 1.0) + 4.0
    };
    (text, height)
}

fn class_of(mark: Mark) -> &'static str {
    match mark {
        Mark::Bold | Mark::DotLine => "bold",
        Mark::Thin => "thin",
        Mark::Theory => "theory",
        Mark::Dots => "dot",
        Mark::Bars(_) => "bar",
    }
}

/// The two ranges of a panel and the way from numbers to points of the drawing.
struct Plot {
    x: Range,
    y: Range,
}

impl Plot {
    fn of(panel: &Panel) -> Self {
        let points = || {
            panel
                .series
                .iter()
                .flat_map(|series| series.points.iter().map(move |point| (series.mark, point)))
        };
        let ends = points().flat_map(|(mark, point)| match mark {
            Mark::Bars(width) => [point.0 - width / 2.0, point.0 + width / 2.0],
            _ => [point.0, point.0],
        });
        let heights = points().flat_map(|(mark, point)| match mark {
            Mark::Bars(_) => [0.0, point.1],
            _ => [point.1, point.1],
        });
        Self {
            x: Range::around(panel.x.scale, ends),
            y: Range::around(panel.y.scale, heights),
        }
    }

    fn across(&self, x: f64) -> Option<f64> {
        Some(LEFT + self.x.place(x)? * (WIDTH - LEFT - RIGHT))
    }

    fn up(&self, y: f64) -> Option<f64> {
        Some(HEIGHT - BOTTOM - self.y.place(y)? * (HEIGHT - TOP - BOTTOM))
    }

    fn at(&self, point: (f64, f64)) -> Option<(f64, f64)> {
        Some((self.across(point.0)?, self.up(point.1)?))
    }
}

fn draw_panel(svg: &mut String, panel: &Panel, names: &[&str]) {
    let plot = Plot::of(panel);
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for (value, words) in plot.y.ticks() {
        if let Some(y) = plot.up(value) {
            let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>");
            let _ = write!(
                svg,
                "<text class=\"tick\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{words}</text>",
                LEFT - 5.0,
                y + 3.5
            );
        }
    }
    for (value, words) in plot.x.ticks() {
        if let Some(x) = plot.across(value) {
            let _ = write!(svg, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/>");
            let _ = write!(
                svg,
                "<text class=\"tick\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{}\">{words}</text>",
                bottom + 14.0
            );
        }
    }
    let _ = write!(svg, "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>");
    let middle = (LEFT + right) / 2.0;
    let _ = write!(
        svg,
        "<text class=\"head\" text-anchor=\"middle\" x=\"{middle}\" y=\"16\">{}</text>",
        escape(&panel.title)
    );
    let _ = write!(
        svg,
        "<text text-anchor=\"middle\" x=\"{middle}\" y=\"{}\">{}</text>",
        HEIGHT - 10.0,
        escape(&panel.x.label)
    );
    let _ = write!(
        svg,
        "<text text-anchor=\"middle\" transform=\"translate(12 {}) rotate(-90)\">{}</text>",
        (TOP + bottom) / 2.0,
        escape(&panel.y.label)
    );
    for series in &panel.series {
        let colour = names.iter().position(|name| *name == series.name).unwrap_or(0) % COLOURS;
        draw_series(svg, series, &plot, colour);
    }
}

fn draw_series(svg: &mut String, series: &Series, plot: &Plot, colour: usize) {
    let class = class_of(series.mark);
    if !matches!(series.mark, Mark::Dots | Mark::Bars(_)) {
        let mut path = String::new();
        let mut joined = false;
        for point in &series.points {
            match plot.at(*point) {
                Some((x, y)) => {
                    let _ = write!(path, "{}{x:.1} {y:.1}", if joined { "L" } else { "M" });
                    joined = true;
                }
                None => joined = false,
            }
        }
        if !path.is_empty() {
            let _ = write!(svg, "<path class=\"{class} c{colour}\" d=\"{path}\"/>");
        }
    }
    for &(x, y) in &series.points {
        match series.mark {
            Mark::Dots | Mark::DotLine => {
                if let Some((left, top)) = plot.at((x, y)) {
                    let _ = write!(
                        svg,
                        "<circle class=\"dot c{colour}\" cx=\"{left:.1}\" cy=\"{top:.1}\" r=\"2.6\"><title>{}: {x:.4}, {y:.4e}</title></circle>",
                        escape(&series.name)
                    );
                }
            }
            Mark::Bars(width) => {
                if let (Some(from), Some(to), Some(top), Some(ground)) = (
                    plot.across(x - width / 2.0),
                    plot.across(x + width / 2.0),
                    plot.up(y),
                    plot.up(0.0),
                ) {
                    let _ = write!(
                        svg,
                        "<rect class=\"bar c{colour}\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}: {y}</title></rect>",
                        (to - from - 0.6).max(0.2),
                        ground - top,
                        escape(&series.name)
                    );
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Axis;

    #[test]
    fn every_kind_of_mark_is_drawn_and_what_cannot_be_shown_is_left_out() {
        let figure = Figure {
            name: "test".into(),
            caption: "a < b".into(),
            panels: vec![
                Panel {
                    title: "lines".into(),
                    x: Axis::linear("x"),
                    y: Axis::log("y"),
                    series: vec![
                        Series::new(
                            "one",
                            Mark::Thin,
                            vec![(0.0, 1.0), (1.0, 0.0), (2.0, 0.1), (3.0, 0.01)],
                        ),
                        Series::new("one", Mark::Bold, vec![(0.0, 1.0), (1.0, f64::NAN)]),
                        Series::new("two", Mark::Dots, vec![(1.0, 0.5)]),
                    ],
                },
                Panel {
                    title: "bars".into(),
                    x: Axis::linear("x"),
                    y: Axis::linear("count"),
                    series: vec![Series::new(
                        "three",
                        Mark::Bars(1.0),
                        vec![(0.5, 2.0), (1.5, 3.0)],
                    )],
                },
            ],
        };
        let svg = draw(&figure, Style::Standalone);
        assert!(svg.contains("a &lt; b") && svg.contains("<style>"));
        // The zero breaks the thin line in two; the bold one is a lone point.
        assert_eq!(svg.matches("class=\"thin c0\"").count(), 1);
        assert_eq!(svg.matches("<rect class=\"bar c2\"").count(), 3);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(!draw(&figure, Style::Inline).contains("<style>"));
    }
}
