//! Comparisons by judges who differ, of items with known scores.

use anyhow::Result;
use clap::Args;
use quorate::ranking::{Outcome, PairSimulation};
use quorate_io::{Target, make_output_folder, write_comparisons, write_scores, write_simulated_judges};

use super::SimulateArgs;
use crate::files::{Content, Files};
use crate::numbers::{MOST, number, whole};
use crate::printer::Printer;
use crate::record::record;
use crate::text_table::{count, plural};

/// What kind of comparisons.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparisons of two items")]
pub struct PairArgs {
    /// Comparisons of two items instead of labels
    #[arg(long, conflicts_with_all = [
        "tasks", "workers", "classes", "prior", "density", "labels_per_task", "accuracy", "experts", "specialists", "epsilon",
        "spammers", "constant_spammers", "adversaries", "designated", "designated_density", "missing_pairs", "skew",
    ])]
    pub pairs: bool,
    /// Number of items
    #[arg(long, default_value_t = 12, value_parser = whole::<usize>(2, MOST), requires = "pairs")]
    items: usize,
    /// Number of judges
    #[arg(long, default_value_t = 20, value_parser = whole::<usize>(1, MOST), requires = "pairs")]
    judges: usize,
    /// Number of prompts
    #[arg(long, default_value_t = 100, value_parser = whole::<usize>(1, MOST), requires = "pairs")]
    prompts: usize,
    /// Number of comparisons
    #[arg(long, default_value_t = 2000, value_parser = whole::<usize>(1, MOST), requires = "pairs")]
    comparisons: usize,
    /// Standard deviation of the scores
    #[arg(long, default_value_t = 1.0, value_parser = number(0.0, 100.0), requires = "pairs")]
    spread: f64,
    /// Share of ties between equal items
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = number(0.0, 0.99), requires = "pairs")]
    ties: f64,
    /// Mean position bias of the judges, in log odds of the left side
    #[arg(long, value_name = "LOG-ODDS", default_value_t = 0.2, value_parser = number(-100.0, 100.0), requires = "pairs", allow_hyphen_values = true)]
    position: f64,
    /// Share of the judges who answer at random
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = number(0.0, 0.99), requires = "pairs")]
    random_judges: f64,
}

impl PairArgs {
    /// Draws the comparisons and writes their files.
    pub(super) fn run(&self, args: &SimulateArgs, printer: &mut Printer) -> Result<()> {
        let [comparisons, scores, judges] =
            ["comparisons.csv", "scores.csv", "judges.csv"].map(|name| args.output.join(name));
        let files = Files::default()
            .writes("the comparisons", Some(&comparisons), Content::Other)
            .writes("the scores", Some(&scores), Content::Other)
            .writes("the judges", Some(&judges), Content::Other);
        if args.output.exists() {
            files.check(false)?;
        }
        let drawn = PairSimulation {
            items: self.items,
            judges: self.judges,
            prompts: self.prompts,
            comparisons: self.comparisons,
            spread: self.spread,
            ties: self.ties,
            position: self.position,
            random_judges: self.random_judges,
            ..PairSimulation::default()
        }
        .run(args.seed)?;
        make_output_folder(&args.output)?;
        files.check(false)?;
        let table = &drawn.comparisons;
        write_scores(&Target::from(scores), None, table.items(), &drawn.scores)?;
        write_simulated_judges(
            &Target::from(judges),
            table.judges(),
            &drawn.discrimination,
            &drawn.position,
        )?;
        write_comparisons(&Target::from(comparisons), None, table)?;
        let ties = table.iter().filter(|row| row.outcome == Outcome::Tie).count();
        if args.json {
            return printer.json(&record! {
                items: table.items().len(),
                judges: table.judges().len(),
                prompts: table.prompts().len(),
                comparisons: table.len(),
                ties: ties,
                seed: args.seed,
            });
        }
        let folder = args.output.display();
        printer.note(format!(
            "{folder}: {} of {} by {}; {} ties",
            plural(table.len(), "comparison"),
            plural(table.items().len(), "item"),
            plural(table.judges().len(), "judge"),
            count(ties)
        ));
        printer.note(format!(
            "next: quorate rank {folder}/comparisons.csv -o {folder}/leaderboard.csv && quorate evaluate {folder}/leaderboard.csv \
             {folder}/scores.csv"
        ));
        Ok(())
    }
}
