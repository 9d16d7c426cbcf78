//! A ranking in words: what is settled and what is not.

use quorate::ranking::{Comparisons, RankFit, Ranked};

use crate::text::{count, plural};

/// Items that a sentence names.
const MAX_NAMED: usize = 5;

/// Beyond this many comparisons two items seem equal.
const MAX_COMPARISONS: f64 = 1e6;

/// Above this ratio of variances the sentence about prompts is worth reading.
const CLEAR_DESIGN_EFFECT: f64 = 1.2;

/// What is settled at this level and what is not, a sentence each.
pub fn findings(ranked: &Ranked, level: f64) -> Vec<String> {
    let Ranked {
        table,
        fit,
        standings,
        ..
    } = ranked;
    let mut lines = Vec::new();
    let groups = standings
        .iter()
        .map(|standing| standing.group + 1)
        .max()
        .unwrap_or(1);
    if groups > 1 {
        lines.push(format!(
            "{groups} groups of items were never compared with each other, not even through others: ranks and scores hold \
             inside a group. Comparisons between the groups would join them."
        ));
    }
    if fit.uncertainty.is_none() {
        lines.push(format!(
            "{} has no intervals: what is settled cannot be said.",
            fit.method
        ));
        return lines;
    }
    lines.extend(first_place(ranked, level));
    let neighbours: Vec<f64> = standings
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
    if fit.design_effect > CLEAR_DESIGN_EFFECT {
        lines.push(format!(
            "Answers on one prompt (or by one judge) hang together: intervals are {:.1} times as wide as if they did not.",
            fit.design_effect.sqrt()
        ));
    }
    if let Some(pairs) = table.pairs() {
        lines.extend(circles(fit, pairs));
        lines.extend(both_orders(fit));
    }
    lines
}

fn first_place(ranked: &Ranked, level: f64) -> Option<String> {
    let Ranked {
        table,
        fit,
        standings,
        ..
    } = ranked;
    let name = |item: usize| table.items().get(item);
    match &fit.tied_for_first(level)[..] {
        [only] if standings.len() > 1 => {
            let sure = standings[0].better_than_next.map_or(String::new(), |chance| {
                format!(" ({:.1} % likely to be better than the next)", 100.0 * chance)
            });
            Some(format!("First place is settled: {}{sure}.", name(*only)))
        }
        tied @ [first, second, ..] => {
            let mut names: Vec<String> = tied
                .iter()
                .take(MAX_NAMED)
                .map(|&item| name(item).to_owned())
                .collect();
            if tied.len() > MAX_NAMED {
                names.push(format!("{} more", tied.len() - MAX_NAMED));
            }
            let last = names.pop().unwrap_or_default();
            let mut line = format!("{} and {last} cannot be told apart at the top.", names.join(", "));
            let more = fit.comparisons_to_settle(*first, *second, level);
            if let Some(more) = more.filter(|_| table.pairs().is_some()) {
                let (a, b) = (name(*first), name(*second));
                line.push_str(&if more <= MAX_COMPARISONS {
                    format!(
                        " About {} more comparisons of {a} and {b} would settle which is better.",
                        count(two_digits(more))
                    )
                } else {
                    format!(" {a} and {b} seem equally good.")
                });
            }
            Some(line)
        }
        _ => None,
    }
}

/// An estimate without digits that it does not have.
fn two_digits(value: f64) -> usize {
    let unit = 10f64.powf((value.max(1.0).log10().floor() - 1.0).max(0.0));
    ((value / unit).round() * unit) as usize
}

fn circles(fit: &RankFit, pairs: &Comparisons) -> Option<String> {
    let (cycles, triples) = fit.cycles(pairs);
    let share = cycles as f64 / triples.max(1) as f64;
    (triples >= 20 && share > 0.05).then(|| {
        format!(
            "{:.0} % of the triples of items go round in a circle (25 % would be chance).",
            100.0 * share
        )
    })
}

fn both_orders(fit: &RankFit) -> Option<String> {
    let swapped: u64 = fit.judges.iter().map(|judge| judge.swaps.pairs).sum();
    let same: f64 = fit.judges.iter().map(|judge| judge.swaps.consistent).sum();
    (swapped > 0).then(|| {
        let share = 100.0 * same / swapped as f64;
        let pairs = plural(swapped as usize, "pair");
        format!("Judged in both orders: {pairs}, with the same answer on {share:.0} %; the two orders count as one.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_have_two_digits() {
        assert_eq!(
            [3.0, 59.0, 594.0, 210_196.0].map(two_digits),
            [3, 59, 590, 210_000]
        );
    }
}
