//! The page for people.

use quorate::ranking::{ComparisonTable, Comparisons, Outcome, RankFit, Ranked, Standing};
use quorate_report::ranking::findings;

use super::{RankArgs, scale_of};
use crate::printer::harmless;
use crate::text_table::{TextTable, count, plural, terminal_width, wrapped};

/// Items that are shown unless all are asked for.
const MAX_ROWS: usize = 40;

/// Judges that are shown.
const MAX_JUDGES: usize = 10;

/// Characters of the picture of intervals.
const BAR: usize = 21;

/// In a terminal narrower than this the picture is smaller, and comparisons won, lost and tied are left out.
const WIDE: usize = 100;
const NARROW_BAR: usize = 15;

pub(super) fn as_text(table: &Ranked, args: &RankArgs) -> String {
    let mut text = String::new();
    if let (Some(by), Some(column)) = (&table.by, &args.input.by) {
        text.push_str(&format!("{} = {}\n", harmless(column), harmless(by)));
    }
    text.push_str(&contents(table));
    text.push_str(&format!(
        "{}: {}\n\n",
        table.fit.method,
        plural(table.fit.iterations, "step")
    ));
    text.push_str(&leaderboard(table, args));
    text.push('\n');
    for line in findings(table, args.level) {
        let line = harmless(&line);
        text.push_str(&wrapped(&line, "", "  "));
    }
    if let Some(pairs) = table.pairs() {
        text.push_str(&judges(&table.fit, pairs));
        text.push_str(&next(&table.fit, pairs, args));
    }
    text
}

fn contents(table: &Ranked) -> String {
    match &table.table {
        ComparisonTable::Pairs(pairs) => {
            let ties = pairs.iter().filter(|row| row.outcome == Outcome::Tie).count();
            let mut text = format!(
                "{} of {}",
                plural(pairs.len(), "comparison"),
                plural(pairs.items().len(), "item")
            );
            if !pairs.judges().is_empty() {
                text.push_str(&format!(" by {}", plural(pairs.judges().len(), "judge")));
            }
            if !pairs.prompts().is_empty() {
                text.push_str(&format!(" on {}", plural(pairs.prompts().len(), "prompt")));
            }
            format!("{text}; {:.0} % ties\n", 100.0 * ties as f64 / pairs.len() as f64)
        }
        ComparisonTable::Rankings(rankings) => {
            format!(
                "{} of {}\n",
                plural(rankings.len(), "ranking"),
                plural(rankings.items().len(), "item")
            )
        }
    }
}

fn leaderboard(table: &Ranked, args: &RankArgs) -> String {
    let scale = scale_of(args.scale, &table.fit);
    let standings = &table.standings;
    let shown = if args.all {
        standings.len()
    } else {
        MAX_ROWS.min(standings.len())
    };
    let narrow = terminal_width() < WIDE;
    let bars = Bars::over(&standings[..shown], if narrow { NARROW_BAR } else { BAR });
    let interval = format!("{:.0} % interval", 100.0 * args.level);
    let mut columns = vec![">rank", "item", ">score", &interval, ""];
    if !narrow {
        columns.extend([">won", ">lost", ">tied"]);
    }
    let width = columns.len();
    let mut rows = TextTable::new(columns);
    let digits = |value: f64| {
        if value.abs() >= 100.0 {
            format!("{value:.0}")
        } else {
            format!("{value:.2}")
        }
    };
    for standing in &standings[..shown] {
        let rank = match standing.ranks {
            Some((best, worst)) if best < worst => format!("{} ({best}-{worst})", standing.rank),
            _ => standing.rank.to_string(),
        };
        let ends = standing
            .interval
            .map(|(low, high)| format!("{} to {}", digits(scale(low)), digits(scale(high))));
        let cells = [
            rank,
            table.items().get(standing.item).to_owned(),
            digits(scale(standing.score)),
            ends.unwrap_or_else(|| "-".into()),
            bars.draw(standing),
            number(standing.wins),
            number(standing.losses),
            number(standing.ties),
        ];
        rows.row(cells.into_iter().take(width));
    }
    let mut text = rows.render();
    if shown < standings.len() {
        text.push_str(&format!(
            "  .. and {} (--all shows them)\n",
            plural(standings.len() - shown, "more item")
        ));
    }
    text
}

