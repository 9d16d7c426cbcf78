//! `quorate compare`: several methods on one table, side by side.

mod comparisons;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use quorate::Annotations;
use quorate::evaluate::{Predictions, TieRule, error_rate};
use quorate::methods::{Method, vote_fractions};
use serde::Serialize;

use crate::args::RunArgs;
use crate::catalog::{find, methods};
use crate::column_words::parse_label_columns;
use crate::comparisons::{are_meant, are_named};
use crate::input::{InputArgs, size_line};
use crate::knowledge::{KnowledgeArgs, read_known};
use crate::numbers::number;
use crate::printer::Printer;
use crate::record::{each, record};
use crate::remedies::with_remedy;
use crate::session::Session;
use crate::text_table::{TextTable, count, duration, plural};
use crate::time_limit::TimeLimit;

/// What to compare.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate compare labels.csv\n  \
    quorate compare labels.csv --truth truth.csv -m majority-vote,dawid-skene,rob-symnmf-em --json\n  \
    quorate compare labels.csv --all --limit 60\n  \
    quorate compare votes.csv --runs 4                       # comparisons: left, right, winner\n\n\
    A method that fails does not end the others: its row says why. Ctrl-C shows what is finished.\n\
    Methods for comparisons are compared by how well they foretell comparisons that they have not seen; --truth has the\n\
    known scores of the items then (item, score).")]
pub struct CompareArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The truth, where it is known (columns task, label): adds errors and sorts by them
    #[arg(long, value_name = "FILE", help_heading = "Truth")]
    truth: Option<PathBuf>,
    /// Names of the columns of --truth, where they are neither found by themselves nor those of --columns
    #[arg(
        long,
        value_name = "task=NAME,label=NAME",
        value_delimiter = ',',
        requires = "truth",
        help_heading = "Truth"
    )]
    truth_columns: Vec<String>,
    /// Methods to run; if not given, all that are fast on large tables
    #[arg(
        short,
        long,
        value_name = "A,B,..",
        value_delimiter = ',',
        help_heading = "Methods"
    )]
    methods: Vec<String>,
    /// Run the slow methods, too, after the fast ones
    #[arg(long, conflicts_with = "methods", help_heading = "Methods")]
    all: bool,
    /// Stop a method that takes longer than this
    #[arg(long, value_name = "SECONDS", value_parser = number(1e-6, 1e9), help_heading = "Methods")]
    limit: Option<f64>,
    /// Runs of each method with seeds SEED, SEED+1, ..: shows how much chance matters
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Methods")]
    runs: u32,
    /// For programs: JSON, with the agreement between all pairs of methods
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// One method's row.
#[derive(Debug, Clone, Default, Serialize)]
struct MethodRow {
    method: &'static str,
    /// Mean error over the runs, ties to the lowest class.
    error: Option<f64>,
    /// Mean error where a tie counts a fair share.
    error_fractional_ties: Option<f64>,
    error_spread: Option<f64>,
    seconds: f64,
    changed_from_majority_vote: usize,
    tied: usize,
    iterations: usize,
    converged: bool,
    warnings: Vec<String>,
    failure: Option<String>,
    #[serde(skip)]
    labels: Vec<usize>,
}

/// Methods that take seconds where the others take a tenth of one (`docs`, times of the methods), the slowest
/// last.
const SLOW: [&str; 6] = ["mace", "glad", "minimax-entropy", "ebcc", "pg-tac", "cria-v"];

impl CompareArgs {
    /// An option that was given and means nothing for comparisons.
    fn for_labels_only(&self) -> Option<&'static str> {
        let options = [
            ("--truth-columns", !self.truth_columns.is_empty()),
            ("--all", self.all),
            ("--gold", self.knowledge.gold.is_some()),
            ("--worker-prior", self.knowledge.worker_prior.is_some()),
        ];
        options
            .iter()
            .find(|(_, given)| *given)
            .map(|(option, _)| *option)
    }

    /// The methods to run, fast ones first.
    fn chosen(&self, printer: &mut Printer) -> Result<Vec<&'static Method>> {
        if !self.methods.is_empty() {
            let found: quorate::Result<_> = self.methods.iter().map(|name| find(name)).collect();
            return Ok(found?);
        }
        // What needs side data is left out where there is none.
        let (possible, without): (Vec<&'static Method>, Vec<&'static Method>) =
            methods().partition(|method| self.input.has_side_data(method));
        if !without.is_empty() {
            printer.note(
                "methods that need --probabilities-in or --features are left out where it is not given",
            );
        }
        let is_slow = |method: &&Method| SLOW.contains(&method.name);
        let mut chosen: Vec<&'static Method> = possible
            .iter()
            .copied()
            .filter(|method| !is_slow(method))
            .collect();
        if self.all {
            chosen.extend(SLOW.iter().filter_map(|name| find(name).ok()))
        } else {
            printer.note(format!(
                "slow methods are left out: {} (--all runs them, too)",
                SLOW.join(", ")
            ))
        }
        Ok(chosen)
    }
}

