//! `quorate demo`: a made-up crowd, several methods, the truth beside them.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use quorate::evaluate::{Predictions, evaluate};
use quorate::methods::{DEFAULT_METHOD, find};
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulated, Simulation, WorkerKind};
use quorate_io::{Target, write_whole};
use quorate_report::figure::shares;
use serde::Serialize;

use crate::args::RunArgs;
use crate::files::{Content, Files};
use crate::input::size_line;
use crate::numbers::{MOST, whole};
use crate::printer::Printer;
use crate::session::Session;
use crate::text_table::{TextTable, duration};

/// Methods shown, plain voting first, the default last.
const SHOWN: [&str; 5] = [
    "majority-vote",
    "dawid-skene",
    "rob-symnmf",
    "rob-symnmf-em",
    DEFAULT_METHOD,
];

/// How big a crowd.
#[derive(Debug, Args)]
#[command(after_help = "Example: quorate demo --seed 3")]
pub struct DemoArgs {
    /// Number of tasks
    #[arg(long, default_value_t = 2000, value_parser = whole::<usize>(1, MOST))]
    tasks: usize,
    /// Draw the result as a picture (SVG), too
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// For programs: JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Serialize)]
struct Line {
    method: &'static str,
    error: f64,
    log_loss: Option<f64>,
    calibration_error: Option<f64>,
    seconds: f64,
}

/// Simulates, aggregates, evaluates.
pub fn run(args: &DemoArgs, printer: &mut Printer) -> Result<()> {
    args.run.apply_limits();
    Files::default()
        .writes("--picture", args.picture.as_ref(), Content::Other)
        .check(false)?;
    let crowd = Simulation {
        tasks: args.tasks,
        workers: 60,
        classes: 4,
        prior: Prior::Given(vec![0.4, 0.3, 0.2, 0.1]),
        quality: Quality::Accuracy {
            lowest: 0.4,
            highest: 0.8,
            concentration: 1.0,
        },
        experts: Amount::Number(0),
        specialists: Amount::Number(12),
        uniform_spammers: Amount::Number(12),
        constant_spammers: Amount::Number(4),
        adversaries: Amount::Number(6),
        adversary_strength: 0.7,
        coverage: Coverage::PerTask(7),
        activity_exponent: 0.5,
        ..Simulation::default()
    }
    .run(args.run.seed)?;
    let truth: Vec<Option<usize>> = crowd.truth.iter().map(|&class| Some(class)).collect();
    let session = Session::start(&args.run, printer.quiet());
    let mut lines = Vec::new();
    for name in SHOWN {
        let method = find(name)?;
        let mut context = session.context(method.name, 0)?;
        let started = Instant::now();
        let fit = method.with_defaults()?.fit(&crowd.annotations, &mut context)?;
        let seconds = started.elapsed().as_secs_f64();
        let scores = evaluate(&Predictions::from_consensus(&fit.consensus)?, &truth)?;
        lines.push(Line {
            method: method.name,
            error: scores.error.rate,
            log_loss: scores.log_loss,
            calibration_error: scores.calibration.map(|calibration| calibration.expected_error),
            seconds,
        });
    }
    if let Some(path) = &args.picture {
        let shares: Vec<(&str, f64)> = lines.iter().map(|line| (line.method, line.error)).collect();
        let svg = shares::bars("Wrong labels", &crowd_line(&crowd), &shares);
        write_whole(&Target::from(path.clone()), |output| {
            Ok(output.write_all(svg.as_bytes())?)
        })?;
    }
    if args.json {
        return printer.json(&lines);
    }
    printer.data(&as_text(&crowd, &lines))
}

/// Who the workers are.
fn crowd_line(crowd: &Simulated) -> String {
    let number =
        |wanted: fn(&WorkerKind) -> bool| crowd.worker_kinds.iter().filter(|kind| wanted(kind)).count();
    format!(
        "Of {} workers, {} answer at random or always the same, {} are systematically wrong, {} know one class only.",
        crowd.worker_kinds.len(),
        number(|kind| matches!(
            kind,
            WorkerKind::UniformSpammer | WorkerKind::ConstantSpammer { .. }
        )),
        number(|kind| matches!(kind, WorkerKind::Adversary)),
        number(|kind| matches!(kind, WorkerKind::Specialist { .. })),
    )
}

/// What the table shows, in three lines.
fn story(crowd: &Simulated, lines: &[Line]) -> String {
    let error = |name: &str| {
        lines
            .iter()
            .find(|line| line.method == name)
            .map_or(0.0, |line| line.error)
    };
    let (votes, found) = (error("majority-vote"), error(DEFAULT_METHOD));
    let tasks = crowd.truth.len() as f64;
    format!(
        "\nMajority vote counts every worker alike and gets {:.0} of {} labels wrong.\n\
         The others learn from agreement alone, without the truth, whose answers to trust.\n\
         `{DEFAULT_METHOD}`, the default, gets {:.0} wrong: {:.0} % fewer.\n",
        votes * tasks,
        tasks,
        found * tasks,
        100.0 * (1.0 - found / votes.max(f64::MIN_POSITIVE)),
    )
}

fn as_text(crowd: &Simulated, lines: &[Line]) -> String {
    let size = size_line(&crowd.annotations);
    let mut text = format!("A simulated crowd: {size}.\n{}\n\n", crowd_line(crowd));
    let mut table = TextTable::new(["method", ">wrong labels", "", ">log loss", ">time"]);
    let worst = lines
        .iter()
        .map(|line| line.error)
        .fold(f64::MIN_POSITIVE, f64::max);
    for line in lines {
        table.row([
            line.method.to_owned(),
            format!("{:.1} %", 100.0 * line.error),
            "#".repeat((30.0 * line.error / worst).round() as usize),
            line.log_loss.map_or(String::new(), |loss| format!("{loss:.3}")),
            duration(line.seconds),
        ]);
    }
    text.push_str(&table.render());
    text.push_str(&story(crowd, lines));
    text.push_str(
        "\nNow on your own file (a row for each label, columns task, worker, label):\n  \
         quorate aggregate your-labels.csv -o labels.csv\n",
    );
    text
}
