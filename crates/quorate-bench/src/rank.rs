//! Rankings: how well comparisons that were not seen are foretold and how often
//! intervals hold the truth.

use clap::Args;
use quorate::Context;
use quorate::ranking::{ComparisonTable, Comparisons, JudgeBt, METHODS, PairSimulation, Rank, held_out};
use quorate_io::{ComparisonOptions, Source, read_comparisons};
use quorate_testkit::public_data;

/// What to run.
#[derive(Debug, Args)]
pub struct RankArgs {
    /// Runs of five folds, each with other folds
    #[arg(short, long, default_value_t = 4)]
    runs: usize,
    /// Simulated tables
    #[arg(short, long, default_value_t = 500)]
    tables: usize,
}

/// Prints Markdown tables.
pub fn run(args: &RankArgs) -> anyhow::Result<()> {
    for set in ["llmfao", "food"] {
        let folder = public_data::folder().join("kinds").join("pairs").join(set);
        if !folder.exists() {
            println!(
                "{set}: not in {} (QUORATE_DATA names the folder)\n",
                public_data::folder().display()
            );
            continue;
        }
        let source = Source::from(folder.join("comparisons.csv"));
        let read = read_comparisons(&source, &ComparisonOptions::default(), &mut |_, _| {})?;
        if let Some((_, ComparisonTable::Pairs(table))) = read.tables.into_iter().next() {
            foretold(set, &table, args.runs)?;
        }
    }
    coverage(args.tables)
}

fn foretold(set: &str, table: &Comparisons, runs: usize) -> anyhow::Result<()> {
    println!("{set}: {} comparisons, five folds, {runs} runs\n", table.len());
    println!("| method | log loss | right side |\n|---|---|---|");
    for method in METHODS {
        let rank = method.ranking_with(&[])?;
        let found = held_out(rank.as_ref(), table, 5, runs, &mut Context::new(0))?;
        println!(
            "| {} | {:.4} | {:.1} % |",
            method.name,
            found.log_loss,
            100.0 * found.accuracy
        );
    }
    println!();
    Ok(())
}

fn coverage(tables: usize) -> anyhow::Result<()> {
    let mut held = [0usize; 4];
    let (mut items, mut judges) = (0, 0);
    for seed in 0..tables {
        let settings = PairSimulation {
            items: 10 + seed * 7 % 51,
            judges: 5 + seed * 13 % 96,
            prompts: 20 + seed % 80,
            comparisons: 600 + seed * 37 % 3000,
            ties: 0.1 + 0.05 * (seed % 7) as f64,
            random_judges: 0.1 * (seed % 3) as f64,
            ..PairSimulation::default()
        };
        let truth = settings.run(seed as u64)?;
        let fit = JudgeBt::default().fit(&truth.comparisons, &mut Context::new(seed as u64))?;
        let mean = truth.scores.iter().sum::<f64>() / truth.scores.len() as f64;
        for standing in fit.leaderboard(&truth.comparisons, 0.95) {
            let score = truth.scores[standing.item];
            let place = 1 + truth.scores.iter().filter(|other| **other > score).count();
            let within = standing
                .interval
                .is_some_and(|(low, high)| (low..=high).contains(&(score - mean)));
            held[0] += usize::from(within);
            held[1] += usize::from(
                standing
                    .ranks
                    .is_some_and(|(best, worst)| (best..=worst).contains(&place)),
            );
            items += 1;
        }
        for (judge, found) in fit.judges.iter().enumerate() {
            let Some(model) = found.model else { continue };
            let within = |[low, high]: [f64; 2], value: f64| usize::from((low..=high).contains(&value));
            held[2] += within(model.discrimination_range, truth.discrimination[judge]);
            held[3] += within(model.position_range, truth.position[judge]);
            judges += 1;
        }
    }
    println!(
        "judge-bt on {tables} simulated tables of 10 to 60 items and 5 to 100 judges, 10 to 40 % ties between equal items, up to a \
         fifth of the judges at random\n\n| 95 % intervals of | hold the truth | of |\n|---|---|---|"
    );
    let names = ["scores", "ranks", "discrimination", "position bias"];
    for (place, (name, held)) in names.iter().zip(held).enumerate() {
        let all = if place < 2 { items } else { judges };
        println!("| {name} | {:.1} % | {all} |", 100.0 * held as f64 / all as f64);
    }
    Ok(())
}
