//! The reliability curve: what the confidence said against how often it was right.

use std::fmt::Write as _;

use quorate::evaluate::{Calibration, wilson_interval};

const SIZE: f64 = 480.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 56.0;
/// Height of the bars below the curve that say how many tasks there are.
const BARS: f64 = 70.0;

/// Colours of a drawing.
struct Colours {
    ink: &'static str,
    faint: &'static str,
    curve: &'static str,
    bar: &'static str,
    grid: &'static str,
    ground: &'static str,
}

/// On a white ground, for a file of its own.
const FIXED: Colours = Colours {
    ink: "#1b2733",
    faint: "#5b6b7a",
    curve: "#1f7a8c",
    bar: "#b9c4ce",
    grid: "#e3e8ec",
    ground: "#ffffff",
};

/// Those of the page it stands in.
const OF_THE_PAGE: Colours = Colours {
    ink: "var(--ink)",
    faint: "var(--faint)",
    curve: "var(--mark)",
    bar: "var(--soft)",
    grid: "var(--line)",
    ground: "none",
};

/// The curve as an SVG file, with 95 % intervals, the diagonal, and how many tasks each bin has.
pub fn draw(calibration: &Calibration, tasks: usize) -> String {
    draw_in(&FIXED, calibration, tasks)
}

/// The same in the colours of a page, which sets the variables `--ink`, `--faint`, `--mark`, `--soft` and
/// `--line`.
pub fn draw_inline(calibration: &Calibration, tasks: usize) -> String {
    draw_in(&OF_THE_PAGE, calibration, tasks)
}

fn draw_in(colours: &Colours, calibration: &Calibration, tasks: usize) -> String {
    let Colours {
        ink,
        faint,
        curve,
        bar: soft,
        grid,
        ground,
    } = colours;
    let (width, height) = (LEFT + SIZE + 24.0, TOP + SIZE + BARS + 60.0);
    let x = |value: f64| LEFT + SIZE * value;
    let y = |value: f64| TOP + SIZE * (1.0 - value);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\" role=\"img\" style=\"max-width:560px\"><title>Reliability curve</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"{ground}\"/>\n\
         <text x=\"16\" y=\"24\" font-size=\"16\" font-weight=\"bold\" fill=\"{ink}\">Is the confidence honest?</text>\n\
         <text x=\"16\" y=\"43\" font-size=\"12\" fill=\"{faint}\">{tasks} tasks; calibration error {:.1} %; \
         below the diagonal: too sure</text>\n",
        100.0 * calibration.expected_error
    );
    for tick in 0..=5 {
        let value = f64::from(tick) / 5.0;
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}H{:.1}M{:.1} {:.1}V{:.1}\" stroke=\"{grid}\" fill=\"none\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{faint}\">{:.0} %</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{faint}\">{:.0} %</text>",
            x(0.0),
            y(value),
            x(1.0),
            x(value),
            y(0.0),
            y(1.0),
            x(0.0) - 8.0,
            y(value) + 4.0,
            100.0 * value,
            x(value),
            y(0.0) + BARS + 18.0,
            100.0 * value
        );
    }
    let _ = writeln!(
        svg,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{faint}\" stroke-dasharray=\"5 4\"/>",
        x(0.0),
        y(0.0),
        x(1.0),
        y(1.0)
    );
    let most = calibration
        .bins
        .iter()
        .map(|bin| bin.count)
        .max()
        .unwrap_or(1)
        .max(1);
    let mut path = String::new();
    for bin in &calibration.bins {
        let (low, high) = wilson_interval(bin.accuracy * bin.count as f64, bin.count);
        let bar = (BARS - 10.0) * bin.count as f64 / most as f64;
        let _ = write!(
            path,
            "{}{:.1} {:.1}",
            if path.is_empty() { "M" } else { "L" },
            x(bin.confidence),
            y(bin.accuracy)
        );
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{bar:.1}\" fill=\"{soft}\"/>\
             <path d=\"M{at:.1} {:.1}V{:.1}\" stroke=\"{curve}\" stroke-opacity=\"0.5\" stroke-width=\"2\"/>\
             <circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4.5\" fill=\"{curve}\"><title>{} tasks: said {:.1} %, right {:.1} %\
             </title></circle>",
            y(low),
            y(high),
            y(bin.accuracy),
            bin.count,
            100.0 * bin.confidence,
            100.0 * bin.accuracy,
            left = x(bin.lower) + 1.0,
            top = y(0.0) + BARS - bar,
            wide = (x(bin.upper) - x(bin.lower) - 2.0).max(1.0),
            at = x(bin.confidence),
        );
    }
    let _ = writeln!(
        svg,
        "<path d=\"{path}\" stroke=\"{curve}\" stroke-width=\"2\" fill=\"none\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">confidence (bars: tasks)</text>\n\
         <text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"{ink}\">share that is right</text>\n</svg>",
        x(0.5),
        y(0.0) + BARS + 40.0,
        y(0.5)
    );
    svg
}

#[cfg(test)]
mod tests {
    use quorate::evaluate::Bins;

    use super::*;

    #[test]
    fn every_bin_is_a_point_of_the_curve() {
        let pairs = vec![(0.55, 1.0), (0.55, 0.0), (0.95, 1.0), (0.95, 1.0)];
        let calibration = Calibration::of(pairs, Bins::EqualWidth(10)).unwrap();
        let svg = draw(&calibration, 4);
        assert_eq!(svg.matches("<circle").count(), 2);
        // Said 55 %, right half of the time.
        let (x, y) = (LEFT + SIZE * 0.55, TOP + SIZE * 0.5);
        assert!(svg.contains(&format!("cx=\"{x:.1}\" cy=\"{y:.1}\"")), "{svg}");
    }
}