impl MethodRow {
    /// The row in one line, for when it is finished.
    fn line(&self) -> String {
        match (&self.failure, self.error) {
            (Some(failure), _) => format!("{}: {failure}", self.method),
            (None, Some(error)) => {
                format!(
                    "{}: error {:.2} %, {}",
                    self.method,
                    100.0 * error,
                    duration(self.seconds)
                )
            }
            (None, None) => format!("{}: {}", self.method, duration(self.seconds)),
        }
    }
}

/// Runs the methods one after the other and prints the table.
pub fn run(args: &CompareArgs, printer: &mut Printer) -> Result<()> {
    args.run.apply_limits();
    if are_named(&args.input) {
        return comparisons::run(args, printer);
    }
    let (annotations, session) = match Session::with_labels(&args.input, &args.knowledge, &args.run, printer)
    {
        Err(error) if are_meant(&args.input, &error) => return comparisons::run(args, printer),
        read => read?,
    };
    let chosen = args.chosen(printer)?;
    let truth = match &args.truth {
        Some(path) => {
            let columns = parse_label_columns("--truth-columns", &args.truth_columns)?;
            let like = Some(args.input.columns()?);
            let truth = read_known("--truth", path, columns, like, printer)?;
            let mut codes = truth.codes_in(&annotations);
            // Known tasks are right by construction and would flatter every method.
            for (n, code) in codes.iter_mut().enumerate() {
                *code = code.filter(|_| annotations.gold(n).is_none());
            }
            Some(codes)
        }
        None => None,
    };
    let known = truth.as_ref().map_or(0, |truth| truth.iter().flatten().count());
    if truth.is_some() && known == 0 {
        printer.warning("no task of the truth file is in the labels: errors cannot be computed");
    }
    let truth = truth.as_deref().filter(|_| known > 0);
    let mut rows = Vec::new();
    for (place, method) in chosen.iter().enumerate() {
        let title = format!("{} ({} of {})", method.name, place + 1, chosen.len());
        match run_method(method, &title, &annotations, truth, args, &session) {
            Ok(row) => {
                printer.note(row.line());
                rows.push(row);
            }
            Err(error) if session.is_cancelled() && rows.is_empty() => return Err(error),
            Err(_) if session.is_cancelled() => {
                let all = plural(chosen.len(), "method");
                printer.warning(format!("interrupted: {} of {all} finished", rows.len()));
                break;
            }
            Err(error) => return Err(error),
        }
    }
    // Best first; failures last; without truth, in the order of the table.
    rows.sort_by(|a, b| {
        let key = |row: &MethodRow| (row.failure.is_some(), row.error.unwrap_or(0.0));
        let ((a_failed, a_error), (b_failed, b_error)) = (key(a), key(b));
        a_failed.cmp(&b_failed).then(a_error.total_cmp(&b_error))
    });
    if args.json {
        return printer.json(&record! {
            tasks: annotations.task_count(),
            workers: annotations.worker_count(),
            classes: annotations.class_count(),
            labels: annotations.label_count(),
            tasks_with_truth: known,
            runs: args.runs,
            methods: &rows,
            agreement: each(agreements(&rows), |(methods, share)| record! { methods: methods, share: share }),
        });
    }
    printer.data(&as_text(&annotations, &rows, known, args.runs))
}

