//! `quorate rank`: a leaderboard from comparisons of two items.

pub(crate) mod json;
mod text;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use quorate::ranking::{RankFit, Ranked};
use quorate_io::{
    Target, write_leaderboard, write_next_pairs, write_rank_judges, write_together, write_whole, write_wins,
};
use quorate_report::figure;

use crate::args::{RunArgs, named_parameters};
use crate::choices;
use crate::comparisons::{ComparisonArgs, rank_all};
use crate::files::{Content, Files};
use crate::numbers::{below_one, whole};
use crate::printer::Printer;
use crate::session::Session;
use crate::spreadsheet::SpreadsheetArgs;
use crate::text_table::plural;

/// What to rank and how.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate rank votes.csv\n  \
    quorate rank votes.csv -o leaderboard.csv --judges judges.csv --matrix wins.csv\n  \
    quorate rank judgements.jsonl --scale elo --require 'new > old' --level 0.9      # exit code 1 if not settled\n  \
    quorate rank votes.csv --next 50 --next-output next.csv                          # what to compare next\n\n\
    A file has a row for each comparison: left, right, winner (also model_a, model_b, winner; item_a, item_b; chosen,\n\
    rejected), and judge, prompt and weight if there are any. The winner is a side, the name of an item, tie or\n\
    both_bad. Rankings of several items (judge, prompt, item, rank, or a list in a column ranking) are taken whole.\n\
    Judges differ in how well they tell items apart, in the side that they prefer and in ties: all of it is learnt.\n\
    Items that were never compared, not even through others, are in groups of their own.")]
pub struct RankArgs {
    #[command(flatten)]
    pub input: ComparisonArgs,
    /// Method: judge-bt (the default), bradley-terry, plackett-luce (the default for rankings), win-rate, elo
    #[arg(long, short, value_name = "METHOD", help_heading = "Method")]
    method: Option<String>,
    /// Set a parameter of the method; may be repeated
    #[arg(long = "param", short, value_name = "NAME=VALUE", help_heading = "Method")]
    parameters: Vec<String>,
    /// Write the leaderboard as a table; the name tells the format (csv, tsv, jsonl, parquet, arrow)
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write the judges: agreement, discrimination, position bias, ties, self-agreement, verdict
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    judges: Option<PathBuf>,
    /// Write how every item fared against every other one, and the share that it would win
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    matrix: Option<PathBuf>,
    /// Draw the leaderboard with its intervals (SVG)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    picture: Option<PathBuf>,
    /// Unit of the scores
    #[arg(long, default_value = "log-odds", value_parser = choices::one_of(choices::SCALES), help_heading = "Output")]
    scale: Scale,
    /// Show all items, not only the first 40
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// For programs: JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Exit with code 1 unless the first item is better than the second at the level; may be repeated
    #[arg(long, value_name = "'A > B'", help_heading = "Checks")]
    require: Vec<String>,
    /// Level of intervals, ranges of ranks and checks
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = below_one, help_heading = "Checks")]
    level: f64,
    /// Show this many comparisons that help the ranking most, and who should make them
    #[arg(long, value_name = "NUMBER", value_parser = whole::<usize>(1, 1_000_000), help_heading = "What to compare next")]
    next: Option<usize>,
    /// Write them as a table
    #[arg(
        long,
        value_name = "FILE",
        requires = "next",
        help_heading = "What to compare next"
    )]
    next_output: Option<PathBuf>,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Unit of the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The difference of two scores is the log odds of a win.
    LogOdds,
    /// 400 points are a factor of ten in the odds.
    Elo,
}

/// Reads, ranks, prints; code 1 if something that was required is not settled.
pub fn run(args: &RankArgs, printer: &mut Printer) -> Result<u8> {
    Files::default()
        .reads("the comparisons", Some(&args.input.file))
        .writes("-o", args.output.as_ref(), Content::Table)
        .writes("--judges", args.judges.as_ref(), Content::Table)
        .writes("--matrix", args.matrix.as_ref(), Content::Table)
        .writes("--next-output", args.next_output.as_ref(), Content::Table)
        .writes("--picture", args.picture.as_ref(), Content::Other)
        .check(false)?;
    args.run.apply_limits();
    args.spreadsheet.apply();
    let required = args
        .require
        .iter()
        .map(|text| parse_required(text))
        .collect::<Result<Vec<_>>>()?;
    let tables = args.input.read(printer)?;
    let one_table = [
        ("--judges", &args.judges),
        ("--matrix", &args.matrix),
        ("--next-output", &args.next_output),
        ("--picture", &args.picture),
    ];
    if let Some((option, _)) = one_table
        .iter()
        .find(|(_, path)| path.is_some() && tables.len() > 1)
    {
        bail!(
            "{option} writes one table, and --by makes {}; leave --by out, or -o writes all leaderboards",
            tables.len()
        );
    }
    let session = Session::start(&args.run, printer.quiet());
    let parameters = named_parameters(&args.parameters)?;
    let ranked = rank_all(tables, args.method.as_deref(), &parameters, args.level, &session)?;
    write_files(args, &ranked)?;
    if args.json {
        printer.json(&json::as_json(&ranked, args.scale, args.level, args.next))?;
    } else {
        for (place, table) in ranked.iter().enumerate() {
            if place > 0 {
                printer.data("\n")?;
            }
            printer.data(&text::as_text(table, args))?;
        }
    }
    for table in &ranked {
        table
            .fit
            .warnings
            .iter()
            .for_each(|warning| printer.warning(warning));
        table.fit.notes.iter().for_each(|note| printer.note(note));
        if !table.fit.converged {
            printer.warning(format!(
                "did not converge in {}",
                plural(table.fit.iterations, "step")
            ));
        }
    }
    let mut failed = false;
    for (better, worse) in &required {
        for table in &ranked {
            failed |= !holds(table, better, worse, args.level, printer)?;
        }
    }
    Ok(u8::from(failed))
}

