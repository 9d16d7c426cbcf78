//! The page for people.

use quorate::ranking::{Comparisons, JudgeVerdict, Outcome, RankFit, Standing};
use quorate_io::ComparisonTable;

use super::{RankArgs, Ranked, scale_of, words};
use crate::printer::harmless;
use crate::text_table::{TextTable, count, duration, plural, wrapped};

/// Items that are shown unless all are asked for.
const MAX_ROWS: usize = 40;

/// Judges that are shown.
const MAX_JUDGES: usize = 10;

/// Characters of the picture of intervals.
const BAR: usize = 21;

pub(super) fn as_text(table: &Ranked, args: &RankArgs) -> String {
    let mut text = String::new();
    if let (Some(by), Some(column)) = (&table.by, &args.input.by) {
        text.push_str(&format!("{} = {}\n", harmless(column), harmless(by)));
    }
    text.push_str(&contents(table));
    text.push_str(&format!(
        "{}: {}, {}\n\n",
        table.fit.method,
        plural(table.fit.iterations, "step"),
        duration(table.seconds)
    ));
    text.push_str(&leaderboard(table, args));
    text.push('\n');
    for line in settled(table, args.level) {
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
    let bars = Bars::over(&standings[..shown]);
    let interval = format!("{:.0} % interval", 100.0 * args.level);
    let mut rows = TextTable::new([">rank", "item", ">score", &interval, "", ">won", ">lost", ">tied"]);
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
        rows.row([
            rank,
            table.items().get(standing.item).to_owned(),
            digits(scale(standing.score)),
            ends.unwrap_or_else(|| "-".into()),
            bars.draw(standing),
            number(standing.wins),
            number(standing.losses),
            number(standing.ties),
        ]);
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
}

impl Bars {
    fn over(standings: &[Standing]) -> Self {
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
            width: (high - low).max(1e-12),
        }
    }

    fn draw(&self, standing: &Standing) -> String {
        let place =
            |value: f64| (((value - self.low) / self.width * (BAR - 1) as f64).round() as usize).min(BAR - 1);
        let mut line = vec![' '; BAR];
        if let Some((low, high)) = standing.interval {
            line[place(low)..=place(high)].fill('-');
        }
        line[place(standing.score)] = 'o';
        line.into_iter().collect::<String>().trim_end().to_owned()
    }
}

/// What is settled and what is not.
fn settled(table: &Ranked, level: f64) -> Vec<String> {
    let fit = &table.fit;
    let name = |item: usize| harmless(table.items().get(item)).into_owned();
    let mut lines = Vec::new();
    let groups = table
        .standings
        .iter()
        .map(|standing| standing.group + 1)
        .max()
        .unwrap_or(1);
    if groups > 1 {
        lines.push(format!(
            "{groups} groups of items were never compared with each other, not even through others: ranks and scores hold inside \
             a group. Comparisons between the groups would join them."
        ));
    }
    if fit.uncertainty.is_none() {
        lines.push(format!(
            "{} has no intervals: what is settled cannot be said.",
            fit.method
        ));
        return lines;
    }
    let tied = fit.tied_for_first(level);
    match &tied[..] {
        [only] if table.standings.len() > 1 => {
            let chance = table.standings[0].better_than_next;
            let sure = chance.map_or(String::new(), |chance| {
                format!(" ({:.1} % likely to be better than the next)", 100.0 * chance)
            });
            lines.push(format!("First place is settled: {}{sure}.", name(*only)));
        }
        [first, second, ..] => {
            const NAMED: usize = 5;
            let mut names: Vec<String> = tied.iter().take(NAMED).map(|&item| name(item)).collect();
            if tied.len() > NAMED {
                names.push(format!("{} more", tied.len() - NAMED));
            }
            let last = names.pop().unwrap_or_default();
            let mut line = format!("{} and {last} cannot be told apart at the top.", names.join(", "));
            if let Some(more) = fit
                .comparisons_to_settle(*first, *second, level)
                .filter(|_| table.pairs().is_some())
            {
                let (a, b) = (name(*first), name(*second));
                line.push_str(&if more <= 1e6 {
                    format!(
                        " About {} more comparisons of {a} and {b} would settle which is better.",
                        count(more as usize)
                    )
                } else {
                    format!(" {a} and {b} seem equally good.")
                });
            }
            lines.push(line);
        }
        _ => {}
    }
    let neighbours: Vec<f64> = table
        .standings
        .iter()
        .filter_map(|standing| standing.better_than_next)
        .collect();
    if neighbours.len() > 1 {
        let sure = neighbours.iter().filter(|&&chance| chance >= level).count();
        lines.push(format!(
            "{} of {} neighbours in the ranking are settled at {:.0} %.",
            count(sure),
            count(neighbours.len()),
            100.0 * level
        ));
    }
    if fit.design_effect > 1.2 {
        lines.push(format!(
            "Answers on one prompt (or by one judge) hang together: intervals are {:.1} times as wide as if they did not.",
            fit.design_effect.sqrt()
        ));
    }
    if let Some(pairs) = table.pairs() {
        let (cycles, triples) = fit.cycles(pairs);
        if triples >= 20 && cycles as f64 > 0.05 * triples as f64 {
            let share = 100.0 * cycles as f64 / triples as f64;
            lines.push(format!(
                "{share:.0} % of the triples of items go round in a circle (25 % would be chance)."
            ));
        }
        let swapped: u64 = fit.judges.iter().map(|judge| judge.swaps.pairs).sum();
        if swapped > 0 {
            let same: f64 = fit.judges.iter().map(|judge| judge.swaps.consistent).sum();
            lines.push(format!(
                "{} were judged in both orders, with the same answer on {:.0} %; the two orders count as one.",
                plural(swapped as usize, "pair"),
                100.0 * same / swapped as f64
            ));
        }
    }
    lines
}

fn judges(fit: &RankFit, pairs: &Comparisons) -> String {
    let worth: Vec<(usize, String)> = fit
        .judges
        .iter()
        .enumerate()
        .filter(|(_, judge)| !matches!(judge.verdict(), JudgeVerdict::Fine | JudgeVerdict::TooFew))
        .map(|(judge, found)| (judge, words::verdict(found)))
        .collect();
    if fit.judges.is_empty() {
        return String::new();
    }
    if worth.is_empty() {
        return "No judge stands out (--judges FILE has all).\n".to_owned();
    }
    let mut order = worth;
    order.sort_by(|a, b| {
        fit.judges[b.0]
            .comparisons
            .total_cmp(&fit.judges[a.0].comparisons)
            .then(a.0.cmp(&b.0))
    });
    let mut text = format!(
        "\nJudges worth a look ({} of {}; --judges FILE has all)\n",
        count(order.len()),
        count(fit.judges.len())
    );
    for (judge, words) in order.iter().take(MAX_JUDGES) {
        let found = &fit.judges[*judge];
        let agreement = found.agreement().map_or(String::new(), |share| {
            format!(", agrees with the ranking on {:.0} %", 100.0 * share)
        });
        let line = format!(
            "{}: {words} ({}{agreement})",
            harmless(pairs.judges().get(*judge)),
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
