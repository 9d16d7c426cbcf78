//! A leaderboard against the known order of its items.

use anyhow::{Result, bail};
use quorate::internal::normal_quantile;
use quorate::ranking::{RankEvaluation, ScoredItem, evaluate_scores};
use quorate_io::{ItemScores, Source, read_scores};

use super::{EvaluateArgs, gauge};
use crate::printer::Printer;
use crate::record::{each, record};
use crate::text_table::{TextTable, count, plural};

/// Compares, prints; code 1 if more pairs are in the wrong order than allowed.
pub(super) fn run(args: &EvaluateArgs, predicted: &ItemScores, printer: &mut Printer) -> Result<u8> {
    for_leaderboards(args)?;
    let truth = read_scores(&Source::from(args.truth.clone()))?;
    let items = matched(predicted, &truth, args.level);
    let evaluation = evaluate_scores(&items)?;
    let missing = truth
        .items
        .iter()
        .filter(|item| predicted.items.find(item).is_none())
        .count();
    let unknown = predicted.items.len() - items.len();
    if args.json {
        printer.json(&record! {
            items: evaluation.items,
            pairs: evaluation.pairs,
            items_without_truth: unknown,
            truths_without_score: missing,
            kendall_tau: evaluation.tau,
            pairwise_accuracy: evaluation.accuracy,
            brier: evaluation.brier,
            calibration: each(&evaluation.calibration, |&(lower, said, right, pairs)| record! {
                lower: lower,
                said: said,
                right: right,
                pairs: pairs,
            }),
        })?;
    } else {
        printer.data(&as_text(&evaluation, unknown, missing))?;
    }
    let wrong = 100.0 * (1.0 - evaluation.accuracy);
    let above = args.fail_above.filter(|&limit| wrong > limit);
    if let Some(limit) = above {
        printer.warning(format!("more than {limit} % of the pairs are in the wrong order"));
    }
    Ok(u8::from(above.is_some()))
}

/// Refuses what only labels have.
fn for_leaderboards(args: &EvaluateArgs) -> Result<()> {
    let for_labels = [
        ("--columns", !args.columns.is_empty()),
        ("--truth-columns", !args.truth_columns.is_empty()),
        ("--picture", args.picture.is_some()),
        ("--except", args.except.is_some()),
        ("--normalize", args.normalize),
        ("--all-classes", args.all_classes),
    ];
    match for_labels.iter().find(|(_, given)| *given) {
        Some((option, _)) => bail!("{option} is for labels, and the file is a leaderboard"),
        None => Ok(()),
    }
}

/// The items that both files have.
fn matched(predicted: &ItemScores, truth: &ItemScores, level: f64) -> Vec<ScoredItem> {
    let z = normal_quantile((1.0 - level) / 2.0);
    let one = |(code, item): (usize, &str)| {
        Some(ScoredItem {
            score: predicted.scores[code],
            deviation: predicted.widths[code].map(|width| width / (2.0 * z)),
            group: predicted.groups[code],
            truth: truth.scores[truth.items.find(item)? as usize],
        })
    };
    predicted.items.iter().enumerate().filter_map(one).collect()
}

fn as_text(evaluation: &RankEvaluation, unknown: usize, missing: usize) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<19}{value}\n"));
    line(
        "compared",
        format!(
            "{}, {} of different truth",
            plural(evaluation.items, "item"),
            plural(evaluation.pairs, "pair")
        ),
    );
    line("Kendall's tau", format!("{:.4}", evaluation.tau));
    line("pairs in order", format!("{:.2} %", 100.0 * evaluation.accuracy));
    if let Some(brier) = evaluation.brier {
        line("Brier score", format!("{brier:.4}"));
    }
    for (name, items, why) in [
        ("not scored", unknown, "without a known truth"),
        ("not ranked", missing, "of the truth file"),
    ] {
        if items > 0 {
            line(name, format!("{} {why}", plural(items, "item")));
        }
    }
    if !evaluation.calibration.is_empty() {
        let mut table = TextTable::new(["chance", ">pairs", ">said", ">right", ""]);
        for &(lower, said, right, pairs) in &evaluation.calibration {
            table.row([
                format!("{lower:.1} to {:.1}", lower + 0.1),
                count(pairs),
                format!("{:.1} %", 100.0 * said),
                format!("{:.1} %", 100.0 * right),
                gauge(said, right),
            ]);
        }
        text.push_str("\nHow likely the better-looking item was said to be better, against how often it is (o said, # right):\n");
        text.push_str(&table.render());
    }
    text
}