fn run_method(
    method: &'static Method,
    title: &str,
    annotations: &Annotations,
    truth: Option<&[Option<usize>]>,
    args: &CompareArgs,
    session: &Session,
) -> Result<MethodRow> {
    let runs = args.runs;
    let mut row = MethodRow {
        method: method.name,
        converged: true,
        ..MethodRow::default()
    };
    let votes = vote_fractions(annotations);
    let (mut errors, mut fractional) = (Vec::new(), Vec::new());
    for offset in 0..runs {
        let limit = TimeLimit::start(args.limit, session);
        let mut context = session.context(title, offset.into())?;
        if let Some(limit) = &limit {
            context = context.with_cancellation(limit.flag());
        }
        let started = Instant::now();
        let fit = match method.with_defaults()?.fit(annotations, &mut context) {
            Ok(fit) => fit,
            Err(quorate::Error::Cancelled) if session.is_cancelled() => {
                return Err(quorate::Error::Cancelled.into());
            }
            Err(quorate::Error::Cancelled) => {
                row.seconds = started.elapsed().as_secs_f64();
                row.failure = Some(format!("stopped after {} (--limit)", duration(row.seconds)));
                return Ok(row);
            }
            Err(error) => {
                row.failure = Some(with_remedy(error.to_string(), error.remedy()));
                return Ok(row);
            }
        };
        row.seconds += started.elapsed().as_secs_f64() / f64::from(runs);
        if let Some(truth) = truth {
            let predictions = Predictions::from_consensus(&fit.consensus)?;
            errors.push(error_rate(&predictions, truth, TieRule::Lowest)?.rate);
            fractional.push(error_rate(&predictions, truth, TieRule::Fractional)?.rate);
        }
        if offset == 0 {
            row.labels = fit.consensus.labels();
            row.changed_from_majority_vote = (0..votes.len())
                .filter(|&task| votes.label(task) != row.labels[task])
                .count();
            row.tied = fit.consensus.tied_tasks();
            row.iterations = fit.iterations;
            row.converged = fit.converged;
            row.warnings = fit.warnings;
        }
    }
    if !errors.is_empty() {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let average = mean(&errors);
        let variance = mean(
            &errors
                .iter()
                .map(|error| (error - average).powi(2))
                .collect::<Vec<_>>(),
        );
        row.error = Some(average);
        row.error_fractional_ties = Some(mean(&fractional));
        row.error_spread = (errors.len() > 1).then(|| variance.sqrt());
    }
    Ok(row)
}

/// The share of equal labels of every pair of fitted methods.
fn agreements(rows: &[MethodRow]) -> Vec<((&'static str, &'static str), f64)> {
    let fitted: Vec<&MethodRow> = rows.iter().filter(|row| row.failure.is_none()).collect();
    let pairs = (0..fitted.len()).flat_map(|i| (i + 1..fitted.len()).map(move |j| (i, j)));
    each(pairs, |(i, j)| {
        let (a, b) = (fitted[i], fitted[j]);
        let equal = a.labels.iter().zip(&b.labels).filter(|(x, y)| x == y).count();
        ((a.method, b.method), equal as f64 / a.labels.len().max(1) as f64)
    })
}

/// Mean agreement of each fitted method with the others.
fn mean_agreement(rows: &[MethodRow]) -> Vec<Option<f64>> {
    let pairs = agreements(rows);
    each(rows, |row| {
        let own = pairs
            .iter()
            .filter(|((a, b), _)| *a == row.method || *b == row.method);
        let shares: Vec<f64> = own.map(|&(_, share)| share).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    })
}

fn as_text(annotations: &Annotations, rows: &[MethodRow], known: usize, runs: u32) -> String {
    let mut columns = vec!["method"];
    if known > 0 {
        columns.push(">error");
        columns.push(">fair ties");
    }
    columns.extend([">time", ">differs from votes", ">tied", ">agrees with others", ""]);
    let last = columns.len() - 1;
    let mut table = TextTable::new(columns);
    for (row, agreement) in rows.iter().zip(mean_agreement(rows)) {
        let mut cells = vec![row.method.to_owned()];
        if let Some(failure) = &row.failure {
            cells.resize(last, "-".to_owned());
            cells.push(failure.clone());
            table.row(cells);
            continue;
        }
        if known > 0 {
            let spread = row
                .error_spread
                .map_or(String::new(), |spread| format!(" +- {:.2}", 100.0 * spread));
            cells.push(format!("{:.2} %{spread}", 100.0 * row.error.unwrap_or(f64::NAN)));
            cells.push(format!(
                "{:.2} %",
                100.0 * row.error_fractional_ties.unwrap_or(f64::NAN)
            ));
        }
        cells.push(duration(row.seconds));
        cells.push(count(row.changed_from_majority_vote));
        cells.push(count(row.tied));
        cells.push(agreement.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share)));
        cells.push(if row.converged {
            String::new()
        } else {
            "not converged".to_owned()
        });
        table.row(cells);
    }
    let mut text = size_line(annotations);
    if known > 0 {
        text.push_str(&format!("; truth known for {}", plural(known, "task")));
    }
    if runs > 1 {
        text.push_str(&format!("; mean of {runs} runs"));
    }
    format!("{text}\n\n{}", table.render())
}
