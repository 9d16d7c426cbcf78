//! Methods that rank, side by side: how well each foretells comparisons that it has not seen.

use std::time::Instant;

use anyhow::{Result, bail};
use quorate::Error;
use quorate::methods::Method;
use quorate::ranking::{ComparisonTable, Comparisons, HeldOut, METHODS, RankEvaluation, held_out};
use quorate_io::{ItemScores, Source, read_scores};

use super::CompareArgs;
use crate::catalog::find;
use crate::comparisons::ComparisonArgs;
use crate::printer::Printer;
use crate::record::{each, record};
use crate::session::Session;
use crate::text_table::{TextTable, count, duration, plural};
use crate::time_limit::TimeLimit;

/// Parts of the comparisons, each of which is foretold from the others.
const FOLDS: usize = 5;

/// One method's row.
struct Row {
    method: &'static str,
    held_out: Option<HeldOut>,
    against_truth: Option<RankEvaluation>,
    seconds: f64,
    failure: Option<String>,
}

/// Runs the methods one after the other and prints the table.
pub(super) fn run(args: &CompareArgs, printer: &mut Printer) -> Result<()> {
    if let Some(option) = args.for_labels_only() {
        bail!("{option} is for labels, and the file holds comparisons");
    }
    let methods: Vec<&'static Method> = if args.methods.is_empty() {
        METHODS.iter().collect()
    } else {
        args.methods
            .iter()
            .map(|name| find(name))
            .collect::<quorate::Result<_>>()?
    };
    let tables = ComparisonArgs::of(&args.input, None)?.read(printer)?;
    let [(_, ComparisonTable::Pairs(table))] = &tables[..] else {
        bail!("compare takes comparisons of two items, and these are rankings of several");
    };
    let truth = args
        .truth
        .as_ref()
        .map(|path| read_scores(&Source::from(path.clone())))
        .transpose()?;
    let session = Session::start(&args.run, printer.quiet());
    let mut rows = Vec::new();
    for (place, method) in methods.iter().enumerate() {
        let title = format!("{} ({} of {})", method.name, place + 1, methods.len());
        match run_method(method, &title, table, truth.as_ref(), args, &session) {
            Ok(row) => rows.push(row),
            Err(Error::Cancelled) if !rows.is_empty() => {
                printer.warning(format!(
                    "interrupted: {} of {} finished",
                    rows.len(),
                    plural(methods.len(), "method")
                ));
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    let key = |row: &Row| row.held_out.map_or(f64::INFINITY, |found| found.log_loss);
    rows.sort_by(|a, b| key(a).total_cmp(&key(b)));
    if args.json {
        return printer.json(&record! {
            comparisons: table.len(),
            items: table.items().len(),
            judges: table.judges().len(),
            folds: FOLDS,
            runs: args.runs,
            methods: each(&rows, |row| record! {
                method: row.method,
                log_loss: row.held_out.map(|found| found.log_loss),
                accuracy: row.held_out.map(|found| found.accuracy),
                kendall_tau: row.against_truth.as_ref().map(|found| found.tau),
                pairwise_accuracy: row.against_truth.as_ref().map(|found| found.accuracy),
                seconds: row.seconds,
                failure: row.failure.clone(),
            }),
        });
    }
    printer.data(&as_text(table, &rows, args.runs))
}

fn run_method(
    method: &'static Method,
    title: &str,
    table: &Comparisons,
    truth: Option<&ItemScores>,
    args: &CompareArgs,
    session: &Session,
) -> quorate::Result<Row> {
    let mut row = Row {
        method: method.name,
        held_out: None,
        against_truth: None,
        seconds: 0.0,
        failure: None,
    };
    let limit = TimeLimit::start(args.limit, session);
    let mut context = session
        .context(title, 0)
        .map_err(|error| Error::Mismatch(error.to_string()))?;
    if let Some(limit) = &limit {
        context = context.with_cancellation(limit.flag());
    }
    let started = Instant::now();
    let mut fit = || -> quorate::Result<()> {
        let rank = method.ranking_with(&[])?;
        row.held_out = Some(held_out(
            rank.as_ref(),
            table,
            FOLDS,
            args.runs as usize,
            &mut context,
        )?);
        if let Some(truth) = truth {
            let known = |item| Some(truth.scores[truth.items.find(item)? as usize]);
            let known: Vec<Option<f64>> = table.items().iter().map(known).collect();
            row.against_truth = Some(rank.fit(table, &mut context)?.evaluate(&known)?);
        }
        Ok(())
    };
    let ended = fit();
    row.seconds = started.elapsed().as_secs_f64();
    match ended {
        Ok(()) => {}
        Err(Error::Cancelled) if session.is_cancelled() => return Err(Error::Cancelled),
        Err(Error::Cancelled) => {
            row.failure = Some(format!("stopped after {} (--limit)", duration(row.seconds)))
        }
        Err(error) => row.failure = Some(error.to_string()),
    }
    Ok(row)
}

fn as_text(table: &Comparisons, rows: &[Row], runs: u32) -> String {
    let with_truth = rows.iter().any(|row| row.against_truth.is_some());
    let mut columns = vec!["method", ">log loss", ">right side"];
    if with_truth {
        columns.extend([">Kendall's tau", ">pairs in order"]);
    }
    columns.extend([">time", ""]);
    let mut text = TextTable::new(columns);
    for row in rows {
        let held_out = |value: fn(&HeldOut) -> String| row.held_out.as_ref().map_or("-".to_owned(), value);
        let mut cells = vec![
            row.method.to_owned(),
            held_out(|found| format!("{:.4}", found.log_loss)),
            held_out(|found| format!("{:.1} %", 100.0 * found.accuracy)),
        ];
        if with_truth {
            let against = |value: fn(&RankEvaluation) -> String| {
                row.against_truth.as_ref().map_or("-".to_owned(), value)
            };
            cells.push(against(|found| format!("{:.4}", found.tau)));
            cells.push(against(|found| format!("{:.1} %", 100.0 * found.accuracy)));
        }
        cells.push(duration(row.seconds));
        cells.push(row.failure.clone().unwrap_or_default());
        text.row(cells);
    }
    let runs = if runs > 1 {
        format!(", mean of {runs} runs")
    } else {
        String::new()
    };
    format!(
        "{} of {} by {}; each fifth foretold from the others{runs}\n\n{}\nLog loss: 0.6931 is a guess, lower is better. Right side: \
         how often the winner was the likelier one, ties left out.\n",
        plural(table.len(), "comparison"),
        plural(table.items().len(), "item"),
        if table.judges().is_empty() {
            "nobody named".to_owned()
        } else {
            format!("{} judges", count(table.judges().len()))
        },
        text.render()
    )
}