fn write_files(args: &RankArgs, ranked: &[Ranked]) -> Result<()> {
    let scale = scale_of(args.scale, &ranked[0].fit);
    write_together(|| -> Result<()> {
        if let Some(path) = &args.output {
            write_leaderboard(&target(path), None, ranked, scale)?;
        }
        let first = &ranked[0];
        let needs_pairs = [
            ("--judges", &args.judges),
            ("--matrix", &args.matrix),
            ("--next-output", &args.next_output),
        ];
        let Some(pairs) = first.pairs() else {
            match needs_pairs.iter().find(|(_, path)| path.is_some()) {
                Some((option, _)) => {
                    bail!("{option} is for comparisons of two items, and these are rankings")
                }
                None => return write_picture(args, first),
            }
        };
        if let Some(path) = &args.judges {
            if pairs.judges().is_empty() {
                bail!(
                    "--judges: the comparisons name no judges; is there a column for them? --columns judge=NAME"
                );
            }
            write_rank_judges(&target(path), None, pairs.judges(), &first.fit)?;
        }
        if let Some(path) = &args.matrix {
            write_wins(&target(path), None, pairs, &first.fit)?;
        }
        if let (Some(path), Some(count)) = (&args.next_output, args.next) {
            write_next_pairs(&target(path), None, pairs, &first.fit.next_pairs(count))?;
        }
        write_picture(args, first)
    })
}

fn write_picture(args: &RankArgs, table: &Ranked) -> Result<()> {
    let Some(path) = &args.picture else { return Ok(()) };
    let scale = scale_of(args.scale, &table.fit);
    let svg = figure::leaderboard::draw(table.items(), &table.standings, scale, figure::Style::Standalone);
    Ok(write_whole(&target(path), |output| {
        Ok(output.write_all(svg.as_bytes())?)
    })?)
}

fn target(path: &Path) -> Target {
    Target::from(path.to_path_buf())
}

/// What becomes of a score before it is shown. Shares and ratings stay what they are.
pub fn scale_of(scale: Scale, fit: &RankFit) -> fn(f64) -> f64 {
    match scale {
        Scale::Elo if !matches!(fit.method, "win-rate" | "elo") => {
            |score| 1000.0 + score * 400.0 / std::f64::consts::LN_10
        }
        _ => |score| score,
    }
}

/// `A > B`.
fn parse_required(text: &str) -> Result<(String, String)> {
    let (better, worse) = text.split_once('>').with_context(|| {
        format!("--require {text:?}: expected two items with > between them, such as 'new > old'")
    })?;
    Ok((better.trim().to_owned(), worse.trim().to_owned()))
}

/// Whether one item is better than another at the level; says so if not.
fn holds(table: &Ranked, better: &str, worse: &str, level: f64, printer: &mut Printer) -> Result<bool> {
    let find = |name: &str| match table.items().find(name) {
        Some(item) => Ok(item as usize),
        None => bail!("--require names {name:?}, which is not among the items"),
    };
    let (i, j) = (find(better)?, find(worse)?);
    let place = table.by.as_ref().map_or(String::new(), |by| format!(" ({by})"));
    let Some(chance) = table.fit.better(i, j) else {
        printer.warning(format!(
            "{better} > {worse}{place}: not known; {}",
            why_unknown(&table.fit, i, j)
        ));
        return Ok(false);
    };
    let holds = chance >= level;
    let text = format!(
        "{better} > {worse}{place}: {:.1} % likely, asked for {:.1} %",
        100.0 * chance,
        100.0 * level
    );
    if holds {
        printer.note(text)
    } else {
        printer.warning(text)
    }
    Ok(holds)
}

/// Why it is not known which of two items is better.
fn why_unknown(fit: &RankFit, i: usize, j: usize) -> &'static str {
    if fit.comparable(i, j) {
        "this method has no intervals"
    } else {
        "the two were never compared, not even through others"
    }
}
