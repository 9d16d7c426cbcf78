//! Panels of judges: verdicts beside copies, the effective number of judges, the corrected share of good
//! items.

use clap::Args;
use quorate_testkit::panels::{PanelPlan, effective_distance, share_coverage, three_and_copies};

/// What to simulate.
#[derive(Debug, Args)]
pub struct JudgesArgs {
    /// Panels of each kind for the verdicts and the effective number
    #[arg(short, long, default_value_t = 50)]
    panels: u64,
    /// Panels for the corrected share
    #[arg(short, long, default_value_t = 500)]
    shares: u64,
}

/// Prints the tables as Markdown.
pub fn run(args: &JudgesArgs) {
    verdicts(args.panels);
    effective(args.panels);
    shares(args.shares);
}

fn verdicts(panels: u64) {
    println!("Share of wrong verdicts in percent, 400 items, mean of {panels} panels\n");
    println!(
        "| copies | majority vote | judges | judges, 50 gold | the three alone | the three alone, 50 gold |"
    );
    println!("|---|---|---|---|---|---|");
    let percent = |share: f64| format!("{:.2}", 100.0 * share);
    for copies in 1..=9 {
        let (blind, gold) = (
            three_and_copies(copies, 0.9, 0, panels),
            three_and_copies(copies, 0.9, 50, panels),
        );
        let cells = [
            blind.majority,
            blind.with_copies,
            gold.with_copies,
            blind.alone,
            gold.alone,
        ]
        .map(percent);
        println!("| {copies} | {} |", cells.join(" | "));
    }
}

/// Panels with a known correlation: (words, plan, items of gold).
fn known_correlations() -> Vec<(String, PanelPlan, usize)> {
    let plan = |items, independent: usize, copies| PanelPlan {
        items,
        share: 0.5,
        independent: vec![[0.85; 2]; independent],
        copies,
        failures: 0.0,
    };
    let mut plans = Vec::new();
    for (independent, copies, rate) in [(3, 3, 0.8), (3, 3, 0.9), (4, 2, 0.9), (5, 5, 0.95), (4, 4, 0.7)] {
        plans.push((
            format!(
                "{independent} independent, {copies} copy {:.0} % of the answers",
                100.0 * rate
            ),
            plan(500, independent, Some((copies, rate, [0.75; 2]))),
            0,
        ));
    }
    plans.push(("6 independent".to_owned(), plan(500, 6, None), 0));
    for (judges, rate) in [(3, 0.5f64), (5, 0.5), (5, 0.7), (7, 0.6)] {
        plans.push((
            format!("{judges} judges, all correlated by {:.2}, 200 gold", rate * rate),
            plan(500, 0, Some((judges, rate, [0.75; 2]))),
            200,
        ));
    }
    plans
}

fn effective(panels: u64) {
    println!(
        "\nEffective number of judges: mean distance from the known one in percent of it, {panels} panels\n"
    );
    println!("| panel | known | distance |\n|---|---|---|");
    let plans = known_correlations();
    let mut sum = 0.0;
    for (words, plan, gold) in &plans {
        let distance = effective_distance(plan, *gold, panels);
        sum += distance;
        println!(
            "| {words} | {:.2} | {:.1} % |",
            plan.effective_judges(),
            100.0 * distance
        );
    }
    println!("| mean | | {:.1} % |", 100.0 * sum / plans.len() as f64);
}

fn shares(panels: u64) {
    println!("\nIntervals that hold the share of good items, {panels} panels\n");
    println!("| known items | share of verdicts, not corrected | model | Rogan-Gladen |\n|---|---|---|---|");
    let percent = |(held, all): (usize, usize)| match all {
        0 => "-".to_owned(),
        _ => format!("{:.1} % of {all}", 100.0 * held as f64 / all as f64),
    };
    for gold in [0, 50, 100] {
        let found = share_coverage(gold, panels);
        let cells = [(found.uncorrected, found.panels), found.model, found.rogan_gladen].map(percent);
        println!("| {gold} | {} |", cells.join(" | "));
    }
}
