//! Comparisons and judges in words.

use quorate::ranking::{Comparisons, JudgeFit, JudgeVerdict, RankFit};

use crate::printer::Printer;
use crate::text_table::plural;

/// What is worth a look about a judge; empty where nothing is.
pub fn verdict(judge: &JudgeFit) -> String {
    match judge.verdict() {
        JudgeVerdict::Fine => String::new(),
        JudgeVerdict::TooFew => "too few comparisons to say".to_owned(),
        JudgeVerdict::AlwaysTies => "always ties".to_owned(),
        JudgeVerdict::Random => "answers at random".to_owned(),
        JudgeVerdict::Contrary => "prefers what the others reject".to_owned(),
        JudgeVerdict::Side(points) => {
            let side = if points > 0.0 { "left" } else { "right" };
            format!("prefers the {side} side by {:.0} points", points.abs())
        }
        JudgeVerdict::Unsteady(share) => {
            format!("agrees with itself on {:.0} % of swapped pairs", 100.0 * share)
        }
    }
}

/// Why it is not known which of two items is better.
pub fn why_unknown(fit: &RankFit, i: usize, j: usize) -> &'static str {
    if fit.comparable(i, j) {
        "this method has no intervals"
    } else {
        "the two were never compared, not even through others"
    }
}

/// Says which rows are not among the comparisons.
pub fn tell_set_aside(by: Option<&str>, table: &Comparisons, both_bad_dropped: bool, printer: &mut Printer) {
    let aside = table.set_aside();
    let place = by.map_or(String::new(), |by| format!("{by}: "));
    let rows = |count: u64| plural(count as usize, "row");
    if aside.unanswered > 0 {
        printer.note(format!(
            "{place}{} without an outcome: not used",
            rows(aside.unanswered)
        ));
    }
    if aside.weightless > 0 {
        printer.note(format!(
            "{place}{} with weight 0: not used",
            rows(aside.weightless)
        ));
    }
    if aside.both_bad > 0 {
        let what = if both_bad_dropped {
            "left out"
        } else {
            "ties (--both-bad drop leaves them out)"
        };
        printer.note(format!(
            "{place}{} that call both items bad: {what}",
            rows(aside.both_bad)
        ));
    }
}
