//! A leaderboard as a forest plot: a line for each item from the low to the high end of its interval.

use std::fmt::Write as _;

use quorate::annotations::Names;
use quorate::ranking::Standing;

use super::svg::{CSS, Style};
use crate::text::{escape, plain};

const WIDTH: f64 = 720.0;
const LEFT: f64 = 220.0;
const RIGHT: f64 = 24.0;
const ROW: f64 = 22.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;

/// Items that are drawn.
const MAX_ITEMS: usize = 100;

/// Characters of a name.
const NAME: usize = 30;

/// The drawing; scores are turned by `scale` first.
pub fn draw(items: &Names, standings: &[Standing], scale: fn(f64) -> f64, style: Style) -> String {
    let shown = &standings[..standings.len().min(MAX_ITEMS)];
    let ends = |standing: &Standing| {
        let (low, high) = standing.interval.unwrap_or((standing.score, standing.score));
        [scale(low), scale(high)]
    };
    let all: Vec<f64> = shown.iter().flat_map(ends).collect();
    let (low, high) = (
        all.iter().copied().fold(f64::MAX, f64::min),
        all.iter().copied().fold(f64::MIN, f64::max),
    );
    let room = ((high - low) * 0.04).max(1e-9);
    let (low, high) = (low - room, high + room);
    let across = |value: f64| LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT);
    let bottom = TOP + ROW * shown.len() as f64;
    let height = bottom + BOTTOM;
    let mut svg = format!(
        "<svg class=\"figure\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         role=\"img\"><title>Scores of the items with their intervals</title>"
    );
    if style == Style::Standalone {
        let _ = write!(svg, "<style>{CSS}</style>");
    }
    for value in ticks(low, high) {
        let x = across(value);
        let words = if (high - low) > 20.0 {
            format!("{value:.0}")
        } else {
            format!("{value:.1}")
        };
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/><text class=\"tick\" text-anchor=\"middle\" x=\"{x:.1}\" \
             y=\"{:.1}\">{words}</text>",
            bottom + 16.0
        );
    }
    let _ = write!(
        svg,
        "<path class=\"axis\" d=\"M{LEFT} {bottom}H{}\"/>",
        WIDTH - RIGHT
    );
    for (place, standing) in shown.iter().enumerate() {
        let y = TOP + ROW * (place as f64 + 0.5);
        let name: String = plain(items.get(standing.item)).chars().take(NAME).collect();
        let [from, to] = ends(standing);
        let score = scale(standing.score);
        // Groups that cannot be compared have colours of their own.
        let colour = standing.group % 8;
        let _ = write!(
            svg,
            "<text text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text><path class=\"bold c{colour}\" \
             d=\"M{:.1} {y:.1}H{:.1}\"/><circle class=\"dot c{colour}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}: {score:.2} \
             ({from:.2} to {to:.2})</title></circle>",
            LEFT - 10.0,
            y + 4.0,
            escape(&name),
            across(from),
            across(to),
            across(score),
            escape(&name),
        );
    }
    if standings.len() > shown.len() {
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{LEFT}\" y=\"{:.1}\">the first {} of {}</text>",
            height - 6.0,
            shown.len(),
            standings.len()
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Round values between two ends.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last.min(first + 20))
        .map(|place| place as f64 * step)
        .collect()
}

#[cfg(test)]
mod tests {
    use quorate::ranking::{BradleyTerry, Comparisons, Outcome, Rank};

    use super::*;

    #[test]
    fn every_item_has_a_line_and_names_are_made_inert() {
        let rows = [
            ("<a>", "b", Outcome::Left),
            ("b", "<a>", Outcome::Left),
            ("b", "c", Outcome::Tie),
        ];
        let table = Comparisons::from_rows(rows).unwrap();
        let fit = BradleyTerry::default()
            .fit(&table, &mut quorate::Context::new(0))
            .unwrap();
        let standings = fit.leaderboard(&table, 0.95);
        let svg = draw(table.items(), &standings, |score| score, Style::Standalone);
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("&lt;a&gt;") && !svg.contains("<a>") && !svg.contains("NaN"));
        assert_eq!(ticks(-1.0, 1.0), [-1.0, -0.5, 0.0, 0.5, 1.0]);
    }
}