/// A number of comparisons; weights need not be whole.
fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        count(value as usize)
    } else {
        format!("{value:.1}")
    }
}

/// Intervals as lines of text.
struct Bars {
    low: f64,
    width: f64,
    letters: usize,
}

impl Bars {
    fn over(standings: &[Standing], letters: usize) -> Self {
        let ends = || {
            standings.iter().flat_map(|standing| {
                standing
                    .interval
                    .map_or([standing.score; 2], |(low, high)| [low, high])
            })
        };
        let (low, high) = (ends().fold(f64::MAX, f64::min), ends().fold(f64::MIN, f64::max));
        Self {
            low,
            letters,
            width: (high - low).max(1e-12),
        }
    }

    fn draw(&self, standing: &Standing) -> String {
        let place = |value: f64| {
            (((value - self.low) / self.width * (self.letters - 1) as f64).round() as usize)
                .min(self.letters - 1)
        };
        let mut line = vec![' '; self.letters];
        if let Some((low, high)) = standing.interval {
            line[place(low)..=place(high)].fill('-');
        }
        line[place(standing.score)] = 'o';
        line.into_iter().collect::<String>().trim_end().to_owned()
    }
}

fn judges(fit: &RankFit, pairs: &Comparisons) -> String {
    if fit.judges.is_empty() {
        return String::new();
    }
    let order = fit.judges_worth_a_look();
    if order.is_empty() {
        return "No judge stands out (--judges FILE has all).\n".to_owned();
    }
    let mut text = format!(
        "\nJudges worth a look ({} of {}; --judges FILE has all)\n",
        count(order.len()),
        count(fit.judges.len())
    );
    for &judge in order.iter().take(MAX_JUDGES) {
        let found = &fit.judges[judge];
        let agreement = found.agreement().map_or(String::new(), |share| {
            format!(", agrees with the ranking on {:.0} %", 100.0 * share)
        });
        let line = format!(
            "{}: {} ({}{agreement})",
            harmless(pairs.judges().get(judge)),
            found.verdict(),
            comparisons(found.comparisons)
        );
        text.push_str(&wrapped(&line, "  ", "    "));
    }
    text
}

fn comparisons(value: f64) -> String {
    if value.fract() == 0.0 {
        plural(value as usize, "comparison")
    } else {
        format!("{value:.1} comparisons")
    }
}

fn next(fit: &RankFit, pairs: &Comparisons, args: &RankArgs) -> String {
    let Some(wanted) = args.next else {
        return String::new();
    };
    let next = fit.next_pairs(wanted);
    if next.is_empty() {
        return "\nNo comparison would help: this method has no intervals, or all is settled.\n".to_owned();
    }
    let with_judges = next.iter().any(|next| next.judge.is_some());
    let mut table = TextTable::new([
        "left",
        "right",
        if with_judges { "judge" } else { "" },
        ">settled so far",
    ]);
    for pair in next.iter().take(MAX_ROWS) {
        table.row([
            pairs.items().get(pair.left).to_owned(),
            pairs.items().get(pair.right).to_owned(),
            pair.judge
                .map_or(String::new(), |judge| pairs.judges().get(judge).to_owned()),
            format!("{:.0} %", 100.0 * pair.better.max(1.0 - pair.better)),
        ]);
    }
    let mut text = format!("\nCompare next\n{}", table.render());
    if next.len() > MAX_ROWS {
        text.push_str(&format!(
            "  .. and {} (--next-output FILE has all)\n",
            plural(next.len() - MAX_ROWS, "more comparison")
        ));
    }
    text
}
